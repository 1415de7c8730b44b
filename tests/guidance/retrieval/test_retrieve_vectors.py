"""Holds retrieval against measured requests, by the formula, where the folder of cases is beside the checkout."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.shared_data import shared_path
from tipstaff import compile_guidance
from tipstaff.globs import scope_applies
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.model import RetrievalResult

_CASES = shared_path("vectors", "guidance", "retrieve.json")
pytestmark = pytest.mark.skipif(_CASES is None, reason="no folder of measured cases beside this checkout")


def cases() -> list[dict[str, Any]]:
    if _CASES is None:
        return []
    found: list[dict[str, Any]] = json.loads(_CASES.read_text(encoding="utf-8"))["cases"]
    return found


def answer(given: dict[str, Any]) -> tuple[ShardRetriever, RetrievalResult]:
    request = given["request"]
    retriever = ShardRetriever(compile_guidance(given["root"], given["local"]), HashEmbedding())
    result = retriever.retrieve(
        request["taskDescription"],
        intent=request.get("intent"),
        risk_filter=request.get("riskFilter"),
        repo_scope=request.get("repoScope"),
        max_shards=request.get("maxShards", 5),
    )
    return retriever, result


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_score_order_and_filters_are_those_of_the_formula(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    request = given["request"]
    bundle = compile_guidance(given["root"], given["local"])
    _, result = answer(given)
    if request.get("intent"):
        assert result.detected_intent == request["intent"] == expected["detectedIntent"]
    embedding = HashEmbedding()
    query = embedding.embed(request["taskDescription"]).astype(np.float64)
    scored: list[tuple[float, str]] = []
    for shard in bundle.shards:
        rule = shard.rule
        if request.get("riskFilter") and rule.risk_class not in request["riskFilter"]:
            continue
        if request.get("repoScope") and not scope_applies(rule.repo_scopes, request["repoScope"]):
            continue
        cosine = float(query @ embedding.embed(shard.compact_text).astype(np.float64))
        score = min(max(cosine, 0.0), 1.0) + 0.15 * (result.detected_intent in rule.intents)
        scored.append((score + {"critical": 0.10, "high": 0.05}.get(rule.risk_class, 0.0), rule.id))
    scored.sort(key=lambda one: -one[0])
    dropped = {one.id for one in result.dropped}
    wanted = max(request.get("maxShards", 5), 0)
    left = [one for one in scored if one[1] not in dropped][:wanted]
    assert [found.shard.rule.id for found in result.shards] == [name for _, name in left]
    for found, (score, _) in zip(result.shards, left, strict=True):
        assert found.similarity == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_as_many_are_given_as_were_measured_but_for_contradictions(case: dict[str, Any]) -> None:
    _, result = answer(case["input"])
    measured = {shard["id"] for shard in case["expected"]["shards"]}
    given = {found.shard.rule.id for found in result.shards}
    assert abs(len(given) - len(measured)) <= max(len(result.dropped), 1)
    if not case["input"]["request"].get("maxShards", 5) > 0:
        assert given == set()


def test_there_are_enough_cases() -> None:
    assert len(cases()) >= 50
