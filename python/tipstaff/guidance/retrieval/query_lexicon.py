"""The lexicon of tasks: `task_vocabulary` packed for the kernels.

It is compiled in the package; ``tools/write_query_lexicon.py`` rewrites it when the words change.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

PATH: Final = Path(__file__).with_name("query_lexicon.bin")


@cache
def translations() -> dict[str, str]:
    """Return the words of other languages, as the kernels read them, and the English."""
    from tipstaff.guidance.retrieval.task_vocabulary import TRANSLATIONS
    from tipstaff.kernels import query_words

    return {query_words(word)[0]: one for one, several in TRANSLATIONS.items() for word in several.split()}


@cache
def query_lexicon() -> bytes:
    """Return the lexicon in the package."""
    return PATH.read_bytes()
