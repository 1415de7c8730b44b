"""The places that an ASCII task names: the twin of the native kernel."""

from __future__ import annotations

from tipstaff.kernels.formats.task_text import places_in_text


def task_places(task: str) -> tuple[str, ...] | None:
    """Return the places that an ASCII task names; documented in ``src/_intents.pyx``."""
    return places_in_text(task) if task.isascii() else None
