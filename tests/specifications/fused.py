"""Meaning, words and priors fused, in plain Python: states what the native kernels do."""

from __future__ import annotations

import math
import struct
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tests.specifications.words import split_words
from tipstaff.kernels import wordpiece_embed, wordpiece_shape
from tipstaff.kernels.formats.fused import (
    AFTER_HOW_BIT,
    ALIGNMENT,
    ASKS_BIT,
    ASKS_HOW_BIT,
    FIELD_BITS,
    FIELD_SHIFT,
    FIELDS_OF_WORD,
    HEAD,
    MAGIC,
    MOST_MUCH,
    STOP_BIT,
    VERB_BIT,
    WEAK_BIT,
)
from tipstaff.kernels.formats.lexicon import fnv, read_lexicon
from tipstaff.kernels.formats.stems import regular_stem

if TYPE_CHECKING:
    from typing_extensions import Buffer

_MOST_FIELDS: Final = 32
_MOST_BYTES: Final = 8192
_MOST_WORDS: Final = 512


def query_words(text: str) -> list[str]:
    """Return a text's words: lower case, camelCase taken apart, of scripts without spaces pairs of characters."""
    return [word for word, _ in _words(text)]


def _words(text: str) -> list[tuple[str, str]]:
    """Return words, each with the run of ideographs that begins with it: empty for others, ``-`` inside a run."""
    data = text.encode("utf-8", "replace")[:_MOST_BYTES]
    found: list[tuple[str, str]] = []
    for script, word in split_words(data.decode("utf-8", "ignore")):
        if script != "ideograph":
            found.append((word, ""))
            continue
        pairs = [word[at : at + 2] for at in range(len(word) - 1)] or [word]
        found += [(pair, "-" if at else word) for at, pair in enumerate(pairs)]
    return found[:_MOST_WORDS]


_Read = Callable[[str], "tuple[int, int]"]


def _reader(lexicon: Buffer) -> tuple[dict[bytes, tuple[int, int]], _Read]:
    entries = read_lexicon(bytes(memoryview(lexicon)))

    def read(word: str) -> tuple[int, int]:
        """Return a word's value and the hash of its stem."""
        known = entries.get(word.encode())
        return (0, fnv(regular_stem(word).encode())) if known is None else known

    return entries, read


def _terms(text: Sequence[tuple[str, str]], lexicon: Buffer) -> Iterator[tuple[int, int]]:
    """Yield (term, value) for each term: the longest of three, two or one words that the lexicon has."""
    entries, read = _reader(lexicon)
    at = 0
    while at < len(text):
        used, (value, term) = 1, read(text[at][0])
        for n in (3, 2):
            if at + n > len(text) or text[at][1] or text[at + n - 1][1]:
                continue
            phrase = entries.get(" ".join(word for word, _ in text[at : at + n]).encode())
            if phrase is not None:
                used, (value, term) = n, phrase
                break
        if not value & STOP_BIT:
            yield term, value
        at += used


def query_terms(lexicon: Buffer, text: str) -> list[int]:
    """Return the terms of a text; documented in ``src/_fused.pyx``."""
    return [term for term, _ in _terms(_words(text), lexicon)]


class _Task(NamedTuple):
    fields: list[float]
    strong: int
    nouns: float
    asks: bool
    only_verbs: bool


def _read_task(words: Sequence[tuple[str, str]], lexicon: Buffer) -> _Task:
    entries, _ = _reader(lexicon)
    fields = [0.0] * _MOST_FIELDS
    strong, nouns, asks, only_verbs = 0, 0.0, False, True
    values = [entries.get(word.encode(), (0, 0))[0] for word, _ in words]
    for position, value in enumerate(values):
        if value & ASKS_BIT and (position == 0 or words[position][1]):
            asks = True
        if position == 0 and value & ASKS_HOW_BIT and len(values) > 1:
            asks |= bool(values[1] & AFTER_HOW_BIT)
        if value & STOP_BIT:
            continue
        strong += not value & WEAK_BIT
        most, listed = 0.0, value >> FIELD_SHIFT
        for _ in range(FIELDS_OF_WORD):
            much = (listed >> 5 & MOST_MUCH) / MOST_MUCH
            fields[listed & 31] += much
            most = max(most, much)
            listed >>= FIELD_BITS
        if not value & VERB_BIT:
            only_verbs = False
            nouns += most
    return _Task(fields, strong, nouns, asks, only_verbs)


