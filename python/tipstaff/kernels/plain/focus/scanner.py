"""What a request is about, in plain Python over UTF-8: states what the native kernel does, byte for byte.

A token is a run of bytes that are neither white space nor marks. A token is a **path** where it has separators and an
ending, a known folder or a root, or where it is a bare name with a known ending; a **symbol** where it is written as
identifiers are and words are not (``snake_case``, ``camelCase``, ``Foo::bar``, ``a.b.c``, ``call()``); and a word
of letters is looked up among the words of the **signals**. What is between backticks is code: any identifier in
it is a symbol. Addresses, e-mails, versions, domains and names of products are none of these.
"""

from __future__ import annotations

from typing import Final

from tipstaff.kernels.plain.focus.bytes import (
    DIGITS,
    LONGEST_PATH,
    LONGEST_SPAN,
    LONGEST_WORD,
    LOWER,
    MARKS,
    SEPARATORS,
    SPACES,
    TOKEN,
    UPPER,
    decoded,
    ends_token,
)
from tipstaff.kernels.plain.focus.found import Around, Found
from tipstaff.kernels.plain.focus.paths import path_in, spaced_path_in
from tipstaff.kernels.plain.focus.symbols import bare_symbol, marked_symbol
from tipstaff.kernels.plain.focus.words import (
    CHANGES_WORDS,
    CONTINUES_WORDS,
    DEFINES_WORDS,
    FILE_NAMES,
    PLANS_WORDS,
    VERIFIES_WORDS,
    listed,
)

CONTINUES: Final = 1
PLANS: Final = 2
CHANGES: Final = 4
VERIFIES: Final = 8

SUMMARY_CHARS: Final = 160
MOST: Final = 16

_SIGNALS: Final = {
    **dict.fromkeys(CONTINUES_WORDS, CONTINUES),
    **dict.fromkeys(PLANS_WORDS, PLANS),
    **dict.fromkeys(CHANGES_WORDS, CHANGES),
    **dict.fromkeys(VERIFIES_WORDS, VERIFIES),
}


def focus_scan(
    query: str, history: tuple[str, ...] = (), *, max_paths: int = 6, max_symbols: int = 8, isa: str | None = None
) -> tuple[str, bool, tuple[str, ...], tuple[str, ...], int]:
    """Find what a request names; documented in ``src/_focus.pyx``."""
    if isa is not None and isa != "plain":
        msg = f"instruction set {isa!r} is not one that this machine runs: plain"
        raise ValueError(msg)
    if not 0 <= max_paths <= MOST or not 0 <= max_symbols <= MOST:
        msg = f"max_paths, max_symbols: expected 0 to {MOST} and 0 to {MOST}, got {max_paths} and {max_symbols}"
        raise ValueError(msg)
    found = Found(max_paths, max_symbols)
    _scan(found, 0, query.encode("utf-8", "surrogatepass"), symbols=True, signals=True)
    for owner in range(len(history), 0, -1):
        if len(found.paths) >= max_paths:
            break
        _scan(found, owner, history[owner - 1].encode("utf-8", "surrogatepass"))
    paths = sorted(found.paths.items(), key=lambda item: item[1])
    symbols = list(found.marked)
    symbols += [name for name in found.bare if name not in found.marked][: max_symbols - len(symbols)]
    summary = " ".join(query.split())
    return (
        summary[:SUMMARY_CHARS].rstrip(),
        len(summary) > SUMMARY_CHARS,
        tuple(path.decode("utf-8", "surrogatepass") for path, _ in paths),
        tuple(name.decode("utf-8", "surrogatepass") for name in symbols),
        found.signals,
    )


def _take_token(found: Found, owner: int, token: bytes, around: Around, *, symbols: bool) -> None:
    """Look at one token that is not a plain word."""
    if token.startswith(b"-") or len(token) > LONGEST_PATH:
        return
    token = token.lstrip(b"*+$%&#")
    while token.startswith(b"~") and not token.startswith(b"~/"):
        token = token[1:]
    token = token.rstrip(b".*:-#~&%$+")
    if len(token) > 2 and token[:1] == token[-1:] == b"_" and token[1:2] != b"_" and token[-2:-1] != b"_":
        token = token[1:-1]
    if not token or set(token) & frozenset(b"*%&$"):
        return
    if any(byte == ord("@") and index > 0 and token[index - 1] != ord("/") for index, byte in enumerate(token)):
        return
    separated = b"/" in token or b"\\" in token
    names_path = (
        separated or b"." in token or (7 <= len(token) <= 13 and not around.opens and listed(FILE_NAMES, token))
    )
    if names_path and (separated or not around.call):
        path = None if b"::" in token else path_in(token)
        if path is not None:
            found.add_path(owner, path)
            return
        if separated:
            return
    if symbols:
        bare_symbol(found, token, around)


def _take_code(found: Found, owner: int, text: bytes, *, symbols: bool) -> None:
    """Look at what is between backticks: a path, a symbol, or a piece of code."""
    text = text.strip(bytes(SPACES))
    if not text:
        return
    if any(byte in SPACES for byte in text):
        path = spaced_path_in(text)
        if path is not None:
            found.add_path(owner, path)
            return
    elif b"://" not in text:
        plain = not text.startswith(b"-") and b"@" not in text and not set(text) & MARKS and b"::" not in text
        path = path_in(text, marked=True) if plain else None
        if path is not None:
            found.add_path(owner, path)
            return
        if text.startswith(b"-"):
            return
        if symbols and b"/" not in text and b"\\" not in text and marked_symbol(found, text):
            return
    _scan(found, owner, text, symbols=symbols, within_code=True)


