"""Values in tables that a name in a cell announces: Markdown, CSV, what database clients print.

It does the same as ``secrets/cells.hpp``: the cell to the right of the name, and the column below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tipstaff.kernels.plain.secrets import letters
from tipstaff.kernels.plain.secrets.letters import LETTER, LOWER, NAME, Value, Words
from tipstaff.kernels.plain.secrets.names import parts_hold

HEADER_REACH: Final = 512
"""Bytes of a line with names of columns, at most."""

TABLE_REACH: Final = 2048
ROWS: Final = 32

_SEPARATORS: Final = frozenset(b"|\t,;")
_MARKS: Final = frozenset(b"\"'`* ")
_HEADER: Final = NAME | _MARKS | frozenset(b".-#") | frozenset(range(0x80, 0x100))
_RULES: Final = frozenset(b"-+=|: \t")
"""What lines between rows are made of: ``|---|---|``, ``+------+``."""

_RULES_ALONE: Final = frozenset(b"-+=:")


def cell_values(text: bytes, start: int, end: int, words: Words) -> Iterator[Value]:
    """Yield what the table holds for the name around ``text[start:end]``, in the order of rows; nothing without one."""
    while start < end and text[start] not in NAME and text[start] < 0x80:
        start += 1
    while end > start and text[end - 1] not in NAME and text[end - 1] < 0x80:
        end -= 1
    size = len(text)
    if end < size and text[end] in LETTER and (text[end] in LOWER or text[end - 1] not in LOWER):
        return
    least, most = max(0, start - HEADER_REACH), min(size, end + HEADER_REACH)
    left, right = start, end
    while left > least and text[left - 1] in _HEADER:
        left -= 1
    while right < most and text[right] in _HEADER:
        right += 1
    before = text[left - 1] if left > 0 else 0x0A
    after = text[right] if right < size else 0x0A
    separator = after if after in _SEPARATORS else before
    if separator not in _SEPARATORS or (before not in b"\r\n" and before != separator):
        return
    if after not in b"\r\n" and after != separator:
        return
    if b"." in text[end:right]:  # token.py,sha256=x
        return
    if right - left > 64 or (left == least and least > 0) or (right == most and most < size):
        return
    if parts_hold(text[end:right], words(letters.ABOUT_AFTER)) or parts_hold(
        text[left:start], words(letters.ABOUT_BEFORE)
    ):
        return
    if after == separator and (separator == 0x7C or before in b"\r\n"):
        value = _same_row(text, right, separator)
        if value is not None:
            yield value
    header = _header_line(text, left, right, separator)
    if header is not None:
        column, columns, end, indented = header
        yield from _below(text, end, separator, column, columns, indented=indented)


def _stripped(text: bytes, start: int, end: int) -> Value | None:
    while start < end and text[start] in _MARKS:
        start += 1
    while end > start and text[end - 1] in _MARKS:
        end -= 1
    if start < end and text[end - 1] == 0x2C and end < len(text) and text[end] in b"\r\n":  # types: | int\n| str,
        return None
    return Value(start, end, False, True, True, False, prose=True) if start < end else None


def _cell_end(text: bytes, at: int, limit: int, separator: int) -> int:
    """Return where a cell ends: separators within quotes are not its end."""
    quoted = at < limit and text[at] == 0x22
    at += quoted
    while at < limit and text[at] not in b"\r\n":
        if quoted and text[at] == 0x22:
            quoted = False
        elif not quoted and text[at] == separator:
            break
        at += 1
    return at


def _same_row(text: bytes, at: int, separator: int) -> Value | None:
    limit = min(len(text), at + HEADER_REACH)
    at += 1
    while separator == 0x7C and at < limit and text[at] == separator:  # || name || x ||
        at += 1
    if separator == 0x2C and text[at : at + 1] == b" ":  # arguments of a call
        return None
    end = _cell_end(text, at, limit, separator)
    return None if end == limit and limit < len(text) else _stripped(text, at, end)


def _header_line(text: bytes, left: int, right: int, separator: int) -> tuple[int, int, int, bool] | None:
    """Return the separators before a cell, those of its line, where it ends, and whether tabs indent it.

    None if the line does more than name.
    """
    least, most = max(0, left - HEADER_REACH), min(len(text), right + HEADER_REACH)
    column = 0
    while left > least and text[left - 1] not in b"\r\n":
        left -= 1
        column += text[left] == separator
        if text[left] != separator and text[left] not in _HEADER:
            return None
    count = column
    while right < most and text[right] not in b"\r\n":
        count += text[right] == separator
        if text[right] != separator and text[right] not in _HEADER:
            return None
        right += 1
    if separator != 0x7C and text[right - 1] == separator:  # a list over several lines
        return None
    if (left == least and least > 0) or right == most or (separator == 0x7C and _follows_row(text, left)):
        return None
    return column, count, right, separator == text[left] == 0x09


def _follows_row(text: bytes, at: int) -> bool:
    """Return whether the line before the one at `at` is a row of a table in Markdown, and no rule."""
    if at == 0 or text[at] != 0x7C:
        return False
    begin = max(0, at - 1 - HEADER_REACH)
    line = max(text.rfind(b"\n", begin, at - 1), text.rfind(b"\r", begin, at - 1)) + 1
    if line == 0 and begin > 0:
        return False
    return text[line] == 0x7C and text[line + 1] not in _RULES_ALONE


def _below(text: bytes, at: int, separator: int, column: int, columns: int, *, indented: bool) -> Iterator[Value]:
    limit = min(len(text), at + TABLE_REACH)
    for _ in range(ROWS):
        at += text[at : at + 1] == b"\r"
        if at >= limit or text[at] != 0x0A:
            return
        line = start = end = at = at + 1
        if indented and text[line : line + 1] == b"\t":  # lines of a program
            return
        count = 0
        while True:
            stop = _cell_end(text, at, limit, separator)
            if count == column:
                start, end = at, stop
            if stop >= limit or text[stop] != separator:
                break
            count += 1
            at = stop + 1
        at = stop
        if stop == limit and limit < len(text):
            return
        if all(byte in _RULES for byte in text[line:stop]) and line < stop:
            continue
        if count != columns:
            return
        value = _stripped(text, start, end)
        if value is not None:
            yield value
