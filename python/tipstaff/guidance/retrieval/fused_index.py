"""The index of rules by meaning, words and priors: what `tipstaff.kernels.FusedSearch` reads.

For each rule one row: the vector of its words, labels and headings, and, weighing `SECTION`, that of its section; of an
embedding other than `StaticEmbedding` there are no rows here, and whoever searches brings the cosines. The words of
text, headings, labels and path are in postings with what they contribute to a BM25F; modals, information and length in
a prior; of very many rules there are the signs of their rows, by which the search chooses. Everything that does not
depend on the task is computed here, once.

Source: docs/reference/embedding-model-card.md has the figures and what each part is worth.
"""

from __future__ import annotations

import re
import struct
from array import array
from collections.abc import Iterable, Sequence
from math import log, sqrt
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tipstaff.budgets import SIGNS_FROM_SHARDS
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.retrieval.task_vocabulary import FIELDS, has_modal, query_lexicon, translations
from tipstaff.guidance.retrieval.vectors import with_words
from tipstaff.kernels import query_terms, query_words, sign_rows
from tipstaff.kernels.formats.fused import ALIGNMENT, HEAD, MAGIC
from tipstaff.model import INTENT_BITS

if TYPE_CHECKING:
    from tipstaff.guidance.embeddings.hash_embedding import Embedding
    from tipstaff.model import RuleShard

SECTION: Final = 0.8
"""Weight of the section's vector beside the rule's own."""
PATH: Final = 0.2
"""Weight of the path's vector beside that of the words."""
SATURATION: Final = 1.5
FULL_LENGTH: Final = 1.6
"""Length of a word's rows from which it counts fully among words; a shorter one counts by its share of it."""
LEAST_WORD: Final = 0.2
MODAL_PRIOR: Final = 0.1
INFORMATION_PRIOR: Final = -0.3
LENGTH_PRIOR: Final = -0.035
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
        Rules with the same value are in one section.
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


_WORD: Final = re.compile(r"[A-Z]{2,}s?(?![a-z])|[A-Z]?[^\W\d_A-Z]+(?:['’][^\W\d_]+)*|[A-Z]+|\d+")
"""A word, of which camelCase has several."""
_ELSEWHERE: Final = re.compile(
    r"\b(?:el|los|las|del|al|una|para|por|con|les|des|du|et|dans|pour|avec|sur|di|che|gli|um|uma|com|der|das|und|mit|von|"
    r"ein|eine|nicht|bir|het|een|voor|jest|nie|yang|untuk|dengan)\b",
    re.IGNORECASE,
)
"""Little words of other languages than English."""
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
        (rule.path, *headings),
        rule.kind == "rule",
        intent_mask(rule.intents),
    )


def intent_mask(intents: Iterable[str]) -> int:
    """Return intents as a bit mask; unknown names count for nothing."""
    mask = 0
    for intent in intents:
        mask |= INTENT_BITS.get(intent, 0)
    return mask


def search_blob(shards: Sequence[RuleShard], embedding: Embedding) -> bytes:
    """Return the index of shards for retrieval by an embedding."""
    return fused_index([rule_text(shard) for shard in shards], embedding)


def fused_index(rules: Sequence[RuleText], embedding: Embedding) -> bytes:
    """Return the index of rules, in their order.

    Parameters
    ----------
    rules
        Any number.
    embedding
        `StaticEmbedding` makes the rows; any other one says only whether words and priors count.
    """
    import numpy as np

    n = len(rules)
    static = embedding if type(embedding) is StaticEmbedding else None
    d = 0 if static is None else static.dimensions
    if not with_words(embedding):
        rules = [RuleText("", "", intents=rule.intents) for rule in rules]
    rows, scales = (
        (np.zeros((n, 0), dtype=np.int8), np.zeros(n, dtype="<f4")) if static is None else _rows(rules, static)
    )
    table = StaticEmbedding() if static is None else static  # which tells how much a word says
    priors = np.array(
        [
            (MODAL_PRIOR if has_modal(rule.text) else 0.0)
            + (0.0 if rule.is_rule else INFORMATION_PRIOR)
            + LENGTH_PRIOR * log(max(1.0, len(rule.text) / 100))
            for rule in rules
        ],
        dtype="<f4",
    )
    postings = _postings(rules, table)
    field_terms = [sorted(set(query_terms(query_lexicon(), words))) for _, words in FIELDS]
    field_starts = np.zeros(len(FIELDS) + 1, dtype="<u4")
    field_starts[1:] = np.cumsum([len(found) for found in field_terms])
    fields = table.embed_batch([words for _, words in FIELDS])[:, :d]
    parts: tuple[Any, ...] = (
        rows,
        scales,
        priors,
        np.array([rule.intents for rule in rules], dtype="<u2"),
        *postings,
        fields.astype("<f4"),
        field_starts,
        np.array([term for found in field_terms for term in found], dtype="<u8"),
    )
    counts = (n, d, len(postings.terms), len(postings.rows), len(FIELDS), int(field_starts[-1]))
    n_signs = n if d and n >= SIGNS_FROM_SHARDS else 0
    signs: tuple[Any, ...] = sign_rows(rows.data, scales.data, d) if n_signs else (b"", b"", b"")
    parts = (*parts, *(memoryview(part) for part in signs))
    return _packed(parts, counts, (sqrt(2.0 * log(max(n, 3))), log(1.0 + 2.0 * n)), n_signs)


