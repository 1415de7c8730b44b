"""Forms of what is not a secret, as ``secrets/forms.hpp``: templates, references, paths, names, headers."""

from __future__ import annotations

import re
from typing import Final

from tipstaff.kernels.plain.secrets.letters import (
    DIGIT,
    FILE_ENDINGS,
    HEX,
    LETTER,
    LOWER,
    NAME,
    REFERENCES,
    UPPER,
    Counts,
    Value,
    Words,
    counts_of,
    is_pronounceable,
    is_wordy,
    spoken,
)

_TEMPLATE_SIGNS: Final = tuple(b"${ $( {{ }} {} <% %> #{ ... *** \xe2\x80\xa6 ://".split())
_FORMAT: Final = re.compile(rb"%[-0-9.]*s(?![0-9A-Za-z])")
_NAME_ENDINGS: Final = (b"Key", b"Keys", b"Type", b"Types", b"Token", b"Tokens", b"Secret", b"Secrets")


def is_uuid(data: bytes) -> bool:
    """Return whether it has the form of a UUID."""
    return len(data) == 36 and all(
        byte == 0x2D if at in {8, 13, 18, 23} else byte in HEX for at, byte in enumerate(data)
    )


def is_template(data: bytes) -> bool:
    """Return whether something is to be put into it: it is no value yet."""
    if len(data) > 4 and data[0] in b"\"'" and data[-1] == data[0]:
        data = data[1:-1]
    first, last = data[0], data[-1]
    if first == 0x24 and len(data) > 1 and (data[1] in NAME or data[1] in b"{("):
        return True
    if (first, last) in {(0x3C, 0x3E), (0x25, 0x25), (0x7B, 0x7D), (0x5B, 0x5D), (0x28, 0x29)}:
        return True
    if any(sign in data for sign in _TEMPLATE_SIGNS) or (_FORMAT.search(data) and not _is_mixed(data)):
        return True
    opened = data.find(b"{")
    if opened >= 0 and data.find(b"}", opened) > opened + 1:
        inner = data[opened + 1 : data.find(b"}", opened)]
        return all(byte in NAME or byte in b".[]()-:" for byte in inner)
    return False


def _is_mixed(data: bytes) -> bool:
    """Return whether it is of letters of both cases, digits and three signs or more, so that ``%s`` is by chance."""
    counts = counts_of(data)
    return min(counts.lower, counts.upper, counts.digit) > 0 and counts.other >= 3 and b" " not in data


def is_reference(data: bytes, words: Words) -> bool:
    """Return whether it says where the value is, or is a name of a file."""
    folded = data.lower()
    if any(folded.startswith(word) for word in words(REFERENCES)) or _is_anchor(data, words):
        return True
    counts = counts_of(data)
    shouted = counts.lower > 0 and data[-1] in UPPER  # 3x8y.H: no ending of a file
    if any(folded.endswith(word) for word in words(FILE_ENDINGS)) and 3 * counts.digit <= len(data) and not shouted:
        return True
    return ((data[0] in b"/~" or data.startswith(b"./")) and is_wordy(data)) or is_location(data)


_VERSION: Final = re.compile(rb"(?<=/v)[0-9](?=/|\Z)")
_ANCHOR: Final = re.compile(rb"([A-Za-z0-9_./-]{4,})#[A-Za-z0-9_.-]+")


def _is_anchor(data: bytes, words: Words) -> bool:
    """Return whether it is a file and a place in it: ``Chapter4.html#S4.18``."""
    found = _ANCHOR.fullmatch(data)
    return (
        found is not None
        and found[1].lower().endswith(tuple(words(FILE_ENDINGS)))
        and found[1][-1] in LOWER
        and found[1][-3] in LOWER
    )


