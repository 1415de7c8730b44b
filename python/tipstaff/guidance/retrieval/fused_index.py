"""The index of rules by meaning, words and priors: what `tipstaff.kernels.FusedSearch` reads.

For each rule one row: the vector of its words, labels and headings, and, weighing 0.8, that of its section. The words
of text, headings, labels and path are in postings with what they contribute to a BM25F; modals, information and
length in a prior; of very many rules there are the signs of their rows, by which the search chooses. Everything that
does not depend on the task is computed here, once.

Source: docs/embedding-model-card.md has the figures and what each part is worth.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from math import log, sqrt
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tipstaff.budgets import SIGNS_FROM_SHARDS
from tipstaff.guidance.retrieval.filters import intent_mask
from tipstaff.guidance.retrieval.query_lexicon import query_lexicon, translations
from tipstaff.guidance.retrieval.task_vocabulary import FIELDS, MODAL
from tipstaff.kernels import query_terms, sign_rows
from tipstaff.kernels.formats.fused import ALIGNMENT, HEAD, MAGIC
from tipstaff.kernels.plain.fused import query_words

if TYPE_CHECKING:
    from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
    from tipstaff.model import RuleShard

SECTION: Final = 0.8
"""Weight of the section's vector beside the rule's own."""
PATH: Final = 0.15
"""Weight of the path's vector beside that of the words."""
SATURATION: Final = 1.5
MODAL_PRIOR: Final = 0.1
INFORMATION_PRIOR: Final = -0.2
LENGTH_PRIOR: Final = -0.02
"""For a rule e times as long as 100 characters."""
FLOOR: Final = (6.528, 6.636, 0.276, -3.343, 1.8, 6.453, -3.407, -1.9)
"""Weights of nearness, share of words, fields, question, nouns, bare verbs; the constant; where silence begins."""


class RuleText(NamedTuple):
    """What of a rule is indexed.

    Attributes
    ----------
    text
        All its words.
    own
        Those that are not of labels.
    labels
        Lead-ins and parent items.
    headings
        The outermost first.
    path
        Of its file.
    section
        Rules with the same value stand in one section.
    is_rule
        False for information.
    intents
        As bits.
    """

    text: str
    own: str
    labels: str = ""
    headings: tuple[str, ...] = ()
    path: str = ""
    section: object = None
    is_rule: bool = True
    intents: int = 0


_FIELDS: Final = (
    ("own", 1.0, 0.5),
    ("heading", 1.5, 0.3),
    ("outer", 0.5, 0.3),
    ("labels", 0.5, 0.3),
    ("path", 0.3, 0.3),
)
"""Name, weight and normalisation by length of what a BM25F is made of."""


def rule_text(shard: RuleShard) -> RuleText:
    """Return what of a shard is indexed."""
    rule = shard.rule
    own, labels = rule.text[rule.own_start :], rule.text[: rule.own_start]
    for heading in rule.headings:
        labels = labels.replace(f"{heading}: ", "", 1)
    headings = rule.headings or ((rule.heading,) if rule.heading else ())
    return RuleText(
        rule.text,
        own,
        labels,
        headings,
        rule.path,
        (rule.tenant, rule.path, *headings),
        rule.kind == "rule",
        intent_mask(rule.intents),
    )


def fused_index(rules: Sequence[RuleText], embedding: StaticEmbedding) -> bytes:
    """Return the index of rules, in their order.

    Parameters
    ----------
    rules
        Any number.
    embedding
        Whose table the rows are made of.
    """
    import numpy as np

    n, d = len(rules), embedding.dimensions
    rows, scales = _rows(rules, embedding)
    priors = np.array(
        [
            (MODAL_PRIOR if MODAL.search(rule.text) else 0.0)
            + (0.0 if rule.is_rule else INFORMATION_PRIOR)
            + LENGTH_PRIOR * log(max(1.0, len(rule.text) / 100))
            for rule in rules
        ],
        dtype="<f4",
    )
    postings = _postings(rules)
    terms = sorted(postings)
    sizes = [len(postings[term][1]) for term in terms]
    starts = np.zeros(len(terms) + 1, dtype="<u4")
    starts[1:] = np.cumsum(sizes)
    field_terms = [sorted(set(query_terms(query_lexicon(), words))) for _, words in FIELDS]
    field_starts = np.zeros(len(FIELDS) + 1, dtype="<u4")
    field_starts[1:] = np.cumsum([len(found) for found in field_terms])
    fields = embedding.embed_batch([words for _, words in FIELDS])
    parts: tuple[Any, ...] = (
        rows,
        scales,
        priors,
        np.array([rule.intents for rule in rules], dtype="<u2"),
        np.array(terms, dtype="<u8"),
        np.array([postings[term][0] for term in terms], dtype="<f4"),
        starts,
        np.array([row for term in terms for row, _ in postings[term][1]], dtype="<u4"),
        np.array([weight for term in terms for _, weight in postings[term][1]], dtype="<f4"),
        fields.astype("<f4"),
        field_starts,
        np.array([term for found in field_terms for term in found], dtype="<u8"),
    )
    n_signs = n if n >= SIGNS_FROM_SHARDS else 0
    signs: tuple[Any, ...] = sign_rows(rows, scales, d) if n_signs else (b"", b"", b"")
    counts = (n, d, len(terms), int(starts[-1]), len(FIELDS), int(field_starts[-1]))
    return _packed((*parts, *map(memoryview, signs)), counts, (sqrt(2.0 * log(max(n, 3))), log(1.0 + 2.0 * n)), n_signs)


