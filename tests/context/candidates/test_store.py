"""Merging, states, decay and retention, as a caller sees them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.context.candidates.clock import START, Clock
from tipstaff.context.candidates.records import Candidate, CandidateConfig, CandidateObservation, CandidateState
from tipstaff.context.candidates.store import CandidateStore
from tipstaff.errors import ConfigError

SEARCH = "prefer structured search before opening large files"
RETRY = "retry flaky network calls with capped exponential backoff"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> CandidateStore:
    return CandidateStore(tmp_path / "candidates.jsonl", clock=clock, sync=False)


def seen(store: CandidateStore, content: str = SEARCH, **fields: Any) -> Candidate:
    return store.upsert({"content": content, "score": 0.9, "success_delta": 1, **fields})


def promoted(store: CandidateStore, content: str = SEARCH, **fields: Any) -> str:
    seen(store, content, **fields)
    found = seen(store, content, **fields)
    assert [move.to_state for move in store.evaluate_all()] == ["PROMOTED"]
    return found.id


def only(store: CandidateStore) -> Candidate:
    (found,) = store.candidates()
    return found


def test_a_new_observation_is_a_shadow(store: CandidateStore) -> None:
    found = store.upsert(CandidateObservation(content=SEARCH, score=0.8, success_delta=1, source_ref="s1", tags=("a",)))
    assert found == store.candidate(found.id) == only(store)
    assert found.state == "SHADOW"
    assert (found.score, found.evidence_count, found.success_count, found.failure_count) == (0.8, 1, 1, 0)
    assert (found.first_seen_at, found.last_seen_at, found.cooldown_until) == (START, START, None)
    assert (found.tool_tag, found.kind, found.category, found.tags) == ("general", "WORKFLOW", "STRATEGY", ("a",))
    assert found.source_refs == ("s1",)
    assert found.to_dict()["evidence"][0]["source_ref"] == "s1"


def test_evidence_merges_with_the_first_text(store: CandidateStore, clock: Clock) -> None:
    first = store.upsert({"content": "alpha beta gamma delta", "score": 0.8, "success_delta": 1, "source_ref": "s1"})
    clock.advance(days=1)
    second = store.upsert(
        {"content": "Alpha beta, gamma epsilon", "score": 0.6, "failure_delta": 2, "source_ref": "s2"}
    )
    assert second.id == first.id
    assert second.content == "alpha beta gamma delta"
    assert second.base_score == pytest.approx(0.7)
    assert (second.evidence_count, second.success_count, second.failure_count) == (2, 1, 2)
    assert second.last_seen_at - second.first_seen_at == timedelta(days=1)
    assert second.source_refs == ("s1", "s2")
    assert len(second.evidence) == 2


@pytest.mark.parametrize(
    ("left", "right", "merges"),
    [
        ("a b c d", "a b c d", True),
        ("a b c", "a b", True),
        ("a b c", "b c d", True),  # exactly one half
        ("a b c d", "c d e", False),
        ("one", "two", False),
    ],
)
def test_the_threshold(store: CandidateStore, left: str, right: str, merges: bool) -> None:
    assert (seen(store, left).id == seen(store, right).id) is merges


def test_the_most_similar_is_chosen_and_the_oldest_of_equals(store: CandidateStore) -> None:
    config = CandidateConfig(merge_similarity=0.5)
    assert store.config == config
    first, second = seen(store, "tie one two"), seen(store, "tie other three")
    assert first.id != second.id
    assert seen(store, "tie").id not in {first.id, second.id}
    assert seen(store, "tie other three two").id == second.id
    equal = [seen(store, f"left{side} both") for side in "ab"]
    assert equal[0].id != equal[1].id
    assert seen(store, "both lefta leftb").id == equal[0].id


@pytest.mark.parametrize("field", [{"kind": "PREFERENCE"}, {"category": "PATTERN"}, {"tool_tag": "bash"}])
def test_kinds_categories_and_tools_are_not_mixed(store: CandidateStore, field: dict[str, str]) -> None:
    assert seen(store).id != seen(store, **field).id
    assert seen(store, **field).id == store.candidates()[1].id


def test_the_window_of_merging_is_closed_at_thirty_days(store: CandidateStore, clock: Clock) -> None:
    first = seen(store)
    clock.advance(days=30)
    assert seen(store).id == first.id
    clock.advance(days=30, microseconds=1)
    assert seen(store).id != first.id


def test_a_batch_is_taken_in_order(store: CandidateStore) -> None:
    found = store.upsert_many([{"content": SEARCH}, {"content": RETRY}, {"content": SEARCH}])
    assert found[0].id == found[2].id != found[1].id
    assert found[2].evidence_count == 2
    assert store.upsert_many([]) == ()


def test_a_bad_observation_in_a_batch_changes_nothing(store: CandidateStore) -> None:
    for bad in ({"content": ""}, {"content": "x", "occurred_at": "soon"}, {"content": "x", "score": 2}):
        with pytest.raises(ConfigError):
            store.upsert_many([{"content": SEARCH}, bad])
    assert store.candidates() == ()
    assert store.verify() == ()


def test_the_whole_way(store: CandidateStore, clock: Clock) -> None:
    candidate_id = promoted(store)
    assert [move.reason_code for move in store.mark_used([candidate_id, "unknown"])] == ["USED"]
    assert only(store).state == "IN_USE"
    assert store.mark_used([candidate_id]) == ()
    assert store.evaluate_all() == ()
    clock.advance(days=40)
    (over,) = store.evaluate_all()
    assert (over.from_state, over.to_state, over.reason_code) == ("IN_USE", "ARCHIVED", "DECAYED")
    assert store.evaluate_all() == ()
    assert seen(store).id != candidate_id  # new evidence starts again
    clock.advance(days=50, microseconds=1)
    assert [move.reason_code for move in store.evaluate_all() if move.candidate_id == candidate_id] == ["RETENTION"]


def test_failures_demote_and_the_cooldown_leads_back_to_shadow(store: CandidateStore, clock: Clock) -> None:
    candidate_id = promoted(store)
    for _ in range(3):
        store.record_outcome(candidate_id, success=False)
    (down,) = store.evaluate_all()
    assert (down.to_state, down.reason_code) == ("DEMOTED", "DEMOTION_REGRESSION")
    assert down.cooldown_until == START + timedelta(days=3) == only(store).cooldown_until
    assert (down.window_attempts, down.window_failure_rate) == (5, 0.6)
    clock.advance(days=3, microseconds=-1)
    assert store.evaluate_all() == ()
    clock.advance(microseconds=1)
    (again,) = store.evaluate_all()
    assert (again.from_state, again.to_state, again.reason_code) == ("DEMOTED", "SHADOW", "COOLDOWN_OVER")
    # What was known before its demotion does not promote it again.
    assert store.evaluate_all() == ()
    assert any("0 of 2 independent" in reason for reason in store.obstacles(candidate_id))
    assert promoted(store) == candidate_id


def test_a_candidate_whose_cooldown_is_over_may_be_promoted_in_the_same_pass(
    store: CandidateStore, clock: Clock
) -> None:
    candidate_id = promoted(store)
    for _ in range(3):
        store.record_outcome(candidate_id, success=False)
    store.evaluate_all()
    clock.advance(days=4)
    seen(store, success_delta=9)
    seen(store, success_delta=9)
    moves = store.evaluate_all()
    assert [(move.from_state, move.to_state) for move in moves] == [("DEMOTED", "SHADOW"), ("SHADOW", "PROMOTED")]


def test_moves_by_hand(store: CandidateStore) -> None:
    candidate_id = store.upsert({"content": SEARCH, "score": 0.1}).id
    with pytest.raises(ConfigError, match="may not be promoted: 1 of 2 independent"):
        store.transition(candidate_id, "PROMOTED")
    with pytest.raises(ConfigError, match="which PROMOTED may follow, not ARCHIVED"):
        store.transition(candidate_id, "ARCHIVED")
    moved = store.transition(candidate_id, "PROMOTED", "by request", force=True)
    assert (moved.reason, moved.reason_code, moved.triggered_by) == ("by request", "MANUAL_FORCE", "manual")
    assert store.transition(candidate_id, CandidateState.IN_USE).reason_code == "MANUAL_TRANSITION"
    store.transition(candidate_id, CandidateState.ARCHIVED)
    with pytest.raises(ConfigError, match="which nothing may follow"):
        store.transition(candidate_id, "SHADOW")
    with pytest.raises(ConfigError, match="no candidate 'x'"):
        store.transition("x", "SHADOW")
    with pytest.raises(ConfigError, match="no candidate 'x'"):
        store.record_outcome("x", success=True)


def test_retention_is_closed_at_ninety_days(store: CandidateStore, clock: Clock) -> None:
    seen(store)
    clock.advance(days=90)
    assert store.evaluate_all() == ()
    assert len(store.candidates()) == 1
    clock.advance(microseconds=1)
    assert store.candidates() == ()  # also before anybody has evaluated
    (gone,) = store.evaluate_all()
    assert (gone.to_state, gone.reason_code) == (None, "RETENTION")
    assert store.evaluate_all() == ()


def test_states_select(store: CandidateStore) -> None:
    candidate_id = promoted(store)
    seen(store, RETRY)
    assert [found.id for found in store.candidates("PROMOTED")] == [candidate_id]
    assert len(store.candidates("PROMOTED", "SHADOW")) == 2
    assert store.candidates(CandidateState.ARCHIVED) == ()
    with pytest.raises(ValueError, match="GONE"):
        store.candidates("GONE")


def test_history_has_bounds(tmp_path: Path, clock: Clock) -> None:
    config = CandidateConfig(max_events=5, max_sources=3)
    store = CandidateStore(tmp_path, clock=clock, config=config, sync=False)
    for number in range(9):
        clock.advance(minutes=1)
        found = seen(store, source_ref=f"s{number}")
    assert found.source_refs == ("s6", "s7", "s8")
    assert [event.source_ref for event in found.evidence] == ["s4", "s5", "s6", "s7", "s8"]
    assert found.evidence_count == 9


def test_everything_survives_closing(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "deep" / "folder" / "c.jsonl"
    with CandidateStore(path, clock=clock) as store:
        candidate_id = promoted(store, tool_tag="bash", tags=["a|b", "c"], note="a\nb", source_ref="")
        seen(store, "日本語の検索を使う")
        seen(store, "!!!")
        store.record_outcome(candidate_id, success=False, source_ref="x")
        before = store.candidates()
    assert len(before) == 3
    with CandidateStore(path, clock=clock) as again:
        assert again.candidates() == before
    with CandidateStore(path, clock=clock) as last:
        assert last.candidates() == before
        assert last.incidents == ()
        assert seen(last, "!!!").id == before[2].id
        assert seen(last, "日本語の検索を使う").id == before[1].id


def test_a_closed_store_opens_again(store: CandidateStore) -> None:
    seen(store)
    store.close()
    assert len(store.candidates()) == 1
    assert seen(store).evidence_count == 2


@pytest.mark.parametrize(
    ("given", "file"),
    [("", "ledger.db"), ("memory", "memory/ledger.db"), ("c.db", "c.db"), ("candidates.jsonl", "candidates.db")],
)
def test_a_folder_or_a_file_is_named(tmp_path: Path, given: str, file: str) -> None:
    with CandidateStore(tmp_path / given) as store:
        seen(store)
        assert store.path == tmp_path / file
        assert file in store.path.as_posix()
    assert (tmp_path / file).stat().st_mode & 0o077 == 0


def test_the_ledger_may_be_in_the_same_database(tmp_path: Path) -> None:
    from tipstaff.runs.events import RunEvent
    from tipstaff.runs.ledger.ledger import Ledger

    with CandidateStore(tmp_path) as store, Ledger(f"sqlite:///{tmp_path / 'ledger.db'}") as ledger:
        seen(store)
        ledger.append(RunEvent(event_id="r1", task_id="t1", guidance_hash="0" * 16))
        seen(store)
        assert ledger.verify().ok
        assert only(store).evidence_count == 2


def test_two_stores_see_each_other(tmp_path: Path, clock: Clock) -> None:
    left, right = (CandidateStore(tmp_path, clock=clock, sync=False) for _ in range(2))
    first = seen(left)
    assert seen(right).id == first.id
    assert left.candidates() == right.candidates()
    assert seen(right).evidence_count == 3
    assert only(left).evidence_count == 3
