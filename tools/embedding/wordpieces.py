"""The vocabulary: word pieces made from the text's own words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from tokenizers import Tokenizer, models, trainers

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
    Every letter and digit is a piece of its own, so that each word has pieces.
    """
    counts = Counter(word for text in texts for word in split_words(text))
    words = sorted(
        (word, min(count, _MAX_REPEATS))
        for word, count in counts.items()
        if count >= _MIN_COUNT and word.isalpha() and len(word) <= LONGEST
    )
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    trainer = trainers.WordPieceTrainer(
        vocab_size=SIZE,
        min_frequency=_MIN_FREQUENCY,
        continuing_subword_prefix="##",
        initial_alphabet=list(_ALPHABET),
        special_tokens=[],
        show_progress=False,
    )
    tokenizer.train_from_iterator((word for word, count in words for _ in range(count)), trainer)
    pieces = set(tokenizer.get_vocab())
    pieces.update(_ALPHABET)
    pieces.update(f"##{letter}" for letter in _ALPHABET)
    return sorted(pieces)


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
