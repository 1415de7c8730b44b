"""Whether a rule can be followed at all: rules that give nothing to check, and rules that are too long.

A rule is called vague only when *every* word of it belongs to small closed lists: words that steer a sentence, words
that praise ("clean", "proper"), and words for everything ("code", "things"). One word from outside, one number, name,
path or piece of code, and the rule has something to check, so it is left alone. Languages without a list are left
alone as well. A rule that says the same about one broad concern ("Implement proper validation") is vague only where
the praise is of the kind that nobody can measure.
"""

from __future__ import annotations

import re
from typing import Final

MAX_RULE_CHARS: Final = 600
"""Longer rules are reported: of the list items in 200 public rule files, three in a thousand are."""

_MAX_VAGUE_WORDS: Final = 16

# A number, code, a path, a name with inner capitals or underscores, an acronym, a quotation, a flag, a dotted name.
_CONCRETE: Final = re.compile(
    r"[`\d\"“”«»<>=$%@#*_|\\]|\w/\w|/\w|\w\.\w|(?:^|\s)-{1,2}\w|[a-z][A-Z]|\b[A-Z]{2,}\b",
)
_LOUD: Final = re.compile(
    r"\b(?:MUST|NOT|NEVER|ALWAYS|SHOULD|DO|DON|AVOID|PREFER|CONSIDER|IMPORTANT|CRITICAL|ALL|NO|CODE|BE|KEEP|AND|OR)\b"
)
_EMPHASIS: Final = re.compile(r"\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_HEDGE: Final = re.compile(
    r"\b(?:when|where|if|as|wherever|whenever)(?:ver)?\s+(?:it\s+is\s+)?"
    r"(?:appropriate|necessary|needed|possible|applicable|relevant|required)\b",
    re.IGNORECASE,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STEERING: Final = _words(
    """a about add adhere after aim all also always an and any apply are as at attention avoid be been before being
    best-effort both build but by can care code-wise consider create deliver develop do doing don't don’t during
    each ensure ensuring every extra focus follow for from general generally get give giving great have high
    highest how i if implement in into is it it's its just keep keeping let level like low maintain make making
    mind more most must never no not of on only or other our out over pay please possible prefer produce provide
    rather really remember respect should so stay strive such sure take than that the their them then these they
    this those through throughout to too try trying under up us use using utmost very we what when whenever where
    which while will with within without write writing you your"""
)

# Praise that nobody can measure.
_PRAISE: Final = _words(
    """appropriate appropriately beautiful best better careful carefully cautious clean cleanly correct correctly
    diligent diligently elegant elegantly excellent fine good graceful gracefully great high-quality idiomatic
    nice nicely optimal optimally perfect perfectly production-ready professional professionally proper properly
    quality reasonable robust sane sensible smart smartly solid suitable thoughtful thoughtfully top-notch well
    well-written wisely world-class"""
)

# Praise that could be meant precisely beside a named thing.
_LOOSE_PRAISE: Final = _words(
    """clear clearly concise consistency consistent consistently defensive defensively dry easy effective effectively
    efficient efficiently flexible intuitive maintainability maintainable modern modular organised organized
    over-complicate over-engineer over-engineering overcomplicate performant readability readable reliable
    reusable safe scalability scalable secure self-explanatory simple simplicity simply stable straightforward
    testable understand understandable user-friendly well-designed well-documented well-organised well-organized
    well-structured well-tested"""
)

# Words for everything.
_EVERYTHING_NOUNS: Final = _words(
    """app application applications approach approaches change changes choice choices code codebase coding common
    convention conventions decision decisions design development engineer engineering established everything
    existing feature features file files framework function functions go guideline guidelines implementation
    implementations industry java javascript job judgement judgment language logic manner output pattern patterns
    possible practice practices principle principles process programming project project's projects python react
    relevant result results rule rules rust sense software solution solutions standard standards structure stuff
    style system systems task tasks team technique techniques thing things time times typescript way ways work"""
)

# Broad concerns: too broad alone, but named.
_CONCERNS: Final = _words(
    """architecture cases comment comments docs documentation edge error errors exception exceptions failures handle
    handled handling log logging logs name names naming organisation organization performance security test
    testing tests validate validation variable variables"""
)

_GENERIC: Final = _STEERING | _PRAISE | _LOOSE_PRAISE | _EVERYTHING_NOUNS


def is_vague(text: str) -> bool:
    """Return whether a rule names nothing that anybody could check.

    Parameters
    ----------
    text
        The rule's words, annotations removed.
    """
    if len(text) > 200:
        return False
    plain = _HEDGE.sub(" ", _EMPHASIS.sub("", text))
    if _CONCRETE.search(_LOUD.sub("", plain)):
        return False
    words = [word.lower() for word in _WORD.findall(plain)]
    if not words or len(words) > _MAX_VAGUE_WORDS:
        return False
    praised = any(word in _PRAISE for word in words)
    if praised or any(word in _LOOSE_PRAISE for word in words):
        outside = [word for word in words if word not in _GENERIC]
        return not outside or (praised and all(word in _CONCERNS for word in outside))
    return False


def is_long(text: str) -> bool:
    """Return whether a rule has more than `MAX_RULE_CHARS` characters."""
    return len(text) > MAX_RULE_CHARS
