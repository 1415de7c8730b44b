"""Classes of files against git itself: random repositories with nested ignore files, all index versions and kinds of changes."""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tipstaff.kernels._undo import classes

if TYPE_CHECKING:
    import pytest

NAMES = ("a", "b", "foo", "bar.txt", "x.log", ".env", "build", "dist-1", "tmp", "Foo", "a b", "[x]", "é", "t.sqlite")
NAMES += ("#h", "!n", "foo.o", "foo.c", "-r", "caf\udce9")
LINES = (
    "*.log",
    "/build",
    "build/",
    "!x.log",
    "foo/**",
    "**/tmp",
    "a/*/b",
    "tmp/",
    "[ab]",
    "[!a]oo",
    "\\#h",
    "\\!n",
    "dist-*",
)
LINES += (
    "foo/bar.txt",
    "*.sqlite",
    ".env",
    "a b",
    "a\\ b",
    "*",
    "!*/",
    "!*.txt",
    "**/a/**",
    "a/**/b",
    "x?log",
    "[[:upper:]]oo",
)
LINES += (
    "b/",
    "# comment",
    "",
    "foo ",
    "*.[oa]",
    "\\[x\\]",
    "/*",
    "!/a",
    "f*o",
    "é",
    "a**b",
    "**",
    "[a-",
    "[]x]",
    "x.log\r",
    "a\\",
    "/foo/*/",
)


def is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def git(root: Path, *arguments: str) -> list[str]:
    """Return the names that git prints, ended by NUL."""
    done = subprocess.run(
        ["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments],
        check=True,
        capture_output=True,
    )
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]


def build(root: Path, drawn: random.Random) -> None:
    """Make a repository with files of all kinds of states."""
    root.mkdir()
    git(root, "init", "-q", *(["--object-format=sha256"] if drawn.random() < 0.1 else []))
    folders = [root]
    for _ in range(drawn.randint(2, 7)):
        folder = drawn.choice(folders) / drawn.choice(NAMES)
        if not is_there(folder):
            folder.mkdir()
            folders.append(folder)

    def write(count: int) -> None:
        for _ in range(count):
            path = drawn.choice(folders) / drawn.choice(NAMES)
            if path.is_dir() or path.is_symlink():
                continue
            if drawn.random() < 0.1 and not is_there(path):
                path.symlink_to(drawn.choice(NAMES))
                continue
            path.write_text(drawn.choice(["1\n", "22\n", "333\n"]))
            if drawn.random() < 0.1:
                path.chmod(0o755)

    write(12)
    git(root, "add", "-A")
    if drawn.random() < 0.3:
        git(root, "update-index", "--index-version", drawn.choice("234"))
    if drawn.random() < 0.15:
        git(root, "update-index", "--split-index")
    git(root, "commit", "-q", "--allow-empty", "-m", "x")
    for folder in folders:
        if drawn.random() < 0.5:
            text = "\n".join(drawn.sample(LINES, drawn.randint(1, 6))) + drawn.choice(["\n", ""])
            (folder / ".gitignore").write_bytes(text.encode())
    if drawn.random() < 0.5:
        (root / ".git/info/exclude").write_text("\n".join(drawn.sample(LINES, 3)) + "\n")
    write(10)
    for name in drawn.sample(tracked := git(root, "ls-files", "-z"), min(2, len(tracked))):
        if drawn.random() < 0.5 and is_there(root / name):
            git(root, "add", "-f", "--", name)
    if drawn.random() < 0.3:
        git(root, "add", ".")
    if drawn.random() < 0.1 and is_there(root / "foo.c"):
        git(root, "add", "-N", "-f", "foo.c")


def known_to_git(root: Path) -> dict[str, str]:
    """Return the class of each file as git's own commands have it."""
    changed = set(git(root, "--no-optional-locks", "diff", "--name-only", "-z"))
    staged = set(git(root, "diff-index", "--cached", "--name-only", "--no-renames", "-z", "HEAD"))
    found = dict.fromkeys(git(root, "ls-files", "-z"), "unchanged")
    found.update(dict.fromkeys(staged, "staged"))
    found.update(dict.fromkeys(changed, "changed"))
    found.update(dict.fromkeys(git(root, "ls-files", "-o", "-z"), "untracked"))
    found.update(dict.fromkeys(git(root, "ls-files", "-o", "-i", "--exclude-standard", "-z"), "ignored"))
    return {name: kind for name, kind in found.items() if is_there(root / name)}


def test_classes_are_those_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    seen: Counter[str] = Counter()
    for seed in range(int(os.environ.get("TIPSTAFF_UNDO_SEEDS", "25"))):
        root = tmp_path / f"r{seed}"
        build(root, random.Random(seed))
        want = known_to_git(root)
        files = [name for name in want if not (root / name).is_dir() or (root / name).is_symlink()]
        for name, kind in zip(files, classes([root / name for name in files]), strict=True):
            # Where git's tree is not written the file counts as staged: more is kept, nothing is lost.
            careful = (kind, want[name]) in {("staged", "unchanged"), ("regenerated", "ignored")}
            assert kind == want[name] or careful, (seed, name, kind, want[name])
            seen[str(kind)] += 1
    assert {"unchanged", "staged", "changed", "untracked", "ignored"} <= set(seen), seen


def test_which_repository_a_file_is_in(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    inner = outer / "inner"
    inner.mkdir(parents=True)
    for root in (outer, inner):
        git(root, "init", "-q")
        (root / "kept").write_text("1")
        git(root, "add", "kept")
        git(root, "commit", "-qm", "x")
    git(outer, "worktree", "add", "-q", str(tmp_path / "tree"))
    (tmp_path / "loose").write_text("1")
    (tmp_path / "tree/new").write_text("1")
    (outer / "empty/.git").mkdir(parents=True)  # that git would not take for a repository
    (outer / "empty/new").write_text("1")
    (outer / ".gitignore").write_text("venv/\nkeys/\n")
    (outer / "venv").mkdir()
    for name in ("pyvenv.cfg", "lib.py", ".env"):
        (outer / "venv" / name).write_text("1")
    rows = {
        "outer/kept": "unchanged",
        "outer/inner/kept": "unchanged",
        "outer/inner/.git/HEAD": "repository",
        "tree/kept": "unchanged",
        "tree/new": "untracked",
        "tree/.git": "repository",
        "outer/empty/new": "untracked",
        "outer/venv/lib.py": "regenerated",
        "outer/venv/.env": "ignored",
        "outer/venv": "folder",
        "loose": "outside",
        "gone": None,
    }
    assert dict(zip(rows, classes([tmp_path / name for name in rows]), strict=True)) == rows
