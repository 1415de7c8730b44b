"""Very many shards: signs choose those that are scored; thresholds are lowered so that few are many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.guidance.made_rules import bundle_of, rule
from tests.rule_words import CIRCUMSTANCES, OBJECTS, VERBS
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.retrieval import fused_index, search
from tipstaff.guidance.retrieval.fused_index import search_blob
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.guidance.retrieval.vectors import shard_rows
from tipstaff.kernels import FusedSearch
from tipstaff.model import RISK_CLASSES, PolicyBundle
from tipstaff.store.shards import open_store, write_store

TASKS = ("Encrypt the invoices at night", "slow queries under load", "Fix src/db/pool.py", "release the parser", "x")


@pytest.fixture(name="bundle", scope="module")
def _bundle() -> PolicyBundle:
    texts = [f"{verb} {thing} {circumstance}" for verb in VERBS for thing in OBJECTS for circumstance in CIRCUMSTANCES]
    return bundle_of(
        rule(
            f"R{i}", text, risk_class=RISK_CLASSES[i % 5], scope=("**/*", "src/**", "web/**")[i % 3],
            intents=(("general",), ("performance", "security"))[i % 2],
            active_until="2026-01-01" if i % 7 == 0 else None,
        )
        for i, text in enumerate(texts)
    )  # fmt: skip


@pytest.mark.parametrize("candidates", [320, 100_000])
def test_signs_answer_as_the_whole_scan(bundle: PolicyBundle, monkeypatch: pytest.MonkeyPatch, candidates: int) -> None:
    class Fewer(FusedSearch):
        def find(self, *args: Any, **options: Any) -> Any:
            return super().find(*args, candidates=candidates, **options)

    exact = ShardRetriever(bundle, StaticEmbedding(), today="2026-06-15")
    monkeypatch.setattr(fused_index, "SIGNS_FROM_SHARDS", 500)
    monkeypatch.setattr(search, "FusedSearch", Fewer)
    signs = ShardRetriever(bundle, StaticEmbedding(), today="2026-06-15")
    for task in TASKS:
        for scope in (None, "src/db/pool.py", "web/a.ts"):
            for risks in (None, ("high", "critical")):
                options: dict[str, Any] = {"repo_scope": scope, "risk_filter": risks}
                assert signs.retrieve(task, **options).shards == exact.retrieve(task, **options).shards


def test_a_store_answers_as_the_bundle_that_it_holds(bundle: PolicyBundle, tmp_path: Path) -> None:
    for embedding, vectors in (
        (StaticEmbedding(), None),
        (HashEmbedding(256), shard_rows(bundle.shards, HashEmbedding(256))),
    ):
        write_store(
            tmp_path / "s", bundle, None if vectors is None else memoryview(vectors).cast("B").cast("f"),
            embedding_identity=embedding.identity, dims=256, search=search_blob(bundle.shards, embedding),
        )  # fmt: skip
        held = ShardRetriever(bundle, embedding, today="2026-06-15")
        with open_store(tmp_path / "s") as store:
            mapped = ShardRetriever(store, embedding, today="2026-06-15")
            for task in TASKS:
                assert mapped.retrieve(task).shards == held.retrieve(task).shards


@pytest.mark.parametrize("task", TASKS)
def test_many_shards_are_raised_by_arrays_as_few_are_one_by_one(
    bundle: PolicyBundle, monkeypatch: pytest.MonkeyPatch, task: str
) -> None:
    retriever = ShardRetriever(bundle, StaticEmbedding(), today="2026-06-15")
    expected = retriever.retrieve(f"{task} in src/db/pool.py").shards
    monkeypatch.setattr(search, "_NUMPY_FROM_ROWS", 1)
    assert retriever.retrieve(f"{task} in src/db/pool.py").shards == expected
