"""Sections of the system prompt: how much room there is, what a key says, what a request raises, what became of each.

==========================  ===================================================  ======
sections                    condition that raises the priority                   points
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
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from tipstaff.budgets import (
    CHARS_PER_TOKEN,
    MAX_FOCUS_BOOST,
    MIN_PROMPT_CHARS,
    PROMPT_TIER_CHARS,
    PROMPT_TOTAL_CHARS,
    PROMPT_WINDOW_SHARE,
)
from tipstaff.errors import ConfigError
from tipstaff.kernels import join_pieces
from tipstaff.model import Record

if TYPE_CHECKING:
    from tipstaff.context.prompt.focus import RequestFocus


class SystemPromptBudget(Record, frozen=True):
    """Caps on a system prompt, in characters (code points), of one unprotected section and of all together.

    Characters are counted, not tokens, because a prompt must come out the same for every model that reads it. Raises
    `ConfigError` if a cap is not a positive whole number.
    """

    max_per_tier_chars: int = PROMPT_TIER_CHARS
    max_total_chars: int = PROMPT_TOTAL_CHARS

    def __post_init__(self) -> None:
        for name in ("max_per_tier_chars", "max_total_chars"):
            value: object = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
                raise ConfigError(f"{name}: expected a whole number of characters above 0, got {value!r}")

    @classmethod
    def for_context_window(cls, context_tokens: int, max_output: int) -> SystemPromptBudget:
        """Return the budget for a model's window, of which `max_output` is kept for the answer, in tokens.

        A quarter of the effective window at 4 characters a token, from 1,000 to 150,000 in total; a quarter of that
        a tier, from 1,000 to 20,000. A window with no room for a prompt gets the smallest budget. Raises
        `ConfigError` if an argument is not a whole number.
        """
        for name, value in (("context_tokens", context_tokens), ("max_output", max_output)):
            if not isinstance(value, int) or isinstance(value, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise ConfigError(f"{name}: expected a whole number of tokens, got {value!r}")
        tokens = max(0, context_tokens - max_output) // PROMPT_WINDOW_SHARE
        total = min(PROMPT_TOTAL_CHARS, max(MIN_PROMPT_CHARS, tokens * CHARS_PER_TOKEN))
        return cls(min(PROMPT_TIER_CHARS, max(MIN_PROMPT_CHARS, total // 4)), total)


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

    ``symbol``, ``learned``, ``file``, ``continuation`` or ``glob``; the points that the table gives, those of them
    that counted after the cap and below the protected sections, and the symbol, file or signal that was found.
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
    """Return a section's priority for a request: at most 12 above its base, and below 90 where that is.

    `matching_files` are, for rules, the active files that match a rule's globs; None takes every active file.
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


MEMORY_PREFIX: Final = "memory:"
RULES_PREFIX: Final = "rules:"
CONSTITUTION_KEY: Final = "rules:constitution"
TASK_RULES_KEY: Final = "rules:task"
TASK_FOCUS_KEY: Final = "task-focus"

_KNOWN: Final = {
    "base": ("always-on", "the agent's base instructions"),
    TASK_FOCUS_KEY: ("task-local", "what the request is about"),
    "rules": ("task-local", "rules for the task and its files"),
    "tool-guidance": ("always-on", "how the registered tools are used"),
    "environment": ("always-on", "where the agent runs"),
    "git": ("task-local", "the state of the repository"),
    "skills": ("always-on", "skills that can be called"),
    "candidates": ("task-local", "promoted candidates that match the request"),
}


_TIER_NAMES: Final = (
    "Soul",
    "Managed Policy",
    "Workspace Memory",
    "User Memory",
    "Local Memory",
    "Auto-Memory",
    "Markdown Memory",
    "Daily Journal",
)


def memory_key(tier: str) -> str:
    """Return the key of a tier's section: its name in small letters, words joined by a dash."""
    return MEMORY_PREFIX + "-".join(tier.lower().split())


