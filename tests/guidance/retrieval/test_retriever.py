from __future__ import annotations

import json
import math
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.guidance.made_rules import bundle_of, rule
from tipstaff import compile_guidance
from tipstaff.errors import ConfigError, StoreEmbeddingError
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.intents.classify import classify_intent
from tipstaff.guidance.retrieval import retriever as module
from tipstaff.guidance.retrieval.fused_index import search_blob
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.guidance.retrieval.vectors import shard_rows
from tipstaff.model import INTENTS, RISK_CLASSES, GuidanceRule, PolicyBundle, RetrievalResult
from tipstaff.store.shards import open_store, write_store

if TYPE_CHECKING:
    from numpy.typing import NDArray

RULES = """# Shop
## Security
- [SEC-001] Never store card numbers (critical)
- [SEC-002] Always verify webhook signatures (high)
## Rules
- [SHP-010] Refund totals must be recomputed on the server (high) #bug-fix @security scope:api/**
- [SHP-011] Never trust prices sent by a client (critical) #security @security scope:api/**
- [SHP-012] Prefer server components #feature @architecture scope:web/**
- [SHP-013] Snapshot tests must be reviewed #testing @testing scope:web/**
- [SHP-014] Cache product images for a day #performance @performance (low)
- [SHP-015] Changelog entries should name the ticket #docs @general (info)
- [SHP-016] Run migrations before the canary #deployment @deployment (high) scope:infra/**
"""


@pytest.fixture
def shop() -> ShardRetriever:
    return ShardRetriever(compile_guidance(RULES), HashEmbedding())


def ids(result: RetrievalResult) -> list[str]:
    return [found.shard.rule.id for found in result.shards]


def same(left: RetrievalResult, right: RetrievalResult) -> bool:
    return left.replace(latency_ms=0.0) == right.replace(latency_ms=0.0)


def by_formula(bundle: PolicyBundle, task: str, intent: str) -> list[tuple[float, str]]:
    """Return every shard's score, best first, ties in the order of the bundle."""
    embedding = HashEmbedding()
    query = embedding.embed(task).astype(np.float64)
    scored: list[tuple[float, str]] = []
    for shard in bundle.shards:
        row = embedding.embed(shard.compact_text).astype(np.float64)
        score = min(max(float(query @ row), 0.0), 1.0)
        score += 0.15 if intent in shard.rule.intents else 0.0
        score += {"critical": 0.10, "high": 0.05}.get(shard.rule.risk_class, 0.0)
        scored.append((score, shard.rule.id))
    return sorted(scored, key=lambda one: -one[0])


@given(
    rules=st.lists(
        st.builds(
            lambda text, risk, intents: (text, risk, intents),
            st.text(max_size=20),
            st.sampled_from(RISK_CLASSES),
            st.lists(st.sampled_from(INTENTS), min_size=1, max_size=3).map(tuple),
        ),
        max_size=12,
    ),
    task=st.text(max_size=30),
    intent=st.none() | st.sampled_from(INTENTS),
)
def test_the_score_is_the_cosine_and_the_boosts(rules: list[Any], task: str, intent: str | None) -> None:
    made = [
        rule(f"R{i}", f"{text} zq{i}zq", risk_class=risk, intents=intents)
        for i, (text, risk, intents) in enumerate(rules)
    ]
    bundle = bundle_of(made)
    result = ShardRetriever(bundle, HashEmbedding()).retrieve(task, intent=intent, max_shards=len(made))
    expected = by_formula(bundle, task, intent or classify_intent(task).intent)
    scores = {name: score for score, name in expected}
    assert len(result.shards) + len(result.dropped) == len(made)
    for found in result.shards:
        assert found.similarity == pytest.approx(scores[found.shard.rule.id], abs=1e-5)
        assert 0.0 <= found.cosine <= found.similarity + 1e-6
    ranked = [found.similarity for found in result.shards]
    assert ranked == sorted(ranked, reverse=True)


def test_the_order_is_that_of_the_scores(shop: ShardRetriever) -> None:
    bundle = compile_guidance(RULES)
    for task in ("Fix the refund total", "Speed up product images", "Document the release", "x"):
        result = shop.retrieve(task, max_shards=9)
        expected = by_formula(bundle, task, result.detected_intent)
        assert ids(result) == [name for _, name in expected], task


