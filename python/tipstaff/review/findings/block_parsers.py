"""Formats in which several lines make a finding: what is wrong in one of them, where in another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tipstaff.review.findings.line_parsers import MAX_LINE_CHARS, parse_lines
from tipstaff.review.findings.model import Finding, one_line

_RUST_HEAD: Final = re.compile(r"(error|warning)(?:\[(\w+)\])?: (.+)")
_RUST_LOCATION: Final = re.compile(r"\s*--> ([^:\n]{1,300}):(\d+):(\d+)")
_RUST_PANIC: Final = re.compile(
    r"thread '([^']{1,200})' (?:\(\d+\) )?panicked at (?:'(.*)', )?([^:\n']{1,300}):(\d+):(\d+)"
)
_RUST_STDOUT: Final = re.compile(r"---- (\S{1,200}) stdout ----$")
_RUST_RETURNED: Final = re.compile(r"Error: (.+)")
_RUST_SIDES: Final = re.compile(r"\s*(left|right): (.+)")
_RUFF_HEAD: Final = re.compile(r"([A-Z]{1,10}\d{1,6}|[a-z][a-z-]{2,40}):? (?:\[\*\] )?(\S.*)")
_MYPY_HEAD: Final = re.compile(r"[^\s:][^:\n]{0,300}:\d+(?::\d+)*: (?:error|note|warning): ")
_MYPY_WRAPPED: Final = 8
_PYTEST_LOCATION: Final = re.compile(r"([^\s:][^:\n]{0,300}\.py):(\d+)(?:: ?([\w.]*)|$)")
_PYTEST_HEAD: Final = re.compile(r"_+ (?!_)(.{1,300}?) _+$")
_PYTEST_SUMMARY: Final = re.compile(r"(FAILED|ERROR) ([^\s:]+\.py)(?:::(\S+))?(?: - (.+))?")
_PY_FOREIGN: Final = ("site-packages/", "dist-packages/", "lib/python")
_PY_FRAME: Final = re.compile(r"(?:\*{3} |Sorry: .*?)?\s*File \"([^\"]{1,300})\", line (\d+)")
_PY_ERROR: Final = re.compile(r"((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)): ?(.*)")
_ESLINT_ROW: Final = re.compile(r"\s+(\d+):(\d+)\s+(error|warning)\s+(\S.*?)(?:\s{2,}(\S+))?$")
_NODE_SOURCE: Final = re.compile(r"(?:file://)?(/[^:\n]{1,300}|[A-Za-z]:\\[^:\n]{1,300}):(\d{1,9})$")
_NODE_SYNTAX: Final = re.compile(r"SyntaxError: .+")
_NODE_TEST: Final = re.compile(r"\s*(?:FAIL\s+(\S+\.\w+)(?: > (.+)| \[ \S+ \])?|\u25cf (.+))$")
_NODE_ERROR: Final = re.compile(r"\s*(?:→ |error: ['\"]?|\[?)((?:\w*Error|Error)(?: \[\w+\])?: .+|expect\(.*)")
_NODE_FRAME: Final = re.compile(r"\s*(?:at .{0,300}?\(|at |❯ |location: ')(?:file://)?(/?[^\s():']{1,300}):(\d+):(\d+)")
_NODE_DETAIL: Final = re.compile(r"\s*((?:Expected|Received)[^:\n]{0,60}: .+)")
_NODE_FOREIGN: Final = ("node_modules/", "node:", "internal/")
_TAP_FAIL: Final = re.compile(r"\s*not ok \d+ - (.{1,300})")
_TAP_ERROR: Final = re.compile(r"\s+error: (?:'(.*)'|\|-|(.*))$")
_TAP_FRAME: Final = re.compile(r"\s+(?:at )?(?:[^()]{1,200} \()?(?:file://)?(/[^\s():]{1,300}):(\d+):(\d+)\)?$")
_GO_FAIL: Final = re.compile(r"\s*--- FAIL: (\S+)")
_GO_LOCATION: Final = re.compile(r"\s+([^\s:]{1,200}\.go):(\d+): (.+)")
_GO_PANIC: Final = re.compile(r"panic: (.+)")
_GO_FRAME: Final = re.compile(r"\s+(/\S{1,300}\.go):(\d+) \+0x")


def parse_cargo(text: str) -> list[Finding]:
    """Return the findings of rustc, clippy and failed Rust tests."""
    found: list[Finding] = []
    head: re.Match[str] | None = None
    panic: tuple[str, int, int, str] | None = None
    test = ""  # whose output this is, until what went wrong in it was seen
    sides = False
    for line in _lines(text):
        if panic is not None:
            # The message is on the line after the location (since Rust 1.73).
            path, row, column, name = panic
            found.append(Finding(path=path, line=row, column=column, message=one_line(f"{name}: {line}"), code="panic"))
            panic, sides = None, True
            continue
        side = _RUST_SIDES.match(line) if sides else None
        if side is not None:
            found[-1] = found[-1].replace(message=one_line(f"{found[-1].message}; {side[1]}: {side[2]}"))
            continue
        sides = False
        output = _RUST_STDOUT.match(line)
        if output is not None:
            test = output[1]
            continue
        returned = _RUST_RETURNED.match(line) if test else None
        if returned is not None:
            found.append(Finding(path="", message=one_line(f"{test}: it returned Err: {returned[1]}"), code="err"))
            test = ""
            continue
        match = _RUST_PANIC.match(line.strip())
        if match is not None:
            test = ""
            if match[2]:
                message = one_line(f"{match[1]}: {match[2]}")
                found.append(
                    Finding(path=match[3], line=int(match[4]), column=int(match[5]), message=message, code="panic")
                )
            else:
                panic = match[3], int(match[4]), int(match[5]), match[1]
            continue
        if head is None or not line.startswith(" "):
            started = _RUST_HEAD.match(line)
            head = started if started is not None else (head if line.startswith(" ") else None)
        location = _RUST_LOCATION.match(line)
        if location is not None and head is not None:
            found.append(
                Finding(
                    path=location[1],
                    line=int(location[2]),
                    column=int(location[3]),
                    message=one_line(head[3]),
                    severity=head[1],
                    code=head[2] or "",
                )
            )
            head = None
    return found


def parse_ruff(text: str) -> list[Finding]:
    """Return the findings of ruff's full format, linter and formatter: a code and a message, the location below."""
    found: list[Finding] = []
    head: re.Match[str] | None = None
    for line in _lines(text):
        location = _RUST_LOCATION.match(line)
        if location is not None and head is not None:
            found.append(
                Finding(
                    path=location[1], line=int(location[2]), column=int(location[3]),
                    message=one_line(head[2]), code=head[1],
                )
            )  # fmt: skip
        head = _RUFF_HEAD.match(line)
    return found


