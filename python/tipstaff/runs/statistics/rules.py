"""How each rule fares: how often it was relevant, retrieved, followed, broken and put right, with intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tipstaff.runs.events import RunEvent
from tipstaff.runs.statistics.intervals import wilson_interval

ALWAYS_FROM: Final = 3
"""Runs from which "always violated" says more than chance."""


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
    import numpy as np
    import pyarrow as pa

    from tipstaff.kernels.jit import rule_counts
    from tipstaff.runs.ledger.columns import events_table

    given: Any = events
    table: Any = given if isinstance(given, pa.Table) else events_table(given)
    known = sorted({*rule_ids, *_ids(table)})
    codes = [
        _coded(table.column(name), known) for name in ("relevant_rule_ids", "retrieved_rule_ids", "violated_rule_ids")
    ]
    corrected = np.asarray(_flat(table.column("auto_corrected")).fill_null(False).cast(pa.uint8()))
    counts = rule_counts(len(known), table.num_rows, *codes[0], *codes[1], *codes[2], corrected)
    rows: list[dict[str, Any]] = []
    for number, rule_id in enumerate(known):
        relevant, retrieved, followed, violated, put_right, violations = (int(one) for one in counts[number])
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


def _flat(column: Any) -> Any:
    return column.combine_chunks().flatten() if column.num_chunks != 1 else column.chunk(0).flatten()


def _ids(table: Any) -> set[str]:
    import pyarrow.compute

    pc: Any = pyarrow.compute
    found: set[str] = set()
    for name in ("relevant_rule_ids", "retrieved_rule_ids", "violated_rule_ids"):
        found.update(one for one in pc.unique(_flat(table.column(name))).to_pylist() if one is not None)
    return found


def _coded(column: Any, known: list[str]) -> tuple[Any, Any]:
    """Return a list column as (offsets, numbers of rules): run i has numbers[offsets[i]:offsets[i + 1]]."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute
    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0))
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    numbers = pc.index_in(_flat(column), pa.array(known, pa.string()))
    return offsets, np.asarray(numbers.cast(pa.int64()))
