"""What runs right now, redrawn in place on a terminal: a line for each check, with its time and its latest output."""

from __future__ import annotations

import shutil
import sys
import time
import unicodedata

from tipstaff.cli.output import Painter, plain
from tipstaff.review.checks.model import Check
from tipstaff.review.findings.parsing import without_escapes
from tipstaff.review.running.schedule import Ended, Watcher

_REDRAW_S = 0.1


class LiveView(Watcher):
    """Shows checks that run; nothing is left of it when they have ended."""

    def __init__(self, paint: Painter) -> None:
        self._paint = paint
        self._running: dict[str, tuple[float, str]] = {}
        self._drawn = 0
        self._last = 0.0

    def started(self, check: Check) -> None:
        """Add a line."""
        self._running[check.name] = time.monotonic(), ""
        self._draw()

    def printed(self, check: Check, data: bytes) -> None:
        """Take in the latest line of the output."""
        rows = without_escapes(data.decode("utf-8", "replace")).strip().splitlines()
        if rows and check.name in self._running:
            self._running[check.name] = self._running[check.name][0], rows[-1]

    def ended(self, check: Check, ended: Ended) -> None:
        """Take the line away."""
        del ended
        self._running.pop(check.name, None)
        self._draw()

    def tick(self) -> None:
        """Redraw, not too often."""
        if time.monotonic() - self._last >= _REDRAW_S:
            self._draw()

    def _draw(self) -> None:
        self._last = time.monotonic()
        width = shutil.get_terminal_size().columns - 1
        lines: list[str] = []
        for name, (began, latest) in self._running.items():
            head = within(f"{name} {time.monotonic() - began:5.1f} s ", width)
            lines.append(head + self._paint(within(latest, width - columns(head)), dim=True))
        up = f"\x1b[{self._drawn}A" if self._drawn else ""
        sys.stdout.write(up + "\x1b[J" + "".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
        self._drawn = len(lines)


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(_columns(char) for char in text)


def within(text: str, width: int) -> str:
    """Return as much of a text as a line of a terminal shows, without tabs and control characters."""
    shown: list[str] = []
    for char in plain(" ".join(text.split("\t"))):
        width -= _columns(char)
        if width < 0:
            break
        shown.append(char)
    return "".join(shown)


def _columns(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
