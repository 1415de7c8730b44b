"""Reading the value of a name in what people write, in any language; as in ``secrets/prose.hpp``."""

from __future__ import annotations

from typing import Final

from tipstaff.kernels.plain.secrets import letters
from tipstaff.kernels.plain.secrets.assigned_values import ENDS_VALUE, VALUE_REACH, blanks, quote_at, quoted_end
from tipstaff.kernels.plain.secrets.letters import DIGIT, LETTER, LOWER, Value, Words, counts_of
from tipstaff.kernels.plain.secrets.values import stands_out

WIDE_SIGNS: Final = ("：".encode(), "＝".encode())
_ELLIPSIS: Final = "…".encode()
_OPENING: Final = tuple(mark.encode() for mark in "「『“„‘«»")


def opening(text: bytes, at: int) -> int:
    """Return what follows a quote that is not ASCII and opens."""
    return at + next((len(mark) for mark in _OPENING if text.startswith(mark, at)), 0)


_PROSE_REACH: Final = 96
_WIDE_PARENTHESES: Final = ("（".encode(), "）".encode())
_PROSE_WORDS: Final = 12
_TICK_REACH: Final = 100


def _joins(text: bytes, at: int, start: int) -> bool:
    """Return whether a byte is part of a word of prose besides letters: of ``db-01.acme.io:5432``."""
    if text[at] in DIGIT:
        return True
    following = text[at + 1 : at + 2]
    return at > start and text[at] in b"._-/@:" and following.isalnum()


def _is_plain(text: bytes, start: int, at: int) -> bool:
    """Return whether a word after a copula is no value: small letters, or a host (``password on db.acme.io is x``)."""
    word = text[start:at]
    small = all(byte in LOWER or byte in DIGIT or byte in b"._-/@:" for byte in word)
    return text[at : at + 1] == b" " and bool(word) and small and (at - start < 16 or b"." in word)


def _after_copulas(text: bytes, at: int, words: Words) -> int:
    """Return what follows the copulas after a colon: ``contraseña de root: ahora es x``."""
    for _ in range(3):
        end = at
        limit = min(len(text), at + 24)
        while end < limit and (text[end] in LETTER or text[end] >= 0x80):
            end += 1
        if text[end : end + 1] != b" " or text[at:end].lower() not in words(letters.COPULAS):
            break
        at = blanks(text, end, 4)
    return at


def prose_value(text: bytes, at: int, words: Words) -> int:
    """Return where the value begins of what people write, 0 where none does.

    ``password is x``, ``password for the jump host: x``, ``password (prod): x``, ``password -> x``. Letters of
    any language: ``contraseña del servidor es x``.
    """
    limit = min(len(text), at + _PROSE_REACH)
    if text.startswith(b"-> ", at):
        return blanks(text, at + 2, 8)
    if text[at] == 0x28:
        close = text.find(b"): ", at, limit)
        return 0 if close < 0 or b"\n" in text[at:close] else blanks(text, close + 2, 8)
    linked = False
    first = at
    for _ in range(_PROSE_WORDS):
        start = at
        while (
            at < limit
            and (text[at] in LETTER or text[at] >= 0x80 or _joins(text, at, start))
            and not text.startswith(WIDE_SIGNS, at)
        ):
            at += 1
        word = text[start:at].lower()
        if start < limit and text[start] == 0x3A and start > first:  # le mot de passe est : x
            return blanks(text, start + 1, 8) if text[start + 1 : start + 2] == b" " else 0
        if linked and word not in words(letters.COPULAS):
            if not _is_plain(text, start, at):
                return start
            linked = False
        if at == start or at >= limit:
            return 0
        if text[at] == 0x3A:
            at += 1
            return _after_copulas(text, blanks(text, at, 8), words) if text[at : at + 1] == b" " else 0
        if text[at] >= 0x80:
            return blanks(text, at + 3, 8)
        if text[at] != 0x20:
            return 0
        linked = word in words(letters.COPULAS)
        at = blanks(text, at, 4)
        if text.startswith(b"-> ", at):  # password for 10.1.2.3 -> x
            return blanks(text, at + 2, 8)
    return 0


def read_prose(text: bytes, at: int) -> Value | None:
    """Return a value in prose: a string, or up to the next blank without the signs that end a sentence.

    Letters that are not ASCII end it: they are those of the sentence, as in ``パスワードはxです``.
    """
    at = opening(text, at)
    mark = quote_at(text, at)
    if mark:
        end = quoted_end(text, at, mark)
        return Value(at + mark, end, True, True, True, True) if end > at + mark else None
    end = at
    while end < len(text) and end - at < VALUE_REACH and text[end] not in ENDS_VALUE:
        if text[end] >= 0x80 and not text.startswith(_ELLIPSIS, end):
            break
        end += 1
    while end > at and text[end - 1] in b".:?":
        end -= 1
    return Value(at, end, False, True, True, False, prose=True) if end > at else None


def joined_copula(text: bytes, at: int, words: Words) -> int:
    """Return where the value begins after a copula that a language joins to the name, 0 where none is: ``密码是x``."""
    if text.startswith(_WIDE_PARENTHESES[0], at):  # パスワード（本番）：x
        close = text.find(_WIDE_PARENTHESES[1], at, at + _TICK_REACH)
        if close < 0 or b"\n" in text[at:close]:
            return 0
        sign = next((len(one) for one in (*WIDE_SIGNS, b":") if text.startswith(one, close + 3)), 0)
        return blanks(text, close + 3 + sign, 8) if sign else 0
    sizes = [len(word) for word in words(letters.JOINED_COPULAS) if text.startswith(word, at)]
    if not sizes:
        return 0
    at = blanks(text, at + max(sizes), 4)
    at += next((len(sign) for sign in (*WIDE_SIGNS, b":") if text.startswith(sign, at)), 0)
    return blanks(text, at, 8)


def foreign_value(text: bytes, name: bytes, at: int, words: Words) -> Value | None:
    """Return the value after a word for a password that is not English, without any sign between.

    ``Kennwort x``, ``пароль x``, or later on the line in ticks: ``contraseña de root en 10.1.2.3: ahora es `x```.
    """
    if all(byte < 0x80 for byte in name) and name.lower() not in words(letters.FOREIGN_NAMES):
        return None
    value = read_prose(text, at)
    if value is None or not _is_marked(text[value.start : value.end]):
        limit = min(len(text), at + _TICK_REACH)
        while at < limit and text[at] not in b"`\r\n":
            at += 1
        if text[at : at + 1] != b"`":
            return None
        value = read_prose(text, at)
    return value if value is not None and _is_marked(text[value.start : value.end]) else None


def _is_marked(data: bytes) -> bool:
    """Return whether a word stands out as a password of letters in both cases, or with signs."""
    return len(data) >= 8 and stands_out(data, counts_of(data))
