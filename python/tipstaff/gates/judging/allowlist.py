"""Which tools may be called: globs over their names."""

from __future__ import annotations

from collections.abc import Iterable


def is_allowed(tool: str, globs: Iterable[str]) -> bool:
    """Return whether a glob covers a tool's name.

    Parameters
    ----------
    tool
        As the host calls it: ``Bash``, ``mcp__github__create_issue``. A tool without a name is covered by ``*`` alone.
    globs
        ``*`` stands for any letters wherever it is, ``?`` for one; letter case counts.
    """
    from tipstaff.kernels import _gates

    name = tool.encode("utf-8", "surrogatepass")
    return any(_gates.glob_allows(glob.encode("utf-8", "surrogatepass"), name) for glob in globs)
