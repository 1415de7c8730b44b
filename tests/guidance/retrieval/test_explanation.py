from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tipstaff import StaticEmbedding, compile_guidance
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


class Letters:
    """An embedding that somebody else wrote: how often each letter comes."""

    dimensions = 26
    identity = "letters-26"

    def embed(self, text: str) -> Any:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Any) -> Any:
        rows = np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], dtype=np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def whys_of(retriever: ShardRetriever, task: str, **options: Any) -> tuple[Why, ...]:
    found = retriever.retrieve(task, **options)
    options.pop("max_shards", None)
    return explain_retrieval(retriever, task, found, **options)


def test_the_word_that_pulls_is_named_with_what_the_score_loses_without_it() -> None:
    retriever = ShardRetriever(compile_guidance(RULES))
    task = "Please fix the authentication issue"
    found = retriever.retrieve(task)
    first = explain_retrieval(retriever, task, found)[0]
    assert first.id == "R-001"
    assert first.pulls[0].word == "authentication"
    without = retriever.search.hits(retriever.question("Please fix the  issue", intent=found.detected_intent))
    (rest,) = [hit.score for row, hit in without.items() if retriever.shard(row).rule.id == "R-001"]
    assert first.pulls[0].pull == pytest.approx(first.score - rest, abs=1e-6)
    assert first.reason == found.shards[0].reason


TASKS = (
    "Please fix the authentication issue",
    "squash commits",
    "tests of src/login/check.py",
    "Bilder klein halten",
    "x",
)


@pytest.mark.parametrize("embedding", [StaticEmbedding(), HashEmbedding(), Letters()])
def test_parts_add_up_to_the_score(embedding: Any) -> None:
    rules = RULES + "- [R-006] Check every login twice scope:src/login/**\n- [R-007] Images are in `assets/`\n"
    retriever = ShardRetriever(compile_guidance(rules), embedding)
    shown: set[str] = set()
    for task in TASKS:
        for scope in (None, "src/login/check.py", "src/"):
            for one in whys_of(retriever, task, repo_scope=scope, max_shards=9):
                assert sum(one.parts.values()) == pytest.approx(one.score, abs=2e-6)
                assert not (one.parts.keys() & {"words", "prior"}) or type(embedding) is not HashEmbedding
                shown |= one.parts.keys()
    assert {"meaning", "intent", "risk"} <= shown
    assert type(embedding) is HashEmbedding or {"words", "prior"} <= shown


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
    assert set(data) == {"id", "score", "parts", "pulls", "beat", "instead_of", "reason"}
    assert data["pulls"][0]["word"] == "authentication"
