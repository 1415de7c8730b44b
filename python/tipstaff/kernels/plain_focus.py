"""What a request is about, in plain Python over UTF-8: states what the native kernel does, byte for byte.

A token is a run of bytes that are neither white space nor marks. A token is a **path** where it has separators and an
ending, a known folder or a root, or where it is a bare name with a known ending; a **symbol** where it is written as
identifiers are and words are not (``snake_case``, ``camelCase``, ``Foo::bar``, ``a.b.c``, ``call()``); and a word
of letters is looked up among the words of the **signals**. What stands between backticks is code: any identifier in
it is a symbol. Addresses, e-mails, versions, domains and names of products are none of these.
"""

from __future__ import annotations

from typing import Final, NamedTuple

_ENDINGS: Final = frozenset(
    (
        "py pyi pyx pxd ipynb js jsx mjs cjs ts tsx mts cts vue svelte go rs c h cc cpp cxx hpp hxx hh java kt kts "
        "scala groovy rb php cs fs swift mm pl lua r jl ex exs erl hs ml clj dart zig nim sql sh bash zsh fish ps1 "
        "bat html htm css scss sass less json jsonl json5 jsonc yaml yml toml ini cfg conf xml svg md mdx mdc rst "
        "txt csv tsv proto graphql gql tf tfvars hcl lock log env diff patch parquet arrow png jpg jpeg gif pdf "
        "zip gz tar whl cmake mk gradle properties bazel bzl dockerfile"
    ).split()
)
_FILE_NAMES: Final = frozenset(
    (
        "Makefile makefile Dockerfile Rakefile Gemfile Jenkinsfile Procfile Vagrantfile Justfile justfile Brewfile "
        "Pipfile Containerfile CODEOWNERS .env .gitignore .gitattributes .gitmodules .dockerignore .editorconfig "
        ".bashrc .zshrc .profile .npmrc .nvmrc .eslintrc .prettierrc .babelrc .clang-format .clang-tidy .flake8 "
        ".pylintrc .coveragerc .tool-versions .python-version .cursorrules .mailmap"
    ).split()
)
_PRODUCTS: Final = frozenset(
    (
        "node.js next.js vue.js nuxt.js react.js express.js angular.js ember.js backbone.js three.js chart.js "
        "d3.js alpine.js socket.io nest.js discord.js moment.js p5.js"
    ).split()
)
_DOMAINS: Final = frozenset(("com org net io dev ai co edu gov info me uk de").split())
_FOLDERS: Final = frozenset(
    ("src lib libs pkg cmd tests packages crates node_modules __tests__ benchmarks usr var opt").split()
)
_BRANDS: Final = frozenset(
    (
        "macOS MacOS iOS iPadOS iPhone iPad GitHub GitLab JavaScript TypeScript PostgreSQL MySQL NoSQL SQLite "
        "YouTube OpenAI LinkedIn PyTorch TensorFlow NumPy SciPy PyPI VSCode IntelliJ PyCharm WebStorm LaTeX DevOps "
        "GraphQL MongoDB DynamoDB FastAPI WordPress PowerShell OAuth eBay PayPal DeepMind ChatGPT WiFi PhD kHz MHz "
        "GHz CircleCI OpenAPI CoffeeScript BitBucket StackOverflow ClickHouse CloudFlare"
    ).split()
)
_KEYWORDS: Final = frozenset(
    (
        "True False None true false null undefined nil self this super if else elif for while do switch case "
        "return break continue pass try except catch finally with as import from in is not and or new delete def "
        "fn func function class struct enum trait interface impl let const var void int str bool float async await "
        "yield lambda public private protected static"
    ).split()
)
_OPENERS: Final = frozenset(
    (
        "a an the in of at to from and or see open read run fix edit update check review test move copy delete "
        "remove add create rename look use import include load save write print show find grep sed awk cat less "
        "more head tail cd ls rm mv cp mkdir touch chmod git npm npx yarn pnpm node deno bun python python3 pip "
        "pytest ruff mypy cargo rustc go gcc g++ clang make cmake docker kubectl bash sh zsh sudo vim vi nano code "
        "emacs java javac mvn gradle tsc eslint prettier jest please then on with for not is"
    ).split()
)
_CONTINUES_WORDS: Final = frozenset(("continue continues continuing resume resumes resuming").split())
_PLANS_WORDS: Final = frozenset(("plan plans planning").split())
_CHANGES_WORDS: Final = frozenset(
    (
        "fix fixes fixing implement implements implementing edit edits editing update updates updating refactor "
        "refactors refactoring"
    ).split()
)
_VERIFIES_WORDS: Final = frozenset(("test tests testing verify verifies verifying review reviews reviewing").split())
_DEFINES_WORDS: Final = frozenset(("class struct interface enum trait def fn func function").split())
CONTINUES: Final = 1
PLANS: Final = 2
CHANGES: Final = 4
VERIFIES: Final = 8

