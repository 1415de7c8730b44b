r"""Word-piece embedding in plain Python: states what the native kernels do, bit for bit.

A table file is little-endian: a header of 128 bytes, then five sections at multiples of 64 bytes.

::

    0   magic \x89TWP\r\n\x1a\n         28  float32: what one sign of a hashed n-gram weighs
    8   uint32 version, 1               32  uint64 size of the file
    12  uint32 dimensions               40  uint64 offsets of codes, scales, slots, starts, names
    16  uint32 number of pieces         80  uint64 bytes of names
    20  uint32 number of slots          88  uint64 xxh3 of all that follows the header
    24  uint32 longest piece            96  uint64 xxh3 of the 96 bytes before

    codes   int8 (pieces, dimensions)       scales  float32 (pieces,)
    slots   uint32, a hash table of pieces  starts  uint32 (pieces + 1,): piece i is names[starts[i]:starts[i + 1]]

A text's words are lower-case runs of a-z and 0-9 (letters lose their marks, ``camelCase`` is two words, apostrophes
vanish), and each is cut into the longest pieces that the table has. A word of three pieces or more and no digit is
unknown to the table: signs drawn from its hash are added, so that it can at least meet itself. Characters of other
scripts have no pieces: signs drawn from hashes of their n-grams (single characters and pairs of ideographs; trigrams
and whole words of alphabets) let equal words meet, and say nothing of meaning. All rows are added in the text's order,
in float32, and the sum is brought to length 1. A text with neither letters nor digits gives zeros.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from tipstaff.kernels.plain.words import split_words

if TYPE_CHECKING:
    from typing_extensions import Buffer

    Bytes = memoryview[int]
    Floats = memoryview[float]

MAGIC: Final = b"\x89TWP\r\n\x1a\n"
VERSION: Final = 1
HEADER_BYTES: Final = 128
MAX_DIMENSIONS: Final = 1024
MAX_PIECE_LENGTH: Final = 32

_MASK: Final = (1 << 64) - 1
_FNV_PRIME: Final = 0x100000001B3
_WORD_BASIS: Final = 0x9E3779B97F4A7C15
_TRIGRAM_BASIS: Final = 0xC2B2AE3D27D4EB4F
_SINGLE_BASIS: Final = 0x165667B19E3779F9
_PAIR_BASIS: Final = 0x27D4EB2F165667C5
_EDGE: Final = ord(" ")

_PIECES_OF_UNKNOWN: Final = 3


class _Table(NamedTuple):
    codes: Bytes
    scales: Floats
    names: tuple[str, ...]
    numbers: dict[str, int]
    dimensions: int
    longest: int
    gram_scale: float


# --- the file ---------------------------------------------------------------------------------------------------------


def wordpiece_shape(table: Buffer) -> tuple[int, int]:
    """Return (dimensions, number of pieces); documented in ``src/_wordpiece.pyx``."""
    _, dimensions, pieces, *_ = _header(table)
    return dimensions, pieces


def _header(table: Buffer) -> tuple[Bytes, int, int, int, int, float, tuple[int, ...], int]:
    file = memoryview(table).cast("B")
    if len(file) < HEADER_BYTES:
        raise ValueError(_fault("truncated header"))
    magic, version, dimensions, pieces, slots, longest, gram_scale, size, *rest = struct.unpack_from(
        "<8sIIIIIfQ5QQ", file
    )
    offsets, names_size = tuple(rest[:5]), rest[5]
    if magic != MAGIC:
        raise ValueError(_fault("wrong magic number"))
    if version != VERSION:
        raise ValueError(_fault("its version is not 1"))
    if dimensions == 0 or dimensions % 16 or dimensions > MAX_DIMENSIONS:
        raise ValueError(_fault("its number of dimensions is not a multiple of 16 up to 1024"))
    if not 0 < pieces < 0xFFFF:
        raise ValueError(_fault("its number of pieces is not between 1 and 65534"))
    if slots <= pieces or slots > 1 << 20 or slots & (slots - 1):
        raise ValueError(_fault("its number of slots is not a power of two above the number of pieces"))
    if not 0 < longest <= MAX_PIECE_LENGTH:
        raise ValueError(_fault("its longest piece is not of 1 to 32 characters"))
    if size != len(file):
        raise ValueError(_fault("its size differs from the one in its header"))
    for offset, length in zip(
        offsets, (pieces * dimensions, pieces * 4, slots * 4, (pieces + 1) * 4, names_size), strict=True
    ):
        if not HEADER_BYTES <= offset <= size - length:
            raise ValueError(_fault("a section lies outside it"))
    return file, dimensions, pieces, slots, longest, gram_scale, offsets, names_size


def _fault(what: str) -> str:
    return f"table: not a valid word-piece table: {what}"


_last: list[tuple[bytes, _Table]] = []
"""The table used last: laying one out takes a while, and its header's checksums tell it from others."""


