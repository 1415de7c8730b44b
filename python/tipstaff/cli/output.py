"""How results reach standard output: one JSON document, or text for people."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import click

from tipstaff.errors import SourceNotFoundError
from tipstaff.model import Diagnostic, Severity

COLOURS: Final = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


class Painter:
    """Colours text where that is wanted.

    Parameters
    ----------
    when
        ``always``, ``never``, or ``auto``: on a terminal, unless ``NO_COLOR`` is set (https://no-color.org).
    """

    def __init__(self, when: str = "auto") -> None:
        self.on = when == "always" or (when == "auto" and not os.environ.get("NO_COLOR") and sys.stdout.isatty())

    def __call__(self, text: str, colour: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
        """Return the text, coloured or as it is."""
        return click.style(text, fg=colour, bold=bold or None, dim=dim or None) if self.on else text


def json_bytes(document: Any) -> bytes:
    """Return one JSON document, readable and in UTF-8."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    # A path that is not UTF-8 would otherwise end in an encoding error.
    return f"{text}\n".encode("utf-8", "backslashreplace")


def write_json(document: Any) -> None:
    """Print one JSON document, in UTF-8 whatever the terminal's encoding is."""
    data = json_bytes(document)
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(data.decode())
    else:
        stream.write(data)
        stream.flush()


def write(*lines: str, painter: Painter | None = None) -> None:
    """Print lines, nothing where there are none; what the terminal's encoding lacks is escaped, not an error."""
    if not lines:
        return
    encoding = sys.stdout.encoding or "utf-8"
    text = "\n".join(lines).encode(encoding, "backslashreplace").decode(encoding)
    click.echo(text, color=None if painter is None else painter.on)


def write_pages(lines: Sequence[str]) -> None:
    """Write lines to a terminal, no more at once than it shows: a person reads all of them, and nothing is cut."""
    try:
        rows = os.get_terminal_size(sys.stdout.fileno()).lines - 1
    except (OSError, ValueError):
        rows = 0
    width = max(shutil.get_terminal_size().columns, 1)
    left = rows
    for number, line in enumerate(lines):
        left -= -(-len(line) // width) or 1
        if rows > 0 and left < 1 and number:
            click.prompt(
                f"Enter shows {len(lines) - number:,} more lines", default="", show_default=False, prompt_suffix=""
            )
            left = rows
        write(line)


def check_outputs(*paths: Path | None) -> None:
    """Refuse files that cannot be written because of their folder, before what is to be written costs anything.

    Raises
    ------
    SourceNotFoundError
        The folder of one does not exist, or the path is a folder.
    """
    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise SourceNotFoundError(f"{path}: there is no folder {path.parent} to write it in; nothing was done")
        if path is not None and path.is_dir():
            raise SourceNotFoundError(f"{path}: it is a folder; name a file to write; nothing was done")


def plain(text: str) -> str:
    """Return text from a file without characters that would steer a terminal."""
    return "".join(char if char.isprintable() or char == "\t" else repr(char)[1:-1] for char in text)


def diagnostic_lines(diagnostics: Sequence[Diagnostic], paint: Painter) -> list[str]:
    """Return ``file:line: severity CODE message`` and the fix below it, for each finding."""
    lines: list[str] = []
    for found in diagnostics:
        location = f"{found.source}:{found.line}" if found.line else found.source
        colour = COLOURS[found.severity]
        severity = paint(found.severity.value, colour, bold=True)
        lines.append(
            f"{paint(plain(location), bold=True)}: {severity} {paint(found.code, colour)} {plain(found.message)}"
        )
        if found.fix:
            lines.append(f"    fix: {plain(found.fix)}")
    return lines


UNREAD: Final = frozenset({"TS101", "TS102", "TS111", "TS112"})
"""Findings that say that a rule file is missing from what was compiled."""


def report_unread(diagnostics: Iterable[Diagnostic], severity: str) -> bool:
    """Say on standard error which rule files could not be read, one line each; return whether there are any."""
    unread = [found for found in diagnostics if found.code in UNREAD]
    for found in unread:
        click.echo(f"tipstaff: {severity}: {plain(found.source)}: {plain(found.message)} {found.fix}", err=True)
    return bool(unread)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 rule``, ``2 rules``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