SUMMARY_CHARS: Final = 160
MOST: Final = 16

_SIGNALS: Final = {
    **dict.fromkeys(_CONTINUES_WORDS, CONTINUES),
    **dict.fromkeys(_PLANS_WORDS, PLANS),
    **dict.fromkeys(_CHANGES_WORDS, CHANGES),
    **dict.fromkeys(_VERIFIES_WORDS, VERIFIES),
}
_LONGEST_LISTED: Final = 15
_LONGEST_WORD: Final = 12
_LONGEST_SPAN: Final = 200
_LONGEST_PATH: Final = 512
_LONGEST_SYMBOL: Final = 128
_LONGEST_HUMP: Final = 64

_LOWER: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_UPPER: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS: Final = frozenset(b"0123456789")
_LETTERS: Final = _LOWER | _UPPER | frozenset(range(128, 256))
_NAMES: Final = _LETTERS | _DIGITS | frozenset(b"_")
_TOKEN: Final = _LOWER | _UPPER | _DIGITS | frozenset(b"_*#@$%&+-./\\~")
_SPACES: Final = frozenset((*range(9, 14), *range(28, 33)))
_MARKS: Final = frozenset(range(128)) - _TOKEN - _SPACES - frozenset(b":")
_SEPARATORS: Final = frozenset(b"/\\")
_NO_PATH: Final = frozenset(b"*%&")

_END: Final = ((0xD7, 0xD8), (0xF7, 0xF8), (0x1680, 0x1681))
_END_BEYOND: Final = (
    (0x2000, 0x200C), (0x200E, 0x2070), (0x20A0, 0x20D0), (0x2190, 0x2C00), (0x2E00, 0x2E80), (0x3000, 0x3005),
    (0x3008, 0x3021), (0x3030, 0x3031), (0x30FB, 0x30FC), (0xD800, 0xF900), (0xFE10, 0xFE20), (0xFE30, 0xFE70),
    (0xFF00, 0xFF10), (0xFF1A, 0xFF21), (0xFF3B, 0xFF41), (0xFF5B, 0xFF66), (0xFFF0, 0x10000), (0x1F000, 0x1FB00),
    (0xE0000, 0x110000),
)  # fmt: skip


class _Around(NamedTuple):
    """What stands about a token: ``()`` or ``(`` after it, ``<`` and a capital after it, ``class`` or so before."""

    call: bool = False
    opens: bool = False
    generic: bool = False
    defined: bool = False


_ALONE: Final = _Around()


def focus_scan(
    query: str, history: tuple[str, ...] = (), *, max_paths: int = 6, max_symbols: int = 8
) -> tuple[str, bool, tuple[str, ...], tuple[str, ...], int]:
    """Find what a request names; documented in ``src/_focus.pyx``."""
    if not 0 <= max_paths <= MOST or not 0 <= max_symbols <= MOST:
        msg = f"max_paths, max_symbols: expected 0 to {MOST} and 0 to {MOST}, got {max_paths} and {max_symbols}"
        raise ValueError(msg)
    found = _Found(max_paths, max_symbols)
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


