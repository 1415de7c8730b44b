from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from benchmarks.simulated_trials import simulate
from hypothesis import given
from hypothesis import strategies as st

from tests.runs.made import run_event
from tipstaff.errors import ConfigError
from tipstaff.runs import RunEvent, SequentialTest, Violation, ledger_metrics, rank_violations, rule_stats
from tipstaff.runs.statistics.metrics import bootstrap_difference, wilson_interval
from tipstaff.runs.statistics.sequential import boundaries


def broken(number: int, *rules: str, rework: int = 0, **more: Any) -> RunEvent:
    return run_event(number, violations=tuple(Violation(rule_id=rule) for rule in rules), rework_lines=rework, **more)


def test_rework_is_shared_among_the_violations_of_a_run() -> None:
    ranks = rank_violations([broken(1, "A", "B", rework=12), broken(2, rework=3), broken(3, "A", rework=7)])
    assert [(rank.rule_id, rank.frequency, rank.cost, rank.score) for rank in ranks] == [
        ("A", 2, 6.5, 13.0), ("B", 1, 6.0, 6.0),
    ]  # fmt: skip


@given(st.lists(st.tuples(st.lists(st.sampled_from("ABC"), max_size=4), st.integers(0, 50)), max_size=12))
def test_the_scores_add_up_to_the_rework_of_runs_with_violations(runs: list[tuple[list[str], int]]) -> None:
    events = [broken(number, *rules, rework=rework) for number, (rules, rework) in enumerate(runs)]
    total = sum(rework for rules, rework in runs if rules)
    assert sum(rank.score for rank in rank_violations(events)) == pytest.approx(total)


def test_violations_without_rework_count_too() -> None:
    events = [*(broken(number, "often") for number in range(9)), broken(10, "once", rework=1)]
    assert [rank.rule_id for rank in rank_violations(events)] == ["often", "once"]


def test_metrics() -> None:
    corrected = Violation(rule_id="A", auto_corrected=True)
    events = [run_event(1, violations=(corrected, Violation(rule_id="B")), rework_lines=12, clarifying_questions=2),
              run_event(2, violations=(), rework_lines=4)]  # fmt: skip
    assert ledger_metrics(events).to_dict() == {
        "violation_rate": 10.0, "self_correction_rate": 0.5, "rework_lines": 8.0, "clarifying_questions": 1.0,
        "task_count": 2,
    }  # fmt: skip
    assert ledger_metrics([]).self_correction_rate == 0.0


def test_wilson_intervals() -> None:
    # Known values: 10 of 20, and none of 10, at 95 %.
    assert wilson_interval(10, 20) == pytest.approx((0.2993, 0.7007), abs=1e-4)
    assert wilson_interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert wilson_interval(7, 7)[1] == 1.0
    with pytest.raises(ConfigError, match="3 successes of 2 trials"):
        wilson_interval(3, 2)
    with pytest.raises(ConfigError, match="confidence"):
        wilson_interval(1, 2, confidence=1.0)


@given(st.integers(1, 400), st.floats(0, 1), st.floats(0.5, 0.999))
def test_a_wilson_interval_holds_the_share_and_solves_its_equation(
    trials: int, share: float, confidence: float
) -> None:
    from statistics import NormalDist

    successes = round(trials * share)
    low, high = wilson_interval(successes, trials, confidence=confidence)
    assert 0 <= low <= successes / trials <= high <= 1
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    for bound in (low, high):
        if 0 < bound < 1:
            assert abs(successes / trials - bound) == pytest.approx(z * math.sqrt(bound * (1 - bound) / trials))


def test_rule_stats() -> None:
    events = [
        *(run_event(number, retrieved_rule_ids=("used", "bad"), relevant_rule_ids=("overlooked",),
                    violations=(Violation(rule_id="bad"),)) for number in range(4)),
        run_event(9, retrieved_rule_ids=("used",), violations=(
            Violation(rule_id="used", auto_corrected=True), Violation(rule_id="used", auto_corrected=True))),
    ]  # fmt: skip
    table = rule_stats(events, rule_ids=["dead", "used"])
    rows = {row["rule_id"]: row for row in table.to_pylist()}
    assert [row["rule_id"] for row in table.to_pylist()] == ["bad", "used", "dead", "overlooked"]
    assert {rule: row["fate"] for rule, row in rows.items()} == {
        "bad": "always-violated", "used": "in-use", "dead": "dead", "overlooked": "never-retrieved",
    }  # fmt: skip
    used = rows["used"]
    names = ("relevant", "retrieved", "followed", "violated", "auto_corrected", "violations")
    assert [used[name] for name in names] == [5, 5, 4, 1, 1, 2]
    assert used["violation_rate"] == 0.2
    assert (used["violation_low"], used["violation_high"]) == wilson_interval(1, 5)
    assert rows["dead"]["violation_rate"] is None
    assert rule_stats([]).num_rows == 0


def test_rule_stats_of_an_exported_table() -> None:
    from tipstaff.runs.ledger.columns import events_table

    events = [run_event(number) for number in range(30)]
    assert rule_stats(events_table(events)).equals(rule_stats(events))


