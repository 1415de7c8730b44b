"""What the words of a rule say about it: its intents, its domains, and the stems its words share.

Rules are read word by word. A word speaks for a class when it *is* one of the class's words or an inflection of it;
a word that merely contains one does not (``specify``, ``author`` and ``decide`` say nothing about specs, auth or CI).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final

from tipstaff.guidance.wording.word_forms import word_lists
from tipstaff.kernels.formats.stems import regular_stem, without_silent_ending

VOWELS: Final = frozenset("aeiouy")

INTENT_ORDER: Final = tuple(word_lists()["intents"])
DOMAIN_ORDER: Final = tuple(word_lists()["domains"])


def spellings(word: str) -> tuple[str, ...]:
    """Return the word in its British and its American spelling: ``optimize``, ``optimise``."""
    if word.endswith(("ize", "yze")) and len(word) > 5:
        return word, word[:-2] + "se"
    if word.endswith(("ise", "yse")) and len(word) > 5:
        return word, word[:-2] + "ze"
    return (word,)


def noun_forms(noun: str) -> tuple[str, ...]:
    """Return a noun and its regular plural.

    Parameters
    ----------
    noun : str
        Lower-case singular.

    Returns
    -------
    tuple of str
        ``("boundary", "boundaries")``
    """
    if len(noun) > 2 and noun[-1] == "y" and noun[-2] not in VOWELS:
        return noun, noun[:-1] + "ies"
    return noun, noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def verb_forms(verb: str) -> tuple[str, ...]:
    """Return a regular verb's forms in both spellings: base, third person, past, participle.

    Where English doubles the last consonant for some verbs and not for others (``commit``, ``edit``), both are given:
    the one that does not exist costs an entry and meets nobody but a misspeller.

    Parameters
    ----------
    verb : str
        Lower-case base form.

    Returns
    -------
    tuple of str
        Base form first, without duplicates.
    """
    forms: dict[str, None] = {}
    for base in spellings(verb):
        root = base
        if base.endswith("e"):
            root = base[:-1]
            endings = (base + "s", base + "d", root + "ing")
        elif base[-1] == "y" and base[-2:-1] and base[-2] not in VOWELS:
            endings = (base[:-1] + "ies", base[:-1] + "ied", base + "ing")
        else:
            endings = (noun_forms(base)[1], base + "ed", base + "ing")
        forms.update(dict.fromkeys((base, *endings)))
        closed = len(base) > 2 and base[-1] not in "aeiouwxy" and base[-2] in VOWELS and base[-3] not in VOWELS
        if closed:
            forms.update(dict.fromkeys((base + base[-1] + "ed", base + base[-1] + "ing")))
    return tuple(forms)


def _expand(entry: Mapping[str, str], prefix: str = "") -> set[str]:
    """Return the words of an entry: the forms of its verbs and nouns, and those listed."""
    verbs, nouns, listed = (entry.get(f"{prefix}{kind}", "").split() for kind in ("verbs", "nouns", "forms"))
    return {*listed, *chain.from_iterable(map(verb_forms, verbs)), *chain.from_iterable(map(noun_forms, nouns))}


_INTENT_BITS: Final = len(INTENT_ORDER)


def _word_masks() -> dict[str, int]:
    data = word_lists()
    masks: dict[str, int] = {}
    for bit, entry in enumerate(data["intents"].values()):
        for word in _expand(entry):
            masks[word] = masks.get(word, 0) | 1 << bit
    for bit, (domain, entry) in enumerate(data["domains"].items(), _INTENT_BITS):
        for word in _expand(data["intents"].get(domain, {})) - _expand(entry, "without_") | _expand(entry):
            masks[word] = masks.get(word, 0) | 1 << bit
    return masks


MASKS: Final = _word_masks()
"""Word to its classes: a bit for each of `INTENT_ORDER`, then one for each of `DOMAIN_ORDER`."""
# One entry per combination of classes that has been met; there are at most 2**13.
_NAMES: Final[dict[int, tuple[tuple[str, ...], tuple[str, ...]]]] = {}


def class_names(mask: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the intents and the domains of a mask, ``("general",)`` for none."""
    known = _NAMES.get(mask)
    if known is not None:
        return known
    intents = tuple(name for bit, name in enumerate(INTENT_ORDER) if mask >> bit & 1)
    domains = tuple(name for bit, name in enumerate(DOMAIN_ORDER, _INTENT_BITS) if mask >> bit & 1)
    found = (intents or ("general",), domains or ("general",))
    _NAMES[mask] = found
    return found


def _compound_mask(word: str) -> int:
    """Return the classes of a word that has an underscore or an apostrophe in it: ``auth_token``, ``test's``."""
    mask = 0
    for part in word.replace("’", "_").replace("'", "_").replace("-", "_").split("_"):
        mask |= MASKS.get(part, 0)
    return mask


class _KnownMasks(dict[str, int]):
    """The classes of every word that was met, so that looking one up again never leaves C; bounded."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MAX_KNOWN:
            self.clear()
        mask = MASKS.get(word)
        if mask is None:
            mask = 0 if word.isalnum() else _compound_mask(word)
        self[word] = mask
        return mask


_MAX_KNOWN: Final = 65_536
_KNOWN: Final = _KnownMasks()


def infer(words: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the intents and the domains that a rule's words speak for.

    Parameters
    ----------
    words : iterable of str
        The rule's words in lower case, hyphenated words already taken apart. Words joined by an underscore, a hyphen
        or an apostrophe are taken apart here.

    Returns
    -------
    intents : tuple of str
        In the order of ``INTENT_ORDER``; ``("general",)`` when no word speaks.
    domains : tuple of str
        In the order of ``DOMAIN_ORDER``; ``("general",)`` when no word speaks.

    Notes
    -----
    One dictionary look-up per word; no word is examined for what it contains.
    """
    return class_names(class_mask(words))


def class_mask(words: Iterable[str]) -> int:
    """Return the classes that words speak for, as the bits of `MASKS`; see `infer` for what is expected of them."""
    mask = 0
    for found in map(_KNOWN.__getitem__, words):
        mask |= found
    return mask


IRREGULAR_STEMS: Final = {
    word: without_silent_ending(base)
    for word, base in {
        **{word: word for word in word_lists()["stems"]["plain"].split()},
        **word_lists()["stems"]["irregular"],
    }.items()
}
"""Word to stem, where no rule gives it."""


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return what a word shares with its inflections.

    ``commits``, ``committed`` and ``committing`` give ``commit``; ``use``, ``used`` and ``using`` give ``use``;
    ``validate`` and ``validated`` give ``validat``. Only plurals, third persons, ``-ing`` and ``-ed`` are taken off,
    never a suffix that makes another word (``-er``, ``-ly``, ``-ment``, ``-tion``).

    Parameters
    ----------
    word : str
        One word, lower case. Anything else comes back as unharmed as may be.

    Returns
    -------
    str
        The stem. It is meant for comparing, not for reading: it need not be a word.
    """
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    known = IRREGULAR_STEMS.get(word)
    return regular_stem(word) if known is None else known
