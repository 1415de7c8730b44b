"""Write the lexicon of tasks, where ``guidance/retrieval/task_words.toml`` changed.

python tools/write_query_lexicon.py
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.retrieval.task_vocabulary import (
    AFTER_HOW,
    ASKS,
    FIELDS,
    NEAR,
    PATH,
    SAME,
    STOP,
    TRANSLATIONS,
    VERBS,
    WEAK,
)
from tipstaff.guidance.wording.vocabulary import stem
from tipstaff.kernels import query_words
from tipstaff.kernels.formats.fused import (
    AFTER_HOW_BIT,
    ASKS_BIT,
    ASKS_HOW_BIT,
    FIELD_BITS,
    FIELD_SHIFT,
    FIELDS_OF_WORD,
    MOST_MUCH,
    STOP_BIT,
    VERB_BIT,
    WEAK_BIT,
)
from tipstaff.kernels.formats.lexicon import MAX_WORD_BYTES, make_lexicon
from tipstaff.kernels.formats.wordpiece import piece_names

if TYPE_CHECKING:
    from typing_extensions import Buffer


def made_query_lexicon() -> bytes:
    """Return the lexicon, rebuilt; takes a second."""

    embedding = StaticEmbedding()
    values: dict[str, int] = {}
    stems: dict[str, str] = {}

    def note(word: str, value: int) -> None:
        if 0 < len(word.encode()) <= MAX_WORD_BYTES:
            values[word] = values.get(word, 0) | value
            stems.setdefault(word, stem(word))

    for one, several in SAME.items():
        for word in (one, *several.split("; ")):
            key = " ".join(query_words(word))
            note(key, 0)
            stems[key] = stem(one)
    asked_by: dict[str, list[int]] = {}
    for field, (asked, _) in enumerate(FIELDS):
        for word in asked.split():
            asked_by.setdefault(stem(word), []).append(field)
    for one, several in TRANSLATIONS.items():
        for word in several.split():
            key = query_words(word)[0]
            if key in stems:
                continue
            note(key, _packed(dict.fromkeys(asked_by.get(stem(one), [])[:2], 1.0)))
            stems[key] = stem(one)
    listed = ((STOP, STOP_BIT), (WEAK, WEAK_BIT | VERB_BIT), (VERBS, VERB_BIT), (ASKS, ASKS_BIT), ("how", ASKS_HOW_BIT))
    for words, bit in (*listed, (AFTER_HOW, AFTER_HOW_BIT)):
        for word in words.split():
            note(query_words(word)[0], bit)
    triggers: list[list[str]] = []
    foreign: dict[str, dict[int, float]] = {}
    for field, (asked, _) in enumerate(FIELDS):
        triggers.append([word for word in asked.split() if word.isascii()])
        for word in asked.split():
            for key in query_words(word)[:1]:
                foreign.setdefault(key, {})[field] = 1.0
    known = sorted(
        {*_whole_pieces(embedding.table), *(word for words in triggers for word in words)} - set(STOP.split())
    )
    # In double precision: how a matrix product is summed must not decide how a value is rounded.
    rows = embedding.embed_batch(known).astype(np.float64)
    much = np.zeros((len(known), len(FIELDS)), dtype=np.float64)
    for field, asked_words in enumerate(triggers):
        near = (rows @ embedding.embed_batch(asked_words).astype(np.float64).T).max(axis=1)
        much[:, field] = np.maximum(near - NEAR, 0.0) / (1.0 - NEAR)
    for word, row in zip(known, much, strict=True):
        found = {int(field): float(row[field]) for field in np.flatnonzero(row > 1.0 / MOST_MUCH)}
        found |= foreign.pop(word, {})
        if found:
            note(word, _packed(found))
    for word, fields in foreign.items():
        note(word, _packed(fields))
    return make_lexicon(values, stems)


def _packed(fields: dict[int, float]) -> int:

    strongest = sorted(fields.items(), key=lambda entry: (-entry[1], entry[0]))[:FIELDS_OF_WORD]
    value = 0
    for at, (field, much) in enumerate(strongest):
        code = field | min(MOST_MUCH, round(much * MOST_MUCH)) << 5
        value |= code << FIELD_SHIFT + FIELD_BITS * at
    return value


def _whole_pieces(table: Buffer) -> list[str]:
    """Return the words that are one piece of a table."""

    return [name for name in piece_names(table) if not name.startswith("##") and len(name) > 1]


def main() -> int:
    """Write the file, and say how large it is."""
    data = made_query_lexicon()
    PATH.write_bytes(data)
    sys.stdout.write(f"{PATH}: {len(data):,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
