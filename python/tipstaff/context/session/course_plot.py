"""A session's course as a picture: tokens and what of them came from the cache, call by call, and where that broke."""

from __future__ import annotations

from typing import Final
from xml.sax.saxutils import escape

from tipstaff.context.session.course import SessionCourse

_WIDTH: Final = 960
_HEIGHT: Final = 360
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 64, 24, 46
_FONT: Final = "ui-sans-serif, system-ui, sans-serif"


def course_svg(course: SessionCourse, *, window: int = 0, title: str = "Session") -> str:
    """Return the picture as the text of an SVG file.

    Parameters
    ----------
    course
        As `ContextSession.course` gives it.
    window
        The model's window in tokens, drawn as a line; 0 for none.
    title
        What the picture is headed with.
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
