"""Which rules the constitution has room for: those in which most is at stake, each said once.

They are ranked by priority and by what is at stake (`tipstaff.guidance.compiling.stakes`), and taken as long as lines
and tokens last, in the root and in each nested folder. What an author gave an id and put below a constitution heading
comes first; whoever gives ids decides alone. Rules of files that nobody loads always are never taken.

Source: ADR-G002 (60 lines; what is always loaded costs tokens on every turn).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from tipstaff.guidance.compiling.constitution import line_tokens
from tipstaff.guidance.compiling.rule_maker import CONSTITUTION_BOOST
from tipstaff.guidance.compiling.stakes import ENOUGH, place, stakes
from tipstaff.guidance.reading.constitution_headings import is_constitution_heading
from tipstaff.guidance.wording.tokenize import words as split
from tipstaff.guidance.wording.word_roles import FUNCTION_WORDS, MODAL_WORDS
from tipstaff.model import EVERYWHERE, GuidanceRule

CONSTITUTION_TOKENS: Final = 500
"""What the constitution's rules may cost together; four characters are a token (ADR-G002)."""
FEW: Final = 5
"""As many rules as a task is given (`max_shards`): where there are no more, much has to be at stake."""
MUCH: Final = 2.7
FOLDER_LINES: Final = 20
FOLDER_TOKENS: Final = 200
"""What chosen rules may fill a nested folder's constitution up to."""
WRITTEN_ID: Final = 100.0
"""Added to a rule with an id below a constitution heading, which is never left out for another."""
BELOW_HEADING: Final = 3.0
"""Added to other rules below a constitution heading."""
_TRIED: Final = 32
"""Rules that are tried once one has found no room: a shorter one may."""
_STEM: Final = 5
"""Characters by which words of any language are compared."""
_RUN: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_LATIN: Final = re.compile(r"[a-z0-9]+")
_CODE: Final = re.compile(r"`[^`]*`")
_NUMBER: Final = re.compile(r"\d+")
_MOMENT: Final = re.compile(r"\bbefore (?:you )?(?:commit|push|open|submit|merg|hand)\w*", re.IGNORECASE)
_PULL_REQUEST: Final = re.compile(r"\bpull requests?\b|\bprs\b", re.IGNORECASE)


class Election(NamedTuple):
    """What the constitution has room for.

    Attributes
    ----------
    rules
        All rules, those that were chosen made constitution, by falling priority.
    overflow
        Ids of constitution rules without room.
    missed
        Rules that belong there and for which there was no room, each with the weakest of its folder that was taken.
    """

    rules: list[GuidanceRule]
    overflow: frozenset[str]
    missed: list[tuple[GuidanceRule, GuidanceRule | None]]


class _Entry(NamedTuple):
    priority: int
    points: float
    position: int


class _Said(NamedTuple):
    rule: GuidanceRule
    topic: frozenset[str]
    position: int


