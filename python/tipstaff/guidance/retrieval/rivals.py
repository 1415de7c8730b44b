"""Which shards may contradict each other, found for all of them at once."""

from __future__ import annotations

from collections.abc import Sequence

from tipstaff.guidance.wording.claims import MAX_CHARS
from tipstaff.guidance.wording.rule_lexicon import column, lexicon
from tipstaff.guidance.wording.tokenize import plain_clauses
from tipstaff.kernels import opposed_texts


def rivals_among(texts: Sequence[str]) -> dict[int, frozenset[int]] | None:
    """Return for each rule that may contradict another one the rules that it may contradict.

    Parameters
    ----------
    texts
        What the rules say.

    Returns
    -------
    dict or None
        Place in `texts` to places; a rule that is missing contradicts none. Some that are named agree after all: the
        kernel compares topics as hashes and knows no scopes. None where the search would take too long.
    """
    pairs, complete = opposed_texts(lexicon(), *column([text[:MAX_CHARS] for text in texts], plain_clauses))
    if not complete:
        return None
    found: dict[int, set[int]] = {}
    for one, other in pairs:
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {position: frozenset(others) for position, others in found.items()}