class _Found:
    """What was found; the dictionaries keep the order and hold nothing twice."""

    def __init__(self, max_paths: int, max_symbols: int) -> None:
        self.max_paths = max_paths
        self.max_symbols = max_symbols
        self.paths: dict[bytes, int] = {}
        self.marked: dict[bytes, None] = {}
        self.bare: dict[bytes, None] = {}
        self.signals = 0

    def add_path(self, owner: int, path: bytes) -> None:
        if len(self.paths) < self.max_paths:
            self.paths.setdefault(path, owner)

    def add_marked(self, name: bytes) -> None:
        if len(self.marked) < self.max_symbols:
            self.marked.setdefault(name)

    def add_bare(self, name: bytes) -> None:
        if len(self.bare) < self.max_symbols:
            self.bare.setdefault(name)


# --- characters -------------------------------------------------------------------------------------------------------


def _decode(text: bytes, at: int) -> tuple[int, int]:
    """Return the code point above ASCII at a place, and its length in bytes."""
    first = text[at]
    size = 4 if first >= 0xF0 else 3 if first >= 0xE0 else 2
    return ord(text[at : at + size].decode("utf-8", "surrogatepass")), size


def _ends_token(code: int) -> bool:
    if code < 0xC0:
        return code not in {0xAA, 0xB5, 0xBA}
    return any(low <= code < high for low, high in (_END if code < 0x2000 else _END_BEYOND))


def _case(code: int) -> int:
    """Return 1 for capitals, 2 for small letters, 3 for digits, 0 for others."""
    if code < 0x80:
        return 1 if code in _UPPER else 2 if code in _LOWER else 3 if code in _DIGITS else 0
    if 0x100 <= code <= 0x17F:
        return 2 if code & 1 else 1
    if 0xC0 <= code <= 0xDE or 0x391 <= code <= 0x3A9 or 0x400 <= code <= 0x42F:
        return 1
    return 2 if 0xDF <= code <= 0xFF or 0x3AC <= code <= 0x3CE or 0x430 <= code <= 0x45F else 0


def _listed(words: frozenset[str], word: bytes, *, folded: bool = False) -> bool:
    if not 1 <= len(word) <= _LONGEST_LISTED:
        return False
    return (word.lower() if folded else word).decode("latin-1") in words


# --- paths ------------------------------------------------------------------------------------------------------------


def _ending(name: bytes) -> bytes:
    """Return what follows a name's last dot if it could be the ending of a file's name, else nothing."""
    stem, dot, suffix = name.rpartition(b".")
    if not dot or not stem or not 1 <= len(suffix) <= 10:
        return b""
    kinds = set(suffix)
    if not kinds <= _LOWER | _UPPER | _DIGITS:
        return b""
    # Small or capital letters, but not both and not neither.
    return suffix if bool(kinds & _LOWER) != bool(kinds & _UPPER) else b""


def _is_domain(name: bytes) -> bool:
    if len(name) > 4 and name.startswith(b"www."):
        return True
    stem, _, last = name.rpartition(b".")
    return bool(stem) and _listed(_DOMAINS, last, folded=True)


def _path(token: bytes, *, marked: bool = False) -> bytes | None:
    """Return the path that a token is, without line numbers and headings, or None."""
    drive = (
        len(token) >= 3 and token[0] < 0x80 and token[0] in _LETTERS and token[1:2] == b":" and token[2] in _SEPARATORS
    )
    start = 2 if drive else 1
    token = token[:start] + token[start:].partition(b"#")[0].partition(b":")[0]
    token = token.rstrip(b".")
    while len(token) > 2 and token.startswith(b"./"):
        token = token[2:]
    if not 2 <= len(token) <= _LONGEST_PATH or set(token) & _NO_PATH:
        return None
    parts = token.replace(b"\\", b"/").split(b"/")
    if not any(byte in _LETTERS for byte in token):
        return None
    return token if _is_path(token, parts, drive=drive, marked=marked) else None


