"""tipstaff: native guidance control plane for coding agents.

Importing the package is cheap on purpose: every public name is loaded when it is first asked for, so that a command
line that prints a version pays for nothing else.
"""

from __future__ import annotations

import sys

# `python -m tipstaff.cli` puts the present folder before the library: a repository's json.py would be imported for it.
if (
    sys.argv[:1] == ["-m"]
    and not sys.flags.safe_path
    and any(word.removeprefix("-m").startswith("tipstaff") for word in sys.orig_argv[1:])
):
    del sys.path[0]

from tipstaff.lazy import attach

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
