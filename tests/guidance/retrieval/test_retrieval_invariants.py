"""Mistakes that retrieval of this kind was seen to make elsewhere; each of them must stay absent here."""

from __future__ import annotations

import copy
from itertools import combinations

import numpy as np
import pytest

from tests.guidance.made_rules import bundle_of, rule
from tipstaff import compile_guidance
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.intents.classify import classify_intent
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.model import PolicyBundle, RetrievalResult


def ids(result: RetrievalResult) -> set[str]:
    return {found.shard.rule.id for found in result.shards}


def ask(text: str | PolicyBundle, task: str = "Fix the build", **options: object) -> RetrievalResult:
    bundle = compile_guidance(text) if isinstance(text, str) else text
    return ShardRetriever(bundle, HashEmbedding()).retrieve(task, **options)  # type: ignore[arg-type]


def cosine(left: str, right: str) -> float:
    embedding = HashEmbedding()
    return float(embedding.embed(left) @ embedding.embed(right))


def test_hashes_carry_no_meaning_and_no_reason_claims_one() -> None:
    # The default baseline cannot know that these belong together ...
    assert cosine("fix the auth issue", "banana") > cosine("fix the auth issue", "Fix the auth issues")
    # ... so nothing says "semantic" or gives a percentage of it.
    for task in ("paint the fence green", "fix the auth issue", ""):
        result = ask("- [K-1] Restart kubernetes pods in order\n- [K-2] Fix auth issues first\n", task)
        for found in result.shards:
            assert "semantic" not in found.reason
            assert "%" not in found.reason
            assert "meaning" not in found.reason.replace("which carries no meaning", "")


def test_an_empty_task_is_near_to_nothing_in_words() -> None:
    result = ask("- [K-1] Restart pods in order #deployment\n", "")
    assert result.shards[0].reason.endswith("which carries no meaning; no word in common")
    assert result.detected_intent == "general"
    assert result.confidence == 0.0


def test_long_texts_with_one_beginning_have_their_own_vectors() -> None:
    start = "x" * 200
    embedding = HashEmbedding()
    one, other = embedding.embed(f"{start} one"), embedding.embed(f"{start} other")
    assert not np.array_equal(one, other)
    assert float(one @ other) < 0.95
    texts = [f"{start} {number}" for number in range(20)]
    assert len({row.tobytes() for row in embedding.embed_batch(texts)}) == 20


def test_vectors_are_not_shared_and_nothing_is_kept() -> None:
    embedding = HashEmbedding()
    first = embedding.embed("text")
    first[:] = 0
    assert np.linalg.norm(embedding.embed("text")) == pytest.approx(1.0)
    for number in range(5_000):
        embedding.embed(f"query {number}")
    # There is no place in it for anything but the number of dimensions.
    assert not hasattr(embedding, "__dict__")
    assert type(embedding).__slots__ == ("dimensions",)


def test_texts_with_one_hash_have_one_vector() -> None:
    # A property of the baseline, 32 bits of hash: known, and the reason why it is not for meaning.
    assert np.array_equal(
        HashEmbedding().embed("never ship a~ keys"),
        HashEmbedding().embed("never ship b_ keys"),
    )


@pytest.mark.parametrize(
    ("task", "intent"),
    [
        ("Failing logins cause errors", "bug-fix"),
        ("Fixes crashes", "bug-fix"),
        ("Authentication is bypassed", "security"),
        ("Fix the flaky test", "bug-fix"),
        ("Optimise the caching layer", "performance"),
        ("deploying the new build", "deployment"),
    ],
)
def test_inflected_words_are_understood(task: str, intent: str) -> None:
    match = classify_intent(task)
    if task == "Fix the flaky test":
        assert match.intent in {"bug-fix", "testing"}
    else:
        assert match.intent == intent
    assert match.confidence > 0.0


def test_confidence_can_be_high() -> None:
    assert classify_intent("Fix the security vulnerability: SQL injection lets attackers bypass auth").confidence > 0.7
    assert classify_intent("Write unit tests and raise test coverage").confidence > 0.9


# -- contradictions ---------------------------------------------------------------------------------------------------


def test_what_was_resolved_is_counted_and_named() -> None:
    result = ask("- [R-001] You must squash commits priority:80\n- [R-002] Never squash commits priority:60\n")
    assert ids(result) == {"R-001"}
    assert result.contradictions_resolved == 1
    assert [(one.id, one.kept) for one in result.dropped] == [("R-002", "R-001")]
    none = ask("- [R-001] You must squash commits priority:80\n- [R-002] Never push tags priority:60\n")
    assert (none.contradictions_resolved, none.dropped) == (0, ())


def test_must_and_never_about_different_things_are_no_contradiction() -> None:
    text = (
        "- [R-001] You must use TLS @security priority:80\n- [R-002] Never commit credentials @security priority:60\n"
    )
    result = ask(text)
    assert ids(result) == {"R-001", "R-002"}
    assert result.contradictions_resolved == 0


