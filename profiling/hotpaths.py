"""Where compiling and retrieving spend their time: ``python profiling/hotpaths.py [--only NAME]``.

cProfile's figures and a readable top list go to ``profiling/out/<time>/``; the top lists are printed. The profiler
makes calls dear, so read shares, not times: the plain time of one call is printed beside.
"""

from __future__ import annotations

import argparse
import cProfile
import datetime as dt
import io
import itertools
import pstats
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import inputs, machine

OUT: Final = Path(__file__).resolve().parent / "out"
TOP: Final = 25


def compile_file() -> Callable[[], object]:
    """Compile the 400-rule file."""
    from tipstaff import compile_guidance

    text, local = inputs.rule_file(), inputs.local_file()
    return lambda: compile_guidance(text, local)


def retrieve_500() -> Callable[[], object]:
    """Retrieve over 500 shards, each time for another task."""
    return _retrieve(500)


def retrieve_100000() -> Callable[[], object]:
    """Retrieve over 100,000 shards, each time for another task."""
    return _retrieve(100_000)


def _retrieve(size: int) -> Callable[[], object]:
    from tipstaff import ShardRetriever

    retriever = ShardRetriever(inputs.bundle(size))
    tasks = itertools.cycle(inputs.tasks(500))
    return lambda: retriever.retrieve(next(tasks))


PATHS: Final = {
    "compile": (compile_file, 10),
    "retrieve-500": (retrieve_500, 500),
    "retrieve-100000": (retrieve_100000, 50),
}


def profile(name: str, folder: Path) -> str:
    """Profile one path into `folder` and return its top list."""
    prepare, times = PATHS[name]
    call = prepare()
    call()
    plain: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        plain.append(time.perf_counter() - start)
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(times):
        call()
    profiler.disable()
    profiler.dump_stats(folder / f"{name}.prof")
    text = io.StringIO()
    pstats.Stats(profiler, stream=text).strip_dirs().sort_stats("tottime").print_stats(TOP)
    head = f"{name}: median {statistics.median(plain) * 1e3:.3f} ms unprofiled, {times} calls; by own time"
    report = f"{head}\n{text.getvalue().strip()}\n"
    (folder / f"{name}.txt").write_text(report, encoding="utf-8")
    return report


def main() -> int:
    """Profile every path and print the top lists."""
    parser = argparse.ArgumentParser(description="Profile the paths that are called often.")
    parser.add_argument("--only", choices=tuple(PATHS), action="append")
    options = parser.parse_args()
    folder = OUT / dt.datetime.now(tz=dt.UTC).strftime("%Y%m%dT%H%M%SZ")
    folder.mkdir(parents=True, exist_ok=True)
    print("\n".join(machine.header()))
    for name in options.only or PATHS:
        print(f"\n{profile(name, folder)}", flush=True)
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
