"""Reports that tools write: JUnit XML and SARIF, whatever is wrong with parts of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import unquote

from tipstaff.errors import SourceError
from tipstaff.review.findings.model import Finding, one_line

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_REPORT_BYTES: Final = 32 * 1024 * 1024
_LEVELS: Final = {"error": "error", "warning": "warning", "note": "info", "none": "info"}
_NO_XML: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_BOM: Final = b"\xef\xbb\xbf"


class ReportError(SourceError):
    """A report cannot be read."""


def parse_report(data: bytes) -> list[Finding] | None:
    """Return the findings of a JUnit or SARIF report, None where the data is something else.

    A part that is not as its format demands costs that part alone: a line that is no number is left out.

    Raises
    ------
    ReportError
        If it looks like XML or JSON and cannot be read; the message says why.
    """
    head = data[:512].removeprefix(_BOM).lstrip()
    if head.startswith(b"<"):
        suites = _suites(data)
        return None if suites is None else list(_failed_tests(suites))
    if head.startswith(b"{"):
        log = _json(data)
        return list(_results(log)) if isinstance(log.get("runs"), list) else None
    return None


def count_tests(data: bytes) -> int:
    """Return how many tests a JUnit report has; 0 where the data is no such report."""
    try:
        suites = _suites(data) if data[:512].removeprefix(_BOM).lstrip().startswith(b"<") else None
    except ReportError:
        return 0
    return 0 if suites is None else sum(_name(element) == "testcase" for element in suites.iter())


def _suites(data: bytes) -> Element | None:
    """Return the root of a JUnit report, None for other XML."""
    from xml.etree import ElementTree as Tree

    try:
        try:
            root = Tree.fromstring(data)  # noqa: S314 - expat bounds what entities expand to
        except Tree.ParseError:
            root = Tree.fromstring(_NO_XML.sub(b"", data))  # noqa: S314
    except (Tree.ParseError, LookupError, ValueError, RecursionError) as error:
        raise ReportError(f"not valid XML: {error}") from None
    return root if _name(root) in {"testsuites", "testsuite"} else None


def _name(element: Element) -> str:
    """Return an element's name without its namespace; a comment has none."""
    return str(element.tag).rpartition("}")[2]


def _failed_tests(suites: Element) -> Iterator[Finding]:
    for case in suites.iter():
        if _name(case) != "testcase":
            continue
        for failure in case:
            kind = _name(failure)
            if kind not in {"failure", "error"}:
                continue
            text = "".join(failure.itertext())
            path, line = case.get("file") or "", _number(case.get("line"))
            own = (case.get("classname") or "").rpartition(".")[2]
            frame = re.search(rf"\(({re.escape(own)}\.\w+):(\d{{1,9}})\)", text) if own else None
            if not path and frame is not None:
                path, line = frame[1], int(frame[2])
            message = failure.get("message") or text.strip().partition("\n")[0] or kind
            yield Finding(path=path, line=line, message=one_line(f"{case.get('name') or ''}: {message}"), tool="junit")


def _json(data: bytes) -> dict[str, Any]:
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"not valid JSON: {error}") from None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _results(log: Mapping[str, Any]) -> Iterator[Finding]:
    for run in _list(log.get("runs")):
        for result in _list(_at(run, "results")):
            finding = _result(run, result)
            if finding is not None:
                yield finding


def _result(run: object, result: object) -> Finding | None:
    """Return a result of a SARIF run; None for one that is suppressed, gone, or no failure."""
    suppressed = any(_at(one, "status") in {None, "accepted"} for one in _list(_at(result, "suppressions")))
    kind = _at(result, "kind") or "fail"
    if not isinstance(result, dict) or suppressed or _at(result, "baselineState") == "absent":
        return None
    if kind in {"pass", "notApplicable"}:
        return None
    rule = _rule(run, cast("dict[str, Any]", result))
    level = str(_at(result, "level") or _at(rule, "defaultConfiguration", "level") or "warning")
    location = _at(next(iter(_list(_at(result, "locations"))), None), "physicalLocation")
    return Finding(
        path=_path(run, _at(location, "artifactLocation")),
        line=_number(_at(location, "region", "startLine")),
        column=_number(_at(location, "region", "startColumn")),
        message=one_line(_message(run, rule, _at(result, "message"))),
        severity="info" if kind != "fail" else _LEVELS.get(level, "warning"),
        code=str(_at(result, "ruleId") or _at(result, "rule", "id") or _at(rule, "id") or ""),
        tool=str(_at(run, "tool", "driver", "name") or ""),
    )


def _rule(run: object, result: Mapping[str, Any]) -> object:
    """Return the description of a result's rule, by index or id, of the tool or one of its extensions."""
    part = _at(result, "rule", "toolComponent", "index")
    tool = _item(_at(run, "tool", "extensions"), part) if part is not None else _at(run, "tool", "driver")
    rules = _list(_at(tool, "rules"))
    index = result.get("ruleIndex", _at(result, "rule", "index"))
    name = str(result.get("ruleId") or _at(result, "rule", "id") or "")
    found = _item(rules, index)
    if found is None and name:
        # An id may name a part of a rule: `CA1000/1` is of CA1000.
        found = next((one for one in rules if _at(one, "id") in {name, name.partition("/")[0]}), None)
    return found


def _message(run: object, rule: object, message: object) -> str:
    text = _at(message, "text") or _at(message, "markdown")
    name = _at(message, "id")
    if not text and isinstance(name, str):
        text = _at(rule, "messageStrings", name, "text") or _at(
            run, "tool", "driver", "globalMessageStrings", name, "text"
        )
    filled = str(text or _at(rule, "shortDescription", "text") or "")
    for index, value in enumerate(_list(_at(message, "arguments"))[:50]):
        filled = filled.replace(f"{{{index}}}", str(value))
    return filled


def _path(run: object, artifact: object) -> str:
    known = _item(_at(run, "artifacts"), _at(artifact, "index"))
    where = artifact if isinstance(_at(artifact, "uri"), str) else _at(known, "location")
    uri = str(_at(where, "uri") or "")
    base = _at(run, "originalUriBaseIds", str(_at(where, "uriBaseId") or ""), "uri")
    if isinstance(base, str) and base.startswith("file:") and not re.match(r"/|[A-Za-z][\w+.-]*:", uri):
        uri = f"{base.rstrip('/')}/{uri}"
    path = unquote(re.sub(r"\Afile:(?://[^/]*)?(?=/)", "", uri))
    return path[1:] if re.match(r"/[A-Za-z]:/", path) else path


def _number(value: object) -> int:
    """Return a line or column, 0 where it is none."""
    if isinstance(value, str):
        return int(value) if re.fullmatch(r"[0-9]{1,9}", value) else 0
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else 0


def _list(data: object) -> list[Any]:
    return data if isinstance(data, list) else []


def _item(data: object, index: object) -> Any:
    rows = _list(data)
    return rows[index] if isinstance(index, int) and 0 <= index < len(rows) else None


def _at(data: object, *keys: str) -> Any:
    for key in keys:
        if not isinstance(data, dict):
            return None
        data = cast("dict[str, Any]", data).get(key)
    return data
