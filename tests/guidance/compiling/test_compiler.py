from __future__ import annotations

import json
from pathlib import Path

import pytest

from tipstaff.budgets import MAX_SOURCE_BYTES
from tipstaff.errors import SourceError
from tipstaff.guidance.compiling.compiler import compile_guidance, in_force
from tipstaff.guidance.compiling.compiler_config import CompilerConfig
from tipstaff.guidance.project import compile_repository
from tipstaff.model import PolicyBundle


def found(bundle: PolicyBundle) -> list[str]:
    return [one.code for one in bundle.diagnostics]


def laid_out(root: Path, files: dict[str, str]) -> PolicyBundle:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return compile_repository(root)


def test_a_rule_knows_itself_and_its_location() -> None:
    text = "# Book\n\n## Security\n\n- [SEC-001] Never log tokens\n  in full (critical) [bash] scope:src/** verify:scan priority:80\n"
    (rule,) = compile_guidance(text).rules()
    assert (rule.id, rule.text, rule.risk_class) == ("SEC-001", "Never log tokens in full", "critical")
    assert (rule.tool_classes, rule.repo_scopes, rule.verifier, rule.priority) == (("bash",), ("src/**",), "scan", 180)
    assert (rule.path, rule.line, rule.end_line, rule.heading, rule.host) == ("root", 5, 6, "Security", "claude")
    assert text[slice(*rule.span)].startswith("[SEC-001] Never")
    assert rule.is_constitution


def test_priority_orders_and_files_break_ties() -> None:
    bundle = compile_guidance(
        "- Never a priority:10\n- Never b\n- Never c priority:90\n- Never d\n## Security\n- Never e\n"
    )
    assert [rule.text[-1] for rule in sorted(bundle.rules(), key=lambda one: -one.priority)] == [
        "e",
        "c",
        "b",
        "d",
        "a",
    ]
    assert [entry.priority for entry in bundle.manifest.rules] == [150, 90, 50, 50, 10]


def test_the_manifest_counts_every_rule_once() -> None:
    bundle = compile_guidance(
        "## Security\n- Never a\n- Never b\n## Notes\n- Never c\n", config=CompilerConfig(max_constitution_lines=3)
    )
    manifest = bundle.manifest
    assert (manifest.total_rules, manifest.constitution_rules, manifest.shard_rules) == (3, 2, 1)
    assert len(bundle.shards) == 2
    assert len(bundle.rules()) == 3
    json.dumps(bundle.to_dict())


def test_rules_without_ids_can_be_refused_and_are_reported() -> None:
    bundle = compile_guidance("- [A-1] Never a\n- Never b\n", config=CompilerConfig(auto_generate_ids=False))
    assert [rule.id for rule in bundle.rules()] == ["A-1"]
    assert found(bundle) == ["TS208"]


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="root is a bytes"):
        compile_guidance(b"- a")  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="at most"):
        compile_guidance("a" * (MAX_SOURCE_BYTES + 1))


@pytest.mark.parametrize(
    ("dates", "today", "inside"),
    [
        ("from:2026-12-01", "2026-11-30", False), ("from:2026-12-01", "2026-12-01", True), ("until:2026-12-01", "2026-12-01", True),
        ("until:2026-12-01", "2026-12-02", False), ("from:2026-12-01 until:2027-01-15", "2027-01-01", True),
    ],
)  # fmt: skip
def test_rules_are_in_force_between_their_dates(dates: str, today: str, inside: bool) -> None:
    bundle = compile_guidance(f"## Security\n- Never merge {dates}\n", config=CompilerConfig(today=today))
    assert ("Never merge" in bundle.constitution.text) is inside
    assert ("TS305" in found(bundle)) is not inside
    assert bundle.manifest.total_rules == 1


def test_open_dates_are_always_in_force() -> None:
    (rule,) = compile_guidance("- Never merge\n").rules()
    assert in_force(rule, "0001-01-01")
    assert in_force(rule, "9999-12-31")


def test_a_local_file_adds_and_tightens() -> None:
    bundle = compile_guidance(
        "## Security\n- [R001] Never disable TLS\n## Notes\n- [N-1] Use tabs\n",
        "- [R001] Never disable TLS, not even in tests\n- [N-1] Use spaces\n- Always lint\n",
    )
    assert {rule.text: rule.source for rule in bundle.rules()} == {
        "Never disable TLS": "root",
        "Never disable TLS, not even in tests": "local",
        "Use spaces": "local",
        "Always lint": "local",
    }
    assert "Never disable TLS" in bundle.constitution.text


@pytest.mark.parametrize("local", ["- Disable TLS when testing\n", "- You may disable TLS\n", "- Always disable TLS\n"])
def test_a_local_rule_that_contradicts_the_constitution_is_refused(local: str) -> None:
    bundle = compile_guidance("## Security\n- Never disable TLS\n", local)
    assert [rule.text for rule in bundle.rules()] == ["Never disable TLS"]
    assert found(bundle) == ["TS402"]


