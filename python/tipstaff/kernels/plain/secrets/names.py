"""The name around a word that was found, its parts, and what is before it; as in ``secrets/names.hpp``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tipstaff.kernels.plain.secrets.letters import LETTER, NAME, PIECE

NAME_REACH: Final = 48
"""How far a name may reach on either side of the word that was found."""

BLANKS: Final = frozenset(b" \t")


def name_start(text: bytes, start: int) -> int:
    """Return where the name begins that holds the word at `start`."""
    least = max(0, start - NAME_REACH)
    while start > least and (text[start - 1] in NAME or text[start - 1] in b"-."):
        start -= 1
    return start


def name_end(text: bytes, end: int) -> int:
    """Return where that name ends."""
    most = min(len(text), end + NAME_REACH)
    while end < most:
        byte = text[end]
        if byte in NAME or (byte in b"-." and end + 1 < most and text[end + 1] in NAME):
            end += 1
        else:
            break
    return end


def fold_name(text: bytes, start: int, end: int) -> bytes:
    """Return the whole name around a word."""
    return text[name_start(text, start) : name_end(text, end)]


def is_named_twice(text: bytes, head: int, end: int) -> bool:
    """Return whether the name stands on both sides of a sign: ``Ctrl.hexsecret = hexsecret:1c0a``."""
    sign = re.compile(rb"(?:[ \t]{1,4}+|)=[ \t]{0,4}\Z").search(text[max(0, head - 9) : head])
    size = end - head
    at = head if sign is None else head - len(sign[0])
    return sign is not None and at >= size and text[at - size : at].lower() == text[head:end].lower()


def parts_hold(name: bytes, words: Sequence[bytes]) -> bool:
    """Return whether a part of a name is one of the words; parts end at signs and where capitals begin."""
    known = set(words)
    return any(piece.lower() in known for piece in PIECE.findall(name))


def word_before(text: bytes, at: int, words: Sequence[bytes]) -> bool:
    """Return whether the word before the blanks before `at` is one of some."""
    end = at
    least = max(0, at - 8)
    while end > least and text[end - 1] in BLANKS:
        end -= 1
    if end == at:
        return False
    start = end
    least = max(0, end - 10)
    while start > least and text[start - 1] in LETTER:
        start -= 1
    return text[start:end].lower() in words


def is_macro(text: bytes, at: int) -> bool:
    """Return whether ``#define`` and blanks are before `at`."""
    end = at
    least = max(0, at - 8)
    while end > least and text[end - 1] in BLANKS:
        end -= 1
    return end < at and text[max(0, end - 7) : end] == b"#define"


def begins_line(text: bytes, start: int, head: int) -> bool:
    """Return whether only blanks are before a name on its line."""
    if text[start] in b"\r\n":
        head = start + 1
    least = max(0, head - 40)
    while head > least and text[head - 1] in BLANKS:
        head -= 1
    return head == 0 or text[head - 1] in b"\r\n"


_RESULT: Final = re.compile(rb"(?:X?PASS|[XK]?FAIL|SKIP|ERROR|UNSUPPORTED|UNTESTED|UNRESOLVED):|=====")
_TEST_FILE: Final = re.compile(rb"[a-z0-9_.+-]{1,256}/[a-z0-9_.+/-]{1,256}(?:[: \t\r\n]|\Z)")
_LINE_REACH: Final = 256


def is_test_result(text: bytes, at: int) -> bool:
    """Return whether the line of `at` is one of a report of tests.

    ``PASS: gdb.cp/pr9067.exp: print b`` names a file in small letters; any other is one beside another result.
    """
    begin = max(0, at - _LINE_REACH)
    line = text.rfind(b"\n", begin, at) + 1
    if (line == 0 and begin > 0) or not text.startswith(b"PASS: ", line):
        return False
    if _TEST_FILE.match(text, line + 6):
        return True
    following = text.find(b"\n", at, at + _LINE_REACH)
    if following >= 0 and _RESULT.match(text, following + 1):
        return True
    begin = max(0, line - 1 - _LINE_REACH)
    before = text.rfind(b"\n", begin, max(0, line - 1)) + 1
    return line > 0 and (before > 0 or begin == 0) and _RESULT.match(text, before) is not None


def is_last_word(text: bytes, at: int) -> bool:
    """Return whether all the rest of the line is one word: ``ProxyPassword x``."""
    end = at
    most = min(len(text), at + 256)
    while end < most and text[end] not in b" \t\r\n":
        end += 1
    while end < most and text[end] in BLANKS:
        end += 1
    return end == len(text) or (end < most and text[end] in b"\r\n")


def after_login(text: bytes, at: int) -> bool:
    """Return whether ``login name`` or ``machine name`` is before a word, as in .netrc."""
    return (
        re.search(rb"(?:^|\s)(?:login|machine|user|username)\s{1,4}\S{1,64}\s{1,4}\Z", text[max(0, at - 80) : at])
        is not None
    )
