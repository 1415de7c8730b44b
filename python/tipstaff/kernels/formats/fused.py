"""The head of an index of rules, as ``native/include/tipstaff/scoring/fused.hpp`` reads it.

Magic, bytes of the file; numbers of rules, dimensions, terms, postings, fields of work and their terms; sqrt(2 ln n),
how rare an unknown word is; eight numbers of the floor; the number of rules where there are the signs of their rows,
otherwise 0, and 0. Without dimensions, whoever asks brings the meanings. The sections follow at multiples of
`ALIGNMENT`.
"""

from __future__ import annotations

import struct
from typing import Final

MAGIC: Final = b"TSFUSED2"
HEAD: Final = struct.Struct("<8sQ6I2f8f2I")
ALIGNMENT: Final = 64

STOP_BIT, WEAK_BIT, VERB_BIT, ASKS_BIT, ASKS_HOW_BIT, AFTER_HOW_BIT = (1 << bit for bit in range(6))
"""Of a word's value in the lexicon of tasks (``native/include/tipstaff/tasks/query.hpp``)."""
FIELD_SHIFT: Final = 8
FIELD_BITS: Final = 11
FIELDS_OF_WORD: Final = 4
MOST_MUCH: Final = 63
"""From `FIELD_SHIFT` on up to `FIELDS_OF_WORD` fields of work: 5 bits of its number, 6 of how much it is asked for."""
