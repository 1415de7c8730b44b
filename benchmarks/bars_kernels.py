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
from benchmarks.kernel_data import (
    DIMENSIONS,
    QUERY_INTENTS,
    TEXT,
    make_data,
    node_microseconds,
    numpy_pipeline,
    race,
)

from tipstaff import budgets, kernels
from tipstaff.kernels import _scoring

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


def scoring_bars(n: int, rounds: int, inner: int) -> list[Bar]:
    data = make_data(n)
    small = kernels.quantize_rows(data.rows, DIMENSIONS)
    columns = data.query, data.intents, data.risks
    times = race(
        {
            "read": lambda: _scoring.read_bytes(data.rows),
            "float32": lambda: kernels.score_topk_f32(data.rows, *columns, query_intents=QUERY_INTENTS),
            "numpy": lambda: numpy_pipeline(data),
            "int8": lambda: kernels.score_topk_i8(data.rows, *small, *columns, query_intents=QUERY_INTENTS),
        },
        rounds,
        inner,
    )
    print(f"  {n} rows, us: " + ", ".join(f"{name} {seconds * 1e6:.1f}" for name, seconds in times.items()))
    versus_numpy = times["numpy"] / times["float32"]
    if n < 1000:
        return [Bar(f"float32, {n} rows, times faster than NumPy", versus_numpy, budgets.SCORE_500_VS_NUMPY, False)]
    bars = [
        Bar(f"float32, {n} rows, against NumPy", versus_numpy, 1.0, False),
        Bar(f"int8, {n} rows, times faster than float32", times["float32"] / times["int8"], budgets.INT8_VS_F32, False),
    ]
    if n == 10_000:
        bars.append(
            Bar(
                f"float32, {n} rows, times a plain read",
                times["float32"] / times["read"],
                budgets.SCORE_F32_VS_READ,
                True,
            )
        )
    return bars


def batch_bars() -> list[Bar]:
    data = make_data(10_000)
    queries = data.rows[:64].copy()
    intents, filters = np.full(64, QUERY_INTENTS, dtype=np.uint16), np.full(64, 31, dtype=np.uint8)
    rounds = 100_000
    times = race(
        {
            "peak": lambda: _scoring.multiply_add(rounds),
            "batch": lambda: kernels.score_topk_f32_batch(
                data.rows,
                queries,
                data.intents,
                data.risks,
                dimensions=DIMENSIONS,
                query_intents=intents,
                risk_filters=filters,
            ),
        },
        11,
    )
    peak = _scoring.multiply_add(rounds) / times["peak"]
    rate = 2 * 10_000 * 64 * DIMENSIONS / times["batch"]
    print(f"  64 queries at once: {rate / 1e9:.0f} of {peak / 1e9:.0f} GFLOP/s")
    return [Bar("64 queries, share of the multiply-add peak", rate / peak, budgets.BATCH64_FMA_SHARE, False)]


def measure() -> list[Bar]:
    """Measure every bar of the kernels."""
    return [
        *scoring_bars(500, 21, 40),
        *scoring_bars(10_000, 21, 4),
        *scoring_bars(100_000, 11, 1),
        *batch_bars(),
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
