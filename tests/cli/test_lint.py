from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tipstaff.cli import exits, main
from tipstaff.cli.output import Painter
from tipstaff.cli.sarif import sarif
from tipstaff.guidance.lint import lint_repository

ORCHARD = Path(__file__).resolve().parents[2] / "examples" / "orchard"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "CLAUDE.md").write_text(
        "# X\n\n- Write clean code\n- Always paginate scope:gone/**\n", encoding="utf-8"
    )
    (tmp_path / "AGENTS.md").write_text("- Be careful\n", encoding="utf-8")
    return tmp_path


def test_text_names_location_severity_code_message_and_fix(repository: Path, capsys: Capture) -> None:
    assert main(["lint", "-C", str(repository), "--fail-on", "warning"]) == exits.FINDINGS
    out, err = capsys.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert "CLAUDE.md:4: warning TS601 The scope 'gone/**' matches no file of the repository." in lines
    assert "CLAUDE.md:3: info TS701 “Write clean code” gives nothing to check." in lines
    assert all(
        lines[index + 1].startswith("    fix: ") for index, line in enumerate(lines) if re.match(r"\S+:\d+: ", line)
    )
    assert re.match(r"1 warning, 2 info in 2 files: 3 rules \(0 constitution, 3 task-scoped\)", lines[-2])
    assert "\x1b" not in out


def test_nothing_found_is_reported(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "CLAUDE.md").write_text("- Never commit `.env`\n", encoding="utf-8")
    assert main(["lint", "-C", str(tmp_path)]) == exits.OK
    assert capsys.readouterr().out.startswith("nothing found in 1 file: 1 rule ")


def test_infos_alone_exit_with_0(repository: Path) -> None:
    assert main(["lint", "-C", str(repository), "--select", "TS7"]) == exits.OK


def test_only_errors_fail_unless_more_is_asked_for(repository: Path) -> None:
    assert main(["lint", "-C", str(repository)]) == exits.OK
    assert main(["lint", "-C", str(repository), "--fail-on", "warning"]) == exits.FINDINGS
    assert main(["lint", "-C", str(repository), "--select", "TS7", "--fail-on", "warning"]) == exits.OK
    assert main(["lint", "-C", str(repository), "--select", "TS7", "--fail-on", "info"]) == exits.FINDINGS
    (repository / "CLAUDE.md").write_text("@gone.md\n", encoding="utf-8")
    assert main(["lint", "-C", str(repository)]) == exits.FINDINGS


def test_exit_zero(repository: Path) -> None:
    (repository / "CLAUDE.md").write_text("@gone.md\n", encoding="utf-8")
    assert main(["lint", "-C", str(repository), "--exit-zero"]) == exits.OK


def test_infos_of_one_kind_are_one_line_for_a_file(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "CLAUDE.md").write_text("- Write clean code\n- Be careful\n- Never push\n", encoding="utf-8")
    main(["lint", "-C", str(tmp_path)])
    lines = [line for line in capsys.readouterr().out.splitlines() if "TS701" in line]
    assert lines == ["CLAUDE.md:1: info TS701 2 times, as here: “Write clean code” gives nothing to check."]
    main(["lint", "-C", str(tmp_path), "--all"])
    assert capsys.readouterr().out.count("TS701") == 2


def test_the_root_is_found_from_a_subfolder_as_git_does(
    repository: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / ".git").mkdir()
    package = repository / "packages" / "a"
    (package / "src").mkdir(parents=True)
    (package / "AGENTS.md").write_text("- Write clean code\n", encoding="utf-8")
    monkeypatch.chdir(package)

    def files(*options: str) -> list[str]:
        main(["lint", "--json", *options])
        found: list[str] = json.loads(capsys.readouterr().out)["files"]
        return found

    whole = ["CLAUDE.md", "AGENTS.md", "packages/a/AGENTS.md"]
    assert files() == files("src") == files(".") == files(str(package)) == whole
    assert files("-C", ".") == files("-C", "src") == whole
    main(["lint", "--json", "-C", str(repository), str(package)])
    document = json.loads(capsys.readouterr().out)
    assert document["files"] == whole
    assert {found["source"] for found in document["diagnostics"]} == {"packages/a/AGENTS.md"}


def test_select_and_ignore_take_lists(repository: Path, capsys: Capture) -> None:
    main(["lint", "-C", str(repository), "--json", "--select", "TS6, TS7", "--ignore", "TS701"])
    assert json.loads(capsys.readouterr().out)["counts"] == {"TS601": 1}


@pytest.mark.parametrize("options", [["--json"], ["--format", "json"]])
def test_json_is_one_document(repository: Path, capsys: Capture, options: list[str]) -> None:
    assert main(["lint", "-C", str(repository), *options, "--fail-on", "warning"]) == exits.FINDINGS
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert err == ""
    assert document["exit_code"] == 1
    assert document["counts"] == {"TS601": 1, "TS701": 2}
    assert document["diagnostics"][0].keys() >= {"code", "message", "line", "source", "fix", "severity"}


