"""Texts split into lower-case words, fast.

Every rule is split several times over, so the common case, ASCII text, goes through a byte table and `str.split`
(1 µs for 100 characters); regular expressions, ten times slower, serve other scripts and version numbers. Both ways
give the same words, which a test holds.
"""

from __future__ import annotations

import re
from typing import Final

_WORD: Final = re.compile(r"\d+(?:\.\d+)+|[^\W_]+(?:'[^\W_]+)*")
_TOKEN: Final = re.compile(
    r"\d+(?:\.\d+)+|[^\W_]+(?:'[^\W_]+)*|,(?=[\s*`]|$)|[;:.!?](?=[\s*`]|$)|[。；：，！？]|[–—]|(?<=\s)--?(?=\s)"
)
_VERSION: Final = re.compile(r"\d\.\d")

COMMA: Final = "\x01"
STOP: Final = "\x02"
"""What `tokens` gives for a comma, and for any other mark that ends a clause."""


def _table(kept: bytes) -> bytes:
    """Lower-case letters and digits as they are, capitals lowered, what is kept as it is, all else a space."""
    return bytes(
        byte if byte in kept or (byte < 128 and chr(byte).isalnum()) else 32 for byte in bytes(range(256)).lower()
    )


_WORDS_TABLE: Final = _table(b"'")
_TOKENS_TABLE: Final = _table(b"'\x01\x02")
_STOP_MARKS: Final = tuple((f"{mark} ", f" {STOP} ") for mark in ";:.!?")


def words(text: str) -> list[str]:
    """Return the words of a text in lower case.

    A word is a run of letters and digits of any script, with apostrophes inside it ("don't"); a version number such as
    ``1.3`` is one word. A typographic apostrophe counts as a plain one.
    """
    if text.isascii() and not ("." in text and _VERSION.search(text)):
        found = text.encode().translate(_WORDS_TABLE).decode().split()
        return found if "'" not in text else _without_quotes(found)
    return _WORD.findall(text.lower().replace("’", "'"))


def tokens(text: str) -> list[str]:
    """Return the words of a text as `words` does, with `COMMA` and `STOP` where its clauses end.

    A mark counts where white space or the end of the text follows it: neither ``12:30`` nor ``a.b`` is two clauses. An
    emphasis mark may stand between.
    """
    if text.isascii() and not ("." in text and _VERSION.search(text)):
        if "*" in text or "`" in text or "\n" in text:
            text = text.replace("*", "").replace("`", "").replace("\n", " ")
        text += " "
        if ", " in text:
            text = text.replace(", ", f" {COMMA} ")
        for mark, stop in _STOP_MARKS:
            if mark in text:
                text = text.replace(mark, stop)
        if "- " in text:
            text = text.replace(" -- ", f" {STOP} ").replace(" - ", f" {STOP} ")
        found = text.encode().translate(_TOKENS_TABLE).decode().split()
        return found if "'" not in text else _without_quotes(found)
    return [
        word if word[0].isalnum() else COMMA if word == "," else STOP
        for word in _TOKEN.findall(text.lower().replace("’", "'").replace("*", "").replace("`", ""))
    ]


def _without_quotes(found: list[str]) -> list[str]:
    return [plain for word in found if (plain := word.strip("'"))]
