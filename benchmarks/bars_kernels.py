"""The bars of the kernels, each measured in one run on one thread: ``python -m benchmarks.bars_kernels``.

Contenders take turns and medians are compared, so a busy machine slows both sides of a ratio. Exits with 1 if a bar
does not hold. The bars themselves are in `tipstaff.budgets`.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from typing import NamedTuple

import numpy as np
from benchmarks.kernel_data import DIMENSIONS, TEXT, node_microseconds, race

from tipstaff import budgets, kernels

BATCH_ROWS = 1000


class Bar(NamedTuple):
    """One measured ratio and the bar it must reach, or stay under."""

    name: str
    measured: float
    bar: float
    at_most: bool

    @property
    def holds(self) -> bool:
        return self.measured <= self.bar if self.at_most else self.measured >= self.bar


def hash_bars() -> list[Bar]:
    offsets = (np.arange(BATCH_ROWS + 1) * len(TEXT)).astype(np.int32)
    data = (TEXT * BATCH_ROWS).encode()
    out = np.empty((BATCH_ROWS, DIMENSIONS), dtype=np.float32)
    ratios = []
    for _ in range(3):  # Node runs in a process of its own, so it takes turns with whole rounds of ours
        node = node_microseconds()
        if node is None:
            print("no node on this machine: the hash embedding's bar is not measured")
            return []
        ours = race({"batch": lambda: kernels.hash_embed_batch(offsets, data, BATCH_ROWS, DIMENSIONS, out)}, 9)
        ratios.append(node / (ours["batch"] / BATCH_ROWS * 1e6))
        print(f"  hash embedding of 200 characters: node {node:.1f} us, batch {node / ratios[-1]:.3f} us")
    return [
        Bar(
            "hash embedding, batch, times faster than Node",
            statistics.median(ratios),
            budgets.HASH_BATCH_VS_NODE,
            False,
        )
    ]


def measure() -> list[Bar]:
    """Measure every bar of the kernels."""
    return [
        *hash_bars(),
    ]


def main() -> int:
    """Print every bar; return 1 if one does not hold."""
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":  # read when NumPy's libraries are loaded: start again
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            [sys.executable, "-m", "benchmarks.bars_kernels"], env=environment, check=False
        ).returncode
    print(f"instruction set: {kernels.isa()}; load {os.getloadavg()[0]:.1f}")
    bars = measure()
    for bar in bars:
        sign = "<=" if bar.at_most else ">="
        print(f"{'holds' if bar.holds else 'MISSED':7}{bar.name:50}{bar.measured:9.2f}  {sign} {bar.bar:g}")
    return 0 if all(bar.holds for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