def test_the_present_folder_is_the_default(repository: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    main(["lint", "--json"])
    assert json.loads(capsys.readouterr().out)["files"] == ["CLAUDE.md", "AGENTS.md"]


def test_files_limit_what_is_reported_not_what_is_read(
    repository: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository)
    assert main(["lint", "--json", "AGENTS.md"]) == exits.OK
    document = json.loads(capsys.readouterr().out)
    assert {found["source"] for found in document["diagnostics"]} == {"AGENTS.md"}
    assert document["rules"] == 3


def test_a_file_is_found_from_a_folder_inside_the_repository(
    repository: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / ".git").mkdir()
    (repository / "web").mkdir()
    monkeypatch.chdir(repository / "web")
    main(["lint", "--json", "../CLAUDE.md"])
    assert {found["source"] for found in json.loads(capsys.readouterr().out)["diagnostics"]} == {"CLAUDE.md"}


def test_paths_are_of_the_repository(repository: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    (repository / ".git").mkdir()
    for name in ("a", "b"):
        (repository / name).mkdir()
        (repository / name / "AGENTS.md").write_text("- Write clean code\n", encoding="utf-8")
    main(["lint", "--json", "a", "b", "AGENTS.md"])
    sources = {found["source"] for found in json.loads(capsys.readouterr().out)["diagnostics"]}
    assert {"a/AGENTS.md", "b/AGENTS.md"} <= sources <= {"a/AGENTS.md", "b/AGENTS.md", "AGENTS.md"}
    assert main(["lint", ".."]) == exits.USAGE
    assert "not inside" in capsys.readouterr().err
    assert main(["lint", "gone.md"]) == exits.UNREADABLE
    assert "gone.md" in capsys.readouterr().err


def test_a_message_cannot_steer_the_terminal(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "CLAUDE.md").write_text("- Always \x1b]0;owned\x07 lint scope:gone\x1b[2J/**\n", encoding="utf-8")
    main(["lint", "-C", str(tmp_path)])
    assert "\x1b" not in capsys.readouterr().out


def test_a_name_that_is_no_utf8_is_printed_escaped(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "caf\udce9"
    try:
        folder.mkdir()
    except OSError:  # a file system that takes UTF-8 alone has no such names
        folder = tmp_path
    (folder / "CLAUDE.md").write_text("- Write clean code\n", encoding="utf-8")
    assert main(["lint", "-C", str(tmp_path)]) == exits.OK
    assert main(["lint", "-C", str(tmp_path), "--json"]) == exits.OK
    assert main(["lint", "-C", str(tmp_path), "--format", "sarif"]) == exits.OK


# Colours


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("when", "terminal", "no_color", "on"),
    [
        ("auto", True, False, True),
        ("auto", True, True, False),
        ("auto", False, False, False),
        ("always", False, True, True),
        ("never", True, False, False),
    ],
)
def test_when_there_are_colours(
    monkeypatch: pytest.MonkeyPatch, when: str, terminal: bool, no_color: bool, on: bool
) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal() if terminal else io.StringIO())
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    assert Painter(when).on is on


def test_colours_can_be_asked_for(repository: Path, capsys: Capture) -> None:
    main(["lint", "-C", str(repository), "--color", "always"])
    assert "\x1b[33" in capsys.readouterr().out


# SARIF


def results(folder: Path) -> list[dict[str, Any]]:
    log = sarif(lint_repository(folder))
    found: list[dict[str, Any]] = log["runs"][0]["results"]
    return found


def test_sarif_has_the_shape_that_code_hosts_read(capsys: Capture) -> None:
    assert main(["lint", "-C", str(ORCHARD), "--format", "sarif", "--exit-zero"]) == exits.OK
    log = json.loads(capsys.readouterr().out)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "tipstaff"
    assert len({rule["id"] for rule in rules}) == len(rules)
    page = (ORCHARD.parents[1] / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    headings = re.findall(r"^### (.+)$", page, re.MULTILINE)
    links = {f"docs/diagnostics.md#{heading.lower().replace(' ', '-')}" for heading in headings}
    for rule in rules:
        assert "helpUri" not in rule  # it has to be absolute
        assert rule["help"]["text"].rpartition(" See ")[2].removesuffix(".") in links
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in {"error", "warning", "note"}
        assert result["message"]["text"]
        location = result["locations"][0]["physicalLocation"]
        assert not location["artifactLocation"]["uri"].startswith("/")
        assert location.get("region", {"startLine": 1})["startLine"] >= 1
        assert re.fullmatch("[0-9a-f]{32}", result["partialFingerprints"]["tipstaff/v1"])
    prints = [result["partialFingerprints"]["tipstaff/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_fingerprints_stay_when_lines_move(repository: Path) -> None:
    before = results(repository)
    path = repository / "CLAUDE.md"
    path.write_text("\n\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    after = results(repository)
    assert [one["partialFingerprints"] for one in before] == [one["partialFingerprints"] for one in after]
    assert [one["locations"] for one in before] != [one["locations"] for one in after]


def test_a_finding_about_a_whole_file_has_no_region(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").symlink_to("gone.md")
    (result,) = results(tmp_path)
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_a_path_becomes_a_uri(tmp_path: Path) -> None:
    folder = tmp_path / "my shop"
    folder.mkdir()
    (folder / "CLAUDE.md").write_text("- Write clean code\n", encoding="utf-8")
    assert results(tmp_path)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "my%20shop/CLAUDE.md"


def test_a_file_that_is_no_rule_file_is_not_praised(repository: Path, capsys: Capture) -> None:
    (repository / "notes.md").write_text("- Write clean code\n", encoding="utf-8")
    (repository / ".git").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repository)
        assert main(["lint", "notes.md", "--json"]) == exits.OK
        out, err = capsys.readouterr()
        assert json.loads(out)["diagnostics"] == []
        assert err == "tipstaff: warning: notes.md: not a rule file; it was not read\n"
        main(["lint", "AGENTS.md"])
        assert capsys.readouterr().err == ""
