"""How each rule fares: how often it was relevant, retrieved, followed, broken and put right, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from tipstaff.runs.events import RunEvent
from tipstaff.runs.statistics.intervals import wilson_interval

ALWAYS_FROM: Final = 3
"""Runs from which "always violated" says more than chance."""

_COUNTED: Final = ("relevant", "retrieved", "followed", "violated", "auto_corrected", "violations")
_ROWS: Final = 10_000


def rule_stats(events: Iterable[RunEvent] | Any, *, rule_ids: Iterable[str] = (), confidence: float = 0.95) -> Any:
    """Return one row for each rule.

    Parameters
    ----------
    events
        Runs, or the Arrow table of an export.
    rule_ids
        Rules that are in force; those that occur in no run get a row as well.
    confidence
        Of the intervals.

    Returns
    -------
    pyarrow.Table
        ``rule_id``; ``relevant``, ``retrieved``, ``followed``, ``violated``, ``auto_corrected`` (numbers of runs;
        `relevant` counts runs that name it as relevant, were given it or broke it, `followed` those that were given it
        and did not break it, `auto_corrected` those whose every violation of it was put right by the agent);
        ``violations`` (their number); ``violation_rate`` (of the relevant runs) with ``violation_low`` and
        ``violation_high``; ``followed_rate`` (of the runs that were given it) with ``followed_low``,
        ``followed_high``; ``fate``: ``dead`` (in no run), ``never-retrieved``, ``always-violated`` (three relevant
        runs or more), ``in-use``. Sorted by violations, then by id.
    """
    import pyarrow as pa

    counts: dict[str, Counter[str]] = {name: Counter() for name in _COUNTED}
    known = set(rule_ids)
    for named, given, broken, corrected in _runs(events):
        known.update(named, given, broken)
        broke, got = set(broken), set(given)
        counts["relevant"].update(got | broke | set(named))
        counts["retrieved"].update(got)
        counts["followed"].update(got - broke)
        if broken:
            left = {rule for rule, put_right in zip(broken, corrected, strict=True) if not put_right}
            counts["violated"].update(broke)
            counts["auto_corrected"].update(broke - left)
            counts["violations"].update(broken)
    rows: list[dict[str, Any]] = []
    for rule_id in sorted(known):
        relevant, retrieved, followed, violated, put_right, violations = (counts[name][rule_id] for name in _COUNTED)
        low, high = wilson_interval(violated, relevant, confidence=confidence)
        followed_low, followed_high = wilson_interval(followed, retrieved, confidence=confidence)
        rows.append(
            {
                "rule_id": rule_id, "relevant": relevant, "retrieved": retrieved, "followed": followed,
                "violated": violated, "auto_corrected": put_right, "violations": violations,
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


def _runs(
    events: Iterable[RunEvent] | Any,
) -> Iterator[tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[Any]]]:
    """Yield for each run the rules that it names as relevant, was given and broke, and which of these it put right."""
    if hasattr(events, "to_batches"):
        table: Any = events
        names = ["relevant_rule_ids", "retrieved_rule_ids", "violated_rule_ids", "auto_corrected"]
        for batch in table.select(names).to_batches(max_chunksize=_ROWS):
            columns = ([one or () for one in column.to_pylist()] for column in batch.columns)
            yield from zip(*columns, strict=True)
        return
    for event in events:
        found = event.violations
        yield (
            event.relevant_rule_ids, event.retrieved_rule_ids, [one.rule_id for one in found],
            [one.auto_corrected for one in found],
        )  # fmt: skip
