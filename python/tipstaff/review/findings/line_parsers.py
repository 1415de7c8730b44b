"""Formats in which one line is one finding: a table of patterns.

Every pattern is anchored at the line's start and without nested repetition, so a line is read in linear time; longer
lines than `MAX_LINE_CHARS` are cut.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.review.findings.model import Finding, one_line

MAX_LINE_CHARS: Final = 2_000

_PATH: Final = r"(?P<path>(?:[A-Za-z]:[\\/])?[^\s:()\[\]'\"][^:\n()\[\]'\"]{0,300})"
_LINE: Final = r"(?P<line>\d{1,9})"
_COLUMN: Final = r"(?P<column>\d{1,9})"
_MESSAGE: Final = r"(?P<message>\S.*)"
_MAVEN_LEVEL: Final = r"(?P<severity>ERROR|WARNING|WARN)"
_LEVEL: Final = r"(?P<severity>error|warning)"
_TS_CODE: Final = r"(?P<code>TS\d{1,6})"
_SEVERITY: Final = r"(?P<severity>fatal error|error|warning|note|info|style|convention|refactor)"

LINE_PATTERNS: Final[dict[str, tuple[re.Pattern[str], ...]]] = {
    name: tuple(re.compile(pattern) for pattern in patterns)
    for name, patterns in {
        # gcc, clang, javac, mypy, pyright, ty, ruff (concise), flake8, pylint, go, golangci-lint, shellcheck (gcc)
        "lines": (
            rf"\s{{0,4}}(?:vet: )?{_PATH}:{_LINE}:{_COLUMN}(?::\s*|\s+-\s+){_SEVERITY}?:?\s*{_MESSAGE}",
            rf"(?:vet: )?{_PATH}:{_LINE}:\s+{_SEVERITY}?:?\s*{_MESSAGE}",
        ),
        "tsc": (
            rf"(?P<path>[^\s(][^(\n]{{0,300}})\({_LINE},{_COLUMN}\): {_LEVEL} {_TS_CODE}: {_MESSAGE}",
            rf"(?P<path>[^\s:][^:\n]{{0,300}}):{_LINE}:{_COLUMN} - {_LEVEL} {_TS_CODE}: {_MESSAGE}",
        ),
        # MSBuild and its compilers; the project's file is named last.
        "msbuild": (
            (
                rf"\s{{0,8}}(?P<path>(?:[A-Za-z]:[\\/])?[^\s(:][^(:\n]{{0,300}})\({_LINE}(?:,{_COLUMN}){{0,3}}\): "
                rf"{_LEVEL} (?P<code>[A-Z]{{1,8}}\d{{1,6}}): (?P<message>\S.*?)(?: \[[^\[\]\n]{{1,300}}proj\])?$"
            ),
        ),
        # Old versions of Gradle print a task's name and its first line of output in one.
        "gradle": (
            rf":[\w:-]{{1,200}}(?P<path>/[^:\n]{{1,300}}):{_LINE}: {_LEVEL}: {_MESSAGE}",
            # Kotlin's compiler, since 1.9 and before.
            rf"(?P<severity>[ew]): (?:file://)?(?P<path>/[^:\n]{{1,300}}):{_LINE}:{_COLUMN}:? {_MESSAGE}",
            rf"(?P<severity>[ew]): (?P<path>/[^:\n]{{1,300}}): \({_LINE}, {_COLUMN}\): {_MESSAGE}",
        ),
        "github": (rf"::(?P<severity>error|warning|notice) (?P<fields>[^:\n]{{1,600}})::{_MESSAGE}",),
        "maven": (
            rf"\[{_MAVEN_LEVEL}\]\s+(?P<path>[^\s:\[][^:\n\[]{{0,300}}):\[{_LINE},{_COLUMN}\] {_MESSAGE}",
            rf"\[{_MAVEN_LEVEL}\]\s+(?P<path>[^\s:\[][^:\n\[]{{0,300}}\.java):{_LINE}(?::{_COLUMN})?:? {_MESSAGE}",
            # A failed test in the summary of Surefire: the class stands for its file.
            rf"\[(?P<severity>ERROR)\]\s+(?P<type>[A-Z]\w{{0,100}})\.\w[\w.>-]{{0,200}}:{_LINE}(?:->\S+)? {_MESSAGE}",
        ),
        "rustfmt": (r"(?P<message>Diff in) (?P<path>[^:\n]{1,300}?)(?: at line |:)(?P<line>\d{1,9}):",),
        "prettier": (r"\[(?P<severity>warn)\] (?P<path>[^\s:]\S{0,300}\.\w{1,10})$",),
        "ruff-format": (r"(?P<message>[Ww]ould reformat):? (?P<path>\S.{0,300})",),
        "paths": (r"(?P<path>[^\s:][^:\n]{0,300})$",),
    }.items()
}

DEFAULT_MESSAGES: Final = {
    "rustfmt": "is not formatted; run cargo fmt",
    "prettier": "is not formatted; run prettier --write",
    "ruff-format": "is not formatted; run the formatter",
    "paths": "is not formatted",
}

_GITHUB_FIELDS: Final = {"file": "path", "line": "line", "col": "column", "title": "code"}
_SEVERITIES: Final = {
    "e": "error",
    "w": "warning",
    "fatal error": "error",
    "warning": "warning",
    "warn": "warning",
    "notice": "info",
    "note": "info",
    "style": "warning",
    "convention": "warning",
    "refactor": "warning",
}
_LEADING_CODE: Final = re.compile(r"\[?([A-Z]{1,10}\d{1,6})\]?:? (?:\[\*\] )?(?=\S)")
_TRAILING_CODE: Final = re.compile(r"\s+[\[(](-W[\w=+-]+|[a-z][a-zA-Z0-9/_-]{2,60})[\])]$")


def parse_lines(text: str, name: str) -> list[Finding]:
    """Return the findings of an output whose format is one of `LINE_PATTERNS`."""
    found: list[Finding] = []
    default = DEFAULT_MESSAGES.get(name, "")
    for line in text.splitlines():
        shown = line[:MAX_LINE_CHARS].rstrip()
        for pattern in LINE_PATTERNS[name]:
            match = pattern.match(shown)
            if match is None:
                continue
            fields = match.groupdict()
            for pair in (fields.pop("fields", None) or "").split(","):
                key, _, value = pair.partition("=")
                fields[_GITHUB_FIELDS.get(key.strip(), "")] = value
            severity = (fields.get("severity") or "error").lower()
            severity = _SEVERITIES.get(severity, severity)
            message = default or fields.get("message") or ""
            code = fields.get("code") or ""
            if not code:
                code, message = split_code(message)
            path = fields.get("path") or (f"{fields['type']}.java" if fields.get("type") else "")
            # A note belongs to the finding before it.
            if severity != "info" or name == "github":
                found.append(
                    Finding(
                        path=path.strip(),
                        line=int(fields.get("line") or 0),
                        column=int(fields.get("column") or 0),
                        message=one_line(message),
                        severity=severity,
                        code=code,
                    )
                )
            break
    return found


def split_code(message: str) -> tuple[str, str]:
    """Return the rule that a message names at its start (``F401 ...``) or end (``... [arg-type]``), and the rest."""
    match = _LEADING_CODE.match(message)
    if match is not None:
        return match[1], message[match.end() :]
    match = _TRAILING_CODE.search(message)
    return (match[1], message[: match.start()]) if match is not None else ("", message)