def elect(
    rules: Sequence[GuidanceRule], max_lines: int, in_force: Sequence[bool], always_loaded: Callable[[str], bool]
) -> Election:
    """Choose what is always loaded.

    Parameters
    ----------
    rules
        By falling priority.
    max_lines
        Of the constitution, title and blank line included.
    in_force
        For each rule, whether it holds today.
    always_loaded
        Whether a file is loaded by its host without being asked for.
    """
    entries: dict[str, list[_Entry]] = {}
    last: dict[str, int] = {}
    for rule in rules:
        last[rule.path] = max(last.get(rule.path, 0), rule.line)
    for index, rule in enumerate(rules):
        if not in_force[index]:
            continue
        if not rule.is_generated_id:
            if rule.is_constitution:
                entry = _Entry(rule.priority, WRITTEN_ID, index)
                entries.setdefault(folder_scope(rule), []).append(entry)
            continue
        if not always_loaded(rule.path) or not _holds_in_its_folder(rule):
            continue
        if rule.source == "local" and not rule.is_constitution:
            continue
        own = stakes(rule).points
        if len(rules) <= FEW and own < MUCH and not rule.is_constitution:
            continue
        points = own + place(rule.line, last[rule.path]) + (BELOW_HEADING if rule.is_constitution else 0)
        if points >= ENOUGH:
            priority = rule.priority + (0 if rule.is_constitution else CONSTITUTION_BOOST)
            entries.setdefault(folder_scope(rule), []).append(_Entry(priority, points, index))
    elected: set[int] = set()
    overflow: set[str] = set()
    missed: list[tuple[GuidanceRule, GuidanceRule | None]] = []
    for folder, found in entries.items():
        _fill(rules, folder, found, max_lines, elected, overflow, missed)
    changed: list[GuidanceRule] = []
    for index, rule in enumerate(rules):
        chosen = index in elected or (
            rule.is_constitution and (rule.id in overflow or not rule.is_generated_id or not in_force[index])
        )
        if rule.is_constitution == chosen:
            changed.append(rule)
        else:
            boost = CONSTITUTION_BOOST if chosen else -CONSTITUTION_BOOST
            changed.append(rule.replace(is_constitution=chosen, priority=rule.priority + boost))
    return Election(sorted(changed, key=lambda rule: -rule.priority), frozenset(overflow), missed)


def _fill(
    rules: Sequence[GuidanceRule],
    folder: str,
    entries: list[_Entry],
    max_lines: int,
    elected: set[int],
    overflow: set[str],
    missed: list[tuple[GuidanceRule, GuidanceRule | None]],
) -> None:
    """Take one folder's rules as long as there is room."""
    lines, tokens = max(0, max_lines - 2) if max_lines > 2 else max_lines, CONSTITUTION_TOKENS
    own_lines, own_tokens = (FOLDER_LINES, FOLDER_TOKENS) if folder else (lines, tokens)
    entries.sort(key=lambda entry: (-entry.priority, -entry.points, entry.position))
    said: list[_Said] = []
    weakest: GuidanceRule | None = None
    left: list[GuidanceRule] = []
    for entry in entries:
        rule = rules[entry.position]
        if len(left) >= _TRIED and entry.points < WRITTEN_ID:
            left.append(rule)  # there is no room, and what says the same need not be told apart
            continue
        topic = _topic(rule)
        cost = line_tokens(rule)
        if entry.points < WRITTEN_ID:
            same = next((one for one in said if _says_the_same(rule, topic, one.rule, one.topic)), None)
            if same is not None:
                more = cost - line_tokens(same.rule)
                fuller = len(topic) > len(same.topic) and same.topic <= topic
                if fuller and same.position in elected and min(tokens, own_tokens) >= more:
                    elected.remove(same.position)
                    elected.add(entry.position)
                    tokens, own_tokens = tokens - more, own_tokens - more
                    said[said.index(same)] = _Said(rule, topic, entry.position)
                else:
                    said.append(_Said(same.rule, topic, same.position))
                continue
            if min(lines, own_lines) <= 0 or min(tokens, own_tokens) < cost:
                left.append(rule)
                continue
            elected.add(entry.position)
            weakest = rule
        elif lines <= 0:
            overflow.add(rule.id)
            continue
        said.append(_Said(rule, topic, entry.position))
        lines, tokens = lines - 1, tokens - cost
        own_lines, own_tokens = own_lines - 1, own_tokens - cost
    overflow.update(rule.id for rule in left if rule.is_constitution)
    missed.extend((rule, weakest) for rule in left if not rule.is_constitution)


def _holds_in_its_folder(rule: GuidanceRule) -> bool:
    """Whether no glob narrows a rule further than to the folder of its file."""
    if not rule.depth:
        return EVERYWHERE in rule.repo_scopes
    return rule.repo_scopes == rule.file_scope and len(rule.repo_scopes) == 1 and rule.repo_scopes[0].endswith("/**")


