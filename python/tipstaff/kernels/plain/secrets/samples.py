"""What only fills the place of a secret, as ``secrets/samples.hpp``: labels, descriptions, known passwords."""

from __future__ import annotations

import base64
import re
from typing import Final

from tipstaff.kernels.plain.secrets.forms import is_identifier, is_uuid
from tipstaff.kernels.plain.secrets.letters import (
    DIGIT,
    KNOWN,
    LETTER,
    NAME,
    PIECE,
    PLAIN_VALUE,
    UPPER,
    Value,
    Words,
    counts_of,
    holds_any,
    is_pronounceable,
    is_sequence,
    is_wordy,
    spoken,
)


def is_between_strings(data: bytes) -> bool:
    """Return whether it is code between two strings, as in ``"token: " + name + "."``."""
    first, last = data[0], data[-1]
    if first == 0x20 or last == 0x20 or b" = " in data:
        return True
    if data.startswith(b"--"):  # an option, and no token in the alphabet of addresses
        counts = counts_of(data)
        return len(data) < 32 or min(counts.lower, counts.upper, counts.digit) < 3
    if data.endswith((b'""', b'"]', b"']")):  # 16s=b"", self["size"]
        return True
    if first not in b"+,)]};|&=.>":
        return False
    return last in b"+([{,." or (first != 0x2E and (b"(" in data or b" " in data[1:]))


def is_label(data: bytes, digits: int) -> bool:
    """Return whether it is a text that a person reads beside a field: ``Neues Passwort:``, ``Enter the new one``."""
    foreign = sum(0xC2 <= byte <= 0xEF for byte in data)  # letters of other languages
    if foreign > 0 and (digits == 0 or foreign >= 4 or b" " in data):
        return True
    blanks = data.count(b" ")
    if digits > (2 if blanks >= 3 else 0):
        return False
    if data[-1] == 0x3A:
        return True
    return blanks >= 4 or (blanks > 0 and (data[0] in UPPER or data[-1] in b".!?,") and _holds_words(data))


def _holds_words(data: bytes) -> bool:
    """Return whether a piece of three letters or more can be spoken."""
    return any(len(piece) >= 3 and is_pronounceable(piece) for piece in PIECE.findall(data))


def is_descriptive(data: bytes, value: Value, words: Words) -> bool:
    """Return whether a value only says what would be there, or is a name or a number of something else.

    ``refresh_token``, ``secretPwd2``, ``read:members``, ``keyword.operator``, ``UsernameAndPassword``, ``OAUTH2_JWT``,
    a UUID, an object identifier (``1.2.840.113549``).
    """
    counts = counts_of(data)
    if is_uuid(data) or is_identifier(data, value, counts):
        return True
    if counts.lower + counts.upper == 0 and data.count(b".") >= 2:
        return True
    end = len(data)
    while end > 0 and len(data) - end < 6 and (data[end - 1] in DIGIT or data[end - 1] in b"!?."):
        end -= 1
    body = data[:end]
    if not body or is_sequence(body) or any(byte in DIGIT for byte in body):
        return False
    if holds_any(data, words(PLAIN_VALUE)):
        return True
    if end < len(data):
        return False
    joined = any(byte in b".:" for byte in data[1:-1])
    return joined and all(byte in NAME or byte in b".:-" for byte in data) and is_wordy(data)


_LETTERS_MEANT: Final = bytes.maketrans(b"013457@$", b"oieasta" + b"s")


def unmasked(data: bytes) -> bytes:
    """Return it in lower case, digits and signs read as the letters that they stand for: ``s3cr3t``."""
    return data.translate(_LETTERS_MEANT).lower()


def is_known_password(data: bytes, words: Words) -> bool:
    """Return whether everybody knows a password: ``secret``, ``s3cret``, ``secret123``, ``passwd2``, ``admin321``."""
    known = words(KNOWN)
    if data.lower() in known or unmasked(data) in known:
        return True
    end = len(data)
    while end > 0 and data[end - 1] in DIGIT:
        end -= 1
    return _is_counted(data[end:]) and data[:end].lower() in known


def _is_counted(digits: bytes) -> bool:
    """Return whether digits are one at most, or count up from 0 or 1 or down to 1."""
    return (
        len(digits) <= 1
        or b"0123456789".startswith(digits)
        or b"123456789".startswith(digits)
        or (len(digits) >= 3 and b"987654321".endswith(digits))
    )


def reads_as_sample(data: bytes, words: Words, *, password: bool) -> bool:
    """Return whether a short value reads as one of the words of samples: ``Exampl3Pass``.

    What is no password must be made of words throughout: ``an0th3r_t0k3n``.
    """
    if len(data) > 24:
        return False
    text = unmasked(data)
    holds = holds_any(text, words(PLAIN_VALUE))
    if password:
        return holds or is_known_password(data, words)
    letters, pronounceable = spoken(text)
    return holds and 10 * pronounceable >= 9 * letters


_BASE64: Final = re.compile(rb"[0-9A-Za-z+/]{6,120}={0,2}")


def encodes_sample(data: bytes, words: Words) -> bool:
    """Return whether it is base64 of what reads as a sample: ``encrypted-password``, ``AWS:123456789012-token``."""
    if not 8 <= len(data) <= 120 or _BASE64.fullmatch(data) is None:
        return False
    body = data.rstrip(b"=")
    # A character that is left over holds less than a byte.
    whole = body if len(body) % 4 != 1 else body[:-1]
    decoded = base64.b64decode(whole + b"=" * (-len(whole) % 4)).rstrip(b"\r\n")
    if any(byte < 0x20 or byte >= 0x7F for byte in decoded):
        return False
    text = decoded.rpartition(b":")[2]
    if is_sequence(text) or (text and all(byte in DIGIT for byte in text)):
        return True
    letters, pronounceable = spoken(text)
    if letters < 4 or 10 * pronounceable < 7 * letters:
        return False
    return not any(byte in DIGIT for byte in text) or holds_any(text, words(PLAIN_VALUE))


_ESCAPE: Final = re.compile(rb"%[0-9A-Fa-f]{2}|(\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\0)")


def is_mostly_escapes(data: bytes, words: Words) -> bool:
    r"""Return whether there is next to nothing in it but escapes: ``%F0%9F%92%A9``, ``p%40ss``, ``verschl\u00fcsselt``.

    The rest may be a known password or, with the escapes of a string, letters alone.
    """
    escapes = list(_ESCAPE.finditer(data))
    bare = bytes(byte for byte in _ESCAPE.sub(b"", data) if byte in LETTER or byte in DIGIT)
    if not escapes or len(bare) > 24:
        return False
    if len(bare) < 4 or is_known_password(bare, words):
        return True
    return any(escape[1] for escape in escapes) and all(byte in LETTER for byte in bare)
