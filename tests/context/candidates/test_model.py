"""Random histories against a slow model in plain Python that knows nothing of logs, indexes or batches."""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.context.candidates.clock import START, Clock
from tipstaff.context.candidates.store import CandidateStore
from tipstaff.context.candidates.texts import jaccard

DAY = timedelta(days=1)
WORDS = ["alpha", "beta", "gamma", "delta", "日本", "été"]
CONTENTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
KINDS = ["WORKFLOW", "PREFERENCE", "ANTI_PATTERN"]


@dataclass
class Event:
    at: datetime
    good: int
    bad: int
    source: str
    severe: bool
    conflict: bool


@dataclass
class Model:
    id: str
    kind: str
    tool: str
    content: str
    base: float
    events: list[Event]
    state: str = "SHADOW"
    cooldown: datetime | None = None
    trial: datetime = START - 9999 * DAY
    count: int = 1
    archived: bool = field(default=False)

    @property
    def last(self) -> datetime:
        return max(event.at for event in self.events)

    def score(self, now: datetime) -> float:
        idle = max(0.0, (now - self.last) / DAY - 7)
        return self.base * 0.5 ** (idle / 30)

    def tried(self) -> list[Event]:
        return sorted((event for event in self.events if event.at > self.trial), key=lambda event: event.at)

    def recent(self, now: datetime) -> list[Event]:
        return [event for event in self.tried() if event.at >= now - 14 * DAY]

    def severe(self, now: datetime) -> bool:
        return any(event.severe and event.at >= now - 7 * DAY for event in self.tried())

    def in_a_row(self, now: datetime) -> int:
        count = 0
        for event in reversed(self.recent(now)):
            if event.good:
                break
            count += event.bad
        return count

    def independent(self) -> int:
        events = self.tried()
        return len({event.source for event in events if event.source}) + sum(not event.source for event in events)

    def may_rise(self, now: datetime) -> bool:
        good, bad = (sum(getattr(event, name) for event in self.recent(now)) for name in ("good", "bad"))
        return (
            self.kind != "ANTI_PATTERN"
            and (self.cooldown is None or self.cooldown <= now)
            and self.independent() >= 2
            and self.score(now) >= 0.75
            and good + bad >= 2
            and bad / (good + bad) <= 0.2
            and self.in_a_row(now) < 3
            and not self.severe(now)
        )

    def must_fall(self, now: datetime) -> bool:
        good, bad = (sum(getattr(event, name) for event in self.recent(now)) for name in ("good", "bad"))
        conflicts = sum(event.conflict and not event.good for event in self.recent(now))
        return (
            self.severe(now)
            or self.in_a_row(now) >= 3
            or (good + bad >= 4 and bad / (good + bad) >= 0.6)
            or conflicts >= 2
        )