def translated(text: str) -> str:
    """Return a text with the English of its words of other languages behind it, for a table that knows English."""
    if text.isascii():
        return text
    known = translations()
    more = dict.fromkeys(known[word] for word in query_words(text) if word in known)
    return f"{text} {' '.join(more)}" if more else text


def _packed(parts: Sequence[Any], counts: tuple[int, ...], numbers: tuple[float, float], n_signs: int) -> bytes:
    data = bytearray(HEAD.size)
    for part in parts:
        data += bytes(-len(data) % ALIGNMENT)
        data += part.tobytes()
    struct.pack_into(HEAD.format, data, 0, MAGIC, len(data), *counts, *numbers, *FLOOR, n_signs, 0)
    return bytes(data)


def _rows(rules: Sequence[RuleText], embedding: StaticEmbedding) -> tuple[Any, Any]:
    """Return the int8 rows, (n, d), and their scales."""
    import numpy as np

    d = embedding.dimensions
    if not rules:
        return np.zeros((0, d), dtype=np.int8), np.zeros(0, dtype="<f4")
    sections: dict[object, list[int]] = {}
    for place, rule in enumerate(rules):
        sections.setdefault(rule.section if rule.section is not None else place, []).append(place)
    words = [translated(rule.own) for rule in rules]
    heads = [tuple(map(translated, rule.headings)) for rule in rules]
    own = embedding.embed_batch(
        [" ".join((own, *above, translated(rule.labels))) for rule, own, above in zip(rules, words, heads, strict=True)]
    )
    paths = embedding.embed_batch([rule.path for rule in rules])
    own = _unit(own + PATH * paths)
    whole = embedding.embed_batch(
        [" ".join((*(words[place] for place in places), *3 * heads[places[0]])) for places in sections.values()]
    )
    of_section = np.zeros(len(rules), dtype=np.int64)
    for number, places in enumerate(sections.values()):
        of_section[places] = number
    rows = own + SECTION * whole[of_section]
    scales = np.abs(rows).max(axis=1) / 127.0
    codes = np.rint(rows / np.where(scales > 0, scales, 1.0)[:, None]).astype(np.int8)
    return np.ascontiguousarray(codes), scales.astype("<f4")


def _unit(rows: Any) -> Any:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def _postings(rules: Sequence[RuleText]) -> dict[int, tuple[float, list[tuple[int, float]]]]:
    """Return for each term how rare it is, and its rules with what it contributes to their BM25F."""
    n = len(rules)
    sums: list[dict[int, float]] = [{} for _ in rules]
    known: dict[str, Counter[int]] = {}
    lexicon = query_lexicon()

    def counted(text: str) -> Counter[int]:
        found = known.get(text)
        if found is None:
            found = known[text] = Counter(query_terms(lexicon, text)) if text else Counter()
        return found

    for name, weight, normal in _FIELDS:
        documents = [counted(_field(rule, name)) for rule in rules]
        sizes = [document.total() for document in documents]
        mean = max(sum(sizes) / n if n else 0.0, 1e-9)
        for place, (document, size) in enumerate(zip(documents, sizes, strict=True)):
            length = 1.0 - normal + normal * size / mean
            into = sums[place]
            for term, count in document.items():
                into[term] = into.get(term, 0.0) + weight * count / length
    having = Counter(term for terms in sums for term in terms)
    rare = {term: log(1.0 + (n - count + 0.5) / (count + 0.5)) for term, count in having.items()}
    postings: dict[int, tuple[float, list[tuple[int, float]]]] = {term: (value, []) for term, value in rare.items()}
    for place, terms in enumerate(sums):
        for term, value in terms.items():
            postings[term][1].append((place, rare[term] * value * (SATURATION + 1.0) / (value + SATURATION)))
    return postings


def _field(rule: RuleText, name: str) -> str:
    if name == "heading":
        return rule.headings[-1] if rule.headings else ""
    if name == "outer":
        return " ".join(rule.headings[:-1])
    return str(getattr(rule, name))
