"""How an assigned value is judged: as a secret, or as a placeholder, a reference, a name.

Everything here looks at bytes, does the same as ``secrets/values.hpp``, and takes time linear in the value.
"""

from __future__ import annotations

from collections.abc import Sequence

from tipstaff.kernels.plain.secrets.forms import (
    is_acronyms,
    is_application,
    is_call,
    is_code,
    is_dated,
    is_harmless,
    is_header,
    is_identifier,
    is_marked_name,
    is_name,
    is_name_like,
    is_reference,
    is_sealed,
    is_setting,
    is_signed,
    is_template,
    is_uuid,
)
from tipstaff.kernels.plain.secrets.letters import (
    HEX,
    LETTER,
    NAME,
    OBVIOUS,
    PLACEHOLDER,
    PLAIN_VALUE,
    Counts,
    Value,
    Words,
    counts_of,
    entropy_holds,
    holds_any,
    is_compound,
    is_random,
    is_repeated,
    is_sequence,
    is_wordy,
    spoken,
)
from tipstaff.kernels.plain.secrets.samples import (
    encodes_sample,
    is_between_strings,
    is_descriptive,
    is_label,
    is_mostly_escapes,
    reads_as_sample,
)

PASSWORD, SECRET, TOKEN, QUOTED, UNQUOTED = range(1, 6)
"""Judges, in the order of ``JUDGES`` in `tipstaff.gates.secrets.packs`."""


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
    if size < 4 or size > 4096 or is_template(data) or is_reference(data, words):
        return False
    if is_sealed(data, token=mode == TOKEN):
        return False
    if is_harmless(data) or data.startswith((b"&amp;", b"&lt;")):  # the latter follow a tag
        return False
    if value.strict and (data.startswith(b"\\x") or is_setting(data) or is_call(data)):
        return False
    if value.strict and data[0] == 0x2D and (data[1] in LETTER or data[1] == 0x7B):  # pass '-{ld,gc}flags' to it
        return False
    if is_acronyms(data) or is_application(data) or (value.prose and is_signed(data)):
        return False
    if mode == PASSWORD and data.startswith(b"0x") and all(byte in HEX for byte in data[2:]):  # a key, localized
        return False
    if not value.quoted and data.startswith(b"--"):  # the next option
        return False
    if holds_any(data, words(OBVIOUS if wary else PLACEHOLDER)):
        return False
    if not value.quoted and (
        (data[0] in b"!*&@" and is_marked_name(data))
        or any(byte in b"([{" for byte in data)
        or b"=>" in data
        or b"->" in data
    ):
        return False
    if not value.quoted and (b"::" in data or (data[0] == 0x23 and all(byte in LETTER for byte in data[1:]))):
        return False  # Convert::ASN1, and a comment: #Password
    if not value.quoted and data[0] == 0x2D and all(byte in LETTER or byte == 0x2D for byte in data):
        return False  # -PassThru -ErrorAction: the next option
    if value.quoted and (is_between_strings(data) or data.endswith(b"()")):
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
    counts = counts_of(data)
    if counts.lower + counts.upper == 0 or counts.distinct < 5:
        return False
    random = is_random(data, counts, words)
    if value.prose and not random and not stands_out(data, counts):
        return False
    if value.wrapped and (not random or all(byte in HEX for byte in data)):
        return False  # getString("password.label"), decode("1c0a")
    if not random and (holds_any(data, words(PLAIN_VALUE)) or reads_as_sample(data, words, password=mode == PASSWORD)):
        return False
    if value.quoted and counts.digit == 0 and data[-1] == 0x3A:
        return False
    if mode != PASSWORD and ((data.count(b"-") >= 2 and is_header(data, counts)) or _is_dashed(data)):
        return False
    if not value.quoted and (is_code(data, value, counts) or (counts.digit == 0 and _is_dashed(data))):
        return False
    if encodes_sample(data, words) or is_mostly_escapes(data, words):
        return False
    if (not random or counts.other > 0) and (
        is_name_like(data, counts.digit, strict=value.strict, word=mode != PASSWORD)
        or is_identifier(data, value, counts)
    ):
        return False
    if mode == PASSWORD:
        return _is_password(data, value, counts, random=random)
    return _is_token(data, value, counts, mode, logs, random=random)