def _topic(rule: GuidanceRule) -> frozenset[str]:
    """Return what a rule's words begin with, so that those of one stem are alike in any language; pairs of CJK ones."""
    own = _PULL_REQUEST.sub("pr", rule.text[rule.own_start :].lower())
    plain = _stems(_CODE.sub(" ", own)) if "`" in own else frozenset[str]()
    return plain if len(plain) > 2 else _stems(own)


def _stems(text: str) -> frozenset[str]:
    found: set[str] = set()
    for word in split(text):
        runs = _RUN.findall(word) if not word.isascii() else ()
        if runs:
            found.update(run[index : index + 2] for run in runs for index in range(max(1, len(run) - 1)))
            found.update(part[:_STEM] for part in _LATIN.findall(word))
        elif len(word) > 1 and word not in FUNCTION_WORDS and word not in MODAL_WORDS:
            found.add(word[:_STEM])
    return frozenset(found)


def _says_the_same(rule: GuidanceRule, topic: frozenset[str], other: GuidanceRule, theirs: frozenset[str]) -> bool:
    """Whether a rule says nothing beside another: in its words, or of the same moment without a command of its own."""
    if _names_another(rule.text, other.text):
        return False
    shared, smaller = len(topic & theirs), min(len(topic), len(theirs))
    least = 3 if smaller > 3 or rule.heading == other.heading else 4
    if smaller >= 2 and (shared == smaller or (smaller >= least and shared >= 0.66 * smaller)):
        return True
    if shared and shared / len(topic | theirs) >= 0.5:
        return True
    return (
        rule.heading == other.heading
        and "`" not in rule.text
        and _MOMENT.search(rule.text) is not None
        and _MOMENT.search(other.text) is not None
    )


def _names_another(text: str, other: str) -> bool:
    """Whether two rules are about different numbers or different code."""
    for expression in (_NUMBER, _CODE):
        mine, theirs = set(expression.findall(text)), set(expression.findall(other))
        if mine and theirs and mine.isdisjoint(theirs):
            return True
    return False


def reasons(rule: GuidanceRule) -> tuple[str, ...]:
    """Return why a rule belongs to the constitution, and what counts against it.

    Parameters
    ----------
    rule
        Of a compiled bundle.
    """
    if not rule.is_generated_id:
        heading = next((one for one in reversed(rule.headings) if is_constitution_heading(one)), None)
        if rule.is_constitution and heading is not None:
            return (f"an id below the constitution heading {heading!r}",)
    heading = next((one for one in reversed(rule.headings) if is_constitution_heading(one)), None)
    found = stakes(rule)
    given = (f"below the constitution heading {heading!r}",) if heading is not None else ()
    return (f"{found.points:g} of {ENOUGH:g} points", *given, *found.reasons) if given or found.reasons else ()


def why_left(rule: GuidanceRule, constitution: Sequence[GuidanceRule]) -> str:
    """Return why a rule is not in the constitution, in words.

    Parameters
    ----------
    rule
        Of a compiled bundle, not always loaded.
    constitution
        The rules that are.
    """
    if not rule.is_generated_id:
        return "its author gave ids, and put it below no constitution heading"
    if not _holds_in_its_folder(rule):
        return "it applies to some files only"
    if stakes(rule).points + 0.4 < ENOUGH:
        return "too little is at stake"
    topic = _topic(rule)
    for other in constitution:
        if _says_the_same(rule, topic, other, _topic(other)):
            return f"{other.id} says the same"
    return f"no room within {CONSTITUTION_TOKENS} tokens, its file is not always loaded, or it stands too far below"


def folder_scope(rule: GuidanceRule) -> str:
    """Return the folder for which a nested file's rule holds, as a scope; empty for the root's."""
    if not rule.depth or EVERYWHERE in rule.repo_scopes:
        return ""
    return rule.file_scope[0] if rule.file_scope else ""