def is_location(data: bytes) -> bool:
    r"""Return whether it says where something is, by its form alone.

    A path of two folders or more, without digits (``/go/src/app``, ``very/deep/test/s``) or with an ending
    (``doc/man3/open.3``); a path or
    class with backslashes (``Symfony\Component\Form``); a host with a port (``www.acme.io:443``).
    """
    if any(byte not in NAME and byte not in b"/\\.-:" for byte in data):
        return False
    unversioned = _VERSION.sub(b"", data)  # /v1/ is a word of an address
    if data[0] == 0x2F and data.count(b"/") >= 2 and counts_of(unversioned).digit == 0:
        return True
    if data.count(b"/") >= 2 and b"." in data[data.rfind(b"/") :]:
        return True
    if data.count(b"/") >= 3 and not any(byte in DIGIT or byte in UPPER for byte in unversioned):
        return True
    counts = counts_of(unversioned)
    if data[0] == 0x2F and data.count(b"/") >= 3 and 6 * counts.digit <= len(data) and counts.upper == 0:
        return True  # /proj/rd/eric/pyds9/xpa
    if data.count(b"/") >= 2 and data.endswith(b"/") and b"." in data.partition(b":")[0]:
        return True
    if b"/" not in data and len(data) > 3 and data[0] in LETTER and data[1:3] == b":\\":
        return True
    if b"\\" in data and b"/" not in data and (data[0] == 0x5C or data[0] in UPPER):
        return counts_of(unversioned).digit == 0
    host, colon, port = data.rpartition(b":")
    return bool(colon) and 2 <= len(port) <= 5 and port.isdigit() and b"." in host and b":" not in host


def is_name(data: bytes) -> bool:
    """Return whether it may be a name in a program: letters, digits, underscores, and dots between."""
    return data[0] in LETTER | {0x5F} and all(byte in NAME or byte == 0x2E for byte in data)


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
    names = data[0] in LETTER and counts.other == lines
    if data[0] == data[-1] == 0x5F and counts.other == lines and counts.lower == 0:  # _DBPASS_
        return True
    if lines >= 3 and counts.other == lines and counts.upper == 0:  # s3_us_east_1_regional_endpoint
        letters, pronounceable = spoken(data)
        if 10 * pronounceable >= 8 * letters and letters >= 8:
            return True
    if lines >= 2 and counts.other == lines + data.count(b"-") and _is_parts(data):
        return True
    if names and counts.lower == 0 and lines >= (1 if value.strict else 2) and 3 * counts.digit <= size:
        return True
    if names and lines == 0 and counts.digit == 0 and counts.upper >= 2 and counts.lower >= 3 * counts.upper:
        return True
    is_joined = names and lines == 0 and counts.upper >= 2 and data[-2] in LOWER
    if is_joined and any(data.endswith(end) and size >= len(end) + 6 for end in _NAME_ENDINGS):
        return True
    if not value.quoted and b"." in data and is_name(data) and _is_member(data, counts.digit):
        return True
    if not value.strict:
        return False
    if is_header(data, counts) or _FIELD.fullmatch(data) or _is_algorithm(data) or _NUMBERED.fullmatch(data):
        return True
    if counts.other == lines and lines >= 2 and 5 * counts.digit <= size and not _is_jumbled(data, counts):
        return True
    return data[0] == 0x2F and counts.digit == 0 and counts.other == lines + data.count(b"/")


def _is_jumbled(data: bytes, counts: Counts) -> bool:
    """Return whether letters in both cases and digits are of no words: ``cRNwa_1BgWjDV5_k``."""
    letters, pronounceable = spoken(data)
    return min(counts.lower, counts.upper, counts.digit) > 0 and 2 * pronounceable < letters


def _is_parts(data: bytes) -> bool:
    """Return whether signs join three short parts or more, each in one case: ``ALICE_cf_wap-wsg_secp160r1``."""
    parts = data.replace(b"-", b"_").split(b"_")
    first = parts[0]
    return (
        len(first) >= 2
        and all(byte in LETTER for byte in first)
        and all(
            0 < len(part) <= 10 and not (any(b in LOWER for b in part) and any(b in UPPER for b in part))
            for part in parts
        )
    )


_ALGORITHM_PART: Final = re.compile(rb"(?:[a-z]{1,10}|[A-Z]{1,10})[0-9]{0,3}|[0-9]{1,4}")
_NUMBERED: Final = re.compile(rb"[0-9]{4}_[a-z][a-z0-9_]{2,}")
"""A number and words, as migrations are named: ``0007_auto_20171017_2214``."""


def _is_algorithm(data: bytes) -> bool:
    """Return whether hyphens join short words, each with a number or without: ``AES-128-CBC``, ``ssh-ed448``."""
    parts = data.split(b"-")
    return (
        2 <= len(parts) <= 6
        and all(_ALGORITHM_PART.fullmatch(part) for part in parts)
        and any(part[1:2].isalpha() for part in parts)
    )


def _is_member(data: bytes, digits: int) -> bool:
    """Return whether a name with dots ends with pronounceable words: ``x25519.X25519PrivateKey``, ``a.Package.Dir``."""
    size = len(data)
    if digits >= 3 and data[0] in UPPER and data[-1] in UPPER and data[-2] in LOWER:  # Velvet329.saffronY
        return False
    start = size
    while start > 0 and data[start - 1] in LETTER:
        start -= 1
    letters, pronounceable = spoken(data[start:])
    return letters >= (3 if digits == 0 else 6) and 10 * pronounceable >= 7 * letters