def _content(words: Sequence[tuple[str, str]], lexicon: Buffer) -> str:
    entries, _ = _reader(lexicon)
    kept = [
        run or word
        for word, run in words
        if run != "-" and (run or not entries.get(word.encode(), (0, 0))[0] & STOP_BIT)
    ]
    return " ".join(kept)


class FusedSearch:
    """Finds the rules for tasks; documented in ``src/_fused.pyx``."""

    def __init__(self, index: Buffer, lexicon: Buffer, table: Buffer | None = None) -> None:
        self._lexicon, self._table = lexicon, table
        read_lexicon(bytes(memoryview(lexicon)))
        view = memoryview(index).cast("B")
        if len(view) < HEAD.size:
            raise ValueError(_INVALID)
        magic, size, n, d, n_terms, n_postings, n_fields, n_field_terms, *numbers, _, _ = HEAD.unpack_from(view)
        if magic != MAGIC or size != len(view) or d % 16 or n_fields > _MOST_FIELDS:
            raise ValueError(_INVALID)
        wanted = 0 if table is None else wordpiece_shape(table)[0]
        if wanted != d:
            msg = f"index: expected {wanted} dimensions as the table has, got {d}"
            raise ValueError(msg)
        self._n, self._d = n, d
        self._spread, self._unknown, self._floor = numbers[0], numbers[1], numbers[2:]
        at = HEAD.size
        parts: list[memoryview[Any]] = []
        for code, count in (
            ("b", n * d), ("f", n), ("f", n), ("H", n), ("Q", n_terms), ("f", n_terms), ("I", n_terms + 1),
            ("I", n_postings), ("f", n_postings), ("f", n_fields * d), ("I", n_fields + 1), ("Q", n_field_terms),
        ):  # fmt: skip
            at = -(-at // ALIGNMENT) * ALIGNMENT
            width = struct.calcsize(code) * count
            if at + width > len(view):
                raise ValueError(_INVALID)
            parts.append(view[at : at + width].cast(code))  # type: ignore[call-overload]
            at += width
        (self._rows, self._scales, self._priors, self._intents, self._terms, self._weights, self._starts,
         self._posting_rows, self._postings, self._fields, self._field_starts, self._field_terms) = parts  # fmt: skip
        self._n_fields = n_fields

    def __len__(self) -> int:
        return int(self._n)

    @property
    def floor(self) -> float:
        """The relevance below which no rule is about a task."""
        return float(self._floor[7])

    def find(
        self,
        task: str,
        kinds: str = "",
        path: str = "",
        *,
        row_mask: Buffer | None = None,
        meanings: Buffer | None = None,
        bonus: Buffer | None = None,
        query_intents: int = 0,
        intent_boost: float = 0.0,
        k: int = 5,
        isa: str | None = None,
    ) -> tuple[list[int], list[float], list[float], float]:
        """Return the k best rules for a task."""
        if k < 0:
            msg = f"k is {k}; it must be 0 or more"
            raise ValueError(msg)
        n, d = self._n, self._d
        mask = self._column("row_mask", row_mask, "B", n)
        near = self._column("meanings", meanings, "f", n)
        more = self._column("bonus", bonus, "f", n)
        words = _words(task)
        read = _read_task(words, self._lexicon)
        own: dict[int, float] = {}
        for term, value in _terms(words, self._lexicon):
            own[term] = max(own.get(term, 0.0), 0.5 if value & WEAK_BIT else 1.0)
        query, terms = self._query(words, read, own, kinds, path)
        scale, codes = _to_codes(query)
        found_words, shares = [0.0] * n, [0.0] * n
        mass = 0.0
        for term, weight in terms.items():
            low = bisect_left(self._terms, term)
            known = low < len(self._terms) and self._terms[low] == term
            counts = own.get(term, 0.0) >= 1.0
            rare = self._weights[low] if known else self._unknown
            if counts:
                mass += rare
            if not known:
                continue
            for posting in range(self._starts[low], min(self._starts[low + 1], len(self._postings))):
                row = self._posting_rows[posting]
                if row < n:
                    found_words[row] += weight * self._postings[posting]
                    shares[row] += rare if counts else 0.0
        rows = [row for row in range(n) if mask is None or mask[row]]
        most_words = max([3.0, *(found_words[row] for row in rows)])
        most_share = max([0.0, *(shares[row] for row in rows)])

        def beside(row: int) -> float:
            """Return what of a row's score is not meaning."""
            score: float = 0.3 / most_words * found_words[row] + self._priors[row]
            score += intent_boost if self._intents[row] & query_intents else 0.0
            return score + (float(more[row]) if more is not None else 0.0)

        entries: list[tuple[float, int, float]] = []
        nearest = 0.0
        for row in rows:
            product = sum(map(int.__mul__, self._rows[row * d : (row + 1) * d], codes))
            meaning = self._scales[row] * scale * product if near is None else near[row]
            nearest = max(nearest, meaning)
            entries.append((-meaning - beside(row), row, meaning))
        entries = sorted(entries)[:k]
        features = (
            nearest / self._spread, most_share / (mass + 1e-9), min(3.0, sum(read.fields)), float(read.asks),
            min(3.0, read.nouns), float(read.only_verbs),
        ) if n else (0.0,) * 6  # fmt: skip
        relevance = self._floor[6] + sum(map(float.__mul__, features, self._floor[:6])) if n else 0.0
        return (
            [row for _, row, _ in entries],
            [-one for one, _, _ in entries],
            [one for _, _, one in entries],
            relevance,
        )

    def _column(self, name: str, values: Buffer | None, code: str, n: int) -> memoryview | None:
        if values is None:
            return None
        view = memoryview(values).cast("B")
        if len(view) != n * struct.calcsize(code):
            msg = f"{name}: expected {n * struct.calcsize(code)} bytes, got {len(view)}"
            raise ValueError(msg)
        return view.cast(code)  # type: ignore[call-overload, no-any-return]

    def _embedded(self, words: Sequence[tuple[str, str]]) -> list[float]:
        return [] if self._table is None else list(wordpiece_embed(self._table, _content(words, self._lexicon)))

    def _query(
        self, words: Sequence[tuple[str, str]], read: _Task, own: dict[int, float], kinds: str, path: str
    ) -> tuple[list[float], dict[int, float]]:
        lexicon, d = self._lexicon, self._d
        vector = self._embedded(words)
        strength = 3.0 / read.strong if read.strong > 5 else 0.6
        terms, related = dict(own), dict[int, float]()
        other, any_field = [0.0] * d, False
        for field in range(self._n_fields):
            if read.fields[field] <= 0.0:
                continue
            any_field = True
            much = math.sqrt(read.fields[field])
            row = self._fields[field * d : (field + 1) * d]
            other = [sum_ + much * one for sum_, one in zip(other, row, strict=True)]
            for at in range(self._field_starts[field], self._field_starts[field + 1]):
                term = self._field_terms[at]
                related[term] = min(1.5, related.get(term, 0.0) + 0.7 * much)
        if any_field:
            vector = [one + strength * more for one, more in zip(vector, _unit(other), strict=True)]

        def further(term: int, weight: float) -> None:
            if term not in own:
                terms[term] = max(terms.get(term, 0.0), weight)

        for term, weight in related.items():
            further(term, 0.6 * strength * weight)
        for text, weight in ((path, 0.5), (kinds, 0.25)):
            for term, _ in _terms(_words(text), lexicon):
                further(term, weight)
        if kinds:
            other = self._embedded(_words(kinds))
            vector = [one + 0.3 * more for one, more in zip(vector, other, strict=True)]
        return _unit(vector), terms


_INVALID: Final = "index: not a valid index of rules"


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(one * one for one in vector))
    return [one / length for one in vector] if length > 0.0 else [0.0] * len(vector)


def _to_codes(vector: Sequence[float]) -> tuple[float, list[int]]:
    """Bring a vector to int8: the largest number becomes 127."""
    most = max(map(abs, array("f", vector)), default=0.0)
    scale = most / 127.0
    codes = [int(one / scale + math.copysign(0.5, one)) if most else 0 for one in array("f", vector)]
    return scale, codes
