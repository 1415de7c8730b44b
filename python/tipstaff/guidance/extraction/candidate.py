"""What extraction finds, and what it remembers of the outline on the way."""

from __future__ import annotations

import msgspec

from tipstaff.guidance.extraction.annotations import Annotations
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
    """

    text: str
    rule_id: str | None
    annotations: Annotations
    start: int
    end: int
    context: list[tuple[int, int]]
    heading: str
    is_constitution: bool


class Section(msgspec.Struct, gc=False):
    """An open heading."""

    level: int
    text: str
    constitution: bool
    negative: bool
    block: Block | None
    first_rule: int
    """Number of candidates when the heading was opened."""


class Context(msgspec.Struct, gc=False):
    """Words that the items or rows below may need."""

    text: str
    """In short, behind the words of its own parent."""
    words: str
    start: int
    end: int
    modal: bool
    label: bool
    """Whether it is no rule by itself."""
    spans: list[tuple[int, int]]
    """Where the words of `text` stand."""
    used: bool = False
    """Whether a rule took it up."""
    waiting: list[tuple[int, int, str]] = []
    """Range and code of the items directly below that are no rules."""
