"""The paths that an ASCII task names: the twin of the native kernel."""

from __future__ import annotations

from tipstaff.kernels.formats.task_text import paths_in_text


def task_paths(task: str) -> tuple[str, ...] | None:
    """Return the paths that an ASCII task names; documented in ``src/_intents.pyx``."""
    return paths_in_text(task) if task.isascii() else None
