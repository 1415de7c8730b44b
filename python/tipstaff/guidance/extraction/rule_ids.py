"""The explicit id at the head of a rule: ``[SEC-001]``, ``**API-2:**``, ``r12``.

A name of the same form is not an id: a standard (``ISO-8601``), a cipher (``AES-256``), a citation (``[CVE-2021-1]``).
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.guidance.wording.word_forms import expressions, lists

_EXPRESSIONS: Final = expressions("rule_ids")
_LISTS: Final = lists("rule_ids")

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
