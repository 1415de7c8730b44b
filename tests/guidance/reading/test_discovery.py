from __future__ import annotations

from pathlib import Path

import pytest

from tipstaff.guidance.lint import lint_repository
from tipstaff.guidance.project import compile_repository, open_project
from tipstaff.guidance.reading import discovery
from tipstaff.guidance.reading.discovery import RuleFileSearch, rules_root


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


def lay_out(root: Path) -> Path:
    (root / ".git").mkdir()
    (root / "AGENTS.md").write_text("- NEVER commit secrets\n")
    (root / "src" / "deep").mkdir(parents=True)
    (root / "sample").mkdir()
    (root / "sample" / "CLAUDE.md").write_text("- Use tabs\n")
    return root


def test_the_root_is_found_from_a_folder_without_rule_files(tmp_path: Path) -> None:
    root = lay_out(tmp_path)
    assert rules_root(root / "src" / "deep") == root
    assert rules_root(root) == root
    assert rules_root(root / "gone") == root / "gone"


def test_the_library_reads_the_root_s_rules_from_a_folder_below_it(tmp_path: Path) -> None:
    below = lay_out(tmp_path) / "src"
    assert [rule.text for rule in compile_repository(below).constitution.rules] == ["NEVER commit secrets"]
    assert "AGENTS.md" in lint_repository(below).files
    with open_project(below) as project:
        assert project.root == tmp_path
        assert (tmp_path / ".tipstaff").is_dir()
    assert not (below / ".tipstaff").exists()


def test_a_package_s_rules_are_read_with_those_of_its_repository(tmp_path: Path) -> None:
    root = lay_out(tmp_path)
    assert rules_root(root / "sample") == root
    assert [rule.text for rule in compile_repository(root / "sample").rules()] == ["NEVER commit secrets", "Use tabs"]


def test_a_named_sample_of_a_repository_without_rules_at_its_root_is_meant_itself(tmp_path: Path) -> None:
    root = lay_out(tmp_path)
    (root / "AGENTS.md").unlink()
    (root / ".github" / "workflows").mkdir(parents=True)
    assert rules_root(root / "sample") == root / "sample"
    assert [rule.text for rule in compile_repository(root / "sample").rules()] == ["Use tabs"]
    (root / ".github" / "copilot-instructions.md").write_text("- Use spaces\n")
    assert rules_root(root / "sample") == root


def test_a_folder_may_be_taken_as_the_root(tmp_path: Path) -> None:
    root = lay_out(tmp_path)
    assert [rule.text for rule in compile_repository(root / "sample", as_root=True).rules()] == ["Use tabs"]
    assert not compile_repository(root / "src", as_root=True).rules()
    assert lint_repository(root / "sample", as_root=True).files == ("CLAUDE.md",)
    with open_project(root / "sample", as_root=True) as project:
        assert project.root == root / "sample"
        assert project.bundle.manifest.total_rules == 1


def test_a_folder_outside_any_repository_is_its_own_root(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("- Use tabs\n")
    (tmp_path / "src").mkdir()
    assert rules_root(tmp_path / "src") == tmp_path / "src"