def parse_mypy(text: str) -> list[Finding]:
    """Return the findings of mypy, also of its pretty format, which wraps messages and shows the source below."""
    rows: list[str] = []
    joined = _MYPY_WRAPPED + 1
    for line in _lines(text):
        is_head = _MYPY_HEAD.match(line) is not None
        if joined < _MYPY_WRAPPED and line and not is_head and not line[0].isspace() and not line.startswith("Found "):
            rows[-1] = f"{rows[-1]} {line}"
            joined += 1
        else:
            rows.append(line)
            joined = 0 if is_head else _MYPY_WRAPPED
        if rows[-1].endswith("]"):
            joined = _MYPY_WRAPPED
    return parse_lines("\n".join(rows), "lines")


def parse_pytest(text: str) -> list[Finding]:
    """Return the failed tests of pytest: the last frame of the project in each traceback, and what went wrong."""
    found: list[Finding] = []
    reported: set[str] = set()
    name = ""
    wrong = ""
    location: tuple[str, int] | None = None

    def close() -> None:
        if wrong and location is not None:
            test = name.partition(" of ")[2] if name.startswith("ERROR at ") else name
            file = name.removeprefix("ERROR collecting ") if name.startswith("ERROR collecting ") else ""
            path, row = (file, 0) if file and _is_foreign(location[0]) else location
            found.append(Finding(path=path, line=row, message=one_line(f"{name}: {wrong}" if name else wrong)))
            reported.update((location[0], file, _bare_name(test, ".")))

    for line in _lines(text):
        head = _PYTEST_HEAD.match(line)
        if head is not None or line.startswith("==="):
            close()
            name, wrong, location = (head[1] if head is not None else ""), "", None
            continue
        if line.startswith("E  ") and not wrong:
            wrong = line[1:].strip()
            continue
        where = _PYTEST_LOCATION.match(line)
        is_own = where is not None and (location is None or not _is_foreign(where[1]))
        if where is not None and is_own and (where[3] or not line.endswith(" ")):
            location = where[1], int(where[2])
            continue
        summary = _PYTEST_SUMMARY.match(line)
        test = _bare_name(summary[3], "::") if summary is not None and summary[3] else ""
        if summary is not None and summary[2] not in reported and (not test or test not in reported):
            message = ": ".join(filter(None, (summary[3], summary[4] or "failed")))
            found.append(Finding(path=summary[2], message=one_line(message)))
    close()
    return found or parse_python(text)


def _bare_name(test: str, separator: str) -> str:
    """Return a test's name without its class, with its parameters, in which separators mean nothing."""
    name, bracket, parameters = test.partition("[")
    return f"{name.rpartition(separator)[2]}{bracket}{parameters}"


def _is_foreign(path: str) -> bool:
    """Return whether a frame is in a library: the project's own frame above it says more."""
    return any(part in path for part in _PY_FOREIGN)


