"""Shared inputs and contenders of the kernel benchmarks: the reference in Node."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DIMENSIONS = 384
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
