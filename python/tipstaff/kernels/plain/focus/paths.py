"""Whether a token, or what is between quotes, is a path."""

from __future__ import annotations

from tipstaff.kernels.plain.focus.bytes import (
    DIGITS,
    LETTERS,
    LONGEST_PATH,
    LOWER,
    MARKS,
    NO_PATH,
    SEPARATORS,
    SPACES,
    UPPER,
)
from tipstaff.kernels.plain.focus.words import DOMAINS, ENDINGS, FILE_NAMES, FOLDERS, OPENERS, PRODUCTS, listed


def ending_of(name: bytes) -> bytes:
    """Return what follows a name's last dot if it could be the ending of a file's name, else nothing."""
    stem, dot, suffix = name.rpartition(b".")
    if not dot or not stem or not 1 <= len(suffix) <= 10:
        return b""
    kinds = set(suffix)
    if not kinds <= LOWER | UPPER | DIGITS:
        return b""
    # Small or capital letters, but not both and not neither.
    return suffix if bool(kinds & LOWER) != bool(kinds & UPPER) else b""


def is_domain(name: bytes) -> bool:
    """Whether the first part of what looks like a path is a server's name."""
    if len(name) > 4 and name.startswith(b"www."):
        return True
    stem, _, last = name.rpartition(b".")
    return bool(stem) and listed(DOMAINS, last, folded=True)


def path_in(token: bytes, *, marked: bool = False) -> bytes | None:
    """Return the path that a token is, without line numbers and headings, or None."""
    drive = (
        len(token) >= 3 and token[0] < 0x80 and token[0] in LETTERS and token[1:2] == b":" and token[2] in SEPARATORS
    )
    start = 2 if drive else 1
    token = token[:start] + token[start:].partition(b"#")[0].partition(b":")[0]
    token = token.rstrip(b".")
    while len(token) > 2 and token.startswith(b"./"):
        token = token[2:]
    if not 2 <= len(token) <= LONGEST_PATH or set(token) & NO_PATH:
        return None
    parts = token.replace(b"\\", b"/").split(b"/")
    if not any(byte in LETTERS for byte in token):
        return None
    return token if is_path(token, parts, drive=drive, marked=marked) else None


def is_path(token: bytes, parts: list[bytes], *, drive: bool, marked: bool) -> bool:
    """Whether the parts of a token make a path."""
    segments = sum(map(bool, parts))
    name = parts[-1]
    suffix = ending_of(name)
    if len(parts) == 1:
        known = bool(suffix) and listed(ENDINGS, suffix, folded=True)
        return listed(FILE_NAMES, token) or (known and not listed(PRODUCTS, token, folded=True))
    if drive:
        return True
    if token.startswith(b"\\"):
        return len(token) > 2 and token[1:2] == b"\\" and segments >= 2
    if token.startswith(b"/"):
        return token[1:2] != b"/" and (segments >= 2 or bool(suffix))
    if parts[0] == b"~":
        return True
    if parts[0] == b"..":
        return segments >= 2
    if b"/" not in token:
        return bool(suffix)
    if is_domain(parts[0]):
        return False
    if suffix or listed(FILE_NAMES, name) or listed(FOLDERS, parts[0]):
        return True
    if token.startswith(b".") and token[1] in LETTERS:
        return True
    return marked and segments >= 2 and (token[0] in LETTERS or token.startswith(b"_"))


def spaced_path_in(text: bytes) -> bytes | None:
    """Return the path with spaces that is between quotes or backticks, or None if it is not one."""
    words = text.split(b" ")
    if (
        not 2 <= len(words) <= 6
        or not all(words)
        or any(byte in MARKS or byte in SPACES for word in words for byte in word)
    ):
        return None
    first = words[0].replace(b"\\", b"/").rpartition(b"/")[2]
    if text.startswith(b"-") or listed(OPENERS, first, folded=True):
        return None
    if any(listed(ENDINGS, ending_of(word), folded=True) for word in words[:-1]):
        return None
    folder, _, name = text.replace(b"\\", b"/").rpartition(b"/")
    bare = not folder and text[:1] not in {b"/", b"\\"}
    suffix = ending_of(name)
    if not suffix or (bare and not listed(ENDINGS, suffix, folded=True)):
        return None
    path = path_in(text, marked=True)
    return path if path is not None and text.endswith(path) else None