def test_ties_keep_the_order_of_the_shards() -> None:
    made = [rule(f"R{i}", "same words").replace(id="R") for i in range(40)]
    bundle = bundle_of(made)
    positions = {id(shard): position for position, shard in enumerate(bundle.shards)}
    result = ShardRetriever(bundle, HashEmbedding()).retrieve("anything", max_shards=40)
    assert [positions[id(found.shard)] for found in result.shards] == list(range(40))
    assert len({found.similarity for found in result.shards}) == 1


@pytest.mark.parametrize("given", [{"max_shards": -1}, {"max_shards": -100}, {"max_tokens": -1}])
def test_fewer_than_no_shards_are_an_error(shop: ShardRetriever, given: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="it must be 0 or more"):
        shop.retrieve("Fix the refund", **given)


def test_no_shards_are_wanted(shop: ShardRetriever) -> None:
    result = shop.retrieve("Fix the refund", max_shards=0)
    assert result.shards == ()
    assert result.policy_text == shop.constitution.text.rstrip("\n")
    assert result.contradictions_resolved == 0


@pytest.mark.parametrize(("number", "given_back"), [(1, 1), (5, 5), (7, 7), (8, 7), (10**9, 7)])
def test_at_most_so_many(shop: ShardRetriever, number: int, given_back: int) -> None:
    assert len(shop.retrieve("Fix the refund", max_shards=number).shards) == given_back
    assert shop.shard_count == 7


def test_fewer_shards_are_the_first_of_more(shop: ShardRetriever) -> None:
    everything = ids(shop.retrieve("Review snapshot tests", max_shards=7))
    for number in range(7):
        assert ids(shop.retrieve("Review snapshot tests", max_shards=number)) == everything[:number]


def test_risk_is_a_hard_filter(shop: ShardRetriever) -> None:
    assert ids(shop.retrieve("Write docs", risk_filter="critical")) == ["SHP-011"]
    assert set(ids(shop.retrieve("Write docs", risk_filter=["high", "info"]))) == {"SHP-010", "SHP-015", "SHP-016"}
    assert set(ids(shop.retrieve("Write docs", risk_filter=iter(("high",))))) == {"SHP-010", "SHP-016"}
    assert len(shop.retrieve("Write docs", risk_filter=[], max_shards=9).shards) == 7
    assert len(shop.retrieve("Write docs", risk_filter="", max_shards=9).shards) == 7


def test_scope_is_a_hard_filter(shop: ShardRetriever) -> None:
    assert set(ids(shop.retrieve("Fix", repo_scope="web/cart.tsx"))) == {"SHP-012", "SHP-013", "SHP-014", "SHP-015"}
    assert set(ids(shop.retrieve("Fix", repo_scope="docs/a.md"))) == {"SHP-014", "SHP-015"}
    assert len(shop.retrieve("Fix", repo_scope="", max_shards=9).shards) == 7


def test_filters_apply_together(shop: ShardRetriever) -> None:
    assert ids(shop.retrieve("Fix", repo_scope="api/x.py", risk_filter="high")) == ["SHP-010"]
    assert ids(shop.retrieve("Fix", repo_scope="web/x.ts", risk_filter="high")) == []


