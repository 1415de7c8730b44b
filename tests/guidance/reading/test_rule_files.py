from __future__ import annotations

import pytest

from tipstaff.frontmatter import FrontMatter
from tipstaff.guidance.reading.rule_files import RuleFile, classify, enters, file_scopes, relevant_entry


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
def test_other_files_are_none(folder: str, name: str) -> None:
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
