"""What each section of a prompt may take, and what it is where the protected ones alone are too long."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tipstaff.context.prompt.boosts import PriorityBoost
from tipstaff.context.prompt.budget import SystemPromptBudget
from tipstaff.context.prompt.relevance import Paragraph, paragraphs, relevant_chars
from tipstaff.errors import TipstaffError
from tipstaff.model import Record

if TYPE_CHECKING:
    from tipstaff.context.prompt.focus import RequestFocus


class PromptOverflow(Record, frozen=True, kw_only=True):
    """Protected sections that together are longer than the whole budget.

    Attributes
    ----------
    max_total_chars, protected_chars, excess_chars
        The budget, what the protected sections take, and the difference, in code points.
    sections
        Keys and lengths of the protected sections.
    """

    max_total_chars: int
    protected_chars: int
    excess_chars: int
    sections: tuple[tuple[str, int], ...]


class PromptOverflowError(TipstaffError, ValueError):
    """Protected sections alone exceed the budget; they are never cut, so somebody has to decide.

    Attributes
    ----------
    overflow
        The figures, a :class:`PromptOverflow`.
    """

    def __init__(self, overflow: PromptOverflow) -> None:
        named = ", ".join(f"{key} {chars:,}" for key, chars in overflow.sections)
        super().__init__(
            f"the protected sections take {overflow.protected_chars:,} characters, {overflow.excess_chars:,} more than "
            f"the budget of {overflow.max_total_chars:,} ({named}): shorten them, protect fewer, or choose a larger "
            'window; build(budget, on_overflow="report") gives a prompt of them alone'
        )
        self.overflow = overflow


class PlannedSection(NamedTuple):
    """A section as it was added to a plan."""

    key: str
    content: str
    priority: int
    protected: bool
    stable: bool
    base_priority: int
    boosts: tuple[PriorityBoost, ...]
    source_type: str | None
    scope_type: str | None
    inclusion_reason: str | None
    evidence: tuple[str, ...]
    focus: RequestFocus | None


def overflow_of(sections: list[PlannedSection], blank: list[bool], budget: SystemPromptBudget) -> PromptOverflow | None:
    """Return what is too long about the protected sections, None where they fit."""
    protected = [
        (section.key, len(section.content))
        for section, empty in zip(sections, blank, strict=True)
        if section.protected and not empty
    ]
    if not protected:
        return None
    chars = sum([size for _, size in protected])
    if chars <= budget.max_total_chars:
        return None
    return PromptOverflow(
        max_total_chars=budget.max_total_chars,
        protected_chars=chars,
        excess_chars=chars - budget.max_total_chars,
        sections=tuple(protected),
    )


def allowances(
    sections: list[PlannedSection],
    blank: list[bool],
    budget: SystemPromptBudget,
    volatile_share: float,
    valued: dict[int, list[Paragraph]],
) -> tuple[list[int], list[str]]:
    """Return what each section may take, and why it is less than it would."""
    allowed: list[int] = []
    reasons: list[str] = []
    stable: list[int] = []
    others: list[int] = []
    most = budget.max_per_tier_chars
    for index, section in enumerate(sections):
        size = 0 if blank[index] else len(section.content)
        if size > most and not section.protected:
            allowed.append(most)
            reasons.append("section-cap")
        else:
            allowed.append(size)
            reasons.append("")
        (stable if section.stable else others).append(index)
    total = budget.max_total_chars
    floors = {index: relevant_chars(parts) for index, parts in valued.items()} if valued else {}
    if stable:
        protected = sum(allowed[index] for index in others if sections[index].protected)
        _share_out(sections, allowed, reasons, stable, total - max(int(total * volatile_share), protected), floors)
        total -= sum(allowed[index] for index in stable)
    _share_out(sections, allowed, reasons, others, total, floors)
    return allowed, reasons


def valued_paragraphs(
    sections: list[PlannedSection], blank: list[bool], budget: SystemPromptBudget
) -> dict[int, list[Paragraph]]:
    """Return the paragraphs of sections that have a focus, where anything may have to be cut at all."""
    asking = [index for index, section in enumerate(sections) if section.focus is not None and not blank[index]]
    if not asking:
        return {}
    sizes = [0 if empty else len(section.content) for section, empty in zip(sections, blank, strict=True)]
    total = sum(
        size if section.protected else min(size, budget.max_per_tier_chars)
        for size, section in zip(sizes, sections, strict=True)
    )
    found: dict[int, list[Paragraph]] = {}
    for index in asking:
        section = sections[index]
        if section.focus is None or section.protected:
            continue
        if sizes[index] > budget.max_per_tier_chars or total > budget.max_total_chars:
            found[index] = paragraphs(section.content, section.focus)
    return found


def _share_out(
    sections: list[PlannedSection],
    allowed: list[int],
    reasons: list[str],
    group: list[int],
    total: int,
    floors: dict[int, int],
) -> None:
    """Lower the allowances of a group until they fit, those of the lowest priority first."""
    excess = sum([allowed[index] for index in group]) - total
    if excess <= 0:
        return
    # Among equals, what has least to do with the request; else what was added first.
    order = sorted(group, key=lambda number: (sections[number].priority, floors.get(number, 0)))
    for index in order:
        if excess <= 0:
            return
        if sections[index].protected or not allowed[index]:
            continue
        left = max(0, allowed[index] - excess)
        excess -= allowed[index] - left
        allowed[index] = left
        reasons[index] = "total" if left else "no-room"