def _open(table: Buffer) -> _Table:
    file, dimensions, pieces, _, longest, gram_scale, offsets, names_size = _header(table)
    key = bytes(file[:HEADER_BYTES])
    if _last and _last[0][0] == key and _last[0][1].codes.obj is file.obj:
        return _last[0][1]
    codes, scales, _, starts, names = offsets
    bounds = struct.unpack_from(f"<{pieces + 1}I", file, starts)
    blob = str(file[names : names + names_size], "latin-1")
    listed = tuple(blob[start:end] for start, end in pairwise(bounds))
    opened = _Table(
        codes=file[codes : codes + pieces * dimensions].cast("b"),
        scales=memoryview(array("f", struct.unpack_from(f"<{pieces}f", file, scales))),
        names=listed,
        numbers={name: number for number, name in enumerate(listed)},
        dimensions=dimensions,
        longest=longest,
        gram_scale=gram_scale,
    )
    _last[:] = [(key, opened)]
    return opened


def piece_names(table: Buffer) -> tuple[str, ...]:
    """Return the pieces of a table in the order of their rows; continuations begin with ``##``."""
    return _open(table).names


# --- texts ------------------------------------------------------------------------------------------------------------


def _fnv(value: int, *units: int) -> int:
    for unit in units:
        value = (value ^ unit) * _FNV_PRIME & _MASK
    return value


def _grams(script: str, word: str) -> Iterator[int]:
    """Yield the hashes of a word's n-grams, in order."""
    codes = [ord(character) for character in word]
    if script == "ideograph":
        for index, code in enumerate(codes):
            yield _fnv(_SINGLE_BASIS, code)
            if index:
                yield _fnv(_PAIR_BASIS, codes[index - 1], code)
    else:
        padded = [_EDGE, *codes, _EDGE]
        for index in range(len(codes)):
            yield _fnv(_TRIGRAM_BASIS, *padded[index : index + 3])
        yield _fnv(_WORD_BASIS, *codes)


def _pieces(table: _Table, word: str) -> Iterator[int]:
    """Yield the numbers of a word's pieces; a character without a piece is passed over."""
    start = 0
    while start < len(word):
        marks = "##" if start else ""
        for end in range(min(len(word), start + table.longest), start, -1):
            number = table.numbers.get(marks + word[start:end])
            if number is not None:
                yield number
                start = end
                break
        else:
            start += 1


def wordpiece_split(table: Buffer, text: str) -> list[str]:
    """Return the pieces of a text; documented in ``src/_wordpiece.pyx``."""
    opened = _open(table)
    return [
        opened.names[number]
        for script, word in split_words(text)
        if script == "latin"
        for number in _pieces(opened, word)
    ]


# --- vectors ----------------------------------------------------------------------------------------------------------


def _signs(gram: int, dimensions: int) -> Iterator[int]:
    """Yield -1 and 1 by the bits of a SplitMix64 sequence."""
    state = gram
    for start in range(0, dimensions, 64):
        state = (state + 0x9E3779B97F4A7C15) & _MASK
        bits = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & _MASK
        bits ^= bits >> 31
        for bit in range(min(64, dimensions - start)):
            yield 1 - 2 * (bits >> bit & 1)


def _sum(table: _Table, text: str) -> array[float]:
    # An array of float32 rounds whatever is put into it: each product, then each sum.
    total = array("f", bytes(4 * table.dimensions))

    def add(scale: float, codes: Iterator[int] | Bytes) -> None:
        nonlocal total
        products = array("f", (scale * code for code in codes))
        total = array("f", map(float.__add__, total, products))

    for script, word in split_words(text):
        if script == "latin":
            numbers = list(_pieces(table, word))
            for number in numbers:
                start = number * table.dimensions
                add(table.scales[number], table.codes[start : start + table.dimensions])
            unknown = len(numbers) >= _PIECES_OF_UNKNOWN and word.isalpha()
            grams = iter([_fnv(_WORD_BASIS, *word.encode())] if unknown else [])
        else:
            grams = _grams(script, word)
        for gram in grams:
            add(table.gram_scale, _signs(gram, table.dimensions))
    return total


