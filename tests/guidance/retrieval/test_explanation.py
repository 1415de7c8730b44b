from __future__ import annotations

from typing import Any

import pytest

from tipstaff import compile_guidance
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.retrieval.explanation import Why, explain_retrieval
from tipstaff.guidance.retrieval.retriever import ShardRetriever

RULES = """
- [R-001] Report every authentication vulnerability to the security team (high)
- [R-002] Keep images small
- [R-003] Always squash commits before merging priority:90
- [R-004] Never squash commits before merging
- [R-005] Check the login of every request
"""


def whys_of(retriever: ShardRetriever, task: str, **options: Any) -> tuple[Why, ...]:
    return explain_retrieval(retriever, task, retriever.retrieve(task, **options))


def test_the_word_that_pulls_is_named_with_what_the_cosine_loses_without_it() -> None:
    retriever = ShardRetriever(compile_guidance(RULES))
    task = "Please fix the authentication issue"
    found = retriever.retrieve(task)
    first = explain_retrieval(retriever, task, found)[0]
    assert first.id == "R-001"
    assert first.pulls[0].word == "authentication"
    with_it = found.shards[0]
    # Without a floor the rule would be found for the rest of the task as well: compare what the embedding says.
    embedding = retriever.embedding
    rest, whole = embedding.embed("Please fix the  issue"), embedding.embed(task)
    (row,) = embedding.embed_batch(["Report every authentication vulnerability to the security team"])
    assert first.pulls[0].pull == pytest.approx(float(whole @ row - rest @ row), abs=1e-5)
    assert first.cosine == pytest.approx(with_it.cosine)
    assert first.cosine + first.boosts == pytest.approx(first.score, abs=1e-6)
    assert first.reason == with_it.reason


def test_what_a_rule_beat_and_what_it_replaces() -> None:
    retriever = ShardRetriever(compile_guidance(RULES))
    whys = whys_of(retriever, "squash the commits", max_shards=1)
    assert [one.id for one in whys] == ["R-003"]
    assert whys[0].instead_of == ("R-004",)
    assert all(score <= whys[0].score for _, score in whys[0].beat)
    assert "R-003" not in {rule_id for rule_id, _ in whys[0].beat}


def test_the_answers_are_those_of_retrieval() -> None:
    retriever = ShardRetriever(compile_guidance(RULES))
    found = retriever.retrieve("authentication", risk_filter=("high",), max_shards=2)
    whys = explain_retrieval(retriever, "authentication", found, risk_filter=("high",))
    assert [one.id for one in whys] == [one.shard.rule.id for one in found.shards] == ["R-001"]
    assert whys_of(retriever, "book a flight to Lisbon") == ()


def test_hashes_pull_nothing() -> None:
    whys = whys_of(ShardRetriever(compile_guidance(RULES), HashEmbedding()), "Fix authentication")
    assert whys
    assert all(one.pulls == () for one in whys)


def test_plain_data() -> None:
    data = whys_of(ShardRetriever(compile_guidance(RULES)), "Fix authentication")[0].to_dict()
    assert set(data) == {"id", "score", "cosine", "boosts", "pulls", "beat", "instead_of", "reason"}
    assert data["pulls"][0]["word"] == "authentication"
