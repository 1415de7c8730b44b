r"""Lexicons of intents: what words and phrases say about the kind of work, as bytes that any process may map.

A lexicon is little-endian: ``TIN1\r\n\x1a\n``, six uint32 (slots, words, phrases, weights, bytes of letters, idents),
then

- the weights, float64;
- a hash table of so many slots, a power of two: uint16 numbers of words, 65535 where there is none. A word is looked
  for from slot ``(h ^ h >> 15) mod slots`` on until an empty one, h being the 32-bit FNV-1a hash of its UTF-8 bytes;
- the words, 20 bytes each: what it says (8), where its letters are (uint32) and how many (uint8), its flags (uint8),
  how many phrases it begins (uint8), a gap, the first of them (uint16), a gap;
- the phrases, 16 bytes each: what it says (8), number of further words (uint8), a gap, their numbers (3 uint16); those
  of one word are together, the longest first;
- the letters of the words.

What a word or phrase says: kind, intent, intent as a verb (uint8 each), the places of three weights (uint8 each: as a
noun or sign, as a verb that opens a later clause, as a verb that opens the task), and its ident (uint16). Words that
share an ident count once.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final, NamedTuple

SILENT, FINITE, CONTROL, SIGN, NOUN, VERB, BOTH, NONE = range(8)
"""Kinds of entries; `NONE` is a word that only phrases or flags know."""
LEADER, DETERMINER, AND, COLON, INSIDE, OPENING = (1 << bit for bit in range(6))
"""Flags of words: may be before what opens a task; a determiner; "and"; ":"; stems of scripts without blanks, and
such as the endings of a word follow."""

MAX_WORD_BYTES: Final = 32
MAX_FURTHER_WORDS: Final = 3
MAX_IDENTS: Final = 4_096
MAGIC: Final = b"TIN1\r\n\x1a\n"
_HEAD: Final = struct.Struct("<8s6I")
_ENTRY: Final = "BBBBBBH"
_WORD: Final = struct.Struct(f"<{_ENTRY}IBBBxHxx")
_PHRASE: Final = struct.Struct(f"<{_ENTRY}Bx3H")
_EMPTY: Final = 0xFFFF
_MAX_WORDS: Final = 0xFFFE


class IntentEntry(NamedTuple):
    """What one word or phrase says: as a noun or a sign, and as a verb that opens a clause."""

    kind: int
    ident: int
    intent: int = 0
    weight: float = 0.0  # for CONTROL: the factor from here on, 0 to leave it
    verb_intent: int = 0
    verb_weight: float = 0.0  # where it opens a later clause; for CONTROL: 1 when a verb may follow
    lead_weight: float = 0.0  # where it opens the task


class IntentTable(NamedTuple):
    """A lexicon, read.

    Attributes
    ----------
    words
        Word to what it says, and to the phrases that it begins, the longest first: (number of further words, those
        words, what it says).
    flags
        Word to its flags, if it has any.
    """

    words: dict[str, tuple[IntentEntry, tuple[tuple[int, list[str], IntentEntry], ...]]]
    flags: dict[str, int]


def make_intent_table(entries: Mapping[tuple[str, ...], IntentEntry], flags: Mapping[str, int]) -> bytes:
    """Return a lexicon.

    Parameters
    ----------
    entries
        Words of a phrase, or one word, to what it says.
    flags
        Words to their flags.

    Raises
    ------
    ValueError
        If a word or phrase is too long, or there are too many words, phrases, idents or distinct weights.
    """
    single = {words[0]: entry for words, entry in entries.items() if len(words) == 1}
    phrases: dict[str, list[tuple[str, ...]]] = {}
    for words in entries:
        if len(words) > 1:
            phrases.setdefault(words[0], []).append(words)
    numbers: dict[str, int] = {}
    for word in (*single, *(word for words in entries for word in words), *flags):
        numbers.setdefault(word, len(numbers))
    distinct = dict.fromkeys(
        one for entry in entries.values() for one in (0.0, entry.weight, entry.verb_weight, entry.lead_weight)
    )
    weights = {weight: index for index, weight in enumerate(distinct or (0.0,))}
    idents = 1 + max((entry.ident for entry in entries.values()), default=0)

    total = sum(map(len, phrases.values()))
    if len(numbers) > _MAX_WORDS // 2 or total >= _EMPTY or idents > MAX_IDENTS or len(weights) > 256:
        counts = f"{len(numbers)} words, {total} phrases, {idents} idents, {len(weights)} weights"
        raise ValueError(f"{counts} are too large for a lexicon")

    def packed(entry: IntentEntry) -> tuple[int, ...]:
        indices = [
            weights.setdefault(one, len(weights)) for one in (entry.weight, entry.verb_weight, entry.lead_weight)
        ]
        return entry.kind, entry.intent, entry.verb_intent, *indices, entry.ident

    letters = bytearray()
    records, others = bytearray(), bytearray()
    n_phrases = 0
    for word in numbers:
        encoded = word.encode()
        begun = sorted(phrases.get(word, ()), key=lambda words: -len(words))
        if not 0 < len(encoded) <= MAX_WORD_BYTES or any(len(words) > 1 + MAX_FURTHER_WORDS for words in begun):
            raise ValueError(f"{word!r} or a phrase that begins with it is too long for a lexicon")
        # A word that only begins phrases is one that is met and says nothing.
        entry = single.get(word, IntentEntry(SILENT if begun else NONE, 0))
        records += _WORD.pack(
            *packed(entry), len(letters), len(encoded), flags.get(word, 0), len(begun), n_phrases if begun else 0
        )
        letters += encoded
        n_phrases += len(begun)
        for words in begun:
            further = [numbers[one] for one in words[1:]]
            others += _PHRASE.pack(*packed(entries[words]), len(further), *further, *[0] * (3 - len(further)))
    slots = _slots(list(numbers))
    head = _HEAD.pack(MAGIC, len(slots), len(numbers), n_phrases, len(weights), len(letters), idents)
    return b"".join(
        (
            head,
            struct.pack(f"<{len(weights)}d", *weights),
            struct.pack(f"<{len(slots)}H", *slots),
            records,
            others,
            letters,
        )
    )


def _slots(words: list[str]) -> list[int]:
    size = 16
    while size < 3 * len(words):
        size *= 2
    slots = [_EMPTY] * size
    for number, word in enumerate(words):
        value = 0x811C9DC5
        for byte in word.encode():
            value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
        slot = (value ^ value >> 15) & size - 1
        while slots[slot] != _EMPTY:
            slot = (slot + 1) & size - 1
        slots[slot] = number
    return slots


def read_intent_table(data: bytes) -> IntentTable:
    """Return what a lexicon holds.

    Raises
    ------
    ValueError
        If these bytes are no lexicon.
    """
    msg = "lexicon: not a valid lexicon; make one with tipstaff.kernels.formats.intent_table"
    if len(data) < _HEAD.size or data[:8] != MAGIC:
        raise ValueError(msg)
    _, n_slots, n_words, n_phrases, n_weights, n_letters, _ = _HEAD.unpack_from(data)
    offsets = [_HEAD.size]
    for size in (8 * n_weights, 2 * n_slots, _WORD.size * n_words, _PHRASE.size * n_phrases, n_letters):
        offsets.append(offsets[-1] + size)
    if offsets[-1] != len(data):
        raise ValueError(msg)
    weights: tuple[float, ...] = struct.unpack_from(f"<{n_weights}d", data, offsets[0])
    letters = data[offsets[4] :]

    def entry(fields: tuple[int, ...]) -> IntentEntry:
        kind, intent, verb_intent, weight, verb_weight, lead_weight, ident = fields
        return IntentEntry(
            kind, ident, intent, weights[weight], verb_intent, weights[verb_weight], weights[lead_weight]
        )

    try:
        records = list(_WORD.iter_unpack(data[offsets[2] : offsets[3]]))
        names = [letters[record[7] : record[7] + record[8]].decode() for record in records]
        others = [
            (record[7], [names[number] for number in record[8 : 8 + record[7]]], entry(record[:7]))
            for record in _PHRASE.iter_unpack(data[offsets[3] : offsets[4]])
        ]
        words = {
            name: (entry(record[:7]), tuple(others[record[11] : record[11] + record[10]]))
            for name, record in zip(names, records, strict=True)
            if record[0] != NONE
        }
    except (IndexError, UnicodeDecodeError) as error:
        raise ValueError(msg) from error
    return IntentTable(words, {name: record[9] for name, record in zip(names, records, strict=True) if record[9]})
