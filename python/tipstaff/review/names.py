"""Values of configurations: the nearest right name for a wrong one, and lists of texts."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import cast

from tipstaff.errors import ConfigError


def text_list(value: object, where: str, what: str = "texts") -> tuple[str, ...]:
    """Return a list of texts of a configuration, empty for None.

    Raises
    ------
    ConfigError
        If it is anything else; a text is not a list of texts.
    """
    entries = cast("Sequence[object]", value) if isinstance(value, list | tuple) else None
    if value is not None and (entries is None or not all(isinstance(entry, str) for entry in entries)):
        raise ConfigError(f"{where} must be a list of {what}, got {value!r}")
    return tuple(str(entry) for entry in entries or ())


def nearest(name: str, known: list[str] | tuple[str, ...]) -> str:
    """Return ``; did you mean 'x'?`` for the known name that is most like a wrong one, else the list of them."""
    close = get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; expected one of {', '.join(sorted(known))}" if known else ""
