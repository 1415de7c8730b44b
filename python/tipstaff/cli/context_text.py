"""Snapshots and courses as text for people, in lines that the terminal's width holds."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from tipstaff.cli.output import Painter, counted, plain

if TYPE_CHECKING:
    from tipstaff.context.inspecting.course import RecordedCourse
    from tipstaff.context.inspecting.snapshot import ContextSnapshot, SnapshotSection

BUCKETS: Final = {
    "rules": "Rules",
    "candidates": "Candidates",
    "skills": "Skills",
    "learned-signals": "Learned",
    "memory": "Memory",
}
"""Source types that have a line of their own among the costs; everything else is Core."""

PRESSURE_COLOURS: Final = {"low": "green", "medium": "yellow", "high": "yellow", "critical": "red"}
_BAR_CELLS: Final = 10
_LABEL_COLUMNS: Final = 16
_SIZES_COLUMNS: Final = 33
_WIDE: Final = 120
_LONGEST_CONTENT: Final = 12_000
_CHART_ROWS: Final = 8
_LISTED_BREAKS: Final = 12


class Page:
    """Paints text and breaks it at words.

    Parameters
    ----------
    paint
        Colours text.
    width
        In columns; by default the terminal's, 120 where there is none.
    """

    def __init__(self, paint: Painter, width: int | None = None) -> None:
        self.paint = paint
        self.width = max(40, shutil.get_terminal_size((_WIDE, 24)).columns if width is None else width)

    def line(self, label: str, text: str, colour: str | None = None) -> list[str]:
        """Return a labelled text, on further lines where it is longer than one."""
        parts = broken(text, self.width - _LABEL_COLUMNS)
        first = f"  {self.paint(f'{label:<13}', 'bright_black')} {self.paint(parts[0], colour)}"
        return [first, *(" " * _LABEL_COLUMNS + self.paint(part, colour) for part in parts[1:])]

    def text(self, text: str, indent: int = 0, *, dim: bool = False) -> list[str]:
        """Return a text on as many lines as it takes."""
        return [" " * indent + self.paint(part, dim=dim) for part in broken(text, self.width - indent)]

    def title(self, text: str) -> str:
        """Return a heading."""
        return self.paint(text, bold=True)


def cells(text: str) -> int:
    """Return how many columns a terminal shows a text in."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def broken(text: str, room: int) -> list[str]:
    """Return a text in lines of so many columns, broken between words; a longer word is shortened in its middle."""
    lines = [""]
    for word in text.split(" "):
        piece = word if cells(word) <= room else shortened(word, room)
        joined = f"{lines[-1]} {piece}" if lines[-1] else piece
        if lines[-1] and cells(joined) > room:
            lines.append(piece)
        else:
            lines[-1] = joined
    return lines


def shortened(name: str, room: int) -> str:
    """Return a name in so many columns: its beginning and its end, which tell names of one kind apart."""
    if cells(name) <= room:
        return name
    head, tail = name, name
    while head and cells(head) > room // 2:
        head = head[:-1]
    while tail and cells(tail) > room - 1 - cells(head):
        tail = tail[1:]
    return f"{head}…{tail}"


def short(number: int) -> str:
    """Return 999, 1.5K, 42K, 1.2M."""
    if number < 1_000:
        return str(number)
    for limit, unit in ((999_500, "K"), (999_500_000, "M")):
        if number < limit:
            value = number / (1_000 if unit == "K" else 1_000_000)
            return f"{value:.1f}{unit}" if value < 9.95 else f"{value:.0f}{unit}"
    return f"{number / 1_000_000_000:.1f}G"


def bar(share: float) -> str:
    """Return ten cells, as many of them full as the share says."""
    full = min(_BAR_CELLS, max(0, round(share * _BAR_CELLS)))
    return "█" * full + "░" * (_BAR_CELLS - full)


def costs(sections: Sequence[SnapshotSection]) -> list[dict[str, Any]]:
    """Return what each type of section takes of the prompt."""
    total = sum(section.estimated_tokens for section in sections)
    found: list[dict[str, Any]] = []
    for name in (*BUCKETS.values(), "Core"):
        chosen = [section for section in sections if BUCKETS.get(section.source_type, "Core") == name]
        if not chosen:
            continue
        tokens = sum(section.estimated_tokens for section in chosen)
        original = sum(section.original_chars for section in chosen)
        kept = sum(section.final_chars for section in chosen)
        found.append(
            {
                "type": name,
                "sections": len(chosen),
                "tokens": tokens,
                "share": tokens / total if total else 0.0,
                "retained": kept / original if original else 1.0,
            }
        )
    return found


