"""What candidates say: how alike two texts are, in any script, and which texts are kept out of prompts."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import lru_cache
from importlib import resources
from typing import Final, NamedTuple

_ASCII_WORDS: Final = re.compile(r"[a-z0-9_]+")
_WORD: Final = re.compile(r"[A-Za-z0-9_\x80-\U0010ffff]")
_UNSPACED: Final = (
    "\u0e01-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u3005-\u3007\u3031-\u3035\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # iteration marks, kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs
)
_PARTS: Final = re.compile(rf"([{_UNSPACED}]+)|[^{_UNSPACED} ]+")
_JOINERS: Final = frozenset((0x200C, 0x200D))


class _Letters(dict[int, int]):
    """Code point to itself where it is part of a word, else to a space; learns each when it first meets it."""

    def __missing__(self, code: int) -> int:
        # Letters, numbers, marks (vowel signs are part of words in many scripts) and connecting punctuation.
        category = unicodedata.category(chr(code))
        kept = category[0] in "LNM" or category == "Pc" or code in _JOINERS
        # Texts of foreign origin may hold any code point; the table does not grow beyond what they use.
        self[code] = value = code if kept else 32
        return value


_LETTERS: Final = _Letters()


def spaced_words(text: str) -> str:
    """Return a text whose words, in lower case, are set apart by something that is not part of a word.

    A word is a run of letters, digits, marks and underscores. Scripts that put no spaces between words (Chinese,
    Japanese, Thai, Lao, Khmer, Burmese) have no words that can be found without a dictionary: of a run of those,
    each pair of neighbouring characters counts as a word, as is usual in retrieval. ASCII text is returned as it is.
    """
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFC", text).lower().translate(_LETTERS)
    found: list[str] = []
    for match in _PARTS.finditer(folded):
        part = match[0]
        if match[1] and len(part) > 1:
            found += [part[i : i + 2] for i in range(len(part) - 1)]
        else:
            found.append(part)
    # A lone surrogate has category Cs and is gone by now.
    return " ".join(found)


def has_words(spaced: str) -> bool:
    """Return whether a text that `spaced_words` returned has any word."""
    return _WORD.search(spaced) is not None


def words(text: str) -> frozenset[str]:
    """Return the set of a text's words, in lower case."""
    if text.isascii():
        return frozenset(_ASCII_WORDS.findall(text.lower()))
    return frozenset(spaced_words(text).split())


def jaccard(left: str | None, right: str | None) -> float:
    """Return the Jaccard similarity of two texts' word sets.

    Parameters
    ----------
    left, right
        Texts in any script; case, punctuation, order and repetition make no difference. See `spaced_words`.

    Returns
    -------
    float
        Shared words over all words, 0 to 1. An empty or blank text is like nothing (0); of two texts that are neither
        and hold no word (``!!!`` and ``???``), no word differs (1).
    """
    if not left or not right or left.isspace() or right.isspace():
        return 0.0
    first, second = words(left), words(right)
    if not first and not second:
        return 1.0
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared)


_HIDDEN: Final = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
_JOINED: Final = re.compile("[A-Za-z][\u200b-\u200f\u2060-\u2064\ufeff\u00ad][A-Za-z]")
_LOOK_ALIKES: Final = str.maketrans("аеорсухіјѕԁԛԝαορνιτкмн", "aeopcyxijsdqwaopvitkmh")

_TEMPLATE: Final = re.compile(
    r"<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|developer)(?:[ _-](?:prompt|message|"
    r"instructions?))?\s*/?>"
    r"|^\s*#{1,4}\s*(?:system|assistant|developer)\s*(?:prompt|message)?\s*:?\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_SPEAKER: Final = re.compile(
    r"(?:\n|\A)[ \t]*\**(?:system|assistant|developer|human|user)\**[ \t]{0,4}:", re.IGNORECASE
)
_TO_THE_MODEL: Final = re.compile(r"\b(?:you|your|ignore|obey|comply|reveal|disregard)\b", re.IGNORECASE)


class _Patterns(NamedTuple):
    orders: tuple[re.Pattern[str], ...]
    against: re.Pattern[str]


@lru_cache(maxsize=1)
def _patterns() -> _Patterns:
    data = tomllib.loads(resources.files("tipstaff.context.candidates").joinpath("refusal.toml").read_text("utf-8"))
    orders = tuple(re.compile(one, re.IGNORECASE) for one in data["orders"])
    return _Patterns(orders, re.compile(data["against"], re.IGNORECASE))


def normalised(text: str) -> str:
    """Return a text as a model reads it: compatibility forms folded, invisible characters gone."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=16_384)
def refusal(text: str) -> str:
    """Return why a note is not shown to a model; empty where it may be.

    Reasons are ``hidden text``, ``plays another speaker``, ``drops instructions or runs fetched code``.
    """
    if _HIDDEN.search(text) is not None or _JOINED.search(text) is not None:
        return "hidden text"
    plain = normalised(text)
    if _TEMPLATE.search(plain) is not None:
        return "plays another speaker"
    speakers = _SPEAKER.findall(plain)
    if len(speakers) > 1 or (speakers and _TO_THE_MODEL.search(plain) is not None and "system" in speakers[0].lower()):
        return "plays another speaker"
    line = " ".join(plain.split())
    for candidate in dict.fromkeys((line, line.lower().translate(_LOOK_ALIKES))):
        if any(pattern.search(candidate) is not None for pattern in _patterns().orders):
            return "drops instructions or runs fetched code"
    return ""


def is_against(text: str) -> bool:
    """Return whether a note says what not to do: its opposite, in nearly the same words, is no evidence for it.

    Two denials undo each other, as in "never skip without asking"; the first one counts.
    """
    return _patterns().against.search(normalised(text)) is not None
