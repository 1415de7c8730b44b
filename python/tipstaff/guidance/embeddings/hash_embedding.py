"""Embeddings: text in, unit vectors out.

An embedding has an `identity`, which a shard store remembers, since vectors of two embeddings cannot be compared.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, runtime_checkable

from tipstaff.errors import ConfigError
from tipstaff.kernels import hash_embed, hash_embed_batch, hash_embed_into

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_DIMENSIONS: Final = 4_096


@runtime_checkable
class Embedding(Protocol):
    """What retrieval needs of an embedding."""

    @property
    def identity(self) -> str:
        """Name of the embedding, with everything that changes its vectors."""
        ...

    @property
    def dimensions(self) -> int:
        """Numbers in a vector."""
        ...

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return a unit vector, float32 (dimensions,)."""
        ...

    def embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, float32 (n_texts, dimensions)."""
        ...


class HashEmbedding:
    """A deterministic vector made from a text's 32-bit hash.

    It needs nothing and costs a microsecond, and it carries **no meaning**: two texts are near or far by chance, unless
    they are equal after lower-casing and trimming. What it is good for is an exact, reproducible baseline, and ranking
    that rests on intent, risk and scope.

    Parameters
    ----------
    dimensions
        Numbers in a vector.

    Notes
    -----
    Bit-equal to the embedding of the guidance control plane (ADR-G002): number i is ``(sin(h_i) + 1) / 2`` with
    ``h_i = (i + 1) * H mod 2**32`` as a signed integer, H the 31-multiplier hash of the text's UTF-16 units, divided by
    the vector's length. Nothing is cached, so nothing returned is shared: making a vector costs less than finding it.
    """

    __slots__ = ("dimensions",)
    cosine_alone: ClassVar[bool] = True
    """Retrieval by it is that of ADR-G002: the cosine and the boosts, and nothing else."""

    def __init__(self, dimensions: int = 384) -> None:
        if not isinstance(dimensions, int) or not 1 <= dimensions <= MAX_DIMENSIONS:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ConfigError(f"dimensions is {dimensions!r}; it must be a whole number between 1 and {MAX_DIMENSIONS}")
        self.dimensions = dimensions

    @property
    def identity(self) -> str:
        """Name of the embedding as stores keep it."""
        return f"hash-{self.dimensions}"

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text, float32 (dimensions,)."""
        import numpy as np

        return np.asarray(hash_embed(text, self.dimensions), dtype=np.float32)

    def embed_batch(self, texts: Sequence[str] | Any) -> NDArray[np.float32]:
        """Return the vectors of texts, float32 (n_texts, dimensions).

        Parameters
        ----------
        texts
            Strings, or an Arrow string column (``pyarrow.StringArray`` or ``LargeStringArray`` without nulls), whose
            buffers are read where they are.

        Raises
        ------
        TypeError
            If it is neither.
        ValueError
            If the column has nulls.
        """
        import numpy as np

        n_rows = len(texts)
        rows = np.empty((n_rows, self.dimensions), dtype=np.float32)
        out: Any = rows  # NumPy's types do not say before Python 3.12 that an array is a buffer
        if hasattr(texts, "buffers"):
            offsets, data, large = arrow_column(texts)
            if n_rows:
                hash_embed_batch(offsets, data, n_rows, self.dimensions, out, large_offsets=large)
        else:
            self._embed_texts(texts, out)
        return rows

    def embed_query(self, text: str) -> memoryview[float]:
        """Return the vector of a text, float32 (dimensions,), without NumPy."""
        return hash_embed(text, self.dimensions)

    def embed_rows(self, texts: Sequence[str]) -> bytearray:
        """Return the vectors of texts as the bytes of float32 (n_texts, dimensions), without NumPy."""
        out = bytearray(4 * self.dimensions * len(texts))
        self._embed_texts(texts, out)
        return out

    def _embed_texts(self, texts: Sequence[str], out: Any) -> None:
        if isinstance(texts, str):
            raise TypeError("one text was given where a list of texts is wanted")
        if not texts:
            return
        try:
            offsets, data = text_column(texts)
        except UnicodeEncodeError:  # a lone surrogate, which no Arrow column can hold
            rows = memoryview(out).cast("B")
            width = 4 * self.dimensions
            for index, text in enumerate(texts):
                hash_embed_into(text, rows[index * width : (index + 1) * width])
        else:
            hash_embed_batch(offsets, data, len(texts), self.dimensions, out)


def text_column(texts: Sequence[str]) -> tuple[array[int], bytes]:
    """Return texts as the offsets (int32) and UTF-8 bytes of an Arrow string column.

    Raises
    ------
    UnicodeEncodeError
        If one holds a lone surrogate.
    """
    joined = "".join(texts)
    encoded = joined.encode()
    sizes = map(len, texts if len(encoded) == len(joined) else [text.encode() for text in texts])
    return array("i", accumulate(sizes, initial=0)), encoded


def arrow_column(column: Any) -> tuple[memoryview, Any, bool]:
    """Return an Arrow string column as its offsets, its UTF-8 bytes, and whether the offsets are int64, without a copy.

    Raises
    ------
    TypeError
        If it is no column of strings.
    ValueError
        If it has nulls.
    """
    kind = str(column.type)
    if kind not in {"string", "large_string", "utf8", "large_utf8"}:
        raise TypeError(f"an Arrow column of {kind} was given; it must be one of strings")
    if column.null_count:
        raise ValueError(f"the Arrow column has {column.null_count} nulls; fill them first")
    large = kind.startswith("large")
    if not len(column):
        return memoryview(b""), b"", large
    width = 8 if large else 4
    _, offsets, data = column.buffers()
    start = column.offset * width
    return memoryview(offsets)[start : start + (len(column) + 1) * width], data if data is not None else b"", large
