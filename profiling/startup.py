"""What a process costs from its start to its end, and which imports it pays for: ``python profiling/startup.py``.

Processes take turns; medians and the difference to ``python -c pass`` are printed. Below are the imports that take
the longest by themselves, from ``-X importtime``.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import machine, processes

_LINE: Final = re.compile(r"import time:\s+(\d+) \|\s+(\d+) \|(\s+)(\S+)")
TOP: Final = 12
BASE: Final = "python -c pass"


def measure(rounds: int) -> dict[str, list[processes.Spent]]:
    """Run every command `rounds` times in turns and return what each run took."""
    times: dict[str, list[processes.Spent]] = {name: [] for name in processes.COMMANDS}
    for name in times:
        processes.measure(name)
    for _ in range(rounds):
        for name, values in times.items():
            values.append(processes.measure(name))
    return times


def imports(name: str) -> list[tuple[int, int, str]]:
    """Return (own us, cumulative us, module) of every import of a command, the costliest by itself first."""
    command = processes.COMMANDS[name]
    if command[0] != sys.executable:
        command = [sys.executable, *command]
    environment = os.environ | {"PYTHONPROFILEIMPORTTIME": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = [(int(own), int(total), module) for own, total, _, module in _LINE.findall(result.stderr)]
    if not found:
        msg = f"{name} reported no import times: {result.stderr[:300]}"
        raise RuntimeError(msg)
    return sorted(found, reverse=True)


def main() -> int:
    """Print the table and the imports."""
    parser = argparse.ArgumentParser(description="Profile the start of whole processes.")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    print("\n".join(machine.header()))
    times = measure(options.rounds)
    print(f"\n{'whole process, ms':24} {'median':>8} {'best':>8} {'more than Python':>17} {'on the processor':>17}")
    for name, values in times.items():
        wall, more, worked = (
            statistics.median(each) * 1e3
            for each in (
                [one.wall for one in values],
                [one.wall - base.wall for one, base in zip(values, times[BASE], strict=True)],
                [one.processor for one in values],
            )
        )
        print(f"{name:24} {wall:8.1f} {min(values).wall * 1e3:8.1f} {more:17.1f} {worked:17.1f}")
    common = {module for _, _, module in imports(BASE)}
    for name in times:
        if name != BASE:
            found = [one for one in imports(name) if one[2] not in common]
            print(f"\n{name}: {len(found)} modules more than Python's own; own us, with what they import, module")
            for own, total, module in found[:TOP]:
                print(f"  {own:8,} {total:8,}  {module}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