def overview_lines(snapshot: ContextSnapshot, page: Page) -> list[str]:
    """Return sizes, pressure, focus, costs by type, and every section."""
    focus = snapshot.focus
    when = f"request {snapshot.request_number} of session {plain(snapshot.session_id)}, {snapshot.taken_at}"
    head = "Context Overview"
    if len(head) + 2 + cells(when) <= page.width:
        lines = [f"{page.title(head)}  {page.paint(when, dim=True)}"]
    else:
        lines = [page.title(head), *page.text(when, 2, dim=True)]
    lines += page.line(
        "System prompt", f"{short(snapshot.total_chars)} chars, ~{short(snapshot.estimated_tokens)} tokens"
    )
    caps = f"{short(snapshot.max_total_chars)} chars in total, {short(snapshot.max_per_tier_chars)} a section"
    lines += page.line("Budget", caps)
    if snapshot.window_share is not None:
        of_window = f"the prompt takes {snapshot.window_share:.1%} of {short(snapshot.context_window_tokens)} tokens"
        lines += page.line("Window", of_window)
    lines += _occupation(snapshot, page)
    if focus.active_file_paths:
        lines += page.line("Active paths", _few([plain(path) for path in focus.active_file_paths], 3))
    if snapshot.injected_candidate_ids:
        lines += page.line("Candidates", f"{len(snapshot.injected_candidate_ids)} injected")
    if snapshot.truncated_section_keys:
        lines += page.line("Truncated", _few([plain(key) for key in snapshot.truncated_section_keys], 6), "yellow")
    lines += ["", page.title("Request Focus")]
    shown = [
        ("Query", plain(focus.query_summary)),
        ("Files", _few([plain(path) for path in focus.active_file_paths], 6)),
        ("Symbols", _few([plain(symbol) for symbol in focus.active_symbols], 6)),
        ("Plan", _few([plain(signal) for signal in focus.plan_signals], 4)),
    ]
    lines += [part for label, text in shown if text for part in page.line(label, text)] or ["  none"]
    lines += ["", page.title("Injection Cost")]
    for cost in costs(snapshot.sections):
        figures = f"~{short(cost['tokens']):>5} tok | {cost['share']:6.1%} of the prompt | {cost['retained']:5.0%} kept"
        if page.width < _LABEL_COLUMNS + len(figures):
            figures = f"~{short(cost['tokens']):>5} tok | {cost['share']:6.1%} | {cost['retained']:5.0%} kept"
        lines.append(f"  {page.paint(cost['type'].ljust(13), 'bright_black')} {figures}")
    lines += ["", page.title("Sections")]
    names = max((cells(plain(section.ref)) for section in snapshot.sections), default=0)
    lines += [part for section in snapshot.sections for part in _row(section, page, names)] or ["  none"]
    return lines


def _occupation(snapshot: ContextSnapshot, page: Page) -> list[str]:
    from tipstaff.context.inspecting.snapshot import pressure_of

    live, window = snapshot.live, snapshot.context_window_tokens
    lines: list[str] = []
    # The provider has counted the calls before; without one the estimate of this request serves.
    measured = live is not None and live.current_context_tokens > 0
    used = live.current_context_tokens if live is not None and measured else snapshot.request_tokens
    level = pressure_of(used, window)
    if window > 0:
        figures = f"{bar(used / window)} {short(used)}/{short(window)} ({used / window:.0%})"
        source = "measured" if measured else "estimated"
        lines += page.line("Live context", f"{figures} | pressure={level} | {source}", PRESSURE_COLOURS[level])
    else:
        lines += page.line("Live context", f"{short(used)} tokens; the window's size is unknown")
    parts = f"tools ~{short(snapshot.tool_tokens)}, {counted(snapshot.message_count, 'message')}"
    lines += page.line("Beside it", f"{parts} ~{short(snapshot.message_tokens)} tokens")
    if live is not None:
        lines += page.line("Peak", f"{short(live.peak_context_tokens)} tokens")
        done = f"{live.compaction_count} | pruned {live.pruned_count} | summarized {live.summarized_count}"
        lines += page.line("Compaction", done)
        if live.compaction_count:
            lines += page.line("Saved", f"{short(live.saved_tokens)} tokens, last {plain(live.last_phase)}")
    return lines


