"""How each rule fares: how often it was relevant, retrieved, followed, broken and put right, with intervals.

One pass over the runs gathers all that tables, ranking and optimizer need of them, in memory that grows with the rules.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from tipstaff.runs.events import RunEvent, Violation
from tipstaff.runs.statistics.intervals import wilson_interval
from tipstaff.runs.statistics.metrics import ViolationRank

ALWAYS_FROM: Final = 3
"""Runs from which "always violated" says more than chance."""

MOST_TASKS: Final = 500
"""Of each rule so many tasks are kept, those of the latest runs that broke it."""

_MOST_DESCRIPTIONS: Final = 1_000
_ROWS: Final = 10_000


class RunRow(msgspec.Struct, frozen=True, gc=False):
    """What figures about rules need of a run; attributes as of `RunEvent`."""

    retrieved_rule_ids: tuple[str, ...] = ()
    relevant_rule_ids: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    rework_lines: int = 0
    task: str = ""


class RuleUses:
    """What runs say of each rule.

    Attributes
    ----------
    runs
        How many there were.
    relevant, retrieved, broken, broken_without, corrected
        Runs by rule: that name it as relevant, were given it or broke it; were given it; broke it; broke it without
        having been given it; put each of their violations of it right.
    violations, rework
        Violations of each rule, and the lines of rework that they are charged with: a run's are shared evenly among its
        violations.
    descriptions, tasks
        Of the violations, how often each; of the latest runs that broke the rule.
    """

    def __init__(self, runs: Iterable[RunEvent | RunRow] = ()) -> None:
        self.runs = 0
        self.relevant, self.retrieved, self.broken = Counter[str](), Counter[str](), Counter[str]()
        self.broken_without, self.corrected, self.violations = Counter[str](), Counter[str](), Counter[str]()
        self.rework: dict[str, float] = {}
        self.descriptions: dict[str, Counter[str]] = {}
        self.tasks: dict[str, deque[str]] = {}
        for run in runs:
            self.add(run)

    def add(self, run: RunEvent | RunRow) -> None:
        """Take in a run."""
        self.runs += 1
        given, named = run.retrieved_rule_ids, run.relevant_rule_ids
        self.retrieved.update(given)
        if not run.violations and not named:
            self.relevant.update(given)
            return
        got, broke = set(given), {one.rule_id for one in run.violations}
        self.relevant.update(got | broke | set(named))
        self.broken.update(broke)
        self.broken_without.update(broke - got)
        self.corrected.update(broke - {one.rule_id for one in run.violations if not one.auto_corrected})
        for rule in broke:
            tasks = self.tasks.setdefault(rule, deque(maxlen=MOST_TASKS))
            if run.task and run.task not in tasks:
                tasks.append(run.task)
        for one in run.violations:
            self.violations[one.rule_id] += 1
            self.rework[one.rule_id] = self.rework.get(one.rule_id, 0.0) + run.rework_lines / len(run.violations)
            texts = self.descriptions.setdefault(one.rule_id, Counter())
            if one.description.strip() and (one.description in texts or len(texts) < _MOST_DESCRIPTIONS):
                texts[one.description] += 1

    def ranking(self) -> tuple[ViolationRank, ...]:
        """Return the rules that were broken, the most expensive first; see `rank_violations`."""
        ranks = [
            ViolationRank(rule, count, self.rework[rule] / count, self.rework[rule])
            for rule, count in self.violations.items()
        ]
        return tuple(sorted(ranks, key=lambda rank: -(rank.score + rank.frequency)))


def rank_violations(events: Iterable[RunEvent]) -> tuple[ViolationRank, ...]:
    """Return the rules that were broken, the most expensive first.

    A run's rework is shared evenly among its violations, so the scores of all rules add up to the rework of the runs
    that broke any. The order is by score, each violation counted as one line more, so that a rule that is broken often
    without rework is not below one that was broken once; ties are in order of first appearance.
    """
    return RuleUses(events).ranking()


def rule_stats(events: Iterable[RunEvent | RunRow] | Any, *, rule_ids: Iterable[str] = ()) -> Any:
    """Return one row for each rule.

    Parameters
    ----------
    events
        Runs, or the Arrow table of an export.
    rule_ids
        Rules that are in force; those that occur in no run get a row as well.

    Returns
    -------
    pyarrow.Table
        ``rule_id``; ``relevant``, ``retrieved``, ``followed``, ``violated``, ``auto_corrected`` (numbers of runs;
        `relevant` counts runs that name it as relevant, were given it or broke it, `followed` those that were given it
        and did not break it, `auto_corrected` those whose every violation of it was put right by the agent);
        ``violations`` (their number); ``violation_rate`` (of the relevant runs) with ``violation_low`` and
        ``violation_high``; ``followed_rate`` (of the runs that were given it) with ``followed_low``,
        ``followed_high``; ``fate``: ``dead`` (in no run), ``never-retrieved``, ``always-violated`` (three relevant
        runs or more), ``in-use``. Sorted by violations, then by id. Intervals are those of 95 %.
    """
    import pyarrow as pa

    uses = RuleUses(_rows(events) if hasattr(events, "to_batches") else events)
    rows: list[dict[str, Any]] = []
    for rule in sorted({*rule_ids, *uses.relevant}):
        relevant, retrieved, violated = uses.relevant[rule], uses.retrieved[rule], uses.broken[rule]
        followed = retrieved - violated + uses.broken_without[rule]
        low, high = wilson_interval(violated, relevant)
        followed_low, followed_high = wilson_interval(followed, retrieved)
        rows.append(
            {
                "rule_id": rule, "relevant": relevant, "retrieved": retrieved, "followed": followed,
                "violated": violated, "auto_corrected": uses.corrected[rule], "violations": uses.violations[rule],
                "violation_rate": violated / relevant if relevant else None,
                "violation_low": low, "violation_high": high,
                "followed_rate": followed / retrieved if retrieved else None,
                "followed_low": followed_low, "followed_high": followed_high,
                "fate": _fate(relevant, retrieved, violated),
            }
        )  # fmt: skip
    rows.sort(key=lambda row: (-row["violations"], row["rule_id"]))
    whole, share = pa.int64(), pa.float64()
    kinds = {"rule_id": pa.string(), "fate": pa.string()} | dict.fromkeys(
        ("relevant", "retrieved", "followed", "violated", "auto_corrected", "violations"), whole
    )
    names = (
        "rule_id", "relevant", "retrieved", "followed", "violated", "auto_corrected", "violations", "violation_rate",
        "violation_low", "violation_high", "followed_rate", "followed_low", "followed_high", "fate",
    )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, kinds.get(name, share)) for name in names]))


def _fate(relevant: int, retrieved: int, violated: int) -> str:
    if relevant == 0:
        return "dead"
    if violated == relevant and relevant >= ALWAYS_FROM:
        return "always-violated"
    return "in-use" if retrieved else "never-retrieved"


def _rows(table: Any) -> Iterator[RunRow]:
    """Yield the runs of an export's table."""
    names = ["retrieved_rule_ids", "relevant_rule_ids", "violated_rule_ids", "auto_corrected"]
    for batch in table.select(names).to_batches(max_chunksize=_ROWS):
        columns = ([one or () for one in column.to_pylist()] for column in batch.columns)
        for given, named, broken, corrected in zip(*columns, strict=True):
            found = zip(broken, corrected, strict=True)
            violations = tuple(Violation(rule_id=rule, auto_corrected=is_right) for rule, is_right in found)
            yield RunRow(tuple(given), tuple(named), violations)