def is_header(data: bytes, counts: Counts) -> bool:
    """Return whether it is a name as headers have it: ``Access-Control-Allow-Headers``."""
    dashes = data.count(b"-")
    return (
        dashes > 0
        and counts.digit == 0
        and counts.other == dashes
        and counts.upper == dashes + 1
        and all(part[:1] and part[0] in UPPER for part in data.split(b"-"))
    )


def is_dated(data: bytes) -> bool:
    """Return whether hyphens join words and numbers, each whole: ``files-api-2025-04-14``."""
    parts = data.split(b"-")
    words = [part for part in parts if part and all(byte in LOWER for byte in part)]
    numbers = sum(bool(part) and all(byte in DIGIT for byte in part) for part in parts)
    return len(words) + numbers == len(parts) and any(len(word) >= 4 and is_pronounceable(word) for word in words)


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
    joint = any(byte in b".:_" for byte in data)
    if strict and all(byte in NAME for byte in data) and (digits == 0 or (digits == 1 and is_wordy(data))):
        return True
    if strict and joint and all(byte in LOWER or byte in b"_.:-" for byte in data):  # ad_dc_ntvfs:local
        return True
    return word and digits == 0 and len(data) < 48 and joint


_HARMLESS: Final = re.compile(
    rb"\d{4}-\d\d-\d\dT\d\d:\d\d|[0-9.]+[eE][-+]?\d{1,3}\Z|[0-9]+\.[0-9]+[dDfFlL]\Z|(?:\*[0-9A-Fa-f]{40}|#(?:[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})|(?:pub|md5)[0-9A-Fa-f]{32}|0x[0-9A-Fa-f]{1,8}|0x[0-9A-Fa-f]{40}|eyJ[^.]{0,29})\Z"
    rb"|eyJ(?:hbGci|0eXAi|raWQi|4NXQi|jdHki)[^.]*(?:\.[^.]*){0,1}\Z|eyJ(?:hbGci|0eXAi|raWQi|4NXQi|jdHki)[^.]*\.[^.]*\.\Z",
    re.DOTALL,
)
_FIELD: Final = re.compile(rb"[a-z][a-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)+")
"""The name of a field of something: ``ipmi.user.pwd``, ``mysql.caps.lp``."""
_RATE: Final = re.compile(rb"\d+/[a-z0-9/,]*")
_OPTION: Final = re.compile(rb"[a-z_]*=")
_SETTING: Final = re.compile(rb"(?:-D)?(?:[A-Z_][A-Z0-9_]{2,}=|[a-z_]{3,}=[0-9A-Za-z])")


def is_setting(data: bytes) -> bool:
    """Return whether it sets a variable or an option: ``GUILE_AUTO_COMPILE=0``, ``attr_timeout=0``, ``-Dx=no``."""
    return _SETTING.match(data) is not None


_CALL: Final = re.compile(rb"[A-Za-z_.]{3,}\((?s:(['\"]).*)\1\)")


def is_call(data: bytes) -> bool:
    """Return whether it is a call of a program on a string: ``WinDLL('./_sqlite3.dll')``."""
    return _CALL.fullmatch(data) is not None


_CIPHERS: Final = re.compile(rb"(?=[!+%-][A-Za-z])(?:[!+%:-][a-z](?=[A-Z])|[A-Z0-9!+%:.@_-])+")
_JOINED: Final = re.compile(rb".+[!+%:-][A-Za-z]|.+@")
_FINGERPRINT: Final = re.compile(rb"(?=.*[A-F])[0-9A-F]{40}")


def is_cipher_list(data: bytes) -> bool:
    """Return whether it says which ciphers are to be used: ``+VERS-TLS1.3:+CIPHER-ALL``, ``!RC4:!LOW@STRENGTH``."""
    return len(data) >= 8 and _CIPHERS.fullmatch(data) is not None and _JOINED.match(data) is not None


def is_marked_name(data: bytes) -> bool:
    """Return whether what follows a first sign is a name, or not a password: ``*args``, ``!vault``, ``&anchor``."""
    counts = counts_of(data)
    named = all(byte in NAME or byte in b"-./:" for byte in data[1:])
    return named or counts.digit < 2 or counts.lower == 0 or counts.upper == 0