def test_a_given_intent_overrides_the_task(shop: ShardRetriever) -> None:
    assert shop.retrieve("Fix the refund").detected_intent == "bug-fix"
    result = shop.retrieve("Fix the refund", intent="docs")
    assert (result.detected_intent, result.confidence) == ("docs", 1.0)
    boosted = {found.shard.rule.id for found in result.shards if "intent match (docs" in found.reason}
    assert boosted == {"SHP-015"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"intent": "gardening"}, "intent is 'gardening'; it must be one of bug-fix"),
        ({"intent": ""}, "intent is ''"),
        ({"risk_filter": "severe"}, "risk_filter names 'severe'; risk classes are info"),
        ({"risk_filter": ["high", "HIGH"]}, "risk_filter names 'HIGH'"),
        ({"today": "someday"}, "today is 'someday'"),
    ],
)
def test_options_that_are_not_usable_are_named(shop: ShardRetriever, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        shop.retrieve("Fix", **options)
    with pytest.raises(ConfigError, match=message):
        shop.retrieve_batch(["Fix"], **options)


@pytest.mark.parametrize("task", [None, 3, b"Fix", ["Fix"]])
def test_a_task_is_a_text(shop: ShardRetriever, task: Any) -> None:
    with pytest.raises(TypeError, match="must be a text"):
        shop.retrieve(task)
    with pytest.raises(TypeError, match="must be a text"):
        shop.retrieve_batch([task])


def test_a_batch_is_a_list_of_tasks(shop: ShardRetriever) -> None:
    with pytest.raises(TypeError, match="list of tasks"):
        shop.retrieve_batch("Fix the refund")


@pytest.mark.parametrize("task", ["", " ", "\ud800", "\0", "🚦" * 3, "x" * 100_000, "規則を直す"])
def test_any_text_is_a_task(shop: ShardRetriever, task: str) -> None:
    result = shop.retrieve(task)
    assert len(result.shards) == 5
    assert all(math.isfinite(found.similarity) for found in result.shards)


def test_the_policy_text_is_the_constitution_and_the_shards(shop: ShardRetriever) -> None:
    result = shop.retrieve("Fix the refund", max_shards=2)
    first, second = (found.shard.compact_text for found in result.shards)
    head = shop.constitution.text.rstrip("\n")
    assert result.policy_text == f"{head}\n\n## Task-Specific Rules\n\n- {first}\n- {second}"
    assert "SEC-001" in head
    bare = ShardRetriever(bundle_of([rule("A", "one")]), HashEmbedding()).retrieve("x")
    assert bare.policy_text == f"## Task-Specific Rules\n\n- {bare.shards[0].shard.compact_text}"


def test_a_bundle_without_shards_answers() -> None:
    for bundle in (compile_guidance(""), compile_guidance("## Security\n- [S-1] Never log passwords\n")):
        retriever = ShardRetriever(bundle, HashEmbedding())
        assert retriever.shard_count == 0
        result = retriever.retrieve("Fix the refund", repo_scope="a", today="2026-01-01")
        assert result.shards == ()
        assert result.policy_text == bundle.constitution.text.rstrip("\n")
        assert retriever.retrieve_batch([]) == []


def test_a_result_is_plain_data(shop: ShardRetriever) -> None:
    result = shop.retrieve("Fix the refund")
    data = json.loads(json.dumps(result.to_dict()))
    assert data["shards"][0]["shard"]["rule"]["id"] == ids(result)[0]
    assert set(data) >= {"constitution", "detected_intent", "contradictions_resolved", "policy_text", "latency_ms"}
    assert result.latency_ms > 0


# -- dates ------------------------------------------------------------------------------------------------------------

DATED = """- [D-1] Freeze the main branch from:2026-12-20 until:2027-01-05
- [D-2] Write release notes
- [D-3] Use the old gateway until:2026-06-30
"""


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("2026-06-30", {"D-2", "D-3"}),
        ("2026-07-01", {"D-2"}),
        ("2026-12-20", {"D-1", "D-2"}),
        ("2027-01-05", {"D-1", "D-2"}),
        ("2027-01-06", {"D-2"}),
    ],
)
def test_rules_are_given_while_they_are_in_force(day: str, expected: set[str]) -> None:
    bundle = compile_guidance(DATED)
    assert set(ids(ShardRetriever(bundle, HashEmbedding()).retrieve("Fix", today=day))) == expected
    assert set(ids(ShardRetriever(bundle, HashEmbedding(), today=day).retrieve("Fix"))) == expected
    assert set(ids(ShardRetriever(bundle, HashEmbedding(), today=day).retrieve_batch(["Fix"])[0])) == expected
    assert set(ids(ShardRetriever(bundle, HashEmbedding(), today="2020-01-01").retrieve("Fix", today=day))) == expected


def test_the_current_day_counts_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "current_day", lambda: "2026-12-25")
    assert set(ids(ShardRetriever(compile_guidance(DATED), HashEmbedding()).retrieve("Fix"))) == {"D-1", "D-2"}


# -- reasons ----------------------------------------------------------------------------------------------------------


def test_reasons_name_what_added_to_the_rank_and_nothing_else(shop: ShardRetriever) -> None:
    result = shop.retrieve("Fix the refund totals in the images", max_shards=9, repo_scope="api/refunds.py")
    reasons = {found.shard.rule.id: found.reason for found in result.shards}
    assert reasons["SHP-010"] == (
        "intent match (bug-fix, +0.15); high risk (+0.05); shares 'refund', 'totals'; applies to api/**"
    )
    assert reasons["SHP-011"] == "critical risk (+0.10); applies to api/**"
    assert reasons["SHP-014"] == "shares 'images'"
    cosine = next(found.cosine for found in result.shards if found.shard.rule.id == "SHP-015")
    assert reasons["SHP-015"] == f"nearest by hash ({cosine:.2f}), which carries no meaning; no word in common"


