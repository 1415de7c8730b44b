from __future__ import annotations

from pathlib import Path

from tipstaff.guidance.lint import lint_repository
from tipstaff.guidance.project import compile_repository, open_project
from tipstaff.guidance.reading.repository_root import rules_root


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
    assert rules_root(root / "sample") == root / "sample"
    assert rules_root(root / "gone") == root / "gone"


def test_the_library_reads_the_root_s_rules_from_a_folder_below_it(tmp_path: Path) -> None:
    below = lay_out(tmp_path) / "src"
    assert [rule.text for rule in compile_repository(below).constitution.rules] == ["NEVER commit secrets"]
    assert "AGENTS.md" in lint_repository(below).files
    with open_project(below) as project:
        assert project.root == tmp_path
        assert (tmp_path / ".tipstaff").is_dir()
    assert not (below / ".tipstaff").exists()
    assert [rule.text for rule in compile_repository(tmp_path / "sample").rules()] == ["Use tabs"]


def test_a_folder_outside_any_repository_is_its_own_root(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("- Use tabs\n")
    (tmp_path / "src").mkdir()
    assert rules_root(tmp_path / "src") == tmp_path / "src"
