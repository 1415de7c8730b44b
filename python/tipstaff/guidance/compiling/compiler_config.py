"""The settings of a compilation, checked where they are made."""

from __future__ import annotations

import datetime as dt

from tipstaff.budgets import MAX_PRIORITY
from tipstaff.errors import ConfigError, require_whole_number
from tipstaff.model import RISK_CLASSES, Record


class CompilerConfig(Record, frozen=True):
    """How rule files are compiled.

    Attributes
    ----------
    max_constitution_lines
        Cap on the constitution's text, every line counted.
    default_risk_class, default_priority
        For rules that name none.
    auto_generate_ids
        Whether rules without an id get one made from their words; otherwise they are left out and reported.
    today
        The ISO date that ``from:`` and ``until:`` are compared with; None for the current day (UTC).
    """

    max_constitution_lines: int = 60
    default_risk_class: str = "medium"
    default_priority: int = 50
    auto_generate_ids: bool = True
    today: str | None = None

    def __post_init__(self) -> None:
        if self.default_risk_class not in RISK_CLASSES:
            msg = f"default_risk_class is {self.default_risk_class!r}; it must be one of {', '.join(RISK_CLASSES)}"
            raise ConfigError(msg)
        require_whole_number("max_constitution_lines", self.max_constitution_lines, 0)
        require_whole_number("default_priority", self.default_priority, 0, MAX_PRIORITY)
        if self.today is not None:
            try:
                plain = dt.date.fromisoformat(self.today).isoformat() == self.today
            except (TypeError, ValueError):
                plain = False
            if not plain:
                raise ConfigError(f"today is {self.today!r}; it must be an ISO date such as 2026-11-21")
