"""The system prompt put together from sections under a budget, with a report of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Self

import msgspec

from tipstaff.context.prompt.relevance import Paragraph, condense, cut_rules, paragraphs, relevant_chars
from tipstaff.context.prompt.sections import (
    MEMORY_PREFIX,
    PriorityBoost,
    SectionCut,
    SectionReport,
    SystemPromptBudget,
    kind_of,
    tokens_of,
)
from tipstaff.context.prompt.truncation import Piece, cut
from tipstaff.errors import ConfigError, TipstaffError
from tipstaff.kernels import join_pieces
from tipstaff.model import Record

if TYPE_CHECKING:
    from tipstaff.context.prompt.focus import RequestFocus


class PromptOverflow(Record, frozen=True, kw_only=True):
    """Protected sections that together are longer than the whole budget.

    The figures, in code points, and each one's length.
    """

    max_total_chars: int
    protected_chars: int
    excess_chars: int
    sections: tuple[tuple[str, int], ...]


class PromptOverflowError(TipstaffError, ValueError):
    """Protected sections alone exceed the budget; they are never cut, so somebody has to decide.

    `overflow` has the figures.
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


VOLATILE_SHARE: Final = 0.25
"""What part of the total is kept for sections that depend on the request, where some are marked as stable."""

OverflowPolicy = Literal["raise", "report"]


