"""Write the words of the intent classifier as the kernels and the hook program read them.

python tools/write_task_lexicon.py
"""

from __future__ import annotations

from tipstaff.guidance.intents.classify import LEXICON
from tipstaff.guidance.intents.lexicon import task_lexicon


def main() -> None:
    """Write the file."""
    data = task_lexicon()
    LEXICON.write_bytes(data)
    print(f"{LEXICON}: {len(data)} bytes")


if __name__ == "__main__":
    main()
