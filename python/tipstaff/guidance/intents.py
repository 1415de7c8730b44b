"""Says what kind of work a task asks for.

A task is read once, word by word. Words and phrases speak for an intent with a weight, and where they stand counts:

- a verb that opens the task ("document the ...", "please fix ...") says most, one that opens a later clause less;
- what follows a preposition is about the object, and speaks with half its weight ("... in the comment box");
- in a compound the last noun is the thing: "deployment pipeline tests" are tests;
- each word speaks once, however often it is repeated.

The highest sum wins, and a tie goes to the intent that stands earlier in `INTENTS`. The words are in
`tipstaff.guidance.intent_words`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import count
from math import exp
from typing import Final, NamedTuple

from tipstaff.guidance.intent_words import (
    CONJUNCTIONS,
    DETERMINERS,
    FILLERS,
    FINITE_VERBS,
    NOUNS,
    PREPOSITIONS,
    SIGNS,
    STEMS,
    TRANSLATIONS,
    VERBS,
)
from tipstaff.guidance.vocabulary import noun_forms, spellings, verb_forms
from tipstaff.model import INTENTS, IntentMatch

_WORDS: Final = re.compile(r"[^\W_]+|[,:]").findall
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_HAS_HUMP: Final = re.compile(r"[a-z][A-Z]").search
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")

_MARKS: Final = ",;!?\n\r。、"
# Byte -> byte: capitals to small letters, marks that end a clause to a comma, all else but ":" to a blank.
_PLAIN_BYTES: Final = bytes(
    ord(letter.lower() if letter.isalnum() else "," if letter in _MARKS else ":" if letter == ":" else " ")
    for letter in map(chr, range(128))
).ljust(256)

# Kinds of entries.
_SILENT, _FINITE, _CONTROL, _SIGN, _NOUN, _VERB, _BOTH = range(7)

_ASIDE: Final = 0.5
"""Weight of what follows a preposition."""
_CLAUSE: Final = 0.45
"""Weight of what follows a conjunction."""
_SUBJECT: Final = 1.3
"""Weight of a noun that opens the task, or ends the compound that does."""
_AGAIN: Final = 0.7
"""Weight of a further sign for an intent that was already spoken for."""
_MODIFIER: Final = 0.4
"""Share that a noun loses when another one follows at once..."""
_MODIFIER_AHEAD: Final = 0.55
"""...and when it opened the task: what it gained there goes to the other one."""
_LABEL: Final = 1.3
"""What a noun gains as a label at the start, ``docs: ...``..."""
_LABEL_LEAST: Final = 0.9
"""...if it names a kind of work, not just a part of the product, ``Dashboard: ...``."""
_LEAST: Final = 0.3
"""A sum below this says nothing."""

# Confidence = logistic(bias + slope * (best sum - second sum)), fitted on a part of the labelled cases that was not
# looked at when the words were chosen; tools/calibrate_intents.py prints the fit and how well it holds on the rest.
_BIAS: Final = 0.37
_SLOPE: Final = 3.9
_WIDE: Final = 1.5
"""A wider margin than this says no more."""
_GENERAL: Final = IntentMatch("general", 0.0)


# The lexicon holds plain tuples, which unpack several times faster: an _Entry and the phrases that start with the word,
# longest first, each as (number of further words, those words, _Entry).
_Plain = tuple[int, int, int, float, int, float, float]
_Phrases = tuple[tuple[int, list[str], _Plain], ...]
_Word = tuple[int, int, int, float, int, float, float, _Phrases]


class _Entry(NamedTuple):
    """What one word or phrase says: as a noun or a sign, and as a verb that opens a clause."""

    kind: int
    ident: int
    intent: int = 0
    weight: float = 0.0  # for _CONTROL: the factor from here on, 0 to leave it
    verb_intent: int = 0
    verb_weight: float = 0.0  # where it opens a later clause; for _CONTROL: 1 when a verb may follow
    lead_weight: float = 0.0  # where it opens the task

    def plain(self) -> _Plain:
        kind, ident, intent, weight, verb_intent, verb_weight, lead_weight = self
        return kind, ident, intent, weight, verb_intent, verb_weight, lead_weight


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


def _lexicon() -> dict[str, _Word]:
    found: dict[tuple[str, ...], _Entry] = {}
    idents = count()
    for intent, (weight,), phrase in _table(SIGNS, 1):
        found[tuple(phrase.split())] = _Entry(_SIGN, next(idents), intent, weight)
    for intent, (weight,), phrase in _table(NOUNS, 1):
        entry = _Entry(_NOUN, next(idents), intent, weight)
        found.update(dict.fromkeys(_noun_phrase_forms(phrase), entry))
    for intent, (weight, lead), phrase in _table(VERBS, 2):
        ident = next(idents)
        bases = spellings(phrase.split()[0])
        for form in _verb_phrase_forms(phrase):
            # A third person or a past form opens no request: "cached pages ...", "tests for ...".
            opens = form[0] in bases or form[0].endswith("ing")
            noun = found.get(form)
            if noun is None:
                later, first = ((weight + lead) / 2, lead) if opens else (weight, weight)
                found[form] = _Entry(_VERB, ident, intent, weight, intent, later, first)
            elif opens and noun.kind != _VERB:
                found[form] = noun._replace(
                    kind=_BOTH, verb_intent=intent, verb_weight=(weight + lead) / 2, lead_weight=lead
                )
    return _with_phrases(found)


def _with_phrases(found: dict[tuple[str, ...], _Entry]) -> dict[str, _Word]:
    """Hang each phrase on its first word, and add the words that steer the reading."""
    lexicon = {words[0]: entry for words, entry in found.items() if len(words) == 1}
    for word in PREPOSITIONS.split():
        lexicon.setdefault(word, _Entry(_CONTROL, 0, 0, _ASIDE))
    for word in CONJUNCTIONS.split():
        lexicon[word] = _Entry(_CONTROL, 0, 0, _CLAUSE)
    for word in FINITE_VERBS.split():
        lexicon.setdefault(word, _Entry(_FINITE, 0))
    lexicon["to"] = _Entry(_CONTROL, 0, 0, _ASIDE, 0, 1.0)
    for word in ("and", "or", "but", "then", "y", "e", "et", "und"):
        lexicon[word] = _Entry(_CONTROL, 0, 0, 0.0, 0, 1.0)
    for mark in ",:":
        lexicon[mark] = _Entry(_CONTROL, 0, 0, 1.0, 0, 1.0)
    for foreign, english in _foreign_words():
        lexicon.setdefault(foreign, lexicon[english])
    for opener in (("let", "s"), ("let", "us"), ("let", "me")):
        found[opener] = _Entry(_CONTROL, 0, 0, 0.0, 0, 1.0)
    phrases: dict[str, list[tuple[int, list[str], _Plain]]] = {}
    for words, entry in found.items():
        if len(words) > 1:
            lexicon.setdefault(words[0], _Entry(_SILENT, 0))
            phrases.setdefault(words[0], []).append((len(words) - 1, list(words[1:]), entry.plain()))
    for others in phrases.values():
        others.sort(key=lambda item: -item[0])
    return {word: (*entry.plain(), tuple(phrases.get(word, ()))) for word, entry in lexicon.items()}


def _rows(table: str) -> list[tuple[str, str]]:
    """Return the (word, English word) pairs of a table of translations."""
    return [(word, english) for english, *words in map(str.split, table.strip().splitlines()) for word in words]


def _foreign_words() -> list[tuple[str, str]]:
    return [*_rows(TRANSLATIONS), *((_plain(stem.rstrip("-")), english) for stem, english in _rows(STEMS))]


def _plain(text: str) -> str:
    """Return the text without accents and in compatibility form; Hangul and kana stay whole."""
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def _stem_pattern() -> re.Pattern[str]:
    stems = sorted((_plain(stem) for stem, _ in _rows(STEMS)), key=len, reverse=True)
    inside = "|".join(stem for stem in stems if not stem.endswith("-"))
    opening = "|".join(stem[:-1] for stem in stems if stem.endswith("-"))
    return re.compile(rf"({inside})|\b({opening})\w*")


_STEM: Final = _stem_pattern()
_LEXICON: Final = _lexicon()
_DETERMINERS: Final = frozenset(DETERMINERS.split())
_LEADERS: Final = frozenset([*FILLERS.split(), ",", ":"])


def _spaced(match: re.Match[str]) -> str:
    return f" {match[1] or match[2]} "


def _words(task: str) -> list[str]:
    """Return the words of a task in lower case without accents, with ``,`` for every mark that ends a clause and ``:``.

    Known words of scripts without blanks are set apart.
    """
    rest = task[1:]
    if rest != rest.lower() and _HAS_HUMP(task):
        task = _HUMP.sub(" ", task)
    task = task.replace(". ", ", ")
    if not task.isascii():
        task = _plain(task.replace("’", "'").lower())
    if task.isascii():
        text = task.encode().translate(_PLAIN_BYTES).decode()
        return text.replace(",", " , ").replace(":", " : ").split()
    text = _STEM.sub(_spaced, task)
    for mark in _MARKS:
        text = text.replace(mark, ",")
    return _WORDS(text)


def classify_intent(task: str) -> IntentMatch:
    """Say what kind of work a task asks for.

    Parameters
    ----------
    task : str
        The task as its author wrote it, of any length, in English or with the commonest verbs of Spanish, Portuguese,
        French, Italian, German, Russian, Chinese, Japanese or Korean.

    Returns
    -------
    IntentMatch
        ``intent``: one of `INTENTS`. ``confidence``: 0..1, an estimate of the chance that the intent is right;
        0 exactly when nothing speaks and the intent is ``general``.

    Notes
    -----
    Linear in the length of the task. Case, accents, the kind of apostrophe and surrounding blanks do not matter;
    hyphens and underscores separate words, and so does a capital inside a word.
    """
    scores = _scores(_words(task.strip()))
    best = max(scores)
    if best < _LEAST:
        return _GENERAL
    winner = scores.index(best)
    scores[winner] = 0.0
    margin = min(best - max(scores), _WIDE)
    return IntentMatch(INTENTS[winner], 1.0 / (1.0 + exp(-_BIAS - _SLOPE * margin)))


def _scores(words: list[str]) -> list[float]:
    """Return each intent's sum, in the order of `INTENTS` without ``general``."""
    scores = [0.0] * (len(INTENTS) - 1)
    total = len(words)
    lead = 0
    while lead < total and words[lead] in _LEADERS:
        lead += 1
    subject = lead + 1 if lead < total and words[lead] in _DETERMINERS else lead
    # "Investigate and fix ...": two leading verbs share the lead.
    shared = lead + 1 < total and words[lead + 1] == "and"
    seen: set[int] = set()
    factor = 1.0
    opening = lead
    resume = 0
    noun_end = -1
    leading = False
    noun_intent = 0
    noun_loss = 0.0
    for index, entry in enumerate(map(_LEXICON.get, words)):
        if entry is None or index < resume:
            continue
        kind, ident, intent, weight, verb_intent, verb_weight, lead_weight, phrases = entry
        if kind == _FINITE and factor == _ASIDE:
            factor = 1.0
        resume = index + 1
        for length, rest, phrase in phrases:
            if words[index + 1 : index + 1 + length] == rest:
                kind, ident, intent, weight, verb_intent, verb_weight, lead_weight = phrase
                resume += length
                break
        if kind == _CONTROL:
            if weight:
                factor = weight
            if verb_weight:
                opening = resume
            continue
        if kind < _CONTROL or ident in seen:
            continue
        seen.add(ident)
        follower = words[resume] if resume < total else ""
        if kind >= _VERB and index == opening:
            if index == lead and (kind == _VERB or follower in _DETERMINERS):
                scores[verb_intent] += verb_weight if shared else lead_weight
                factor = 1.0
                continue
            if kind == _VERB or index == lead or follower in _DETERMINERS:
                scores[verb_intent] += verb_weight
                factor = 1.0
                continue
        amount = weight * factor
        if kind in (_NOUN, _BOTH):
            compound = noun_end == index
            leading = index in (lead, subject) or (compound and leading)
            if compound:
                scores[noun_intent] -= noun_loss
            if leading:
                amount = amount + _LABEL if follower == ":" and weight >= _LABEL_LEAST else amount * _SUBJECT
            noun_end, noun_intent, noun_loss = resume, intent, amount * (_MODIFIER_AHEAD if leading else _MODIFIER)
        said = scores[intent]
        scores[intent] = said + amount * _AGAIN if said else amount
    return scores
