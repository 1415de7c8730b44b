"""Which of the texts are used, and the phrases that are counted out of them."""

# Patterns and word lists read best unbroken.
# ruff: noqa: E501

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tools.embedding.extraction import changes, documents, is_changelog, read_archive
from tools.embedding.wordpieces import split_words

if TYPE_CHECKING:
    from tools.embedding.sources import Source

MAX_DOCUMENT_SENTENCES: Final = 1_700
MAX_CHANGELOG_ITEMS: Final = 2_400
_INSTRUCTIONS_SHARE: Final = 0.7
_SHUFFLE_SEED: Final = 11
_N_WORDS, _N_BIGRAMS, _N_TRIGRAMS = 9_000, 12_000, 6_000
_OVERLAP: Final = 7

_INSTRUCTION = re.compile(
    r"^(?:use|add|run|make|set|keep|avoid|prefer|write|check|create|do|don't|never|always|ensure|put|call|return|remove|install|define"
    r"|configure|enable|disable|place|include|specify|provide|update|test|start|stop|pass|store|read|follow|consider|try|note|see)\b"
    r"|\b(?:must|should|never|always|avoid|ensure|error|bug|required|recommended|cannot|only|fail|fails|failed|security|unsafe|deprecated"
    r"|instead|best practice|test|tests|careful|warning|important|may not|do not)\b",
    re.IGNORECASE,
)
_STOP_WORDS: Final = frozenset(
    "a an the of to in on at by for from with and or but if as is are was were be been being that which this these those when it its not no "
    "than then into via can will would may might must should do does did has have had you your we our they their he she i there here so such "
    "also any all each more most other some only very just about after before between both how what where who why while".split()
)


def package_texts(source: Source, path: Path) -> tuple[list[str], list[str]]:
    """Return the sentences of a package's documentation and the items of its changelogs, at most as many as may be used."""
    sentences: list[str] = []
    items: list[str] = []
    for name, text in read_archive(source, path):
        if is_changelog(name):
            items += changes(text)
        else:
            sentences += documents(name, text)
    return _some(sentences, MAX_DOCUMENT_SENTENCES), list(_distinct(items))[:MAX_CHANGELOG_ITEMS]


def _some(sentences: list[str], limit: int) -> list[str]:
    every = list(_distinct(sentences))
    if len(every) <= limit:
        return every
    # Spread over the package, instructions first: rules are instructions.
    order = random.Random(_SHUFFLE_SEED)
    order.shuffle(every)
    instructions = [one for one in every if _INSTRUCTION.search(one)]
    others = [one for one in every if not _INSTRUCTION.search(one)]
    first = instructions[: int(limit * _INSTRUCTIONS_SHARE)]
    chosen = first + others[: limit - len(first)]
    return chosen + instructions[len(first) : len(first) + limit - len(chosen)]


def _distinct(texts: Iterable[str], seen: set[str] | None = None) -> Iterable[str]:
    seen = set() if seen is None else seen
    for text in texts:
        key = re.sub(r"[^a-z]", "", text.lower())
        if key not in seen:
            seen.add(key)
            yield text


def phrases(texts: Sequence[str]) -> list[str]:
    """Return the commonest words, bigrams and trigrams of texts that neither start nor end in a stop word."""
    counts: list[Counter[tuple[str, ...]]] = [Counter(), Counter(), Counter()]
    for text in texts:
        words = split_words(text)
        for size, counter in enumerate(counts, 1):
            for start in range(len(words) - size + 1):
                gram = tuple(words[start : start + size])
                if not {gram[0], gram[-1]} & _STOP_WORDS and all(word.isalpha() and len(word) > 1 for word in gram):
                    counter[gram] += 1
    found: list[str] = []
    for counter, limit in zip(counts, (_N_WORDS, _N_BIGRAMS, _N_TRIGRAMS), strict=True):
        ordered = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
        found += [" ".join(gram) for gram, _ in ordered[:limit]]
    return found


def without_overlap(texts: list[str], evaluation: Iterable[str]) -> list[str]:
    """Return the texts that share no run of seven words with a text of the evaluation."""
    held: set[tuple[str, ...]] = set()
    whole: set[tuple[str, ...]] = set()
    for text in evaluation:
        words = tuple(split_words(text))
        whole.add(words)
        held.update(words[i : i + _OVERLAP] for i in range(len(words) - _OVERLAP + 1))
    kept: list[str] = []
    for text in texts:
        words = tuple(split_words(text))
        if words not in whole and not any(words[i : i + _OVERLAP] in held for i in range(len(words) - _OVERLAP + 1)):
            kept.append(text)
    return kept


def evaluation_texts(paths: Iterable[Path]) -> list[str]:
    """Return all rules and tasks of evaluation files (see `tools.embedding.measures`)."""
    found: list[str] = []
    for path in paths:
        data = json.loads(path.read_text(encoding="utf-8"))
        for rules in data["pools"].values():
            found += rules
        found += [query["task"] for query in data["queries"]]
    return found


def select(
    per_package: Iterable[tuple[list[str], list[str]]], evaluation: Iterable[str]
) -> tuple[list[str], list[str]]:
    """Return (sentences and items, phrases), each distinct; the first shuffled."""
    seen: set[str] = set()
    texts: list[str] = []
    for sentences, items in per_package:
        texts += _distinct([*sentences, *items], seen)
    texts = without_overlap(texts, evaluation)
    random.Random(_SHUFFLE_SEED).shuffle(texts)
    return texts, phrases(texts)
