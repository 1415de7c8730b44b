from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.context.candidates.gates import look_back, promotion_obstacles, regression
from tipstaff.context.candidates.records import DAY_US, CandidateConfig, Evidence, decayed, periods
from tipstaff.errors import ConfigError

CONFIG = CandidateConfig()
SPANS = periods(CONFIG)
NOW = 100 * DAY_US


@dataclass
class History:
    kind: str = "WORKFLOW"
    category: str = "STRATEGY"
    score: float = 0.9
    last_us: int = NOW
    cooldown_us: int | None = None
    trial_us: int = 0
    events: list[Evidence] = field(default_factory=lambda: [Evidence(NOW, 1, 0, "a"), Evidence(NOW, 1, 0, "b")])


def obstacles(history: History, config: CandidateConfig = CONFIG) -> list[str]:
    spans = periods(config)
    return list(promotion_obstacles(history, look_back(history, NOW, config, spans), NOW, config, spans))


def test_what_is_well_proven_passes() -> None:
    assert obstacles(History()) == []


@pytest.mark.parametrize(
    ("days", "share"), [(0, 1.0), (6.9, 1.0), (7, 1.0), (37, 0.5), (67, 0.25), (22, 2**-0.5), (-5, 1.0)]
)
def test_decay(days: float, share: float) -> None:
    assert decayed(0.8, NOW - round(days * DAY_US), NOW, SPANS) == pytest.approx(0.8 * share)


@given(st.lists(st.integers(0, 40 * DAY_US), min_size=1, max_size=6))
def test_decay_does_not_depend_on_who_asks_in_between(steps: list[int]) -> None:
    now = 0
    for step in steps:
        now += step
        last = decayed(1.0, 0, now, SPANS)
    assert last == decayed(1.0, 0, sum(steps), SPANS)


@pytest.mark.parametrize(
    ("history", "reason"),
    [
        (History(kind="ANTI_PATTERN"), "never promoted"),
        (History(cooldown_us=NOW + 1), "cooldown"),
        (History(score=0.749), "score 0.749 is below 0.75"),
        (History(last_us=NOW - 20 * DAY_US), "is below 0.75"),
        (History(events=[Evidence(NOW, 2, 0, "a"), Evidence(NOW, 2, 0, "a")]), "1 of 2 independent"),
        (History(events=[Evidence(NOW - 15 * DAY_US, 1), Evidence(NOW, 1)]), "1 of 2 attempts"),
        (History(events=[Evidence(NOW, 3, 1), Evidence(NOW, 0, 0)]), "25% of the attempts failed"),
        (History(events=[Evidence(NOW - 1, 20), Evidence(NOW, 0, 3)]), "the last 3 attempts failed"),
        (History(events=[Evidence(NOW, 9, 0, "", True), Evidence(NOW, 1)]), "severe failure"),
        (History(events=[Evidence(NOW, 9, 0, note="An Anti-Pattern!"), Evidence(NOW, 1)]), "anti-pattern"),
        (History(trial_us=NOW + 1), "0 of 2 independent"),
    ],
)
def test_each_gate_says_why_it_is_shut(history: History, reason: str) -> None:
    assert any(reason in obstacle for obstacle in obstacles(history))


def test_boundaries() -> None:
    assert obstacles(History(cooldown_us=NOW)) == []
    assert obstacles(History(score=0.75)) == []
    assert obstacles(History(events=[Evidence(NOW - 14 * DAY_US, 1), Evidence(NOW, 1)])) == []
    assert obstacles(History(events=[Evidence(NOW, 4, 1), Evidence(NOW)])) == []
    assert obstacles(History(events=[Evidence(NOW - 7 * DAY_US - 1, 1, 0, "", True), Evidence(NOW, 1)])) == []


def test_categories_can_be_limited() -> None:
    config = CandidateConfig(categories=("PATTERN",))
    assert any("category STRATEGY" in obstacle for obstacle in obstacles(History(), config))


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([Evidence(NOW, 2, 2), Evidence(NOW, 0, 1)], "3 of 5 attempts failed"),
        ([Evidence(NOW, 1, 0, "", True)], "severe failure"),
        ([Evidence(NOW - 2, 9, 0), Evidence(NOW, 0, 3)], "the last 3 attempts failed"),
        ([Evidence(NOW, 0, 0, "", False, True)] * 2, "corrected it 2 times"),
        ([Evidence(NOW, 2, 2)], ""),
        ([Evidence(NOW, 1, 2)], ""),
        ([Evidence(NOW - 15 * DAY_US, 0, 9)], ""),
    ],
)
def test_regression(events: list[Evidence], reason: str) -> None:
    found = regression(look_back(History(events=events), NOW, CONFIG, SPANS), CONFIG)
    assert reason in found
    assert bool(found) == bool(reason)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("merge_similarity", 0.0),
        ("merge_similarity", 1.1),
        ("min_score", -0.1),
        ("half_life_days", 0.0),
        ("grace_days", float("nan")),
        ("retention_days", -1.0),
        ("min_evidence", 0),
    ],
)
def test_a_threshold_that_makes_no_sense_is_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=name):
        CandidateConfig(**{name: value})  # type: ignore[arg-type]
