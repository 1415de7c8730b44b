"""How an assigned value is judged: as a secret, or as a placeholder, a reference, a name.

Everything here looks at bytes, does the same as ``secrets/values.hpp``, and takes time linear in the value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from tipstaff.kernels.formats.secret_table import LOGS

PASSWORD, SECRET, TOKEN, QUOTED, UNQUOTED = range(1, 6)
"""Judges, in the order of ``JUDGES`` in `tipstaff.gates.secrets.packs`."""

_LOWER: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_UPPER: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGIT: Final = frozenset(b"0123456789")
_LETTER: Final = _LOWER | _UPPER
_HEX: Final = frozenset(b"0123456789abcdefABCDEF")
_NAME: Final = _LETTER | _DIGIT | {0x5F}
_NAME_ENDINGS: Final = (b"Key", b"Keys", b"Type", b"Types", b"Token", b"Tokens", b"Secret", b"Secrets")
_VOWEL: Final = frozenset(b"aeiouyAEIOUY")

Words = Callable[[int], Sequence[bytes]]
"""Returns one of the table's lists of words."""

(
    PLACEHOLDER,
    PLAIN_VALUE,
    ABOUT_AFTER,
    ABOUT_BEFORE,
    SECRET_NAMES,
    REFERENCES,
    FILE_ENDINGS,
    KNOWN,
    INTRODUCERS,
    OBVIOUS,
) = range(10)
SAMPLE_HOSTS: Final = 13
"""Numbers of the lists."""


class Value(NamedTuple):
    """A value, and how it is in the text.

    Attributes
    ----------
    start, end
        Its bytes.
    quoted
        Whether it is in quotes.
    tight
        Whether the sign before it has no blanks around it, or is a colon.
    ends_line
        Whether nothing but a comment follows on its line.
    strict
        Whether it follows a bracket or a comma, as an argument does.
    """

    start: int
    end: int
    quoted: bool
    tight: bool
    ends_line: bool
    strict: bool


class Counts(NamedTuple):
    """What a value is made of."""

    lower: int
    upper: int
    digit: int
    other: int
    distinct: int
    changes: int


def counts_of(data: bytes) -> Counts:
    """Count kinds of bytes, and how often one kind follows another."""
    lower = upper = digit = other = changes = 0
    last = -1
    for byte in data:
        if byte in _LOWER:
            kind, lower = 0, lower + 1
        elif byte in _UPPER:
            kind, upper = 1, upper + 1
        elif byte in _DIGIT:
            kind, digit = 2, digit + 1
        else:
            kind, other = 3, other + 1
        changes += last not in {-1, kind}
        last = kind
    return Counts(lower, upper, digit, other, len(set(data)), changes)


def entropy_holds(data: bytes, least: int, logs: Sequence[int]) -> bool:
    """Return whether the entropy is at least `least`, in 1/65536 bits per byte."""
    data = data[: LOGS - 1]
    if least == 0 or not data:
        return least == 0
    size = len(data)
    spent = sum(n * logs[n] for n in (data.count(byte) for byte in set(data)))
    return size * logs[size] - spent >= least * size


def lowered(data: bytes) -> bytes:
    """Return the bytes with ASCII letters in lower case."""
    return data.lower()


def holds_any(data: bytes, words: Sequence[bytes]) -> bool:
    """Return whether one of the words is within, in either case."""
    folded = data.lower()
    return any(word in folded for word in words)


