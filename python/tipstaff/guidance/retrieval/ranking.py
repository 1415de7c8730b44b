"""Plain texts ranked for a task as retrieval would: without a bundle, for trying an embedding or a wording."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tipstaff.errors import require_whole_number
from tipstaff.guidance.embeddings.hash_embedding import Embedding
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.intents.classify import classify_intent
from tipstaff.guidance.retrieval.fused_index import RuleText, fused_index, intent_mask
from tipstaff.guidance.retrieval.task_vocabulary import query_lexicon
from tipstaff.guidance.retrieval.vectors import boosts_of, cosines, default_embedding, text_rows
from tipstaff.guidance.wording.tokenize import words as split
from tipstaff.guidance.wording.vocabulary import infer
from tipstaff.kernels import FusedSearch
from tipstaff.model import INTENT_BITS

HEADING_SEPARATOR: Final = " > "
"""Between the headings of a path."""
_FILE_NAME: Final = re.compile(r"[\w./@-]*\.\w{2,13}")


def rank_texts(
    task: str,
    texts: Sequence[str],
    k: int,
    *,
    headings: Sequence[str] | None = None,
    embedding: Embedding | None = None,
) -> list[int]:
    """Rank plain rule texts for a task as retrieval would.

    Parameters
    ----------
    task
        What is to be done.
    texts
        Rules.
    k
        How many to return at most.
    headings
        For each rule the heading above it, or all of them, the outermost first, with `HEADING_SEPARATOR` between;
        the name of the rule's file may be in front.
    embedding
        `StaticEmbedding` where None.

    Returns
    -------
    list of int
        Places in `texts`, the best first.

    Raises
    ------
    ValueError
        If `headings` has another length than `texts`, or `k` is no whole number.
    """
    if headings is not None and len(headings) != len(texts):
        raise ValueError(f"{len(headings)} headings were given for {len(texts)} texts; there must be one for each")
    require_whole_number("k", k)
    if not texts or k <= 0:
        return []
    chosen: Embedding = default_embedding() if embedding is None else embedding
    static = chosen if type(chosen) is StaticEmbedding else None
    heads = headings if headings is not None else [""] * len(texts)
    paths = [tuple(head.split(HEADING_SEPARATOR)) if head else () for head in heads]
    intents = [0] * len(texts) if static is not None else [intent_mask(infer(split(text))[0]) for text in texts]
    rules = [
        RuleText(text, text, headings=path[1 if named else 0 :], section=path or None, intents=bits)
        for text, path, bits in zip(texts, paths, intents, strict=True)
        for named in [bool(path) and _FILE_NAME.fullmatch(path[0]) is not None]
    ]
    search = FusedSearch(fused_index(rules, chosen), query_lexicon(), None if static is None else static.table)
    if static is not None:
        return search.find(task, k=k)[0]
    return search.find(
        task, meanings=cosines(text_rows(texts, chosen, headings), task, chosen),
        query_intents=INTENT_BITS[classify_intent(task).intent], intent_boost=boosts_of(chosen)[0], k=k,
    )[0]  # fmt: skip
