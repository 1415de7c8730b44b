"""How many runs a sequential test needs, computed from the probability of reaching its limit."""

from __future__ import annotations

import math
from typing import Any, Final

from tipstaff.errors import ConfigError
from tipstaff.runs.statistics.sequential import MAX_PAIRS, SMALLEST_EFFECT, boundaries

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
