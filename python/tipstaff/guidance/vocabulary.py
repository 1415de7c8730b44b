"""What the words of a rule say about it: its intents, its domains, and the stems its words share.

Rules are read word by word. A word speaks for a class when it *is* one of the class's words or an inflection of it;
a word that merely contains one does not (``specify``, ``author`` and ``decide`` say nothing about specs, auth or CI).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

VOWELS: Final = frozenset("aeiouy")

# Class -> (words, words of the intent that the domain of the same name does not take).
_INTENT_WORDS: Final[dict[str, tuple[str, str, str]]] = {
    # intent: (verbs, nouns, forms that are listed because no rule of inflection gives them)
    "security": (
        "secure authenticate authorize encrypt",
        "secret password token cve vuln vulnerability",
        """security securely insecure auth authn authz oauth oauth2 authentication authenticator authorization
        authorisation unauthorized unauthorised unauthenticated vulnerable encryption unencrypted passwordless""",
    ),
    "testing": (
        "test mock assert retest",
        "spec unittest doctest assertion tester",
        "coverage tdd testable untested pytest vitest rspec",
    ),
    "performance": (
        "optimize slow cache speed",
        "optimization optimisation speedup slowdown",
        """performance perf performant optimal optimally optimizer optimiser fast faster fastest slower slowest slowly
        memory cacheable uncached speedy""",
    ),
    "refactor": (
        "refactor clean restructure simplify",
        "cleanup simplification restructuring",
        "cleaner cleanest cleanly",
    ),
    "bug-fix": (
        "fix fail debug error",
        "bug bugfix hotfix failure debugger",
        "broken buggy",
    ),
    "architecture": (
        "architect design structure redesign",
        "architecture pattern boundary designer",
        "architectural architecturally structural structurally",
    ),
    "deployment": (
        "deploy release publish redeploy",
        "deployment publisher redeployment",
        "ci cd",
    ),
    "docs": (
        "document comment",
        "doc readme docstring",
        "documentation undocumented jsdoc tsdoc javadoc",
    ),
}
INTENT_ORDER: Final = tuple(_INTENT_WORDS)
DOMAIN_ORDER: Final = ("security", "testing", "performance", "architecture", "debugging")

# Domains follow the intents of the same name, without these words...
_NOT_DOMAIN: Final[dict[str, tuple[str, str]]] = {
    "security": ("encrypt", "encryption unencrypted"),
    "testing": ("", "tdd"),
    "performance": ("", "memory"),
    "architecture": ("structure", "pattern structural structurally"),
}
# ...and with these.
_DOMAIN_WORDS: Final[dict[str, tuple[str, str, str]]] = {
    "architecture": ("", "domain", "ddd"),
    "debugging": ("fix error debug", "bug bugfix hotfix debugger", "buggy"),
}


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


def _expand(verbs: str, nouns: str, listed: str) -> set[str]:
    words = set(listed.split())
    for verb in verbs.split():
        words.update(verb_forms(verb))
    for noun in nouns.split():
        words.update(noun_forms(noun))
    return words


_INTENT_BITS: Final = len(INTENT_ORDER)


def _word_masks() -> dict[str, int]:
    masks: dict[str, int] = {}
    for bit, intent in enumerate(INTENT_ORDER):
        for word in _expand(*_INTENT_WORDS[intent]):
            masks[word] = masks.get(word, 0) | 1 << bit
    for place, domain in enumerate(DOMAIN_ORDER):
        words = _expand(*_INTENT_WORDS.get(domain, ("", "", "")))
        verbs, listed = _NOT_DOMAIN.get(domain, ("", ""))
        words -= _expand(verbs, listed, listed)
        words |= _expand(*_DOMAIN_WORDS.get(domain, ("", "", "")))
        for word in words:
            masks[word] = masks.get(word, 0) | 1 << (_INTENT_BITS + place)
    return masks


_MASKS: Final = _word_masks()
# One entry per combination of classes that has been met; there are at most 2**13.
_NAMES: Final[dict[int, tuple[tuple[str, ...], tuple[str, ...]]]] = {}


def _names(mask: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    intents = tuple(name for bit, name in enumerate(INTENT_ORDER) if mask >> bit & 1)
    domains = tuple(name for bit, name in enumerate(DOMAIN_ORDER, _INTENT_BITS) if mask >> bit & 1)
    found = (intents or ("general",), domains or ("general",))
    _NAMES[mask] = found
    return found


def _compound_mask(word: str) -> int:
    """Return the classes of a word that has an underscore or an apostrophe in it: ``auth_token``, ``test's``."""
    mask = 0
    for part in word.replace("’", "_").replace("'", "_").replace("-", "_").split("_"):
        mask |= _MASKS.get(part, 0)
    return mask


