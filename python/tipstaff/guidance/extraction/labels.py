"""The words above an item that its meaning depends on: headings, lead-ins, bold labels, the items it is nested in.

An item is read with all of them in front, as they were written, the nearest last: "Do Not: Use `require()`". A heading
that only repeats the topic of what is below it, or names none ("Rules", "General"), is left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec

from tipstaff.guidance.extraction.grammar import has_negation, is_condition, is_demanding_heading
from tipstaff.guidance.extraction.patterns import UNFINISHED
from tipstaff.guidance.extraction.polarity import (
    approves,
    decides,
    ends_negative,
    is_negative_heading,
    lists_mistakes,
    only_bans,
    says_what_to_do,
    verdict,
)
from tipstaff.guidance.reading.constitution_headings import is_constitution_heading
from tipstaff.guidance.wording.claims import stems_of
from tipstaff.guidance.wording.tokenize import words as split
from tipstaff.guidance.wording.word_forms import expressions, lists
from tipstaff.guidance.wording.word_roles import FUNCTION_WORDS, MODAL_WORDS

_EXPRESSIONS: Final = expressions("labels")

_LISTS: Final = lists("labels")

_ASPECTS: Final = frozenset(_LISTS["aspects"].split())
"""Words of headings that name no topic."""
ENOUGH_STEMS: Final = 14
_NAMES_FILE: Final = re.compile(_EXPRESSIONS["names_file"], re.IGNORECASE)
_ASPECT_MARKS: Final = re.compile(_EXPRESSIONS["aspect_marks"])
_LEADING_MARKS: Final = re.compile(r"[\W_]*(?:\d+[.)]\s*)?")
MAX_OPENING_CHARS: Final = 32
"""How far from an item's beginning its condition is still said at once ("**Important:** before you commit ...")."""
_CODE: Final = re.compile(r"`[^`]*`")


class Label(msgspec.Struct, gc=False):
    """Words above an item.

    Attributes
    ----------
    text
        As written, without emphasis at its ends and its closing colon.
    start, end
        Its byte range.
    topic
        Whether it is a heading that may only name a topic; other labels belong to the item whatever they say.
    negative
        Whether what is below it is not to be done.
    deciding
        Whether what is below it means something else without it: a ban, a condition.
    telling
        Whether it is a heading that names a topic.
    verdict
        What it states about all below it: ``no``, ``ask``, ``yes`` or nothing.
    used
        Whether a rule or information took it up.
    ruled
        Whether a rule did.
    """

    text: str
    start: int
    end: int
    topic: bool = False
    negative: bool = False
    deciding: bool = False
    telling: bool = True
    verdict: str = ""
    used: bool = False
    ruled: bool = False


def label_of(text: str, start: int, end: int, *, topic: bool = False) -> Label:
    """Return words above an item as a label.

    Parameters
    ----------
    text
        Without emphasis at its ends and its closing colon.
    start, end
        Its byte range.
    topic
        Whether it is a heading.
    """
    deciding = decides(text) or is_condition(text)
    negative = is_negative_heading(text) if topic else ends_negative(text)
    telling = not topic or names_topic(text)
    return Label(
        text, start, end, topic=topic, negative=negative, deciding=deciding, telling=telling, verdict=verdict(text)
    )


def names_column(header: str) -> bool:
    """Whether the head of a table's column says more than that rules or descriptions are below it."""
    return any(word not in _ASPECTS for word in split(header))


def names_topic(heading: str) -> bool:
    """Whether a heading says what the rules below it are about, or for what they are."""
    if decides(heading) or has_negation(heading):
        return True
    if _NAMES_FILE.search(heading) or heading.endswith((".", "。", "!", "！")):
        return False
    if is_constitution_heading(heading) and is_demanding_heading(heading) and UNFINISHED.search(heading) is None:
        return False  # a rule by itself, which is always loaded
    if not heading.isascii():
        heading = _ASPECT_MARKS.sub(" ", heading)
    return any(
        word not in _ASPECTS and word not in FUNCTION_WORDS and word not in MODAL_WORDS and not word.isdigit()
        for word in split(heading)
    )


_label_stems: Final = lru_cache(maxsize=1_024)(stems_of)


def applied(labels: Sequence[Label], words: str) -> list[Label]:
    """Return the labels that an item is read with, the nearest last.

    Parameters
    ----------
    labels
        All above it, the outermost first.
    words
        The item's own.
    """
    if not labels:
        return []
    kept: list[Label] = []
    named = False  # whether a heading nearer than the next one says what it is about
    near: frozenset[str] | None = None  # stems of the text below, once a topic asks for them
    below = words.casefold()
    judged = ""  # what a nearer label says of it
    for label in reversed(labels):
        if judged and label.verdict not in {"", judged}:
            continue
        judged = judged or label.verdict
        stays = label.negative or (label.deciding and lists_mistakes(label.text))
        if stays and approves(words):
            continue
        if not stays and _repeats(label.text.casefold(), below, at_start=label.deciding, name=_is_name(label)):
            named = named or (label.topic and label.telling)
            continue
        if label.negative and (
            _begins(words, label.text) or (not lists_mistakes(label.text) and says_what_to_do(words))
        ):
            continue  # "Don't: Never ..." and "Don't: Ask first ..." would say something else
        if label.topic and not label.negative:
            if not label.deciding and (named or not label.telling):
                continue
            named = True
            if not label.deciding:
                own = _label_stems(label.text)
                if near is None:
                    plain = _CODE.sub(" ", words) if "`" in words else words
                    near = stems_of(" ".join((plain, *(one.text for one in kept))))
                if (own and own <= near) or len(near) > ENOUGH_STEMS:
                    continue
        kept.append(label)
        if near is not None:
            near |= _label_stems(label.text)
        below = f"{label.text.casefold()}\n{below}"
    kept.reverse()
    return _bans_once(kept) if sum(label.negative for label in kept) > 1 else kept


def _bans_once(labels: list[Label]) -> list[Label]:
    """Leave out the outer of two labels that forbid and say no more: "Banned: Never: ..." forbids twice."""
    bans = [label for label in labels if label.negative]
    bare = [label for label in bans if only_bans(label.text)]
    spare = bare if len(bare) < len(bans) else bare[:-1]
    return [label for label in labels if label not in spare]


def _is_name(label: Label) -> bool:
    """Whether a label is one word above its items: an item that has the word somewhere may be about something else."""
    return not label.topic and " " not in label.text


def _begins(words: str, label: str) -> bool:
    return words.lstrip("*_ ").casefold().startswith(label.casefold())


def _repeats(label: str, below: str, *, at_start: bool, name: bool) -> bool:
    """Whether words have a label already: one that decides what they mean, or a name above them, at their beginning."""
    if name and not at_start:
        lines = [line.lstrip("*_` ") for line in below.split("\n")]
        return any(line.startswith(label) and not line[len(label) :][:1].isalnum() for line in lines)
    if at_start:
        bare = _LEADING_MARKS.sub("", label, count=1)
        return any(0 <= line.find(bare) < MAX_OPENING_CHARS for line in below.split("\n")) and len(bare) > 3
    if not label.isascii():
        return label in below
    at = below.find(label)
    while at >= 0:
        end = at + len(label)
        if not (at and below[at - 1].isalnum()) and not (end < len(below) and below[end].isalnum()):
            return True
        at = below.find(label, at + 1)
    return False
