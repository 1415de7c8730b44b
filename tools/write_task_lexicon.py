"""Write the words of the intent classifier as the kernels and the hook program read them.

python tools/write_task_lexicon.py
"""

from __future__ import annotations

from tipstaff.guidance.intent_lexicon import task_lexicon
from tipstaff.guidance.intents import LEXICON


def main() -> None:
    """Write the file."""
    data = task_lexicon()
    LEXICON.write_bytes(data)
    print(f"{LEXICON}: {len(data)} bytes")


if __name__ == "__main__":
    main()