def _few(items: Sequence[str], most: int) -> str:
    more = f", +{len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _row(section: SnapshotSection, page: Page, names: int) -> list[str]:
    marks: list[str] = []
    if not section.included:
        marks.append("left out")
    elif section.truncated:
        marks.append("truncated")
    if section.protected:
        marks.append("protected")
    raised = section.priority - section.base_priority
    priority = f"p={section.priority}" + (f" ({section.base_priority}+{raised})" if raised else "")
    sizes = f"{short(section.original_chars):>6} -> {short(section.final_chars):<6}"
    flags = f"[{', '.join(marks)}] " if marks else ""
    kind = f"{{{section.scope_type} / {section.source_type}, ~{short(section.estimated_tokens)} tok}}"
    room = min(names, page.width - _SIZES_COLUMNS)
    key = shortened(plain(section.ref), room)
    key = f"{key}{' ' * (room - cells(key))}"
    coloured = page.paint(flags, "yellow") if section.truncated or not section.included else flags
    first = f"  {page.paint(key, 'cyan')} {sizes} {priority:<12} "
    if 2 + room + len(f" {sizes} {priority:<12} {flags}{kind}") <= page.width:
        return [f"{first}{coloured}{page.paint(kind, dim=True)}"]
    return [first.rstrip(), *page.text(f"{flags}{kind}", 6, dim=True)]


def detail_lines(section: SnapshotSection, page: Page) -> list[str]:
    """Return a section's figures and its text."""
    lines: list[str] = []
    figures = [
        ("Key", plain(section.ref)),
        ("Priority", f"{section.priority} (before boosts {section.base_priority})"),
        ("Size", f"{section.original_chars:,} -> {section.final_chars:,} chars"),
        ("Source", f"{section.source_type} (~{section.estimated_tokens:,} tokens)"),
        ("Scope", section.scope_type),
        ("Protected", "yes" if section.protected else "no"),
        ("Included", "yes" if section.included else "no"),
        ("Truncated", "yes" if section.truncated else "no"),
        ("Why", plain(section.inclusion_reason)),
    ]
    if section.evidence:
        figures.append(("Evidence", plain(_few(section.evidence, 6))))
    for boost in section.boosts:
        by = f" by {plain(boost.evidence)}" if boost.evidence else ""
        figures.append(("Boost", f"+{boost.applied} of {boost.points} for {plain(boost.reason)}{by}"))
    if section.cut is not None:
        cut = section.cut
        lost = f"{cut.removed_chars:,} characters, {cut.start:,} to {cut.end:,} of the original"
        figures.append(("Cut", f"{lost}: {plain(cut.reason)}, {cut.allowed_chars:,} were allowed"))
    for label, text in figures:
        lines += page.line(label, text, "cyan" if label == "Key" else None)
    text = section.content
    shown = text if len(text) <= _LONGEST_CONTENT else f"{text[:_LONGEST_CONTENT]}...[truncated]"
    return [*lines, "", *(plain(part) for part in shown.splitlines())]


def compared(before: ContextSnapshot, after: ContextSnapshot) -> dict[str, Any]:
    """Return what changed between two requests, as plain data."""
    old = {section.ref: section for section in before.sections}
    new = {section.ref: section for section in after.sections}
    changes: list[dict[str, Any]] = []
    for ref in [*new, *(ref for ref in old if ref not in new)]:
        left, right = old.get(ref), new.get(ref)
        entry: dict[str, Any] = {"ref": ref}
        if left is None or right is None:
            present = left or right
            assert present is not None  # noqa: S101 - the key is of one of the two
            tokens = present.estimated_tokens
            change = "added" if left is None else "removed"
            changes.append({**entry, "change": change, "tokens_delta": tokens if left is None else -tokens})
            continue
        fields = [
            name
            for name in ("content", "final_chars", "priority", "included", "truncated", "protected")
            if getattr(left, name) != getattr(right, name)
        ]
        if fields:
            delta = right.estimated_tokens - left.estimated_tokens
            moved = {name: [getattr(left, name), getattr(right, name)] for name in fields if name != "content"}
            changes.append({**entry, "change": "changed", "tokens_delta": delta, "fields": moved})
    return {
        "session_id": after.session_id,
        "before": before.request_number,
        "after": after.request_number,
        "prompt_tokens": [before.estimated_tokens, after.estimated_tokens],
        "tool_tokens": [before.tool_tokens, after.tool_tokens],
        "message_tokens": [before.message_tokens, after.message_tokens],
        "sections": changes,
        "unchanged": len(new) - sum(change["change"] != "removed" for change in changes),
    }


