"""How long from a task's words to the policy text that the model reads?

Each call asks for another task, as agents do. ``node`` is the npm package on the same shards with the same embedding,
by Node's own clock; it remembers vectors of texts that it has met, so it is measured for tasks that are new to it
and, as ``node_seen``, for tasks that are not. Its scan grows with the shards: at 100,000 it is not asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmarks.agreement import same_best
from benchmarks.peers.contender import CLOCK

from benchmarks import inputs
from tipstaff import RetrievalResult, ShardRetriever, budgets
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.store.shards import ShardStore, open_store, write_store

if TYPE_CHECKING:
    from benchmarks.peers.contender import TimedPeer

QUESTION = "retrieve for a task"
TASKS = 500
ROUNDS = 300
WARM = 400


@cache
def retriever_of(size: int) -> ShardRetriever:
    return ShardRetriever(inputs.bundle(size), HashEmbedding())


def ask(retriever: ShardRetriever, tasks: Iterator[str]) -> RetrievalResult:
    return retriever.retrieve(next(tasks))


@pytest.mark.benchmark(group=QUESTION)
@pytest.mark.parametrize("size", [500, 10_000, 100_000])
def test_tipstaff(benchmark: Any, size: int) -> None:
    benchmark.extra_info["budget_ms"] = budgets.RETRIEVE_BUDGET_MS
    found = benchmark(ask, retriever_of(size), itertools.cycle(inputs.tasks(TASKS)))
    assert len(found.shards) == 5
    assert all(one.shard.compact_text in found.policy_text for one in found.shards)


@pytest.mark.benchmark(group=QUESTION)
@pytest.mark.parametrize("size", [500, 10_000, 100_000])
def test_numpy_scores_alone(benchmark: Any, size: int) -> None:
    """A product with the query and the five greatest: no intent, no risk, no contradictions, no text. The yardstick."""
    embedding = HashEmbedding()
    rows = embedding.embed_batch([shard.compact_text for shard in inputs.bundle(size).shards])
    tasks = itertools.cycle([embedding.embed(task) for task in inputs.tasks(TASKS)])
    assert len(benchmark(lambda: np.argpartition(rows @ next(tasks), -5)[-5:])) == 5


@pytest.fixture(scope="module")
def mapped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShardStore]:
    bundle = inputs.bundle(100_000)
    embedding = HashEmbedding()
    path = tmp_path_factory.mktemp("store") / "rules.store"
    vectors = embedding.embed_batch([shard.compact_text for shard in bundle.shards])
    write_store(path, bundle, vectors, embedding_identity=embedding.identity)
    with open_store(path) as store:
        yield store


@pytest.mark.benchmark(group=QUESTION)
@pytest.mark.parametrize("size", [100_000])
def test_tipstaff_mapped_store(benchmark: Any, size: int, mapped: ShardStore) -> None:
    found = benchmark(ask, ShardRetriever(mapped, HashEmbedding()), itertools.cycle(inputs.tasks(TASKS)))
    assert len(found.shards) == 5


@pytest.mark.parametrize("size", [500, 10_000])
@pytest.mark.benchmark(group=QUESTION, timer=CLOCK)
@pytest.mark.parametrize("seen", [False, True], ids=["", "seen"])
def test_node(benchmark: Any, size: int, seen: bool, node_peer: TimedPeer) -> None:
    shards, tasks = inputs.bundle(size), inputs.tasks(TASKS)
    rounds, warm = (ROUNDS, WARM) if size <= 500 else (40, 20)
    timing = node_peer.run(
        benchmark, "retrieve", rounds=rounds, warm=warm, bundle=inputs.peer_bundle(shards), tasks=tasks, seen=seen
    )
    assert len(timing.result["ids"]) == 5
    same_best(timing.result, retriever_of(size), tasks[timing.last % TASKS])
