"""How many processors there are to work on."""

from __future__ import annotations

import os


def usable_processors() -> int:
    """Return how many processors this process may use; macOS has no affinities, so there all of them count."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
