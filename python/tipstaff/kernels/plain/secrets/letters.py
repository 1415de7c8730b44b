"""What the bytes of a value are made of, as ``secrets/letters.hpp``: kinds of letters, repeats, entropy, speech."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from tipstaff.kernels.formats.secret_table import LOGS

LOWER: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz")
UPPER: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
DIGIT: Final = frozenset(b"0123456789")
LETTER: Final = LOWER | UPPER
HEX: Final = frozenset(b"0123456789abcdefABCDEF")
NAME: Final = LETTER | DIGIT | {0x5F}
PIECE: Final = re.compile(rb"[A-Z]{2,}|[A-Za-z][a-z]*")
"""A piece of a name: capitals in a row, or a letter and the small ones after it."""
_VOWEL: Final = frozenset(b"aeiouyAEIOUY")

Words = Callable[[int], Sequence[bytes]]
"""Returns one of the table's lists of words."""

(
    PLACEHOLDER,
    PLAIN_VALUE,
    ABOUT_AFTER,
    ABOUT_BEFORE,
    SECRET_NAMES,
    REFERENCES,
    FILE_ENDINGS,
    KNOWN,
    INTRODUCERS,
    OBVIOUS,
) = range(10)
(
    SAMPLE_HOSTS,
    LETTER_ODDS,
    VECTOR_NAMES,
    SOURCE_ENDINGS,
    VECTOR_LABELS,
    FIELD_NAMES,
    HOLDERS,
    COPULAS,
    WALLET_WORDS,
    WALLET_SAMPLES,
    JOINED_COPULAS,
    FOREIGN_NAMES,
) = range(13, 25)
"""Numbers of the lists."""


class Value(NamedTuple):
    """A value, and how it is in the text.

    Attributes
    ----------
    start, end
        Its bytes.
    quoted
        Whether it is in quotes.
    tight
        Whether the sign before it has no blanks around it, or is a colon.
    ends_line
        Whether nothing but a comment follows on its line.
    strict
        Whether it follows a bracket or a comma, as an argument does.
    wrapped
        Whether it is the argument of a call that may do anything with it: ``decode("x")``.
    prose
        Whether it is a word of a sentence: ``the password is x``.
    """

    start: int
    end: int
    quoted: bool
    tight: bool
    ends_line: bool
    strict: bool
    wrapped: bool = False
    prose: bool = False


class Counts(NamedTuple):
    """What a value is made of."""

    lower: int
    upper: int
    digit: int
    other: int
    distinct: int
    changes: int


def counts_of(data: bytes) -> Counts:
    """Count kinds of bytes, and how often one kind follows another."""
    lower = upper = digit = other = changes = 0
    last = -1
    for byte in data:
        if byte in LOWER:
            kind, lower = 0, lower + 1
        elif byte in UPPER:
            kind, upper = 1, upper + 1
        elif byte in DIGIT:
            kind, digit = 2, digit + 1
        else:
            kind, other = 3, other + 1
        changes += last not in {-1, kind}
        last = kind
    return Counts(lower, upper, digit, other, len(set(data)), changes)


def entropy_holds(data: bytes, least: int, logs: Sequence[int]) -> bool:
    """Return whether the entropy is at least `least`, in 1/65536 bits per byte."""
    data = data[: LOGS - 1]
    if least == 0 or not data:
        return least == 0
    size = len(data)
    spent = sum(n * logs[n] for n in (data.count(byte) for byte in set(data)))
    return size * logs[size] - spent >= least * size


def lowered(data: bytes) -> bytes:
    """Return the bytes with ASCII letters in lower case."""
    return data.lower()


def holds_any(data: bytes, words: Sequence[bytes]) -> bool:
    """Return whether one of the words is within, in either case."""
    folded = data.lower()
    return any(word in folded for word in words)


