"""A replay's report as one HTML page that needs nothing else: tables, and plots in SVG. Same report, same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from tipstaff.runs.replaying.comparing import ReplayReport

_COLOURS: Final = {"allow": "#3a7d44", "warn": "#b58900", "require-confirmation": "#8e44ad", "block": "#c0392b"}
_WIDTH: Final = 640
_ROW: Final = 22
_LABEL: Final = 260
_BARS: Final = 20
_STYLE: Final = (
    "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:60rem;color:#222;background:#fff}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #ddd;"
    "vertical-align:top}code{white-space:pre-wrap;overflow-wrap:anywhere}svg text{font:12px system-ui,sans-serif}"
)


def html_report(report: ReplayReport) -> str:
    """Return the page."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>Replay</title>",
        f"<style>{_STYLE}</style><h1>Replay</h1>",
    ]
    if report.total:
        low, high = report.changed_interval
        parts.append(
            f"<p>{report.changed:,} of {report.total:,} calls would be decided differently: "
            f"{report.changed / report.total:.3%} (95 % interval {low:.3%} to {high:.3%}).</p>"
        )
        parts += ["<h2>Decisions</h2>", _bars(report.transitions), "<h2>Rules</h2>", _bars(report.by_rule)]
        rows = "".join(
            f"<tr><td>{one.count:,}<td>{_decision(one.before)} → {_decision(one.after)}"
            f"<td>{escape(', '.join(one.rules))}<td><code>{escape(_shown(one.tool, one.text))}</code>"
            for one in report.examples
        )
        parts.append(f"<h2>Examples</h2><table><tr><th>calls<th>decision<th>rules<th>call{rows}</table>")
    if report.tasks:
        low, high = report.tasks_interval
        parts.append(
            f"<h2>Tasks</h2><p>{report.tasks_changed:,} of {report.tasks:,} tasks would be given different rules: "
            f"{report.tasks_changed / report.tasks:.2%} (95 % interval {low:.2%} to {high:.2%}).</p>"
            f"<h3>No longer given</h3>{_bars(report.rules_gone)}<h3>Newly given</h3>{_bars(report.rules_new)}"
        )
        rows = "".join(
            f"<tr><td>{one.count:,}<td>{escape(one.task)}"
            f"<td>{escape(', '.join(one.gone))}<td>{escape(', '.join(one.new))}"
            for one in report.task_examples
        )
        parts.append(f"<table><tr><th>times<th>task<th>no more<th>new{rows}</table>")
    return "\n".join(parts) + "</html>\n"


def _shown(tool: str, text: str) -> str:
    return text if tool == "Bash" else f"{tool} {text}"


def _decision(name: str) -> str:
    return f'<b style="color:{_COLOURS[name]}">{name}</b>'


def _bars(counts: Mapping[str, int]) -> str:
    """Return a plot of horizontal bars."""
    if not counts:
        return "<p>None.</p>"
    shown = list(counts.items())[:_BARS]
    most = max(count for _, count in shown)
    lines = [
        (
            f'<svg viewBox="0 0 {_WIDTH + 100} {_ROW * len(shown)}" width="{_WIDTH + 100}" role="img" '
            f'aria-label="{escape(", ".join(f"{name}: {count}" for name, count in shown), quote=True)}">'
        )
    ]
    for number, (name, count) in enumerate(shown):
        y = number * _ROW
        width = round((_WIDTH - _LABEL) * count / most, 1)
        lines.append(
            f'<text x="{_LABEL - 8}" y="{y + 15}" text-anchor="end">{escape(name[:40])}</text>'
            f'<rect x="{_LABEL}" y="{y + 3}" width="{width}" height="{_ROW - 6}" fill="#4c78a8"/>'
            f'<text x="{_LABEL + width + 6}" y="{y + 15}">{count:,}</text>'
        )
    more = f"<p>and {len(counts) - len(shown)} more</p>" if len(counts) > len(shown) else ""
    return "".join(lines) + "</svg>" + more
