"""The vocabulary: word pieces made from the text's own words."""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

SIZE: Final = 15_000
_MIN_FREQUENCY: Final = 5
_MIN_COUNT: Final = 3
_MAX_REPEATS: Final = 400
LONGEST: Final = 24
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_CASE_BORDER = re.compile(r"([a-z0-9])([A-Z])")
_ACRONYM_BORDER = re.compile(r"([A-Z])([A-Z][a-z]{2})")
_RUN = re.compile(r"[a-z0-9]+")


def split_words(text: str) -> list[str]:
    """Return an ASCII text's lower-case words; ``camelCase`` and ``HTTPServer`` are two, ``don't`` and ``APIs`` one."""
    text = _ACRONYM_BORDER.sub(r"\1 \2", _CASE_BORDER.sub(r"\1 \2", text))
    return _RUN.findall(text.lower().replace("'", ""))


def build(texts: Iterable[str]) -> list[str]:
    """Return the pieces, sorted; continuations begin with ``##``.

    Parameters
    ----------
    texts
        All sentences and items.

    Notes
    -----
    Words begin as single characters, and the commonest pair of neighbours becomes one piece, again and again, until
    there are enough pieces or no pair is common; of equally common pairs the first in the alphabet. Every letter and
    digit is a piece of its own, so that each word has pieces.
    """
    counts = Counter(word for text in texts for word in split_words(text))
    words = sorted(
        (word, min(count, _MAX_REPEATS))
        for word, count in counts.items()
        if count >= _MIN_COUNT and word.isalpha() and len(word) <= LONGEST
    )
    pieces = {*_ALPHABET, *(f"##{letter}" for letter in _ALPHABET)}
    pieces.update(_merges(words, SIZE - len(pieces)))
    return sorted(pieces)


def _merges(words: list[tuple[str, int]], limit: int) -> list[str]:
    """Return the pieces that merging makes, in order."""
    symbols = [[word[0], *(f"##{letter}" for letter in word[1:])] for word, _ in words]
    totals: Counter[tuple[str, str]] = Counter()
    words_with: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for number, (_, count) in enumerate(words):
        for pair in pairwise(symbols[number]):
            totals[pair] += count
            words_with[pair].add(number)
    heap = [(-total, pair) for pair, total in totals.items()]
    heapq.heapify(heap)
    made: list[str] = []
    while heap and len(made) < limit:
        total, pair = heapq.heappop(heap)
        if -total != totals[pair]:
            # The total has changed since; it is in the heap again where it still counts.
            continue
        if -total < _MIN_FREQUENCY:
            break
        joined = pair[0] + pair[1].removeprefix("##")
        made.append(joined)
        changed: set[tuple[str, str]] = set()
        for number in words_with.pop(pair):
            count = words[number][1]
            old = symbols[number]
            new: list[str] = []
            at = 0
            while at < len(old):
                if at + 1 < len(old) and (old[at], old[at + 1]) == pair:
                    new.append(joined)
                    at += 2
                else:
                    new.append(old[at])
                    at += 1
            for before in pairwise(old):
                totals[before] -= count
                changed.add(before)
            for after in pairwise(new):
                totals[after] += count
                words_with[after].add(number)
                changed.add(after)
            symbols[number] = new
        totals[pair] = 0
        for one in changed:
            if totals[one] > 0:
                heapq.heappush(heap, (-totals[one], one))
    return list(dict.fromkeys(made))


class Encoder:
    """Greedy longest match over a vocabulary.

    Parameters
    ----------
    pieces
        Sorted; a piece's number is its place.
    """

    def __init__(self, pieces: list[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        self._known: dict[str, list[int]] = {}

    def word(self, word: str) -> list[int]:
        """Return the numbers of a word's pieces."""
        found = self._known.get(word)
        if found is None:
            found = self._known[word] = self._match(word)
        return found

    def _match(self, word: str) -> list[int]:
        numbers: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(min(len(word), start + LONGEST), start, -1):
                number = self._numbers.get(prefix + word[start:end])
                if number is not None:
                    numbers.append(number)
                    start = end
                    break
            else:
                start += 1
        return numbers

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces."""
        return [number for word in split_words(text) for number in self.word(word)]