def test_bootstrap_of_a_difference() -> None:
    chance = random.Random(4)
    control = [chance.gauss(10, 2) for _ in range(200)]
    treatment = [chance.gauss(8, 2) for _ in range(200)]
    strata = [number % 3 for number in range(200)]
    low, high = bootstrap_difference(control, treatment, strata, strata, seed=1)
    assert -2.6 < low < -1.9 < high < -1.2
    assert (low, high) == bootstrap_difference(control, treatment, strata, strata, seed=1)
    with pytest.raises(ConfigError, match="both arms"):
        bootstrap_difference([], treatment, [], strata)


# -- the sequential test -----------------------------------------------------------------------------------------------


def observed(test: SequentialTest, control: float, treatment: float, runs: int, seed: int) -> str:
    chance = random.Random(seed)
    for _ in range(runs):
        test.observe("control", chance.random() < control)
        test.observe("treatment", chance.random() < treatment)
        if test.decision != "continue":
            break
    return test.decision


def test_a_clear_change_is_promoted_and_a_harmful_one_rejected() -> None:
    assert observed(SequentialTest(), 0.6, 0.1, 300, 1) == "promote"
    assert observed(SequentialTest(), 0.2, 0.6, 300, 1) == "reject"
    test = SequentialTest()
    assert (test.decision, test.evidence, test.effect) == ("continue", 1.0, None)
    for _ in range(29):
        test.observe("treatment", False)
        test.observe("control", True)
    assert test.decision == "continue", "not before both arms have 30 runs"
    test.observe("control", True)
    assert test.decision == "continue"
    test.observe("treatment", False)
    assert (test.decision, test.effect) == ("promote", 1.0)
    for _ in range(500):
        test.observe("treatment", True)
    assert test.decision == "promote", "a decision that is made stays"


def test_no_arm_alone_decides() -> None:
    test = SequentialTest(min_runs=1)
    for _ in range(1000):
        test.observe("treatment", False)
    assert (test.decision, test.evidence) == ("continue", 1.0)
    with pytest.raises(ConfigError, match="arm is 'other'"):
        test.observe("other", True)


def test_runs_are_paired_within_their_stratum() -> None:
    test = SequentialTest(min_runs=1)
    test.observe("control", True, stratum="feature")
    test.observe("treatment", False, stratum="docs")
    assert test.discordant == 0
    test.observe("treatment", False, stratum="feature")
    test.observe("control", False, stratum="docs")
    assert (test.discordant, test.wins) == (1, 1)


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5, 0.8])
def test_without_an_effect_at_most_one_in_twenty_is_promoted(rate: float) -> None:
    """Ten thousand experiments, looked at after every pair of runs, far beyond the sample that is stated."""
    found = simulate(rate, rate, runs=3000, experiments=10_000, seed=11)
    assert found.promoted <= 0.05


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.8])
def test_a_true_effect_is_promoted_within_the_stated_sample(rate: float) -> None:
    runs = SequentialTest.sample_size(rate, 0.3)
    found = simulate(rate, 0.7 * rate, runs=runs, experiments=10_000, seed=12)
    assert found.promoted_interval[1] >= 0.80
    assert found.promoted >= 0.795
    assert found.mean_runs < 0.7 * runs, "most experiments end earlier"
    assert found.rejected < 0.05


def test_a_change_for_the_worse_is_never_promoted_more_often() -> None:
    assert simulate(0.3, 0.4, runs=2000, seed=3).promoted < 0.01


def test_the_object_decides_as_the_simulation_does() -> None:
    decisions = {"promote": 0, "reject": 0, "continue": 0}
    for seed in range(200):
        decisions[observed(SequentialTest(), 0.5, 0.3, 250, seed)] += 1
    expected = simulate(0.5, 0.3, runs=250, experiments=10_000).promoted
    assert abs(decisions["promote"] / 200 - expected) < 0.1


def test_sample_sizes() -> None:
    assert SequentialTest.sample_size(0.5, 0.9) < SequentialTest.sample_size(0.5, 0.3)
    assert SequentialTest.sample_size(0.3, 0.3, power=0.9) > SequentialTest.sample_size(0.3, 0.3)
    assert SequentialTest.sample_size(0.3, 0.3, alpha=0.01) > SequentialTest.sample_size(0.3, 0.3)
    assert SequentialTest.sample_size(0.9, 1.0) >= 30
    for arguments in ((0.0, 0.3), (1.0, 0.3), (0.3, 0.0), (0.3, 1.5)):
        with pytest.raises(ConfigError):
            SequentialTest.sample_size(*arguments)
    with pytest.raises(ConfigError, match=r"cannot be shown|more than"):
        SequentialTest.sample_size(0.001, 0.01)
    for wrong in ({"alpha": 0.0}, {"min_runs": 0}, {"smallest_effect": 1.0}):
        with pytest.raises(ConfigError):
            SequentialTest(**wrong)  # type: ignore[arg-type]


@given(st.integers(1, 400), st.sampled_from([0.01, 0.05, 0.1]))
def test_the_limits_are_those_of_the_evidence(pairs: int, alpha: float) -> None:
    promote, reject = boundaries(alpha, 0.1, 512)
    test = SequentialTest(alpha)
    test.discordant = pairs
    test.wins = int(min(promote[pairs], pairs))
    assert (test.evidence >= 1 / alpha * (1 - 1e-9)) == (promote[pairs] <= pairs)
    test.wins = min(int(promote[pairs]) - 1, pairs)
    assert test.evidence < 1 / alpha
    assert reject[pairs] < promote[pairs]
    assert np.all(np.diff(reject) >= 0)
