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
