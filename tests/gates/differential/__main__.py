"""The long run: `python -m tests.gates.differential [--count N] [--seeds N ...] [--shells NAME ...] [--smaller N]`."""

from __future__ import annotations

import argparse
import sys

from tests.gates.differential.comparison import compare, gates, minimised_miss, programs, written
from tests.gates.differential.sandbox import Sandbox, installed_shells


def main() -> int:
    """Compare many programs, print what passed as small as it gets; 1 where more than one in a thousand did."""
    parser = argparse.ArgumentParser(prog="python -m tests.gates.differential", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="programs of each seed")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="fresh ones find what fixed ones do not")
    parser.add_argument("--shells", nargs="+", default=installed_shells(), help="of those that are installed")
    parser.add_argument(
        "--smaller", type=int, default=20, help="how many misses of each run are made small and printed"
    )
    options = parser.parse_args()
    gate = gates()
    worst = 0.0
    with Sandbox() as sandbox:
        for seed in options.seeds:
            for shell in options.shells:
                counted = compare(sandbox, gate, shell, programs(options.count, seed, posix=shell != "bash"))
                print(f"{shell}, seed {seed}: {counted}", flush=True)
                worst = max(worst, len(counted.misses) / max(1, counted.destructive))
                small = {minimised_miss(sandbox, gate, shell, miss) for miss in counted.misses[: options.smaller]}
                print(written(sorted(small, key=len)), end="", flush=True)
    return int(worst > 0.001)


if __name__ == "__main__":
    sys.exit(main())
