"""The words that a task has in common with topics, in plain Python: states what the native kernel does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

from tipstaff.kernels.formats.lexicon import fnv, read_lexicon
from tipstaff.kernels.plain.text import word_reader, words_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["TopicWords", "stem_hashes"]

_MAX_CHARS: Final = 1_000
_MAX_WORDS: Final = 64
_HASH_BYTES: Final = 8


def stem_hashes(stems: Iterable[str]) -> bytes:
    """Return the hashes of stems; documented in ``src/_intents.pyx``."""
    return b"".join(fnv(stem.encode("utf-8", "surrogatepass")).to_bytes(_HASH_BYTES, "little") for stem in stems)


class TopicWords:
    """Finds a task's words in topics; documented in ``src/_intents.pyx``."""

    def __init__(self, lexicon: Buffer, grammar: int) -> None:
        self._lexicon = bytes(memoryview(lexicon))
        read_lexicon(self._lexicon)
        self._grammar = grammar

    def shared(self, task: str, topics: Sequence[bytes], most: int = 4) -> list[str] | None:
        """Return for each topic the words that it has in common with a task, None where the task is not ASCII."""
        if not task.isascii():
            return None
        read = word_reader(read_lexicon(self._lexicon))
        words: dict[int, str] = {}
        for word in (one.decode() for one in words_of(task[:_MAX_CHARS].encode())[:_MAX_WORDS]):
            value, stem = read(word)
            if len(word) > 1 and not value & self._grammar:
                words[stem] = word
        shared: list[str] = []
        for topic in topics:
            if len(topic) % _HASH_BYTES:
                msg = f"topics: expected hashes of {_HASH_BYTES} bytes each, got {len(topic)} bytes"
                raise ValueError(msg)
            stems = {int.from_bytes(topic[at : at + _HASH_BYTES], "little") for at in range(0, len(topic), _HASH_BYTES)}
            found = islice((word for stem, word in words.items() if stem in stems), max(most, 0))
            shared.append(", ".join(f"'{word}'" for word in found))
        return shared

    def reasons(
        self, task: str, topics: Sequence[bytes], cosines: Sequence[float], shown: Sequence[str], most: int = 4
    ) -> list[str] | None:
        """Return for each topic why it was found, None where the task is not ASCII."""
        if len(cosines) != len(topics) or len(shown) != len(topics):
            msg = f"{len(topics)} topics need as many cosines and texts, got {len(cosines)} and {len(shown)}"
            raise ValueError(msg)
        shared = self.shared(task, topics, most)
        if shared is None:
            return None
        found: list[str] = []
        for cosine, more, words in zip(cosines, shown, shared, strict=True):
            if not 0.0 <= cosine <= 1.0:
                msg = f"cosines: expected 0 to 1, got {cosine}"
                raise ValueError(msg)
            found.append(f"meaning {int(cosine * 100 + 0.5) / 100:.2f}" + more + (f"; shares {words}" if words else ""))
        return found
