"""Shared inputs and contenders of the kernel benchmarks: seeded rows, NumPy's full pipeline, the reference in Node."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

DIMENSIONS = 384
QUERY_INTENTS = 3
RISK_BOOSTS = np.array([0, 0, 0, 0.05, 0.10], dtype=np.float32)
TEXT = ("Never commit secrets; Always validate input at the boundary and run the tests. " * 3)[:200]

# The reference's algorithm in JavaScript: a separate hash and a sine for each dimension, then the norm.
NODE_PROGRAM = """
function embed(text, dimensions) {
  const s = text.toLowerCase().trim();
  const v = new Float32Array(dimensions);
  for (let i = 0; i < dimensions; i++) {
    let h = 0;
    for (let j = 0; j < s.length; j++) h = (Math.imul(h, 31) + Math.imul(s.charCodeAt(j), i + 1)) | 0;
    v[i] = (Math.sin(h) + 1) / 2;
  }
  let squares = 0;
  for (let i = 0; i < dimensions; i++) squares += v[i] * v[i];
  const norm = Math.sqrt(squares);
  if (norm > 0) for (let i = 0; i < dimensions; i++) v[i] /= norm;
  return v;
}
const text = process.argv[1];
const times = [];
for (let round = 0; round < 15; round++) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < 40; i++) embed(text, 384);
  times.push(Number(process.hrtime.bigint() - start) / 40000);
}
times.sort((a, b) => a - b);
console.log(times[7]);
"""


class Data(NamedTuple):
    """Rows (n, 384) float32, unit length, and their columns; a query that is one of them."""

    rows: np.ndarray
    intents: np.ndarray
    risks: np.ndarray
    query: np.ndarray


def make_data(n: int) -> Data:
    """Return seeded rows around 40 subjects."""
    rng = np.random.default_rng(20240229)
    centres = rng.normal(size=(40, DIMENSIONS)).astype(np.float32)
    rows = centres[rng.integers(0, 40, n)] + np.float32(0.8) * rng.normal(size=(n, DIMENSIONS)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    intents = rng.integers(0, 1 << 10, n).astype(np.uint16)
    return Data(rows, intents, rng.integers(0, 5, n).astype(np.uint8), rows[7].copy())


def numpy_pipeline(data: Data, k: int = 5) -> np.ndarray:
    """Return the k best rows as one writes it with NumPy: product, clip, boosts, partition, sort."""
    scores = data.rows @ data.query
    np.clip(scores, 0, 1, out=scores)
    scores += np.where(data.intents & QUERY_INTENTS, np.float32(0.15), np.float32(0))
    scores += RISK_BOOSTS[data.risks]
    best = np.argpartition(scores, -k)[-k:]
    return best[np.argsort(-scores[best], kind="stable")]


def race(contenders: dict[str, Callable[[], object]], rounds: int, inner: int = 1) -> dict[str, float]:
    """Return each contender's median seconds per call; contenders take turns, so that all meet the same machine.

    A turn begins with a call that is not timed: each contender finds in the caches what its own last call left there,
    and not what the one before it did.
    """
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            call()
            start = time.perf_counter()
            for _ in range(inner):
                call()
            times[name].append((time.perf_counter() - start) / inner)
    return {name: statistics.median(values) for name, values in times.items()}


def node_microseconds() -> float | None:
    """Return what Node takes for one text of 200 characters, or None where there is no Node."""
    node = shutil.which("node")
    if node is None:
        return None
    result = subprocess.run([node, "-e", NODE_PROGRAM, TEXT], capture_output=True, text=True, check=True)
    return float(result.stdout)
