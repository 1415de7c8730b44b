"""Scopes that cover nothing of the repository, or cannot be used."""

from __future__ import annotations

from pathlib import Path

from tests.guidance.test_lint import lay_out, lint
from tipstaff.guidance.lint import lint_repository
from tipstaff.model import Severity


def test_a_scope_that_covers_a_file_is_not_reported(tmp_path: Path) -> None:
    files = {"CLAUDE.md": "- Always paginate scope:api/**\n- Never nest scope:*.sql\n", "api/a.sql": ""}
    assert lint(tmp_path, files, "TS6").diagnostics == ()


def test_a_dead_scope_of_a_rule_is_reported_with_the_likely_one(tmp_path: Path) -> None:
    files = {"CLAUDE.md": "# X\n\n- [ORD-001] Always paginate scope:services/biling/**\n", "services/billing/a.py": ""}
    (found,) = lint(tmp_path, files, "TS601").diagnostics
    assert (found.source, found.line, found.rule_id) == ("CLAUDE.md", 3, "ORD-001")
    assert "services/biling/**" in found.message
    assert "services/billing/**" in found.fix


def test_brackets_of_a_route_are_recognised(tmp_path: Path) -> None:
    files = {"CLAUDE.md": "- Always check the slug scope:app/[slug]/page.tsx\n", "app/[slug]/page.tsx": ""}
    (found,) = lint(tmp_path, files, "TS601").diagnostics
    assert r"app/\[slug\]/page.tsx" in found.fix


def test_a_dead_scope_of_a_file_is_reported_once_at_its_line(tmp_path: Path) -> None:
    text = '---\ndescription: x\npaths:\n  - "api/**"\n  - "gone/**"\n---\n- Always sort\n- Always paginate\n'
    found = lint(tmp_path, {".claude/rules/api.md": text, "api/a.py": ""}, "TS601").diagnostics
    assert [(one.line, one.rule_id) for one in found] == [(5, None)]
    assert "'gone/**' matches no file of the repository; another does." in found[0].message
    assert found[0].severity is Severity.INFO


def test_scopes_that_are_all_dead_are_one_warning(tmp_path: Path) -> None:
    globs = ", ".join(f"*.{suffix}" for suffix in ("c", "cc", "cpp", "cxx", "h", "hpp"))
    files = {".cursor/rules/c.mdc": f"---\nglobs: {globs}\n---\n- Always sort\n", "main.rs": ""}
    (found,) = lint(tmp_path, files, "TS6").diagnostics
    assert (found.line, found.severity) == (2, Severity.WARNING)
    assert "'*.c', '*.cc', '*.cpp', '*.cxx' and 2 more match no file" in found.message


def test_what_a_rule_file_alone_names_elsewhere_is_not_missed(tmp_path: Path) -> None:
    files = {".cursor/rules/c.mdc": "---\nglobs: '*.c'\n---\n- Always sort\n", "CLAUDE.md": "@../shared/rules.md\n"}
    report = lint(lay_out(tmp_path / "alone", {}), files, "TS601", "TS110")
    assert [one.severity for one in report.diagnostics] == [Severity.INFO, Severity.INFO]
    (tmp_path / "alone" / "main.rs").touch()
    report = lint_repository(tmp_path / "alone", select=("TS601", "TS110"))
    assert [one.severity for one in report.diagnostics] == [Severity.WARNING, Severity.WARNING]
    (tmp_path / "alone" / "main.rs").unlink()
    (tmp_path / ".git").mkdir()
    report = lint_repository(tmp_path / "alone", select=("TS601", "TS110"))
    assert [one.severity for one in report.diagnostics] == [Severity.WARNING, Severity.WARNING]


def test_an_unusable_scope_is_an_error_that_says_why(tmp_path: Path) -> None:
    (found,) = lint(tmp_path, {"CLAUDE.md": "- Always paginate scope:src/{api,web/**\n"}, "TS6").diagnostics
    assert found.code == "TS602"
    assert found.severity is Severity.ERROR
    assert "unclosed" in found.message


def test_a_scope_that_takes_out_is_not_dead(tmp_path: Path) -> None:
    files = {".cursor/rules/a.mdc": "---\nglobs: src/**,!src/generated/**\n---\n- Always sort\n", "src/a.py": ""}
    assert lint(tmp_path, files, "TS6").diagnostics == ()
