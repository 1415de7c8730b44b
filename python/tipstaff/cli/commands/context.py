"""``tipstaff context``: what the last request really contained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tipstaff.cli.output import Painter, counted, plain, write, write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
_KEY_COLUMNS: Final = 24
_LONGEST_CONTENT: Final = 12_000


def _options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--dir", "directory", type=click.Path(path_type=Path), default=".", help="The project's folder."),
        click.option("--session", metavar="ID", help="Of this session; by default the one that was at work last."),
        click.option("--request", "number", type=int, metavar="N", help="Of this request; by default the newest."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    ):
        function = option(function)
    return function


class _ListByDefault(click.Group):
    """Lists where no subcommand is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        names = [*self.commands, "-h", "--help"]
        if not args or (args[0].startswith("-") and args[0] not in names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group("context", cls=_ListByDefault)
def command() -> None:
    """Show what the last request to the model really contained."""


@command.command("list")
@_options
def list_(*, directory: Path, session: str | None, number: int | None, as_json: bool) -> None:
    """Show sizes, pressure, costs by type, and every section."""
    from tipstaff.context.inspecting.snapshot import json_ready

    snapshot = _load(directory, session, number)
    if as_json:
        document = json_ready(snapshot)
        for section in document["sections"]:
            del section["content"]
        write_json({**document, "costs": _costs(snapshot.sections)})
    else:
        paint = Painter()
        write(*_overview(snapshot, paint), painter=paint)


@command.command("detail")
@click.argument("key")
@_options
def detail(*, key: str, directory: Path, session: str | None, number: int | None, as_json: bool) -> None:
    """Show the section KEY with its text; KEY#2 is the second section of that key."""
    from tipstaff.errors import SourceNotFoundError

    snapshot = _load(directory, session, number)
    section = snapshot.find(key)
    if section is None:
        known = ", ".join(section.ref for section in snapshot.sections) or "none"
        raise SourceNotFoundError(2, f"there is no section {key!r}; there are: {known}")
    if as_json:
        write_json(section.to_dict())
    else:
        paint = Painter()
        write(*_detail(section, paint), painter=paint)


@command.command("diff")
@click.option("--against", type=int, metavar="N", help="Compare with this request; by default the one before.")
@_options
def diff(*, against: int | None, directory: Path, session: str | None, number: int | None, as_json: bool) -> None:
    """Show what changed from one request to the next."""
    from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder
    from tipstaff.errors import SourceNotFoundError

    after = _load(directory, session, number)
    if against is None:
        earlier = [
            kept
            for kept in SnapshotFolder.of_project(directory).numbers(after.session_id)
            if kept < after.request_number
        ]
        if not earlier:
            raise SourceNotFoundError(2, f"request {after.request_number} is the first that is kept of its session")
        against = earlier[-1]
    before = _load(directory, after.session_id, against)
    changes = compared(before, after)
    if as_json:
        write_json(changes)
    else:
        paint = Painter()
        write(*_difference(changes, paint), painter=paint)


@command.command("plot")
@click.option("-o", "--output", type=click.Path(path_type=Path), default="context.svg", show_default=True)
@_options
def plot(*, output: Path, directory: Path, session: str | None, number: int | None, as_json: bool) -> None:
    """Write a treemap of the window as an SVG file."""
    from tipstaff.context.inspecting.treemap import prompt_tiles, treemap_svg, window_tiles
    from tipstaff.store.replacing import replaced_file

    snapshot = _load(directory, session, number)
    with replaced_file(output) as file:
        file.write(treemap_svg(snapshot).encode())
    if as_json:
        window, prompt = ([tile._asdict() for tile in tiles(snapshot)] for tiles in (window_tiles, prompt_tiles))
        document = {"output": str(output), "request_number": snapshot.request_number}
        write_json({**document, "window": window, "prompt": prompt})
    else:
        write(f"wrote {plain(str(output))}")


def _load(directory: Path, session: str | None, number: int | None) -> ContextSnapshot:
    from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder

    return SnapshotFolder.of_project(directory).load(session, number)


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


def _costs(sections: Sequence[SnapshotSection]) -> list[dict[str, Any]]:
    total = sum(section.estimated_tokens for section in sections)
    costs: list[dict[str, Any]] = []
    for name in (*BUCKETS.values(), "Core"):
        chosen = [section for section in sections if BUCKETS.get(section.source_type, "Core") == name]
        if not chosen:
            continue
        tokens = sum(section.estimated_tokens for section in chosen)
        original = sum(section.original_chars for section in chosen)
        kept = sum(section.final_chars for section in chosen)
        costs.append(
            {
                "type": name,
                "sections": len(chosen),
                "tokens": tokens,
                "share": tokens / total if total else 0.0,
                "retained": kept / original if original else 1.0,
            }
        )
    return costs


def _overview(snapshot: ContextSnapshot, paint: Painter) -> list[str]:
    def title(text: str) -> str:
        return paint(text, bold=True)

    def line(label: str, text: str) -> str:
        return f"  {paint(f'{label:<13}', 'bright_black')} {text}"

    when = f"request {snapshot.request_number} of session {plain(snapshot.session_id)}, {snapshot.taken_at}"
    lines = [f"{title('Context Overview')}  {paint(when, dim=True)}"]
    size = f"{short(snapshot.total_chars)} chars, ~{short(snapshot.estimated_tokens)} tokens"
    lines.append(line("System prompt", size))
    caps = f"{short(snapshot.max_total_chars)} chars in total, {short(snapshot.max_per_tier_chars)} a section"
    lines.append(line("Budget", caps))
    if snapshot.window_share is not None:
        of_window = f"the prompt takes {snapshot.window_share:.1%} of {short(snapshot.context_window_tokens)} tokens"
        lines.append(line("Window", of_window))
    lines += _occupation(snapshot, line, paint)
    if snapshot.focus.active_file_paths:
        paths = snapshot.focus.active_file_paths
        lines.append(line("Active paths", _few([plain(path) for path in paths], 3)))
    if snapshot.injected_candidate_ids:
        lines.append(line("Candidates", f"{len(snapshot.injected_candidate_ids)} injected"))
    if snapshot.truncated_section_keys:
        named = _few([plain(key) for key in snapshot.truncated_section_keys], 6)
        lines.append(line("Truncated", paint(named, "yellow")))
    focus = snapshot.focus
    lines += ["", title("Request Focus")]
    shown = [
        ("Query", plain(focus.query_summary)),
        ("Files", _few([plain(path) for path in focus.active_file_paths], 6)),
        ("Symbols", _few([plain(symbol) for symbol in focus.active_symbols], 6)),
        ("Plan", _few([plain(signal) for signal in focus.plan_signals], 4)),
    ]
    found = [line(label, text) for label, text in shown if text]
    lines += found or ["  none"]
    lines += ["", title("Injection Cost")]
    for cost in _costs(snapshot.sections):
        figures = f"~{short(cost['tokens']):>5} tok | {cost['share']:6.1%} of the prompt | {cost['retained']:5.0%} kept"
        lines.append(line(cost["type"], figures))
    lines += ["", title("Sections")]
    lines += [_row(section, paint) for section in snapshot.sections] or ["  none"]
    return lines


def _occupation(snapshot: ContextSnapshot, line: Callable[[str, str], str], paint: Painter) -> list[str]:
    from tipstaff.context.inspecting.monitor import pressure_of

    live, window = snapshot.live, snapshot.context_window_tokens
    lines: list[str] = []
    # The monitor knows what the model has counted; without one the estimate of this request serves.
    measured = live is not None and live.current_context_tokens > 0
    used = live.current_context_tokens if live is not None and measured else snapshot.request_tokens
    # A monitor may have thresholds of its own; they are about its own window.
    own = live is not None and measured and live.context_window_tokens == window
    level = live.pressure_level if live is not None and own else pressure_of(used, window)
    colour = PRESSURE_COLOURS[level]
    if window > 0:
        figures = f"{bar(used / window)} {short(used)}/{short(window)} ({used / window:.0%})"
        source = "measured" if measured else "estimated"
        lines.append(line("Live context", f"{paint(figures, colour)} | pressure={paint(level, colour)} | {source}"))
    else:
        lines.append(line("Live context", f"{short(used)} tokens; the window is not known"))
    parts = f"tools ~{short(snapshot.tool_tokens)}, {counted(snapshot.message_count, 'message')}"
    lines.append(line("Beside it", f"{parts} ~{short(snapshot.message_tokens)} tokens"))
    if live is not None:
        lines.append(line("Peak", f"{short(live.peak_context_tokens)} tokens, {live.trend}"))
        done = f"{live.compaction_count} | pruned {live.pruned_count} | summarized {live.summarized_count}"
        lines.append(line("Compaction", done))
        if live.compaction_count:
            saved = f"total {short(live.saved_tokens)} | average {short(live.average_saved_tokens)}"
            lines.append(line("Saved", f"{saved} | last {short(live.last_saved_tokens)} ({plain(live.last_phase)})"))
    return lines


def _few(items: Sequence[str], most: int) -> str:
    more = f", +{len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _row(section: SnapshotSection, paint: Painter) -> str:
    key = plain(section.ref)
    key = key if len(key) <= _KEY_COLUMNS else f"{key[: _KEY_COLUMNS - 1]}…"
    marks = []
    if not section.included:
        marks.append("left out")
    elif section.truncated:
        marks.append("truncated")
    if section.protected:
        marks.append("protected")
    raised = section.priority - section.base_priority
    priority = f"p={section.priority}" + (f" ({section.base_priority}+{raised})" if raised else "")
    sizes = f"{short(section.original_chars):>6} -> {short(section.final_chars):<6}"
    flags = f" [{', '.join(marks)}]" if marks else ""
    flags = paint(flags, "yellow") if section.truncated or not section.included else flags
    kind = f"{{{section.scope_type} / {section.source_type}, ~{short(section.estimated_tokens)} tok}}"
    coloured = paint(f"{key:<{_KEY_COLUMNS}}", "cyan")
    return f"  {coloured} {sizes} {priority:<12}{flags} {paint(kind, dim=True)}"


def _detail(section: SnapshotSection, paint: Painter) -> list[str]:
    def line(label: str, text: str) -> str:
        return f"{paint(f'{label:<10}', 'bright_black')} {text}"

    size = f"{section.original_chars:,} -> {section.final_chars:,} chars"
    lines = [
        line("Key", paint(plain(section.ref), "cyan")),
        line("Priority", f"{section.priority} (before boosts {section.base_priority})"),
        line("Size", size),
        line("Source", f"{section.source_type} (~{section.estimated_tokens:,} tokens)"),
        line("Scope", section.scope_type),
        line("Protected", "yes" if section.protected else "no"),
        line("Included", "yes" if section.included else "no"),
        line("Truncated", "yes" if section.truncated else "no"),
        line("Why", plain(section.inclusion_reason)),
    ]
    if section.evidence:
        lines.append(line("Evidence", plain(_few(section.evidence, 6))))
    for boost in section.boosts:
        by = f" by {plain(boost.evidence)}" if boost.evidence else ""
        lines.append(line("Boost", f"+{boost.applied} of {boost.points} for {plain(boost.reason)}{by}"))
    if section.cut is not None:
        cut = section.cut
        lost = f"{cut.removed_chars:,} characters, {cut.start:,} to {cut.end:,} of the original"
        lines.append(line("Cut", f"{lost}: {plain(cut.reason)}, {cut.allowed_chars:,} were allowed"))
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


def _difference(changes: dict[str, Any], paint: Painter) -> list[str]:
    lines = [paint(f"Request {changes['before']} -> {changes['after']} of {plain(changes['session_id'])}", bold=True)]
    for name in ("prompt_tokens", "tool_tokens", "message_tokens"):
        left, right = changes[name]
        label = name.removesuffix("_tokens")
        lines.append(f"  {label:<9} {short(left):>6} -> {short(right):<6} tokens ({right - left:+,})")
    signs = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}
    for change in changes["sections"]:
        sign, colour = signs[change["change"]]
        fields = ", ".join(f"{name} {left} -> {right}" for name, (left, right) in change.get("fields", {}).items())
        said = fields or ("text changed" if change["change"] == "changed" else change["change"])
        lines.append(
            f"{paint(sign, colour)} {paint(plain(change['ref']), 'cyan')} {change['tokens_delta']:+,} tok: {said}"
        )
    lines.append(paint(f"  {counted(changes['unchanged'], 'section')} unchanged", dim=True))
    return lines
