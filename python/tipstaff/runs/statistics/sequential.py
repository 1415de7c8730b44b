"""A test of one change against the baseline that may be looked at after every run.

Runs of the two arms are paired in the order in which they come, within a stratum. A pair counts where one of the two
broke the rule and the other did not; the pair is a *win* where the one with the change did not. If the change does
not lower the rate of violations, a discordant pair is a win with probability at most 1/2, whatever the rates are, so
for any ``q > 1/2`` the product of ``q / 0.5`` for wins and ``(1 - q) / 0.5`` for losses is a supermartingale that
starts at 1, and so is a mixture over several ``q``. By Ville's inequality it ever reaches ``1 / alpha`` with
probability at most ``alpha``: this is the error rate of "promote", however often one looks and whenever one stops.

"Reject" is the same test the other way round: that the odds are better than those of the smallest effect worth
having.

Sources: J. Ville, "Etude critique de la notion de collectif" (1939); A. Ramdas, P. Gruenwald, V. Vovk, G. Shafer,
"Game-theoretic statistics and safe anytime-valid inference", Statistical Science 38 (2023); Q. McNemar, Psychometrika
12 (1947) for the discordant pairs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from functools import cache
from typing import Any, Final

from tipstaff.errors import ConfigError

ARMS: Final = ("control", "treatment")
SMALLEST_EFFECT: Final = 0.10
"""The relative reduction below which a change is not worth its place in the rules."""

MAX_PAIRS: Final = 20_000
"""Discordant pairs up to which the limits are tabulated; a test that long ends as "reject"."""

_MIXTURE: Final = (0.53, 0.56, 0.59, 0.62, 0.65, 0.68, 0.72, 0.77, 0.83, 0.90, 0.96)


class SequentialTest:
    """One change (``treatment``) against the baseline (``control``), looked at after every run.

    Parameters
    ----------
    alpha
        Probability of "promote" at any time where the change does not lower the rate of violations.
    min_runs
        Runs in each arm before there is a decision.
    smallest_effect
        The change is rejected once the evidence is against a relative reduction of the odds by this share.

    Raises
    ------
    ConfigError
        A parameter is out of range.

    Examples
    --------
    >>> test = SequentialTest(min_runs=5)
    >>> for _ in range(20):
    ...     test.observe("control", True)
    ...     test.observe("treatment", False)
    >>> test.decision
    'promote'
    """

    def __init__(self, alpha: float = 0.05, min_runs: int = 30, *, smallest_effect: float = SMALLEST_EFFECT) -> None:
        _check_share("alpha", alpha)
        _check_share("smallest_effect", smallest_effect)
        if min_runs < 1:
            raise ConfigError(f"min_runs is {min_runs}; it must be 1 or more")
        self.alpha = alpha
        self.min_runs = min_runs
        self.smallest_effect = smallest_effect
        self.runs = {"control": 0, "treatment": 0}
        self.violations = {"control": 0, "treatment": 0}
        self.wins = 0
        self.discordant = 0
        self._waiting: dict[Hashable, tuple[str, list[bool]]] = {}
        self._decision = "continue"

    def observe(self, arm: str, violated: bool, *, stratum: Hashable = None) -> None:
        """Take in one run.

        Parameters
        ----------
        arm
            ``control`` or ``treatment``.
        violated
            Whether the run broke the rule.
        stratum
            Runs are paired within one: an intent, for example.

        Raises
        ------
        ConfigError
            There is no such arm. After a decision, runs are counted and change nothing.
        """
        if arm not in self.runs:
            raise ConfigError(f"arm is {arm!r}; it must be 'control' or 'treatment'")
        self.runs[arm] += 1
        self.violations[arm] += bool(violated)
        if self._decision != "continue":
            return
        waiting_arm, waiting = self._waiting.setdefault(stratum, (arm, []))
        if waiting_arm == arm or not waiting:
            if not waiting:
                self._waiting[stratum] = (arm, waiting)
            waiting.append(bool(violated))
        else:
            other = waiting.pop(0)
            control, treatment = (other, bool(violated)) if arm == "treatment" else (bool(violated), other)
            if control != treatment:
                self.discordant += 1
                self.wins += control
        self._decision = self._decide()

    @property
    def decision(self) -> str:
        """``continue``, ``promote`` (the treatment violates less) or ``reject``; it never changes once it is made."""
        return self._decision

    @property
    def evidence(self) -> float:
        """The e-value against "the change does not help": 1 says nothing, 1 / alpha is enough."""
        return math.exp(min(700.0, _log_evidence(self.wins, self.discordant)))

    @property
    def effect(self) -> float | None:
        """Relative reduction of the rate of violations, as observed; None before both arms have runs and violations."""
        if not all(self.runs.values()) or not self.violations["control"]:
            return None
        rates = [self.violations[arm] / self.runs[arm] for arm in ARMS]
        return 1 - rates[1] / rates[0]

    def _decide(self) -> str:
        if min(self.runs.values()) < self.min_runs:
            return "continue"
        if self.discordant >= MAX_PAIRS:
            return "reject"
        wins, losses = boundaries(self.alpha, self.smallest_effect, _size(self.discordant))
        if self.wins >= wins[self.discordant]:
            return "promote"
        return "reject" if self.wins <= losses[self.discordant] else "continue"

    @staticmethod
    def sample_size(
        baseline_rate: float, relative_effect: float, *, power: float = 0.8, alpha: float = 0.05, min_runs: int = 30
    ) -> int:
        """Return the runs in each arm by which a true effect is promoted with a probability of at least `power`.

        The probability is computed, not simulated: that of reaching the limit within so many discordant pairs.

        Parameters
        ----------
        baseline_rate
            Share of the control runs that break the rule, between 0 and 1.
        relative_effect
            Share of these violations that the change removes, above 0 and at most 1.
        power, alpha, min_runs
            As of the test.

        Raises
        ------
        ConfigError
            A parameter is out of range, or more than a million runs would be needed.
        """
        _check_share("baseline_rate", baseline_rate)
        _check_share("power", power)
        _check_share("alpha", alpha)
        if not 0 < relative_effect <= 1:
            raise ConfigError(f"relative_effect is {relative_effect}; it must be above 0 and at most 1")

        return runs_needed(baseline_rate, relative_effect, power, alpha, min_runs)


def boundaries(alpha: float, smallest_effect: float, size: int) -> tuple[Any, Any]:
    """Return, for each number of discordant pairs, the wins from which to promote and up to which to reject.

    Parameters
    ----------
    alpha, smallest_effect
        As of the test.
    size
        Numbers of pairs from 0 to `size` - 1.

    Returns
    -------
    tuple of numpy.ndarray
        Two int64 ``(size,)``; a limit that cannot be reached is ``size`` and -1.
    """
    return _boundaries(alpha, smallest_effect, size)


@cache
def _boundaries(alpha: float, smallest_effect: float, size: int) -> tuple[Any, Any]:
    import numpy as np

    pairs = np.arange(size)
    promote = _first_wins(pairs, np.array(_MIXTURE), 0.5, -math.log(alpha))
    odds = 1 / (1 - smallest_effect)
    least = odds / (1 + odds)
    # Wins and losses swap: against "a win is at least so likely" bet on fewer.
    bets = 1 - least + np.array(_MIXTURE) - 0.5
    losses = _first_wins(pairs, bets[bets < 1], 1 - least, -math.log(alpha))
    return promote, np.where(losses > pairs, -1, pairs - losses)


def _first_wins(pairs: Any, bets: Any, null: float, threshold: float) -> Any:
    """Return the least number of wins at which the mixture reaches a threshold, for each number of pairs."""
    import numpy as np

    low, high = np.zeros(len(pairs), dtype=np.int64), pairs + 1  # pairs + 1: not even all wins suffice
    gain, loss = np.log(bets / null), np.log((1 - bets) / (1 - null))
    while True:
        middle = (low + high) // 2
        open_ = low < high
        if not open_.any():
            return np.where(low > pairs, len(pairs), low)
        logs = middle[:, None] * gain + (pairs - middle)[:, None] * loss
        most = logs.max(axis=1)
        enough = most + np.log(np.exp(logs - most[:, None]).mean(axis=1)) >= threshold
        high = np.where(open_ & enough, middle, high)
        low = np.where(open_ & ~enough, middle + 1, low)


def _log_evidence(wins: int, pairs: int) -> float:
    logs = [wins * math.log(2 * q) + (pairs - wins) * math.log(2 * (1 - q)) for q in _MIXTURE]
    most = max(logs)
    return most + math.log(sum(math.exp(one - most) for one in logs) / len(logs))


def _size(pairs: int) -> int:
    """Return the size of the table to look in: few sizes, so that few tables are made."""
    size = 512
    while size <= pairs:
        size *= 4
    return min(size, MAX_PAIRS)


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ConfigError(f"{name} is {value}; it must be between 0 and 1")


# -- how many runs a sequential test needs, computed from the probability of reaching its limit ------------------------


MAX_RUNS: Final = 1_000_000


def runs_needed(baseline_rate: float, relative_effect: float, power: float, alpha: float, min_runs: int) -> int:
    """Return the runs in each arm; see `SequentialTest.sample_size`."""
    # The limit may be reached before `min_runs` and left again, which the computation does not see.
    power += (1 - power) / 10
    treated = baseline_rate * (1 - relative_effect)
    only_control, only_treatment = baseline_rate * (1 - treated), treated * (1 - baseline_rate)
    discordant = only_control + only_treatment
    win = only_control / discordant
    size = 512
    while True:
        reached = _reached(alpha, win, size)
        if reached[-1] >= power:
            break
        if size >= MAX_PAIRS:
            raise ConfigError(
                f"an effect of {relative_effect:.0%} at a rate of {baseline_rate:.1%} cannot be shown with "
                f"{MAX_PAIRS} discordant pairs; look for a larger effect"
            )
        size = min(4 * size, MAX_PAIRS)
    low, high = min_runs, min_runs
    while _power(high, discordant, reached) < power:
        low, high = high + 1, 2 * high
        if high > MAX_RUNS:
            raise ConfigError(
                f"an effect of {relative_effect:.0%} at a rate of {baseline_rate:.2%} takes more than {MAX_RUNS} runs"
            )
    while low < high:
        middle = (low + high) // 2
        if _power(middle, discordant, reached) >= power:
            high = middle
        else:
            low = middle + 1
    return high


def _reached(alpha: float, win: float, size: int) -> Any:
    """Return the probability that the limit was reached within so many pairs: float64 ``(size,)``.

    Exact: the distribution of the wins among the paths that have not been promoted, pair by pair.
    """
    import numpy as np

    promote, reject = boundaries(alpha, SMALLEST_EFFECT, size)
    alive = np.zeros(size + 1)
    alive[0] = 1.0
    done = np.zeros(size)
    total = 0.0
    for pairs in range(1, size):
        # In place from above: alive[k] becomes the mass at k wins after this pair.
        alive[1 : pairs + 1] = alive[1 : pairs + 1] * (1 - win) + alive[:pairs] * win
        alive[0] *= 1 - win
        limit = promote[pairs]
        if limit <= pairs:
            total += alive[limit : pairs + 1].sum()
            alive[limit : pairs + 1] = 0.0
        if reject[pairs] >= 0:
            alive[: reject[pairs] + 1] = 0.0
        done[pairs] = total
    return done


def _power(runs: int, discordant: float, reached: Any) -> float:
    """Return the probability of a promotion within so many runs in each arm: over the number of discordant pairs."""
    import numpy as np

    spread = 8 * math.sqrt(runs * discordant * (1 - discordant)) + 1
    first = max(0, int(runs * discordant - spread))
    last = min(runs, int(runs * discordant + spread) + 1)
    counts = np.arange(first, last + 1)
    logs = np.array([_log_binomial(runs, int(count), discordant) for count in counts])
    return float((np.exp(logs) * reached[np.minimum(counts, len(reached) - 1)]).sum())


def _log_binomial(trials: int, count: int, share: float) -> float:
    if share >= 1:
        return 0.0 if count == trials else -math.inf
    choose = math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(trials - count + 1)
    return choose + count * math.log(share) + (trials - count) * math.log1p(-share)
