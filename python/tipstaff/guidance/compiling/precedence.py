"""Which of two rules holds: twins in the same words, and a local rule beside one of the constitution.

A local file may add and tighten; it may not weaken. Whether words tighten is judged strictly: what is not plainly an
addition is refused, because a constitution that a clever sentence can open protects nobody.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from tipstaff.guidance.wording.claims import LIFT, PERMIT, claims, opposed, topic_of
from tipstaff.guidance.wording.tokenize import words
from tipstaff.guidance.wording.vocabulary import stem
from tipstaff.guidance.wording.word_forms import expressions, lists
from tipstaff.guidance.wording.word_roles import IMPERATIVES
from tipstaff.model import EVERYWHERE, RISK_CODES, GuidanceRule

_EXPRESSIONS: Final = expressions("precedence")
_LISTS: Final = lists("precedence")

_ADDING: Final = frozenset(_LISTS["adding"].split())
"""Words of the grammar that may join what a local rule adds; "except", "in", "only" and the like narrow the rule."""

_PERMISSIVE: Final = frozenset(_LISTS["permissive"].split())
_NOT_EVEN: Final = re.compile(r"[,;]?\s+(?:not even|even|including|also)\b[^.;:,]*[.!]?$", re.IGNORECASE)
_LIFTED: Final = frozenset("required necessary mandatory needed need obligatory".split())
_NEGATIONS: Final = frozenset("not never no isn't aren't don't doesn't".split())
_MAX_LAWS: Final = 1_000
"""Constitution rules about the same thing that a local rule is compared with."""
_VERB_STEMS: Final = frozenset(map(stem, IMPERATIVES))


def tightens(root: GuidanceRule, local: GuidanceRule) -> bool:
    """Whether a local rule only adds to the constitution rule whose id it bears.

    It holds wherever the root rule does, keeps all its words, points the same way, permits nothing, and what it adds is
    joined by nothing but "and", "or" and the like: a condition, a place or an exception would narrow the rule.
    """
    if local.repo_scopes != root.repo_scopes and EVERYWHERE not in local.repo_scopes:
        return False
    if (local.active_from or local.active_until) and (local.active_from, local.active_until) != (
        root.active_from,
        root.active_until,
    ):
        return False
    ours, theirs = words(root.text), words(local.text)
    if not topic_of(ours) <= topic_of(theirs) or not topic_of(ours):
        return False
    if not _PERMISSIVE.isdisjoint(set(theirs) - set(ours)) or ("only" in theirs and "only" not in ours):
        return False
    # "..., not even in tests" takes nothing away.
    plain = _NOT_EVEN.sub("", local.text)
    added = set(words(plain)) - set(ours)
    if any(word not in _ADDING and not topic_of([word]) for word in added):
        return False
    demanded, says = claims(root.text), claims(plain)
    if not demanded or not says or opposed(demanded, says):
        return False
    return all(claim.polarity == demanded[0].polarity and claim.polarity not in {PERMIT, LIFT} for claim in says)


_LIFTS_ALL: Final = re.compile(_EXPRESSIONS["lifts_all"], re.IGNORECASE)
_KEEPS: Final = re.compile(_EXPRESSIONS["keeps"], re.IGNORECASE)
_OTHER_RULES: Final = re.compile(_EXPRESSIONS["other_rules"], re.IGNORECASE)
_CODE: Final = re.compile(r"`[^`]*`")
_NEAR_CHARS: Final = 40
"""How far after the word for rules their owner may be named."""


def lifts_rules(text: str) -> bool:
    """Whether a text asks its reader to ignore rules, not one of a linter's: "Ignore the security rules above"."""
    text = _CODE.sub(" ", text)
    match = _LIFTS_ALL.search(text)
    if match is None or _KEEPS.search(text[: match.start()]) is not None:
        return False
    return _OTHER_RULES.search(text[match.start() : match.end() + _NEAR_CHARS]) is None


class Laws:
    """The constitution rules of the root, and which of them a local rule would weaken.

    A local rule that asks to ignore rules weakens all of them.

    A local rule weakens another if it has permissive words ("can", "may", "skip", "ignore", "not required" ...) and
    is about at least half of the things that the other is about. What a rule is about are its things, not what is done
    with them: "you may log errors" leaves "never log tokens" alone.
    """

    def __init__(self, rules: Sequence[GuidanceRule]) -> None:
        self._rules = rules
        self._sizes: list[int] = []
        self._by_thing: dict[str, list[int]] = {}
        for index, rule in enumerate(rules):
            things = topic_of(words(rule.text)) - _VERB_STEMS
            self._sizes.append(len(things))
            for thing in things:
                self._by_thing.setdefault(thing, []).append(index)

    def weakened_by(self, local: GuidanceRule) -> GuidanceRule | None:
        """Return the first constitution rule that a local rule would weaken, None for none."""
        if self._rules and lifts_rules(local.text):
            about = topic_of(words(local.text))
            named = (rule for rule in self._rules if about & topic_of(words(" ".join((rule.heading, *rule.headings)))))
            return next(named, self._rules[0])
        theirs = words(local.text)
        lifted = not _LIFTED.isdisjoint(theirs) and not _NEGATIONS.isdisjoint(theirs)
        if _PERMISSIVE.isdisjoint(theirs) and not lifted:
            return None
        shared = Counter(index for thing in topic_of(theirs) for index in self._by_thing.get(thing, ())[:_MAX_LAWS])
        return next((self._rules[index] for index in sorted(shared) if 2 * shared[index] >= self._sizes[index]), None)


def stricter(known: GuidanceRule, twin: GuidanceRule) -> GuidanceRule:
    """Return a rule with the stricter attributes of another in the same words: it holds where and when either does."""
    scopes = known.repo_scopes
    if twin.repo_scopes != scopes:
        everywhere = EVERYWHERE in scopes or EVERYWHERE in twin.repo_scopes
        scopes = (EVERYWHERE,) if everywhere else tuple(dict.fromkeys((*scopes, *twin.repo_scopes)))
    begins = [day for day in (known.active_from, twin.active_from) if day is not None]
    ends = [day for day in (known.active_until, twin.active_until) if day is not None]
    return known.replace(
        risk_class=max(known.risk_class, twin.risk_class, key=RISK_CODES.__getitem__),
        priority=max(known.priority, twin.priority),
        is_constitution=known.is_constitution or twin.is_constitution,
        verifier=known.verifier or twin.verifier,
        verifiers=known.verifiers or twin.verifiers,
        repo_scopes=scopes,
        active_from=min(begins) if len(begins) == 2 else None,
        active_until=max(ends) if len(ends) == 2 else None,
    )


def whole_span(rule: GuidanceRule) -> tuple[int, int]:
    """Return the range from the first to the last of a rule's words, those that it takes from elsewhere included."""
    spans = (rule.span, *rule.context_spans)
    return min(low for low, _ in spans), max(high for _, high in spans)


def nearer_wins(one: GuidanceRule, other: GuidanceRule) -> bool:
    """Whether of two rules that oppose each other the one of the inner folder holds there."""
    return one.depth != other.depth and not (one.is_constitution or other.is_constitution)
