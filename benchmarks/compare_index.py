"""Signs against a graph index (usearch, HNSW): ``python -m benchmarks.compare_index [--shards N] [--tasks N]``.

Both answer the same question over the same rows: the five shards of the highest score, the boosts for intent and risk
included, against the exact ranking. A graph knows cosines only: it brings some candidates, and those are scored with
their boosts; how many it brings is varied. Printed as JSON lines: what building takes, what is held beside the float32
rows, and for each contender the median and the 99th percentile of the search on one thread, and its recall.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import Any, Final

import numpy as np
from benchmarks.bars_scale import _share
from benchmarks.varied_rules import tasks, varied_bundle

from benchmarks import machine

CANDIDATES: Final = (16, 64, 256, 1024)
CONNECTIVITY: Final = 16
EXPANSION_ADD: Final = 128


def _timed(call: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result


def main(arguments: list[str] | None = None) -> None:
    """Build both, ask both, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=1_000_000)
    parser.add_argument("--tasks", type=int, default=200)
    options = parser.parse_args(arguments)

    from usearch.index import Index

    from tipstaff import StaticEmbedding
    from tipstaff.budgets import SIGN_CANDIDATES
    from tipstaff.guidance.intents.classify import classify_intent
    from tipstaff.guidance.retrieval.shard_index import index_of_bundle
    from tipstaff.guidance.retrieval.vectors import boosts_of, task_vector
    from tipstaff.kernels import score_topk_f32, score_topk_signs, sign_rows
    from tipstaff.model import INTENT_BITS

    def say(**values: Any) -> None:
        print(json.dumps(values), flush=True)

    print("\n".join(machine.header()), file=sys.stderr)
    embedding = StaticEmbedding()
    index = index_of_bundle(varied_bundle(options.shards), embedding)
    d, boosts = embedding.dimensions, boosts_of(embedding)
    rows = np.frombuffer(index.rows, np.float32).reshape(-1, d)
    intents, risks = np.frombuffer(index.intents, np.uint16), np.frombuffer(index.risks, np.uint8)
    asked = tasks(options.tasks)
    queries = [np.asarray(task_vector(task, embedding)) for task in asked]
    bits = [INTENT_BITS[classify_intent(task).intent] for task in asked]

    def scored(query: Any, bit: int, which: Any) -> Any:
        """Return the five best of some rows, as retrieval scores them."""
        which = np.sort(which)
        best, _, _ = score_topk_f32(
            rows[which], query, intents[which], risks[which], query_intents=bit, boosts=boosts, k=5
        )
        return which[np.asarray(best)]

    exact = [
        set(score_topk_f32(rows, query, intents, risks, query_intents=bit, boosts=boosts, k=5)[0])
        for query, bit in zip(queries, bits, strict=True)
    ]

    def judge(name: str, ask: Any) -> None:
        walls, shares = [], []
        for query, bit, best in zip(queries, bits, exact, strict=True):
            seconds, found = _timed(lambda query=query, bit=bit: ask(query, bit))
            walls.append(seconds * 1e3)
            shares.append(len(best.intersection(map(int, found))) / len(best))
        say(
            contender=name,
            median_ms=round(statistics.median(walls), 2),
            p99_ms=round(_share(walls, 0.99), 2),
            recall_at_5=round(statistics.fmean(shares), 4),
        )

    mean = rows.mean(axis=0)
    seconds, (sign_bits, factors) = _timed(lambda: sign_rows(rows, mean, d))
    held = memoryview(sign_bits).nbytes + memoryview(factors).nbytes
    say(built="signs", seconds=round(seconds, 1), mb=round(held / 1e6))

    def by_signs(query: Any, bit: int) -> Any:
        return score_topk_signs(
            rows, sign_bits, factors, mean, query, intents, risks,
            query_intents=bit, boosts=boosts, candidates=SIGN_CANDIDATES, k=5,
        )[0]  # fmt: skip

    judge("signs", by_signs)
    keys = np.arange(len(rows))
    graph = Index(
        ndim=d, metric="ip", dtype="i8", connectivity=CONNECTIVITY, expansion_add=EXPANSION_ADD, expansion_search=64
    )
    seconds, _ = _timed(lambda: graph.add(keys, rows))
    say(built="usearch, int8", seconds=round(seconds, 1), mb=round(graph.memory_usage / 1e6))
    for wanted in CANDIDATES:
        graph.expansion_search = max(64, wanted)

        def by_graph(query: Any, bit: int, wanted: int = wanted) -> Any:
            return scored(query, bit, graph.search(query, wanted, threads=1).keys.astype(np.int64))

        judge(f"usearch, int8, {wanted} candidates", by_graph)


if __name__ == "__main__":
    main()
