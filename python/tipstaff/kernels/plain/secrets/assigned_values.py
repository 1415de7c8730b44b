"""Reading the value that a name is given: quotes, calls, tags, blocks of YAML, what ends it.

It does the same as ``secrets/assigned_values.hpp``.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.kernels.plain.secrets import letters
from tipstaff.kernels.plain.secrets.letters import LETTER, NAME, UPPER, Value, Words
from tipstaff.kernels.plain.secrets.names import BLANKS

VALUE_REACH: Final = 1024
QUOTES: Final = frozenset(b"\"'`")
ENDS_VALUE: Final = frozenset(b" \t\r\n\"'`,;<>)]}\\")
_WIDE_LEADS: Final = (b"\xef\xbc", b"\xe3\x80")
"""How the full-width signs begin that end a value: ``，`` and ``。``, ``」``."""
_TYPE: Final = NAME | frozenset(b"&'<>[]|.*? ")
PAIR: Final = re.compile(
    rb"(?:[ \t]{0,16}+(?:,|\r?\n)|[ \t]{1,16}+)[ \t]{0,40}+[\"']?"
    rb"(?:[vV]alue|default|useValue)[\"']?[ \t]{0,4}+[:=][ \t]{0,8}"
)
TYPED: Final = re.compile(rb"[A-Za-z*&\[][A-Za-z0-9_.*&<>\[\]]{1,30}[ \t]{1,4}:?=[ \t]{0,4}")
_ENCODED_QUOTE: Final = re.compile(rb"%22|%27|\\u0022|\\u0027|&quot;|&#34;|&#39;|&apos;")


def blanks(text: bytes, at: int, most: int) -> int:
    """Return what follows so many blanks at most."""
    end = min(len(text), at + most)
    while at < end and text[at] in BLANKS:
        at += 1
    return at


def blanks_and_lines(text: bytes, at: int) -> int:
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
    if byte in QUOTES:
        return 3 if byte != 0x60 and text[at : at + 3] == bytes((byte,)) * 3 else 1
    if byte == 0x5C:
        slashes = at
        while slashes < size and slashes - at < 7 and text[slashes] == 0x5C:
            slashes += 1
        if slashes < size and text[slashes] in b"\"'":
            return slashes - at + 1
    match = _ENCODED_QUOTE.match(text, at)
    return 0 if match is None else match.end() - at


def quoted_end(text: bytes, at: int, size: int) -> int:
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


def tag_value(text: bytes, at: int, *, attribute: bool) -> int:
    """Return where the value begins of ``<key>X</key><string>x</string>``, ``name="X"><value>x</value>``, else 0."""
    tag = _TAG.match(text, at) or (_ATTRIBUTES.match(text, at) if attribute else None)
    value = None if tag is None else _TAG_VALUE.match(text, blanks_and_lines(text, tag.end()))
    return 0 if value is None else value.end()


_CALL: Final = re.compile(rb"[A-Za-z][A-Za-z0-9_.:]{0,39}\(")
_ARGUMENT: Final = re.compile(rb"(?:default|value)[ \t]{0,1}[=:][ \t]{0,1}")
_APPLIED: Final = re.compile(rb"([A-Z][a-z]{1,7})[ \t](?=[\"'])")


def _wrapped_string(text: bytes, at: int, words: Words) -> tuple[int, bool]:
    """Return where the string begins that calls around it are given, and whether all of them hold it as it is.

    0 where there is none. ``String::from("x")``, ``Some("x")``, ``Just "x"`` hold it, ``decode("x")`` may not.
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


def default_value(text: bytes, at: int) -> int:
    """Return where the value begins of ``variable "X" { default = "x" }`` in Terraform, 0 where it does not."""
    at = blanks(text, at, 4)
    if text[at : at + 1] != b"{":
        return 0
    limit = min(len(text), at + 400)
    while at < limit:
        while at < limit and text[at] not in b"\r\n}":
            at += 1
        if at >= limit or text[at] == 0x7D:
            return 0
        at = blanks_and_lines(text, at)
        if text.startswith(b"default", at):
            at = blanks(text, at + 7, 16)
            return blanks(text, at + 1, 8) if text[at : at + 1] == b"=" else 0
    return 0


def read_value(
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
    """Return the value at `at`, after a sign that ends at `after`; the rest is how the name and the sign are."""
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
        at = blanks(text, at, 8)
    if at < size and text[at] in b"\r\n":
        ahead = blanks_and_lines(text, at)
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
    bold = colon and text.startswith(b"**", at)
    at += 2 * bold
    mark = quote_at(text, at)
    call, held = (0, False) if mark or strict or markup else _wrapped_string(text, at, words)
    if call:
        at, mark = call, quote_at(text, call)
    if mark == 1 and text[at + 1 : at + 2] == b"\\" and quote_at(text, at + 1):  # "\"x\"": a string within a string
        at += 1
        mark = quote_at(text, at)
    if mark:
        end = quoted_end(text, at, mark)
        if end < 0:
            if mark in {1, 3}:
                return None
            end = at + mark
            while end < size and end - at < VALUE_REACH and text[end] not in ENDS_VALUE:
                end += 1
            mark_end = 0
        else:
            mark_end = mark
        past = blanks(text, end + mark_end, 8)
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
    while end < limit and text[end] not in ENDS_VALUE:
        if text[end] == 0x26 and (query or _next_field(text, end + 1)):
            break
        if query and text[end] == 0x23:
            break
        if text[end] >= 0xE3 and text.startswith(_WIDE_LEADS, end):
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
            typed = blanks(text, sign + 1, 8)
            if quote_at(text, typed) or _wrapped_string(text, typed, words)[0]:
                return read_value(
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
    if bold:  # Password: **x**
        if text[end - 2 : end] != b"**":
            return None
        end -= 2
    if end <= at:
        return None
    past = blanks(text, end, 8)
    if (past > end and text[past : past + 1] == b"(") or (text[end - 1] == 0x2D and text[end : end + 1] == b">"):
        return None  # key = shuffle (a, b), password = dialog->field
    if colon and text[end : end + 1] == b"," and text[at] in UPPER and all(byte in LETTER for byte in text[at:end]):
        return None  # passphrase: BytesOrStr, salt: bytes
    ends_line = (
        past >= size
        or text[past] in b"\r\n\"'`&<"
        or text[end] >= 0x80
        or (past > end and text[past] in b"#/|;-\\")
        or text[end] == 0x5C
        or (text[end] in b",;}]" and not spaced)
        or (past > end and not spaced and _next_field(text, past))  # password=x sslmode=require
        or (flag and past > end)
        or (past > end and text[after - 1] in BLANKS)
    )
    return Value(at, end, False, colon or flag or not spaced, ends_line, False)
