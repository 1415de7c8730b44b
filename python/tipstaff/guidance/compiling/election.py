"""Which rules the constitution has room for: those that authors put there, and those that are put most strongly.

They are ranked together, by priority and by how strongly they are put, and taken as long as lines and tokens last, in
the root and in each nested folder. What an author gave an id and put below a constitution heading comes first.

Source: ADR-G002 (60 lines; what is always loaded costs tokens on every turn).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from tipstaff.guidance.compiling.constitution import line_tokens
from tipstaff.guidance.compiling.emphasis import ENOUGH, MANY_RULES, MAX_PLAIN, NEARLY, PLAIN, emphasis, may_be_strong
from tipstaff.guidance.compiling.rule_maker import CONSTITUTION_BOOST
from tipstaff.guidance.reading.constitution_headings import is_constitution_heading
from tipstaff.model import EVERYWHERE, GuidanceRule

CONSTITUTION_TOKENS: Final = 500
"""What the constitution's rules may cost together; four characters are a token (ADR-G002)."""
FOLDER_LINES: Final = 20
FOLDER_TOKENS: Final = 200
"""What rules chosen by their emphasis may fill a nested folder's constitution up to."""
WRITTEN_ID: Final = 100.0
"""Added to the emphasis of a rule with an id below a constitution heading, which is never left out for another."""


class Election(NamedTuple):
    """What the constitution has room for.

    Attributes
    ----------
    rules
        All rules, those that were chosen by their emphasis made constitution, by falling priority.
    overflow
        Ids of constitution rules without room.
    missed
        Strongly put rules that were not chosen.
    """

    rules: list[GuidanceRule]
    overflow: frozenset[str]
    missed: list[GuidanceRule]


class _Entry(NamedTuple):
    priority: int
    points: float
    position: int
    is_law: bool


def elect(rules: Sequence[GuidanceRule], max_lines: int, in_force: Sequence[bool]) -> Election:
    """Choose what is always loaded.

    Parameters
    ----------
    rules
        By falling priority.
    max_lines
        Of the constitution, title and blank line included.
    in_force
        For each rule, whether it holds today.
    """
    entries: dict[str, list[_Entry]] = {}
    sizes: dict[str, int] = {}
    laws: dict[str, int] = {}
    for rule, holds in zip(rules, in_force, strict=True):
        if rule.is_constitution and holds:
            laws[folder_scope(rule)] = laws.get(folder_scope(rule), 0) + 1
    for index, rule in enumerate(rules):
        folder = folder_scope(rule)
        sizes[folder] = sizes.get(folder, 0) + 1
        if not in_force[index] or not (rule.is_constitution or rule.is_generated_id):
            continue
        if not rule.is_constitution and laws.get(folder, 0) >= MAX_PLAIN and not may_be_strong(rule):
            continue
        points = emphasis(rule).points
        if rule.is_constitution:
            points += ENOUGH if rule.is_generated_id else WRITTEN_ID
            entries.setdefault(folder, []).append(_Entry(rule.priority, points, index, True))
        elif points >= PLAIN and rule.source != "local":
            # Whoever gives ids says what belongs to the constitution; of the others those that are put strongly do.
            priority = rule.priority + CONSTITUTION_BOOST
            entries.setdefault(folder, []).append(_Entry(priority, points, index, False))
    elected: set[int] = set()
    overflow: set[str] = set()
    missed: list[GuidanceRule] = []
    for folder, found in entries.items():
        _fill(rules, folder, found, sizes[folder], max_lines, elected, overflow, missed)
    changed = [
        rule.replace(is_constitution=True, priority=rule.priority + CONSTITUTION_BOOST) if index in elected else rule
        for index, rule in enumerate(rules)
    ]
    return Election(sorted(changed, key=lambda rule: -rule.priority), frozenset(overflow), missed)


def _fill(
    rules: Sequence[GuidanceRule],
    folder: str,
    entries: list[_Entry],
    n_rules: int,
    max_lines: int,
    elected: set[int],
    overflow: set[str],
    missed: list[GuidanceRule],
) -> None:
    """Take one folder's rules as long as there is room."""
    lines, tokens = max(0, max_lines - 2) if max_lines > 2 else max_lines, CONSTITUTION_TOKENS
    own_lines, own_tokens = (FOLDER_LINES, FOLDER_TOKENS) if folder else (lines, tokens)
    # Where nobody put anything strongly, the plainest bans and duties of a file of some length are taken.
    filling = MAX_PLAIN - sum(entry.is_law for entry in entries) if n_rules >= MANY_RULES else 0
    entries.sort(key=lambda entry: (-entry.priority, -entry.points, entry.position))
    for entry in entries:
        rule = rules[entry.position]
        cost = line_tokens(rule)
        if entry.is_law:
            if lines > 0 and (tokens >= cost or entry.points >= WRITTEN_ID):
                lines, tokens = lines - 1, tokens - cost
                own_lines, own_tokens = own_lines - 1, own_tokens - cost
            else:
                overflow.add(rule.id)
            continue
        filling -= 1
        room = min(lines, own_lines) > 0 and min(tokens, own_tokens) >= cost
        if room and max_lines and (entry.points >= ENOUGH or filling >= 0):
            elected.add(entry.position)
            lines, tokens = lines - 1, tokens - cost
            own_lines, own_tokens = own_lines - 1, own_tokens - cost
        elif entry.points >= NEARLY:
            missed.append(rule)


def reasons(rule: GuidanceRule) -> tuple[str, ...]:
    """Return why a rule belongs to the constitution, or what counts for it where it does not.

    Parameters
    ----------
    rule
        Of a compiled bundle.
    """
    heading = next((one for one in reversed(rule.headings) if is_constitution_heading(one)), None)
    given = (f"below the constitution heading {heading!r}",) if rule.is_constitution and heading is not None else ()
    return (*given, *emphasis(rule).reasons)


def folder_scope(rule: GuidanceRule) -> str:
    """Return the folder for which a nested file's rule holds, as a scope; empty for the root's."""
    if not rule.depth or EVERYWHERE in rule.repo_scopes:
        return ""
    return rule.file_scope[0] if rule.file_scope else ""
