"""How well a ranking finds the rules that a task needs: nDCG, recall, reciprocal rank, and how sure the figures are."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMES: Final = ("nDCG@5", "recall@5", "recall@10", "MRR")
_BOOTSTRAPS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Query:
    """A task, the pool it is asked of, and the grade (1 or 2) of each rule that matters, by its place in the pool."""

    pool: str
    task: str
    relevant: dict[int, int]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Pools of rules, each with the headings above it, and tasks.

    Parameters
    ----------
    name
        For tables.
    pools
        For each pool its rules.
    headings
        For each pool the heading path of each rule, outermost first, joined by " > ".
    queries
        The tasks.
    """

    name: str
    pools: dict[str, list[str]]
    headings: dict[str, list[str]]
    queries: list[Query]


def read_evaluation(path: Path) -> Evaluation:
    """Read ``{"pools": {name: [rule]}, "sections": {name: [heading path]}, "queries": [{pool, task, relevant}]}``."""
    data = json.loads(path.read_text(encoding="utf-8"))
    queries = [
        Query(one["pool"], one["task"], {int(row): grade for row, grade in one["relevant"].items()})
        for one in data["queries"]
    ]
    return Evaluation(path.stem, data["pools"], data["sections"], queries)


def innermost(path: str) -> str:
    """Return the last heading of a heading path."""
    return path.rsplit(" > ", 1)[-1]


def judge(order: Sequence[int], relevant: dict[int, int]) -> tuple[float, float, float, float]:
    """Return nDCG@5 (gain 2^grade - 1), recall@5 and recall@10 (of at most that many), and the reciprocal rank."""
    gains = [2 ** relevant.get(row, 0) - 1 for row in order[:5]]
    best = sorted((2**grade - 1 for grade in relevant.values()), reverse=True)[:5]
    found = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))
    ideal = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(best))
    recalls = [len(relevant.keys() & set(order[:k])) / min(len(relevant), k) for k in (5, 10)]
    rank = next((rank for rank, row in enumerate(order, 1) if row in relevant), None)
    return found / ideal, recalls[0], recalls[1], 1 / rank if rank else 0.0


def judge_all(evaluation: Evaluation, scores: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Return the four figures of each query, float64 (n_queries, 4), from each query's scores of its pool's rules.

    Ties go to the rule that is first, as in retrieval.
    """
    rows: list[tuple[float, float, float, float]] = []
    for query, values in zip(evaluation.queries, scores, strict=True):
        rows.append(judge(np.argsort(-values, kind="stable").tolist(), query.relevant))
    return np.array(rows)


def interval(values: NDArray[np.float64], *, seed: int = 0) -> tuple[float, float, float]:
    """Return the mean and its 95 % bootstrap interval over queries."""
    picks = np.random.default_rng(seed).integers(0, len(values), (_BOOTSTRAPS, len(values)))
    low, high = np.quantile(values[picks].mean(1), (0.025, 0.975))
    return float(values.mean()), float(low), float(high)
