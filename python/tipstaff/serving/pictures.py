"""Pictures as SVG: a treemap of the window, in which every area is what a part takes, and the course of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from tipstaff.context.inspecting.course import SessionCourse
from tipstaff.context.inspecting.snapshot import ContextSnapshot, SnapshotSection

WIDTH: Final = 1_200
HEIGHT: Final = 720
_LEFT_OUT_CHARS: Final = 70
_MARGIN: Final = 16
_WINDOW_TOP: Final = 56
_WINDOW_BOTTOM: Final = 286
_PROMPT_TOP: Final = 322
_PROMPT_BOTTOM: Final = 680
_FONT: Final = "ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
_COLOURS: Final = {
    "prompt": ("#34507a", "system prompt"),
    "core": ("#4c78a8", "instructions"),
    "memory": ("#59a14f", "memory"),
    "learned": ("#9467bd", "learned signals"),
    "rules": ("#e1812c", "rules"),
    "candidates": ("#b07aa1", "candidates"),
    "skills": ("#2a9d9d", "skills"),
    "tools": ("#79706e", "tool definitions"),
    "messages": ("#8c6d5a", "messages"),
    "output": ("#d5d9e0", "kept for the answer"),
    "free": ("#f2f4f7", "free"),
}
_DARK_TEXT: Final = frozenset(("output", "free"))
_CLASS_OF: Final = {
    "memory": "memory",
    "learned-signals": "learned",
    "rules": "rules",
    "candidates": "candidates",
    "skills": "skills",
}


class Tile(NamedTuple):
    """One part of the window."""

    label: str
    tokens: int
    kind: str
    note: str


class Placed(NamedTuple):
    """A tile with its place, in pixels."""

    tile: Tile
    x: float
    y: float
    width: float
    height: float


def window_tiles(snapshot: ContextSnapshot) -> tuple[Tile, ...]:
    """Return what the request takes of the window, and what it leaves; nothing where nothing has a size."""
    messages = f"{snapshot.message_count:,} messages" if snapshot.message_count else "messages"
    tiles = [
        Tile("prompt", snapshot.estimated_tokens, "prompt", "see below"),
        Tile("tools", snapshot.tool_tokens, "tools", "tool definitions"),
        Tile(messages, snapshot.message_tokens, "messages", "the conversation"),
    ]
    window = snapshot.context_window_tokens
    if window > 0:
        output = min(snapshot.max_output_tokens, window)
        tiles.append(Tile("answer", output, "output", "kept for the answer"))
        tiles.append(Tile("free", window - output - snapshot.request_tokens, "free", "not taken"))
    return tuple(tile for tile in tiles if tile.tokens > 0)


def prompt_tiles(snapshot: ContextSnapshot) -> tuple[Tile, ...]:
    """Return the sections of the system prompt that were sent."""
    return tuple(_tile(section) for section in snapshot.sections if section.included and section.estimated_tokens > 0)


def _tile(section: SnapshotSection) -> Tile:
    cut = section.cut
    lost = f"; {cut.removed_chars:,} characters cut" if section.truncated and cut is not None else ""
    label = f"{section.ref} (cut)" if section.truncated else section.ref
    kind = _CLASS_OF.get(section.source_type, "core")
    return Tile(label, section.estimated_tokens, kind, f"{section.inclusion_reason}{lost}")


def squarified(tiles: Sequence[Tile], x: float, y: float, width: float, height: float) -> list[Placed]:
    """Return tiles placed in a rectangle, areas by tokens and as near to squares as comes easily.

    Squarified treemaps (Bruls, Huizing and van Wijk 2000): rows are filled along the shorter side for as long as their
    worst proportion improves.
    """
    left = sorted(tiles, key=lambda tile: -tile.tokens)
    total = sum(tile.tokens for tile in left)
    if total <= 0 or width <= 0 or height <= 0:
        return []
    scale = width * height / total
    placed: list[Placed] = []
    at = 0
    while at < len(left):
        side = min(width, height)
        end, area = at + 1, left[at].tokens * scale
        worst = _worst(left[at], left[at], area, side, scale)
        while end < len(left):
            more = area + left[end].tokens * scale
            proportion = _worst(left[at], left[end], more, side, scale)
            if proportion > worst:
                break
            end, area, worst = end + 1, more, proportion
        depth = area / side
        offset = 0.0
        for tile in left[at:end]:
            length = tile.tokens * scale / depth
            if width >= height:
                placed.append(Placed(tile, x, y + offset, depth, length))
            else:
                placed.append(Placed(tile, x + offset, y, length, depth))
            offset += length
        if width >= height:
            x, width = x + depth, width - depth
        else:
            y, height = y + depth, height - depth
        at = end
    return placed


def _worst(largest: Tile, smallest: Tile, area: float, side: float, scale: float) -> float:
    depth = area / side
    return max(largest.tokens * scale / depth**2, depth**2 / (smallest.tokens * scale))


def treemap_svg(snapshot: ContextSnapshot) -> str:
    """Return the picture as the text of an SVG file."""
    window = snapshot.context_window_tokens
    of_window = f" of {window:,}" if window > 0 else ""
    share = f" ({snapshot.request_tokens / window:.1%})" if window > 0 else ""
    title = f"Context window: {snapshot.request_tokens:,}{of_window} tokens{share}"
    subtitle = f"session {snapshot.session_id}, request {snapshot.request_number}, {snapshot.taken_at}"
    over = snapshot.request_tokens + snapshot.max_output_tokens - window
    if window > 0 and over > 0:
        subtitle += f"; {over:,} tokens too many"
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    role = f'role="img" aria-label="{_xml(title)}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{_FONT}" {role}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _words(_MARGIN, 27, title, 20, bold=True),
        _words(_MARGIN, 46, subtitle, 12),
        _words(_MARGIN, _PROMPT_TOP - 11, f"System prompt: {snapshot.estimated_tokens:,} tokens", 15, bold=True),
        *_left_out(snapshot),
    ]
    drawn = 0
    shown: set[str] = set()
    for tiles, top, bottom in (
        (window_tiles(snapshot), _WINDOW_TOP, _WINDOW_BOTTOM),
        (prompt_tiles(snapshot), _PROMPT_TOP, _PROMPT_BOTTOM),
    ):
        whole = sum(tile.tokens for tile in tiles)
        for placed in squarified(tiles, _MARGIN, top, WIDTH - 2 * _MARGIN, bottom - top):
            parts += _drawn(placed, drawn, whole)
            shown.add(placed.tile.kind)
            drawn += 1
        if not tiles:
            parts.append(_words(_MARGIN, top + 24, "nothing was sent", 14))
    x = float(_MARGIN)
    for kind, (colour, words) in _COLOURS.items():
        if kind in shown:
            parts.append(
                f'<rect x="{x:.0f}" y="{HEIGHT - 27}" width="12" height="12" rx="2" fill="{colour}" '
                'stroke="#aab2bd" stroke-width="0.5"/>'
            )
            parts.append(_words(x + 18, HEIGHT - 17, words, 12))
            x += 40 + 6.1 * len(words)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _left_out(snapshot: ContextSnapshot) -> list[str]:
    """Return a line that names the sections of which nothing was sent, beside the prompt's heading."""
    gone = [section for section in snapshot.sections if not section.included and section.original_chars]
    if not gone:
        return []
    names: list[str] = []
    for section in gone:
        if len(", ".join((*names, section.ref))) > _LEFT_OUT_CHARS:
            break
        names.append(section.ref)
    more = f" and {len(gone) - len(names)} more" if len(gone) > len(names) else ""
    tokens = sum(section.original_tokens for section in gone)
    return [_words(_MARGIN + 260, _PROMPT_TOP - 11, f"left out, {tokens:,} tokens: {', '.join(names)}{more}", 12)]


