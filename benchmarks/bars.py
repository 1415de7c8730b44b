"""Every stated bar, measured in one run and judged: ``python -m benchmarks.bars [--only WORD] [--json FILE]``.

Contenders take turns, medians are compared, and one thread works. Exits with 1 if a measured bar does not hold; a bar
whose peer is missing is reported as not measured, which is not a pass. The bars are in `tipstaff.budgets`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.agreement import same_best
from benchmarks.judging import Row, measured_rows, table
from benchmarks.peers.install import PeerUnavailableError
from benchmarks.peers.node import NodePeer

from benchmarks import inputs, machine, processes

_ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
DIMENSIONS: Final = 384
TASKS: Final = 500


class Group(NamedTuple):
    """Bars that are measured together, by the names that they have in `tipstaff.budgets`."""

    name: str
    covers: tuple[str, ...]
    measure: Callable[[], Sequence[Row]]


@cache
def _peer() -> NodePeer | str:
    try:
        return NodePeer()
    except PeerUnavailableError as error:
        return str(error)


def _against_node(
    name: str, budget: str, *, at_most: bool, measure: Callable[[NodePeer], tuple[float, str]]
) -> list[Row]:
    peer = _peer()
    if isinstance(peer, str):
        return [Row(name, budget, [], at_most, f"{peer}")]
    value, remark = measure(peer)
    return [Row(name, budget, [value], at_most, remark)]


def _alternating(ours: Callable[[int], float], theirs: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Return the medians of two contenders that take turns."""
    left, right = [], []
    for number in range(rounds):
        left.append(ours(number))
        right.append(theirs())
    return statistics.median(left), statistics.median(right)


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


# -- kernels and store: measured where their data is ------------------------------------------------------------------


def opening() -> list[Row]:
    """Open a store of 100,000 shards against unpickling its columns."""
    from benchmarks import bars_store

    return [
        Row(
            "open 100,000 shards, times faster than unpickling",
            "OPEN_VS_UNPICKLE",
            [bars_store.open_vs_unpickle()],
            False,
        )
    ]


# -- against the Node package -----------------------------------------------------------------------------------------


def hashing() -> list[Row]:
    """Hash embedding of 1000 texts of 200 characters in a batch against the Node package, text by text."""

    def measure(peer: NodePeer) -> tuple[float, str]:
        import numpy as np

        from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding, text_column
        from tipstaff.kernels import hash_embed_batch

        texts = inputs.texts(1000)
        offsets, data = text_column(texts)
        out = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        peer.prepare("embed", texts=texts, dimensions=DIMENSIONS)
        peer.time("embed", times=1, warm=200)
        call = lambda: hash_embed_batch(offsets, data, len(texts), DIMENSIONS, out)  # noqa: E731
        call()
        timings = []

        def theirs() -> float:
            timings.append(peer.time("embed", times=100))
            return statistics.median(timings[-1].seconds)

        ours, node = _alternating(lambda _: statistics.median(_timed(call) for _ in range(5)) / len(texts), theirs, 9)
        last = timings[-1]
        if not np.array_equal(
            np.array(last.result, dtype=np.float32), HashEmbedding(DIMENSIONS).embed(texts[last.last % 1000])
        ):
            msg = "the Node package embeds the same text differently"
            raise RuntimeError(msg)
        return node / ours, f"{ours * 1e6:.2f} us a text, Node {node * 1e6:.0f} us"

    return _against_node(
        "hash embedding of 200 characters, batch, times faster than Node",
        "HASH_BATCH_VS_NODE",
        at_most=False,
        measure=measure,
    )


def _timed_at_first_sight(text: str) -> float:
    """Time a compilation in a process that has compiled other rule files and has nothing of this one cached."""
    from tipstaff import compile_guidance
    from tipstaff.guidance.wording.vocabulary import stem

    modules = [module for name, module in sys.modules.items() if name.startswith("tipstaff.guidance.")]
    for value in (value for module in modules for value in vars(module).values() if hasattr(value, "cache_parameters")):
        # What is made once has no size; single words are those of other files.
        if value.cache_parameters()["maxsize"] and value is not stem:
            value.cache_clear()
    return _timed(lambda: compile_guidance(text))


def compiling() -> list[Row]:
    """Compile the 400-rule file against the Node package's compiler; judged is a file that was never seen before."""

    def measure(peer: NodePeer) -> tuple[float, str]:
        from tipstaff import compile_guidance

        text = inputs.rule_file()
        peer.prepare("compile", root=text)
        rules = peer.time("compile", times=1, warm=30).result["rules"]
        for _ in range(30):
            found = compile_guidance(text)
        if not found.manifest.total_rules == rules == inputs.N_RULES:
            msg = f"{found.manifest.total_rules} rules were compiled here, {rules} by Node; there are {inputs.N_RULES}"
            raise RuntimeError(msg)
        again: list[float] = []

        def ours(_: int) -> float:
            again.append(statistics.median(_timed(lambda: compile_guidance(text)) for _ in range(3)))
            return statistics.median(_timed_at_first_sight(text) for _ in range(5))

        first, node = _alternating(ours, lambda: statistics.median(peer.time("compile", times=10).seconds), 11)
        seen = statistics.median(again)
        return (
            first / node,
            f"{first * 1e3:.1f} ms, Node {node * 1e3:.1f} ms; seen before: {seen * 1e3:.1f} ms, {seen / node:.2f}",
        )

    return _against_node(
        "compile 400 rules (42 KB), times Node's compiler", "COMPILE_400_VS_NODE", at_most=True, measure=measure
    )