class Histories(RuleBasedStateMachine):
    """The store, reopened, compacted and shared as it comes, beside a list of models."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "c.jsonl"
        self.clock = Clock()
        self.stores = [CandidateStore(self.path, clock=self.clock, sync=False) for _ in range(2)]
        self.models: list[Model] = []

    @rule(
        which=st.integers(0, 1),
        content=CONTENTS,
        kind=st.sampled_from(KINDS),
        tool=st.sampled_from(["general", "bash"]),
        score=st.sampled_from([0.1, 0.7, 0.8, 0.9, 1.0]),
        good=st.integers(0, 3),
        bad=st.integers(0, 3),
        source=st.sampled_from(["", "s1", "s2"]),
        severe=st.booleans(),
        conflict=st.booleans(),
        days_ago=st.sampled_from([0, 0, 0, 0, 1, 20, 29, 45]),
    )
    def observe(
        self,
        which: int,
        content: str,
        kind: str,
        tool: str,
        score: float,
        good: int,
        bad: int,
        source: str,
        severe: bool,
        conflict: bool,
        days_ago: int,
    ) -> None:
        at = self.clock.now - days_ago * DAY
        severe, conflict = severe and bad > 1, conflict and bad > 0
        found = self.stores[which].upsert(
            {
                "content": content,
                "kind": kind,
                "tool_tag": tool,
                "score": score,
                "success_delta": good,
                "failure_delta": bad,
                "source_ref": source,
                "severe_failure": severe,
                "correction_conflict": conflict,
                "occurred_at": at,
            }
        )
        event = Event(at, good, bad, source, severe, conflict)
        near = [
            model
            for model in self.models
            if (model.kind, model.tool) == (kind, tool)
            and model.state != "ARCHIVED"
            and abs(model.last - at) <= 30 * DAY
            and jaccard(model.content, content) >= 0.5
        ]
        if not near:
            assert found.id not in {model.id for model in self.models}
            self.models.append(Model(found.id, kind, tool, content, score, [event]))
            return
        best = max(near, key=lambda model: jaccard(model.content, content))  # the first of equals
        assert found.id == best.id
        weight = min(best.count, 20)
        best.base = (best.base * weight + score) / (weight + 1)
        best.count += 1
        best.events.append(event)

    @precondition(lambda self: self.models)
    @rule(which=st.integers(0, 1), data=st.data(), good=st.booleans(), severe=st.booleans())
    def outcome(self, which: int, data: st.DataObject, good: bool, severe: bool) -> None:
        model = data.draw(st.sampled_from(self.models))
        severe = severe and not good
        self.stores[which].record_outcome(model.id, success=good, severe_failure=severe)
        model.base = min(1.0, max(0.0, model.base + (0.02 if good else -0.05)))
        model.count += 1
        model.events.append(Event(self.clock.now, int(good), int(not good), "", severe, False))

    @rule(which=st.integers(0, 1))
    def evaluate(self, which: int) -> None:
        now = self.clock.now
        moves = [
            (move.candidate_id, str(move.from_state), None if move.to_state is None else str(move.to_state))
            for move in self.stores[which].evaluate_all()
        ]
        expected: list[tuple[str, str, str | None]] = []
        warnings = [
            model
            for model in self.models
            if model.kind == "ANTI_PATTERN"
            and model.state not in {"DEMOTED", "ARCHIVED"}
            and now - model.last <= 30 * DAY
            and model.independent() >= 2
            and model.score(now) >= 0.75
        ]
        for model in list(self.models):
            if now - model.last > 90 * DAY:
                expected.append((model.id, model.state, None))
                self.models.remove(model)
                continue
            path = [model.state]
            if model.state == "DEMOTED" and (model.cooldown is None or model.cooldown <= now):
                model.cooldown = None
                path.append("SHADOW")
            if path[-1] == "SHADOW":
                warned = any(
                    model.tool == other.tool and jaccard(model.content, other.content) >= 0.3 for other in warnings
                )
                if model.may_rise(now) and not warned:
                    model.cooldown = None
                    path.append("PROMOTED")
            elif model.state in {"PROMOTED", "IN_USE"}:
                if model.must_fall(now):
                    path.append("DEMOTED")
                elif model.score(now) < 0.75:
                    path.append("ARCHIVED" if model.state == "IN_USE" and model.base >= 0.75 else "DEMOTED")
                if path[-1] == "DEMOTED":
                    model.cooldown, model.trial = now + 3 * DAY, now
            expected += [(model.id, before, after) for before, after in itertools.pairwise(path)]
            model.state = path[-1]
        assert moves == expected

    @rule(which=st.integers(0, 1))
    def use(self, which: int) -> None:
        self.stores[which].mark_used([model.id for model in self.models])
        for model in self.models:
            if model.state == "PROMOTED":
                model.state = "IN_USE"

    @rule(days=st.sampled_from([0.01, 1, 3, 6, 10, 31, 60, 91]))
    def wait(self, days: float) -> None:
        self.clock.advance(days=days)

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        self.stores[which].close()
        self.stores[which] = CandidateStore(self.path, clock=self.clock, sync=False)
        assert self.stores[which].incidents == ()

    @invariant()
    def both_stores_hold_what_the_models_say(self) -> None:
        if not hasattr(self, "models"):
            return
        now = self.clock.now
        left, right = (store.candidates() for store in self.stores)
        assert left == right
        known = [model for model in self.models if now - model.last <= 90 * DAY]
        assert [found.id for found in left] == [model.id for model in known]
        for found, model in zip(left, known, strict=True):
            assert found.state == model.state
            assert abs(found.score - model.score(now)) < 1e-9
            assert found.evidence_count == model.count
            assert found.success_count == sum(event.good for event in model.events)
            assert found.last_seen_at == model.last
            assert found.cooldown_until == model.cooldown

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            for store in self.stores:
                store.close()
            self.folder.cleanup()


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
