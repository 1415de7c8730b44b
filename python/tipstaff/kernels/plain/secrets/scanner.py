"""The secrets scanner in plain Python: each rule for itself over the whole text.

What ``secrets.hpp`` does in one walk is here rule by rule, with :mod:`re`. Both read the same table, whose layout
`tipstaff.kernels.formats.secret_table` describes.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tipstaff.kernels.formats.secret_table import (
    ANYWHERE,
    ASSIGN,
    NAMED,
    NO_STOPS,
    REPEATS_FINE,
    SHAPE,
    URL,
    WARY,
)
from tipstaff.kernels.plain.secrets import encodings, letters, values
from tipstaff.kernels.plain.secrets.addresses import address_password_holds, addresses
from tipstaff.kernels.plain.secrets.assignments import assignment
from tipstaff.kernels.plain.secrets.cells import cell_values
from tipstaff.kernels.plain.secrets.names import fold_name, is_test_result
from tipstaff.kernels.plain.secrets.table import Rule, Table, opened
from tipstaff.kernels.plain.secrets.vectors import is_near_vectors

_DIGIT, _UPPER, _LOWER, _LETTER = 1, 2, 4, 8
_BASE62: Final = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CONTEXT_BEFORE: Final = 200
_CONTEXT_AFTER: Final = 64
_PEM_BODY: Final = 32768


class Found(NamedTuple):
    """One match: bytes of the secret, and of how much weight it is."""

    rule: int
    start: int
    end: int
    priority: int


def holds_checksum(token: bytes, kind: int) -> bool:
    """Return whether a token ends in the checksum of the rest: 1 six base-62 digits, 2 eight hexadecimal ones."""
    if kind == 1:
        number = 0
        for byte in token[-6:]:
            digit = _BASE62.find(byte)
            if digit < 0:
                return False
            number = number * 62 + digit
        return number == zlib.crc32(token[token.find(b"_") + 1 : -6])
    body, _, digits = token.rpartition(b"_")
    return digits.lower() == b"%08x" % zlib.crc32(body)


def _decoded(data: bytes) -> bytes:
    data = data.rstrip(b"=")
    if len(data) % 4 == 1:
        data = data[:-1]
    try:
        return base64.b64decode(data + b"=" * (-len(data) % 4))
    except binascii.Error:  # pragma: no cover - the shape holds base64 alone
        return b""


def says_pair(data: bytes, table: Table) -> bool:
    """Return whether base64 says a name, a colon and a password that is no placeholder."""
    text = _decoded(data[:400])
    name, colon, password = text.partition(b":")
    if not colon or len(password) < 4 or not all(0x20 <= byte < 0x7F for byte in text):
        return False
    return address_password_holds(password, name, table)


_MOST_MNEMONIC: Final = 256
_WORD: Final = re.compile(rb"[a-z]+")


def _is_mnemonic(secret: bytes, table: Table) -> bool:
    """Return whether all words are of the list of BIP 39, no sample of documents and no part of the list itself."""
    found = _WORD.findall(secret.lower())
    joined = b" ".join(found)
    if len(joined) >= _MOST_MNEMONIC or letters.holds_any(joined, table.words(letters.WALLET_SAMPLES)):
        return False
    return set(found) <= set(table.words(letters.WALLET_WORDS)) and sorted(found) != found


def _shape_holds(table: Table, rule: Rule, text: bytes, secret: bytes, span: tuple[int, int], *, wary: bool) -> bool:
    """Return whether a secret of the right shape is one by what it is made of."""
    counts = letters.counts_of(secret)
    need = rule.need
    if (
        (need & _DIGIT and not counts.digit)
        or (need & _UPPER and not counts.upper)
        or (need & _LOWER and not counts.lower)
        or (need & _LETTER and not counts.upper + counts.lower)
    ):
        return False
    stops = letters.OBVIOUS if wary else letters.PLACEHOLDER
    if not rule.flags & NO_STOPS and letters.holds_any(secret, table.words(stops)):
        return False
    if not wary:
        if not rule.flags & REPEATS_FINE and letters.is_repeated(
            secret[rule.show :] if rule.show < len(secret) else secret
        ):
            return False
        if not letters.entropy_holds(secret[rule.show :], rule.entropy, table.logs):
            return False
        if rule.checksum and not holds_checksum(secret, rule.checksum):
            return False
    elif counts.distinct < 5:
        return False
    compound = not wary and not rule.judge and letters.is_compound(secret, counts)  # a judge looks at it itself
    if compound and not letters.is_random(secret, counts, table.words):
        return False
    if rule.check == 1 and not says_pair(secret, table):
        return False
    if rule.check == 2 and b"PRIVATE KEY" not in _decoded(secret[:120]):
        return False
    if rule.check == 4 and is_near_vectors(text, span[0], letters.Value(*span, True, True, True, False), table.words):
        return False
    if rule.check == 5 and is_test_result(text, span[0]):
        return False
    if rule.check == 3 and not _is_mnemonic(secret, table):
        return False
    if rule.context:
        start, end = span
        words = table.words(rule.context - 1)
        before, following = text[max(0, start - _CONTEXT_BEFORE) : start], text[end : end + _CONTEXT_AFTER]
        if not (letters.holds_any(before, words) or letters.holds_any(following, words)):
            return False
    if rule.judge and rule.kind == SHAPE:
        value = letters.Value(span[0], span[1], True, False, True, False)
        return values.judge(secret, value, rule.judge, table.words, table.logs)
    return True


def _shapes(table: Table, number: int, text: bytes, *, wary: bool) -> Iterator[tuple[int, int]]:
    rule = table.rules[number]
    for match in table.pattern(number).finditer(text):
        group = 2 if match.re.groups == 2 else 1
        start, end = match.span(group)
        if start < end and _shape_holds(table, rule, text, text[start:end], (start, end), wary=wary):
            yield start, end


def _assigned(table: Table, number: int, text: bytes, *, wary: bool) -> Iterator[tuple[int, int]]:
    rule = table.rules[number]
    for key in sorted(set(table.keys[number])):
        for match in re.finditer(b"(?=" + re.escape(key) + b")", text, re.IGNORECASE):
            key_end = match.start() + len(key)
            value = assignment(
                text,
                match.start(),
                key_end,
                anywhere=bool(rule.flags & ANYWHERE),
                named=bool(rule.flags & NAMED),
                words=table.words,
            )
            if value is None:
                if rule.judge and not rule.code and not rule.flags & ANYWHERE:
                    for cell in cell_values(text, match.start(), key_end, table.words):
                        if values.judge(text[cell.start : cell.end], cell, rule.judge, table.words, table.logs):
                            yield cell.start, cell.end
                continue
            start, end = value.start, value.end
            if rule.flags & NAMED and not letters.holds_any(
                fold_name(text, match.start(), key_end), table.words(letters.SECRET_NAMES)
            ):
                continue
            if value.wrapped and rule.judge == 0:  # nothing says that it is no label: get_env("ACME_KEY")
                continue
            if rule.code and rule.judge == 0:
                shaped = table.value_pattern(number).match(text, start, end)
                if shaped is None:
                    continue
                stop = shaped.end()
                if stop < end and (
                    text[stop] in b"-_+/=." or text[stop] in letters.LETTER or text[stop] in letters.DIGIT
                ):
                    continue
                end = stop
                if not _shape_holds(table, rule, text, text[start:end], (start, end), wary=wary):
                    continue
            else:
                if rule.code:
                    shaped = table.value_pattern(number).match(text, start, end)
                    if shaped is None or shaped.end() != end:
                        continue
                if not values.judge(text[start:end], value, rule.judge, table.words, table.logs):
                    continue
            yield start, end


_LABEL: Final = re.compile(rb"(?=(-----BEGIN ([A-Za-z0-9 ]{0,80}+)-----))")
_ROW: Final = re.compile(rb"[A-Za-z0-9+/=]{32,}")
"""A line of a key; code that only names the label has none: ``key.startswith("-----BEGIN PRIVATE KEY-----")``."""
_BASE64: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


_CUT_KEY: Final = 140
_SIZED: Final = re.compile(rb"(?s).{0,11}?(MII[A-Za-z0-9+/]{3})")


def _is_cut(body: bytes, count: int) -> bool:
    """Return whether a key says of itself that it is four times as long or more: documents print its first line."""
    sized = _SIZED.match(body)
    if sized is None:
        return False
    begin = base64.b64decode(sized[1] + b"AA")
    return begin[:2] == b"\x30\x82" and int.from_bytes(begin[2:4], "big") > 3 * count


def _private_keys(text: bytes, *, whole: bool) -> Iterator[tuple[int, int]]:
    """Yield the private keys in PEM form, also those that are cut short."""
    size = len(text)
    for match in _LABEL.finditer(text):
        if b"PRIVATE KEY" not in match[2] and b"Static key" not in match[2]:
            continue
        begin = match.end(1)
        stop = text.find(b"-----", begin, min(size, begin + _PEM_BODY))
        body_end = stop if stop >= 0 else min(size, begin + _PEM_BODY)
        body = text[begin:body_end]
        known = [byte for byte in body if byte in _BASE64]
        ended = text[body_end : body_end + 9] == b"-----END "
        if (
            len(known) >= 40
            and any(len(row) >= 60 or sum(byte in letters.DIGIT for byte in row) >= 3 for row in _ROW.findall(body))
            and len(set(known)) >= 12
            and b"..." not in body
            and b"${" not in body
            and b"xxxxxx" not in body.lower()
            and not (ended and len(known) < _CUT_KEY and _is_cut(body, len(known)))
        ):
            if ended:
                close = text.find(b"-----", body_end + 9, min(size, body_end + 96))
                last = close + 5 if close >= 0 else body_end
                # In a JSON string, the line end that is written before the quote belongs to the value.
                if text[last : last + 3] in {b'\\n"', b"\\n'"}:
                    last += 2
                yield match.start(), last
            else:
                last = max(at for at in range(begin, body_end) if text[at] in _BASE64)
                yield match.start(), last + 1
        elif whole and not body.strip(b" \t\r\n\"'\\") and begin + len(body) == size and not ended:
            # A line with escapes ends before its text does.
            yield match.start(), begin


def better(one: Found, other: Found) -> bool:
    """Return whether the first of two that overlap is to stay."""
    return (-one.priority, one.start - one.end, one.start, one.rule) < (
        -other.priority,
        other.start - other.end,
        other.start,
        other.rule,
    )


def resolved(found: Sequence[Found]) -> list[Found]:
    """Return findings that do not overlap, in order."""
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.priority, one.start - one.end, one.rule)):
        if kept and one.start < kept[-1].end:
            if better(one, kept[-1]):
                kept[-1] = one
            continue
        kept.append(one)
    return kept


def raw_findings(data: bytes, text: bytes, *, wary: bool = False) -> list[Found]:
    """Return what each rule finds for itself, in the text and in what is encoded there."""
    table = opened(data)
    found = _plain_findings(table, text, wary=wary)
    for stretch in (*encodings.escaped(text), *encodings.blobs(text)):
        inner = _plain_findings(table, stretch.data, wary=wary, whole=stretch.positions is None)
        for one in inner:
            start, end = stretch.span(one.start, one.end)
            found.append(one._replace(start=start, end=end))
    return found


def _plain_findings(table: Table, text: bytes, *, wary: bool, whole: bool = True) -> list[Found]:
    found: list[Found] = []
    for number, rule in enumerate(table.rules):
        if rule.flags & WARY and not wary:
            continue
        if rule.kind == SHAPE:
            spans = _shapes(table, number, text, wary=wary)
        elif rule.kind == ASSIGN:
            spans = _assigned(table, number, text, wary=wary)
        elif rule.kind == URL:
            spans = addresses(table, text)
        else:
            spans = _private_keys(text, whole=whole)
        found += [Found(number, start, end, rule.priority) for start, end in spans]
    return found


def scan_bytes(data: bytes, text: bytes, *, wary: bool = False) -> list[tuple[int, int, int]]:
    """Return (rule, start, end) for the bytes of a text, in order and without overlap."""
    return [(one.rule, one.start, one.end) for one in resolved(raw_findings(data, text, wary=wary))]


def code_points(text: bytes, positions: Sequence[int]) -> list[int]:
    """Return how many code points are before each place; the places ascend."""
    out: list[int] = []
    at = count = 0
    for position in positions:
        count += sum(byte & 0xC0 != 0x80 for byte in text[at:position])
        at = position
        out.append(count)
    return out


class SecretTable:
    """A table that is ready to scan with.

    Parameters
    ----------
    data
        Bytes of a table; kept, not copied.

    Raises
    ------
    ValueError
        If they are not a table.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        opened(self._data)

    def rules(self) -> list[tuple[str, int, int]]:
        """Return for each rule its id, how much of a secret may be shown, and its severity from 0 to 3."""
        return [(rule.name, rule.show, rule.severity) for rule in opened(self._data).rules]

    def find(self, text: str, *, wary: bool = False, isa: str | None = None) -> list[tuple[int, int, int]]:
        """Find the secrets of a text.

        Parameters
        ----------
        text
            Any text; lone surrogates are taken as they are.
        wary
            Whether low-confidence rules apply too, and neither checksum nor entropy rules a match out.
        isa
            ``plain`` or None.

        Returns
        -------
        list of (int, int, int)
            Number of the rule, first code point, and the one after the last; in order, none overlaps another.

        Raises
        ------
        ValueError
            If the machine does not run ``isa``.
        """
        if isa not in {None, "plain"}:
            message = f"instruction set {isa!r} is not one that this machine runs: plain"
            raise ValueError(message)
        encoded = text.encode("utf-8", "surrogatepass")
        found = scan_bytes(self._data, encoded, wary=wary)
        positions = code_points(encoded, [position for _, start, end in found for position in (start, end)])
        return [(rule, positions[2 * at], positions[2 * at + 1]) for at, (rule, _, _) in enumerate(found)]
