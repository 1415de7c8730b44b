"""What runs right now, redrawn in place on a terminal: a line for each check, with its time and its latest output."""

from __future__ import annotations

import shutil
import sys
import time

from tipstaff.cli.output import Painter, plain
from tipstaff.review.checks.model import Check
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
        rows = data.decode("utf-8", "replace").strip().splitlines()
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
            head = f"{name} {time.monotonic() - began:5.1f} s "
            lines.append(head + self._paint(plain(latest)[: max(0, width - len(head))], dim=True))
        up = f"\x1b[{self._drawn}A" if self._drawn else ""
        sys.stdout.write(up + "\x1b[J" + "".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
        self._drawn = len(lines)
