"""Draws quality against latency, as an SVG that reads on light and on dark ground."""

from __future__ import annotations

import math
from typing import Any, Final
from xml.sax.saxutils import escape

WIDTH: Final = 720
HEIGHT: Final = 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 230, 30, 60
_TOP_SCORE: Final = 0.6
_FONT: Final = 'font-family="system-ui, sans-serif" font-size="13"'
_STYLE: Final = (
    "<style>text{fill:#333}.g{stroke:#ccc}.p{fill:#0b6bcb}.e{stroke:#0b6bcb;stroke-width:2}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}.g{stroke:#444}.p{fill:#6cb6ff}.e{stroke:#6cb6ff}}</style>"
)


def draw(figures: dict[str, dict[str, Any]]) -> str:
    """Return the plot of nDCG@5, with its 95 % interval, over the microseconds that a task takes (log scale).

    Parameters
    ----------
    figures
        For each contender ``nDCG@5`` (mean, low, high) and ``microseconds``.
    """
    times = [one["microseconds"] for one in figures.values()]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def x(microseconds: float) -> float:
        return _LEFT + (math.log10(microseconds) - low) / max(1, high - low) * (WIDTH - _LEFT - _RIGHT)

    def y(score: float) -> float:
        return HEIGHT - _BOTTOM - score / _TOP_SCORE * (HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" {_FONT}>',
        "<title>Quality of retrieval against latency</title>",
        _STYLE,
    ]
    for power in range(low, high + 1):
        at = x(10**power)
        parts.append(f'<line class="g" x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{HEIGHT - _BOTTOM}"/>')
        parts.append(f'<text x="{at:.1f}" y="{HEIGHT - _BOTTOM + 18}" text-anchor="middle">{_duration(power)}</text>')
    for tenth in range(7):
        at = y(tenth / 10)
        parts.append(f'<line class="g" x1="{_LEFT}" y1="{at:.1f}" x2="{WIDTH - _RIGHT}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>')
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle">time for one task (log scale)</text>')
    parts.append(f'<text x="{_LEFT}" y="18">nDCG@5 with its 95 % interval (higher is better)</text>')
    for name, one in figures.items():
        mean, least, most = one["nDCG@5"]
        at = x(one["microseconds"])
        parts.append(f'<line class="e" x1="{at:.1f}" y1="{y(least):.1f}" x2="{at:.1f}" y2="{y(most):.1f}"/>')
        parts.append(f'<circle class="p" cx="{at:.1f}" cy="{y(mean):.1f}" r="5"/>')
        parts.append(f'<text x="{at + 10:.1f}" y="{y(mean) + 4:.1f}">{escape(name)} {mean:.2f}</text>')
    parts.append("</svg>\n")
    return "\n".join(parts)


def _duration(power: int) -> str:
    value = 10.0**power
    return f"{value:g} us" if power < 3 else f"{value / 1e3:g} ms" if power < 6 else f"{value / 1e6:g} s"
