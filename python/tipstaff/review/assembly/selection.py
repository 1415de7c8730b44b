"""What a reviewer is given: every SOP that applies in full, or nothing; then decisions, summaries and conventions.

The window is divided so: 2,000 tokens of system prompt, the task's output, the reserve of 4,000 for what is assembled
here, 6,000 of working memory, 1,000 of output, and a margin of 15 %. Source: ADR-004, reviewer context assembly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, cast

from tipstaff.errors import ConfigError
from tipstaff.model import Record
from tipstaff.review.sizing.budget import (
    DECOMPOSITION_TRIGGER,
    MARGIN,
    SOP_RESERVE_TOKENS,
    SYSTEM_PROMPT_TOKENS,
    text_tokens,
)

WORKING_MEMORY_TOKENS: Final = 6_000
OUTPUT_TOKENS: Final = 1_000
TIERS: Final = ("sops", "decisions", "summaries", "conventions")
"""By falling priority."""

Item = Mapping[str, Any]


class ReviewAssembly(Record, frozen=True, kw_only=True):
    """What is included and what is not.

    Attributes
    ----------
    included
        Ids by tier, and within a tier in the order given.
    omitted
        Ids of what is left out; `omitted_reasons` says of each why: ``decompose`` or ``no_room``.
    decompose
        Whether the task is too large for a review; nothing is included then.
    reasons
        ``sops`` (they exceed the reserve) and ``task_output`` (it leaves no room in the window).
    used, remaining
        Tokens of the reserve.
    sop_tokens
        Tokens of each SOP.
    max_task_output
        Largest task output for this window, a fraction such as ``297107/20``.
    trigger
        The event to publish where the task is to be decomposed.
    """

    included: tuple[str, ...]
    omitted: tuple[str, ...]
    decompose: bool
    reasons: tuple[str, ...]
    used: int
    remaining: int
    omitted_reasons: dict[str, str]
    sop_tokens: dict[str, int]
    sop_total: int
    max_task_output: str
    trigger: str | None = None


def item_tokens(item: Item) -> int:
    """Return the tokens of an item: as given, else of its text, else of its parts, each rounded up on its own.

    Raises
    ------
    ConfigError
        If ``tokens`` is not a count, or a text is not one.
    """
    given = item.get("tokens")
    if given is not None:
        if isinstance(given, bool) or not isinstance(given, int) or given < 0:
            raise ConfigError(f"{item.get('id')}: expected a number of tokens, got {given!r}")
        return given
    texts: list[object] = [item.get("text"), item.get("summary")]
    for key in ("requirements", "chunks"):
        parts: object = item.get(key) or ()
        if isinstance(parts, str) or not isinstance(parts, Sequence):
            raise ConfigError(f"{item.get('id')}: {key} must be a list of texts, got {parts!r}")
        texts.extend(cast("Sequence[object]", parts))
    total = 0
    for text in texts:
        if text is None:
            continue
        if not isinstance(text, str):
            raise ConfigError(f"{item.get('id')}: expected a text, got {text!r}")
        total += text_tokens(text)
    return total


def largest_task_output(window: int, reserve: int = SOP_RESERVE_TOKENS) -> Fraction:
    """Return the most tokens that a task's output may have for a reviewer with this window."""
    return (1 - MARGIN) * window - SYSTEM_PROMPT_TOKENS - reserve - WORKING_MEMORY_TOKENS - OUTPUT_TOKENS


def assemble_review(
    *,
    window: int,
    task_output_tokens: int,
    sops: Sequence[Item],
    decisions: Sequence[Item] = (),
    summaries: Sequence[Item] = (),
    conventions: Sequence[Item] = (),
    reserve: int = SOP_RESERVE_TOKENS,
) -> ReviewAssembly:
    """Choose what a reviewer is given.

    SOPs are all included or the task is to be decomposed; their severity has no influence. The other tiers share what
    is left, in order; an item is included in full or not at all; where one does not fit, smaller ones are still tried.

    Parameters
    ----------
    window
        The reviewer's context window in tokens.
    task_output_tokens
        Tokens of the change under review.
    sops, decisions, summaries, conventions
        Items with an ``id`` and ``tokens``, ``text``, or ``summary``, ``requirements`` and ``chunks``.
    reserve
        Tokens for all of it.

    Raises
    ------
    ConfigError
        If a number is negative, an item has no id, or an id occurs twice.
    """
    for name, value in (("window", window), ("task_output_tokens", task_output_tokens), ("reserve", reserve)):
        if not _is_count(value):
            raise ConfigError(f"{name}: expected a number of tokens, got {value!r}")
    tiers = [[(_id(item), item_tokens(item)) for item in tier] for tier in (sops, decisions, summaries, conventions)]
    ids = [name for tier in tiers for name, _ in tier]
    if len(set(ids)) < len(ids):
        repeated = next(name for name in ids if ids.count(name) > 1)
        raise ConfigError(f"id {repeated!r} occurs more than once")
    sop_tokens = dict(tiers[0])
    sop_total = sum(sop_tokens.values())
    room = largest_task_output(window, reserve)
    reasons = [*(["sops"] if sop_total > reserve else []), *(["task_output"] if task_output_tokens > room else [])]
    included: list[str] = []
    omitted: dict[str, str] = {}
    used = 0
    for tier in tiers:
        for name, tokens in tier:
            if reasons:
                omitted[name] = "decompose"
            elif used + tokens <= reserve:
                included.append(name)
                used += tokens
            else:
                omitted[name] = "no_room"
    return ReviewAssembly(
        included=tuple(included),
        omitted=tuple(omitted),
        decompose=bool(reasons),
        reasons=tuple(reasons),
        used=used,
        remaining=reserve - used,
        omitted_reasons=omitted,
        sop_tokens=sop_tokens,
        sop_total=sop_total,
        max_task_output=str(room),
        trigger=DECOMPOSITION_TRIGGER if reasons else None,
    )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _id(item: Item) -> str:
    name = item.get("id")
    if not isinstance(name, str) or not name:
        raise ConfigError(f"an item has no id: {str(dict(item))[:80]}")
    return name
