"""Which headings open a constitution section."""

from __future__ import annotations

import re
from typing import Final

from tipstaff.guidance.wording.word_forms import expressions

_EXPRESSIONS: Final = expressions("constitution_headings")

_NUMBERING: Final = re.compile(r"^(?:[\W_]|\d+(?:\.\d+)*[.):]?(?=\s|$)|[ivxIVX]{1,4}[.)](?=\s)|[A-Za-z][.)](?=\s))+")
_NOUN: Final = r"safety|security|invariants?|constitution(?:al)?|critical|non[- ]?negotiables?"
_MODAL: Final = r"must|never|always|required|mandatory"
_FIRST: Final = re.compile(rf"(?:{_NOUN}|{_MODAL})(?!_?[^\W_]|-)", re.IGNORECASE)
_LAST: Final = re.compile(r"(?<![\w-])(?:security|invariants?|constitution|non[- ]?negotiables?)\W*$", re.IGNORECASE)
_QUALIFIED: Final = re.compile(
    rf"(?<![\w-])(?:{_NOUN})[- ](?:\w+[- ])?(?:rules?|requirements?|constraints?|invariants?|"
    r"guidelines?|polic(?:y|ies)|practices|standards?|protocols?|boundar(?:y|ies)|directives?)\W*$",
    re.IGNORECASE,
)

_LISTS: Final = re.compile(_EXPRESSIONS["lists"], re.IGNORECASE)
"""How a heading ends that says what is listed, not what holds ("Critical commands")."""


_NAMES: Final = re.compile(r"[\W_]*[a-z]+ed\b", re.IGNORECASE)
"""What makes a name of a modal ("Always loaded")."""


def plain_heading(text: str) -> str:
    """Return a heading's words without emphasis, code marks and closing ``#``."""
    return " ".join(text.strip().rstrip("#").replace("**", "").replace("__", "").replace("`", "").split())


def is_constitution_heading(text: str) -> bool:
    """Whether a heading marks its section as always loaded.

    The markers of the design note (safety, security, invariant, constitution, critical, non-negotiable, always, must,
    never, required, mandatory) count as whole words: at the head of the heading, after any numbering, emoji or
    emphasis; the nouns among them also before a word such as "rules" ("API security requirements"), and but for
    safety at its end ("Project Security"). "Type Safety", "Always loaded" and "Mustache templates" are not meant.

    Source: ADR-G002; its prefix match is what this corrects.
    """
    words = plain_heading(text)
    head = _NUMBERING.sub("", words)
    if (first := _FIRST.match(head)) is not None:
        return _NAMES.match(head, first.end()) is None and _LISTS.match(head) is None
    return _LAST.search(words) is not None or _QUALIFIED.search(words) is not None
