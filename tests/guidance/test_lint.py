from __future__ import annotations

import json
from pathlib import Path

import pytest

from tipstaff.budgets import CONSTITUTION_TOKENS
from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.guidance.diagnostics import KINDS
from tipstaff.guidance.lint import LintReport, lint_repository, tokens
from tipstaff.guidance.reading.documents import HOST_LIMITS
from tipstaff.model import Severity

ORCHARD = Path(__file__).resolve().parents[2] / "examples" / "orchard"


def lay_out(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def lint(folder: Path, files: dict[str, str], *codes: str) -> LintReport:
    return lint_repository(lay_out(folder, files), select=codes)


def test_a_sound_repository_has_no_findings(tmp_path: Path) -> None:
    report = lint(tmp_path, {"CLAUDE.md": "## Security\n\n- [SEC-001] Never commit the file `.env`.\n"})
    assert report.diagnostics == ()
    assert report.exit_code == 0
    assert report.files == ("CLAUDE.md",)
    assert (report.rules, report.constitution_rules, report.shard_rules) == (1, 1, 0)
    assert report.constitution_tokens > 0
    assert report.counts == {}


def test_an_empty_repository_has_no_findings(tmp_path: Path) -> None:
    report = lint_repository(tmp_path)
    assert (report.diagnostics, report.rules, report.constitution_tokens, report.hosts) == ((), 0, 0, ())


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError, match="nowhere"):
        lint_repository(tmp_path / "nowhere")


@pytest.mark.parametrize("prefix", ["", "TS9", "E501", "TS5033"])
def test_an_unknown_code_is_named_with_those_that_exist(tmp_path: Path, prefix: str) -> None:
    with pytest.raises(ConfigError, match="TS701") as caught:
        lint_repository(tmp_path, select=[prefix])
    assert repr(prefix) in str(caught.value)
    with pytest.raises(ConfigError):
        lint_repository(tmp_path, ignore=[prefix])


def test_select_and_ignore_take_beginnings_of_codes(tmp_path: Path) -> None:
    lay_out(tmp_path, {"CLAUDE.md": "- Write clean code\n- Always paginate scope:billing/**\n"})
    assert lint_repository(tmp_path).counts.keys() >= {"TS601", "TS701"}
    assert lint_repository(tmp_path, select=["ts7"]).counts == {"TS701": 1}
    assert lint_repository(tmp_path, select=["TS6", "TS7"], ignore=["TS701"]).counts == {"TS601": 1}
    assert lint_repository(tmp_path, select=["TS"], ignore=["TS"]).counts == {}


def test_findings_are_ordered_by_file_and_line(tmp_path: Path) -> None:
    files = {"CLAUDE.md": "- Write clean code\n- Be careful\n", "AGENTS.md": "\n\n- Follow best practices\n"}
    found = lint(tmp_path, files, "TS701").diagnostics
    assert [(one.source, one.line) for one in found] == [("AGENTS.md", 3), ("CLAUDE.md", 1), ("CLAUDE.md", 2)]


def test_infos_alone_do_not_fail(tmp_path: Path) -> None:
    report = lint(tmp_path, {"CLAUDE.md": "- Write clean code\n"})
    assert {one.severity for one in report.diagnostics} == {Severity.INFO}
    assert report.exit_code == 0


def test_a_report_can_be_cut_to_some_files(tmp_path: Path) -> None:
    report = lint(tmp_path, {"CLAUDE.md": "- Write clean code\n", "AGENTS.md": "- Be careful\n"}, "TS7")
    cut = report.only(["AGENTS.md"])
    assert [one.source for one in cut.diagnostics] == ["AGENTS.md"]
    assert cut.counts == {"TS701": 1}
    assert cut.rules == report.rules


def test_a_report_is_json(tmp_path: Path) -> None:
    report = lint(tmp_path, {"CLAUDE.md": "- Write clean code\n"})
    data = json.loads(json.dumps(report.to_dict()))
    assert data["counts"] == {"TS701": 1}
    assert data["diagnostics"][0]["severity"] == "info"
    assert data["hosts"][0] == {
        "host": "claude",
        "always_tokens": 5,
        "always_files": 1,
        "scoped_tokens": 0,
        "scoped_files": 0,
    }


# Host limits


def test_a_file_within_its_hosts_limit_is_not_reported(tmp_path: Path) -> None:
    text = "- Always sort the tables\n".ljust(HOST_LIMITS[0].max_bytes, "x")
    assert lint(tmp_path, {"AGENTS.md": text}, "TS404").diagnostics == ()


