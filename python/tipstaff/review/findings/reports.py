"""Reports that tools write: JUnit XML and SARIF."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, cast
from urllib.parse import unquote

from tipstaff.review.findings.model import Finding, one_line

MAX_REPORT_BYTES: Final = 32 * 1024 * 1024
_LEVELS: Final = {"error": "error", "warning": "warning", "note": "info", "none": "info"}


def parse_junit(data: bytes) -> list[Finding] | None:
    """Return the failed tests of a JUnit report, None where the data is not one."""
    import re
    from xml.etree import ElementTree as Tree

    try:
        root = Tree.fromstring(data)  # noqa: S314
    except Tree.ParseError:
        return None
    if root.tag not in {"testsuites", "testsuite"}:
        return None
    found: list[Finding] = []
    for case in root.iter("testcase"):
        for kind in ("failure", "error"):
            for failure in case.findall(kind):
                text = failure.text or ""
                name = case.get("name") or ""
                path, line = case.get("file") or "", int(case.get("line") or 0)
                own = (case.get("classname") or "").rpartition(".")[2]
                frame = re.search(rf"\(({re.escape(own)}\.\w+):(\d+)\)", text) if own else None
                if not path and frame is not None:
                    path, line = frame[1], int(frame[2])
                message = failure.get("message") or text.strip().partition("\n")[0] or kind
                found.append(Finding(path=path, line=line, message=one_line(f"{name}: {message}"), tool="junit"))
    return found


def count_junit(data: bytes) -> int | None:
    """Return how many tests a JUnit report has, None where the data is not one."""
    from xml.etree import ElementTree as Tree

    try:
        root = Tree.fromstring(data)  # noqa: S314
    except Tree.ParseError:
        return None
    return sum(1 for _ in root.iter("testcase")) if root.tag in {"testsuites", "testsuite"} else None


def parse_sarif(data: bytes) -> list[Finding] | None:
    """Return the results of a SARIF log, None where the data is not one."""
    try:
        log: object = json.loads(data)
    except ValueError:
        return None
    if not isinstance(log, dict) or not isinstance(log.get("runs"), list):
        return None
    return list(_sarif_results(cast("dict[str, Any]", log)))


def _sarif_results(log: dict[str, Any]) -> Iterator[Finding]:
    for run in log["runs"]:
        if not isinstance(run, dict):
            continue
        fields = cast("dict[str, Any]", run)
        tool = str(_at(fields, "tool", "driver", "name") or "")
        for result in cast("list[Any]", fields.get("results") or []):
            locations = cast("list[Any]", _at(result, "locations") or [None])
            location = _at(locations[0], "physicalLocation")
            uri = unquote(str(_at(location, "artifactLocation", "uri") or ""))
            level = str(_at(result, "level") or "warning")
            yield Finding(
                path=uri.removeprefix("file://"),
                line=int(_at(location, "region", "startLine") or 0),
                column=int(_at(location, "region", "startColumn") or 0),
                message=one_line(str(_at(result, "message", "text") or "")),
                severity=_LEVELS.get(level, "warning"),
                code=str(_at(result, "ruleId") or ""),
                tool=tool,
            )


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(data, dict):
            return None
        data = cast("dict[str, Any]", data).get(key)
    return data