def test_boosts_are_as_given_and_reasons_follow() -> None:
    made = [rule("A", "one", risk_class="critical", intents=("docs",)), rule("B", "two", risk_class="high")]
    without = ShardRetriever(bundle_of(made), HashEmbedding(), boosts=(0, 0, 0)).retrieve("Write", intent="docs")
    for found in without.shards:
        assert found.similarity == pytest.approx(found.cosine)
        assert found.reason.startswith("nearest by hash")
    more = ShardRetriever(bundle_of(made), HashEmbedding(), boosts=(0.5, 0.25, 0.125)).retrieve("Write", intent="docs")
    assert [found.similarity - found.cosine for found in more.shards] == pytest.approx([0.75, 0.125], abs=1e-6)
    assert more.shards[0].reason == "intent match (docs, +0.50); critical risk (+0.25)"


@pytest.mark.parametrize("boosts", [(0.1, 0.1), (0.1, -0.1, 0.0), (float("nan"), 0, 0), (2.0, 0, 0)])
def test_boosts_that_are_not_usable_are_refused(boosts: Any) -> None:
    with pytest.raises(ConfigError, match="three numbers from 0 to 1"):
        ShardRetriever(bundle_of([]), HashEmbedding(), boosts=boosts)


# -- many tasks, many threads -----------------------------------------------------------------------------------------

TASKS = [f"{verb} the {noun}" for verb in ("Fix", "Document", "Test", "Ship", "Trace") for noun in ("refund", "cart", "image", "price", "canary", "hook", "login")]  # fmt: skip


@pytest.mark.parametrize("threads", [None, 1, 2, 8, 0, -3])
@pytest.mark.parametrize(
    "options", [{}, {"repo_scope": "api/x.py", "max_shards": 2}, {"risk_filter": ["high", "low"], "intent": "docs"}]
)
def test_a_batch_is_the_same_as_one_by_one(shop: ShardRetriever, threads: int | None, options: dict[str, Any]) -> None:
    results = shop.retrieve_batch(TASKS, threads=threads, **options)
    assert len(results) == len(TASKS)
    for task, result in zip(TASKS, results, strict=True):
        assert same(result, shop.retrieve(task, **options)), task


def test_a_filter_that_can_be_read_once_counts_for_all_tasks(shop: ShardRetriever) -> None:
    for result in shop.retrieve_batch(TASKS, risk_filter=iter(["critical"]), threads=2):
        assert ids(result) == ["SHP-011"]


def test_many_shards_are_shared_among_threads(monkeypatch: pytest.MonkeyPatch, shop: ShardRetriever) -> None:
    names: set[str] = set()
    retrieve = ShardRetriever.retrieve

    def noted(self: ShardRetriever, *arguments: Any, **options: Any) -> RetrievalResult:
        names.add(threading.current_thread().name)
        return retrieve(self, *arguments, **options)

    monkeypatch.setattr(ShardRetriever, "retrieve", noted)
    monkeypatch.setattr(module, "usable_processors", lambda: 2)
    shop.retrieve_batch(TASKS)
    assert names == {threading.current_thread().name}
    names.clear()
    monkeypatch.setattr(module, "_THREADS_FROM_ROWS", 1)
    shop.retrieve_batch(TASKS)
    assert threading.current_thread().name not in names


def test_threads_share_a_retriever_while_what_it_remembers_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tipstaff.guidance.retrieval.shard_index.MAX_MASKS", 2)
    monkeypatch.setattr("tipstaff.guidance.retrieval.shard_profiles._MAX_CARDS", 2)
    monkeypatch.setattr("tipstaff.guidance.retrieval.shard_profiles._MAX_PAIRS", 2)
    shop = ShardRetriever(compile_guidance(RULES + DATED), HashEmbedding())
    calls = [
        {"task": task, "repo_scope": scope, "today": day, "max_shards": 9}
        for task in TASKS[:6]
        for scope in (None, "api/a", "web/b", "infra/c")
        for day in ("2026-01-01", "2026-12-31")
    ]
    expected = [shop.retrieve(**call) for call in calls]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda number: shop.retrieve(**calls[number % len(calls)]), range(len(calls) * 8)))
    finally:
        sys.setswitchinterval(interval)
    for number, result in enumerate(found):
        assert same(result, expected[number % len(calls)])


# -- stores and embeddings --------------------------------------------------------------------------------------------


