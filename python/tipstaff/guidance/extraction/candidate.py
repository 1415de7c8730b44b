"""What extraction finds, and what it remembers of the outline on the way."""

from __future__ import annotations

import msgspec

from tipstaff.guidance.extraction.annotations import Annotations
from tipstaff.guidance.extraction.labels import Label
from tipstaff.guidance.reading.markdown import Block


class Candidate(msgspec.Struct, gc=False):
    """Words that are a rule, before they become one.

    Attributes
    ----------
    text
        The rule's words, with those of its parent, lead-in or heading where it needs them.
    rule_id
        As written, None where the author gave none.
    annotations
        What the words said about the rule.
    start, end
        Byte range of the rule's own words.
    context
        Byte ranges of the words that it takes from elsewhere, or that introduce it.
    heading
        The innermost heading.
    is_constitution
        Whether the section makes it one.
    headings
        All headings above, the outermost first.
    own
        Place in `text` where the words of labels end and its own begin.
    is_rule
        Whether it says what to do; otherwise it is information.
    """

    text: str
    rule_id: str | None
    annotations: Annotations
    start: int
    end: int
    context: list[tuple[int, int]]
    heading: str
    is_constitution: bool
    headings: tuple[str, ...] = ()
    own: int = 0
    is_rule: bool = True


class Section(msgspec.Struct, gc=False):
    """An open heading."""

    level: int
    text: str
    constitution: bool
    block: Block
    label: Label
    """Its words, as the items below are read with them."""
    first_rule: int
    """Number of candidates when the heading was opened."""
    lead: Label | None = None
    """The sentence that introduces the sections below it."""
    inner: int = 0
    """How many sections directly below it have begun."""
    listed: bool = False
    """Whether a list in it has begun."""


class Context(msgspec.Struct, gc=False):
    """Words that the items, rows or sentences below may need."""

    label: Label
    words: str
    modal: bool
    introduces: bool
    """Whether it is no rule by itself."""
    item: bool = False
    """Whether it is a list item."""
