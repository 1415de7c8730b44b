"""The explicit id at the head of a rule: ``[SEC-001]``, ``**API-2:**``, ``r12``.

A name of the same form is not an id: a standard (``ISO-8601``), a cipher (``AES-256``), a citation (``[CVE-2021-1]``).
"""

from __future__ import annotations

import re
from typing import Final

# Standards, algorithms and things that are written like ids: AES-256 is no rule id.
_NOT_IDS: Final = frozenset(
    """aes ansi arm api b base bcp bs cat ce cp crc cve cwe covid csp css cuda cvss cwe des din dl dn ds ecma eia en es
    etsi fips fr gb ghz go gpt h hd html http https i iec ieee ieee ip ipv iso itu iso-iec java jdk jep js k kb log lts
    max mb md mhz mime mp ms net nist node oauth ocsp owasp p pbkdf pci pep php pkcs pm pr py q rc rfc rsa rule s sha
    soc sql ssl step task tc tls ts type uc ucs us utc utf uuid v vt wcag win x xhtml xml""".split()
)
_CITED: Final = frozenset("bcp cve cwe ieee iso iso-iec itu nist owasp pep rfc".split())
_BRACKET_ID: Final = re.compile(
    r"(?:\*\*|__|`)?\[(?P<id>[A-Za-z][A-Za-z0-9_.-]{0,60}?\d|AUTO-[0-9a-f]{4,64})\](?![(\[])(?:\*\*|__|`)?[:.]?(?:\*\*|__)?"
    r"[ \t]*(?:[-–—][ \t]+)?"
)
_BARE_ID: Final = re.compile(
    r"(?:\*\*|__|`)?(?P<id>[A-Z]{1,16}(?:-[A-Z0-9]{1,16}){0,4}-\d{1,6}|[A-Z]{1,6}\d{2,6}|r\d{2,6})(?:\*\*|__|`)?"
    r"(?:(?::|[ ]?[–—]|[ ]-)(?:\*\*|__)?(?:[ \t]+|$)|[ \t]+(?=[^\W\d_a-z]|[\"“'‘`*_\[]))"
)
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
