"""Texts split into lower-case words, fast.

Rules are split several times over, so the common case, ASCII text, goes through a byte table and `str.split` (1 µs for
100 characters); regular expressions, ten times slower, serve other scripts and version numbers. Both ways give the same
words, which a test holds. The kernels do better, and take ASCII: `plain_words` and `plain_clauses` are what they are
given.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.kernels.formats.clauses import COMMA, STOP

_WORD: Final = re.compile(r"\d+(?:\.\d+)+|[^\W_]+(?:'[^\W_]+)*")
_TOKEN: Final = re.compile(
    r"\d+(?:\.\d+)+|[^\W_]+(?:'[^\W_]+)*|,(?=\s|$)|[;:.!?](?=,?(?:\s|$))|[。；：，！？]|[–—]|(?<=\s)--?(?=\s)"
)
_VERSION: Final = re.compile(r"\.(?<=\d\.)(?=\d)")
# Lower-case ASCII letters and digits as they are, capitals lowered, apostrophes kept, all else a space.
_TABLE: Final = bytes(
    byte if byte == 39 or (byte < 128 and chr(byte).isalnum()) else 32 for byte in bytes(range(256)).lower()
)
# Typographic marks beyond ASCII: without them, most rules of English files are ASCII.
_TYPOGRAPHY: Final = {ord("’"): "'", **dict.fromkeys(map(ord, "‘“”„…→←↔•·≤≥×✅❌✓✗\ufe0f"), '"')}
_FOR_WORDS: Final = _TYPOGRAPHY | dict.fromkeys(map(ord, "–—"), '"')
# The quotation marks keep the marks and the hyphen beside a dash from seeing a space.
_FOR_CLAUSES: Final = _TYPOGRAPHY | dict.fromkeys(map(ord, "–—"), '"; "')
_MARKS: Final = {COMMA: ",", STOP: ";"}


def words(text: str) -> list[str]:
    """Return the words of a text in lower case.

    A word is a run of letters and digits of any script, with apostrophes inside it ("don't"); a version number such as
    ``1.3`` is one word. A typographic apostrophe counts as a plain one.
    """
    if text.isascii() and not ("." in text and _VERSION.search(text)) and "''" not in text:
        found = text.encode().translate(_TABLE).decode().split()
        return found if "'" not in text else [plain for word in found if (plain := word.strip("'"))]
    return _WORD.findall(text.lower().replace("’", "'"))


def tokens(text: str) -> list[str]:
    """Return the words of a text as `words` does, with `COMMA` and `STOP` where its clauses end.

    A mark counts where white space or the end of the text follows it: neither ``12:30`` nor ``a.b`` is two clauses. An
    emphasis mark may be between.
    """
    return [
        word if word[0].isalnum() else COMMA if word == "," else STOP
        for word in _TOKEN.findall(text.lower().replace("’", "'").replace("*", "").replace("`", ""))
    ]


def plain_words(text: str) -> str:
    """Return a text with the same words that the kernels can read: ASCII, or set apart and lowered."""
    if text.isascii():
        return text
    plain = text.translate(_FOR_WORDS)
    return plain if plain.isascii() else " ".join(words(text))


def plain_clauses(text: str) -> str:
    """Return a text with the same words and clauses that the kernels can read."""
    if text.isascii():
        return text
    plain = text.translate(_FOR_CLAUSES)
    return plain if plain.isascii() else " ".join([_MARKS.get(token, token) for token in tokens(text)])
