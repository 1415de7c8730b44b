"""Which parser reads which output, and whose file a tool's path is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from tipstaff.review.findings import block_parsers as blocks
from tipstaff.review.findings.line_parsers import LINE_PATTERNS, parse_lines
from tipstaff.review.findings.model import MAX_FINDINGS, Finding

Parser = Callable[[str], list[Finding]]

MAX_OUTPUT_CHARS: Final = 4_000_000

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]{0,32}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\))")


def without_escapes(text: str) -> str:
    """Return an output without colours and other sequences for terminals."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def _table(name: str) -> Parser:
    return lambda text: parse_lines(text, name)


PARSERS: Final[dict[str, tuple[Parser, ...]]] = {
    **{name: (_table(name),) for name in LINE_PATTERNS},
    "go": (_table("lines"), blocks.parse_go_tests),
    "cargo": (blocks.parse_cargo,),
    "rustc": (blocks.parse_cargo,),
    "clippy": (blocks.parse_cargo,),
    "python": (blocks.parse_python,),
    "pytest": (blocks.parse_pytest,),
    "eslint": (blocks.parse_eslint, _table("lines"), _table("tsc")),
    "node-test": (blocks.parse_node_test, blocks.parse_tap, _table("tsc")),
    "gofmt": (_table("lines"), _table("paths")),
    "gradle": (_table("gradle"), _table("lines")),
    "mypy": (blocks.parse_mypy,),
    "ruff": (_table("lines"), blocks.parse_ruff),
    "ruff-format": (_table("ruff-format"), blocks.parse_ruff),
    "gcc": (_table("lines"),),
    "javac": (_table("lines"),),
    "tsc": (_table("tsc"),),
}
"""The parsers of each format, all of which read the whole output."""

_ANY: Final[tuple[tuple[Parser, ...], ...]] = (
    (blocks.parse_cargo,),
    (blocks.parse_ruff,),
    (blocks.parse_eslint,),
    (blocks.parse_pytest,),
    (blocks.parse_node_test, blocks.parse_tap),
    (*map(_table, ("github", "tsc", "msbuild", "maven", "lines")), blocks.parse_go_tests),
    (blocks.parse_python,),
)
"""Formats that are recognised, those of several lines first; those of one line to a finding stand together."""


def parse_output(text: str, parser: str = "") -> list[Finding]:
    """Return the findings in a tool's output.

    Parameters
    ----------
    text
        What the tool printed; colours are removed.
    parser
        One of `PARSERS`; where it is empty or not one of them, the first format that yields findings is taken, the
        formats of one line to a finding together.
    """
    plain = without_escapes(text[-MAX_OUTPUT_CHARS:])
    for parsers in (PARSERS[parser],) if parser in PARSERS else _ANY:
        found = [finding for parse in parsers for finding in parse(plain)]
        if found:
            return _unique(found)
    return []


def _unique(found: list[Finding]) -> list[Finding]:
    seen = {(one.path, one.line, one.message): one for one in reversed(found)}
    return list(reversed(seen.values()))[:MAX_FINDINGS]


def located(findings: list[Finding], root: Path, working_dir: str, files: Collection[str] = ()) -> list[Finding]:
    """Return findings whose paths are relative to the repository.

    A path that is not there from the working folder is looked for among the repository's files: the only one that ends
    with it is meant (``go test`` prints names without folders, Maven the names of classes).

    Parameters
    ----------
    findings
        With paths as tools print them: absolute, or relative to where they ran.
    root
        The repository's folder.
    working_dir
        The check's folder, relative to the root.
    files
        Paths of the repository's files.
    """
    base = root.resolve()
    known = set(files)
    endings: dict[str, list[str]] = {}
    for path in files if findings else ():
        endings.setdefault(path.rpartition("/")[2], []).append(path)
    result: list[Finding] = []
    cache: dict[str, str] = {}
    for finding in findings:
        if finding.path not in cache:
            cache[finding.path] = _where(finding.path, base, working_dir, known, endings)
        result.append(finding.replace(path=cache[finding.path]))
    return result


def _where(path: str, base: Path, working_dir: str, known: set[str], endings: dict[str, list[str]]) -> str:
    if not path:
        return ""
    plain = os.path.normpath(path.replace("\\", "/"))
    relative = (
        os.path.relpath(plain, base) if plain.startswith("/") else os.path.normpath(f"{working_dir or '.'}/{plain}")
    )
    if relative.startswith("../") or relative == "..":
        return plain
    if relative in known or (base / relative).exists():
        return relative
    if plain in known:
        return plain
    alike = [one for one in endings.get(plain.rpartition("/")[2], ()) if f"/{one}".endswith(f"/{plain}")]
    return alike[0] if len(alike) == 1 else relative