def translated(text: str) -> str:
    """Return a text with the English of its words of other languages after it, for a table that knows English."""
    if text.isascii() and _ELSEWHERE.search(text) is None:
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
    for index, rule in enumerate(rules):
        sections.setdefault(rule.section if rule.section is not None else index, []).append(index)
    words = [translated(rule.own) for rule in rules]
    heads = [tuple(map(translated, rule.headings)) for rule in rules]
    own = embedding.embed_batch(
        [" ".join((own, *above, translated(rule.labels))) for rule, own, above in zip(rules, words, heads, strict=True)]
    )
    paths = embedding.embed_batch([rule.path for rule in rules])
    own = _unit(own + PATH * paths)
    whole = embedding.embed_batch(
        [" ".join((*(words[index] for index in indices), *3 * heads[indices[0]])) for indices in sections.values()]
    )
    of_section = np.zeros(len(rules), dtype=np.int64)
    for number, indices in enumerate(sections.values()):
        of_section[indices] = number
    whole *= np.float32(SECTION)
    own += whole[of_section]
    scales = np.maximum(own.max(axis=1), -own.min(axis=1)) / 127.0
    own /= np.where(scales > 0, scales, 1.0)[:, None]
    return np.rint(own, out=own).astype(np.int8), scales.astype("<f4")


def _unit(rows: Any) -> Any:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


class _Postings(NamedTuple):
    """The terms of rules, sorted, how rare each is, where its rows start, the rows, and their parts of a BM25F."""

    terms: Any
    rare: Any
    starts: Any
    rows: Any
    weights: Any


def _common(texts: Iterable[str], terms: Any, embedding: StaticEmbedding) -> Any:
    """Return how much each term says in any text, `LEAST_WORD` to 1, float64 (n_terms,).

    Among some hundred rules "two" is as rare as "nginx"; how long the rows of the table are for them tells them apart.
    """
    import numpy as np

    lexicon = query_lexicon()
    words = dict.fromkeys(word for text in texts for word in _WORD.findall(text))
    found = [(word, own[0]) for word in words if len(own := query_terms(lexicon, word)) == 1]
    asked = np.array([term for _, term in found], dtype=np.uint64)
    at = np.minimum(np.searchsorted(terms, asked), max(len(terms) - 1, 0))
    known = np.flatnonzero(terms[at] == asked) if len(terms) else np.zeros(0, dtype=np.int64)
    longest = np.zeros(len(terms))
    np.maximum.at(longest, at[known], embedding.word_lengths([found[index][0] for index in known]))
    return np.where(longest > 0, np.clip(longest / FULL_LENGTH, LEAST_WORD, 1.0), 1.0)


def _postings(rules: Sequence[RuleText], embedding: StaticEmbedding) -> _Postings:
    """Return for each term how rare it is, and its rules with what it contributes to their BM25F."""
    import numpy as np

    n = len(rules)
    lexicon = query_lexicon()
    known: dict[str, Sequence[int]] = {"": ()}

    def terms_of(text: str) -> Sequence[int]:
        found = known.get(text)
        if found is None:
            found = known[text] = array("Q", query_terms(lexicon, text))
        return found

    found: list[tuple[Any, Any, Any, float, float]] = []
    for name, weight, normal in _FIELDS:
        documents = [terms_of(_field(rule, name)) for rule in rules]
        sizes = np.fromiter(map(len, documents), dtype=np.int64, count=n)
        flat = np.frombuffer(b"".join(map(bytes, documents)), dtype=np.uint64)
        found.append((flat, np.repeat(np.arange(n), sizes), sizes, weight, normal))
    terms, indices = np.unique(np.concatenate([flat for flat, *_ in found]), return_inverse=True)
    keys, values, at = [], [], 0
    for flat, rows, sizes, weight, normal in found:
        # A term and a rule are one number: equal ones of a field are counted, those of all fields are added.
        key, counts = np.unique(indices[at : at + len(flat)] * n + rows, return_counts=True)
        at += len(flat)
        length = 1.0 - normal + normal * sizes / max(len(flat) / n if n else 0.0, 1e-9)
        keys.append(key)
        values.append(weight * counts / length[key % n] if len(key) else counts.astype(np.float64))
    key, where = np.unique(np.concatenate(keys), return_inverse=True)
    total = np.bincount(where, weights=np.concatenate(values), minlength=len(key))
    number, row = np.divmod(key, max(n, 1))
    having = np.bincount(number, minlength=len(terms))
    rare = np.log(1.0 + (n - having + 0.5) / (having + 0.5))
    starts = np.zeros(len(terms) + 1, dtype="<u4")
    starts[1:] = np.cumsum(having)
    says = _common(known, terms, embedding)
    weights = (rare * says)[number] * total * (SATURATION + 1.0) / (total + SATURATION)
    return _Postings(terms.astype("<u8"), rare.astype("<f4"), starts, row.astype("<u4"), weights.astype("<f4"))


def _field(rule: RuleText, name: str) -> str:
    if name == "heading":
        return rule.headings[-1] if rule.headings else ""
    if name == "outer":
        return " ".join(rule.headings[:-1])
    return str(getattr(rule, name))
