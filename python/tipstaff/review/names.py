"""The nearest right name, for messages about a wrong one."""

from __future__ import annotations

from difflib import get_close_matches


def nearest(name: str, known: list[str] | tuple[str, ...]) -> str:
    """Return ``; did you mean 'x'?`` for the known name that is most like a wrong one, else the list of them."""
    close = get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; expected one of {', '.join(sorted(known))}" if known else ""
