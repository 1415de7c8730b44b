"""Write the words of the intent classifier as the kernels and the hook program read them.

python tools/write_task_lexicon.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import Final

from tipstaff.guidance.intents.classify import LEXICON
from tipstaff.guidance.intents.task_words import plain_letters, rows_of, stem_rows, word_tables
from tipstaff.guidance.wording.vocabulary import noun_forms, spellings, verb_forms
from tipstaff.kernels.formats.intent_table import (
    AND,
    BOTH,
    COLON,
    CONTROL,
    DETERMINER,
    FINITE,
    INSIDE,
    LEADER,
    NOUN,
    OPENING,
    SIGN,
    VERB,
    IntentEntry,
    make_intent_table,
)
from tipstaff.model import INTENTS

_ASIDE: Final = 0.5
"""Weight of what follows a preposition."""
_CLAUSE: Final = 0.45
"""Weight of what follows a conjunction."""


def task_lexicon() -> bytes:
    """Return the lexicon, rebuilt."""
    flags: dict[str, int] = {}

    def mark(words: Iterable[str], flag: int) -> None:
        for word in words:
            flags[word] = flags.get(word, 0) | flag

    mark([*word_tables()["fillers"].split(), ",", ":"], LEADER)
    mark(word_tables()["determiners"].split(), DETERMINER)
    mark(["and"], AND)
    mark([":"], COLON)
    for stem, _ in stem_rows():
        mark([plain_letters(stem.rstrip("-"))], OPENING if stem.endswith("-") else INSIDE)
    return make_intent_table(_entries(), flags)


def _verb_phrase_forms(phrase: str) -> list[tuple[str, ...]]:
    head, *rest = phrase.split()
    return [(form, *rest) for form in verb_forms(head)]


def _noun_phrase_forms(phrase: str) -> list[tuple[str, ...]]:
    *rest, head = phrase.split()
    return [(*rest, form) for form in noun_forms(head)]


def _table(text: str, numbers: int) -> Iterator[tuple[int, list[float], str]]:
    """Yield (number of the intent, weights, word or phrase) for each entry of a table."""
    for line in text.strip().splitlines():
        intent, *weights, phrases = line.split(None, numbers + 1)
        for phrase in phrases.split(", "):
            yield INTENTS.index(intent), [float(weight) for weight in weights], phrase


def _entries() -> dict[tuple[str, ...], IntentEntry]:
    found: dict[tuple[str, ...], IntentEntry] = {}
    idents = count()
    for intent, (weight,), phrase in _table(word_tables()["signs"], 1):
        found[tuple(phrase.split())] = IntentEntry(SIGN, next(idents), intent, weight)
    for intent, (weight,), phrase in _table(word_tables()["nouns"], 1):
        entry = IntentEntry(NOUN, next(idents), intent, weight)
        found.update(dict.fromkeys(_noun_phrase_forms(phrase), entry))
    for intent, (weight, lead), phrase in _table(word_tables()["verbs"], 2):
        ident = next(idents)
        bases = spellings(phrase.split()[0])
        for form in _verb_phrase_forms(phrase):
            # A third person or a past form opens no request: "cached pages ...", "tests for ...".
            opens = form[0] in bases or form[0].endswith("ing")
            noun = found.get(form)
            if noun is None:
                later, first = ((weight + lead) / 2, lead) if opens else (weight, weight)
                found[form] = IntentEntry(VERB, ident, intent, weight, intent, later, first)
            elif opens and noun.kind != VERB:
                found[form] = noun._replace(
                    kind=BOTH, verb_intent=intent, verb_weight=(weight + lead) / 2, lead_weight=lead
                )
    return _with_steering(found)


def _with_steering(found: dict[tuple[str, ...], IntentEntry]) -> dict[tuple[str, ...], IntentEntry]:
    """Add the words that steer the reading, and the words of other languages."""
    single = {words[0]: entry for words, entry in found.items() if len(words) == 1}
    for word in word_tables()["prepositions"].split():
        single.setdefault(word, IntentEntry(CONTROL, 0, 0, _ASIDE))
    for word in word_tables()["conjunctions"].split():
        single[word] = IntentEntry(CONTROL, 0, 0, _CLAUSE)
    for word in word_tables()["finite_verbs"].split():
        single.setdefault(word, IntentEntry(FINITE, 0))
    single["to"] = IntentEntry(CONTROL, 0, 0, _ASIDE, 0, 1.0)
    for word in ("and", "or", "but", "then", "y", "e", "et", "und"):
        single[word] = IntentEntry(CONTROL, 0, 0, 0.0, 0, 1.0)
    for mark in ",:":
        single[mark] = IntentEntry(CONTROL, 0, 0, 1.0, 0, 1.0)
    for foreign, english in _foreign_words():
        single.setdefault(foreign, single[english])
    for opener in (("let", "s"), ("let", "us"), ("let", "me")):
        found[opener] = IntentEntry(CONTROL, 0, 0, 0.0, 0, 1.0)
    phrases = {words: entry for words, entry in found.items() if len(words) > 1}
    return {(word,): entry for word, entry in single.items()} | phrases


def _foreign_words() -> list[tuple[str, str]]:
    return [
        *rows_of(word_tables()["translations"]),
        *((plain_letters(stem.rstrip("-")), english) for stem, english in stem_rows()),
    ]


def main() -> None:
    """Write the file."""
    data = task_lexicon()
    LEXICON.write_bytes(data)
    print(f"{LEXICON}: {len(data)} bytes")


if __name__ == "__main__":
    main()