def test_the_nearer_file_wins_in_its_folder(tmp_path: Path) -> None:
    bundle = laid_out(
        tmp_path, {"AGENTS.md": "- [STY-001] Prefer tabs\n", "web/AGENTS.md": "- [STY-001] Prefer two spaces\n"}
    )
    inner = bundle.rule("STY-001@web")
    assert inner is not None
    assert (inner.overrides, inner.repo_scopes, inner.depth) == ("STY-001", ("web/**",), 1)
    assert bundle.rule("STY-001") is not None
    assert found(bundle) == ["TS504"]


def test_a_local_rule_that_replaces_another_says_so() -> None:
    bundle = compile_guidance("- [STY-001] Prefer tabs\n", "- [STY-001] Prefer two spaces\n")
    assert [(rule.id, rule.text) for rule in bundle.rules()] == [("STY-001", "Prefer two spaces")]
    (finding,) = bundle.diagnostics
    assert (finding.code, finding.source, finding.line) == ("TS504", "local", 1)
    assert "'Prefer tabs'" in finding.message


def test_a_local_file_further_down_replaces_in_its_folder_alone(tmp_path: Path) -> None:
    bundle = laid_out(
        tmp_path, {"CLAUDE.md": "- [STY-001] Prefer tabs\n", "web/CLAUDE.local.md": "- [STY-001] Prefer spaces\n"}
    )
    outer, inner = bundle.rule("STY-001"), bundle.rule("STY-001@web")
    assert outer is not None
    assert inner is not None
    assert (outer.text, outer.repo_scopes) == ("Prefer tabs", ("**/*",))
    assert (inner.text, inner.overrides, inner.repo_scopes) == ("Prefer spaces", "STY-001", ("web/**",))
    assert found(bundle) == ["TS504"]


def test_relations_are_found_across_files(tmp_path: Path) -> None:
    bundle = laid_out(
        tmp_path,
        {
            "CLAUDE.md": "- Always sign release tags\n- Commits must be squashed before merging\n- Never push to the main branch\n",
            "AGENTS.md": "- Always sign release tags\n- Commits must not be squashed before merging\n- Never push to main branch\n",
        },
    )
    codes = found(bundle)
    assert codes.count("TS501") == 1
    assert codes.count("TS502") == 1
    assert codes.count("TS503") == 1
    assert {relation.kind for relation in bundle.relations} == {"near-duplicate", "contradiction"}


def test_a_scope_of_a_nested_file_stays_in_its_folder(tmp_path: Path) -> None:
    bundle = laid_out(tmp_path, {"web/AGENTS.md": "- Always a scope:src/**\n- Always b scope:web/x/**\n- Always c\n"})
    assert {rule.text: rule.repo_scopes for rule in bundle.rules()} == {
        "Always a": ("web/src/**",),
        "Always b": ("web/x/**",),
        "Always c": ("web/**",),
    }


def test_the_same_text_compiles_to_the_same_bundle() -> None:
    text = "## Security\n- Never a\n- [B-1] Never b\n\nYou must c.\n"
    config = CompilerConfig(today="2026-11-22")
    assert compile_guidance(text, config=config) == compile_guidance(text, config=config)
    assert len(compile_guidance(text).constitution.hash) == 16


@pytest.mark.parametrize(
    "text", ["", "\x00", "- a\x00b must", "\ud800 must stop", "- never \udfff\n" * 3, "\ufeff", "#" * 9_000, "- " * 500]
)
def test_strange_texts_compile(text: str) -> None:
    json.dumps(compile_guidance(text, text).to_dict())


@pytest.mark.parametrize(
    "text",
    ["- Always lint scope:src/**\n- Always lint\n", "- Always lint scope:src/**.\n- Always lint.\n"],
)
def test_of_two_rules_in_the_same_words_the_one_that_goes_is_reported(text: str) -> None:
    bundle = compile_guidance(text)
    (rule,) = bundle.rules()
    (finding,) = bundle.diagnostics
    assert (rule.line, rule.repo_scopes) == (2, ("**/*",))
    assert (finding.code, finding.line, finding.rule_id) == ("TS501", 1, rule.id)
    assert finding.message == f"Duplicate of {rule.id} in root:2."


def test_a_heading_that_is_a_rule_is_one_above_others_too() -> None:
    """Its words would reach the model nowhere; a heading that only names its rules stays one."""
    bundle = compile_guidance(
        "## You must never push to main\n\n- Use rebase\n\n## Rules you must follow\n\n- Lint all\n"
    )
    assert {rule.text: rule.line for rule in bundle.rules()} == {
        "You must never push to main": 1,
        "You must never push to main: Use rebase": 3,
        "Lint all": 7,
    }
    bundle = compile_guidance("## Always sign release tags\n\n### Never\n\n- push to main\n")
    assert {rule.text: rule.is_constitution for rule in bundle.rules()} == {
        "Always sign release tags": True,
        "Never: push to main": True,
    }
