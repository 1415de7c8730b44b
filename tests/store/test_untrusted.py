"""What is not ours is opened in one way, which waits for nothing and reads no more than it is asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tipstaff.store.untrusted import open_untrusted, read_untrusted, read_untrusted_text


def made(path: Path, kind: str) -> Path:
    """Make a file of a kind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(50_000_000_000)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.symlink_to(path.name)
    return path


@pytest.mark.parametrize("kind", ["pipe", "folder", "sparse", "device", "circle"])
def test_what_is_refused(tmp_path: Path, kind: str) -> None:
    path = made(tmp_path / "x", kind)
    for read in (open_untrusted, read_untrusted, read_untrusted_text):
        with pytest.raises(OSError, match=r"regular|bytes|symbolic"):
            read(path)


def test_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a\r\nb\rc\xe2\x82\xac")
    assert read_untrusted(path) == path.read_bytes()
    assert read_untrusted_text(path) == path.read_text(encoding="utf-8")
    assert read_untrusted(path, most=9) == path.read_bytes()
    with pytest.raises(OSError, match="at most 8"):
        read_untrusted(path, most=8)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(path)
    assert read_untrusted(inside / "link") == path.read_bytes()
    with pytest.raises(OSError, match="leads it out"):
        read_untrusted(inside / "link", root=inside)


PLACES = (
    (("scan",), ".tipstaff/secrets/x.toml"),
    (("scan",), "x.txt"),
    (("check", "--list"), "package.json"),
    (("check", "--list"), ".tipstaff/checks.toml"),
    (("doctor",), ".claude/settings.json"),
    (("headless", "x.toml"), "x.toml"),
    (("lint",), "CLAUDE.md"),
    (("compile",), ".tipstaff/packs/x.toml"),
    (("compile",), ".tipstaff/gates.toml"),
    (("review", "sops"), ".tipstaff/sops/x.md"),
    (("rules", "explain", "X"), "AGENTS.md"),
)


@pytest.mark.parametrize("kind", ["pipe", "sparse"])
def test_commands_wait_for_nothing_and_fill_no_memory(tmp_path: Path, kind: str) -> None:
    failed: list[str] = []
    for number, (words, name) in enumerate(PLACES):
        root = tmp_path / f"r{number}"
        (root / ".git").mkdir(parents=True)
        made(root / name, kind)
        code = (
            "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))\n"
            "from tipstaff.cli import main; sys.exit(main())"
        )
        try:
            done = subprocess.run(
                [sys.executable, "-c", code, *words], cwd=root, capture_output=True, check=False, timeout=60,
                stdin=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            failed.append(f"{words} waits for {name}")
            continue
        if done.returncode > 5 or b"Traceback" in done.stderr or b"MemoryError" in done.stderr:
            failed.append(f"{words} with {name}: {done.returncode} {done.stderr[-300:]!r}")
    assert failed == []
