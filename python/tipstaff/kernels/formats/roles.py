"""What a word does to its clause: the bits of a word's value that the clause kernels read.

``native/include/tipstaff/similarity/clauses.hpp`` has the same numbers. From `FREE` on, a lexicon's bits are its
maker's own.
"""

from __future__ import annotations

from typing import Final

(
    FORBIDS,
    FORBIDS_OUTRIGHT,
    OBLIGES,
    PERMITS,
    PERMITS_OUTRIGHT,
    SUBORDINATES,  # opens a condition
    NEGATES,
    TURN,  # ends a clause after a comma
    BREAK,  # ends a clause anywhere
    PAIR,  # may be the second word of a pair that ends a clause
    NECESSARY,
    CONTENT,  # a word of the grammar that also belongs to the topic
    LIFTS,
    COMMANDS,
    REVERSES,
    PREFERS,
    GRAMMAR,  # has one of the roles above, or none and is no content word either
    FUNCTION,  # belongs to no topic
    IMPERATIVE,
    AUXILIARY,
    ADDRESSED,
    IS,
    NOT_FORM,
    POLITE,
    NEED,
    OVER,
    NOT,
) = (1 << bit for bit in range(27))

PAIRS: Final = (("instead", "of"), ("rather", "than"), ("so", "that"), ("and", "never"))
"""Pairs of words that end a clause; the first two also reverse what follows."""

PAIR_FIRST: Final = 28
PAIR_SECOND: Final = 32
"""The bits from which the first and the second words of `PAIRS` are numbered."""

REVERSING_PAIRS: Final = 0b0011
FREE: Final = 36
