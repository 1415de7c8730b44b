"""The plain twins of `tipstaff.kernels.jit`: bulk work over columns, one run and one draw at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_MASK: Final = (1 << 64) - 1
_GOLDEN: Final = 0x9E3779B97F4A7C15


def mixed(state: int) -> int:
    """Return the finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014)."""
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
    return state ^ (state >> 31)


def bits(seed: int, number: int) -> int:
    """Return the number-th 64 bits of a seed's sequence."""
    return mixed((seed + (number + 1) * _GOLDEN) & _MASK)


def rule_counts(
    n_rules: int,
    n_runs: int,
    relevant_offsets: Sequence[int],
    relevant: Sequence[int],
    retrieved_offsets: Sequence[int],
    retrieved: Sequence[int],
    violated_offsets: Sequence[int],
    violated: Sequence[int],
    corrected: Sequence[int],
) -> list[list[int]]:
    """Count runs by rule.

    Parameters
    ----------
    n_rules, n_runs
        Rules are numbers from 0, runs are rows.
    relevant_offsets, relevant, retrieved_offsets, retrieved, violated_offsets, violated
        Run ``i`` names the rules ``relevant[relevant_offsets[i]:relevant_offsets[i + 1]]``, and so on.
    corrected
        For each entry of `violated`, whether the agent put it right.

    Returns
    -------
    list of list of int
        ``(n_rules, 6)``: runs in which the rule was relevant (named, given or broken), given, given and not broken,
        broken, broken with every violation put right; and violations.
    """
    counts = [[0] * 6 for _ in range(n_rules)]
    for run in range(n_runs):
        given = set(retrieved[retrieved_offsets[run] : retrieved_offsets[run + 1]])
        entries = range(violated_offsets[run], violated_offsets[run + 1])
        broken = {violated[at] for at in entries}
        left = {violated[at] for at in entries if not corrected[at]}
        for rule in given | broken | set(relevant[relevant_offsets[run] : relevant_offsets[run + 1]]):
            counts[rule][0] += 1
        for column, rules in enumerate((given, given - broken, broken, broken - left), start=1):
            for rule in rules:
                counts[rule][column] += 1
        for at in entries:
            counts[violated[at]][5] += 1
    return counts


def simulate_sequential(
    boundary_win: Sequence[int],
    boundary_lose: Sequence[int],
    control_rate: float,
    treatment_rate: float,
    pairs: int,
    min_runs: int,
    experiments: int,
    seed: int,
) -> list[tuple[int, int]]:
    """Simulate the sequential test.

    Parameters
    ----------
    boundary_win, boundary_lose
        For each number of discordant pairs: the wins from which to promote, and up to which to reject.
    control_rate, treatment_rate
        Probability that a run of the arm breaks the rule.
    pairs, min_runs
        Runs in each arm at the end, and before the first decision.
    experiments, seed
        How many; the same seed gives the same ones.

    Returns
    -------
    list of (int, int)
        1 promoted, -1 rejected, 0 neither; runs in each arm at the decision.
    """
    out: list[tuple[int, int]] = []
    for experiment in range(experiments):
        own_seed = mixed((seed * _GOLDEN + experiment) & _MASK)
        discordant = wins = 0
        decision, at = 0, pairs
        for pair in range(pairs):
            word = bits(own_seed, pair)
            broke = word >> 32 < int(control_rate * 2**32)
            broke_too = word & 0xFFFFFFFF < int(treatment_rate * 2**32)
            discordant += broke != broke_too
            wins += broke and not broke_too
            if pair + 1 >= min_runs and discordant < len(boundary_win):
                decision = int(wins >= boundary_win[discordant]) - int(wins <= boundary_lose[discordant])
                if decision:
                    at = pair + 1
                    break
        out.append((decision, at))
    return out