def _unit(total: array[float]) -> tuple[array[float], float]:
    """Return a sum brought to length 1, and its length; zeros and 0 of nothing."""
    lanes = [0.0] * 8
    for index, value in enumerate(total):
        lanes[index % 8] += value * value
    squares = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
    if not 0 < squares <= 1e60:
        return array("f", bytes(4 * len(total))), 0.0
    length = math.sqrt(squares)
    inverse = 1.0 / length
    return array("f", (value * inverse for value in total)), length


def _check_isa(isa: str | None) -> None:
    if isa not in {None, "plain"}:
        message = f"instruction set {isa!r} is not one that this machine runs: plain"
        raise ValueError(message)


def wordpiece_embed(table: Buffer, text: str, *, isa: str | None = None) -> Floats:
    """Embed one text; documented in ``src/_wordpiece.pyx``."""
    _check_isa(isa)
    return memoryview(_unit(_sum(_open(table), text))[0])


def wordpiece_embed_batch(
    table: Buffer,
    offsets: Buffer,
    data: Buffer,
    n_rows: int,
    out: Buffer,
    *,
    lengths: Buffer | None = None,
    large_offsets: bool = False,
    isa: str | None = None,
) -> None:
    """Embed the rows of a string column; documented in ``src/_wordpiece.pyx``."""
    _check_isa(isa)
    opened = _open(table)
    if n_rows < 0:
        message = f"n_rows: expected 0 or more, got {n_rows}"
        raise ValueError(message)
    bounds = _bytes(offsets).cast("q" if large_offsets else "i")
    if n_rows > 0 and len(bounds) < n_rows + 1:
        message = f"offsets: {n_rows} rows need {n_rows + 1} offsets, got {len(bounds)}"
        raise ValueError(message)
    text = _bytes(data)
    vectors = _bytes(out).cast("f")
    if len(vectors) != n_rows * opened.dimensions:
        wanted = n_rows * opened.dimensions
        message = f"out: {n_rows} rows of {opened.dimensions} float32 are {wanted} items, got {len(vectors)}"
        raise ValueError(message)
    sums = None if lengths is None else _bytes(lengths).cast("f")
    if sums is not None and len(sums) != n_rows:
        message = f"lengths: expected {n_rows} float32, got {len(sums)}"
        raise ValueError(message)
    for row in range(n_rows):
        start, end = bounds[row], bounds[row + 1]
        if not 0 <= start <= end <= len(text):
            message = f"offsets: those of row {row} are out of order or outside the data"
            raise ValueError(message)
        # Bytes that are no UTF-8 end words, as U+FFFD does.
        vector, length = _unit(_sum(opened, str(text[start:end], "utf-8", "replace")))
        if sums is not None:
            sums[row] = length
        vectors[row * opened.dimensions : (row + 1) * opened.dimensions] = memoryview(vector)


def blend_rows(rows: Buffer, others: Buffer, positions: Buffer, weight: float, dimensions: int) -> None:
    """Add to each row a weighted one of some others; documented in ``src/_wordpiece.pyx``."""
    if not 0 < dimensions <= MAX_DIMENSIONS or dimensions % 16:
        message = f"dimensions: expected a multiple of 16 up to 1024, got {dimensions}"
        raise ValueError(message)
    row_values, other_values, chosen = _bytes(rows).cast("f"), _bytes(others).cast("f"), _bytes(positions).cast("i")
    if len(row_values) % dimensions or len(other_values) % dimensions:
        message = f"rows and others: expected whole rows of {dimensions} float32"
        raise ValueError(message)
    n_rows, n_others = len(row_values) // dimensions, len(other_values) // dimensions
    if len(chosen) != n_rows:
        message = f"positions: {n_rows} rows need as many, got {len(chosen)}"
        raise ValueError(message)
    for row, position in enumerate(chosen):
        if not 0 <= position < n_others:
            message = f"positions: that of row {row} is not one of the {n_others} others"
            raise ValueError(message)
    (factor,) = array("f", [weight])
    for row, position in enumerate(chosen):
        own = row_values[row * dimensions : (row + 1) * dimensions]
        added = array(
            "f", (factor * value for value in other_values[position * dimensions : (position + 1) * dimensions])
        )
        own[:] = memoryview(_unit(array("f", map(float.__add__, own, added)))[0])


def _bytes(data: Buffer) -> Bytes:
    view = memoryview(data)
    # A view without items cannot be cast.
    return view.cast("B") if view.nbytes else memoryview(b"")
