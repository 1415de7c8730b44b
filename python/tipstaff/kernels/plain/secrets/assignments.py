"""Reading an assignment from the name that calls something a secret to the value it is given.

One reader serves the syntaxes of programming languages, configuration files, markup, headers, queries, command lines
and of what people write. It does the same as ``secrets/assignments.hpp``, looks at a bounded stretch on either side,
and never goes back.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.kernels.plain.secrets import letters
from tipstaff.kernels.plain.secrets.assigned_values import (
    PAIR,
    QUOTES,
    TYPED,
    blanks,
    blanks_and_lines,
    default_value,
    quote_at,
    read_value,
    tag_value,
)
from tipstaff.kernels.plain.secrets.forms import is_setting, is_uuid
from tipstaff.kernels.plain.secrets.letters import DIGIT, LETTER, LOWER, UPPER, Value, Words, is_wordy
from tipstaff.kernels.plain.secrets.names import (
    BLANKS,
    after_login,
    begins_line,
    is_last_word,
    is_macro,
    is_named_twice,
    is_test_result,
    name_end,
    name_start,
    parts_hold,
    word_before,
)
from tipstaff.kernels.plain.secrets.prose import (
    WIDE_SIGNS,
    foreign_value,
    joined_copula,
    opening,
    prose_value,
    read_prose,
)
from tipstaff.kernels.plain.secrets.vectors import is_among_vectors, is_vector

_ENCODED: Final = re.compile(rb"%3[aAdD]|\\u003[aAdD]|&#58;|&#61;|&#x3[aAdD];")


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
        if (
            named
            and text[end:at].strip(b"_-").lower() == b"id"
            and text[start:end].lower().endswith((b"key", b"token"))
        ):
            return None  # privKeyID: its number
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
        if (mark == 0 and at < size and text[at] == 0x5D and at > named_end) or (
            mark == 0 and before == 0x7B and at == named_end and text[at : at + 1] == b"}"
        ):
            mark = 1
        elif mark:
            key_quote = True
        if mark == 0:
            break
        at += mark
    if anywhere and text[end - 1] in QUOTES:
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
    if before == 0x2F and at == named_end and text[at : at + 1] == b":" and text[max(head - 5, 0) : head] == b"/etc/":
        return None  # /etc/passwd: what is known of the file
    gap = at
    pair = PAIR.match(text, at)
    valued = pair.end() if pair is not None else default_value(text, at) if key_quote else 0
    tagged = 0 if valued > at else tag_value(text, at, attribute=key_quote)
    valued = max(valued, tagged)
    if valued > at:
        # ``name: X`` with ``value: x`` after it: on the next line, in the next attribute or pair.
        return read_value(
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
    at = blanks(text, at, 16)
    if at < size and text[at] in b"\r\n":
        ahead = blanks_and_lines(text, at)
        if ahead < size and text[ahead] in b"=:":
            at = ahead
    if at >= size:
        return None
    byte = text[at]
    spaced = at > gap
    strict = adjacent = False
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
    elif byte in b"?|" and text[at + 1 : at + 2] == bytes((byte,)) and quote_at(text, blanks(text, at + 2, 4)):
        at += 2  # process.env.SECRET || "x"
    elif encoded is not None:
        at = encoded.end()
        for _ in range(4):
            at += 3 if text.startswith(b"%20", at) else 0
    elif byte >= 0x80 and text.startswith(WIDE_SIGNS, at):  # 密码：x
        at = opening(text, blanks(text, at + 3, 8))
        colon = True
    elif (
        (spaced or byte >= 0x80)
        and not (key_quote or flag or anywhere)
        and before not in b"$/{"
        and (foreign := foreign_value(text, text[start:end], at, words)) is not None
    ):
        return foreign
    elif byte >= 0x80 and not key_quote and not anywhere and (joined := joined_copula(text, at, words)):
        return read_prose(text, joined)
    elif byte == 0x3E and (before == 0x3C or key_quote):
        at += 1
        markup = True
    elif spaced and not key_quote and not flag and not anywhere and (prose := prose_value(text, at, words)):
        if text[start:end].strip().lower() == b"pass" and text[prose - 3 : prose] in {b"to ", b"on "}:
            return None  # pass it to the call, all tests pass on GNU/Linux
        return None if before in b"$/{" else read_prose(text, prose)
    elif byte == 0x7B and not key_quote and not spaced and quote_at(text, at + 1):  # kApiKey{"x"}
        at += 1
        strict = True
    elif key_quote and spaced and text.startswith(b"to ", at) and quote_at(text, at + 3):  # "apiKey" to "x"
        at += 3
    elif key_quote and spaced and quote_at(text, at):  # (set-property "acme.secret" "x")
        strict = adjacent = True
    elif (byte == 0x2C and key_quote) or (byte == 0x28 and not key_quote):
        at += 1
        strict = True
    elif spaced and (typed := TYPED.match(text, at)) is not None and quote_at(text, typed.end()):
        at = typed.end()
    elif byte == 0x7C:  # a cell of a table
        return None
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
    elif spaced and not key_quote and not anywhere and before not in b"$/" and is_last_word(text, at):
        last = read_prose(text, at)
        # After other words only what is random beyond doubt is one: set api_token x
        return None if last is None else last._replace(wrapped=not begins_line(text, start, head))
    else:
        return None
    after = at
    at = blanks(text, at, 24)
    spaced = spaced or (at > after and not colon)
    found = read_value(
        text, at, after, words, query=query, colon=colon, spaced=spaced, strict=strict, markup=markup, flag=flag
    )
    if found is not None and adjacent:
        found = found._replace(wrapped=True)
    if found is not None and sign == gap and byte == 0x3D and not found.quoted and _is_next_setting(text, sign, found):
        return None
    if found is not None and byte == 0x3A and text[end - 4 : end] == b"PASS" and is_test_result(text, found.start):
        return None
    if found is not None and found.quoted and _is_search_key(text, head, named_end, found):
        return None
    if found is not None and byte == 0x3D and is_vector(text, head, found, words, spaced=spaced):
        return None
    if found is not None and is_among_vectors(text, head, found, words):
        return None
    if found is not None and not found.quoted and text[head:named_end].endswith(text[found.start : found.end]):
        return None  # self.client_secret = client_secret
    if found is not None and not found.quoted:
        written, member = text[found.start : found.end], text[head:named_end].rpartition(b".")[2]
        if byte == 0x3A and (_NUMBER.match(written) or is_named_twice(text, head, named_end)):
            return None  # PEM_R_GETTING_PASSWORD:109:problems
        if len(written) > len(member) and written.endswith(member) and written[-len(member) - 1] in b"$._":
            return None  # pass = _ref4$pass, key.token = $scope.token
    if found is not None and byte == 0x3D and text[sign + 1 : sign + 2] == b"=" and not found.quoted:
        return None  # a comparison
    if found is not None and byte == 0x28 and is_uuid(text[found.start : found.end]):
        return None  # credentials.retrieve("..."): a number
    if found is not None and byte == 0x2C and text[start] | 0x20 == 0x70 and _is_answer(text, found):
        return None
    if found is not None and byte == 0x2C and _is_listed(text, head, named_end, found, tight=at == after):
        return None
    return found


def _is_next_setting(text: bytes, sign: int, value: Value) -> bool:
    """Return whether the name is given nothing, and another one follows: ``PASSWORD= USER=x``."""
    return value.start > sign + 1 and text[sign + 1] in BLANKS and is_setting(text[value.start : value.end])


_SEARCH_REACH: Final = 160


def _is_search_key(text: bytes, head: int, end: int, value: Value) -> bool:
    """Return whether it is Algolia's key that all readers get: ``apiKey`` beside ``appId`` and ``indexName``."""
    if text[head:end].lower() != b"apikey" or value.end - value.start != 32:
        return False
    if _HEXADECIMAL.fullmatch(text, value.start, value.end) is None:
        return False
    near = text[max(0, head - _SEARCH_REACH) : value.end + _SEARCH_REACH]
    return b"indexName" in near and b"appId" in near


