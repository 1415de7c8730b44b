"""Lines of many processes in one file: whole, in their own lines, whatever is torn, killed or full."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tipstaff.store.appending import append_line

WRITER = """
import json, sys
from pathlib import Path
from tipstaff.store.appending import append_line
for at in range(int(sys.argv[3])):
    append_line(Path(sys.argv[1]), json.dumps({"who": sys.argv[2], "at": at, "text": "x" * 600}).encode() + b"\\n")
"""


def writer(path: Path, who: str, lines: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), who, str(lines)])


def test_a_torn_line_is_ended_first(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    path.write_bytes(b'{"v":1}\n{"v":1,"at":17')
    append_line(path, b'{"v":2}\n')
    append_line(path, b'{"v":3}\n')
    assert path.read_bytes() == b'{"v":1}\n{"v":1,"at":17\n{"v":2}\n{"v":3}\n'


def test_a_full_disk_ends_the_line_that_it_cuts(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    path.write_bytes(b"first\n")
    code = (
        "import signal, resource; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)); import sys; from pathlib import Path; "
        "from tipstaff.store.appending import append_line; append_line(Path(sys.argv[1]), b'y' * 99 + b'\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=False)
    assert b"No space left" in done.stderr
    assert path.read_bytes() == b"first\n" + b"y" * 13 + b"\n"
    append_line(path, b"last\n")
    assert path.read_bytes().endswith(b"y\nlast\n")


def test_no_room_at_all_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "spool.jsonl"
    path.write_bytes(b"first\n")

    def full(_: int, __: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            append_line(path, b"second\n")
    append_line(path, b"third\n")
    assert path.read_bytes() == b"first\nthird\n"


def test_links_and_pipes_are_not_written(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(OSError, match=r"symbolic links|no regular file"):
            append_line(tmp_path / name, b"x\n")
    assert (tmp_path / "mine").read_text() == "mine"


def test_writers_that_are_killed_spoil_no_line_of_others(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    for round_ in range(3):
        victims = [writer(path, f"victim{round_}{at}", 10**6) for at in range(2)]
        until = time.monotonic() + 60
        size = path.stat().st_size if path.exists() else 0
        while (not path.exists() or path.stat().st_size < size + 50_000) and time.monotonic() < until:
            time.sleep(0.01)
        for victim in victims:
            victim.send_signal(signal.SIGKILL)
            victim.wait()
        with path.open("ab") as file:  # what a machine that stops leaves
            file.write(b'{"who":"torn"')
        others = [writer(path, f"other{round_}{at}", 40) for at in range(2)]
        assert [other.wait() for other in others] == [0, 0]
    lines = path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    read, torn = [], []
    for line in filter(None, lines):
        try:
            read.append(json.loads(line))
        except ValueError:
            torn.append(line)  # a victim's last line may be torn as well, and what the machine left goes on in it
    assert 3 <= len(torn) <= 9
    assert all(line.startswith(b'{"who": "victim') or line == b'{"who":"torn"' for line in torn)
    for round_ in range(3):
        for at in range(2):
            assert [one["at"] for one in read if one["who"] == f"other{round_}{at}"] == list(range(40))
