"""What a command must have for a rule to hold, derived from outside the rule: an option, a pair of letters, a pipe.

A rule of the image is tried only where its trigger is met. A trigger is a necessary condition and nothing more, so the
findings are those of trying every rule; it is an "or" of things that are looked up at once: facts about how the command
is run, options that are there, options that carry a value, and signs of words: how one begins, how it ends,
which letters are side by side in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

from tipstaff.gates.packs.model import MARKS, Condition, PackRule, Selector

READS_PIPE: Final = 1
WRITES_PIPE: Final = 2
CARRIED: Final = 4
HAS_INPUT: Final = 8
UNKNOWN_WORDS: Final = 16
FOLLOWED: Final = 32
"""The calls of a run are followed: what one of them was matters to those after it."""

_BOUNDARY: Final = 31
_OTHER: Final = 30
# How often each class of bytes occurs in commands, in thousandths: letters, digit, `-`, `.`, `/`, others, word's end.
_WEIGHTS: Final = (
    60, 16, 48, 46, 98, 20, 25, 25, 50, 2, 12, 51, 36, 41, 53, 46, 3, 58, 71, 76, 32, 12, 9, 14, 12, 3,
    32, 52, 21, 32, 80, 130,
)  # fmt: skip
# Where the signs are, as in ``word_signs.hpp``: of beginnings from 0 on, of ends, of pairs of letters.
_ENDS: Final = 4096
PAIR_SIGNS: Final = 8192
_FACT_RISK: Final = 150.0
_OPTION_RISK: Final = 20.0
_SIGN_RISK: Final = 2.0
_PAIRS_COST: Final = 30.0


def byte_class(byte: int) -> int:
    """Return the class of a byte, 0 to 30, as ``letter_classes.hpp`` has it: letters without case, digits and signs."""
    if 65 <= byte <= 90:
        return byte - 65
    if 97 <= byte <= 122:
        return byte - 97
    if 48 <= byte <= 57:
        return 26
    return {0x2D: 27, 0x2E: 28, 0x2F: 29}.get(byte, _OTHER)


@dataclass(frozen=True)
class Trigger:
    """At least one of these must be met; one with none of them is never met.

    ``facts`` and ``via`` are bits, ``present`` and ``valued`` names of options; of two ``signs`` of words both must
    be there. ``firsts`` and ``lasts`` are the classes of the two letters by which words with those signs begin, or end
    where only the end is known; signs that are pairs of letters have neither.
    """

    facts: int = 0
    via: int = 0
    present: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    signs: frozenset[tuple[int, int]] = frozenset()
    firsts: frozenset[tuple[int, int]] = frozenset()
    lasts: frozenset[tuple[int, int]] = frozenset()

    def __or__(self, other: Trigger) -> Trigger:
        return Trigger(
            self.facts | other.facts,
            self.via | other.via,
            self.present | other.present,
            self.valued | other.valued,
            self.signs | other.signs,
            self.firsts | other.firsts,
            self.lasts | other.lasts,
        )

    @cached_property
    def risk(self) -> float:
        """How often it is met for nothing, roughly, in thousandths, and what telling costs; the least is the best."""
        pairs = [sign for sign in self.signs if sign[0] >= PAIR_SIGNS]
        return (
            _FACT_RISK * (self.facts.bit_count() + self.via.bit_count())
            + _OPTION_RISK * bool(self.present or self.valued)
            + _SIGN_RISK * len(self.signs)
            + (_PAIRS_COST + sum(_weight(sign) for sign in pairs) if pairs else 0)
        )


def _weight(signs: tuple[int, int]) -> float:
    """Return how often both letter pairs occur in a command, in thousandths and roughly."""
    pairs = {sign - PAIR_SIGNS for sign in signs}
    chances = [min(1.0, 60 * _WEIGHTS[pair >> 5] * _WEIGHTS[pair & 31] / 1e6) for pair in pairs]
    return 1000 * min(chances) * (max(chances) if len(chances) > 1 else 1)


def _triple(first: int, second: int, third: int) -> int:
    return ((first << 10 | second << 5 | third) * 40503 & 0xFFFF) >> 4


_CLASSES: Final = tuple(map(byte_class, range(256)))


# Each of a pack's globs is asked about for every program and word of its rule.
@lru_cache(maxsize=1 << 16)
def _stretch(glob: str) -> tuple[int | None, ...]:
    """Return the classes of a glob's letters; None is where anything may be."""
    stretch: list[int | None] = []
    data = glob.encode()
    at = 0
    while at < len(data):
        byte = data[at]
        if byte in b"*?":
            stretch.append(None)
        elif byte == 0x5C and at + 1 < len(data):
            at += 1
            stretch.append(_CLASSES[data[at]])
        else:
            stretch.append(_CLASSES[byte])
        at += 1
    return tuple(stretch)


