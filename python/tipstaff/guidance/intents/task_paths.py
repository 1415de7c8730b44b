"""The files, folders and modules that a task names."""

from __future__ import annotations

from tipstaff.kernels import task_paths


def paths_in(task: str) -> tuple[str, ...]:
    """Return the paths that a task names, as far as a scope can be compared with them.

    Paths (``web/login.ts``, ``./api/``, ``src/app.py:12``), file names with an ending, and dotted or ``::`` names of
    modules and symbols (``billing.ledger.post`` is ``billing/ledger/post``). Web addresses, versions, numbers and
    words of prose that hold a slash between two plain words (``and/or``) are not paths. Time is linear in the task.

    Returns
    -------
    tuple of str
        At most 8, relative to the repository, in the task's order.
    """
    paths = task_paths(task)
    if paths is None:
        from tipstaff.kernels.formats.task_text import paths_in_text

        return paths_in_text(task)
    return paths
