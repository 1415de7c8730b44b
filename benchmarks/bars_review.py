"""Bars of checks and sizing, measured in one run: ``python -m benchmarks.bars_review``.

What the runner adds to a tool's own time is the time of a run of checks that do nothing, less what a shell takes for
the same commands, one after the other. Sizing reads what the
kernel reads; the yardstick is reading the same bytes in plain Python. Where pre-commit is installed, the same checks
are run by it as well. The least of several runs is taken, as other work on the machine only adds.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.judging import Row, measured_rows, table

from tipstaff.review import resolve_checks, run_checks
from tipstaff.review.running.run import CheckOptions
from tipstaff.review.sizing.measuring import measure
from tipstaff.review.task_sizing import Task, size_repository_task

CHECKS = 20
CHECKED_FILES = 5_000
SIZED_FILES = 50_000
HEAD_BYTES = 8_000
ROUNDS = 9
_TEXT = "def handler(request):\n    return request.user.orders.filter(open=True)\n" * 12


def repository(folder: Path, files: int) -> list[str]:
    """Make a git repository of Python files of 900 bytes, 100 in a folder, and return their paths."""
    paths: list[str] = []
    for index in range(files):
        if index % 100 == 0:
            (folder / f"pkg{index // 100}").mkdir()
        path = f"pkg{index // 100}/m{index}.py"
        (folder / path).write_text(f"# {index}\n{_TEXT}", encoding="utf-8")
        paths.append(path)
    for arguments in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)
    return paths


def least_ms(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the least time of a call in ms: other work on the machine only adds."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return min(times)


def checking() -> list[Row]:
    """What the runner adds to a check."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repository(folder, CHECKED_FILES)
        plain = resolve_checks([{"name": f"c{n}", "command": "true"} for n in range(CHECKS)])
        options = CheckOptions(jobs=1)

        def shells() -> None:
            for _ in range(CHECKS):
                subprocess.run(["/bin/sh", "-c", "true"], check=True, capture_output=True)

        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(ROUNDS):
            ours.append(least_ms(lambda: run_checks(folder, plain, options), 1))
            theirs.append(least_ms(shells, 1))
        added = (min(ours) - min(theirs)) / CHECKS
        return [
            Row(
                "what the runner adds to a check, ms",
                "CHECK_ADDED_MS",
                [added],
                True,
                f"{CHECKS} checks one after the other{pre_commit(folder)}",
            ),
        ]


def pre_commit(folder: Path) -> str:
    """Return what pre-commit takes for four checks that do nothing; empty where it is not installed."""
    program = shutil.which("pre-commit") or shutil.which("pre-commit", path=str(Path(sys.executable).parent))
    if program is None:
        return ""
    hooks = "".join(
        f"  - {{id: c{n}, name: c{n}, entry: 'true', language: system, pass_filenames: false, always_run: true}}\n"
        for n in range(4)
    )
    (folder / ".pre-commit-config.yaml").write_text(f"repos:\n- repo: local\n  hooks:\n{hooks}", encoding="utf-8")
    environment = {**os.environ, "PRE_COMMIT_HOME": str(folder / ".git/pre-commit")}
    took = least_ms(
        lambda: subprocess.run(
            [program, "run", "--all-files"], cwd=folder, check=True, capture_output=True, env=environment
        ),
        3,
    )
    return f"; pre-commit with the same four checks: {took:.0f} ms"


def sizing() -> list[Row]:
    """A task of a whole repository, and the reading alone against reading the same bytes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = repository(folder, SIZED_FILES)
        root = str(folder)

        def plain_read() -> None:
            for path in paths:
                file = os.open(f"{root}/{path}", os.O_RDONLY)
                os.read(file, HEAD_BYTES)
                os.close(file)

        whole = least_ms(lambda: size_repository_task(folder, Task(description="all"), plan={"in": ["**"]}), 3)
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(5):
            ours.append(least_ms(lambda: measure(folder, paths, attributes=()), 1))
            theirs.append(least_ms(plain_read, 1))
        ratio = statistics.median(ours) / statistics.median(theirs)
        remark = f"with a proposal to divide them: {whole / 1e3:.2f} s"
        return [
            Row(f"{SIZED_FILES:,} files sized, s", "SIZE_50K_S", [sized_s(folder)], True, remark),
            Row(
                "sizes of files against reading their bytes", "SIZE_VS_READ", [ratio], True, "both from the page cache"
            ),
        ]


def sized_s(folder: Path) -> float:
    """Return the seconds for listing, reading and sizing a repository."""
    from tipstaff.review import resolve_scope, size_task
    from tipstaff.review.repository import list_files

    def size() -> None:
        scope = resolve_scope(["**"], list_files(folder))
        size_task(window=200_000, files=measure(folder, scope.resolved).sizes)

    return least_ms(size, 5) / 1e3


if __name__ == "__main__":
    print("\n".join(table([*measured_rows(checking), *measured_rows(sizing)])))
    sys.exit(0)