def is_repeated(data: bytes) -> bool:
    """Return whether one byte often follows itself, or some bytes repeat."""
    size = len(data)
    longest = run = 1
    for at in range(1, size):
        run = run + 1 if data[at] == data[at - 1] else 1
        longest = max(longest, run)
    if longest >= 6 and 4 * longest >= size:
        return True
    if longest >= 12:
        return True
    return size >= 4 and any(data[period:] == data[:-period] for period in range(1, min(32, size // 2) + 1))


def is_sequence(data: bytes) -> bool:
    """Return whether six bytes or more of it count up, over a third of it."""
    longest = run = 1
    for at in range(1, len(data)):
        run = run + 1 if data[at] == data[at - 1] + 1 else 1
        longest = max(longest, run)
    return longest >= 6 and 3 * longest >= len(data)


def is_wordy(data: bytes) -> bool:
    """Return whether most letters are in pieces that can be spoken, few bytes are digits, and kinds rarely change.

    That a capital begins a word is not a change.
    """
    size = len(data)
    capitals = sum(data[at] in _UPPER and data[at + 1] in _LOWER for at in range(size - 1))
    if 3 * (counts_of(data).changes - capitals) >= size:
        return False
    letters = spoken = digits = 0
    at = 0
    while at < size:
        byte = data[at]
        if byte not in _LETTER:
            digits += byte in _DIGIT
            at += 1
            continue
        start = at
        at += 1
        if byte in _UPPER and at < size and data[at] in _UPPER:
            while at < size and data[at] in _UPPER:
                at += 1
        else:
            while at < size and data[at] in _LOWER:
                at += 1
        letters += at - start
        if at - start >= 3 and _is_spoken(data[start:at]):
            spoken += at - start
    return 5 * digits <= size and letters > 0 and 10 * spoken >= 7 * letters


def _is_spoken(piece: bytes) -> bool:
    vowels = run = longest = 0
    last_vowel = False
    for at, byte in enumerate(piece):
        if byte | 0x20 == 0x71 and piece[at + 1 : at + 2] not in {b"u", b"U"}:
            return False
        vowel = byte in _VOWEL
        vowels += vowel
        run = run + 1 if vowel == last_vowel else 1
        last_vowel = vowel
        longest = max(longest, run)
    return vowels > 0 and longest <= 4 and 6 * vowels >= len(piece)


def is_uuid(data: bytes) -> bool:
    """Return whether it has the form of a UUID."""
    return len(data) == 36 and all(
        byte == 0x2D if at in {8, 13, 18, 23} else byte in _HEX for at, byte in enumerate(data)
    )


def is_template(data: bytes) -> bool:
    """Return whether something is to be put into it: it is no value yet."""
    first, last = data[0], data[-1]
    if first == 0x24 and len(data) > 1 and (data[1] in _NAME or data[1] in b"{("):
        return True
    if (first, last) in {(0x3C, 0x3E), (0x25, 0x25), (0x7B, 0x7D), (0x5B, 0x5D), (0x28, 0x29)}:
        return True
    if any(
        sign in data
        for sign in (b"${", b"$(", b"{{", b"}}", b"<%", b"%>", b"#{", b"...", b"***", b"\xe2\x80\xa6", b"%s", b"://")
    ):
        return True
    opened = data.find(b"{")
    if opened >= 0 and data.find(b"}", opened) > opened + 1:
        inner = data[opened + 1 : data.find(b"}", opened)]
        return all(byte in _NAME or byte in b".[]" for byte in inner)
    return False


def is_reference(data: bytes, words: Words) -> bool:
    """Return whether it says where the value is, or is a name of a file."""
    folded = data.lower()
    if any(folded.startswith(word) for word in words(REFERENCES)):
        return True
    if any(folded.endswith(word) for word in words(FILE_ENDINGS)) and 3 * counts_of(data).digit <= len(data):
        return True
    return ((data[0] in b"/~" or data.startswith(b"./")) and is_wordy(data)) or is_location(data)


def is_location(data: bytes) -> bool:
    """Return whether it says where something is, by its form alone.

    A path of two folders or more, without digits (``/go/src/app``) or with an ending (``doc/man3/open.3``), a path or class with backslashes
    (``Symfony\\Component\\Form``), or a host with a port (``www.acme.io:443``).
    """
    if any(byte not in _NAME and byte not in b"/\\.-:" for byte in data):
        return False
    if data[0] == 0x2F and data.count(b"/") >= 2 and counts_of(data).digit == 0:
        return True
    if data.count(b"/") >= 2 and b"." in data[data.rfind(b"/") :]:
        return True
    if b"\\" in data and b"/" not in data and (data[0] == 0x5C or data[0] in _UPPER):
        return counts_of(data).digit == 0
    host, colon, port = data.rpartition(b":")
    return bool(colon) and 2 <= len(port) <= 5 and port.isdigit() and b"." in host and b":" not in host


def is_name(data: bytes) -> bool:
    """Return whether it may be a name in a program: letters, digits, underscores, and dots between."""
    return data[0] in _LETTER | {0x5F} and all(byte in _NAME or byte == 0x2E for byte in data)


def is_identifier(data: bytes, value: Value, counts: Counts) -> bool:
    """Return whether a value is a name as programs write them.

    A constant (``TR31_E0_EMV_KEY``), a type or a member (``PrivateKeyTypes``, ``ExclusiveStartShardId``); in a list a
    name with underscores or a path.
    """
    if not value.quoted and data[0] == 0x25:  # %NL80211_ATTR_MAC: a constant, as comments of C name it
        data, counts = data[1:], counts._replace(other=counts.other - 1)
    size, lines = len(data), data.count(b"_")
    if size < 3:
        return False
    if data[0] == 0x5F and data.startswith(b"__") and data.endswith(b"__"):  # __name__
        return counts.other == lines
    names = data[0] in _LETTER and counts.other == lines
    if lines >= 2 and counts.other == lines + data.count(b"-") and _is_parts(data):
        return True
    if names and counts.lower == 0 and lines >= (1 if value.strict else 2) and 3 * counts.digit <= size:
        return True
    if names and lines == 0 and counts.digit == 0 and counts.upper >= 2 and counts.lower >= 3 * counts.upper:
        return True
    is_joined = names and lines == 0 and counts.upper >= 2 and data[-2] in _LOWER
    if is_joined and any(data.endswith(end) and size >= len(end) + 6 for end in _NAME_ENDINGS):
        return True
    if not value.quoted and b"." in data and is_name(data) and _is_member(data, counts.digit):
        return True
    if not value.strict:
        return False
    if _is_header(data, counts):
        return True
    if names and lines >= 2 and 5 * counts.digit <= size:
        return True
    return data[0] == 0x2F and counts.digit == 0 and counts.other == lines + data.count(b"/")


def _is_parts(data: bytes) -> bool:
    """Return whether signs join three short parts or more, each in one case: ``ALICE_cf_wap-wsg_secp160r1``."""
    parts = data.replace(b"-", b"_").split(b"_")
    first = parts[0]
    return (
        len(first) >= 2
        and all(byte in _LETTER for byte in first)
        and all(
            0 < len(part) <= 10 and not (any(b in _LOWER for b in part) and any(b in _UPPER for b in part))
            for part in parts
        )
    )


def _is_member(data: bytes, digits: int) -> bool:
    """Return whether a name with dots ends with pronounceable words: ``x25519.X25519PrivateKey``, ``a.Package.Dir``."""
    size = len(data)
    start = size
    while start > 0 and data[start - 1] in _LETTER:
        start -= 1
    letters = spoken = 0
    at = start
    while at < size:
        begin = at
        at += 1
        if data[begin] in _UPPER and at < size and data[at] in _UPPER:
            while at < size and data[at] in _UPPER:
                at += 1
        else:
            while at < size and data[at] in _LOWER:
                at += 1
        letters += at - begin
        if at - begin >= 3 and _is_spoken(data[begin:at]):
            spoken += at - begin
    return letters >= (3 if digits == 0 else 6) and 10 * spoken >= 7 * letters


def _is_header(data: bytes, counts: Counts) -> bool:
    """Return whether it is a name as headers have it: ``Access-Control-Allow-Headers``."""
    dashes = data.count(b"-")
    return (
        dashes > 0
        and counts.digit == 0
        and counts.other == dashes
        and counts.upper == dashes + 1
        and all(part[:1] and part[0] in _UPPER for part in data.split(b"-"))
    )


def _is_dated(data: bytes) -> bool:
    """Return whether hyphens join words and numbers, each whole: ``files-api-2025-04-14``."""
    parts = data.split(b"-")
    words = [part for part in parts if part and all(byte in _LOWER for byte in part)]
    numbers = sum(bool(part) and all(byte in _DIGIT for byte in part) for part in parts)
    return len(words) + numbers == len(parts) and any(len(word) >= 4 and _is_spoken(word) for word in words)


def is_name_like(data: bytes, digits: int, *, strict: bool, word: bool) -> bool:
    """Return whether a value reads as the name of something: ``Name.Builtin.Pseudo``, one of a list of names.

    Parameters
    ----------
    data
        The value.
    digits
        How many digits it has.
    strict
        Whether it follows a comma: then it may be the next name of a list.
    word
        Whether dots, colons and underscores without any digit count against it.
    """
    if strict and digits < 2 and all(byte in _NAME for byte in data):
        return True
    return word and digits == 0 and len(data) < 48 and any(byte in b".:_" for byte in data)


def is_between_strings(data: bytes) -> bool:
    """Return whether it is code between two strings, as in ``"token: " + name + "."``."""
    first, last = data[0], data[-1]
    if first == 0x20 or last == 0x20 or data.startswith(b"--") or b" = " in data:
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
    return blanks >= 4 or (blanks > 0 and (data[0] in _UPPER or data[-1] in b".!?,") and _holds_words(data))


def _holds_words(data: bytes) -> bool:
    """Return whether a piece of three letters or more can be spoken."""
    at, size = 0, len(data)
    while at < size:
        if data[at] not in _LETTER:
            at += 1
            continue
        start = at
        at += 1
        if data[start] in _UPPER and at < size and data[at] in _UPPER:
            while at < size and data[at] in _UPPER:
                at += 1
        else:
            while at < size and data[at] in _LOWER:
                at += 1
        if at - start >= 3 and _is_spoken(data[start:at]):
            return True
    return False


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
    while end > 0 and len(data) - end < 6 and (data[end - 1] in _DIGIT or data[end - 1] in b"!?."):
        end -= 1
    body = data[:end]
    if not body or is_sequence(body) or any(byte in _DIGIT for byte in body):
        return False
    if holds_any(data, words(PLAIN_VALUE)):
        return True
    if end < len(data):
        return False
    joined = any(byte in b".:" for byte in data[1:-1])
    return joined and all(byte in _NAME or byte in b".:-" for byte in data) and is_wordy(data)


_LETTERS_MEANT: Final = bytes.maketrans(b"013457@$", b"oieasta" + b"s")


def unmasked(data: bytes) -> bytes:
    """Return it in lower case, digits and signs read as the letters that they stand for: ``s3cr3t``."""
    return data.translate(_LETTERS_MEANT).lower()


def is_known_password(data: bytes, words: Words) -> bool:
    """Return whether everybody knows a password: ``secret``, ``s3cret``, ``secret123``."""
    known = words(KNOWN)
    if data.lower() in known or unmasked(data) in known:
        return True
    end = len(data)
    while end > 0 and data[end - 1] in _DIGIT:
        end -= 1
    return b"123456".startswith(data[end:]) and data[:end].lower() in known


def is_sealed(data: bytes) -> bool:
    """Return whether a value is of a SealedSecret: base64 that begins with the length of an RSA session key, 512."""
    return len(data) >= 300 and data[:3] in {b"AgA", b"AgB", b"AgC", b"AgD"}


def judge(data: bytes, value: Value, mode: int, words: Words, logs: Sequence[int]) -> bool:
    """Return whether an assigned value is a secret.

    Parameters
    ----------
    data
        Its bytes.
    value
        How it is.
    mode
        ``PASSWORD``, ``SECRET``, ``TOKEN``, ``QUOTED`` or ``UNQUOTED``.
    words, logs
        The table's lists and logarithms.
    """
    size = len(data)
    wary = mode in {QUOTED, UNQUOTED}
    if size < 4 or size > 4096 or is_template(data) or is_reference(data, words) or is_sealed(data):
        return False
    if holds_any(data, words(OBVIOUS if wary else PLACEHOLDER)):
        return False
    if not value.quoted and (
        data[0] in b"!*&@" or any(byte in b"([{" for byte in data) or b"=>" in data or b"->" in data
    ):
        return False
    if not value.quoted and (b"::" in data or (data[0] == 0x23 and all(byte in _LETTER for byte in data[1:]))):
        return False  # Convert::ASN1, and a comment: #Password
    if not value.quoted and data[0] == 0x2D and all(byte in _LETTER or byte == 0x2D for byte in data):
        return False  # -PassThru -ErrorAction: the next option
    if value.quoted and is_between_strings(data):
        return False
    if wary:
        if value.quoted != (mode == QUOTED):
            return False
        counts = counts_of(data)
        if value.strict and counts.digit == 0:  # "token", "oldNoLine": names in a list
            return False
        if is_label(data, counts.digit) or is_descriptive(data, value, words):
            return False
        if mode == UNQUOTED and (counts.digit == 0 or counts.lower + counts.upper == 0):
            return False
        return not all(byte in b"*.-_xX# " for byte in data)
    if any(byte <= 0x20 or byte >= 0x7F for byte in data) or is_repeated(data) or is_sequence(data):
        return False
    if holds_any(data, words(PLAIN_VALUE)):
        return False
    counts = counts_of(data)
    if counts.lower + counts.upper == 0 or counts.distinct < 5:
        return False
    if value.quoted and counts.digit == 0 and data[-1] == 0x3A:
        return False
    if mode != PASSWORD and data.count(b"-") >= 2 and (_is_header(data, counts) or _is_dated(data)):
        return False
    if (
        mode == PASSWORD
        and size <= 24
        and (holds_any(unmasked(data), words(PLAIN_VALUE)) or is_known_password(data, words))
    ):
        return False
    if is_name_like(data, counts.digit, strict=value.strict, word=mode != PASSWORD):
        return False
    if is_identifier(data, value, counts):
        return False
    if mode == PASSWORD:
        return _is_password(data, value, counts)
    return _is_token(data, value, counts, mode, logs)


def _is_password(data: bytes, value: Value, counts: Counts) -> bool:
    size = len(data)
    kinds = (counts.lower > 0) + (counts.upper > 0) + (counts.digit > 0) + (counts.other > 0)
    if size < (6 if value.quoted else 8) or size > 256:
        return False
    signs = sum(byte not in _NAME and byte not in b"-./:" for byte in data)
    if not value.quoted and is_name(data) and 4 * counts.changes < size:
        # A name in a program, or a short password: where the form is a program's, it is a name.
        if is_wordy(data) and counts.digit < 2:
            return False
        if not (value.tight and value.ends_line and counts.digit >= 2):
            return False
    if value.strict and kinds < 3 and size < 12:
        return False
    if counts.digit == 0:
        if signs >= 1 and kinds >= 3 and size >= 8:
            return True
        return size >= 10 and not is_wordy(data) and (kinds >= 2 or size >= 16)
    if is_wordy(data):
        return size >= 8 and (counts.digit >= 2 or signs >= 1 or (counts.upper > 0 and counts.other > 0))
    return kinds >= 2


def _is_token(data: bytes, value: Value, counts: Counts, mode: int, logs: Sequence[int]) -> bool:
    size = len(data)
    if is_uuid(data):
        return mode == SECRET
    if size < (12 if value.quoted else 16) or size > 2048 or is_wordy(data):
        return False
    if any(byte not in _NAME and byte not in b"-.+/=~:%$!@#^&*?|,;" for byte in data):
        return False
    if counts.digit == 0 and not (size >= 16 and counts.lower > 0 and counts.upper > 0 and 3 * counts.changes >= size):
        return size >= 20 and entropy_holds(data, 249037, logs)
    if not value.quoted and is_name(data) and b"." in data and 4 * counts.changes < size:
        return False
    return 6 * counts.changes >= size and entropy_holds(data, 176947 if size < 24 else 203162, logs)
