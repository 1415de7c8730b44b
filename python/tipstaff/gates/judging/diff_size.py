"""How much an edit changes: lines, counted from what the call itself carries."""

from __future__ import annotations

import math
from typing import Any

from tipstaff.gates.fields import fields_of


def changed_lines(tool_name: str, params: Any) -> int:
    """Return how many lines a tool call changes.

    Parameters
    ----------
    tool_name
        The tool: those that write count, and shells that are handed a patch.
    params
        Its parameters. Whole files count with their lines, replacements with the lines that differ on both sides,
        patches with their added and removed lines.
    """
    from tipstaff.kernels import _gates

    return _gates.changed_lines(tool_name, [field.native() for field in fields_of(params)])


def reported_lines(diff_lines: float) -> float | None:
    """Return a number of lines that a host reported, or None if it is invalid: NaN, negative, not a number."""
    value: Any = diff_lines
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value) or value < 0:
        return None
    return value
