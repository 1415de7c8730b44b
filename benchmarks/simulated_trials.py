"""The sequential test, simulated in bulk: how often it promotes, with and without a true effect."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tipstaff.model import Record
from tipstaff.runs.statistics.intervals import wilson_interval
from tipstaff.runs.statistics.sequential import SMALLEST_EFFECT, boundaries

_AT_ONCE: Final = 500


class Simulated(Record, frozen=True):
    """What became of many experiments.

    Attributes
    ----------
    promoted, rejected
        Shares of the experiments.
    promoted_interval
        Wilson interval of the share promoted.
    mean_runs
        Mean runs in each arm at the decision, or at the end.
    """

    experiments: int
    promoted: float
    rejected: float
    promoted_interval: tuple[float, float]
    mean_runs: float


def simulate(
    control_rate: float, treatment_rate: float, *, runs: int, alpha: float = 0.05, min_runs: int = 30,
    experiments: int = 10_000, seed: int = 1,
) -> Simulated:  # fmt: skip
    """Run many experiments of one pair after the other, looked at after every pair.

    Parameters
    ----------
    control_rate, treatment_rate
        Probability that a run of the arm breaks the rule.
    runs
        Runs in each arm after which an experiment ends.
    alpha, min_runs
        As of the test.
    experiments, seed
        The same values give the same result.
    """
    promote, reject = boundaries(alpha, SMALLEST_EFFECT, runs + 1)
    chance = np.random.default_rng(seed)
    late = np.arange(runs) >= min_runs - 1
    parts: list[Any] = []
    for start in range(0, experiments, _AT_ONCE):
        shape = (min(_AT_ONCE, experiments - start), runs)
        control, treatment = chance.random(shape) < control_rate, chance.random(shape) < treatment_rate
        discordant, wins = np.cumsum(control != treatment, axis=1), np.cumsum(control & ~treatment, axis=1)
        won, lost = (wins >= promote[discordant]) & late, (wins <= reject[discordant]) & late
        ended = won | lost
        at = np.where(ended.any(axis=1), ended.argmax(axis=1), runs - 1)
        rows = np.arange(shape[0])
        parts.append(np.column_stack([won[rows, at].astype(int) - lost[rows, at], at + 1]))
    out = np.concatenate(parts)
    promoted, rejected = int((out[:, 0] == 1).sum()), int((out[:, 0] == -1).sum())
    return Simulated(
        experiments=experiments,
        promoted=promoted / experiments,
        rejected=rejected / experiments,
        promoted_interval=wilson_interval(promoted, experiments),
        mean_runs=float(out[:, 1].mean()),
    )