def glob_signs(glob: str) -> tuple[int, int] | None:
    """Return two signs of every word that a glob matches (one twice, where it has one); None if it has none.

    They are the word's first three letters and its last three; its rarest pairs of letters where the glob is open, or
    where it begins with a sign and little is known of what follows.

    Parameters
    ----------
    glob
        ``*`` and ``?``, a backslash before any other sign; letter case does not count.
    """
    stretch = _stretch(glob)
    begins = [*stretch, _BOUNDARY, _BOUNDARY, _BOUNDARY][:3]
    closes = [_BOUNDARY, _BOUNDARY, _BOUNDARY, *stretch][-3:]
    ends = [
        first_sign + _triple(known[0], known[1], known[2])
        for first_sign, three in ((0, begins), (_ENDS, closes))
        if len(known := [one for one in three if one is not None]) == 3
    ]
    alone = _begins_with_sign_alone(stretch)
    if ends and not alone:
        return (ends[0], ends[-1])
    whole = [_BOUNDARY, *stretch, _BOUNDARY]
    found = {left << 5 | right for left, right in pairwise(whole) if left is not None and right is not None}
    if not found:
        return None
    order = sorted(found, key=lambda pair: (_WEIGHTS[pair >> 5] * _WEIGHTS[pair & 31], pair))
    if alone:
        return (PAIR_SIGNS + (_BOUNDARY << 5 | _OTHER), PAIR_SIGNS + order[0])
    return (PAIR_SIGNS + order[0], PAIR_SIGNS + order[1 if len(order) > 1 else 0])


def _begins_with_sign_alone(stretch: Sequence[int | None]) -> bool:
    """Return whether words begin with what is neither letter nor digit and continue with anything: ``+*:main``."""
    return len(stretch) > 1 and stretch[0] == _OTHER and stretch[1] is None


def glob_edges(glob: str) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    """Return the classes of the first two letters of every word that a glob matches, else those of the last two.

    None where they are not known; a word's end counts as a letter. They are known where `glob_signs` knows the ends.
    """
    stretch = _stretch(glob)
    begins = [*stretch, _BOUNDARY, _BOUNDARY, _BOUNDARY][:3]
    closes = [_BOUNDARY, _BOUNDARY, _BOUNDARY, *stretch][-3:]
    if (first := begins[0]) is not None and (second := begins[1]) is not None and begins[2] is not None:
        return (first, second), None
    if _begins_with_sign_alone(stretch):
        return None, None
    if (last := closes[2]) is not None and (before := closes[1]) is not None and closes[0] is not None:
        return None, (last, before)
    return None, None


def glob_letters(glob: str) -> int:
    """Return the classes of the letters that every text which a glob matches has, as bits."""
    return sum(1 << one for one in {one for one in _stretch(glob) if one is not None})


def glob_pairs(glob: str) -> tuple[int, int]:
    """Return bits of the letters side by side in every text that a glob matches, as `pairs_of` has them."""
    bits = 0
    for one, other in pairwise(_stretch(glob)):
        if one is not None and other is not None:
            bits |= 1 << (((one << 5 | other) * 40503 & 0xFFFF) >> 10)
    return bits & 0xFFFFFFFF, bits >> 32


def pair_letters(signs: tuple[int, int]) -> int:
    """Return the classes of the letters of two pairs, as bits."""
    classes = {half for sign in signs for half in divmod(sign - PAIR_SIGNS, 32)}
    return sum(1 << one for one in classes)


def is_plain(word: str) -> bool:
    """Return whether the first word of a subcommand may pick out its rules: no pattern, and nothing like an option."""
    return bool(word) and not set(word) & set("*?\\") and word[0] not in "-/"


def subcommand_words(rule: PackRule) -> set[str]:
    """Return all first words, in lower case, that the base or an alternative of a rule asks for or does not allow."""
    has_subcommand = _has_subcommand(rule.base)
    words: set[str] = set()
    for group in (rule.base, *rule.any_of):
        for condition in group:
            if condition.kind == "subcommand":
                words.update(sequence[0].lower() for sequence in condition.sequences if is_plain(sequence[0]))
        if not has_subcommand:
            words |= _refused_words(group)
    return words


