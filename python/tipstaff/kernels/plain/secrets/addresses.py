"""Passwords in addresses, ``scheme://user:password@host``, and which of them are secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tipstaff.kernels.plain.secrets import forms, letters, samples
from tipstaff.kernels.plain.secrets.table import Table

_SCHEME: Final = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-")
_NO_USER: Final = frozenset(b" \t\r\n\"'`<>/\\@?#|")


def addresses(table: Table, text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the passwords of ``scheme://user:password@host``."""
    size = len(text)
    for match in re.finditer(b"://", text):
        at = match.start()
        if at == 0 or text[at - 1] not in _SCHEME:
            continue
        start = match.end()
        if text.startswith(b"[:", start):  # an address of version 6
            continue
        limit = min(size, start + 128)
        colon = start
        while colon < limit and text[colon] not in _NO_USER and text[colon] != 0x3A:
            colon += 1
        if colon >= limit or text[colon] != 0x3A:
            continue
        begin = colon + 1
        limit = min(size, begin + 256)
        end = begin
        last = -1
        while end < limit and (text[end] not in _NO_USER or text[end] == 0x40 or text[end] in b"?#|"):
            if text[end] == 0x40:
                last = end
            if text[end] == 0x3F and last >= 0:  # user:pass@host?to=bob@acme.io
                break
            end += 1
        if (
            last < 0
            or last + 1 >= size
            or not ((chr(text[last + 1]).isascii() and chr(text[last + 1]).isalnum()) or text[last + 1] in b"[_")
        ):
            continue
        if is_sample_host(text[last + 1 : last + 257], table) and not is_mixed(text[begin:last], table):
            continue
        if address_password_holds(text[begin:last], text[start:colon], table):
            yield begin, last


def is_mixed(password: bytes, table: Table) -> bool:
    """Return whether it is made as passwords are made by programs, so that it is one whatever host it is for."""
    counts = letters.counts_of(password)
    return letters.is_random(password, counts, table.words) or (
        len(password) >= 10 and min(counts.lower, counts.upper, counts.digit) > 0 and not letters.is_wordy(password)
    )


def is_sample_host(text: bytes, table: Table) -> bool:
    """Return whether the host at the beginning is kept for documentation by standards: ``db.example.com``."""
    host = re.match(rb"[0-9A-Za-z.-]*", text)
    parts = (host[0] if host else b"").rstrip(b".").lower().split(b".")
    words = table.words(letters.SAMPLE_HOSTS)
    return parts[-1] in words or b".".join(parts[-2:]) in words


def _is_trivial(data: bytes, table: Table) -> bool:
    """Return whether it is a sample by its letters: ``b=ar``, ``USER_ID``, ``secret_dsn``, with escapes read."""
    text = re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes.fromhex(match[1].decode()), data)
    counts = letters.counts_of(text)
    if len(text) > 24 or counts.digit:
        return False
    if counts.lower == 0 or samples.is_known_password(text, table.words):
        return True
    return counts.upper == 0 and (len(text) < 9 or letters.holds_any(text, table.words(letters.PLAIN_VALUE)))


def address_password_holds(password: bytes, user: bytes, table: Table) -> bool:
    """Return whether the password of an address, or of a pair, is a secret and not one that everybody has."""
    folded = password.lower()
    if (
        len(password) < 4
        or min(password) < 0x20
        or folded == user.lower()
        or forms.is_template(password)
        or (password.startswith(b"$") and password[1:2].isalpha())
        or letters.is_repeated(password)
        or letters.is_sequence(password)
        or letters.holds_any(password, table.words(letters.PLACEHOLDER))
        or samples.is_known_password(password, table.words)
        or samples.is_mostly_escapes(password, table.words)
        or _is_trivial(password, table)
    ):
        return False
    counts = letters.counts_of(password)
    if counts.lower + counts.upper == 0 or counts.distinct < 4:
        return False
    if letters.is_random(password, counts, table.words):
        return True
    if counts.digit + counts.other == 0:
        return len(password) >= 12 and not letters.is_wordy(password)
    return not (counts.digit == 0 and letters.is_wordy(password)) and b"%s" not in password