_NUMBER: Final = re.compile(rb"[0-9]+:")
_CAMEL: Final = re.compile(rb"[a-z][A-Z]")
_LISTED: Final = re.compile(rb"[A-Za-z0-9_$]{1,23}")


_ANSWER: Final = re.compile(rb"(?<=(['\"]))(?<![0-9A-Za-z_])[0-9A-Fa-f]+(?=\1)")
_ANSWERS_REACH: Final = 240


def _is_answer(text: bytes, value: Value) -> bool:
    """Return whether a value is one of a list of known answers, as of tests of hashes.

    Another string near it has as many hexadecimal digits: ``('password', '8f3b...'), ('passphrase', '1c0a...')``.
    """
    size = value.end - value.start
    if size < 16 or _HEXADECIMAL.fullmatch(text, value.start, value.end) is None:
        return False
    near = _ANSWER.finditer(text, max(0, value.start - _ANSWERS_REACH), value.end + _ANSWERS_REACH)
    return any(found.end() - found.start() == size and found.start() != value.start for found in near)


_HEXADECIMAL: Final = re.compile(rb"[0-9A-Fa-f]+")


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
    shouted = not any(byte in LOWER for byte in given + name)  # 'USERPWD', 'HTTP200ALIASES'
    return tight or snake or shouted or (given[0] in UPPER and name[0] in UPPER and text[head + 1] in LOWER)