@pytest.mark.parametrize(
    ("high", "low"),
    [
        ("You must squash commits", "You must not squash commits"),
        ("You must not squash commits", "You must squash commits"),
        ("Always squash commits", "Don't squash commits"),
        ("Avoid default exports", "Use default exports"),
        ("Require two reviewers", "Do not require two reviewers"),
    ],
)
def test_opposites_are_seen_in_both_directions_and_across_domains(high: str, low: str) -> None:
    for order in (0, 1):
        lines = [f"- [HI-001] {high} @testing priority:80", f"- [LO-001] {low} @security priority:60"]
        result = ask("\n".join(lines[::-1] if order else lines) + "\n")
        assert ids(result) == {"HI-001"}, (high, low)
        assert result.dropped[0].reason == "priority 80 over 60"


def test_the_lower_priority_goes_even_where_it_scores_higher() -> None:
    low = rule("LO", "Always squash commits", priority=40, risk_class="critical", intents=("docs",))
    high = rule("HI", "Never squash commits", priority=60, risk_class="low", intents=("testing",))
    bundle = bundle_of([low, high])
    scores = {
        one.shard.rule.id: one.similarity
        for made in (low, high)
        for one in ask(bundle_of([made]), intent="docs").shards
    }
    assert scores["LO"] > scores["HI"]
    result = ask(bundle, intent="docs")
    assert ids(result) == {"HI"}
    assert result.dropped[0].id == "LO"


def test_of_equal_priorities_only_one_is_given() -> None:
    result = ask("- [R-001] Always squash commits priority:50\n- [R-002] Never squash commits priority:50\n")
    assert len(result.shards) == 1
    assert result.contradictions_resolved == 1


def test_shards_are_held_against_the_constitution() -> None:
    text = "# P\n## Security\n- [LAW-001] Never use TLS 1.0\n## Notes\n- [R-001] You must use TLS 1.0 priority:900\n- [R-002] Prefer HTTP/2\n"
    result = ask(text)
    assert ids(result) == {"R-002"}
    assert [(one.id, one.kept) for one in result.dropped] == [("R-001", "LAW-001")]
    assert "LAW-001" in result.policy_text
    assert "[R-001]" not in result.policy_text


# -- scopes and the caller's bundle -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "path", "holds"),
    [
        ("src/api.ts", "src/apiXts", False),
        ("src/api.ts", "src/api.ts", True),
        ("**/a.ts", "a.ts", True),
        ("**/a.ts", "x/y/a.ts", True),
        ("src/**", "src", True),
        ("src/**", "src/a/b", True),
        ("src/**", "srcs/a", False),
        ("src/*.ts", "src/a/b.ts", False),
        ("src/{api,web}/**", "src/web/x", True),
        ("src/{api,web}/**", "src/lib/x", False),
    ],
)
def test_scopes_are_globs_over_paths(scope: str, path: str, holds: bool) -> None:
    result = ask(bundle_of([rule("A", "one", scope=scope)]), repo_scope=path)
    assert (ids(result) == {"A"}) is holds


def test_the_bundle_is_not_written_to() -> None:
    bundle = compile_guidance(
        "## Security\n- [SEC-001] Never log keys\n## R\n- [R-001] Use tabs\n- [R-002] Never use tabs\n"
    )
    before = copy.deepcopy(bundle.to_dict())
    shards = bundle.shards
    retriever = ShardRetriever(bundle, HashEmbedding())
    first = retriever.retrieve("Fix")
    retriever.retrieve_batch(["Fix", "Test"], repo_scope="src/a")
    assert bundle.to_dict() == before
    assert bundle.shards is shards
    assert all(one.shard in shards for one in first.shards)
    with pytest.raises(AttributeError):
        first.shards[0].similarity = 2.0  # type: ignore[misc]


def test_one_bundle_serves_two_retrievers_with_other_embeddings() -> None:
    bundle = compile_guidance("- [R-001] Use tabs\n- [R-002] Write tests\n")
    wide, narrow = ShardRetriever(bundle, HashEmbedding()), ShardRetriever(bundle, HashEmbedding(16))
    scores = {(name, one.similarity) for name, r in (("w", wide), ("n", narrow)) for one in r.retrieve("Fix").shards}
    assert len(scores) == 4
    again = {(name, one.similarity) for name, r in (("w", wide), ("n", narrow)) for one in r.retrieve("Fix").shards}
    assert again == scores


def test_unrelated_pairs_spread_as_the_theory_of_the_baseline_says() -> None:
    words = "tls cache token image branch review queue deploy client schema".split()
    found = [cosine(f"use {a} with care", f"never mind {b}") for a, b in combinations(words, 2)]
    assert 0.6 < float(np.median(found)) < 0.73  # (1/4) / (3/8) = 2/3