def test_the_line_of_the_cut_is_named(tmp_path: Path) -> None:
    text = "".join(f"- Always sort table {number:03}.\n" for number in range(2_000))
    (found,) = lint(tmp_path, {"AGENTS.md": text}, "TS404").diagnostics
    kept = text.encode()[: HOST_LIMITS[0].max_bytes]
    assert found.line == kept.count(b"\n") + 1
    assert "Codex" in found.message
    assert f"{len(text) - len(kept):,} bytes" in found.message


def test_files_from_the_root_to_a_folder_count_together(tmp_path: Path) -> None:
    half = "- Always sort the tables\n".ljust(HOST_LIMITS[0].max_bytes // 2, "x")
    files = {"AGENTS.md": half, "api/AGENTS.md": half, "web/AGENTS.md": half, "api/orders/AGENTS.md": "- Always sort\n"}
    found = lint(tmp_path, files, "TS404").diagnostics
    # Two halves and the empty line between them are two bytes too many; what is deeper finds no room at all.
    assert [(one.source, "none of this" in one.message) for one in found] == [
        ("api/AGENTS.md", False),
        ("api/orders/AGENTS.md", True),
        ("web/AGENTS.md", False),
    ]


def test_other_hosts_files_have_no_such_limit(tmp_path: Path) -> None:
    assert lint(tmp_path, {"CLAUDE.md": "- Always sort\n" * 4_000}, "TS404").diagnostics == ()


# Cost


@pytest.mark.parametrize(
    ("text", "expected"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("😀😀", 1), ("😀😀a", 2)]
)
def test_four_utf16_units_are_a_token(text: str, expected: int) -> None:
    assert tokens(text) == expected


def test_a_costly_constitution_is_reported_at_the_file_that_fills_it(tmp_path: Path) -> None:
    rules = "".join(f"- [SEC-{n:03}] Never send the record of customer {n} abroad without consent\n" for n in range(50))
    report = lint(tmp_path, {"CLAUDE.md": f"## Security\n{rules}"}, "TS403")
    assert report.constitution_tokens > CONSTITUTION_TOKENS
    (found,) = report.diagnostics
    assert (found.source, found.line) == ("CLAUDE.md", 0)
    assert f"{report.constitution_tokens:,}" in found.message


def test_what_hosts_load_always_is_distinguished_from_what_they_load_by_scope(tmp_path: Path) -> None:
    files = {
        "CLAUDE.md": "- Always sort\n",
        ".claude/rules/api.md": '---\npaths: "api/**"\n---\n- Always paginate\n',
        "api/AGENTS.md": "- Always page\n",
        ".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\n- Always lint\n",
        ".cursor/rules/asked.mdc": "---\ndescription: asked for\n---\n- Always test\n",
        ".github/copilot-instructions.md": "- Always type\n",
    }
    loads = {load.host: load for load in lint(tmp_path, files).hosts}
    assert loads.keys() == {"agents", "claude", "copilot", "cursor"}
    assert (loads["claude"].always_files, loads["claude"].scoped_files) == (1, 1)
    assert loads["claude"].always_tokens == tokens(files["CLAUDE.md"])
    assert loads["claude"].scoped_tokens == tokens(files[".claude/rules/api.md"])
    assert (loads["agents"].always_files, loads["agents"].scoped_files) == (0, 1)
    assert (loads["cursor"].always_files, loads["cursor"].scoped_files) == (1, 1)
    assert (loads["copilot"].always_files, loads["copilot"].scoped_files) == (1, 0)


# Quality


def test_a_long_rule_is_reported(tmp_path: Path) -> None:
    text = f"- Always check {'every part of the form and ' * 40}submit\n- Always sort\n"
    (found,) = lint(tmp_path, {"CLAUDE.md": text}, "TS702").diagnostics
    assert (found.line, found.severity) == (1, Severity.INFO)


def test_a_rule_is_judged_once_although_it_is_in_constitution_and_shards(tmp_path: Path) -> None:
    rules = "".join(f"- Never open port {port} to everybody\n" for port in range(9_000, 9_080))
    report = lint(tmp_path, {"CLAUDE.md": f"## Security\n{rules}- Never be careless, write clean code\n"}, "TS701")
    assert len(report.diagnostics) <= 1


# The example repository


def test_the_example_repository_shows_what_it_is_there_to_show() -> None:
    report = lint_repository(ORCHARD)
    found = {(one.code, one.source) for one in report.diagnostics}
    assert ("TS103", "CLAUDE.md") in found
    assert ("TS601", "CLAUDE.md") in found
    assert ("TS701", "CLAUDE.md") in found
    assert ("TS402", "CLAUDE.local.md") in found
    codes = set(report.counts)
    assert {"TS501", "TS503", "TS504"} <= codes
    assert report.exit_code == 1
    # Everything else in it is sound, but for a freeze that is in force only at the turn of the year.
    assert codes <= {"TS103", "TS305", "TS402", "TS501", "TS503", "TS504", "TS601", "TS701"}
    assert {load.host for load in report.hosts} == {"agents", "claude", "copilot", "cursor", "gemini"}


def test_every_code_that_lint_reports_is_registered() -> None:
    assert set(lint_repository(ORCHARD).counts) <= set(KINDS)


# What is a warning, and what is not


@pytest.mark.parametrize(
    "text",
    [
        "- For authenticated tests you must create a helper:\n\n```php\nlogin();\n```\n",
        "1. You must get the ids:\n```sh\nls\n```\n\n2. Sort them\n",
        "# A\n\n## Structure\n\nAll files must follow this structure:\n\n### Title\n\nText.\n",
        "4. You must use this template:\n   > Tapped: yes\n   > Ran: no\n",
        "It must support these cases:\n\n**Sign-in:**\n\n- Sessions expire\n",
        "- ...\n- Always lint\n",
        "- `config` -> `settings`\n- old name → new name\n",
        "## Required settings:\n\n```sh\nexport A=1\n```\n",
        "- Risk: low\n",
    ],
)
def test_what_is_announced_though_not_indented_is_no_warning(tmp_path: Path, text: str) -> None:
    report = lint(tmp_path, {"CLAUDE.md": text})
    assert not report.fails(Severity.WARNING), report.diagnostics


@pytest.mark.parametrize(
    "text",
    [
        "- You must never:\n- Always lint\n",
        "- Always lint\n\nBefore a release you must:\n",
        "# A\n\nYou must:\n\n# Next\n\n- a\n",
    ],
)
def test_an_announcement_of_nothing_is_a_warning(tmp_path: Path, text: str) -> None:
    [found] = [one for one in lint(tmp_path, {"CLAUDE.md": text}).diagnostics if one.code == "TS205"]
    assert found.severity is Severity.WARNING
    assert "“" in found.message


def test_a_file_of_imports_is_no_copy_of_another_folder_s(tmp_path: Path) -> None:
    files = dict.fromkeys(("CLAUDE.md", "web/CLAUDE.md"), "@AGENTS.md\n")
    report = lint(tmp_path, {**files, "AGENTS.md": "- Always lint\n", "web/AGENTS.md": "- Never push\n"})
    assert report.diagnostics == ()
    assert report.rules == 2


def test_duplicates_are_a_warning_only_where_one_reader_is_given_both(tmp_path: Path) -> None:
    line = "- Always sign release tags\n"
    report = lint(tmp_path, {"CLAUDE.md": line + "- Sort\n" + line, "AGENTS.md": line, "web/CLAUDE.md": line})
    found = {(one.source, one.line): one.severity for one in report.diagnostics if one.code == "TS501"}
    assert found == {
        ("CLAUDE.md", 3): Severity.WARNING,
        ("CLAUDE.md", 1): Severity.INFO,
        ("web/CLAUDE.md", 1): Severity.INFO,
    }


def test_each_host_s_load_counts_links_and_imports(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    report = lint(tmp_path, {"AGENTS.md": "- Always lint\n"})
    assert [(load.host, load.always_tokens) for load in report.hosts] == [("agents", 4), ("claude", 4)]
    (tmp_path / "b").mkdir()
    report = lint(tmp_path / "b", {"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": "- Always lint\n"})
    assert [(load.host, load.always_tokens) for load in report.hosts] == [("agents", 4), ("claude", 7)]


def test_infos_are_grouped_by_file_and_kind(tmp_path: Path) -> None:
    report = lint(tmp_path, {"CLAUDE.md": "- Write clean code\n- Be careful\n", "AGENTS.md": "- Write good code\n"})
    groups = [(group.source, group.code, group.count, group.example.line) for group in report.groups()]
    assert groups == [("AGENTS.md", "TS701", 1, 1), ("CLAUDE.md", "TS701", 2, 1)]