def difference_lines(changes: dict[str, Any], page: Page) -> list[str]:
    """Return what changed from one request to the next."""
    paint = page.paint
    lines = [paint(f"Request {changes['before']} -> {changes['after']} of {plain(changes['session_id'])}", bold=True)]
    for name in ("prompt_tokens", "tool_tokens", "message_tokens"):
        left, right = changes[name]
        label = name.removesuffix("_tokens")
        lines.append(f"  {label:<9} {short(left):>6} -> {short(right):<6} tokens ({right - left:+,})")
    signs = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}
    for change in changes["sections"]:
        sign, colour = signs[change["change"]]
        fields = ", ".join(f"{name} {left} -> {right}" for name, (left, right) in change.get("fields", {}).items())
        detail = fields or ("text changed" if change["change"] == "changed" else change["change"])
        ref = shortened(plain(change["ref"]), page.width - 2)
        size = f"{change['tokens_delta']:+,} tok: {detail}"
        if 3 + cells(ref) + len(size) <= page.width:
            lines.append(f"{paint(sign, colour)} {paint(ref, 'cyan')} {size}")
        else:
            lines += [f"{paint(sign, colour)} {paint(ref, 'cyan')}", *page.text(size, 4)]
    lines.append(paint(f"  {counted(changes['unchanged'], 'section')} unchanged", dim=True))
    return lines


def course_lines(found: RecordedCourse, page: Page) -> list[str]:
    """Return a session's course: totals, a chart of tokens by call, and every break of the cache."""
    course = found.course
    measured = sum(call.measured for call in course.calls)
    lines = [page.title(f"Session {plain(found.session_id)}")]
    lines += page.line("Calls", f"{len(course.calls):,} with {found.api}, {measured:,} measured by the provider")
    lines += page.line("Input", f"{short(course.tokens)} tokens, {course.prefix_share:.1%} of a request unchanged")
    lines += page.line("Cost", f"{course.cost_share:.1%} of what it would be without a cache (modelled)")
    reported = [call for call in course.calls if call.cached_tokens is not None]
    if total := sum(call.tokens for call in reported):
        share = sum(call.cached_tokens or 0 for call in reported) / total
        lines += page.line("From cache", f"{share:.1%} of the input, as the provider reported it")
    lines += page.line("Compactions", f"{course.compactions:,}")
    if not course.calls:
        return lines
    lines += ["", page.title("Tokens by call"), *_chart(found, page), ""]
    breaks = [call for call in course.calls if call.broken_by]
    lines.append(page.title("What broke the cache"))
    for call in breaks[-_LISTED_BREAKS:]:
        saved = f", saved {short(call.saved_tokens)}" if call.saved_tokens else ""
        lines += page.line(
            f"call {call.number}", f"{call.broken_by}: cost {short(round(call.break_cost))}{saved} tokens"
        )
    if len(breaks) > _LISTED_BREAKS:
        lines += page.text(f"and {len(breaks) - _LISTED_BREAKS:,} before these", 2)
    return lines if breaks else [*lines, "  nothing"]


def _chart(found: RecordedCourse, page: Page) -> list[str]:
    """Return columns of tokens: full where unchanged, light where new or sent again; a mark where the cache broke."""
    calls = found.course.calls
    columns = min(len(calls), page.width - 12)
    most = max(found.window, *(call.tokens for call in calls), 1)
    groups = [calls[len(calls) * at // columns : len(calls) * (at + 1) // columns] for at in range(columns)]
    tall = [max(group, key=lambda call: call.tokens) for group in groups]
    lines: list[str] = []
    for row in range(_CHART_ROWS, 0, -1):
        level = most * (row - 0.5) / _CHART_ROWS
        cells_of = ("█" if call.prefix_tokens >= level else "░" if call.tokens >= level else " " for call in tall)
        label = short(round(most * row / _CHART_ROWS)) if row in {_CHART_ROWS, _CHART_ROWS // 2} else ""
        lines.append(f"  {label:>6} │{''.join(cells_of)}".rstrip())
    marks = "".join("▲" if any(call.broken_by for call in group) else "─" for group in groups)
    lines.append(f"  {'0':>6} └{marks}")
    lines += page.text("█ unchanged, from the cache   ░ new or sent again   ▲ the cache broke", 9, dim=True)
    return lines
