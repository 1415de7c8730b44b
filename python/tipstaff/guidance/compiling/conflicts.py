"""Which rules say the same, nearly the same, or what cannot both be followed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tipstaff.globs import scopes_may_overlap
from tipstaff.guidance.compiling.choices import conflicting_choices
from tipstaff.guidance.compiling.identity import signs
from tipstaff.guidance.compiling.stances import opposed_stances
from tipstaff.guidance.compiling.statements import opposition, statement, statement_text
from tipstaff.guidance.wording.claims import MAX_TOPIC_WORDS, claims, may_forbid, similarity, topic_of
from tipstaff.guidance.wording.tokenize import plain_clauses, plain_words
from tipstaff.guidance.wording.tokenize import words as split
from tipstaff.guidance.wording.word_roles import column, lexicon
from tipstaff.kernels import alike_texts, opposed_texts
from tipstaff.model import GuidanceRule, Relation

NEAR_DUPLICATE: Final = 0.8
"""Jaccard similarity of topic words from which two rules of one polarity count as nearly the same."""
_WORK_PER_RULE: Final = 1_024
_LEAST_WORK: Final = 100_000
"""Steps that the search for contradictions may take: in real files a rule meets a handful of others."""
_PAIRS_PER_RULE: Final = 32
"""Bounds the search: in real files a rule resembles a handful of others at most."""


def relate(rules: Sequence[GuidanceRule]) -> tuple[tuple[Relation, ...], bool]:
    """Find duplicates, near-duplicates and contradictions among rules.

    Parameters
    ----------
    rules
        Any number; the work is near-linear (prefix filtering over rare words) and bounded.

    Returns
    -------
    tuple
        The relations in the order of the rules, and whether the search was complete. A rule that is nearly the same as
        several is related to the first of them only.

    Notes
    -----
    Kernels propose pairs of texts; what exactly two rules say is read here, for those pairs alone.
    """
    found: dict[tuple[int, int], Relation] = {}
    if len(rules) < 2:
        return (), True
    texts = [rule.text for rule in rules]
    heads = [statement_text(rule) for rule in rules]
    work = _WORK_PER_RULE * len(rules) + _LEAST_WORK
    opposed, opposed_all = opposed_texts(lexicon(), *column(heads, plain_clauses), work_limit=work)
    for pair in opposed:
        if (relation := _opposition(*(rules[index] for index in pair))) is not None:
            found[pair] = relation
    for pair, relation in (*conflicting_choices(rules).items(), *opposed_stances(rules, heads).items()):
        found.setdefault(pair, relation)
    alike, alike_all = alike_texts(
        lexicon(), *column(texts, plain_words), NEAR_DUPLICATE, MAX_TOPIC_WORDS, _PAIRS_PER_RULE * len(rules) + 1_000
    )
    covered: set[int] = set()
    for pair in alike:
        if pair[1] not in covered and pair not in found:
            relation = _duplicate(*(rules[index] for index in pair))
            if relation is not None:
                covered.add(pair[1])
                found[pair] = relation
    return tuple(found[pair] for pair in sorted(found)), opposed_all and alike_all


def _overlap(one: GuidanceRule, other: GuidanceRule) -> bool:
    return scopes_may_overlap(one.repo_scopes, other.repo_scopes)


def _opposition(one: GuidanceRule, other: GuidanceRule) -> Relation | None:
    """Relate two rules of which one demands what the other forbids, or need not be done by the other."""
    if one.kind != "rule" or other.kind != "rule":
        return None
    opposed = opposition(statement(one), statement(other))
    if opposed is None or not _overlap(one, other):
        return None
    return Relation(kind=opposed[0], left=one.id, right=other.id, similarity=round(opposed[1], 4))


def _duplicate(one: GuidanceRule, other: GuidanceRule) -> Relation | None:
    """Relate two rules that point the same way in nearly the same words."""
    ours, theirs = split(one.text), split(other.text)
    left, right = topic_of(ours), topic_of(theirs)
    score = similarity(left, right)
    if score < NEAR_DUPLICATE or (len(left) == 1 and score < 1.0):
        return None
    same = ours == theirs
    if same and one.text != other.text and signs(one.text) != signs(other.text):
        return None
    if not same and score < 1.0 and _is_enumeration(one, other):
        return None
    if not same and (may_forbid(ours) or may_forbid(theirs)):
        polarities = [[claim.polarity for claim in claims(statement_text(rule))] for rule in (one, other)]
        if polarities[0] != polarities[1]:
            return None
    if not _overlap(one, other):
        return None
    kind = "duplicate" if same else "near-duplicate"
    if not same and not one.kind == other.kind == "rule":
        return None  # descriptions are alike because what they describe is
    return Relation(kind=kind, left=one.id, right=other.id, similarity=round(score, 4))


def _is_enumeration(one: GuidanceRule, other: GuidanceRule) -> bool:
    """Whether two rules are alike because they are neighbours in a list, or owe their words to the same parent."""
    if one.path != other.path:
        return False
    return abs(one.line - other.line) <= 2 or not set(one.context_spans).isdisjoint(other.context_spans)