def retrieving() -> list[Row]:
    """Retrieve over 500 shards against the Node package, each time for a task that it has not met."""

    def measure(peer: NodePeer) -> tuple[float, str]:
        from tipstaff import HashEmbedding, ShardRetriever

        bundle, tasks = inputs.bundle(500), inputs.tasks(TASKS)
        retriever = ShardRetriever(bundle, HashEmbedding(DIMENSIONS))
        peer.prepare("retrieve", bundle=inputs.peer_bundle(bundle), tasks=tasks, seen=False)
        last = peer.time("retrieve", times=1, warm=400)
        same_best(last.result, retriever, tasks[last.last % TASKS])
        for task in tasks:
            retriever.retrieve(task)
        ours, node = _alternating(
            lambda number: statistics.median(
                _timed(lambda task=task: retriever.retrieve(task)) for task in tasks[number * 20 : number * 20 + 60]
            ),
            lambda: statistics.median(peer.time("retrieve", times=60).seconds),
            15,
        )
        return node / ours, f"{ours * 1e6:.0f} us, Node {node * 1e6:.0f} us"

    return _against_node(
        "retrieve over 500 shards, times faster than Node", "RETRIEVE_500_VS_NODE", at_most=False, measure=measure
    )


def _wall_and_processor_ms(call: Callable[[], object]) -> tuple[float, float]:
    """Return wall time, and the processor time in it: where others keep the machine busy, only the first grows."""
    start, worked = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - start) * 1e3, (time.process_time() - worked) * 1e3


# -- on its own -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _compiled_repository() -> Iterator[Path]:
    from tipstaff import open_project

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "CLAUDE.md").write_text(inputs.rule_file(), encoding="utf-8")
        (root / "CLAUDE.local.md").write_text(inputs.local_file(), encoding="utf-8")
        time.sleep(0.05)  # a file as young as the clock's grain is not trusted to be unchanged
        open_project(root).close()
        yield root


def unchanged() -> list[Row]:
    """Open a repository's compiled rules when no source changed."""
    from tipstaff import open_project

    with _compiled_repository() as root:

        def once() -> None:
            with open_project(root) as project:
                if project.rebuilt:
                    msg = f"the rules were compiled again: {project.reason}"
                    raise RuntimeError(msg)

        once()
        wall, worked = zip(*(_wall_and_processor_ms(once) for _ in range(201)), strict=True)
    remark = f"{statistics.median(worked):.2f} ms of processor time"
    return [Row("compile when nothing changed, ms", "COMPILE_UNCHANGED_MS", [statistics.median(wall)], True, remark)]


@contextlib.contextmanager
def _large_store() -> Iterator[Path]:
    from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
    from tipstaff.store.shards import write_store

    bundle, embedding = inputs.bundle(100_000), HashEmbedding(DIMENSIONS)
    vectors = embedding.embed_batch([shard.compact_text for shard in bundle.shards])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.store"
        write_store(path, bundle, vectors, embedding_identity=embedding.identity)
        yield path


def retrieving_within_budget() -> list[Row]:
    """Retrieve over 100,000 shards of a mapped store: the median and the 99th percentile of 1000 tasks."""
    from tipstaff import HashEmbedding, ShardRetriever
    from tipstaff.store.shards import open_store

    tasks = inputs.tasks(1000)
    with _large_store() as path, open_store(path) as store:
        retriever = ShardRetriever(store, HashEmbedding(DIMENSIONS))
        for task in tasks[:100]:
            retriever.retrieve(task)
        found = [_wall_and_processor_ms(lambda task=task: retriever.retrieve(task)) for task in tasks]
    rows: list[Row] = []
    for share, words in ((0.5, "median"), (0.99, "99th percentile")):
        wall, worked = (sorted(column)[math.ceil(len(found) * share) - 1] for column in zip(*found, strict=True))
        remark = f"{worked:.2f} ms of processor time"
        rows.append(Row(f"retrieve over 100,000 shards, {words}, ms", "RETRIEVE_BUDGET_MS", [wall], True, remark))
    return rows


def starting() -> list[Row]:
    """Whole processes: what they take more than ``python -c pass``."""
    extra = processes.extra_ms(("import tipstaff", "tipstaff --version"), 31)
    bars = {"import tipstaff": "IMPORT_EXTRA_MS", "tipstaff --version": "VERSION_EXTRA_MS"}
    return [
        Row(
            f"{name}, ms more than Python's start",
            budget,
            [extra[name].wall],
            True,
            f"{extra[name].processor:.1f} ms of processor time",
        )
        for name, budget in bars.items()
    ]