def _is_path(token: bytes, parts: list[bytes], *, drive: bool, marked: bool) -> bool:
    segments = sum(map(bool, parts))
    name = parts[-1]
    suffix = _ending(name)
    if len(parts) == 1:
        known = bool(suffix) and _listed(_ENDINGS, suffix, folded=True)
        return _listed(_FILE_NAMES, token) or (known and not _listed(_PRODUCTS, token, folded=True))
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
    if _is_domain(parts[0]):
        return False
    if suffix or _listed(_FILE_NAMES, name) or _listed(_FOLDERS, parts[0]):
        return True
    if token.startswith(b".") and token[1] in _LETTERS:
        return True
    return marked and segments >= 2 and (token[0] in _LETTERS or token.startswith(b"_"))


def _spaced_path(text: bytes) -> bytes | None:
    """Return the path with spaces that stands between quotes or backticks, or None where it is none."""
    words = text.split(b" ")
    if (
        not 2 <= len(words) <= 6
        or not all(words)
        or any(byte in _MARKS or byte in _SPACES for word in words for byte in word)
    ):
        return None
    first = words[0].replace(b"\\", b"/").rpartition(b"/")[2]
    if text.startswith(b"-") or _listed(_OPENERS, first, folded=True):
        return None
    if any(_listed(_ENDINGS, _ending(word), folded=True) for word in words[:-1]):
        return None
    folder, _, name = text.replace(b"\\", b"/").rpartition(b"/")
    bare = not folder and text[:1] not in {b"/", b"\\"}
    suffix = _ending(name)
    if not suffix or (bare and not _listed(_ENDINGS, suffix, folded=True)):
        return None
    path = _path(text, marked=True)
    return path if path is not None and text.endswith(path) else None


# --- identifiers ------------------------------------------------------------------------------------------------------


def _is_identifier(name: bytes) -> bool:
    return 0 < len(name) <= _LONGEST_SYMBOL and name[0] not in _DIGITS and set(name) <= _NAMES


def _is_snake(name: bytes) -> bool:
    return b"_" in name and sum(byte in _LETTERS for byte in name) >= 2


def _is_humped(name: bytes) -> bool:
    """Return whether a capital stands inside a word: camelCase, RequestRouter, HTTPServer; not API, APIs or Words."""
    if not 3 <= len(name) <= _LONGEST_HUMP or _listed(_BRANDS, name):
        return False
    small_before = False
    capitals = smalls_after = 0
    for char in name.decode("utf-8", "surrogatepass"):
        case = _case(ord(char))
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


def _starts_upper(name: bytes) -> bool:
    return _case(ord(name.decode("utf-8", "surrogatepass")[0])) == 1


def _is_qualified(name: bytes) -> bool:
    parts = name.split(b"::")
    return len(name) <= _LONGEST_SYMBOL and 2 <= len(parts) <= 8 and all(map(_is_identifier, parts))


def _dotted(name: bytes) -> list[bytes]:
    parts = name.split(b".")
    fits = len(name) <= _LONGEST_SYMBOL and 2 <= len(parts) <= 6 and all(map(_is_identifier, parts))
    return parts if fits else []


def _is_bare_symbol(name: bytes, around: _Around) -> bool:
    if len(name) < 2 or not _is_identifier(name):
        return False
    if _is_snake(name) or _is_humped(name):
        return True
    if _listed(_KEYWORDS, name):
        return False
    capital = _starts_upper(name)
    return around.call or (around.generic and capital) or (around.defined and (capital or around.opens))


def _bare_symbol(found: _Found, name: bytes, around: _Around) -> None:
    name = name.removeprefix(b"@")
    if not name:
        return
    if b":" in name:
        if _is_qualified(name):
            found.add_bare(name)
    elif b"-" in name:
        for part in name.split(b"-"):
            if _is_bare_symbol(part, _ALONE):
                found.add_bare(part)
    elif b"." in name:
        parts = _dotted(name)
        if not parts:
            return
        telling = any(_is_snake(part) or _is_humped(part) for part in parts)
        # Two plain words may be the end of one sentence and the beginning of the next.
        plain = (
            all(len(part) >= 2 for part in parts)
            and not _listed(_DOMAINS, parts[-1], folded=True)
            and not _listed(_PRODUCTS, name, folded=True)
            and (len(parts) > 2 or not _starts_upper(parts[-1]))
        )
        if around.call or telling or plain:
            found.add_bare(name)
    elif _is_bare_symbol(name, around):
        found.add_bare(name)


