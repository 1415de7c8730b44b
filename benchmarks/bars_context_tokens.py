"""The bars of token estimation, in one run: ``python -m benchmarks.bars_context_tokens``.

Read bandwidth is the limit that the estimator's rate is compared with; the peer is the encoder of a real vocabulary
(cl100k of ``bpe-openai`` or of ``tiktoken``, whichever is installed). Times are the least of many short batches, of
processor time of this thread: other work on the machine only adds. Exits with 1 if a measured bar
does not hold. The bars are in `tipstaff.budgets`.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from benchmarks.judging import Row, measured_rows, table

from tipstaff.context import estimate_full_context
from tipstaff.context.tokens.estimator import TokenEstimator

ROUNDS: Final = 60
PACKAGE: Final = Path(__file__).resolve().parents[1] / "python" / "tipstaff"


def _seconds(call: Callable[[], object], times: int) -> float:
    start = time.thread_time()
    for _ in range(times):
        call()
    return (time.thread_time() - start) / times


def source_text(size: int) -> str:
    """Return program text of this package, repeated to a size in bytes; ASCII."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py")))
    text = text.encode("ascii", "ignore").decode()
    return (text * (size // len(text) + 1))[:size]


def rate() -> list[Row]:
    """Estimate 200 KB of program text, beside a plain read of it and a real encoder."""
    text = source_text(200_000)
    data = text.encode()
    estimator = TokenEstimator("cl100k")
    encode = _encoder()
    ours, read, theirs = [], [], []
    for _ in range(ROUNDS):
        ours.append(_seconds(lambda: estimator.estimate(text), 5))
        read.append(_seconds(lambda: np.frombuffer(data, np.uint64).sum(), 20))
        if encode is not None and len(theirs) < 5:
            theirs.append(_seconds(lambda: encode(text), 1))
    seconds = min(ours)
    of_read = min(read) / seconds
    rows = [
        Row(
            "estimate 200 KB of program text, GB/s",
            "TOKENS_GB_S",
            [len(data) / seconds / 1e9],
            False,
            f"{of_read:.0%} of a plain read's rate",
        )
    ]
    if theirs:
        times = min(theirs) / seconds
        rows.append(Row("estimate, times faster than encoding", "TOKENS_VS_BPE", [times], False))
    else:
        rows.append(
            Row("estimate, times faster than encoding", "TOKENS_VS_BPE", [], False, "no bpe-openai, no tiktoken")
        )
    return rows


def unchanged() -> list[Row]:
    """Estimate again an unchanged conversation of 1,000 messages, a third of them with calls or results."""
    messages: list[dict[str, Any]] = []
    for number in range(1000):
        if number % 3 == 1:
            call = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"path": f"f{number}.py"}}
            messages.append({"role": "assistant", "content": [{"type": "text", "text": "looking"}, call]})
        elif number % 3 == 2:
            result = {"type": "tool_result", "tool_use_id": f"t{number - 1}", "content": "line " * 50}
            messages.append({"role": "user", "content": [result]})
        else:
            messages.append({"role": "user", "content": "do this"})
    tools = [{"name": "Read", "description": "Reads.", "input_schema": {"type": "object"}}]
    estimate_full_context("prompt", tools, messages)
    data = bytes(200_000)
    found, read = [], []
    for _ in range(ROUNDS):
        found.append(_seconds(lambda: estimate_full_context("prompt", tools, messages), 20))
        read.append(_seconds(lambda: np.frombuffer(data, np.uint64).sum(), 20))
    micros = min(found) * 1e6
    remark = f"as long as a plain read of {min(found) / min(read) * 200:.0f} KB"
    return [Row("estimate 1,000 unchanged messages again, us", "ESTIMATE_UNCHANGED_1000_US", [micros], True, remark)]


def _encoder() -> Callable[[str], object] | None:
    for name in ("bpe_openai", "tiktoken"):
        with contextlib.suppress(ImportError):
            module: Any = importlib.import_module(name)
            encode: Callable[[str], object] = module.get_encoding("cl100k_base").encode
            return encode
    return None


def main() -> int:
    """Measure, print the table, and return 1 if a measured bar does not hold."""
    rows = [*measured_rows(rate), *measured_rows(unchanged)]
    print("\n".join(table(rows)))
    return 1 if any(row.measured and not row.holds for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