def parse_python(text: str) -> list[Finding]:
    """Return the errors of Python tracebacks and of ``compileall``: the last frame, and the error below it."""
    found: list[Finding] = []
    location: tuple[str, int] | None = None
    for line in _lines(text):
        frame = _PY_FRAME.match(line)
        if frame is not None:
            location = frame[1], int(frame[2])
            continue
        error = _PY_ERROR.match(line)
        if error is not None and location is not None:
            found.append(
                Finding(path=location[0], line=location[1], message=one_line(line), code=error[1].rpartition(".")[2])
            )
            location = None
    return found


def parse_eslint(text: str) -> list[Finding]:
    """Return the findings of ESLint's default format: a path, and rows below it."""
    found: list[Finding] = []
    path = ""
    for line in _lines(text):
        row = _ESLINT_ROW.match(line)
        if row is not None:
            if path:
                found.append(
                    Finding(
                        path=path,
                        line=int(row[1]),
                        column=int(row[2]),
                        message=one_line(row[4]),
                        severity=row[3],
                        code=row[5] or "",
                    )
                )
        elif line.strip():
            path = line.strip() if not line.startswith(" ") and "." in line else ""
    return found


def parse_node_test(text: str) -> list[Finding]:
    """Return the failed tests of vitest, jest and node's own runner: an error, and the first frame of the project.

    A suite that does not parse has an error and no frame: its own file is the place, or the line that node names first.
    """
    found: list[Finding] = []
    seen: set[tuple[str, int, str]] = set()
    message = test = suite = ""
    source: tuple[str, int] | None = None

    def close(path: str, line: int, column: int = 0) -> None:
        key = path, line, message
        if key not in seen:
            seen.add(key)
            shown = one_line(f"{test}: {message}" if test else message)
            found.append(Finding(path=path, line=line, column=column, message=shown))

    for line in _lines(text):
        head = _NODE_TEST.match(line)
        if head is not None:
            if suite and message:
                close(suite, 0)
            test, message = (head[2] or head[3] or "").strip(), ""
            suite = head[1] if head[1] and not head[2] else ""
            continue
        error = _NODE_ERROR.match(line)
        if error is not None:
            message = one_line(_without_lone_quote(error[1]))
            if _NODE_SYNTAX.match(message) and source is not None:
                close(*source)
                message = suite = ""
            source = None
            continue
        written = _NODE_SOURCE.match(line)
        if written is not None:
            source = written[1], int(written[2])
            continue
        detail = _NODE_DETAIL.match(line)
        if message and line.strip() and (detail is not None or message.endswith(":")):
            message = one_line(f"{message} {line.strip()}")
            continue
        frame = _NODE_FRAME.match(line)
        if frame is None or not message or any(part in line for part in _NODE_FOREIGN):
            continue
        close(frame[1], int(frame[2]), int(frame[3]))
        message = suite = ""
    if suite and message:
        close(suite, 0)
    return found


def _without_lone_quote(text: str) -> str:
    """Return a text without the quote at its end whose partner was before it."""
    plain = text.rstrip()
    return plain[:-1] if plain[-1:] in {"'", '"'} and plain.count(plain[-1]) % 2 else plain


def parse_tap(text: str) -> list[Finding]:
    """Return the failed tests of the Test Anything Protocol as node's own runner writes it, with a YAML block each."""
    found: list[Finding] = []
    name = ""
    message: list[str] = []
    in_error = False
    for line in _lines(text):
        fail = _TAP_FAIL.match(line)
        if fail is not None:
            name, message, in_error = fail[1], [], False
            continue
        if not name:
            continue
        error = _TAP_ERROR.match(line)
        if error is not None:
            message = [error[1] or error[2] or ""]
            in_error = line.endswith("|-")
            continue
        if in_error and re.match(r"\s+\w+: ", line):
            in_error = False
        elif in_error:
            message.append(line)
            continue
        frame = _TAP_FRAME.match(line)
        if frame is not None and not any(part in line for part in _NODE_FOREIGN):
            text_of = one_line(f"{name}: {' '.join(message)}")
            found.append(Finding(path=frame[1], line=int(frame[2]), column=int(frame[3]), message=text_of))
            name = ""
        elif line.strip() == "...":
            # A suite fails with its tests and has no frame of its own.
            name = ""
    return found


def parse_go_tests(text: str) -> list[Finding]:
    """Return the failed tests and panics of ``go test``."""
    found: list[Finding] = []
    test = panic = ""
    for line in _lines(text):
        fail = _GO_FAIL.match(line)
        if fail is not None:
            test = fail[1]
            continue
        started = _GO_PANIC.match(line)
        if started is not None:
            panic = started[1]
        frame = _GO_FRAME.match(line)
        if frame is not None and panic and "/src/runtime/" not in line and "/src/testing/" not in line:
            found.append(Finding(path=frame[1], line=int(frame[2]), message=one_line(f"panic: {panic}")))
            panic = ""
            continue
        location = _GO_LOCATION.match(line)
        if location is not None and test:
            found.append(Finding(path=location[1], line=int(location[2]), message=one_line(f"{test}: {location[3]}")))
        elif line and not line[0].isspace():
            test = ""
    return found


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield line[:MAX_LINE_CHARS].rstrip()