class AssembledPrompt(Record, frozen=True, kw_only=True):
    """A system prompt and how it came to be: the sections' texts one after another, in the order of their addition.

    Attributes
    ----------
    truncated_section_keys, sections
        Keys of the sections of which anything is missing; a report of every one, also of those not in the prompt.
    budget
        What it was held to.
    total_chars, estimated_tokens
        Length of the prompt in code points, and in tokens by the rule of four characters a token.
    stable_chars
        How many characters at its beginning do not depend on the request.
    overflow
        Set where protected sections alone exceed the budget and the caller asked for a report of that.
    """

    prompt: str
    truncated_section_keys: tuple[str, ...]
    sections: tuple[SectionReport, ...]
    budget: SystemPromptBudget
    total_chars: int
    estimated_tokens: int
    stable_chars: int = 0
    overflow: PromptOverflow | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the prompt and its report as plain data."""
        data = {name: msgspec.to_builtins(getattr(self, name)) for name in self.__struct_fields__ if name != "sections"}
        return data | {"sections": [section.to_dict() for section in self.sections]}

    def find(self, key: str) -> tuple[SectionReport, ...]:
        """Return the reports of all sections with this key; a key may have been added more than once."""
        return tuple(section for section in self.sections if section.key == key)


class ContextAssemblyPlan:
    """Sections of a system prompt, in the order in which the model shall read them.

    Priorities decide what is cut, never where it is, so that the beginning of the prompt stays the same from
    request to request and a provider's prompt cache keeps its worth.

    Examples
    --------
    >>> plan = ContextAssemblyPlan().add_section("base", "You are an agent.", 95, protected=True)
    >>> plan.build(SystemPromptBudget()).prompt
    'You are an agent.'
    """

    def __init__(self) -> None:
        self._sections: list[PlannedSection] = []

    def add_section(
        self,
        key: str,
        content: str | None,
        priority: int,
        protected: bool = False,
        *,
        stable: bool = False,
        base_priority: int | None = None,
        boosts: Iterable[PriorityBoost] = (),
        source_type: str | None = None,
        scope_type: str | None = None,
        inclusion_reason: str | None = None,
        evidence: Iterable[str] = (),
        focus: RequestFocus | None = None,
    ) -> Self:
        """Add a section after those already there, and return the plan.

        Parameters
        ----------
        key, content
            Its name in the report, and its text, put into the prompt as it is; None and blanks are reported as empty.
        priority, protected
            What is lowest is cut first, among equals what was added first; a protected one is never cut.
        stable
            Whether the text is the same for every request. Such sections come first, and how much of them fits
            depends on them alone: :meth:`build` keeps a share of the total for all others.
        base_priority, boosts, source_type, scope_type, inclusion_reason, evidence
            For the report; the defaults are derived from `key` and `priority`.
        focus
            What the request is about. Where the section is too long, paragraphs that have nothing to do with it go
            first. Without it, or where no paragraph is relevant, its middle goes.

        Raises
        ------
        ConfigError
            If a stable section follows one that is neither stable nor protected, or has a focus.
        """
        if stable and focus is not None:
            raise ConfigError(f"section {key!r} is stable: it cannot depend on the request's focus")
        if stable and any(not section.stable and not section.protected for section in self._sections):
            raise ConfigError(f"section {key!r} is stable, but comes after one that is not: add stable sections first")
        self._sections.append(
            PlannedSection(
                key,
                content or "",
                priority,
                protected,
                stable,
                priority if base_priority is None else base_priority,
                tuple(boosts),
                source_type,
                scope_type,
                inclusion_reason,
                tuple(evidence),
                focus,
            )
        )
        return self

    def build(
        self,
        budget: SystemPromptBudget | None = None,
        *,
        on_overflow: OverflowPolicy = "raise",
        volatile_share: float = VOLATILE_SHARE,
    ) -> AssembledPrompt:
        """Return the prompt, at most ``max_total_chars`` of the budget long, but for a reported overflow.

        First, every unprotected section longer than ``max_per_tier_chars`` is allowed that much. Then, as long as
        all together are too long, the lowest in priority yields, down to nothing where need be; among equals, the
        one with least that has to do with the request. Each is cut once, from its original; one of which too little
        would be left to mean anything is left out.

        Where protected sections alone exceed the total, `on_overflow` says whether to ``raise``
        `PromptOverflowError`, or to ``report`` it with a prompt of nothing but them. `volatile_share` of the total,
        0 to 1, is kept for sections that are not stable, if any is. Raises `ConfigError` if an argument is unusable.
        """
        if budget is None:
            budget = SystemPromptBudget()
        if on_overflow not in {"raise", "report"}:
            raise ConfigError(f"on_overflow: expected 'raise' or 'report', got {on_overflow!r}")
        if not 0.0 <= volatile_share <= 1.0:
            raise ConfigError(f"volatile_share: expected 0 to 1, got {volatile_share!r}")
        sections = self._sections
        blank = [not section.content or section.content.isspace() for section in sections]
        overflow = overflow_of(sections, blank, budget)
        if overflow is not None and on_overflow == "raise":
            raise PromptOverflowError(overflow)
        valued = valued_paragraphs(sections, blank, budget)
        allowed, reasons = allowances(sections, blank, budget, volatile_share, valued)
        reports: list[SectionReport] = []
        pieces: list[Piece] = []
        stable_chars, still_stable = 0, True
        for index, section in enumerate(sections):
            report = _report(section, blank[index], allowed[index], reasons[index], valued.get(index))
            reports.append(report)
            pieces.extend(report.pieces)
            still_stable = still_stable and (section.stable or section.protected)
            if still_stable:
                stable_chars += report.final_chars
        prompt = join_pieces(pieces)
        return AssembledPrompt(
            prompt=prompt,
            truncated_section_keys=tuple(report.key for report in reports if report.truncated),
            sections=tuple(reports),
            budget=budget,
            total_chars=len(prompt),
            estimated_tokens=tokens_of(prompt),
            stable_chars=stable_chars,
            overflow=overflow,
        )


def _report(
    section: PlannedSection, blank: bool, allowed: int, reason: str, parts: list[Paragraph] | None
) -> SectionReport:
    content = section.content
    size = len(content)
    removed: SectionCut | None = None
    pieces: tuple[Piece, ...] = ((content, 0, size),)
    chars = size
    original_tokens = tokens = tokens_of(content)
    if blank:
        pieces, chars, tokens = (), 0, 0
        removed = SectionCut(reason="empty", allowed_chars=0, removed_chars=0, start=0, end=0)
    elif allowed < size and parts and (kept := condense(content, parts, allowed)) is not None:
        pieces, chars = kept.pieces, kept.chars
        tokens = tokens_of(join_pieces(list(pieces)))
        removed = SectionCut(
            reason="low-value",
            allowed_chars=allowed,
            removed_chars=sum(end - start for start, end in kept.omitted),
            start=kept.omitted[0][0],
            end=kept.omitted[-1][1],
            ranges=kept.omitted,
        )
    elif allowed and allowed < size and section.key.startswith(MEMORY_PREFIX) and (of := cut_rules(content, allowed)):
        pieces, chars, tokens = ((of.text, 0, len(of.text)),), len(of.text), tokens_of(of.text)
        lost = sum(end - start for start, end in of.omitted)
        removed = SectionCut("least-important-rules", allowed, lost, of.omitted[0][0], of.omitted[-1][1], of.omitted)
    elif allowed < size:
        done = cut(content, allowed)
        if not done.head_chars and not done.tail_chars:
            # A marker alone would cost room and say what this report says.
            pieces, chars, tokens = (), 0, 0
            reason = "too-small" if allowed else reason
        else:
            pieces, chars = done.pieces, done.chars
            tokens = (chars + 3) // 4 if content.isascii() else tokens_of(done.text)
        head, end = done.head_chars, size - done.tail_chars
        removed = SectionCut(reason, allowed, end - head, head, end)
    kind = kind_of(section.key)
    evidence = section.evidence
    if not evidence:
        priority = f"priority={section.priority}"
        evidence = (f"tier={kind.tier}", priority) if kind.tier else (priority,)
    # By position, in the order of the fields: naming them takes six times as long.
    return SectionReport(
        section.key,
        section.priority,
        section.protected,
        size,
        chars,
        chars > 0,
        removed is not None and not blank,
        section.source_type or kind.source_type,
        section.scope_type or kind.scope_type,
        section.inclusion_reason or kind.inclusion_reason,
        evidence,
        section.base_priority,
        section.boosts,
        section.stable,
        original_tokens,
        tokens,
        removed,
        pieces,
    )
