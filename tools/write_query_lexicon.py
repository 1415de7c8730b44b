"""Write the lexicon of tasks, where `tipstaff.guidance.retrieval.task_vocabulary` changed.

python tools/write_query_lexicon.py
"""

from __future__ import annotations

import sys

from tipstaff.guidance.retrieval.query_lexicon import PATH, made_query_lexicon


def main() -> int:
    """Write the file, and say how large it is."""
    data = made_query_lexicon()
    PATH.write_bytes(data)
    sys.stdout.write(f"{PATH}: {len(data):,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