class _KnownMasks(dict[str, int]):
    """The classes of every word that was met, so that looking one up again never leaves C; bounded."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MAX_KNOWN:
            self.clear()
        mask = _MASKS.get(word)
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
    mask = 0
    for found in map(_KNOWN.__getitem__, words):
        mask |= found
    names = _NAMES.get(mask)
    return _names(mask) if names is None else names


def infer_intents(words: Iterable[str]) -> tuple[str, ...]:
    """Return the intents that a rule's words speak for; see `infer` for what is expected of the words."""
    return infer(words)[0]


def infer_domains(words: Iterable[str]) -> tuple[str, ...]:
    """Return the domains that a rule's words speak for; see `infer` for what is expected of the words.

    Deployment is an intent only: no rule gets it as a domain without saying so.
    """
    return infer(words)[1]


# Words whose ending only looks like an inflection, and the few irregular ones that rules use.
_NO_SUFFIX: Final = """
always perhaps https aws dns ios css news series species lens during nothing something anything everything string
morning evening ceiling hundred sacred embed biased canvas atlas alias bias
"""
_STEM_EXCEPTIONS: Final[dict[str, str]] = {
    **{word: word for word in _NO_SUFFIX.split()},
    "does": "do",
    "done": "do",
    "did": "do",
    "wrote": "write",
    "written": "write",
    "ran": "run",
    "built": "build",
    "kept": "keep",
    "made": "make",
    "sent": "send",
    "aliases": "alias",
    "canvases": "canvas",
    "indices": "index",
    "embeds": "embed",
    "child": "child",
    "children": "child",
}


def _vowel_groups(word: str) -> int:
    groups = 0
    inside = False
    for letter in word:
        vowel = letter in VOWELS
        groups += vowel and not inside
        inside = vowel
    return groups


def _without_suffix(word: str) -> str:
    """Return the verb that ``-ing`` or ``-ed`` was added to, given what is left of it."""
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouslfz":
        return word[:-1]  # committ(ing), logg(ed)
    if len(word) == 2 and word[-1] not in VOWELS:
        return word + "e"  # us(ing)
    single = len(word) >= 3 and word[-1] not in "aeiouwxy" and word[-2] in VOWELS and word[-3] not in VOWELS
    if single and _vowel_groups(word) == 1:
        return word + "e"  # cod(ing): a verb that ends like "cod" would have doubled its consonant
    return word


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
    known = _STEM_EXCEPTIONS.get(word)
    if known is None and (len(word) <= 3 or not word.isalpha() or not word.isascii()):
        return word
    if known is not None:
        word = known
    elif word.endswith("s"):
        if word.endswith("ies") and len(word) > 4:
            word = word[:-3] + "y"
        elif word.endswith(("sses", "xes", "shes", "zzes")):
            word = word[:-2]
        elif not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    elif word.endswith("ing"):
        if _vowel_groups(word[:-3]):
            word = _without_suffix(word[:-3])
    elif word.endswith("ied") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("ed") and not word.endswith("eed") and _vowel_groups(word[:-2]):
        word = _without_suffix(word[:-2])
    # What -ing hides must be hidden everywhere: the silent e (merg(e), merg(ing)) and the British ll.
    if len(word) > 4:
        silent = word[-1] == "e" and word[-2] != "e"
        if silent or (word.endswith("ll") and _vowel_groups(word) > 1):
            word = word[:-1]
    return word