def _marked_symbol(found: _Found, name: bytes) -> bool:
    """Add what stands between backticks and holds no space, if it is a symbol, and return whether it is."""
    name = name.lstrip(b"@&*#!~$")
    for mark in (b"(", b"<", b"[", b"{"):
        name = name[:1] + name[1:].partition(mark)[0]
    name = name.rstrip(b"!?;,:.")
    if not 2 <= len(name) <= _LONGEST_SYMBOL:
        return False
    if b":" in name:
        holds = _is_qualified(name)
    elif b"." in name:
        holds = bool(_dotted(name)) and not _listed(_PRODUCTS, name, folded=True)
    elif b"-" in name:
        kebab = set(name) <= _NAMES | frozenset(b"-") and b"--" not in name
        holds = kebab and name[0] in _LETTERS and not name.endswith(b"-")
    else:
        holds = _is_identifier(name) and not _listed(_KEYWORDS, name)
    if holds:
        found.add_marked(name)
    return holds


# --- the pass ---------------------------------------------------------------------------------------------------------


def _take_token(found: _Found, owner: int, token: bytes, around: _Around, *, symbols: bool) -> None:
    """Look at one token that is not a plain word."""
    if token.startswith(b"-") or len(token) > _LONGEST_PATH:
        return
    token = token.lstrip(b"*+$%&#")
    while token.startswith(b"~") and not token.startswith(b"~/"):
        token = token[1:]
    token = token.rstrip(b".*:-#~&%$+")
    if len(token) > 2 and token[:1] == token[-1:] == b"_" and token[1:2] != b"_" and token[-2:-1] != b"_":
        token = token[1:-1]
    if not token or set(token) & frozenset(b"*%&$"):
        return
    if any(byte == ord("@") and place > 0 and token[place - 1] != ord("/") for place, byte in enumerate(token)):
        return
    separated = b"/" in token or b"\\" in token
    names_path = (
        separated or b"." in token or (7 <= len(token) <= 13 and not around.opens and _listed(_FILE_NAMES, token))
    )
    if names_path and (separated or not around.call):
        path = None if b"::" in token else _path(token)
        if path is not None:
            found.add_path(owner, path)
            return
        if separated:
            return
    if symbols:
        _bare_symbol(found, token, around)


def _take_code(found: _Found, owner: int, text: bytes, *, symbols: bool) -> None:
    """Look at what stands between backticks: a path, a symbol, or a piece of code."""
    text = text.strip(bytes(_SPACES))
    if not text:
        return
    if any(byte in _SPACES for byte in text):
        path = _spaced_path(text)
        if path is not None:
            found.add_path(owner, path)
            return
    elif b"://" not in text:
        plain = not text.startswith(b"-") and b"@" not in text and not set(text) & _MARKS and b"::" not in text
        path = _path(text, marked=True) if plain else None
        if path is not None:
            found.add_path(owner, path)
            return
        if text.startswith(b"-"):
            return
        if symbols and b"/" not in text and b"\\" not in text and _marked_symbol(found, text):
            return
    _scan(found, owner, text, symbols=symbols, within_code=True)