def _of(module: str, *functions: str) -> Callable[[], Sequence[Row]]:
    """Return what measures the bars of a module, which is imported when they are asked for."""

    def measure() -> Sequence[Row]:
        home = import_module(f"benchmarks.{module}")
        return [row for name in functions for row in getattr(home, name)()]

    return measure


GROUPS: Final = (
    Group("hashing", ("HASH_BATCH_VS_NODE",), hashing),
    Group("compiling", ("COMPILE_400_VS_NODE",), compiling),
    Group("unchanged", ("COMPILE_UNCHANGED_MS",), unchanged),
    Group("retrieving", ("RETRIEVE_500_VS_NODE",), retrieving),
    Group("budget", ("RETRIEVE_BUDGET_MS",), retrieving_within_budget),
    Group("opening", ("OPEN_VS_UNPICKLE",), opening),
    Group("starting", ("IMPORT_EXTRA_MS", "VERSION_EXTRA_MS"), starting),
    Group(
        "hook",
        ("HOOK_VS_EMPTY", "HOOK_VS_PYTHON", "HOOK_VS_NODE", "HOOK_PROMPT_VS_EMPTY"),
        _of("bars_hook", "hook"),
    ),
    Group(
        "gates",
        ("GATE_60_CHARS_VS_NODE", "GATE_60_CHARS_VS_TREE_SITTER", "GATE_60_CHARS_VS_PYTHON_RE"),
        _of("bars_gates", "gates"),
    ),
    Group(
        "calls",
        (
            "CALL_COMMAND_US",
            "CALL_COMMAND_VS_NODE",
            "CALL_TOOL_US",
            "CALL_SMALL_THREADS_VS_ONE",
            "CALL_LARGE_THREADS_VS_ONE",
        ),
        _of("bars_calls", "calls", "threads"),
    ),
    Group("threads", ("GATE_THREADS_VS_PROCESSES",), _of("bars_gates", "threads")),
    Group(
        "scale",
        ("EMBED_100_CHARS_US", "EMBED_VS_ONNX", "RETRIEVE_500_US"),
        _of("bars_scale", "embedding", "small", "large", "huge"),
    ),
    Group("focus", ("FOCUS_150_CHARS_US", "FOCUS_14_KB_US"), _of("bars_context_assembly", "focusing")),
    Group("assembly", ("ASSEMBLE_BEYOND_COPY_US",), _of("bars_context_assembly", "assembling")),
    Group(
        "tokens",
        ("TOKENS_GB_S", "TOKENS_VS_BPE", "ESTIMATE_UNCHANGED_1000_US"),
        _of("bars_context_tokens", "rate", "unchanged"),
    ),
    Group(
        "candidates",
        (
            "CANDIDATE_MATCH_1K_VS_PYTHON",
            "CANDIDATE_MATCH_10K_VS_PYTHON",
            "CANDIDATE_MATCH_VS_RENSA",
            "CANDIDATE_STORE_1K_VS_REWRITING",
            "CANDIDATE_STORE_10K_VS_REWRITING",
            "CANDIDATE_UPSERT_100K_VS_1K",
            "CANDIDATE_EVALUATE_100K_VS_1K",
        ),
        _of("bars_context_candidates", "measure"),
    ),
    Group("checks", ("CHECK_ADDED_MS",), _of("bars_review", "checking")),
    Group("sizing", ("SIZE_50K_S", "SIZE_VS_READ"), _of("bars_review", "sizing")),
)


def main(argv: list[str] | None = None) -> int:
    """Measure, print the table, and return 1 if a measured bar does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bars", description="Measure and judge the stated bars.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write machine, load and every row there as well")
    parser.add_argument("--only", metavar="NAME", choices=[group.name for group in GROUPS], action="append")
    options = parser.parse_args(argv)
    if any(os.environ.get(name) != value for name, value in _ONE_THREAD.items()):
        # Read when NumPy's libraries are loaded: start again.
        command = [sys.executable, "-m", "benchmarks.bars", *(sys.argv[1:] if argv is None else argv)]
        return subprocess.run(command, env=os.environ | _ONE_THREAD, check=False).returncode
    facts = machine.describe()
    print("\n".join(machine.header(facts)), flush=True)
    rows: list[Row] = []
    for group in GROUPS:
        if options.only is None or group.name in options.only:
            print(f"measuring {group.name} ...", file=sys.stderr, flush=True)
            rows += measured_rows(group.measure)
    load = os.getloadavg()
    print(f"load average at the end: {load[0]:.2f}")
    print("\n".join(table(rows)))
    missed = [row for row in rows if row.measured and not row.holds]
    absent = [row for row in rows if not row.measured]
    print(f"{len(rows) - len(missed) - len(absent)} hold, {len(missed)} missed, {len(absent)} not measured")
    if options.json is not None:
        document = {"machine": facts, "load_average_at_end": list(load), "bars": [row.to_dict() for row in rows]}
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
