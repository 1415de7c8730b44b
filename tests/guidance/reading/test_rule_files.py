from __future__ import annotations

from pathlib import Path

import pytest
from tools.write_rule_file_table import PAGE, page

from tipstaff.frontmatter import FrontMatter
from tipstaff.guidance.reading.rule_files import (
    FORMATS,
    USER,
    RuleFile,
    classify,
    enters,
    file_scopes,
    relevant_entry,
    user_files,
)


@pytest.mark.parametrize(
    ("folder", "name", "host", "owner"),
    [
        ("", "CLAUDE.md", "claude", ""),
        (".claude", "CLAUDE.md", "claude", ""),
        ("web/.claude", "CLAUDE.md", "claude", "web"),
        ("web", "AGENTS.md", "agents", "web"),
        ("", "GEMINI.md", "gemini", ""),
        ("", ".cursorrules", "cursor", ""),
        ("web/.claude/rules/deep", "a.md", "claude", "web"),
        (".cursor/rules", "a.mdc", "cursor", ""),
        (".github", "copilot-instructions.md", "copilot", ""),
        (".github/instructions", "a.instructions.md", "copilot", ""),
    ],
)
def test_rule_files_are_known_by_name_and_folder(folder: str, name: str, host: str, owner: str) -> None:
    found = classify(folder, name)
    assert found is not None
    assert (found.host, found.folder, found.local) == (host, owner, False)
    assert relevant_entry(folder, name, "f")


@pytest.mark.parametrize(
    ("folder", "name"), [("", "README.md"), ("claude", "rules.md"), ("", "copilot-instructions.md"), ("x", "claude.md")]
)
def test_other_files_are_no_rule_files(folder: str, name: str) -> None:
    assert classify(folder, name) is None


def test_a_local_file_says_so() -> None:
    found = classify("web", "CLAUDE.local.md")
    assert found is not None
    assert found.local


def test_folders_that_are_searched() -> None:
    assert enters("", "src")
    assert enters("", ".claude")
    assert enters(".claude", "rules")
    assert enters(".claude/rules", ".hidden")
    for folder, name in (("", "node_modules"), ("", ".git"), (".claude", "worktrees"), ("", "Build")):
        assert not enters(folder, name)
        assert not relevant_entry(folder, name, "d")


def test_scopes_are_relative_to_the_root() -> None:
    file = RuleFile("web/.claude/rules/a.md", "claude", "web")
    assert file_scopes(file, FrontMatter()) == ("web/**",)
    assert file_scopes(RuleFile("CLAUDE.md", "claude", ""), FrontMatter()) == ("**/*",)


def test_the_page_has_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tools.write_rule_file_table"


def test_each_format_is_found_where_the_table_says() -> None:
    for one in FORMATS:
        name = one.pattern.replace("**/", "deep/").replace("rules-*", "rules-code").replace("*", "x")
        if one.scope == USER:
            continue
        folder, _, last = name.rpartition("/")
        found = classify(folder, last)
        assert found is not None, name
        assert (found.host, found.local, found.folder) == (one.host, one.local, "")
        inner = classify(f"web/{folder}".rstrip("/"), last)
        assert (inner is None) is one.root_only
        outer = ""
        for part in filter(None, folder.split("/")):
            assert enters(outer, part), name
            outer = f"{outer}/{part}".lstrip("/")


def test_a_person_s_files_are_those_of_the_table(tmp_path: Path) -> None:
    for name in (".claude/CLAUDE.md", ".claude/rules/a/b.md", ".codex/AGENTS.md", ".gemini/GEMINI.md", "CLAUDE.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("- x\n", encoding="utf-8")
    found = {Path(one.path).relative_to(tmp_path).as_posix(): one.host for one in user_files(tmp_path)}
    assert found == {
        ".claude/CLAUDE.md": "claude",
        ".claude/rules/a/b.md": "claude",
        ".codex/AGENTS.md": "agents",
        ".gemini/GEMINI.md": "gemini",
    }
