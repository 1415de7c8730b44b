"""The words of a task in any script, as the reading of intents takes them."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import cache
from pathlib import Path
from typing import Final

from tipstaff.kernels.formats.task_text import plain_words

_WORDS: Final = re.compile(r"[^\W_]+|[,:]").findall
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")
_MARKS: Final = ",;!?\n\r。、"


def words_beyond_ascii(task: str) -> list[str]:
    """Return the words of a task beyond ASCII in lower case without accents, ``,`` for every mark that ends a clause.

    Known words of scripts without blanks are set apart.
    """
    task = plain_letters(_HUMP.sub(" ", task.strip()).replace(". ", ", ").replace("’", "'").lower())
    if task.isascii():
        return plain_words(task)
    text = _stem_pattern().sub(_spaced, task)
    for mark in _MARKS:
        text = text.replace(mark, ",")
    return _WORDS(text)


def plain_letters(text: str) -> str:
    """Return the text without accents and in compatibility form; Hangul and kana stay whole."""
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


@cache
def word_tables() -> dict[str, str]:
    """Return the tables of ``words.toml`` by name."""
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def rows_of(table: str) -> list[tuple[str, str]]:
    """Return the (word, English word) pairs of a table of translations."""
    return [(word, english) for english, *words in map(str.split, table.strip().splitlines()) for word in words]


def stem_rows() -> list[tuple[str, str]]:
    """Return the (stem, English word) pairs of scripts without blanks or with many endings; those end with ``-``."""
    return rows_of(word_tables()["stems"])


@cache
def _stem_pattern() -> re.Pattern[str]:
    stems = sorted((plain_letters(stem) for stem, _ in stem_rows()), key=len, reverse=True)
    inside = "|".join(stem for stem in stems if not stem.endswith("-"))
    opening = "|".join(stem[:-1] for stem in stems if stem.endswith("-"))
    return re.compile(rf"({inside})|\b({opening})\w*")


def _spaced(match: re.Match[str]) -> str:
    return f" {match[1] or match[2]} "
