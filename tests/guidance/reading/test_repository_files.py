from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tipstaff.guidance.reading import repository_files
from tipstaff.guidance.reading.repository_files import FileList, list_files


def lay_out(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    return folder


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def test_a_folder_without_git_is_walked_without_what_tools_made(tmp_path: Path) -> None:
    lay_out(
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
    lay_out(tmp_path, "api/a.py", "api/new.py", "logs/x.log", "gone.py", "naïve.md")
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
    lay_out(tmp_path, "a.py")
    git(tmp_path, "init", "-q")
    hook = tmp_path / "monitor.sh"
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/was-run'\n", encoding="utf-8")
    hook.chmod(0o755)
    git(tmp_path, "config", "core.fsmonitor", str(hook))
    assert list_files(tmp_path).any_match("a.py")
    assert not (tmp_path / "was-run").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_folder_that_git_ignores_is_walked(tmp_path: Path) -> None:
    lay_out(tmp_path, "out/example/a.py")
    (tmp_path / ".gitignore").write_text("out/\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    assert list_files(tmp_path / "out" / "example").any_match("a.py")


def test_without_git_on_the_machine_the_folder_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, "a.py")
    monkeypatch.setenv("PATH", "")
    assert list_files(tmp_path).any_match("a.py")


def test_the_number_of_files_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository_files, "MAX_FILES", 3)
    lay_out(tmp_path, *(f"{number}.py" for number in range(6)))
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
