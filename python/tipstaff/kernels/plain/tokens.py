"""Readable twin of the native token features: what they count, and how counts become tokens.

A class of bytes is a mask, here one long integer whose bit i says that byte i of the UTF-8 text is of the class. A
feature is the number of bits in an "and" of masks and shifted masks: ``mask << k`` says it of the byte k places before.
So ``letters & letters << 1`` are the letters that are after a letter, and the number of letters with at least seven
before them rises with the length of long words alone. Their weighted sum is a piecewise linear function of the lengths
of words and of runs of spaces, of the scripts, and of where words begin.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from typing_extensions import Buffer

FEATURES: Final = (
    "letters letters2 letters3 letters4 letters8 letter_after_space letter_after_mark capitals capitals2 camel "
    "digits digits2 digits4 spaces spaces2 spaces3 mark_after_space space_after_letter newlines newlines2 "
    "newline_after_mark tabs tabs2 marks marks2 marks3 repeats3 closing consonants4 "
    "latin other2 cyrillic cyrillic3 cyrillic5 cyrillic7 cyrillic9 cyrillic_after_space cyrillic_capital "
    "cyrillic_rare punctuation3 hiragana kana_mixed katakana full_width other3 astral han_e4 han_e5 han hangul_ea "
    "hangul han_pairs hangul_pairs hangul_after_space kana_pairs"
).split()
"""Names of the features in their order."""


def _members(*ranges: tuple[int, int]) -> bytes:
    """Return a table for `bytes.translate`: ``1`` for bytes in the ranges, ends included, ``0`` for the others."""
    return bytes(48 + any(first <= byte <= last for first, last in ranges) for byte in range(256))


def _bytes(*values: int) -> bytes:
    return _members(*((value, value) for value in values))


_LOWER: Final = _members((0x61, 0x7A))
_UPPER: Final = _members((0x41, 0x5A))
_VOWELS: Final = _bytes(*b"aeiouAEIOU")
_DIGITS: Final = _members((0x30, 0x39))
_ASCII: Final = _members((0, 0x7F))


def utf16_units(text: str) -> int:
    """Return the length of a text in UTF-16 code units; a lone surrogate is one."""
    return len(text) + sum(char > "\uffff" for char in text)


def token_features(text: str, *, isa: str | None = None) -> memoryview[int]:
    """Count the features of a text.

    Parameters
    ----------
    text
        Any text.
    isa
        Of the native twin; this one has no instruction sets.

    Returns
    -------
    memoryview of int64, shape (55,)
        Counts in the order of `FEATURES`.
    """
    _refuse_isa(isa)
    values = list(_features(text.encode("utf-8", "surrogatepass")))
    out = bytearray(8 * len(values))
    view = memoryview(out).cast("q")
    for index, value in enumerate(values):
        view[index] = value
    return view


def weigh_tokens(text: str, weights: Buffer, *, isa: str | None = None) -> float:
    """Return the weighted sum of a text's features, added up in their order.

    Parameters
    ----------
    text
        Any text.
    weights
        float64, shape (55,).
    isa
        As above.

    Raises
    ------
    ValueError
        If there are not as many weights as features.
    """
    _refuse_isa(isa)
    with memoryview(weights) as view:
        factors: Sequence[float] = list(view.cast("B").cast("d"))
    if len(factors) != len(FEATURES):
        message = f"weights: expected {len(FEATURES)} float64, got {len(factors)}"
        raise ValueError(message)
    total = 0.0
    for factor, count in zip(factors, token_features(text), strict=True):
        total += factor * count
    return total


def _refuse_isa(isa: str | None) -> None:
    if isa is not None and isa != "plain":
        message = f"instruction set {isa!r} is not one that this machine runs: plain"
        raise ValueError(message)


def _features(data: bytes) -> Iterable[int]:
    backwards = data[::-1]

    def mask(table: bytes) -> int:
        return int(backwards.translate(table) or b"0", 2)

    def runs(members: int, length: int) -> int:
        """Keep the members of a run that have at least ``length - 1`` of it before them."""
        kept = members
        for _ in range(length - 1):
            kept &= kept << 1
            kept &= members
        return kept

    lower, upper, digits = mask(_LOWER), mask(_UPPER), mask(_DIGITS)
    spaces, newlines, tabs = mask(_bytes(0x20)), mask(_bytes(0x0A, 0x0D)), mask(_bytes(0x09))
    letters = lower | upper
    marks = mask(_ASCII) & ~(letters | digits | spaces | newlines | tabs)
    same = bytes(48 + (byte == before) for byte, before in itertools.pairwise(backwards)) + b"0"
    repeats = int(same, 2) & marks
    yield letters.bit_count()
    yield runs(letters, 2).bit_count()
    yield runs(letters, 3).bit_count()
    yield runs(letters, 4).bit_count()
    yield runs(letters, 8).bit_count()
    yield (letters & spaces << 1).bit_count()
    yield (letters & marks << 1).bit_count()
    yield upper.bit_count()
    yield runs(upper, 2).bit_count()
    yield (upper & lower << 1).bit_count()
    yield digits.bit_count()
    yield runs(digits, 2).bit_count()
    yield runs(digits, 4).bit_count()
    yield spaces.bit_count()
    yield runs(spaces, 2).bit_count()
    yield runs(spaces, 3).bit_count()
    yield (marks & spaces << 1).bit_count()
    yield (spaces & letters << 1).bit_count()
    yield newlines.bit_count()
    yield runs(newlines, 2).bit_count()
    yield (newlines & marks << 1).bit_count()
    yield tabs.bit_count()
    yield runs(tabs, 2).bit_count()
    yield marks.bit_count()
    yield runs(marks, 2).bit_count()
    yield runs(marks, 3).bit_count()
    yield (repeats & repeats << 1).bit_count()
    yield mask(_bytes(0x29)).bit_count()
    yield runs(letters & ~mask(_VOWELS), 4).bit_count()

    latin, cyrillic = mask(_members((0xC2, 0xCA))), mask(_members((0xD0, 0xD3)))
    yield latin.bit_count()
    yield (mask(_members((0xC2, 0xDF))) & ~latin & ~cyrillic).bit_count()
    # A letter is two bytes: the lead byte of the letter before is two before.
    chains = [cyrillic]
    for _ in range(8):
        chains.append(chains[-1] << 2 & cyrillic)
    for length in (1, 3, 5, 7, 9):
        yield chains[length - 1].bit_count()
    lead_d0, lead_d1 = mask(_bytes(0xD0)), mask(_bytes(0xD1))
    yield (cyrillic & spaces << 1).bit_count()
    yield (mask(_members((0x90, 0xAF))) & lead_d0 << 1).bit_count()
    yield (mask(_members((0x92, 0x9F))) & lead_d1 << 1 | cyrillic & ~(lead_d0 | lead_d1)).bit_count()

    lead_e3, han, hangul = mask(_bytes(0xE3)), mask(_members((0xE4, 0xE9))), mask(_members((0xEA, 0xED)))
    yield mask(_bytes(0xE2)).bit_count()
    for second in (0x81, 0x82, 0x83):
        yield (mask(_bytes(second)) & lead_e3 << 1).bit_count()
    yield mask(_bytes(0xEF)).bit_count()
    yield mask(_bytes(0xE0, 0xE1, 0xEE)).bit_count()
    yield mask(_members((0xF0, 0xF4))).bit_count()
    yield mask(_bytes(0xE4)).bit_count()
    yield mask(_bytes(0xE5)).bit_count()
    yield han.bit_count()
    yield mask(_bytes(0xEA)).bit_count()
    yield hangul.bit_count()
    yield (han & han << 3).bit_count()
    yield (hangul & hangul << 3).bit_count()
    yield (hangul & spaces << 1).bit_count()
    yield (lead_e3 & lead_e3 << 3).bit_count()


_ENDS: Final = (str, int, float, bool, bytes, type(None))
_MAX_DEPTH: Final = 64


class MessageGuard:
    """Remembers a list of messages so that any later change in it is seen.

    What is remembered of a message is which objects it consists of. Whatever a tree holds beside plain dictionaries,
    lists, tuples, texts, numbers, booleans and None could change without a trace: such a message counts as changed each
    time. The guard keeps what it remembers alive. It belongs to one thread at a time.
    """

    def __init__(self) -> None:
        self._records: list[list[object] | None] = []

    def unchanged(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Return how many messages, from the first on, are the same objects with the same contents as recorded."""
        _check_sequence(messages)
        for index, (record, message) in enumerate(zip(self._records, messages, strict=False)):
            if record is None:
                return index
            parts = list(_parts(message, 0))
            if len(parts) != len(record) or any(part is not before for part, before in zip(parts, record, strict=True)):
                return index
        return min(len(self._records), len(messages))

    def record(self, messages: Sequence[Mapping[str, Any]], start: int) -> None:
        """Forget the messages from `start` on and remember those that are there now.

        Raises
        ------
        ValueError
            If `start` is beyond what is remembered.
        """
        _check_sequence(messages)
        if start < 0 or start > len(self._records):
            message = f"start: expected 0 to {len(self._records)}, got {start}"
            raise ValueError(message)
        del self._records[start:]
        for item in messages[start:]:
            parts: list[object] = []
            for part in _parts(item, 0):
                if part is _UNKNOWN:
                    self._records.append(None)
                    break
                parts.append(part)
            else:
                self._records.append(parts)

    def __len__(self) -> int:
        return len(self._records)


_UNKNOWN: Final = object()


def _check_sequence(messages: object) -> None:
    if not isinstance(messages, list | tuple):
        message = f"messages: expected a list or a tuple, got {type(messages).__name__}"
        raise TypeError(message)


def _parts(value: object, depth: int) -> Iterator[object]:
    """Yield every object of a tree in an order of its own; `_UNKNOWN` for one that cannot be watched."""
    yield value
    kind = type(value)
    if kind in _ENDS:
        return
    if depth > _MAX_DEPTH:
        yield _UNKNOWN
    elif kind is dict:
        mapping = cast("dict[object, object]", value)
        for key, item in list(mapping.items()):
            yield key
            yield from _parts(item, depth + 1)
        yield None
    elif kind is list or kind is tuple:
        for item in list(cast("list[object]", value)):
            yield from _parts(item, depth + 1)
        yield None
    else:
        yield _UNKNOWN
