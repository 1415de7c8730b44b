"""``python -m tipstaff.cli``."""

from __future__ import annotations

import sys

from tipstaff.cli import main

if __name__ == "__main__":
    sys.exit(main())
