"""Coverage in percent from the reports that tools write themselves.

========================  ========================================================
Go cover profile          statements covered over statements
coverage.py JSON          ``totals.percent_covered``
Istanbul summary JSON     ``total.lines.pct``
llvm-cov JSON             ``data[0].totals.lines.percent``
Cobertura XML             ``line-rate``
JaCoCo XML                covered over all lines of the report's own counters
LCOV                      ``LH`` over ``LF``
========================  ========================================================
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, cast

_GO_MODE: Final = re.compile(rb"mode: (?:set|count|atomic)\s")
_GO_LINE: Final = re.compile(rb"^(\S+:\d+\.\d+,\d+\.\d+) (\d+) (\d+)\s*$", re.MULTILINE)
_LCOV: Final = re.compile(rb"^(LF|LH):(\d+)\s*$", re.MULTILINE)


def coverage_percent(data: bytes) -> float | None:
    """Return the coverage that a report states, in percent, or None where it is not a report of coverage."""
    head = data[:4_096].lstrip()
    if _GO_MODE.match(head):
        return _go(data)
    if head.startswith(b"{"):
        return _json(data)
    if head.startswith(b"<"):
        return _xml(data)
    counts = {b"LF": 0, b"LH": 0}
    for name, number in _LCOV.findall(data):
        counts[name] += int(number)
    return _percent(counts[b"LH"], counts[b"LF"])


def _percent(covered: int, total: int) -> float | None:
    return 100.0 * covered / total if total else None


def _go(data: bytes) -> float | None:
    # A block occurs once for each package that was tested with it; it is covered where any of them covers it.
    blocks: dict[bytes, tuple[int, bool]] = {}
    for span, statements, count in _GO_LINE.findall(data):
        blocks[span] = int(statements), int(count) > 0 or blocks.get(span, (0, False))[1]
    covered = sum(statements for statements, hit in blocks.values() if hit)
    return _percent(covered, sum(statements for statements, _ in blocks.values()))


def _json(data: bytes) -> float | None:
    try:
        report: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    for path in (("totals", "percent_covered"), ("total", "lines", "pct"), ("data", 0, "totals", "lines", "percent")):
        found: object = report
        for key in path:
            try:
                found = cast("dict[Any, object]", found)[key]
            except (KeyError, IndexError, TypeError):
                found = None
        if isinstance(found, int | float) and not isinstance(found, bool):
            return float(found)
    return None


def _xml(data: bytes) -> float | None:
    from xml.etree import ElementTree as Tree

    try:
        root = Tree.fromstring(data)  # noqa: S314
    except (Tree.ParseError, LookupError, ValueError):
        return None
    if root.tag == "coverage":
        try:
            return 100.0 * float(root.get("line-rate") or "")
        except ValueError:
            return None
    if root.tag == "report":
        for counter in root.findall("counter"):
            if counter.get("type") == "LINE":
                try:
                    covered, missed = int(counter.get("covered") or 0), int(counter.get("missed") or 0)
                except ValueError:
                    return None
                return _percent(covered, covered + missed)
    return None