_TIER_OF: Final = {memory_key(name): name for name in _TIER_NAMES}


class SectionKind(NamedTuple):
    """Defaults of a section's report, from its key."""

    source_type: str
    scope_type: str
    inclusion_reason: str
    tier: str


class SectionCut(Record, frozen=True, gc=False):
    """What was taken out of a section, and why.

    Attributes
    ----------
    reason
        ``section-cap`` (it was longer than one section may be), ``total`` (all together were too long), ``too-small``
        (what was left for it would have been a fragment, so all of it was left out), ``no-room`` (nothing was left for
        it), ``low-value`` (paragraphs that have nothing to do with the request were left out),
        ``least-important-rules`` (rules were left out whole), ``empty`` (it had no text).
    allowed_chars
        What it could have taken.
    removed_chars
        How many characters of the original are not shown.
    start, end
        The half-open range of the original, in code points, that is not shown; with `ranges`, from the first of them
        to the last.
    ranges
        Where several are not shown, each of them.
    """

    reason: str
    allowed_chars: int
    removed_chars: int
    start: int
    end: int
    ranges: tuple[tuple[int, int], ...] = ()


class SectionReport(Record, frozen=True):
    """One section as it entered the prompt, or why it did not.

    Attributes
    ----------
    priority, base_priority, boosts
        The priority that counted, the one before boosts, and each boost that made the difference.
    protected, stable
        Whether it may not be cut, and whether it belongs to the part that is the same for every request.
    original_chars, final_chars, original_tokens, estimated_tokens
        Its size before and after, in code points, and in tokens by the rule of four characters a token.
    included, truncated, cut
        Whether any of it is in the prompt; whether any of it is not, and what is missing and why.
    source_type, scope_type, inclusion_reason, evidence
        Where it comes from, whether it is for this request only (``task-local``) or ``always-on``, why it is there,
        and the evidence for that.
    pieces
        What its text in the prompt consists of: texts with the half-open ranges of them; :attr:`content` joins them.
    """

    key: str
    priority: int
    protected: bool
    original_chars: int
    final_chars: int
    included: bool
    truncated: bool
    source_type: str
    scope_type: str
    inclusion_reason: str
    evidence: tuple[str, ...]
    base_priority: int
    boosts: tuple[PriorityBoost, ...]
    stable: bool
    original_tokens: int
    estimated_tokens: int
    cut: SectionCut | None
    pieces: tuple[tuple[str, int, int], ...]

    @property
    def content(self) -> str:
        """Its text in the prompt; made when it is asked for, as most readers of a report do not."""
        return join_pieces(list(self.pieces))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, with its text instead of the pieces."""
        data = {name: msgspec.to_builtins(getattr(self, name)) for name in self.__struct_fields__ if name != "pieces"}
        data["content"] = self.content
        return data


@lru_cache(maxsize=1_024)
def kind_of(key: str) -> SectionKind:
    """Return what a key says about its section."""
    if key.startswith(MEMORY_PREFIX):
        key = memory_key(key.removeprefix(MEMORY_PREFIX))
        tier = _TIER_OF.get(key, key.removeprefix(MEMORY_PREFIX))
        if tier == "Auto-Memory":
            return SectionKind("learned-signals", "task-local", "8-tier memory hierarchy", tier)
        return SectionKind("memory", "always-on", "8-tier memory hierarchy", tier)
    if key == CONSTITUTION_KEY:
        return SectionKind("rules", "always-on", "the project's constitution and its critical rules", "")
    name = "rules" if key.startswith(RULES_PREFIX) else key
    known = _KNOWN.get(name)
    if known is not None:
        return SectionKind(name, *known, "")
    return SectionKind("other" if key.strip() else "unknown", "always-on", "added by the caller", "")


def tokens_of(text: str) -> int:
    """Return the tokens of a text by the rule of four UTF-16 code units a token, rounded up."""
    units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    return -(-units // 4)
