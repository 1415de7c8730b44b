from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tipstaff.guidance.lint import lint_repository
from tipstaff.guidance.project import compile_repository, open_project
from tipstaff.guidance.reading import discovery
from tipstaff.guidance.reading.discovery import FileList, RuleFileSearch, list_files, rules_root


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


def made_files(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    return folder


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def test_a_folder_without_git_is_walked_without_what_tools_made(tmp_path: Path) -> None:
    made_files(
        tmp_path, "api/a.py", ".github/x.yml", "node_modules/b.js", "web/node_modules/c.js", ".venv/d.py", "e f/ü.md"
    )
    files = list_files(tmp_path)
    assert len(files) == 3
    assert files.any_match("api/**")
    assert files.any_match(".github/**")
    assert files.any_match("e f/ü.md")
    assert not files.any_match("**/node_modules/**")
    assert not files.any_match("**/*.js")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_says_which_files_count(tmp_path: Path) -> None:
    made_files(tmp_path, "api/a.py", "api/new.py", "logs/x.log", "gone.py", "naïve.md")
    (tmp_path / ".gitignore").write_text("*.log\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "api/a.py", "gone.py", ".gitignore")
    (tmp_path / "gone.py").unlink()
    files = list_files(tmp_path)
    assert files.any_match("api/new.py")
    assert files.any_match("naïve.md")
    assert not files.any_match("**/*.log")
    assert not files.any_match("gone.py")
    assert list_files(tmp_path / "api").any_match("/a.py")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_repositorys_own_configuration_starts_no_program(tmp_path: Path) -> None:
    made_files(tmp_path, "a.py")
    git(tmp_path, "init", "-q")
    hook = tmp_path / "monitor.sh"
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/was-run'\n", encoding="utf-8")
    hook.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(hook))
    assert list_files(tmp_path).any_match("a.py")
    assert not (tmp_path / "was-run").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_folder_that_git_ignores_is_walked(tmp_path: Path) -> None:
    made_files(tmp_path, "out/example/a.py")
    (tmp_path / ".gitignore").write_text("out/\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    assert list_files(tmp_path / "out" / "example").any_match("a.py")


def test_without_git_on_the_machine_the_folder_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made_files(tmp_path, "a.py")
    monkeypatch.setenv("PATH", "")
    assert list_files(tmp_path).any_match("a.py")


def test_the_number_of_files_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "MAX_FILES", 3)
    made_files(tmp_path, *(f"{number}.py" for number in range(6)))
    assert len(list_files(tmp_path)) == 3


def test_names_that_sort_around_a_slash_are_distinguished() -> None:
    files = FileList(["api-old/a.py", "api.md", "api/a.py", "api0/b.py"])
    assert files.any_match("api/**")
    assert not files.any_match("api/b.py")
    assert not files.any_match("api/old/**")
    assert files.any_match("api*/b.py")
    assert files.any_match("{api-old,nothing}/a.py")


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("services/biling/**", "services/billing/**"),
        ("service/billing/**", "services/billing/**"),
        ("billing/**", "**/billing/**"),
        ("app/[id]/page.tsx", r"app/\[id\]/page.tsx"),
        ("services/billing/*.rb", None),
        ("entirely/other/**", None),
        ("**/nothing.rb", None),
    ],
)
def test_suggestions_cover_something(glob: str, expected: str | None) -> None:
    files = FileList(["services/billing/a.py", "app/[id]/page.tsx"])
    assert not files.any_match(glob)
    assert files.suggest(glob) == expected
