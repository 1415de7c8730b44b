"""Numba kernels for bulk work over columns: compiled at first use, and cached on disk.

Importing this module imports Numba (about 0.25 s): import it inside the function that needs it. Random numbers come
from a counter-based generator of our own (SplitMix64), so results are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _compiled(function: _Function) -> _Function:
    """Return a function compiled on its first call; compiled code is kept beside this file, or in the user's cache."""
    return cast("_Function", njit(cache=True, nogil=True)(function))


@_compiled
def _mixed(state: np.uint64) -> np.uint64:
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@_compiled
def _bits(seed: np.uint64, number: np.uint64) -> np.uint64:
    """Return the number-th 64 bits of a seed's sequence."""
    return _mixed(seed + (number + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))


@_compiled
def rule_counts(
    n_rules: int,
    n_runs: int,
    relevant_offsets: Any,
    relevant: Any,
    retrieved_offsets: Any,
    retrieved: Any,
    violated_offsets: Any,
    violated: Any,
    corrected: Any,
) -> Any:
    """Count runs by rule.

    Returns
    -------
    numpy.ndarray
        int64 ``(n_rules, 6)``: runs in which the rule was relevant (named, given or broken), given, given and not
        broken, broken, broken with every violation put right; and violations.
    """
    counts = np.zeros((n_rules, 6), dtype=np.int64)
    given = np.full(n_rules, -1, dtype=np.int64)
    broken = np.full(n_rules, -1, dtype=np.int64)
    counted = np.full(n_rules, -1, dtype=np.int64)
    uncorrected = np.full(n_rules, -1, dtype=np.int64)
    for run in range(n_runs):
        for at in range(violated_offsets[run], violated_offsets[run + 1]):
            rule = violated[at]
            counts[rule, 5] += 1
            if broken[rule] != run:
                broken[rule] = run
                counts[rule, 3] += 1
                counts[rule, 4] += 1
                counted[rule] = run
                counts[rule, 0] += 1
            if corrected[at] == 0 and uncorrected[rule] != run:
                uncorrected[rule] = run
                counts[rule, 4] -= 1
        for at in range(retrieved_offsets[run], retrieved_offsets[run + 1]):
            rule = retrieved[at]
            if given[rule] == run:
                continue
            given[rule] = run
            counts[rule, 1] += 1
            if broken[rule] != run:
                counts[rule, 2] += 1
            if counted[rule] != run:
                counted[rule] = run
                counts[rule, 0] += 1
        for at in range(relevant_offsets[run], relevant_offsets[run + 1]):
            rule = relevant[at]
            if counted[rule] != run:
                counted[rule] = run
                counts[rule, 0] += 1
    return counts


@_compiled
def simulate_sequential(
    boundary_win: Any, boundary_lose: Any, control_rate: float, treatment_rate: float, pairs: int, min_runs: int,
    experiments: int, seed: int,
) -> Any:  # fmt: skip
    """Return int64 ``(experiments, 2)``: decision and runs in each arm at which it fell."""
    out = np.zeros((experiments, 2), dtype=np.int64)
    control = np.uint64(control_rate * 4294967296.0)
    treatment = np.uint64(treatment_rate * 4294967296.0)
    for experiment in range(experiments):
        own_seed = _mixed(np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(experiment))
        discordant = 0
        wins = 0
        out[experiment, 1] = pairs
        for pair in range(pairs):
            bits = _bits(own_seed, np.uint64(pair))
            broke = (bits >> np.uint64(32)) < control
            broke_too = (bits & np.uint64(0xFFFFFFFF)) < treatment
            if broke != broke_too:
                discordant += 1
                if broke:
                    wins += 1
            if pair + 1 < min_runs or discordant >= len(boundary_win):
                continue
            if wins >= boundary_win[discordant]:
                out[experiment, 0] = 1
            elif wins <= boundary_lose[discordant]:
                out[experiment, 0] = -1
            else:
                continue
            out[experiment, 1] = pair + 1
            break
    return out