def is_harmless(data: bytes) -> bool:
    """Return whether it opens nothing by its form alone.

    A time (``2025-09-22T07:01:06Z``), a number (``1.142857e-07``, ``15915.6f``), MySQL's or PostgreSQL's hash of a
    password, a colour (``#03fccf``), an identifier made of a time (a UUID of version 1), a client token that Datadog
    publishes, the address of an Ethereum account, a number in hexadecimal digits, a JSON Web Token without its
    signature, words with escapes for blanks, how often something may be (``20/m/ip,5/m/key``), names of ciphers, a
    fingerprint.
    """
    if is_uuid(data) and data[14] == 0x31:
        return True
    if is_cipher_list(data) or _FINGERPRINT.fullmatch(data):
        return True
    if data.count(b"%20") >= 2 or (len(data) <= 24 and _RATE.fullmatch(data)):
        return True
    return _HARMLESS.match(data) is not None


_EITHER: Final = re.compile(rb"(?=[A-Za-z0-9_]*\.)[A-Za-z0-9_.]*(?:\|\||&&)")


def is_code(data: bytes, value: Value, counts: Counts) -> bool:
    """Return whether a value without quotes is code.

    ``state?.key``, ``exports.Result=void``, a name that a statement assigns.
    """
    name, sign, rest = data.partition(b"=")
    if _EITHER.match(data):  # t.passNode||!1, opts.key&&opts.key
        return True
    if b"?." in data or (sign and rest[:1].isalpha() and b"." in name and all(b in NAME or b == 0x2E for b in name)):
        return True
    if _OPTION.fullmatch(data):  # password= log_file_name= ssl_key=
        return True
    if value.tight or value.ends_line or not is_name(data):
        return False
    return counts.digit == 0 or (b"_" in data and counts.upper == 0)


_SEALED: Final = re.compile(
    rb"""(?x) :?v[0-9]:[0-9A-Za-z+/]{16}:[0-9A-Za-z+/]{22}  # Pulumi: a nonce and what is encrypted
    | [0-9]:[0-9]:[0-9A-Za-z+/]{24}  # Magento: versions of the key and of the cipher
    | [0-9]\.[0-9A-Za-z+/]{22}==\|[0-9A-Za-z+/]{8,}={0,2}\|  # Bitwarden
    | [0-9A-Za-z+/]{8,}={0,2}--[0-9A-Za-z+/]{16}--[0-9A-Za-z+/]{22}==\Z  # Rails
    | MASK-[0-9A-Za-z]  # WildFly
    | CiQA(?=.{76}) | Ci[ABCD](?=.{176})  # key management of Google and, in an older form, of AWS
    | (?:wcFMA|wcBMA|hQEMA|hQIMA)(?=.{95})  # an OpenPGP message""",
    re.DOTALL,
)
_SEALED_UNLESS_TOKEN: Final = re.compile(rb"(?s)gAAAAA.{94}|eyJpdiI6I")


def is_sealed(data: bytes, *, token: bool) -> bool:
    """Return whether a value is encrypted by its form: a SealedSecret's, Pulumi's, Rails', Bitwarden's ...

    A SealedSecret's is base64 that begins with the length of an RSA session key, 512. What Fernet and Laravel encrypt
    is a credential itself where it is a token: Keystone and sessions give out such ones.
    """
    if len(data) >= 300 and data[:3] in {b"AgA", b"AgB", b"AgC", b"AgD"}:
        return True
    return _SEALED.match(data) is not None or (not token and _SEALED_UNLESS_TOKEN.match(data) is not None)


_ACRONYMS: Final = re.compile(rb"[A-Z]{2,8}[0-9]{0,2}(?:[-/][A-Z]{2,8}[0-9]{0,2})+")


def is_acronyms(data: bytes) -> bool:
    """Return whether signs join names in capitals: ``JSON-RPC/XML-RPC``, ``MARC21/XML``."""
    return b"/" in data and _ACRONYMS.fullmatch(data) is not None


_APPLICATION: Final = re.compile(rb"[A-Za-z_.]{3,}\([A-Za-z_., ]*\)")


def is_application(data: bytes) -> bool:
    """Return whether it is a call as people name it: ``useStyles(data)``."""
    return _APPLICATION.fullmatch(data) is not None


_SIGNED: Final = re.compile(rb"[a-z0-9]{3,24}:[0-9A-Za-z+/]{43}=")


def is_signed(data: bytes) -> bool:
    """Return whether it is an account and a signature, as after Azure's ``SharedKey``."""
    return _SIGNED.fullmatch(data) is not None
