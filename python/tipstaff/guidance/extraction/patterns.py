"""What the pieces of a rule file look like: labels, references, quotations, lines that are headings by mistake.

Plain functions over texts; what follows from them is decided in `tipstaff.guidance.extraction.extraction`.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.guidance.extraction.grammar import count_words, has_modal
from tipstaff.guidance.wording.word_forms import expressions, lists

_EXPRESSIONS: Final = expressions("patterns")
_LISTS: Final = lists("patterns")

MAX_CONTEXT_CHARS: Final = 160
MAX_LABEL_CHARS: Final = 240
QUOTE_MARK: Final = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
QUOTE_LABEL: Final = re.compile(_EXPRESSIONS["quote_label"], re.IGNORECASE)
ALERT: Final = re.compile(r"\[!(?:note|tip|important|warning|caution|danger)\][ \t]*\n?", re.IGNORECASE)
_BAD_HEADING: Final = re.compile(r"(?:\A|(?<=\n)) {0,3}(?:#{7,}[ \t]+|#{1,6}(?=[A-Za-z]))[^\n]*")
_TAG_LINE: Final = re.compile(r"\s*(?:#[a-z-]+[\s,;.]*)+\Z")
NO_WORDS: Final = re.compile(r"`[^`]*`|!?\[[^\]]{0,300}\]\([^)]{0,500}\)|<?https?://\S+|(?<!\S)@[~\w./-]+|[\W_\d]+")
LIST_MARKER: Final = re.compile(r"([ \t>]*)([-*+]|\d{1,9}[.)])[ \t]")
"""Indentation and marker of a list item."""
STEP: Final = re.compile(_EXPRESSIONS["step"], re.IGNORECASE)
"""How a heading begins that is one of a sequence."""
CASE: Final = re.compile(_EXPRESSIONS["case"], re.IGNORECASE)
"""How a sentence begins that says where or for what something holds."""
IMPORT_LINE: Final = re.compile(_EXPRESSIONS["import_line"], re.MULTILINE | re.ASCII)
HEADING_MARK: Final = re.compile(r" {0,3}(#{1,6})[ \t]")
MAX_GAP_BYTES: Final = 1_024
"""How far what follows some words is looked for."""


UNFINISHED: Final = re.compile(_EXPRESSIONS["unfinished"], re.IGNORECASE)
"""How a heading ends that is no rule without what is below it ("Never commit without")."""


def take_id(text: str) -> tuple[str | None, str]:
    """Take an explicit id from the first line of a text, which may hold nothing else."""
    if not may_begin_with_id(text):
        return None, text
    first, newline, rest = text.partition("\n")
    rule_id, words = split_id(first.rstrip())
    return (rule_id, f"{words}{newline}{rest}") if rule_id is not None else (None, text)


def bad_headings(text: str) -> list[tuple[int, int]]:
    """Return the lines that look like headings and are none; a line of tags below other words is no heading."""
    first = len(text) - len(text.lstrip())
    return [
        match.span()
        for match in _BAD_HEADING.finditer(text)
        if match.start() <= first or not _TAG_LINE.match(match[0].lower())
    ]


def ends_open_with_colon(words: str) -> bool:
    """Whether an item ends with a colon, perhaps inside emphasis; ``scope:**`` is no emphasis."""
    if words[-1] not in ":：*_ \t\n":
        return False
    bare = words.rstrip("*_ \t\n")
    if not bare.endswith((":", "：")):
        return False
    marks = words[len(bare) :].strip()
    return not marks or words.count(marks) % 2 == 0


_BOLD_LINE: Final = re.compile(r"\s*(?:\d+[.)]\s*)?(\*\*|__)(?P<words>[^\n]{1,200}?)\1\s*(?P<end>[:：]?)\s*\Z")


RUN_IN: Final = re.compile(r"(\*\*|__)(?P<words>[^*\n]{2,100}?)\1")


NAMED: Final = re.compile(r"(\*\*|__)(?P<words>[^*\n]{2,100}?[^*\n.!?:。！？：])\1(?=[ \t]*(?:\n|[-–—:：(]))")
"""A paragraph's bold beginning that names something, and what describes it."""
NEW_LABEL: Final = re.compile(r"(?:\*\*)?[^\W\d_a-z][^\n.:;,]{2,60}:(?:\*\*)?")
"""A line that names what is below it."""
ANNOUNCES: Final = re.compile(_EXPRESSIONS["announces"], re.IGNORECASE)
"""What a sentence without a colon says that a list continues."""
SEPARATOR: Final = re.compile(r"={3,}[ \t]*(?P<words>[^=\n]+?)[ \t]*={3,}")
"""A line between signs of equality, which stands for a heading."""