def _has_subcommand(group: Sequence[Condition]) -> bool:
    return any(condition.kind == "subcommand" for condition in group)


def _refused_words(group: Sequence[Condition]) -> set[str]:
    """Return words that no argument may be, where the first operand is an argument too and no subcommand."""
    if _has_subcommand(group):
        return set()
    refused = (condition.globs for condition in group if condition.kind == "args_none")
    return {glob.lower() for globs in refused for glob in globs if is_plain(glob)}


def trigger_of(rule: PackRule, word: str | None) -> Trigger | None:
    """Return what a rule needs where the first operand is `word`, one of the words that rules of the program ask for.

    Parameters
    ----------
    rule
        The rule.
    word
        In lower case; None where the operand is none of those words, or is missing.

    Returns
    -------
    Trigger or None
        None if nothing simple is known; a trigger without anything in it if the rule cannot hold.
    """
    has_subcommand = _has_subcommand(rule.base)
    needs = _of_group(rule.base, word, has_subcommand=has_subcommand)
    if rule.any_of:
        whole: Trigger | None = Trigger()
        for group in rule.any_of:
            best = _best(_of_group(group, word, has_subcommand=has_subcommand))
            whole = None if best is None or whole is None else whole | best
        needs.append(whole)
    if _only_notes_runs(rule):
        needs.append(Trigger(facts=FOLLOWED))
    return _best(needs)


def _only_notes_runs(rule: PackRule) -> bool:
    """Return whether a rule only records that a file was run, for later calls."""
    reports = rule.rows is not None or rule.because is not None
    return rule.decision == "mark" and rule.marks == MARKS["runs-file"] and not reports


def _of_group(group: Sequence[Condition], word: str | None, *, has_subcommand: bool) -> list[Trigger | None]:
    """Return what each condition needs; `has_subcommand`: the first operand is a subcommand, no argument."""
    if word is not None and not has_subcommand and word in _refused_words(group):
        return [Trigger()]
    return [_needed(condition, word) for condition in group]


def _best(triggers: Iterable[Trigger | None]) -> Trigger | None:
    return min((trigger for trigger in triggers if trigger is not None), key=lambda one: one.risk, default=None)


# A rule is compiled once for each program and subcommand, and its globs are the same each time.
@lru_cache(maxsize=4_096)
def _of_globs(globs: tuple[str, ...]) -> Trigger | None:
    whole = Trigger()
    for glob in globs:
        sign = glob_signs(glob)
        if sign is None:
            return None
        first, last = glob_edges(glob)
        whole |= Trigger(
            signs=frozenset({sign}),
            firsts=frozenset() if first is None else frozenset({first}),
            lasts=frozenset() if last is None else frozenset({last}),
        )
    return whole


def _of_subcommand(condition: Condition, word: str | None) -> Trigger | None:
    whole = Trigger()
    for sequence in condition.sequences:
        first, *rest = sequence
        if is_plain(first) and first.lower() != word:
            continue
        best = _best([_of_globs((glob,)) for glob in (rest if is_plain(first) else sequence)])
        if best is None:
            return None
        whole |= best
    return whole


def _of_selectors(selectors: Sequence[Selector]) -> Trigger | None:
    whole = Trigger()
    for selector in selectors:
        match selector.kind:
            case "option":
                whole |= Trigger(valued=frozenset(selector.options))
            case "input":
                whole |= Trigger(facts=HAS_INPUT)
            case _:
                return None
    return whole


def _needed(condition: Condition, word: str | None) -> Trigger | None:
    """Return what one condition needs; None where that is nothing simple."""
    match condition.kind:
        case "subcommand":
            return _of_subcommand(condition, word)
        case "flags_any":
            return Trigger(present=frozenset(condition.options))
        case "value":
            return Trigger(valued=frozenset(condition.options))
        case "first" | "second" | "last" | "args_any" | "args_all" | "words_any":
            return _of_globs(condition.globs)
        case "paths":
            return _of_selectors(condition.selectors)
        case "via_any":
            return Trigger(via=condition.least)
        case "reads_from":
            return Trigger(facts=READS_PIPE)
        case "writes_to":
            return Trigger(facts=WRITES_PIPE)
        case "inside":
            return Trigger(facts=CARRIED)
        case "input":
            return Trigger(facts=HAS_INPUT)
        case "unknown_args" if condition.least:
            return Trigger(facts=UNKNOWN_WORDS)
        case _:
            return None
