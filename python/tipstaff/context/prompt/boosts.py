"""How a request raises the priority of the sections that it needs.

==========================  ===================================================  ======
sections                    condition                                            points
==========================  ===================================================  ======
memory, except protected    one of the request's symbols is in the text      16
memory:auto-memory          always                                               8
memory:markdown-memory      an active file is named in the text                  10
memory:daily-journal        the request continues earlier work                   12
rules                       an active file matches one of the rules' globs       4
candidates                  one of the request's symbols is in the text      6
git                         the request continues earlier work                   6
==========================  ===================================================  ======

Points add up to at most 12. Symbols and files count as whole words. Protected sections are not boosted, and no boost
lifts a section as high as a protected one. Priority decides what is cut first, never the order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tipstaff.budgets import MAX_FOCUS_BOOST
from tipstaff.model import Record

if TYPE_CHECKING:
    from tipstaff.context.prompt.focus import RequestFocus

PROTECTED_PRIORITY: Final = 90
"""The lowest priority of a protected tier: boosts stop below it."""

CONTINUATION: Final = "continue current execution"

_SYMBOL_POINTS: Final = 16
_LEARNED_POINTS: Final = 8
_FILE_POINTS: Final = 10
_JOURNAL_POINTS: Final = 12
_RULES_POINTS: Final = 4
_CANDIDATE_POINTS: Final = 6
_GIT_POINTS: Final = 6


class PriorityBoost(Record, frozen=True, gc=False):
    """One reason for which a section's priority was raised.

    Attributes
    ----------
    reason
        ``symbol``, ``learned``, ``file``, ``continuation`` or ``glob``.
    points
        What the table gives for it.
    applied
        What of that counted, after the cap of 12 and below the protected sections.
    evidence
        The symbol, file or signal that was found.
    """

    reason: str
    points: int
    applied: int
    evidence: str


class BoostedPriority(Record, frozen=True):
    """A section's priority for one request: the base, what was added, and the sum that counts."""

    priority: int
    base_priority: int
    boosts: tuple[PriorityBoost, ...]


def boost_priority(
    key: str,
    base_priority: int,
    content: str,
    focus: RequestFocus,
    *,
    protected: bool = False,
    matching_files: Iterable[str] | None = None,
) -> BoostedPriority:
    """Return a section's priority for a request.

    Parameters
    ----------
    key
        Such as ``memory:daily-journal``, ``rules`` or ``rules:tests``.
    base_priority
        Its priority when nothing is known of the request.
    content
        Its text.
    focus
        What the request is about.
    protected
        Whether the section is; then nothing is added.
    matching_files
        For rules: the active files that match a rule's globs, as
        :meth:`tipstaff.context.sources.path_rules.PathRules.match` found them. None takes every active file, as rules
        are only put into a prompt for files that match.

    Returns
    -------
    BoostedPriority
        `priority` is between `base_priority` and ``base_priority + 12``, and below 90 where `base_priority` is.
    """
    found: list[tuple[str, int, str]] = []
    if not protected and base_priority < PROTECTED_PRIORITY:
        found = list(_reasons(key, content, focus, matching_files))
    room = min(MAX_FOCUS_BOOST, PROTECTED_PRIORITY - 1 - base_priority)
    boosts: list[PriorityBoost] = []
    for reason, points, evidence in found:
        applied = max(0, min(points, room))
        room -= applied
        boosts.append(PriorityBoost(reason, points, applied, evidence))
    total = base_priority + sum(boost.applied for boost in boosts)
    return BoostedPriority(total, base_priority, tuple(boosts))


def _reasons(
    key: str, content: str, focus: RequestFocus, matching_files: Iterable[str] | None
) -> Iterable[tuple[str, int, str]]:
    continues = CONTINUATION in focus.plan_signals
    if key.startswith("memory:"):
        key = "-".join(key.lower().split())
        symbol = find_word(focus.active_symbols, content)
        if symbol is not None:
            yield "symbol", _SYMBOL_POINTS, symbol
        if key == "memory:auto-memory":
            yield "learned", _LEARNED_POINTS, "always"
        elif key == "memory:markdown-memory":
            file = find_file(focus.active_file_paths, content)
            if file is not None:
                yield "file", _FILE_POINTS, file
        elif key == "memory:daily-journal" and continues:
            yield "continuation", _JOURNAL_POINTS, CONTINUATION
    elif key == "rules" or key.startswith("rules:"):
        files = focus.active_file_paths if matching_files is None else tuple(matching_files)
        if files:
            yield "glob", _RULES_POINTS, files[0]
    elif key == "candidates":
        symbol = find_word(focus.active_symbols, content)
        if symbol is not None:
            yield "symbol", _CANDIDATE_POINTS, symbol
    elif key == "git" and continues:
        yield "continuation", _GIT_POINTS, CONTINUATION


def find_word(names: tuple[str, ...], text: str) -> str | None:
    """Return the first of some symbols or paths that is in a text as a whole word, in its own letter case.

    ``Map`` does not occur in ``bitmap`` or ``MapReduce``, but in ``Map.Entry``; ``a.py`` not in ``data.py``.
    """
    for name in names:
        # Finding the plain text first is 50 times faster than any pattern, and mostly the answer is no.
        if name in text and _whole_word(name).search(text) is not None:
            return name
    return None


def find_file(paths: tuple[str, ...], text: str) -> str | None:
    """Return the first of some paths that a text names: as a whole, or by its last part, as ``main.py``."""
    found = find_word(paths, text)
    if found is not None:
        return found
    for path in paths:
        name = path.replace("\\", "/").rpartition("/")[2]
        # A bare name says something only if it is one of a file.
        if name != path and "." in name.strip(".") and _bare_name(name).search(text) is not None:
            return path
    return None


@lru_cache(maxsize=1_024)
def _bare_name(name: str) -> re.Pattern[str]:
    # In another folder it is another file.
    return re.compile(rf"(?<![\w/\\.-]){re.escape(name)}(?![\w-])")


@lru_cache(maxsize=1_024)
def _whole_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
