"""The command line: ``tipstaff compile``, ``lint``, ``retrieve``, ``explain``.

Every command takes ``--json`` and prints exactly one JSON document then. Exit codes are in :mod:`tipstaff.cli.exits`.
Nothing is imported before it is needed: a version costs no more than an interpreter's start.
"""

from __future__ import annotations

import sys


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv
        Arguments without the program's name; those of the process if None.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if arguments == ["--version"]:
        from tipstaff import __version__

        sys.stdout.write(f"tipstaff {__version__}\n")
        return 0
    from tipstaff.cli.app import run

    return run(arguments)
