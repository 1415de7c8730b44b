"""The cache under what happens to files: writers that are killed, two at once, a disk that is full or read-only."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.review.repositories import make, run_git
from tipstaff.review import resolve_checks, run_checks
from tipstaff.review.cache_folder import CACHE_FOLDER, write_cache
from tipstaff.review.running.cache import ResultCache
from tipstaff.review.running.inventory import Inventory

WRITER = """
import sys
from pathlib import Path
from tipstaff.review import resolve_checks
from tipstaff.review.running.cache import ResultCache
from tipstaff.review.running.inventory import Inventory
from tipstaff.review.running.results import CheckResult, Outcome

root, name, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
for number in range(rounds):
    (root / f"{name}.py").write_text(f"{number}\\n")
    inventory = Inventory(root)
    cache = ResultCache(inventory)
    check = resolve_checks([{"name": f"{name}-{number}", "command": "true"}])[0]
    key = cache.key(check)
    cache.keep(key, CheckResult(name=check.name, outcome=Outcome.PASSED, required=True, command="true", exit_code=0))
    cache.save()
    inventory.save()
"""


def writer(folder: Path, name: str, rounds: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WRITER, folder, name, str(rounds)], stdout=subprocess.PIPE)


def is_sound(folder: Path) -> None:
    """Both files can be read, and say the truth of a check that passes and one that fails."""
    checks = resolve_checks([{"name": "good", "command": "true"}, {"name": "bad", "command": "false"}])
    time.sleep(0.06)  # files that were just written are not trusted
    for cached in (False, True):
        report = run_checks(folder, checks)
        assert [(one.outcome.value, one.cached) for one in report.results] == [("passed", cached), ("failed", False)]


def test_a_writer_that_is_killed_leaves_the_old_cache_or_the_new(tmp_path: Path) -> None:
    folder = make(tmp_path, {f"f{number}.py": "x" * 100 for number in range(100)})
    chance = random.Random(19)
    for _ in range(3):
        child = writer(folder, "a", 100_000)
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        time.sleep(0.02 + chance.random() / 10)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        kept = folder / CACHE_FOLDER / "checks.msgpack"
        before = kept.read_bytes() if kept.exists() else b""
        cache = ResultCache(Inventory(folder))
        cache.save()
        assert (kept.read_bytes() if kept.exists() else b"") == before
    is_sound(folder)
    assert not run_git(folder, "status", "--porcelain", "--", CACHE_FOLDER)


def test_two_writers_at_once_lose_no_verdict(tmp_path: Path) -> None:
    folder = make(tmp_path, {"f.py": ""})
    children = [writer(folder, name, 8) for name in ("a", "b")]
    for child in children:
        child.communicate()
        assert child.returncode == 0
    is_sound(folder)
    assert not [path for path in (folder / CACHE_FOLDER).iterdir() if path.suffix == ".tmp"]


def test_a_run_beside_another_is_right(tmp_path: Path) -> None:
    folder = make(tmp_path, {"f.py": ""})
    script = (
        "from tipstaff.review import *; import sys; checks = resolve_checks([{'name': 'c', 'command': sys.argv[2]}])\n"
    )
    script += "for _ in range(3): print(run_checks(sys.argv[1], checks).passed)"
    children = [
        subprocess.Popen([sys.executable, "-c", script, folder, command], stdout=subprocess.PIPE, text=True)
        for command in ("sleep 0.01", "sleep 0.01; false")
    ]
    printed = [child.communicate()[0].split() for child in children]
    assert printed == [["True"] * 3, ["False"] * 3]


def test_what_git_ignores_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path, {"a.py": ""})

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tipstaff.review.cache_folder.replaced_file", full)
        with pytest.raises(OSError, match="No space"):
            write_cache(folder, "x", b"1")
    assert not (folder / CACHE_FOLDER / ".gitignore").exists()
    write_cache(folder, "x", b"1")
    assert not run_git(folder, "status", "--porcelain", "--", CACHE_FOLDER)