_TELLS: Final = re.compile(_EXPRESSIONS["tells"], re.IGNORECASE)


def tells_what_happens(words: str) -> bool:
    """Whether a sentence that begins with a case only says what happens then ("After a start, the page is open.")."""
    return _TELLS.fullmatch(words) is not None


def is_bold_line(text: str) -> bool:
    """Whether a paragraph is one bold line that stands for a heading, and not a bold sentence."""
    match = _BOLD_LINE.match(text)
    if match is None or "**" in match["words"]:
        return False
    words = match["words"].rstrip()
    return bool(match["end"]) or not words.endswith((".", "!", "。", "！"))


def is_title(words: str) -> bool:
    """Whether all longer words of a text begin with a capital, as a title's do."""
    return not any(word[0].islower() for word in _LONGER_WORD.findall(words))


_LONGER_WORD: Final = re.compile(r"\b[^\W\d_]{5,}|`[a-z]")


def is_label(words: str) -> bool:
    """Whether an item with children only names what they are about."""
    if has_modal(words):
        return False
    plain = words.strip()
    if plain.startswith(("**", "__")) and plain.endswith(("**", "__")):
        return True
    return count_words(plain) <= 3 and not plain.endswith((".", "!"))


_ENCLOSED: Final = re.compile(r"(\*{1,3}|_{1,3})(.+?)[:：]?\1[:：]?")
_CODE_SPAN: Final = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_FULL_STOP: Final = re.compile(r"(?<!\.)(?<!\betc)(?<!\bal)[.。]$")


def closed_emphasis(words: str) -> str:
    """Return a sentence without the half of a pair of ``**`` that encloses several sentences."""
    if "**" not in words or _CODE_SPAN.sub("", words).count("**") % 2 == 0:
        return words
    if words.startswith("**") and words[2:3] != "/":
        return words[2:]
    return words[:-2] if words.endswith("**") and words[-3:-2] != "/" else words


def shortened(words: str) -> str:
    """Return a context's words without emphasis marks and its closing colon, cut at a word."""
    text = " ".join(words.split())
    if (enclosed := _ENCLOSED.fullmatch(text)) is not None and enclosed[1] not in enclosed[2]:
        text = enclosed[2]
    text = text.rstrip("*_ ").rstrip(":：").rstrip("*_ ")
    bare = _CODE_SPAN.sub(lambda match: " " * len(match[0]), text)
    if bare.count("**") % 2:
        at = bare.find("**")
        text = text[:at] + text[at + 2 :]
    elif bare.startswith("__") and bare.count("__") % 2:
        text = text[2:]
    if _FULL_STOP.search(text):
        text = text[:-1]
    if len(text) > MAX_LABEL_CHARS:
        text = text[:MAX_LABEL_CHARS].rsplit(" ", 1)[0] + " …"
    return text


# Standards, algorithms and things that are written like ids: AES-256 is no rule id.
_NOT_IDS: Final = frozenset(_LISTS["not_ids"].split())
_CITED: Final = frozenset("bcp cve cwe ieee iso iso-iec itu nist owasp pep rfc".split())
_BRACKET_ID: Final = re.compile(_EXPRESSIONS["bracket_id"])
_BARE_ID: Final = re.compile(_EXPRESSIONS["bare_id"])
_SECOND_OF_ID: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
_FAMILY_END: Final = re.compile(r"[-_.\d]")
_LEADING_ZERO: Final = re.compile(r"\D0\d*$")


def may_begin_with_id(text: str) -> bool:
    """Whether the first two characters are such that an explicit id may follow; most rules are done here."""
    first = text[:1]
    return text[1:2] in _SECOND_OF_ID if first.isalpha() else first in "[*_`"


def split_id(text: str) -> tuple[str | None, str]:
    """Take an explicit rule id from the head of a text.

    Returns
    -------
    tuple
        The id as written, or None; and the text after it.
    """
    if not may_begin_with_id(text):
        return None, text
    match = _BRACKET_ID.match(text)
    bracketed = match is not None
    if match is None:
        match = _BARE_ID.match(text)
        if match is None:
            return None, text
    rule_id = match["id"]
    family = _FAMILY_END.split(rule_id, 1)[0].lower()
    # Brackets are meant; "API-001:" is an id as its number is one, "AES-256" is a cipher.
    if family in (_CITED if bracketed else _NOT_IDS) and not _LEADING_ZERO.search(rule_id):
        return None, text
    return rule_id, text[match.end() :]


def looks_like_id(text: str) -> bool:
    """Whether a line begins with an explicit rule id."""
    return split_id(text)[0] is not None
