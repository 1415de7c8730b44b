"""The head of an index of rules, as ``native/include/tipstaff/scoring/fused.hpp`` reads it.

Magic, bytes of the file; numbers of rules, dimensions, terms, postings, fields of work and their terms; sqrt(2 ln n),
how rare an unknown word is; eight numbers of the floor; the number of rules where there are the signs of their rows,
otherwise 0, and 0. The sections follow at multiples of `ALIGNMENT`.
"""

from __future__ import annotations

import struct
from typing import Final

MAGIC: Final = b"TSFUSED2"
HEAD: Final = struct.Struct("<8sQ6I2f8f2I")
ALIGNMENT: Final = 64
