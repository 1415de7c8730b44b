"""Intervals of shares and means.

Sources: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927); the
stratified bootstrap draws within each stratum, as in B. Efron and R. Tibshirani, "An Introduction to the Bootstrap".
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, Final

from tipstaff.errors import ConfigError

_MOST_INDICES: Final = 1 << 20


def wilson_interval(successes: int, trials: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a share.

    Parameters
    ----------
    successes, trials
        Counts; no trial gives the interval (0, 1).
    confidence
        Between 0 and 1.

    Raises
    ------
    ConfigError
        The counts are negative, there are more successes than trials, or `confidence` is not between 0 and 1.
    """
    if not 0 <= successes <= trials:
        raise ConfigError(f"{successes} successes of {trials} trials; expected 0 <= successes <= trials")
    z = _quantile(confidence)
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    centre = share + z * z / (2 * trials)
    half = z * ((share * (1 - share) + z * z / (4 * trials)) / trials) ** 0.5
    scale = 1 + z * z / trials
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == trials else (centre + half) / scale
    return max(0.0, low), min(1.0, high)


def bootstrap_difference(
    control: Any, treatment: Any, control_strata: Any, treatment_strata: Any,
    *, confidence: float = 0.95, draws: int = 2000, seed: int = 0,
) -> tuple[float, float]:  # fmt: skip
    """Return the percentile interval of mean(treatment) - mean(control), drawn within strata.

    Parameters
    ----------
    control, treatment
        float64 ``(n,)`` and ``(m,)``: what was measured of each run.
    control_strata, treatment_strata
        int ``(n,)`` and ``(m,)``: the stratum (an intent) of each run, from 0 up.
    confidence, draws, seed
        The same values give the same interval.

    Raises
    ------
    ConfigError
        An arm is empty, or `confidence` is not between 0 and 1.
    """
    import numpy as np

    _quantile(confidence)
    if len(control) == 0 or len(treatment) == 0:
        raise ConfigError("both arms need at least one run")
    arms = ((control, control_strata), (treatment, treatment_strata))
    chance = np.random.default_rng(seed)
    means = [_stratified_means(np.asarray(values, float), np.asarray(strata), draws, chance) for values, strata in arms]
    tail = (1 - confidence) / 2
    low, high = np.quantile(means[1] - means[0], [tail, 1 - tail])
    return float(low), float(high)


def _stratified_means(values: Any, strata: Any, draws: int, chance: Any) -> Any:
    """Return float64 ``(draws,)``: means of samples with replacement, drawn within strata.

    A compiled loop was 3 times as fast, which is not worth Numba's start.
    """
    import numpy as np

    sums = np.zeros(draws)
    for stratum in np.unique(strata):
        group = values[strata == stratum]
        step = max(1, _MOST_INDICES // len(group))
        for start in range(0, draws, step):
            part = sums[start : start + step]
            part += group[chance.integers(0, len(group), (len(part), len(group)))].sum(axis=1)
    return sums / len(values)


def _quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence is {confidence}; it must be between 0 and 1")
    return NormalDist().inv_cdf((1 + confidence) / 2)