def many_rules(count: int) -> list[GuidanceRule]:
    words = "cache token page image client queue schema branch review secret".split()
    return [
        rule(
            f"R{i}",
            f"{('Always', 'Never', 'Prefer to')[i % 3]} {words[i % 10]} {words[i // 10 % 10]} {words[i // 7 % 10]}",
            risk_class=RISK_CLASSES[i % 5],
            intents=(INTENTS[i % 11],),
            scope="**/*" if i % 3 else f"part{i % 4}/**",
            priority=i % 90,
            active_until="2026-12-31" if i % 13 == 0 else None,
        )
        for i in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 60, 1_200])
def test_a_store_answers_as_the_bundle_does(tmp_path: Path, count: int) -> None:
    laws = [rule("LAW", "Never cache token image", is_constitution=True, priority=150)]
    bundle, embedding = bundle_of(many_rules(count), laws), HashEmbedding()
    rows = embedding.embed_rows([shard.compact_text for shard in bundle.shards])
    write_store(
        tmp_path / "store",
        bundle,
        memoryview(rows).cast("f"),
        embedding_identity=embedding.identity,
        dims=384,
        search=search_blob(bundle.shards, embedding),
    )
    with open_store(tmp_path / "store") as store:
        from_store, from_bundle = ShardRetriever(store, HashEmbedding()), ShardRetriever(bundle, HashEmbedding())
        assert from_store.shard_count == count
        for task in TASKS[::4]:
            for options in ({}, {"repo_scope": "part1/x", "risk_filter": ["high", "info"]}, {"today": "2027-01-01"}):
                assert same(from_store.retrieve(task, **options), from_bundle.retrieve(task, **options))


def test_a_store_of_another_embedding_is_refused(tmp_path: Path) -> None:
    bundle = bundle_of(many_rules(3))
    rows, blob = shard_rows(bundle.shards, HashEmbedding(64)), search_blob(bundle.shards, HashEmbedding(64))
    write_store(
        tmp_path / "store", bundle, memoryview(rows).cast("B").cast("f"), embedding_identity="hash-64", search=blob
    )
    with open_store(tmp_path / "store") as store:
        assert len(ShardRetriever(store, HashEmbedding(64)).retrieve("Fix", today="2026-01-01").shards) == 3
        with pytest.raises(StoreEmbeddingError, match=r"'hash-64' with 64 dimensions.*'hash-384' and 384"):
            ShardRetriever(store, HashEmbedding())


class Letters:
    """Counts letters: near texts are near."""

    identity = "letters"
    dimensions = 26

    def embed(self, text: str) -> Any:
        return [float(text.lower().count(chr(97 + i))) for i in range(26)]

    def embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self.embed(text) for text in texts], dtype=np.float32).reshape(-1, 26)


def test_another_embedding_is_normalised_and_its_meaning_named() -> None:
    made = [rule("A", "zzz zzz zz zzzz zzzzzzzzzzzzz"), rule("B", "refund the refund totals of refunds")]
    result = ShardRetriever(bundle_of(made), Letters()).retrieve("refunds", intent="docs")
    assert ids(result) == ["B"]  # the other one's score is far below
    assert all(0 <= found.cosine <= 1 for found in result.shards)
    assert result.shards[0].reason == f"meaning {result.shards[0].cosine:.2f}; shares 'refunds'"
    assert ShardRetriever(bundle_of(made), Letters()).retrieve("", intent="docs").shards[0].cosine == 0.0


class Derived(HashEmbedding):
    __slots__ = ()

    def embed(self, text: str) -> NDArray[np.float32]:
        return super().embed("always the same")

    def embed_batch(self, texts: Any) -> NDArray[np.float32]:
        return super().embed_batch(["always the same"] * len(texts))


def test_an_embedding_derived_from_the_default_one_is_asked_itself() -> None:
    result = ShardRetriever(bundle_of([rule("A", "one"), rule("B", "two")]), Derived()).retrieve("x", intent="docs")
    assert [found.cosine for found in result.shards] == pytest.approx([1.0, 1.0], abs=1e-6)
    assert ShardRetriever.rank("x", ["one", "two"], 2, embedding=Derived()) == [0, 1]


class Broken(Letters):
    def embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), 25), np.nan, dtype=np.float32)


def test_an_embedding_of_another_shape_is_named() -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 25\); it must be \(1, 26\)"):
        ShardRetriever(bundle_of([rule("A", "one")]), Broken())


def test_rank_with_another_embedding() -> None:
    assert ShardRetriever.rank("refunds", ["zzz", "refund", "qqq"], 1, embedding=Letters()) == [1]
