"""Meaning without a model: a vector for each word piece, added up.

The table was fitted so that a text's sum of rows points where a sentence transformer would point; how, on what text and
with what result, says ``docs/reference/embedding-model-card.md``.
"""

from __future__ import annotations

import mmap
import os
import threading
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tipstaff.errors import EmbeddingFileError
from tipstaff.guidance.embeddings.hash_embedding import arrow_column, text_column
from tipstaff.kernels import blend_rows, wordpiece_embed, wordpiece_embed_batch, wordpiece_shape, wordpiece_split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

_TABLE: Final = Path(__file__).resolve().parents[2] / "data" / "static_embedding.bin"
HEADING_WEIGHT: Final = 0.3
"""Weight of the heading above a rule, the rule's own text weighing 1."""
_WORDS_AT_ONCE: Final = 4_096
_HEADER_BYTES: Final = 128
_BODY_DIGEST_AT: Final = 88
_HEADER_DIGEST_AT: Final = 96
_lock = threading.Lock()
_opened: dict[str, mmap.mmap] = {}


class StaticEmbedding:
    """A vector of meaning for English text, in a few microseconds and without a model runtime.

    Words are cut into pieces of a fixed vocabulary, each piece has a row of a table, and the sum of a text's rows is
    brought to length 1. The order of words counts for nothing.

    Parameters
    ----------
    path
        A table file; the one in the package where None.

    Raises
    ------
    EmbeddingFileError
        If the file is missing or is not what was written.

    Notes
    -----
    The table is mapped, checked against its digests once in a process, and shared by all embeddings and threads of it
    and, page by page, by all processes. A text has the same bits on every machine.

    The language is English as software is written about. Latin letters lose their marks, so other languages in Latin
    script are seen as the English words that they look like. Scripts other than Latin have no meaning here: texts in
    them are near or far by the characters that they share, and never near an English one. A text with neither letters
    nor digits is a vector of zeros, whose cosine with everything is 0.
    """

    __slots__ = ("_table", "digest", "dimensions", "identity", "path")

    boosts: ClassVar[tuple[float, float, float]] = (0.01, 0.02, 0.01)
    """For intent, critical and high risk: little, as the scores carry meaning; see the model card."""
    path_boost: ClassVar[float] = 0.05
    """For a rule whose scope holds a file, folder or module that the task names."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        chosen = os.fspath(path if path is not None else _TABLE)
        self._table = _open(chosen)
        self.dimensions: int = wordpiece_shape(self._table)[0]
        self.path: str = os.path.abspath(chosen)  # noqa: PTH100 - pathlib has no such thing
        self.digest: int = int.from_bytes(self._table[_BODY_DIGEST_AT : _BODY_DIGEST_AT + 8], "little")
        self.identity: str = f"static-{self.dimensions}-{self.digest:016x}"

    @property
    def table(self) -> Buffer:
        """The mapped table, for the kernels."""
        return self._table

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text, float32 (dimensions,), of length 1 or zeros."""
        import numpy as np

        return np.asarray(wordpiece_embed(self._table, text), dtype=np.float32)

    def embed_batch(self, texts: Sequence[str] | Any) -> NDArray[np.float32]:
        """Return the vectors of texts, float32 (n_texts, dimensions), as :meth:`HashEmbedding.embed_batch`."""
        import numpy as np

        out = np.empty((len(texts), self.dimensions), dtype=np.float32)
        if len(texts):
            self._embed_into(texts, out)
        return out

    def embed_rows(self, texts: Sequence[str] | Any) -> bytearray:
        """Return the vectors of texts as the bytes of float32 (n_texts, dimensions), without NumPy."""
        out = bytearray(4 * self.dimensions * len(texts))
        if out:
            self._embed_into(texts, out)
        return out

    def word_lengths(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return how long each word's sum of rows is, float32 (n_words,).

        It is the weight that a word has in a text's vector: fitted on much text, it is short for words of all subjects
        ("two", about 0.5) and long for those of one ("nginx", about 1.5).
        """
        import numpy as np

        lengths = np.empty(len(words), dtype=np.float32)
        for start in range(0, len(words), _WORDS_AT_ONCE):
            part = words[start : start + _WORDS_AT_ONCE]
            rows = np.empty((len(part), self.dimensions), dtype=np.float32)
            self._embed_into(part, rows, lengths[start : start + len(part)])
        return lengths

    def embed_query(self, text: str) -> memoryview[float]:
        """Return the vector of a text, float32 (dimensions,), without NumPy."""
        return wordpiece_embed(self._table, text)

    def rule_vectors(self, texts: Sequence[str], headings: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of rules under their headings, float32 (n_rules, dimensions).

        Parameters
        ----------
        texts
            Rules.
        headings
            For each the innermost heading above it, empty where there is none.

        Returns
        -------
        numpy.ndarray
            ``norm(embed(rule) + 0.3 embed(heading))``, rows of length 1 or zeros.

        Raises
        ------
        ValueError
            If the lengths differ.
        """
        import numpy as np

        rows = np.frombuffer(self.rule_rows(texts, headings), dtype=np.float32)
        return rows.reshape(len(texts), self.dimensions)

    def rule_rows(self, texts: Sequence[str], headings: Sequence[str]) -> bytearray:
        """Return what `rule_vectors` does as the bytes of float32 (n_rules, dimensions), without NumPy."""
        if len(headings) != len(texts):
            raise ValueError(f"{len(headings)} headings were given for {len(texts)} texts; there must be one for each")
        rows = self.embed_rows(texts)
        # Many rules are under one heading.
        positions = {heading: index for index, heading in enumerate(dict.fromkeys(headings))}
        above = self.embed_rows(list(positions))
        blend_rows(rows, above, array("i", map(positions.__getitem__, headings)), HEADING_WEIGHT, self.dimensions)
        return rows

    def pieces(self, text: str) -> list[str]:
        """Return the word pieces that make up a text's vector; continuations begin with ``##``."""
        return wordpiece_split(self._table, text)

    def _embed_into(self, texts: Any, out: Any, lengths: Any = None) -> None:
        if not hasattr(texts, "buffers"):
            try:
                offsets, data = text_column(texts)
            except UnicodeEncodeError:
                # Lone surrogates end words, as question marks do.
                offsets, data = text_column([text.encode("utf-8", "replace").decode() for text in texts])
            wordpiece_embed_batch(self._table, offsets, data, len(texts), out, lengths=lengths)
            return
        view, column, large = arrow_column(texts)
        wordpiece_embed_batch(self._table, view, column, len(texts), out, large_offsets=large)


def _open(path: str) -> mmap.mmap:
    """Map a table and check it, once for each path."""
    with _lock:
        table = _opened.get(path)
        if table is None:
            table = _opened[path] = _checked(path)
        return table


def _checked(path: str) -> mmap.mmap:
    import xxhash

    try:
        with Path(path).open("rb") as file:
            table = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        msg = f"{path}: the table of the static embedding cannot be opened ({error}); install the package again"
        raise EmbeddingFileError(msg) from error
    with memoryview(table) as view:
        try:
            wordpiece_shape(view)
        except ValueError as error:
            raise EmbeddingFileError(f"{path}: {error}; install the package again") from error
        for name, at, part in (
            ("header", _HEADER_DIGEST_AT, view[:_HEADER_DIGEST_AT]),
            ("table", _BODY_DIGEST_AT, view[_HEADER_BYTES:]),
        ):
            with part:
                if xxhash.xxh3_64_intdigest(part) != int.from_bytes(view[at : at + 8], "little"):
                    msg = f"{path}: the {name} does not have the digest it was written with; install the package again"
                    raise EmbeddingFileError(msg)
    return table