def _scan(
    found: Found,
    owner: int,
    text: bytes,
    *,
    symbols: bool = False,
    signals: bool = False,
    within_code: bool = False,
) -> None:
    size = len(text)
    cue, cue_end = "", 0

    def before(at: int) -> str:
        return cue if all(byte in SPACES for byte in text[cue_end:at]) else ""

    def take_word(start: int, stop: int) -> tuple[str, int]:
        """Count a word of letters, and return the last that says something about the next."""
        word = text[start:stop].lower().decode() if stop - start <= LONGEST_WORD else ""
        last = before(start)
        if signals:
            found.signals |= _SIGNALS.get(word, 0)
            found.signals |= CONTINUES if word == "step" and last == "next" else 0
            found.signals |= PLANS if word == "steps" and last == "next" else 0
            found.signals |= PLANS if word == "to" and last == "steps" else 0
        kind = "defines" if word in DEFINES_WORDS else word
        return (kind, stop) if kind in {"next", "steps", "defines"} else (cue, cue_end)

    at = 0
    while at < size:
        byte = text[at]
        if byte in SPACES:
            at += 1
            continue
        if byte in LOWER or byte in UPPER:
            end = at + 1
            while end < size and text[end] in LOWER:
                end += 1
            after = text[end] if end < size else 32
            following = text[end + 1] if end + 1 < size else 32
            capital = byte in UPPER
            ends = (
                after in SPACES
                or (after in MARKS and after != ord("(") and not (after == ord("<") and capital))
                or (after in b".:" and following in SPACES)
            )
            named_file = end - at >= 7 and text[end - 4 : end] == b"file"
            if ends and not named_file and not (capital and before(at) == "defines"):
                cue, cue_end = take_word(at, end)
                at = end
                continue
        elif byte in MARKS:
            at = _take_mark(found, owner, text, at, symbols=symbols, within_code=within_code)
            continue
        elif byte == ord(":") or (byte == ord(".") and (at + 1 >= size or text[at + 1] in SPACES)):
            at += 1
            continue
        elif byte >= 0x80:
            code, width = decoded(text, at)
            if ends_token(code):
                at += width
                continue
        end, address = _token_end(text, at)
        if address:
            at = _address_end(text, end)
            continue
        opens = text[end : end + 1] == b"("
        around = Around(
            call=text[end : end + 2] == b"()",
            opens=opens,
            generic=text[end : end + 1] == b"<" and end + 1 < size and text[end + 1] in UPPER,
            defined=before(at) == "defines",
        )
        if not opens and all(letter in LOWER or letter in UPPER for letter in text[at:end]):
            cue, cue_end = take_word(at, end)
        _take_token(found, owner, text[at:end], around, symbols=symbols)
        at = end + 2 if around.call else end
        if not symbols and not signals and not within_code and len(found.paths) >= found.max_paths:
            return


def _take_mark(found: Found, owner: int, text: bytes, at: int, *, symbols: bool, within_code: bool) -> int:
    """Take what a mark begins, a quotation or code, and return where to continue."""
    if within_code:
        return at + 1
    size, mark = len(text), text[at : at + 1]
    if mark == b"`":
        start = at
        while start < size and text[start : start + 1] == b"`":
            start += 1
        if start - at > 2:
            return start
        reach = min(size, start + LONGEST_SPAN)
        line = text[start:reach].partition(b"\n")[0]
        code, found_end, _ = line.partition(b"`")
        if not found_end:
            return start
        _take_code(found, owner, code, symbols=symbols)
        end = start + len(code)
        while end < size and text[end : end + 1] == b"`" and end - start < LONGEST_SPAN + 4:
            end += 1
        return end
    previous = text[at - 1] if at else 32
    if mark == b'"' or (mark == b"'" and (previous in MARKS or previous in SPACES)):
        line = text[at + 1 : min(size, at + 1 + LONGEST_SPAN)].partition(b"\n")[0]
        quoted, found_end, _ = line.partition(mark)
        if found_end and b" " in quoted:
            path = spaced_path_in(quoted)
            if path is not None:
                found.add_path(owner, path)
                return at + len(quoted) + 2
    return at + 1


def _token_end(text: bytes, at: int) -> tuple[int, bool]:
    """Return where the token at a place ends, and whether it begins an address."""
    size = len(text)
    end = at
    while end < size:
        byte = text[end]
        if byte in TOKEN:
            end += 1
        elif byte == ord(":"):
            if text[end + 1 : end + 3] == b"//":
                return end, True
            following = text[end + 1] if end + 1 < size else 32
            if following == ord(":"):
                end += 2
            elif following in DIGITS or (end - at == 1 and following in SEPARATORS):
                end += 1
            else:
                return end, b"@" in text[at + 1 : end]  # user@host:path
        elif byte >= 0x80:
            code, width = decoded(text, end)
            if ends_token(code):
                break
            end += width
        else:
            break
    return end, False


def _address_end(text: bytes, at: int) -> int:
    while at < len(text) and text[at] not in SPACES and text[at] not in b"\"'<>`":
        width = 1
        if text[at] >= 0x80:
            code, width = decoded(text, at)
            if ends_token(code):
                break
        at += width
    return at
