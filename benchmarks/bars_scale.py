"""The bars of scale, in one run: ``python -m benchmarks.bars_scale [--only embedding|small|large|huge]``.

Embedding against a sentence transformer, retrieval over 500, 100,000 and 1,000,000 shards, and the recall of the last.
Times are from the task's text to the policy text, in Python.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.judging import Row, measured_rows, table
from benchmarks.varied_rules import tasks, varied_bundle, varied_texts

from benchmarks import inputs, machine

if TYPE_CHECKING:
    from tipstaff.guidance.embeddings.hash_embedding import Embedding

MODEL: Final = Path(__file__).resolve().parent.parent / "build" / "models" / "all-MiniLM-L6-v2"
EMBED_CHARS: Final = 100
LARGE: Final = 100_000
HUGE: Final = 1_000_000
RECALL_TASKS: Final = 400
ROUND: Final = 100
PAUSE_S: Final = 0.15


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _share(values: Sequence[float], share: float) -> float:
    return sorted(values)[math.ceil(len(values) * share) - 1]


def _walls(retriever: Any, asked: Sequence[str]) -> tuple[list[float], list[float]]:
    """Return wall and processor milliseconds of each task."""
    walls: list[float] = []
    worked: list[float] = []
    for task in asked:
        started, processor = time.perf_counter(), time.process_time()
        retriever.retrieve(task)
        walls.append((time.perf_counter() - started) * 1e3)
        worked.append((time.process_time() - processor) * 1e3)
    return walls, worked


def embedding() -> list[Row]:
    """Embed texts of 100 characters in a batch, and one by one with MiniLM under onnxruntime on one thread."""
    from tipstaff.guidance.embeddings.onnx_embedding import OnnxEmbedding
    from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding

    texts = [text.ljust(EMBED_CHARS)[:EMBED_CHARS] for text in varied_texts(20_000) if len(text) >= EMBED_CHARS]
    names = ("embed a task of 100 characters, batch, us", "the same, times faster than MiniLM in ONNX, one thread")
    static = StaticEmbedding()
    batch = texts[:1000]
    static.embed_rows(batch)
    if not (MODEL / "model.onnx").is_file():
        ours = statistics.median(_seconds(lambda: static.embed_rows(batch)) / len(batch) for _ in range(15))
        absent = f"no model in {MODEL}; `make eval` makes it"
        return [
            Row(names[0], "EMBED_100_CHARS_US", [ours * 1e6], True),
            Row(names[1], "EMBED_VS_ONNX", [], False, absent),
        ]
    model = OnnxEmbedding(MODEL, threads=1)
    model.embed_batch(texts[:16])
    left: list[float] = []
    right: list[float] = []
    for number in range(9):
        few = texts[number * 16 : number * 16 + 16]
        left.append(statistics.median(_seconds(lambda: static.embed_rows(batch)) / len(batch) for _ in range(5)))
        right.append(_seconds(lambda few=few: model.embed_batch(few)) / len(few))
    ours, theirs = statistics.median(left), statistics.median(right)
    remark = f"MiniLM {theirs * 1e3:.1f} ms a text in batches of 16"
    return [
        Row(names[0], "EMBED_100_CHARS_US", [ours * 1e6], True),
        Row(names[1], "EMBED_VS_ONNX", [theirs / ours], False, remark),
    ]


def small() -> list[Row]:
    """Retrieve over 500 shards, each time for a task that is new."""
    from tipstaff import ShardRetriever, StaticEmbedding

    retriever = ShardRetriever(inputs.bundle(500), StaticEmbedding())
    asked = inputs.tasks(3_000)
    _walls(retriever, asked[:500])
    # A shared machine is slow for a tenth of a second, or several, at a time: the quietest of rounds that are spread
    # over some seconds says what the program takes.
    rounds: list[list[float]] = []
    for first in range(500, len(asked), ROUND):
        rounds.append(_walls(retriever, asked[first : first + ROUND])[0])
        time.sleep(PAUSE_S)
    walls = [wall for one in rounds for wall in one]
    quietest = min(map(statistics.median, rounds)) * 1e3
    remark = f"the quietest of {len(rounds)} rounds; of all {statistics.median(walls) * 1e3:.0f} us"
    return [Row("retrieve over 500 shards, median, us", "RETRIEVE_500_US", [quietest], True, remark)]


@contextlib.contextmanager
def _stored(count: int, chosen: Embedding) -> Iterator[Path]:
    from tipstaff.guidance.retrieval.fused_index import search_blob
    from tipstaff.store.shards import write_store

    bundle = varied_bundle(count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.store"
        search = search_blob(bundle.shards, chosen)
        write_store(path, bundle, None, embedding_identity=chosen.identity, dims=chosen.dimensions, search=search)
        del bundle, search
        gc.collect()
        yield path


def large() -> list[Row]:
    """Retrieve over 100,000 shards of a mapped store; all are scanned."""
    from tipstaff import ShardRetriever, StaticEmbedding
    from tipstaff.store.shards import open_store

    embedding = StaticEmbedding()
    with _stored(LARGE, embedding) as path, open_store(path) as store:
        retriever = ShardRetriever(store, embedding)
        asked = tasks(1_200)
        _walls(retriever, asked[:200])
        walls, worked = _walls(retriever, asked[200:])
    remark = f"median {statistics.median(walls):.2f}, processor p99 {_share(worked, 0.99):.2f} ms"
    name = f"retrieve over {LARGE:,} shards, 99th percentile, ms"
    return [Row(name, "RETRIEVE_BUDGET_MS", [_share(walls, 0.99)], True, remark)]


def huge() -> list[Row]:
    """Retrieve over 1,000,000 shards, chosen by signs; rankings against those of all rows scored."""
    from tipstaff import ShardRetriever, StaticEmbedding

    bundle = varied_bundle(HUGE)
    started = time.perf_counter()
    retriever = ShardRetriever(bundle, StaticEmbedding())
    built = time.perf_counter() - started
    asked = tasks(RECALL_TASKS + 100)
    _walls(retriever, asked[:100])
    walls, worked = _walls(retriever, asked[100:])
    shards = retriever.search
    search = shards._search
    found: dict[str, list[list[int]]] = {"some": [], "all": []}
    exact: list[float] = []
    for task in asked[100:]:
        question = retriever.question(task)
        found["some"].append([hit.row for hit in shards.find(question, 5).hits])
        shards._search = _Whole(search)
        started = time.perf_counter()
        found["all"].append([hit.row for hit in shards.find(question, 5).hits])
        exact.append((time.perf_counter() - started) * 1e3)
        shards._search = search
    # Further rules below a share of the best score are left out, of both rankings alike.
    shares = [
        len({*some} & {*every}) / len(every) for some, every in zip(found["some"], found["all"], strict=True) if every
    ]
    recall = statistics.fmean(shares)
    # Of 5 * tasks rows so many were found: the lower end of Wilson's interval, 95 %.
    n, z = 5 * len(shares), 1.96
    centre = (recall + z * z / (2 * n)) / (1 + z * z / n)
    radius = z * math.sqrt(recall * (1 - recall) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    speed = (
        f"p99 {_share(walls, 0.99):.2f}, processor median {statistics.median(worked):.2f} ms; "
        f"all rows scored {statistics.median(exact):.1f} ms"
    )
    print(f"  index of {HUGE:,} shards in {built:.1f} s, embedding included", file=sys.stderr)
    return [
        Row(
            f"retrieve over {HUGE:,} shards, median, ms", "RETRIEVE_BUDGET_MS", [statistics.median(walls)], True, speed
        ),
        Row(
            f"recall@5 over {HUGE:,} shards",
            "HUGE_RECALL",
            [recall],
            False,
            f"95 %: {centre - radius:.4f} to {min(1.0, centre + radius):.4f}, {len(shares)} tasks",
        ),
    ]


class _Whole:
    """A search that scores all rows."""

    def __init__(self, search: Any) -> None:
        self._search = search

    def find(self, *args: Any, **options: Any) -> Any:
        return self._search.find(*args, candidates=0, **options)


MEASURES: Final = (embedding, small, large, huge)


def main(argv: list[str] | None = None) -> int:
    """Measure, print the table, and return 1 if a measured bar does not hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=[one.__name__ for one in MEASURES], action="append")
    options = parser.parse_args(argv)
    print("\n".join(machine.header(machine.describe())), flush=True)
    rows: list[Row] = []
    for measure in MEASURES:
        if options.only is None or measure.__name__ in options.only:
            print(f"measuring {measure.__name__} ...", file=sys.stderr, flush=True)
            rows += measured_rows(measure)
    print("\n".join(table(rows)))
    return 1 if any(row.measured and not row.holds for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
