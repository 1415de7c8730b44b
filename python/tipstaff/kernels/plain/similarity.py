"""The plain twins of the similarity kernels: what ``src/_similarity.pyx`` does, for readers."""

from __future__ import annotations

import re
from typing import Final

from tipstaff.kernels.plain.scoring import jaccard_pairs

__all__ = ["WordSets", "jaccard_pairs"]

_WORDS: Final = re.compile(r"[a-z0-9_\u0080-\U0010ffff]+")
_CAPITALS: Final = {capital: capital + 32 for capital in range(ord("A"), ord("Z") + 1)}
_MAX_TEXT_BYTES: Final = 131_070
_FIRST_MARK: Final = -(1 << 63) + 1
_LAST_MARK: Final = (1 << 63) - 1


class WordSets:
    """Finds the most similar of many word sets; documented in ``src/_similarity.pyx``."""

    def __init__(self, threshold: float) -> None:
        if not 0 < threshold <= 1:
            message = f"threshold: expected above 0 and at most 1, got {threshold}"
            raise ValueError(message)
        self._threshold = threshold
        self._sets: list[frozenset[str]] = []
        self._marks: list[int | None] = []

    def __len__(self) -> int:
        return len(self._sets)

    def add(self, text: str, mark: int = 0) -> int:
        """Take in a text and return its number."""
        self._sets.append(_words(text))
        self._marks.append(mark)
        return len(self._sets) - 1

    def find(self, text: str, earliest: int = _FIRST_MARK, latest: int = _LAST_MARK) -> tuple[int, float]:
        """Return (number, similarity) of the most similar text, (-1, 0.0) if none is."""
        wanted = _words(text)
        best, number = 0.0, -1
        for other, (words, mark) in enumerate(zip(self._sets, self._marks, strict=True)):
            if not words or mark is None or not earliest <= mark <= latest:
                continue
            shared = len(wanted & words)
            similarity = shared / (len(wanted) + len(words) - shared)
            if similarity >= self._threshold and similarity > best:
                best, number = similarity, other
        return number, best

    def find_or_add(
        self, text: str, mark: int = 0, earliest: int = _FIRST_MARK, latest: int = _LAST_MARK
    ) -> tuple[int, float]:
        """Return what `find` returns; where nothing is similar, take in the text."""
        found = self.find(text, earliest, latest)
        return found if found[0] >= 0 else (self.add(text, mark), 0.0)

    def set_mark(self, number: int, mark: int) -> None:
        """Give a text another mark."""
        self._check(number)
        self._marks[number] = mark

    def remove(self, number: int) -> None:
        """Let a text be found no more; its number is not given again."""
        self._check(number)
        self._marks[number] = None

    def _check(self, number: int) -> None:
        if not 0 <= number < len(self._sets):
            message = f"number: expected 0 to {len(self._sets) - 1}, got {number}"
            raise IndexError(message)


def _words(text: object) -> frozenset[str]:
    if not isinstance(text, str):
        message = f"text: expected str, got {type(text).__name__}"
        raise TypeError(message)
    size = len(text.encode())
    if size > _MAX_TEXT_BYTES:
        message = f"text: expected at most {_MAX_TEXT_BYTES} bytes, got {size}"
        raise ValueError(message)
    return frozenset(_WORDS.findall(text.translate(_CAPITALS)))
