"""Reading an assignment from the name that calls something a secret to the value it is given.

One reader serves the syntaxes of programming languages, configuration files, markup, headers, queries and command
lines. It does the same as ``secrets/assignments.hpp``, looks at a bounded stretch on either side, and never goes back.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.kernels.plain.secrets import letters
from tipstaff.kernels.plain.secrets.forms import is_uuid
from tipstaff.kernels.plain.secrets.letters import DIGIT, HEX, LETTER, LOWER, NAME, UPPER, Value, Words, is_wordy
from tipstaff.kernels.plain.secrets.names import (
    BLANKS,
    after_login,
    is_macro,
    is_named_twice,
    name_end,
    name_start,
    parts_hold,
    word_before,
)

VALUE_REACH: Final = 1024
_QUOTES: Final = frozenset(b"\"'`")
_ENDS_VALUE: Final = frozenset(b" \t\r\n\"'`,;<>)]}\\")
_TYPE: Final = NAME | frozenset(b"&'<>[]|.*? ")
_PAIR: Final = re.compile(
    rb"(?:[ \t]{0,16}+(?:,|\r?\n)|[ \t]{1,16}+)[ \t]{0,40}+[\"']?(?:[vV]alue|default|useValue)[\"']?[ \t]{0,4}+[:=][ \t]{0,8}"
)
_TYPED: Final = re.compile(rb"[A-Za-z*&\[][A-Za-z0-9_.*&<>\[\]]{1,30}[ \t]{1,4}:?=[ \t]{0,4}")
_ENCODED: Final = re.compile(rb"%3[aAdD]|\\u003[aAdD]|&#58;|&#61;|&#x3[aAdD];")
_ENCODED_QUOTE: Final = re.compile(rb"%22|%27|\\u0022|\\u0027|&quot;|&#34;|&#39;|&apos;")


def _blanks(text: bytes, at: int, most: int) -> int:
    end = min(len(text), at + most)
    while at < end and text[at] in BLANKS:
        at += 1
    return at


def _blanks_and_lines(text: bytes, at: int) -> int:
    """Return what follows blanks with up to two ends of lines among them."""
    lines = 0
    end = min(len(text), at + 24)
    while at < end and (text[at] in BLANKS or (text[at] in b"\r\n" and lines < 2)):
        lines += text[at] == 0x0A
        at += 1
    return at


def quote_at(text: bytes, at: int) -> int:
    """Return the length of the quote that is there, 0 for none: plain, escaped, tripled or encoded."""
    size = len(text)
    if at >= size:
        return 0
    byte = text[at]
    if byte in _QUOTES:
        return 3 if byte != 0x60 and text[at : at + 3] == bytes((byte,)) * 3 else 1
    if byte == 0x5C:
        slashes = at
        while slashes < size and slashes - at < 7 and text[slashes] == 0x5C:
            slashes += 1
        if slashes < size and text[slashes] in b"\"'":
            return slashes - at + 1
    match = _ENCODED_QUOTE.match(text, at)
    return 0 if match is None else match.end() - at


def _quoted(text: bytes, at: int, size: int) -> int:
    """Return where the string ends whose opening quote of `size` bytes is at `at`, -1 if it does not."""
    quote = text[at : at + size]
    limit = min(len(text), at + size + VALUE_REACH)
    position = at + size
    while position < limit:
        byte = text[position]
        if text.startswith(quote, position):
            return position
        if byte in b"\r\n" and size != 3:
            return -1
        # Of a plain string, a backslash takes the next byte with it; of an escaped one it cannot.
        position += 2 if byte == 0x5C and size == 1 else 1
    return -1


def _next_field(text: bytes, at: int) -> bool:
    """Return whether ``name=`` is there: a query continues."""
    limit = min(len(text), at + 40)
    start = at
    while at < limit and (text[at] in NAME or text[at] == 0x2D):
        at += 1
    return start < at < len(text) and text[at] == 0x3D


_TAG: Final = re.compile(rb"</(?:key|name|param-name)>")
_ATTRIBUTES: Final = re.compile(rb"(?:[ \t]{1,4}+[A-Za-z]{1,24}+=\"[^\"<>\r\n]{0,40}+\")?+>")
_TAG_VALUE: Final = re.compile(rb"<(?:string|value|param-value)>")


def _tag_value(text: bytes, at: int, *, attribute: bool) -> int:
    """Return where the value begins of ``<key>X</key><string>x</string>``, ``name="X"><value>x</value>``, 0 for none."""
    tag = _TAG.match(text, at) or (_ATTRIBUTES.match(text, at) if attribute else None)
    value = None if tag is None else _TAG_VALUE.match(text, _blanks_and_lines(text, tag.end()))
    return 0 if value is None else value.end()


_CALL: Final = re.compile(rb"[A-Za-z][A-Za-z0-9_.:]{0,39}\(")
_ARGUMENT: Final = re.compile(rb"(?:default|value)[ \t]{0,1}[=:][ \t]{0,1}")
_APPLIED: Final = re.compile(rb"([A-Z][a-z]{1,7})[ \t](?=[\"'])")


def _wrapped_string(text: bytes, at: int, words: Words) -> tuple[int, bool]:
    """Return where the string begins that calls around it are given, and whether all of them hold it as it is.

    0 where there is none. ``String::from("x")``, ``Some("x")`` and Haskell's ``Just "x"`` hold it, ``decode("x")`` may not.
    """
    holders = words(letters.HOLDERS)
    applied = _APPLIED.match(text, at)
    if applied is not None and applied[1].lower() in holders:
        return applied.end(), True
    at += 4 if text.startswith(b"new ", at) else 0
    at += 2 if text.startswith(b"[]", at) else 0
    held = True
    for _ in range(2):
        call = _CALL.match(text, at)
        if call is None:
            return 0, False
        held = held and re.split(rb"[.:]", call[0][:-1])[-1].lower() in holders
        at = call.end()
        argument = _ARGUMENT.match(text, at)
        at = at if argument is None else argument.end()
        if quote_at(text, at):
            return at, held
    return 0, False


_PROSE_REACH: Final = 64


def _prose_value(text: bytes, at: int, words: Words) -> int:
    """Return where the value begins of what people write, 0 where none does.

    ``password is x``, ``password for the jump host: x``, ``password (prod): x``, ``password -> x``.
    """
    limit = min(len(text), at + _PROSE_REACH)
    if text.startswith(b"-> ", at):
        return _blanks(text, at + 2, 8)
    if text[at] == 0x28:
        close = text.find(b"): ", at, limit)
        return 0 if close < 0 or b"\n" in text[at:close] else _blanks(text, close + 2, 8)
    linked = False
    for _ in range(7):
        start = at
        while at < limit and text[at] in LETTER:
            at += 1
        word = text[start:at].lower()
        if linked and word not in words(letters.COPULAS):
            return start
        if at == start or at >= limit:
            return 0
        if text[at] == 0x3A:
            at += 1
            return _blanks(text, at, 8) if text[at : at + 1] == b" " else 0
        if text[at] != 0x20:
            return 0
        linked = word in words(letters.COPULAS)
        at = _blanks(text, at, 4)
    return 0


def _prose(text: bytes, at: int) -> Value | None:
    """Return a value in prose: a string, or up to the next blank without the signs that end a sentence."""
    mark = quote_at(text, at)
    if mark:
        end = _quoted(text, at, mark)
        return Value(at + mark, end, True, True, True, False) if end > at + mark else None
    end = at
    while end < len(text) and end - at < VALUE_REACH and text[end] not in _ENDS_VALUE:
        end += 1
    while end > at and text[end - 1] in b".:?":
        end -= 1
    return Value(at, end, False, True, True, False, prose=True) if end > at else None


def _default_value(text: bytes, at: int) -> int:
    """Return where the value begins of ``variable "X" { default = "x" }`` in Terraform, 0 where it does not."""
    at = _blanks(text, at, 4)
    if text[at : at + 1] != b"{":
        return 0
    limit = min(len(text), at + 400)
    while at < limit:
        while at < limit and text[at] not in b"\r\n}":
            at += 1
        if at >= limit or text[at] == 0x7D:
            return 0
        at = _blanks_and_lines(text, at)
        if text.startswith(b"default", at):
            at = _blanks(text, at + 7, 16)
            return _blanks(text, at + 1, 8) if text[at : at + 1] == b"=" else 0
    return 0


def assignment(text: bytes, start: int, end: int, *, anywhere: bool, named: bool, words: Words) -> Value | None:
    """Return the value that is given to the name around ``text[start:end]``, None where none is.

    Parameters
    ----------
    text
        All of it.
    start, end
        The word that was found.
    anywhere
        Whether the name may be any, and ends with the word.
    named
        Whether the name is a provider's: then it may be about anything.
    words
        The table's lists.
    """
    size = len(text)
    named_end = at = end
    head = start
    flag = False
    if not anywhere:
        if not named and end < size and text[end] in LETTER and (text[end] in LOWER or text[end - 1] not in LOWER):
            return None
        at = name_end(text, end)
        named_end = at - 4 if at - 4 >= end and text[at - 4 : at + 1] == b".set(" else at
        head = name_start(text, start)
        if not named and (
            parts_hold(text[end:named_end], words(letters.ABOUT_AFTER))
            or parts_hold(text[head:start], words(letters.ABOUT_BEFORE))
        ):
            return None
        flag = text[head : head + 1] == b"-"
    before = text[head - 1] if head > 0 else 0x0A
    if before == 0x3A and head > 1 and text[head - 2] == 0x3A:  # AWS::IAM::AccessKey: the name of a type
        return None
    query = before in b"?&"
    key_quote = False
    for _ in range(3):
        mark = quote_at(text, at)
        if mark == 0 and at < size and text[at] == 0x5D and at > named_end:
            mark = 1
        elif mark == 0 and before == 0x7B and at == named_end and text[at : at + 1] == b"}":  # $ENV{X} = "x"
            mark = 1
        elif mark:
            key_quote = True
        if mark == 0:
            break
        at += mark
    if anywhere and text[end - 1] in _QUOTES:
        key_quote = True
    is_command = before != 0x60 or text[head:named_end].lower() == b"pwd"
    if not anywhere and text[named_end : named_end + 1] == b"`" and is_command:  # `/bin/pwd`
        return None
    source = text[head:named_end].lower().endswith(tuple(words(letters.SOURCE_ENDINGS)))
    if not anywhere and not named and key_quote and source:
        return None
    if before == 0x24 and key_quote:  # [ "$PWD" = "/srv" ]: a comparison
        return None
    if before in b":/" and at == named_end and text[at : at + 1] == b":" and text[at + 1 : at + 2].strip():
        return None  # arn:aws:...:secret:name, types/pwd_data:anchor
    gap = at
    pair = _PAIR.match(text, at)
    valued = pair.end() if pair is not None else _default_value(text, at) if key_quote else 0
    tagged = 0 if valued > at else _tag_value(text, at, attribute=key_quote)
    valued = max(valued, tagged)
    if valued > at:
        # ``name: X`` with ``value: x`` after it: on the next line, in the next attribute or pair.
        return _value(
            text,
            valued,
            valued,
            words,
            query=False,
            colon=not tagged,
            spaced=False,
            strict=False,
            markup=bool(tagged),
            flag=False,
        )
    at = _blanks(text, at, 16)
    if at < size and text[at] in b"\r\n":
        ahead = _blanks_and_lines(text, at)
        if ahead < size and text[ahead] in b"=:":
            at = ahead
    if at >= size:
        return None
    byte = text[at]
    spaced = at > gap
    strict = False
    colon = False
    markup = False
    sign = at
    encoded = _ENCODED.match(text, at)
    if byte == 0x3D:
        at += 1
        while at < size and at - sign < 3 and text[at] in b"=>~":
            at += 1
    elif byte == 0x3A:
        if text[at + 1 : at + 2] == b":":
            return None
        if before == 0x40 or text.startswith(b"://", at):  # @password: what it is, in comments
            return None
        at += 1
        colon = True
        if at < size and text[at] == 0x3D:
            at += 1
            colon = False
    elif byte in b"?+|" and re.compile(rb"[?+|]{1,2}=").match(text, at):
        at = text.index(b"=", at) + 1
    elif byte in b"?|" and text[at + 1 : at + 2] == bytes((byte,)) and quote_at(text, _blanks(text, at + 2, 4)):
        at += 2  # process.env.SECRET || "x"
    elif encoded is not None:
        at = encoded.end()
        for _ in range(4):
            at += 3 if text.startswith(b"%20", at) else 0
    elif byte == 0x3E and (before == 0x3C or key_quote):
        at += 1
        markup = True
    elif spaced and not key_quote and not flag and not anywhere and (prose := _prose_value(text, at, words)):
        return None if before in b"$/{" else _prose(text, prose)
    elif byte == 0x7B and not key_quote and not spaced and quote_at(text, at + 1):  # kApiKey{"x"}
        at += 1
        strict = True
    elif key_quote and spaced and text.startswith(b"to ", at) and quote_at(text, at + 3):  # "apiKey" to "x"
        at += 3
    elif (byte == 0x2C and key_quote) or (byte == 0x28 and not key_quote):
        at += 1
        strict = True
    elif spaced and (typed := _TYPED.match(text, at)) is not None and quote_at(text, typed.end()):
        at = typed.end()
    elif (
        spaced
        and not key_quote
        and (
            flag
            or text[at - 1 : at + 1] in {b' "', b" '"}
            or word_before(text, head, words(letters.INTRODUCERS))
            or after_login(text, head)
            or text[start:end].lower() in {b"requirepass", b"masterauth", b"securestring", b"rootpw", b"bindpw"}
        )
    ):
        if before in BLANKS and text[max(head - 3, 0) : head - 1].lower() == b"by":  # identified by password 'hash'
            return None
        if before in b"$/":  # -w $PASSWD "dc=acme": the next argument
            return None
        if not quote_at(text, at) and is_macro(text, head):  # #define NAME OTHER: code, and no text
            return None
        strict = quote_at(text, at) > 0 and not flag and not word_before(text, head, words(letters.INTRODUCERS))
    else:
        return None
    after = at
    at = _blanks(text, at, 24)
    spaced = spaced or (at > after and not colon)
    found = _value(
        text, at, after, words, query=query, colon=colon, spaced=spaced, strict=strict, markup=markup, flag=flag
    )
    if found is not None and byte == 0x3D and _is_vector(text, head, found, words, spaced=spaced):
        return None
    if found is not None and _is_among_vectors(text, head, found, words):
        return None
    if found is not None and not found.quoted and text[head:named_end].endswith(text[found.start : found.end]):
        return None  # self.client_secret = client_secret
    if found is not None and not found.quoted:
        value, last = text[found.start : found.end], text[head:named_end].rpartition(b".")[2]
        if byte == 0x3A and (_NUMBER.match(value) or is_named_twice(text, head, named_end)):
            return None  # PEM_R_GETTING_PASSWORD:109:problems
        if len(value) > len(last) and value.endswith(last) and value[-len(last) - 1] in b"$._":
            return None  # pass = _ref4$pass, key.token = $scope.token
    if found is not None and byte == 0x3D and text[sign + 1 : sign + 2] == b"=" and not found.quoted:
        return None  # a comparison
    if found is not None and byte == 0x28 and is_uuid(text[found.start : found.end]):
        return None  # credentials.retrieve("..."): a number
    if found is not None and byte == 0x2C and _is_listed(text, head, named_end, found, tight=at == after):
        return None
    return found


_NUMBER: Final = re.compile(rb"[0-9]+:")
_HEX_VALUE: Final = re.compile(rb"(?:[a-z]{3,12}:)?(?:0x)?[0-9A-Fa-f]*")
_VECTOR_LABEL: Final = re.compile(rb"[ \t]{0,8}([0-9A-Za-z_.]+)[ \t]{0,24}=")
_VECTOR_LINE: Final = re.compile(
    rb"[ \t]{0,8}([0-9A-Za-z_]+)[ \t]{0,24}=[ \t]{0,8}(?:(?:0x)?[0-9A-Fa-f]{2,}[ \t]{0,8}\Z|\$[0-9])"
)


def _is_vector(text: bytes, head: int, value: Value, words: Words, *, spaced: bool) -> bool:
    """Return whether a line ``Secret = 1c0a...`` is one of a block of test vectors.

    One of the three lines before or after it, up to an empty one, gives hexadecimal digits, or a hash of a password, to
    what only a test of cryptography names, ``Ciphertext = 8c3c4432``, or sets what only they set: ``PeerKey=BOB``.
    """
    if value.quoted or value.end - value.start < 6:
        return False
    if text.startswith((b"\n-----BEGIN ", b"\r\n-----BEGIN "), value.end):  # PrivateKey=ALICE_P256, and then the key
        return True
    if _HEX_VALUE.fullmatch(text[value.start : value.end]) is None:
        return False
    begin = head
    while begin > 0 and head - begin < 8 and text[begin - 1] in BLANKS:
        begin -= 1
    if begin > 0 and text[begin - 1] != 0x0A:
        return False
    at = _blanks(text, value.end, 8)
    for _ in range(3):
        at += text[at : at + 1] == b"\r"
        if text[at : at + 1] != b"\n":
            break
        at += 1
        start = at
        while at < len(text) and at - start < 4096 and text[at] not in b"\r\n":
            at += 1
        if at == start:
            break
        if _is_vector_line(text[start:at], words, spaced=spaced):
            return True
    for _ in range(3):
        if begin == 0 or text[begin - 1] != 0x0A:
            break
        end = begin - 1
        end -= end > 0 and text[end - 1] == 0x0D
        begin = end
        while begin > 0 and end - begin < 4096 and text[begin - 1] not in b"\r\n":
            begin -= 1
        if begin == end:
            break
        if _is_vector_line(text[begin:end], words, spaced=spaced):
            return True
    return False


def _is_vector_line(line: bytes, words: Words, *, spaced: bool) -> bool:
    label = _VECTOR_LABEL.match(line)
    if label is not None and parts_hold(label[1], words(letters.VECTOR_LABELS)):
        return True
    match = _VECTOR_LINE.match(line) if spaced else None
    return match is not None and parts_hold(match[1], words(letters.VECTOR_NAMES))


_FIELDS_REACH: Final = 640
_FIELDS: Final = 2


def _is_among_vectors(text: bytes, head: int, value: Value, words: Words) -> bool:
    """Return whether two fields near a value of 16 hexadecimal digits or more give as many to names of cryptography.

    ``"skRm": "4612c5..."`` beside ``"pkRm"``, ``"enc"`` and ``"ct"``.
    """
    start = value.start + 2 * text.startswith(b"0x", value.start)
    if value.end - start < 16 or any(byte not in HEX for byte in text[start : value.end]):
        return False
    least = max(0, head - _FIELDS_REACH)
    limit = min(len(text), value.end + _FIELDS_REACH)
    found = 0
    at = least
    while at < limit:
        end = at
        while end < limit and text[end] in NAME:
            end += 1
        if end - at >= 16 and at not in {value.start, start}:
            begin = at + 2 * text.startswith(b"0x", at)
            if end - begin >= 16 and all(byte in HEX for byte in text[begin:end]):
                found += _is_vector_field(text, at, least, words)
        at = end + 1
    return found >= _FIELDS


def _is_vector_field(text: bytes, at: int, least: int, words: Words) -> bool:
    """Return whether what ends before `at` is a name of cryptography, and a sign."""
    before = re.compile(rb"(?:\A|(?<=[^0-9A-Za-z_.]))([0-9A-Za-z_.]{1,40}+)[\"']?[ \t]{0,8}[=:][ \t]{0,8}[\"']?\Z")
    match = before.search(text[max(least, at - 64) : at])
    return match is not None and parts_hold(match[1], words(letters.FIELD_NAMES))


_CAMEL: Final = re.compile(rb"[a-z][A-Z]")
_LISTED: Final = re.compile(rb"[A-Za-z0-9_$]{1,23}")


def _is_listed(text: bytes, head: int, end: int, value: Value, *, tight: bool) -> bool:
    """Return whether a name and the value after its comma are two of a list: paths, members, names in a source map."""
    before = text[head - 1 : head]
    if before in {b"/", b"="} or (before == b":" and not (head > 1 and quote_at(text, head - 2))):
        return True
    given, name = text[value.start : value.end], text[head:end]
    if before in {b"@", b"%"} and given.startswith(before):  # '%GL_STENCIL_PASS','%GL_STENCIL_REF'
        return True
    if given.startswith(b"x-") and name.startswith(b"x-"):  # headers
        return True
    same = next((at for at, (one, other) in enumerate(zip(given, name, strict=False)) if one != other), None)
    same = min(len(given), len(name)) if same is None else same
    joints = [at for at in range(same) if given[at] not in LETTER and given[at] not in DIGIT]
    if joints and joints[-1] + 1 >= 4:  # "smtp.password", "smtp.subject"
        return True
    left = max(head - 1, 0)
    while left > 0 and head - left < 24 and text[left - 1] in b" \t\n\v\f\r":
        left -= 1
    if name[:1] == b"-" or left == 0 or text[left - 1] not in b",[" or text[value.end + 1 : value.end + 2] != b",":
        return False
    if _LISTED.fullmatch(given) is None:
        return False
    camel = given[0] in LOWER and name[0] in LOWER and any(byte in UPPER for byte in given) and is_wordy(given)
    if camel and _CAMEL.search(name):  # "jwkToRSAPrivateKey", "spkiMessageToJwk"
        return True
    snake = b"_" in given and not any(byte in UPPER for byte in given)
    return tight or snake or (given[0] in UPPER and name[0] in UPPER and text[head + 1] in LOWER)


def _value(
    text: bytes,
    at: int,
    after: int,
    words: Words,
    *,
    query: bool,
    colon: bool,
    spaced: bool,
    strict: bool,
    markup: bool,
    flag: bool,
) -> Value | None:
    size = len(text)
    if colon and at < size and (text[at] == 0x7C or re.compile(rb">[-+]?[ \t]{0,4}\r?\n").match(text, at)):
        # A block of YAML: the value is the next line.
        block = re.compile(rb"[|>][-+]?[ \t]{0,4}\r?\n[ \t]{1,40}").match(text, at)
        if block is None:
            return None
        at = block.end()
        end = at
        while end < size and end - at < VALUE_REACH and text[end] not in b"\r\n":
            end += 1
        return Value(at, end, True, True, True, False) if end > at else None
    if colon and text.startswith(b"!!", at):
        limit = min(size, at + 24)
        while at < limit and text[at] not in b" \t\r\n":
            at += 1
        at = _blanks(text, at, 8)
    if at < size and text[at] in b"\r\n":
        ahead = _blanks_and_lines(text, at)
        if not quote_at(text, ahead):
            return None
        at = ahead
    while at < size and text[at] in b"([" and quote_at(text, at + 1):
        at += 1
    for _ in range(2):
        if (
            at + 1 < size
            and text[at] in b"bBfFrRuULN@$"
            and not quote_at(text, at)
            and (quote_at(text, at + 1) or (text[at + 1] in b"bBfFrR@$" and quote_at(text, at + 2)))
        ):
            at += 1
    mark = quote_at(text, at)
    call, held = (0, False) if mark or strict or markup else _wrapped_string(text, at, words)
    if call:
        at, mark = call, quote_at(text, call)
    if mark == 1 and text[at + 1 : at + 2] == b"\\" and quote_at(text, at + 1):  # "\"x\"": a string within a string
        at += 1
        mark = quote_at(text, at)
    if mark:
        end = _quoted(text, at, mark)
        if end < 0:
            if mark in {1, 3}:
                return None
            end = at + mark
            while end < size and end - at < VALUE_REACH and text[end] not in _ENDS_VALUE:
                end += 1
            mark_end = 0
        else:
            mark_end = mark
        past = _blanks(text, end + mark_end, 8)
        # What is followed by a colon is the name of the next one.
        if (colon or strict) and text[past : past + 1] == b":" and text[past + 1 : past + 2] != b":":
            return None
        return Value(at + mark, end, True, True, True, strict, bool(call) and not held) if end > at + mark else None
    if strict:
        return None
    if markup:
        end = at
        while end < size and end - at < VALUE_REACH and text[end] not in b"<\r\n":
            end += 1
        return Value(at, end, True, True, True, False) if at < end < size and text[end] == 0x3C else None
    end = at
    limit = min(size, at + VALUE_REACH)
    while end < limit and text[end] not in _ENDS_VALUE:
        if text[end] == 0x26 and (query or _next_field(text, end + 1)):
            break
        if query and text[end] == 0x23:
            break
        end += 1
    if end == limit and limit < size:
        return None
    if colon:
        # ``name: type = "value"``
        limit = min(size, at + 48)
        sign = at
        depth = 0
        while sign < limit and (text[sign] in _TYPE or (depth > 0 and text[sign] == 0x2C)):
            depth += (text[sign] == 0x3C) - (text[sign] == 0x3E)
            sign += 1
        if at < sign < size and text[sign] == 0x3D and text[sign + 1 : sign + 2] != b"=":
            typed = _blanks(text, sign + 1, 8)
            if quote_at(text, typed) or _wrapped_string(text, typed, words)[0]:
                return _value(
                    text,
                    typed,
                    typed,
                    words,
                    query=False,
                    colon=False,
                    spaced=False,
                    strict=False,
                    markup=False,
                    flag=False,
                )
    while end > at and text[end - 1] in b".:" and text[max(at, end - 2)] in NAME:
        end -= 1
    if end <= at:
        return None
    past = _blanks(text, end, 8)
    if (past > end and text[past : past + 1] == b"(") or (text[end - 1] == 0x2D and text[end : end + 1] == b">"):
        return None  # key = shuffle (a, b), password = dialog->field
    if colon and text[end : end + 1] == b"," and text[at] in UPPER and all(byte in LETTER for byte in text[at:end]):
        return None  # passphrase: BytesOrStr, salt: bytes
    ends_line = (
        past >= size
        or text[past] in b"\r\n\"'`&<"
        or (past > end and text[past] in b"#/|;-\\")
        or text[end] == 0x5C
        or (text[end] in b",;}]" and not spaced)
        or (flag and past > end)
        or (past > end and text[after - 1] in BLANKS)
    )
    return Value(at, end, False, colon or flag or not spaced, ends_line, False)
