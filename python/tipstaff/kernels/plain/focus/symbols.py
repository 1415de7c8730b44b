"""Whether a token is an identifier as code writes it and prose does not."""

from __future__ import annotations

from tipstaff.kernels.plain.focus.bytes import DIGITS, LETTERS, LONGEST_HUMP, LONGEST_SYMBOL, NAMES, case_of
from tipstaff.kernels.plain.focus.found import ALONE, Around, Found
from tipstaff.kernels.plain.focus.words import BRANDS, DOMAINS, KEYWORDS, PRODUCTS, listed


def is_identifier(name: bytes) -> bool:
    """Whether a name is one in most languages: letters, digits and underscores, no digit first."""
    return 0 < len(name) <= LONGEST_SYMBOL and name[0] not in DIGITS and set(name) <= NAMES


def is_snake(name: bytes) -> bool:
    """Whether an underscore is among letters, or before them: snake_case, _private, __dunder__."""
    return b"_" in name and sum(byte in LETTERS for byte in name) >= 2


def is_humped(name: bytes) -> bool:
    """Return whether a capital is inside a word: camelCase, RequestRouter, HTTPServer; not API, APIs or Words."""
    if not 3 <= len(name) <= LONGEST_HUMP or listed(BRANDS, name):
        return False
    small_before = False
    capitals = smalls_after = 0
    for char in name.decode("utf-8", "surrogatepass"):
        case = case_of(ord(char))
        if case == 1:
            if small_before:
                return True
            capitals += 1
            smalls_after = 0
        elif case == 2:
            small_before = True
            if capitals >= 2:
                smalls_after += 1
                if smalls_after >= 2:
                    return True
            else:
                capitals = 0
        elif case == 3:
            capitals += capitals >= 1
            smalls_after = 0
        else:
            capitals = 0
    return False


def starts_upper(name: bytes) -> bool:
    """Whether a name begins with a capital."""
    return case_of(ord(name.decode("utf-8", "surrogatepass")[0])) == 1


def is_qualified(name: bytes) -> bool:
    """Whether a name is of identifiers joined by ``::``."""
    parts = name.split(b"::")
    return len(name) <= LONGEST_SYMBOL and 2 <= len(parts) <= 8 and all(map(is_identifier, parts))


def dotted_parts(name: bytes) -> list[bytes]:
    """Return the 2 to 6 identifiers that are joined by dots, none where a name is not of these."""
    parts = name.split(b".")
    fits = len(name) <= LONGEST_SYMBOL and 2 <= len(parts) <= 6 and all(map(is_identifier, parts))
    return parts if fits else []


def is_bare_symbol(name: bytes, around: Around) -> bool:
    """Whether a plain token is a symbol by how it is written or by what is about it."""
    if len(name) < 2 or not is_identifier(name):
        return False
    if is_snake(name) or is_humped(name):
        return True
    if listed(KEYWORDS, name):
        return False
    capital = starts_upper(name)
    return around.call or (around.generic and capital) or (around.defined and (capital or around.opens))


def bare_symbol(found: Found, name: bytes, around: Around) -> None:
    """Take the symbols of a token that is not written as code."""
    name = name.removeprefix(b"@")
    if not name:
        return
    if b":" in name:
        if is_qualified(name):
            found.add_bare(name)
    elif b"-" in name:
        for part in name.split(b"-"):
            if is_bare_symbol(part, ALONE):
                found.add_bare(part)
    elif b"." in name:
        parts = dotted_parts(name)
        if not parts:
            return
        telling = any(is_snake(part) or is_humped(part) for part in parts)
        # Two plain words may be the end of one sentence and the beginning of the next.
        plain = (
            all(len(part) >= 2 for part in parts)
            and not listed(DOMAINS, parts[-1], folded=True)
            and not listed(PRODUCTS, name, folded=True)
            and (len(parts) > 2 or not starts_upper(parts[-1]))
        )
        if around.call or telling or plain:
            found.add_bare(name)
    elif is_bare_symbol(name, around):
        found.add_bare(name)


def marked_symbol(found: Found, name: bytes) -> bool:
    """Add what is between backticks and holds no space, if it is a symbol, and return whether it is."""
    name = name.lstrip(b"@&*#!~$")
    for mark in (b"(", b"<", b"[", b"{"):
        name = name[:1] + name[1:].partition(mark)[0]
    name = name.rstrip(b"!?;,:.")
    if not 2 <= len(name) <= LONGEST_SYMBOL:
        return False
    if b":" in name:
        holds = is_qualified(name)
    elif b"." in name:
        holds = bool(dotted_parts(name)) and not listed(PRODUCTS, name, folded=True)
    elif b"-" in name:
        kebab = set(name) <= NAMES | frozenset(b"-") and b"--" not in name
        holds = kebab and name[0] in LETTERS and not name.endswith(b"-")
    else:
        holds = is_identifier(name) and not listed(KEYWORDS, name)
    if holds:
        found.add_marked(name)
    return holds
