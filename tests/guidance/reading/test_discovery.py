from __future__ import annotations

from pathlib import Path

import pytest

from tipstaff.guidance.reading import discovery
from tipstaff.guidance.reading.discovery import RuleFileSearch


def searched(root: Path) -> tuple[list[str], RuleFileSearch]:
    """Return the paths that are found below a folder, sorted, and the search."""
    search = RuleFileSearch(root)
    return sorted(one.path for one in search.find()), search


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("- One\n")


def test_rule_files_are_found_wherever_a_program_would_look(tmp_path: Path) -> None:
    for name in ("CLAUDE.md", "src/AGENTS.md", ".claude/rules/a.md", "node_modules/x/CLAUDE.md", "src/README.md"):
        write(tmp_path / name)
    paths, search = searched(tmp_path)
    assert paths == [".claude/rules/a.md", "CLAUDE.md", "src/AGENTS.md"]
    assert set(search.directories) == {".", "src", ".claude", ".claude/rules"}
    assert search.diagnostics == []


def test_a_linked_folder_of_rules_is_searched_and_a_loop_is_not(tmp_path: Path) -> None:
    write(tmp_path / "team/one.md")
    write(tmp_path / ".claude/CLAUDE.md")
    (tmp_path / ".claude/rules").symlink_to("../team")
    (tmp_path / "team/loop").symlink_to("../team")
    (tmp_path / "elsewhere").symlink_to(".")
    assert searched(tmp_path)[0] == [".claude/CLAUDE.md", ".claude/rules/one.md"]


def test_a_linked_folder_outside_of_the_repository_is_not_searched(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    write(tmp_path / "team/one.md")
    (root / ".claude").mkdir(parents=True)
    (root / ".claude/rules").symlink_to("../../team")
    paths, search = searched(root)
    assert paths == []
    assert [(one.code, one.source) for one in search.diagnostics] == [("TS110", ".claude/rules")]


@pytest.mark.parametrize("name", ["CLAUDE.md", "src/AGENTS.md"])
def test_a_folder_with_the_name_of_a_rule_file_is_reported(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(parents=True)
    assert [(one.code, one.source) for one in searched(tmp_path)[1].diagnostics] == [("TS111", name)]


def test_the_search_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MAX_DIRECTORIES", 3)
    for name in "abcdef":
        (tmp_path / name).mkdir()
    search = searched(tmp_path)[1]
    assert [one.code for one in search.diagnostics] == ["TS112"]
    assert len(search.directories) == 4
