"""Exit codes; scripts rely on them, so they do not change."""

from __future__ import annotations

from typing import Final

OK: Final = 0
FINDINGS: Final = 1
"""``lint`` found an error or a warning; ``compile --check`` found a store that is missing or out of date,
``sync --check`` a file that is not as its source says."""

USAGE: Final = 2
"""The command line or an option's value is wrong."""

UNREADABLE: Final = 3
"""A file, a folder or a rule that was named does not exist or cannot be read; ``compile`` left out such a rule file;
``check`` found nothing to check."""

STORE: Final = 4
"""The store cannot be written, or is not usable and cannot be built again."""

INTERNAL: Final = 70
"""A defect of tipstaff itself; ``TIPSTAFF_TRACEBACK=1`` shows where."""

INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
"""Whoever read the output stopped reading."""
