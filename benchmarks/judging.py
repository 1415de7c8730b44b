"""How a bar is judged: a measured figure, what is required of it, and what to do when it misses by a hair.

A figure that misses by less than `NOISE` is measured again three times, and the median of all four is judged: a busy
machine does not fail a bar that holds, and no figure is tried again until it happens to pass.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tipstaff import budgets

NOISE: Final = 0.10
AGAIN: Final = 3


@dataclass
class Row:
    """One line of the table.

    Attributes
    ----------
    name
        What is measured, with its unit.
    budget
        Name in `tipstaff.budgets` of what is required; None where `required` is a figure of its own.
    measured
        All measurements in order; empty if it was not measured.
    at_most
        Whether `required` is an upper bound.
    remark
        What a reader should know beside the figure; why it was not measured.
    """

    name: str
    budget: str | None
    measured: list[float]
    at_most: bool
    remark: str = ""
    required: float = field(default=0.0)

    def __post_init__(self) -> None:
        if self.budget is not None:
            self.required = float(getattr(budgets, self.budget))

    @property
    def value(self) -> float | None:
        """The figure that is judged: the median of the measurements."""
        return statistics.median(self.measured) if self.measured else None

    @property
    def holds(self) -> bool:
        """Whether the bar was measured and holds."""
        value = self.value
        return value is not None and (value <= self.required if self.at_most else value >= self.required)

    @property
    def nearly(self) -> bool:
        """Whether it was measured and misses by less than `NOISE`."""
        value = self.value
        if value is None or self.holds:
            return False
        return value < self.required * (1 + NOISE) if self.at_most else value > self.required * (1 - NOISE)

    @property
    def verdict(self) -> str:
        """``holds``, ``MISSED`` or ``not measured``."""
        return "holds" if self.holds else "MISSED" if self.measured else "not measured"

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        return {
            "name": self.name,
            "budget": self.budget,
            "required": self.required,
            "at_most": self.at_most,
            "measured": self.value,
            "measurements": self.measured,
            "verdict": self.verdict,
            "remark": self.remark,
        }


def measured_rows(measure: Callable[[], Sequence[Row]]) -> list[Row]:
    """Measure a group of bars; again, three times, if one of them misses by less than `NOISE`.

    Raises
    ------
    RuntimeError
        If a later measurement yields other bars than the first.
    """
    rows = list(measure())
    doubtful = [row for row in rows if row.nearly]
    if not doubtful:
        return rows
    for _ in range(AGAIN):
        again = {row.name: row for row in measure()}
        if again.keys() != {row.name for row in rows}:
            msg = f"measured again, {sorted(row.name for row in rows)} became {sorted(again)}"
            raise RuntimeError(msg)
        for row in doubtful:
            row.measured += again[row.name].measured
    for row in doubtful:
        values = ", ".join(figure(value) for value in row.measured)
        row.remark = "; ".join(filter(None, (row.remark, f"median of {len(row.measured)}: {values}")))
    return rows


def figure(value: float) -> str:
    """Return a number with three or four significant digits."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def table(rows: Sequence[Row]) -> list[str]:
    """Return the lines of the table."""
    width = max(len(row.name) for row in rows)
    lines = [f"{'bar':{width}}  {'measured':>9}  {'required':>9}  verdict"]
    for row in rows:
        value = row.value
        required = f"{'<=' if row.at_most else '>='} {row.required:g}"
        line = f"{row.name:{width}}  {'-' if value is None else figure(value):>9}  {required:>9}  {row.verdict}"
        lines.append(f"{line}: {row.remark}" if row.remark else line)
    return lines