def _scan(
    found: _Found,
    owner: int,
    text: bytes,
    *,
    symbols: bool = False,
    signals: bool = False,
    within_code: bool = False,
) -> None:
    size = len(text)
    told, told_end = "", 0

    def before(at: int) -> str:
        return told if all(byte in _SPACES for byte in text[told_end:at]) else ""

    def take_word(start: int, stop: int) -> tuple[str, int]:
        """Count a word of letters, and return the last that says something about the next."""
        word = text[start:stop].lower().decode() if stop - start <= _LONGEST_WORD else ""
        last = before(start)
        if signals:
            found.signals |= _SIGNALS.get(word, 0)
            found.signals |= CONTINUES if word == "step" and last == "next" else 0
            found.signals |= PLANS if word == "steps" and last == "next" else 0
            found.signals |= PLANS if word == "to" and last == "steps" else 0
        kind = "defines" if word in _DEFINES_WORDS else word
        return (kind, stop) if kind in {"next", "steps", "defines"} else (told, told_end)

    at = 0
    while at < size:
        byte = text[at]
        if byte in _SPACES:
            at += 1
            continue
        if byte in _LOWER or byte in _UPPER:
            end = at + 1
            while end < size and text[end] in _LOWER:
                end += 1
            after = text[end] if end < size else 32
            following = text[end + 1] if end + 1 < size else 32
            capital = byte in _UPPER
            ends = (
                after in _SPACES
                or (after in _MARKS and after != ord("(") and not (after == ord("<") and capital))
                or (after in b".:" and following in _SPACES)
            )
            named_file = end - at >= 7 and text[end - 4 : end] == b"file"
            if ends and not named_file and not (capital and before(at) == "defines"):
                told, told_end = take_word(at, end)
                at = end
                continue
        elif byte in _MARKS:
            at = _take_mark(found, owner, text, at, symbols=symbols, within_code=within_code)
            continue
        elif byte == ord(":") or (byte == ord(".") and (at + 1 >= size or text[at + 1] in _SPACES)):
            at += 1
            continue
        elif byte >= 0x80:
            code, width = _decode(text, at)
            if _ends_token(code):
                at += width
                continue
        end, address = _token_end(text, at)
        if address:
            at = _address_end(text, end)
            continue
        opens = text[end : end + 1] == b"("
        around = _Around(
            call=text[end : end + 2] == b"()",
            opens=opens,
            generic=text[end : end + 1] == b"<" and end + 1 < size and text[end + 1] in _UPPER,
            defined=before(at) == "defines",
        )
        if not opens and all(letter in _LOWER or letter in _UPPER for letter in text[at:end]):
            told, told_end = take_word(at, end)
        _take_token(found, owner, text[at:end], around, symbols=symbols)
        at = end + 2 if around.call else end
        if not symbols and not signals and not within_code and len(found.paths) >= found.max_paths:
            return


def _take_mark(found: _Found, owner: int, text: bytes, at: int, *, symbols: bool, within_code: bool) -> int:
    """Take what a mark begins, a quotation or code, and return where to go on."""
    if within_code:
        return at + 1
    size, mark = len(text), text[at : at + 1]
    if mark == b"`":
        start = at
        while start < size and text[start : start + 1] == b"`":
            start += 1
        if start - at > 2:
            return start
        reach = min(size, start + _LONGEST_SPAN)
        line = text[start:reach].partition(b"\n")[0]
        code, found_end, _ = line.partition(b"`")
        if not found_end:
            return start
        _take_code(found, owner, code, symbols=symbols)
        end = start + len(code)
        while end < size and text[end : end + 1] == b"`" and end - start < _LONGEST_SPAN + 4:
            end += 1
        return end
    previous = text[at - 1] if at else 32
    if mark == b'"' or (mark == b"'" and (previous in _MARKS or previous in _SPACES)):
        line = text[at + 1 : min(size, at + 1 + _LONGEST_SPAN)].partition(b"\n")[0]
        quoted, found_end, _ = line.partition(mark)
        if found_end and b" " in quoted:
            path = _spaced_path(quoted)
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
        if byte in _TOKEN:
            end += 1
        elif byte == ord(":"):
            if text[end + 1 : end + 3] == b"//":
                return end, True
            following = text[end + 1] if end + 1 < size else 32
            if following == ord(":"):
                end += 2
            elif following in _DIGITS or (end - at == 1 and following in _SEPARATORS):
                end += 1
            else:
                return end, b"@" in text[at + 1 : end]  # somebody@host:place
        elif byte >= 0x80:
            code, width = _decode(text, end)
            if _ends_token(code):
                break
            end += width
        else:
            break
    return end, False


def _address_end(text: bytes, at: int) -> int:
    while at < len(text) and text[at] not in _SPACES and text[at] not in b"\"'<>`":
        width = 1
        if text[at] >= 0x80:
            code, width = _decode(text, at)
            if _ends_token(code):
                break
        at += width
    return at