def _is_dashed(data: bytes) -> bool:
    return data.count(b"-") >= 2 and is_dated(data)


def stands_out(data: bytes, counts: Counts) -> bool:
    """Return whether a word in prose is a password.

    Two digits, small letters, and capitals or signs; or a digit among letters of both cases that follow no word; or a
    sign within letters of both cases that are no words.
    """
    marks = sum(byte in b"!@#$%^&*+?~" for byte in data)
    if counts.digit == 0 and len(data) >= 10 and min(counts.lower, counts.upper) >= 2:
        return any(byte in b"!@#$%^&*+?~" for byte in data[1:-1]) and not is_wordy(data)
    if counts.digit == 0 or counts.lower == 0 or counts.upper + marks == 0:
        return False
    return counts.digit >= 2 or (len(data) >= 10 and not is_wordy(data))


def _is_password(data: bytes, value: Value, counts: Counts, *, random: bool) -> bool:
    size = len(data)
    kinds = (counts.lower > 0) + (counts.upper > 0) + (counts.digit > 0) + (counts.other > 0)
    if size < (6 if value.quoted else 8) or size > 256:
        return False
    signs = sum(byte not in NAME and byte not in b"-./:" for byte in data)
    wordy = not random and is_wordy(data)
    if not random and not value.quoted and is_name(data) and 4 * counts.changes < size:
        # A name in a program, or a short password: where the form is a program's, it is a name.
        if wordy and counts.digit < 2:
            return False
        mixed = counts.lower > 0 and counts.upper > 0 and 3 * counts.digit >= size
        if not mixed and not (value.tight and value.ends_line and counts.digit >= 2):
            return False
    if value.strict and kinds < 3 and size < 12:
        return False
    if counts.digit == 0:
        if signs >= 1 and kinds >= 3 and size >= 8:
            return True
        if signs == 0 and counts.upper == 0 and counts.other > 0:  # roundcube-pgsql: words that hyphens join
            letters, pronounceable = spoken(data)
            if 2 * pronounceable >= letters:
                return False
        return size >= 10 and not wordy and (kinds >= 2 or size >= 16)
    if wordy:
        return size >= 8 and (counts.digit >= 2 or signs >= 1 or (counts.upper > 0 and counts.other > 0))
    return kinds >= 2


def _is_token(data: bytes, value: Value, counts: Counts, mode: int, logs: Sequence[int], *, random: bool) -> bool:
    size = len(data)
    if is_uuid(data):
        return mode == SECRET and counts.upper == 0  # in capitals it is an identifier
    if size < (12 if value.quoted else 16) or size > 2048:
        return False
    if not random and (is_compound(data, counts) or is_wordy(data)):
        return False
    signs = b"-.+/=~:%$!@#^&*?|,;()" if value.quoted and size >= 40 else b"-.+/=~:%$!@#^&*?|,;"
    if any(byte not in NAME and byte not in signs for byte in data):
        return False
    mixed = size >= 16 and counts.lower > 0 and counts.upper > 0 and 3 * counts.changes >= size
    if counts.digit == 0 and not random and not mixed:
        return size >= 20 and entropy_holds(data, 249037, logs)
    if not value.quoted and is_name(data) and b"." in data and 4 * counts.changes < size:
        return False
    # Of random hexadecimal digits, ten of sixteen are digits.
    changes = (12 if size >= 32 and all(byte in HEX for byte in data) else 6) * counts.changes
    return (random or changes >= size) and entropy_holds(data, 176947 if size < 24 else 203162, logs)
