"""One finding of a tool: where, and what is wrong."""

from __future__ import annotations

from typing import Final

from tipstaff.model import Record

MAX_FINDINGS: Final = 500
"""The most that are kept of one check."""

MAX_MESSAGE_CHARS: Final = 400


class Finding(Record, frozen=True, kw_only=True, gc=False):
    """One finding.

    Attributes
    ----------
    path
        Relative to the repository where the file is in it; empty where the tool names none.
    line, column
        One-based; 0 where the tool names none.
    message
        In one line.
    severity
        ``error``, ``warning`` or ``info``.
    code
        The tool's rule, such as ``F401`` or ``E0308``; empty where it has none.
    tool
        Whose finding it is, where the output says so.
    """

    path: str
    message: str
    line: int = 0
    column: int = 0
    severity: str = "error"
    code: str = ""
    tool: str = ""


def one_line(text: str) -> str:
    """Return a message in one line, cut where it is long."""
    plain = " ".join(text.split())
    return plain if len(plain) <= MAX_MESSAGE_CHARS else plain[: MAX_MESSAGE_CHARS - 1] + "…"
