"""A picture of the window: an SVG treemap in which every area is what a part of the request takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from tipstaff.context.snapshot import ContextSnapshot, SnapshotSection

WIDTH: Final = 1_200
HEIGHT: Final = 720
_HEADER: Final = 54
_LEGEND: Final = 40
_FONT: Final = "ui-sans-serif, system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
_COLOURS: Final = {
    "core": ("#4c78a8", "instructions"),
    "memory": ("#59a14f", "memory"),
    "learned": ("#9467bd", "learned signals"),
    "rules": ("#e1812c", "rules"),
    "candidates": ("#b07aa1", "candidates"),
    "skills": ("#2a9d9d", "skills"),
    "tools": ("#79706e", "tool definitions"),
    "messages": ("#c1483f", "messages"),
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


def tiles_of(snapshot: ContextSnapshot) -> tuple[Tile, ...]:
    """Return the parts of a request, and what of the window it leaves; nothing where nothing has a size."""
    tiles = [_tile(section) for section in snapshot.sections if section.included]
    tiles.append(Tile("tools", snapshot.tool_tokens, "tools", "tool definitions"))
    messages = f"{snapshot.message_count} messages" if snapshot.message_count else "messages"
    tiles.append(Tile(messages, snapshot.message_tokens, "messages", "the conversation"))
    window = snapshot.context_window_tokens
    if window > 0:
        output = min(snapshot.max_output_tokens, window)
        tiles.append(Tile("answer", output, "output", "kept for the answer"))
        free = window - output - snapshot.request_tokens
        tiles.append(Tile("free", free, "free", "not taken"))
    return tuple(tile for tile in tiles if tile.tokens > 0)


def _tile(section: SnapshotSection) -> Tile:
    cut = section.cut
    lost = f", {cut.removed_chars:,} characters cut" if section.truncated and cut is not None else ""
    label = f"{section.ref} ✂" if section.truncated else section.ref
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
    tiles = tiles_of(snapshot)
    window = snapshot.context_window_tokens
    whole = sum(tile.tokens for tile in tiles)
    over = max(0, snapshot.request_tokens + snapshot.max_output_tokens - window) if window > 0 else 0
    of_window = f" of {window:,}" if window > 0 else ""
    share = f" ({snapshot.request_tokens / window:.1%})" if window > 0 else ""
    title = f"Context window: {snapshot.request_tokens:,}{of_window} tokens{share}"
    subtitle = f"session {snapshot.session_id}, request {snapshot.request_number}, {snapshot.taken_at}"
    if over:
        subtitle += f" — {over:,} tokens too many"
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            f'font-family="{_FONT}" role="img" aria-label="{_xml(title)}">'
        ),
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="16" y="26" font-size="20" font-weight="600" fill="#1d2430">{_xml(title)}</text>',
        f'<text x="16" y="45" font-size="12" fill="#5b6472">{_xml(subtitle)}</text>',
    ]
    top, bottom = _HEADER, HEIGHT - _LEGEND
    for number, place in enumerate(squarified(tiles, 16, top, WIDTH - 32, bottom - top)):
        parts += _drawn(place, number, whole)
    if not tiles:
        parts.append(f'<text x="16" y="{top + 24}" font-size="14" fill="#5b6472">nothing was sent</text>')
    x = 16.0
    for kind, (colour, words) in _COLOURS.items():
        if any(tile.kind == kind for tile in tiles):
            parts.append(
                f'<rect x="{x:.0f}" y="{HEIGHT - 26}" width="12" height="12" rx="2" fill="{colour}" '
                f'stroke="#aab2bd" stroke-width="0.5"/>'
                f'<text x="{x + 18:.0f}" y="{HEIGHT - 16}" font-size="12" fill="#1d2430">{words}</text>'
            )
            x += 34 + 6.6 * len(words)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _drawn(place: Placed, number: int, whole: int) -> list[str]:
    tile, x, y, width, height = place
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
    # A letter is about 0.6 of its height wide; names that do not fit are in the hint alone.
    room = int((width - 10) / (0.6 * size))
    if height >= size + 8 and room >= min(4, len(tile.label)):
        label = tile.label if len(tile.label) <= room else f"{tile.label[: room - 1]}…"
        lines.append(
            f'<clipPath id="c{number}"><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
            f'</clipPath><g clip-path="url(#c{number})" fill="{text}">'
            f'<text x="{x + 7:.1f}" y="{y + size + 5:.1f}" font-size="{size}" font-weight="600">{_xml(label)}</text>'
        )
        figures = f"{tile.tokens:,} tok · {tile.tokens / whole:.1%}"
        if height >= 2.6 * size + 8 and room >= len(figures):
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
