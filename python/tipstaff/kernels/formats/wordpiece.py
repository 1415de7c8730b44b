r"""The file of a word-piece table, little-endian: a header of 128 bytes, then five sections at multiples of 64 bytes.

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

import struct
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing_extensions import Buffer

MAGIC: Final = b"\x89TWP\r\n\x1a\n"
VERSION: Final = 1
HEADER: Final = 128
_PIECES_AT, _STARTS_AT = 16, 64


def piece_names(table: Buffer) -> tuple[str, ...]:
    """Return the pieces of a valid table in the order of their rows; continuations begin with ``##``."""
    file = memoryview(table).cast("B")
    (pieces,) = struct.unpack_from("<I", file, _PIECES_AT)
    starts, names, size = struct.unpack_from("<3Q", file, _STARTS_AT)
    text = str(file[names : names + size], "latin-1")
    return tuple(text[start:end] for start, end in pairwise(struct.unpack_from(f"<{pieces + 1}I", file, starts)))