def shortened_label(label: str, room: int) -> str:
    """Return a name in so many characters: its beginning and its end, which tell names of one kind apart."""
    if len(label) <= room:
        return label
    tail = max(0, (room - 1) // 3)
    return f"{label[: room - 1 - tail]}…{label[len(label) - tail :]}"


def _words(x: float, y: float, text: str, size: int, *, bold: bool = False) -> str:
    weight, colour = ("600", "#1d2430") if bold else ("400", "#4a5361")
    where = f'x="{x:.0f}" y="{y:.0f}" font-size="{size}" font-weight="{weight}" fill="{colour}"'
    return f"<text {where}>{_xml(text)}</text>"


def _drawn(placed: Placed, number: int, whole: int) -> list[str]:
    tile, x, y, width, height = placed
    colour = _COLOURS[tile.kind][0]
    text = "#1d2430" if tile.kind in _DARK_TEXT else "#ffffff"
    hint = f"{tile.label}: {tile.tokens:,} tokens ({tile.tokens / whole:.1%}), {tile.note}"
    lines = [
        (
            f'<g><title>{_xml(hint)}</title><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{colour}" stroke="#ffffff" stroke-width="2"/>'
        )
    ]
    size = 13 if width * height > 9_000 else 11
    # A bold letter is about 0.66 of its height wide; names that do not fit are in the hint alone.
    room = int((width - 12) / (0.66 * size))
    if height >= size + 8 and room >= min(4, len(tile.label)):
        label = shortened_label(tile.label, room)
        lines.append(
            f'<clipPath id="c{number}"><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
            f'</clipPath><g clip-path="url(#c{number})" fill="{text}">'
            f'<text x="{x + 7:.1f}" y="{y + size + 5:.1f}" font-size="{size}" font-weight="600">{_xml(label)}</text>'
        )
        figures = f"{tile.tokens:,} tok · {tile.tokens / whole:.1%}"
        if len(figures) > (width - 12) / (0.58 * size):
            figures = f"{tile.tokens / whole:.1%}"
        if height >= 2.6 * size + 8:
            lines.append(
                f'<text x="{x + 7:.1f}" y="{y + 2.4 * size + 5:.1f}" font-size="{size - 1}" '
                f'opacity="0.85">{_xml(figures)}</text>'
            )
        lines.append("</g>")
    lines.append("</g>")
    return ["".join(lines)]


def _xml(text: str) -> str:
    """Return text for XML: escaped, and without the characters that XML 1.0 does not have."""
    kept = "".join(char for char in text if char.isprintable() or char == " ")
    return escape(kept, {'"': "&quot;"})


_WIDTH: Final = 960
_HEIGHT: Final = 360
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 64, 24, 46


def course_svg(course: SessionCourse, *, window: int = 0, title: str = "Session") -> str:
    """Return a course, as `ContextSession.course` gives it, as the text of an SVG file.

    A window in tokens is drawn as a line.
    """
    calls = course.calls
    most = max([window, *(call.tokens for call in calls), 1])
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    step = wide / max(1, len(calls))

    def y(tokens: float) -> float:
        return _TOP + high * (1 - tokens / most)

    head = f"{title}: {len(calls):,} calls, {course.tokens:,} input tokens"
    figures = (
        f"{course.prefix_share:.1%} of a request unchanged, cost {course.cost_share:.0%} of uncached, "
        f"{course.compactions} compactions"
    )
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
            f'width="{_WIDTH}" height="{_HEIGHT}" '
            f'font-family="{_FONT}" role="img" aria-label="{escape(head)}">'
        ),
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        _text(_LEFT, 26, head, 18, "#1d2430"),
        _text(_LEFT, 46, figures, 12, "#4a5361"),
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = y(most * share)
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#e3e7ec"/>')
        parts.append(_text(8, at + 4, f"{most * share / 1000:,.0f}k", 11, "#4a5361"))
    for index, call in enumerate(calls):
        x = _LEFT + index * step
        unchanged = min(call.prefix_tokens, call.tokens)
        hint = f"call {call.number}: {call.tokens:,} tokens, {call.prefix_share:.0%} unchanged"
        if call.broken_by:
            hint += f"; {call.broken_by}, cost {call.break_cost:,.0f}"
        parts.append(f"<g><title>{escape(hint)}</title>")
        for top, bottom, colour in ((call.tokens, unchanged, "#e08a3c"), (unchanged, 0, "#7aa6d6")):
            size = y(bottom) - y(top)
            if size > 0:
                parts.append(
                    f'<rect x="{x:.2f}" y="{y(top):.1f}" width="{max(0.6, step):.2f}" height="{size:.1f}" '
                    f'fill="{colour}"/>'
                )
        if call.broken_by:
            parts.append(f'<circle cx="{x + step / 2:.1f}" cy="{_TOP - 6}" r="3" fill="#b3362b"/>')
        parts.append("</g>")
    if window > 0:
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(window):.1f}" y2="{y(window):.1f}" stroke="#b3362b" '
            'stroke-dasharray="5 4"/>'
        )
    legend = (("#7aa6d6", "unchanged, from the cache"), ("#e08a3c", "new or sent again"), ("#b3362b", "cache broken"))
    x = float(_LEFT)
    for colour, words in legend:
        parts.append(f'<rect x="{x:.0f}" y="{_HEIGHT - 22}" width="11" height="11" fill="{colour}"/>')
        parts.append(_text(x + 17, _HEIGHT - 12, words, 12, "#4a5361"))
        x += 40 + 6.4 * len(words)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _text(x: float, y: float, words: str, size: int, colour: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{colour}">{escape(words)}</text>'