def is_repeated(data: bytes) -> bool:
    """Return whether one byte often follows itself, or some bytes repeat."""
    size = len(data)
    longest = run = 1
    for at in range(1, size):
        run = run + 1 if data[at] == data[at - 1] else 1
        longest = max(longest, run)
    if longest >= 6 and 4 * longest >= size:
        return True
    if longest >= 12:
        return True
    return size >= 4 and any(data[period:] == data[:-period] for period in range(1, min(32, size // 2) + 1))


def is_sequence(data: bytes) -> bool:
    """Return whether six bytes or more of it count up, over a third of it, or runs of four up or down make it whole."""
    longest = run = 1
    down = counted = 0
    for at in range(1, len(data)):
        step = data[at] - data[at - 1]
        run, down = (run + 1 if step == 1 else 1), (down + 1 if step == -1 else 0)
        longest = max(longest, run)
        counted += 4 if run == 4 or down == 3 else 1 if run > 4 or down > 3 else 0
    return (longest >= 6 and 3 * longest >= len(data)) or counted == len(data)


def spoken(data: bytes) -> tuple[int, int]:
    """Return how many letters there are, and how many are in pieces of three or more that can be spoken."""
    pieces: list[bytes] = PIECE.findall(data)
    return sum(map(len, pieces)), sum(len(piece) for piece in pieces if len(piece) >= 3 and is_pronounceable(piece))


def is_wordy(data: bytes) -> bool:
    """Return whether most letters are in pieces that can be spoken, few bytes are digits, and kinds rarely change.

    That a capital begins a word is not a change.
    """
    size = len(data)
    capitals = sum(data[at] in UPPER and data[at + 1] in LOWER for at in range(size - 1))
    if 3 * (counts_of(data).changes - capitals) >= size:
        return False
    digits = sum(byte in DIGIT for byte in data)
    letters, pronounceable = spoken(data)
    return 5 * digits <= size and letters > 0 and 10 * pronounceable >= 7 * letters


def is_random(data: bytes, counts: Counts, words: Words) -> bool:
    """Return whether letters and digits follow each other so unlike in names that the value is random beyond doubt.

    The sum of the odds of its pairs, in half nats (``letter_odds`` in ``packs/secrets/words.toml``), is at most
    one below zero for each byte.
    """
    if not 16 <= len(data) <= 256 or 5 * counts.other > len(data):
        return False
    rows = {row[0]: row[1:] for row in words(LETTER_ODDS)}
    kinds = [0 if byte in LOWER else 1 if byte in UPPER else 2 if byte in DIGIT else 3 for byte in data]
    folded = data.lower()
    total = 0
    for at in range(1, len(data)):
        last, kind = kinds[at - 1], kinds[at]
        if last == 3 or kind == 3:
            continue
        total += _odds(rows, 0x30 + last, kind, 3)
        if last < 2 and kind < 2 and (last, kind) != (0, 1):  # after a small letter, a capital begins the next word
            total += _odds(rows, folded[at - 1], folded[at] - 0x61, 26)
    return total + len(data) <= 0


def _odds(rows: dict[int, bytes], row: int, column: int, columns: int) -> int:
    word = rows.get(row, b"")
    return word[column] - 0x6E if len(word) == columns else 0


def is_compound(data: bytes, counts: Counts) -> bool:
    """Return whether words that begin with capitals, and numbers, are one name.

    ``Curve25519Public``, ``azuread.AzureADOAuth2``.
    """
    if counts.upper < 2 or counts.lower < counts.upper or any(byte not in NAME and byte != 0x2E for byte in data):
        return False
    letters, pronounceable = spoken(data)
    return letters >= 8 and 10 * pronounceable >= 9 * letters


def is_pronounceable(piece: bytes) -> bool:
    """Return whether a piece of letters can be spoken: vowels are among them, and few of a kind follow each other."""
    vowels = run = longest = 0
    last_vowel = False
    for at, byte in enumerate(piece):
        if byte | 0x20 == 0x71 and piece[at + 1 : at + 2] not in {b"u", b"U"}:
            return False
        vowel = byte in _VOWEL
        vowels += vowel
        run = run + 1 if vowel == last_vowel else 1
        last_vowel = vowel
        longest = max(longest, run)
    return vowels > 0 and longest <= 4 and 6 * vowels >= len(piece)
