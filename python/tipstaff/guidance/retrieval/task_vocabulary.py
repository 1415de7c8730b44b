"""What is known of the words of tasks: which mean the same, which say little, and what kind of work they ask for.

The words are in ``task_words.toml``, which `tools/write_query_lexicon.py` packs into ``query_lexicon.bin`` for the
kernels; `KINDS` and the second column of `FIELDS` are read at run time.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

_DATA: Final = tomllib.loads(Path(__file__).with_name("task_words.toml").read_text(encoding="utf-8"))

SAME: Final[dict[str, str]] = {one: " ".join(several.split()) for one, several in _DATA["same"].items()}
"""One word that is counted for several of the same meaning, in tasks and rules alike."""
FIELDS: Final[tuple[tuple[str, str], ...]] = tuple((one["asked"], one["about"]) for one in _DATA["fields"])
"""Fields of work: what a task says (matched by meaning), and the words in which rules are about it."""
TRANSLATIONS: Final[dict[str, str]] = _DATA["translations"]
"""The field's words in other languages, for rules and tasks alike; of scripts without spaces the first two characters
count."""
NEAR: Final = 0.7
"""Cosine from which a word of a task counts for a field."""
KINDS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(one["path"]), one["words"]) for one in _DATA["kinds"]
)
"""What the path of the file worked on says, in the words of rules."""
STOP: Final[str] = _DATA["stop"]
"""Words that are passed over, in tasks and rules alike."""
WEAK: Final[str] = _DATA["weak"]
"""Words of many tasks that say little about any."""
VERBS: Final[str] = _DATA["verbs"]
"""Further words that do not say what a task is about; `WEAK` belongs to them."""
ASKS: Final[str] = _DATA["asks"]
"""Words with which a question or a wish begins that no repository's rule is about."""
AFTER_HOW: Final[str] = _DATA["after_how"]

MODAL: Final = re.compile(
    r"\b(?:must|should|shall|never|always|do not|don['’]t|avoid|ensure|required?|only|prefer|cannot|may not|use)\b"
    r"|必须|禁止|不要|必ず|niemals|immer|nunca|siempre",
    re.IGNORECASE,
)
"""What a demand has and a description lacks."""
_MODAL_SIGNS: Final = tuple(
    "must|should|shall|never|always|avoid|ensure|require|only|prefer|cannot|use|niemals|immer|nunca|siempre|do not|"
    "don't|don’t|may not|必须|禁止|不要|必ず".split("|")
)


def has_modal(text: str) -> bool:
    """Whether `MODAL` occurs in a text; most texts without it are rejected by letters alone, five times as fast."""
    lowered = text.lower()
    return any(sign in lowered for sign in _MODAL_SIGNS) and MODAL.search(text) is not None


def kinds_of(file: str) -> str:
    """Return the words that the path of the current file stands for."""
    lowered = file.lower()
    return " ".join(words for pattern, words in KINDS if pattern.search(lowered))


PATH: Final = Path(__file__).with_name("query_lexicon.bin")
"""The words packed; ``tools/write_query_lexicon.py`` rewrites it when they change."""


@cache
def translations() -> dict[str, str]:
    """Return the words of other languages, as the kernels read them, and the English."""
    from tipstaff.kernels import query_words

    return {query_words(word)[0]: one for one, several in TRANSLATIONS.items() for word in several.split()}


@cache
def query_lexicon() -> bytes:
    """Return the lexicon in the package."""
    return PATH.read_bytes()
