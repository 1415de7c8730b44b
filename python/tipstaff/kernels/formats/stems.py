"""Stems of English words by rule; ``native/include/tipstaff/text/words.hpp`` has the same rules."""

from __future__ import annotations

from typing import Final

_VOWELS: Final = frozenset("aeiouy")


def regular_stem(word: str) -> str:
    """Return what a lower-case word shares with its inflections, as far as rules tell."""
    if len(word) <= 3 or not word.isalpha() or not word.isascii():
        return word
    if word.endswith("s"):
        if word.endswith("ies") and len(word) > 4:
            word = word[:-3] + "y"
        elif word.endswith(("sses", "xes", "shes", "zzes")):
            word = word[:-2]
        elif not word.endswith(("ss", "us", "is")):
            word = word[:-1]
    elif word.endswith("ing"):
        if vowel_groups(word[:-3]):
            word = _without_suffix(word[:-3])
    elif word.endswith("ied") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("ed") and not word.endswith("eed") and vowel_groups(word[:-2]):
        word = _without_suffix(word[:-2])
    return without_silent_ending(word)


def without_silent_ending(word: str) -> str:
    """Return a stem without what -ing hides: the silent e (merg(e), merg(ing)) and the British ll."""
    if len(word) > 4:
        silent = word[-1] == "e" and word[-2] != "e"
        if silent or (word.endswith("ll") and vowel_groups(word) > 1):
            return word[:-1]
    return word


def vowel_groups(word: str) -> int:
    """Count the runs of vowels in a word."""
    groups = 0
    inside = False
    for letter in word:
        vowel = letter in _VOWELS
        groups += vowel and not inside
        inside = vowel
    return groups


def _without_suffix(word: str) -> str:
    """Return the verb that ``-ing`` or ``-ed`` was added to, given what is left of it."""
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouslfz":
        return word[:-1]  # committ(ing), logg(ed)
    if len(word) == 2 and word[-1] not in _VOWELS:
        return word + "e"  # us(ing)
    single = len(word) >= 3 and word[-1] not in "aeiouwxy" and word[-2] in _VOWELS and word[-3] not in _VOWELS
    if single and vowel_groups(word) == 1:
        return word + "e"  # cod(ing): a verb that ends like "cod" would have doubled its consonant
    return word
