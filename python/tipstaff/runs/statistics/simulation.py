"""The sequential test, simulated in bulk: how often it promotes, with and without a true effect."""

from __future__ import annotations

from tipstaff.model import Record
from tipstaff.runs.statistics.intervals import wilson_interval
from tipstaff.runs.statistics.sequential import SMALLEST_EFFECT, boundaries


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
    from tipstaff.kernels.jit import simulate_sequential

    promote, reject = boundaries(alpha, SMALLEST_EFFECT, runs + 1)
    out = simulate_sequential(promote, reject, control_rate, treatment_rate, runs, min_runs, experiments, seed)
    promoted, rejected = int((out[:, 0] == 1).sum()), int((out[:, 0] == -1).sum())
    return Simulated(
        experiments=experiments,
        promoted=promoted / experiments,
        rejected=rejected / experiments,
        promoted_interval=wilson_interval(promoted, experiments),
        mean_runs=float(out[:, 1].mean()),
    )
