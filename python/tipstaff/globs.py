"""Which files a rule's scope covers: globs compiled once, matched in linear time.

The dialect is the one that rule files of all hosts share:

========================  =====================================================================================
``*`` ``?``               any characters, one character, never ``/``; a leading dot is a letter like others
``**``                    any number of whole folders: ``**/a.ts`` covers ``a.ts``, ``src/**`` covers ``src``
``{ts,tsx}`` ``{1..3}``   alternatives and counted alternatives, nested too; ``{ts}`` is ``ts``
``[a-z]`` ``[!a-z]``      one character of a set, never ``/``
backslash                 the next character itself
``!glob``                 everything that the glob does not cover
``src/`` ``./a`` ``/a``   everything below a folder; a leading ``./`` says nothing; a leading ``/`` anchors
========================  =====================================================================================

A glob without ``/`` speaks of names at any depth, as in ``.gitignore``: ``*.ts`` covers ``web/a.ts``. Where a host
reads it as "in the root only", :func:`from_host` anchors it. A glob whose last part is plain text covers what lies
below it as well: ``src/api`` covers ``src/api/orders.ts``. Letter case counts.

Globs come from files that strangers write. They are translated here, not by a library, because the libraries' regular
expressions backtrack: three ``**`` against a path of 400 folders took wcmatch 12 two seconds. In ours each stretch
between two ``**`` is an atomic group, so that nothing is tried twice, and alternatives, length and nesting have limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from tipstaff.model import EVERYWHERE

MAX_GLOB_CHARS: Final = 1_024
MAX_ALTERNATIVES: Final = 256
"""How many plain globs the braces of one glob may stand for."""

MAX_EXPANDED_CHARS: Final = 16_384
"""How long those may be together: it bounds the regular expression."""

MAX_BRACE_DEPTH: Final = 8

_ANYTHING: Final = frozenset({EVERYWHERE, "**"})
_RANGE: Final = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})")
_MAGIC: Final = re.compile(r"[*?\[\]{}\\]")
_ESCAPED: Final = re.compile(r"\\.")
_ROOT_ONLY_HOSTS: Final = frozenset({"claude", "copilot"})

Matcher = Callable[[str], bool]

# A glob's leading plain folders, the plain text after them, and the plain text at its very end; the last is empty where
# the glob also covers what lies below it.
_Extent = tuple[tuple[str, ...], str, str]


class _InvalidGlob(ValueError):  # noqa: N818 - never leaves this module
    """Says why a glob cannot be used."""


def matches(scope_glob: str, path: str) -> bool:
    """Return whether a scope covers a path relative to the repository; an unusable glob covers nothing."""
    return compile_scope(scope_glob)(path)


def matches_any(scopes: Iterable[str], path: str) -> bool:
    """Return whether a rule with these scopes applies to a path: one covers it and no ``!glob`` takes it out.

    A rule whose scopes are all ``!glob`` applies to everything else.
    """
    included = None
    for scope in scopes:
        if scope.startswith("!"):
            # One that cannot be used takes nothing out.
            if not compile_scope(scope)(path) and is_valid(scope) is None:
                return False
        elif included is not True:
            included = compile_scope(scope)(path)
    return included is not False


def scope_applies(scopes: tuple[str, ...], repo_scope: str) -> bool:
    """Return whether rules with these scopes matter to a caller who works on `repo_scope`, a path or itself a glob."""
    if _MAGIC.search(repo_scope) and is_valid(repo_scope) is None and not matches_any(scopes, repo_scope):
        return scopes_may_overlap(scopes, (repo_scope,))
    return matches_any(scopes, repo_scope)


def from_host(glob: str, host: str) -> str:
    """Return a host's glob in this module's dialect.

    Claude Code (``paths``) and GitHub Copilot (``applyTo``) document ``*.md`` as files of the root folder, which is
    ``/*.md`` here; Cursor's ``globs`` are read as ``.gitignore`` would, because its documentation leaves it open.
    """
    bare = glob.removeprefix("!")
    if host in _ROOT_ONLY_HOSTS and "/" not in bare and bare not in {"", "**"}:
        return f"{'!' if bare != glob else ''}/{bare}"
    return glob


@lru_cache(maxsize=4_096)
def is_valid(glob: str) -> str | None:
    """Return why a glob cannot be used, or None where it can."""
    try:
        _translate(glob)
    except _InvalidGlob as error:
        return str(error)
    return None


@lru_cache(maxsize=4_096)
def compile_scope(glob: str) -> Matcher:
    """Return the matcher of a glob: a path relative to the repository in, whether it is covered out."""
    try:
        pattern = _translate(glob)
    except _InvalidGlob:
        return _nothing
    negated = glob.startswith("!")
    if pattern is None:
        return _nothing if negated else _everything
    match = re.compile(pattern, re.DOTALL).match
    if negated:
        return lambda path: match(path if path[:1] not in "./" else _plain_path(path)) is None
    return lambda path: match(path if path[:1] not in "./" else _plain_path(path)) is not None


def leading_folder(glob: str) -> str:
    """Return the folder, ``""`` for the root, outside which a usable glob without ``!`` covers nothing."""
    if is_valid(glob) is not None:
        return ""
    common: tuple[str, ...] | None = None
    for folders, _partial, _ending in _extent(glob):
        if common is None:
            common = folders
        while common and folders[: len(common)] != common:
            common = common[:-1]
    return "/".join(common or ())


def scopes_may_overlap(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Return whether two rules' scopes may share a file: False only where they cannot.

    Two globs are known to be apart when the plain text that they begin with differs, or the plain text that their last
    parts end with (``**/*.ts`` and ``**/*.py``). What ``!glob`` takes out is not counted.
    """
    ours, theirs = _extents(left), _extents(right)
    return any(_extents_meet(one, other) for one in ours for other in theirs)


def plain_globs(glob: str) -> list[tuple[list[str], bool]]:
    """Return what a glob stands for, without its ``!``: none where it is not usable.

    Returns
    -------
    list of (list of str, bool)
        For each glob without braces its folders, and whether it covers what lies below the last of them; ``["**"]``
        alone where it covers everything.
    """
    if is_valid(glob) is not None:
        return []
    found = [parts for plain in _expand(glob.removeprefix("!")) if (parts := _parts(plain))]
    if ["**"] in found:
        return [(["**"], True)]
    return [(parts, parts[-1] == "**" or not _MAGIC.search(_ESCAPED.sub("", parts[-1]))) for parts in found]


def extents(scopes: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], str, str], ...]:
    """Return what is certain of the globs in scopes: leading folders, plain text after them, plain text at the end."""
    return _extents(scopes)


def _nothing(_path: str) -> bool:
    return False


def _everything(_path: str) -> bool:
    return True


def _plain_path(path: str) -> str:
    while path.startswith("./"):
        path = path[2:]
    return path.lstrip("/") if path != "." else ""


def _translate(glob: str) -> str | None:
    """Return the regular expression of a glob without its ``!``, or None where it covers everything."""
    alternatives = [_parts(plain) for plain in _expand(glob.removeprefix("!"))]
    usable = [parts for parts in alternatives if parts]
    if not usable:
        msg = "it is empty"
        raise _InvalidGlob(msg)
    if ["**"] in usable:
        return None
    # Alternatives that expand to the same text are written once.
    bodies = dict.fromkeys(_body(parts) for parts in usable)
    return next(iter(bodies)) if len(bodies) == 1 else f"(?:{'|'.join(bodies)})"


def _parts(glob: str) -> list[str]:
    """Return the folders of a glob without braces; ``**`` at the front stands for "at any depth"."""
    anchored = glob.startswith("/")
    while glob.startswith("./"):
        glob = glob[2:]
    below = glob.endswith("/")
    raw = [part for part in _split(glob) if part and part != "."]
    if ".." in raw:
        msg = "it leaves the repository with .."
        raise _InvalidGlob(msg)
    if not raw:
        return ["**"] if below and anchored else []
    if len(raw) == 1 and not below and not anchored:
        raw.insert(0, "**")
    if below:
        raw.append("**")
    parts: list[str] = []
    for part in raw:
        if part == "**" and parts[-1:] == ["**"]:
            continue
        parts.append(part)
    if parts == ["**", "*"]:  # `**/*`, and `*` alone: every file
        return ["**"]
    return parts


def _split(glob: str) -> list[str]:
    """Split at slashes; a backslash before one is dropped."""
    return glob.replace("\\/", "/").split("/")


def _body(parts: list[str]) -> str:
    """Return the regular expression for the folders of one plain glob, anchored at the path's end."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            runs.append([])
        else:
            runs[-1].append(_segment(part))
    open_end = not runs[-1]
    if open_end:
        runs.pop()
    elif not _MAGIC.search(_ESCAPED.sub("", parts[-1])):
        open_end = True
    tail = r"(?:/.*)?\Z" if open_end else r"/?\Z"
    *inner, last = runs
    body: list[str] = []
    for index, run in enumerate(inner):
        if index == 0:
            body.extend(f"{part}/" for part in run)
        else:
            # The leftmost place that fits leaves most room to the right, so no other need be tried: atomic.
            body.append(f"(?>(?:.*?/)??{'/'.join(run)}/)")
    if inner:
        body.append(f"(?>(?:.*?/)??{'/'.join(last)}(?=/|\\Z))" if parts[-1] == "**" else f"(?:.*/)?{'/'.join(last)}")
    else:
        body.append("/".join(last))
    return "".join(body) + tail


def _segment(part: str) -> str:
    """Return the regular expression for one folder or file name."""
    if part.strip("*") == "":
        return "[^/]+"
    pieces: list[list[str]] = [[]]
    position = 0
    while position < len(part):
        char = part[position]
        if char == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append([])
            position += 1
        elif char == "?":
            pieces[-1].append("[^/]")
            position += 1
        elif char == "[":
            text, position = _char_class(part, position)
            pieces[-1].append(text)
        elif char == "\\":
            if position + 1 == len(part):
                msg = "it ends with a backslash"
                raise _InvalidGlob(msg)
            pieces[-1].append(re.escape(part[position + 1]))
            position += 2
        else:
            pieces[-1].append(re.escape(char))
            position += 1
    first, *rest = ("".join(piece) for piece in pieces)
    if not rest:
        return first
    *middle, last = rest
    # Between two stars the leftmost place is as good as any other (see `_body`).
    atoms = "".join(f"(?>[^/]*?{piece})" for piece in middle)
    return f"{first}{atoms}[^/]*{last}"


def _char_class(part: str, start: int) -> tuple[str, int]:
    """Return a set such as ``[a-z]`` as a regular expression, and the position behind it."""
    position = start + 1
    negated = part[position : position + 1] in {"!", "^"}
    position += negated
    end = part.find("]", position + 1)  # a first ] is a member
    if end < 0:
        msg = "a [ is never closed; write \\[ for the character itself"
        raise _InvalidGlob(msg)
    members = part[position:end]
    if members.startswith("[:"):
        msg = "named sets such as [[:alpha:]] are not known"
        raise _InvalidGlob(msg)
    out: list[str] = []
    index = 0
    while index < len(members):
        low = members[index]
        if members[index + 1 : index + 2] == "-" and index + 2 < len(members):
            high = members[index + 2]
            if low > high:
                msg = f"the range {low}-{high} runs backwards"
                raise _InvalidGlob(msg)
            out.append(f"{re.escape(low)}-{re.escape(high)}")
            index += 3
        else:
            out.append(re.escape(low))
            index += 1
    return f"(?!/)[{'^' if negated else ''}{''.join(out)}]", end + 1


def _expand(glob: str) -> list[str]:
    """Return the globs without braces that a glob stands for."""
    if not glob.strip():
        msg = "it is empty"
        raise _InvalidGlob(msg)
    if len(glob) > MAX_GLOB_CHARS:
        msg = f"it is longer than {MAX_GLOB_CHARS} characters"
        raise _InvalidGlob(msg)
    if "\0" in glob:
        msg = "it holds a NUL character"
        raise _InvalidGlob(msg)
    results, position = _alternatives(glob.strip(), 0, 0)
    if position < len(glob.strip()):
        msg = "a } was never opened; write \\} for the character itself"
        raise _InvalidGlob(msg)
    if sum(map(len, results)) > MAX_EXPANDED_CHARS:
        msg = f"the globs that its braces stand for are longer than {MAX_EXPANDED_CHARS} characters together"
        raise _InvalidGlob(msg)
    return results


def _alternatives(glob: str, position: int, depth: int) -> tuple[list[str], int]:
    """Read one glob (outside braces), or the alternatives up to the closing brace (inside)."""
    if depth > MAX_BRACE_DEPTH:
        msg = f"its braces are nested more than {MAX_BRACE_DEPTH} deep"
        raise _InvalidGlob(msg)
    done: list[str] = []
    current = [""]
    while position < len(glob):
        char = glob[position]
        if char == "{":
            inner, position = _alternatives(glob, position + 1, depth + 1)
            if position >= len(glob):
                msg = "a { is never closed; write \\{ for the character itself"
                raise _InvalidGlob(msg)
            current = [left + right for left in current for right in _counted(inner)]
            position += 1
        elif char == "}":
            break
        elif char == "," and depth:
            done.extend(current)
            current = [""]
            position += 1
        else:
            end = position + (2 if char == "\\" else 1)
            if char == "[":  # commas and braces inside a set are members
                closing = glob.find("]", position + 2)
                end = closing + 1 if closing >= 0 else end
            current = [text + glob[position:end] for text in current]
            position = end
        if len(done) + len(current) > MAX_ALTERNATIVES:
            msg = f"its braces stand for more than {MAX_ALTERNATIVES} globs"
            raise _InvalidGlob(msg)
    done.extend(current)
    return done, position


def _counted(inner: list[str]) -> list[str]:
    """Return ``1..3`` as 1, 2, 3, and anything else as it is."""
    found = _RANGE.fullmatch(inner[0]) if len(inner) == 1 else None
    if found is None:
        return inner
    low, high = int(found[1]), int(found[2])
    if abs(high - low) >= MAX_ALTERNATIVES:
        msg = f"its braces stand for more than {MAX_ALTERNATIVES} globs"
        raise _InvalidGlob(msg)
    step = 1 if high >= low else -1
    return [str(number) for number in range(low, high + step, step)]


@lru_cache(maxsize=4_096)
def _extent(glob: str) -> tuple[_Extent, ...]:
    """Return the extent of each plain glob that a glob stands for."""
    found: list[_Extent] = []
    for plain in _expand(glob):
        parts = _parts(plain)
        if not parts:
            continue
        _body(parts)  # raises where a set is not usable
        literal: list[str] = []
        partial = ""
        for part in parts:
            magic = _MAGIC.search(part)
            if magic:
                partial = part[: magic.start()]
                break
            literal.append(part)
        last = parts[-1]
        # Text behind the last magic character; a set or an escape there says nothing.
        ending = last[max(last.rfind("*"), last.rfind("?")) + 1 :]
        whole = last == "**" or len(literal) == len(parts) or not _MAGIC.search(last) or bool(_MAGIC.search(ending))
        found.append((tuple(literal), partial, "" if whole else ending))
    return tuple(found)


@lru_cache(maxsize=4_096)
def _extents(scopes: tuple[str, ...]) -> tuple[_Extent, ...]:
    usable = [scope for scope in scopes if is_valid(scope) is None]
    positive = [scope for scope in usable if not scope.startswith("!")]
    if usable and not positive:
        return (((), "", ""),)
    return tuple(extent for scope in positive for extent in _extent(scope))


def _extents_meet(left: _Extent, right: _Extent) -> bool:
    folders, partial, ending = left
    other_folders, other_partial, other_ending = right
    if len(folders) > len(other_folders):
        folders, partial, other_folders, other_partial = other_folders, other_partial, folders, partial
    if other_folders[: len(folders)] != folders:
        return False
    if len(folders) == len(other_folders):
        if not (partial.startswith(other_partial) or other_partial.startswith(partial)):
            return False
    elif not other_folders[len(folders)].startswith(partial):
        return False
    return ending.endswith(other_ending) or other_ending.endswith(ending)


def split_scopes(value: str) -> tuple[str, ...]:
    """Split a comma-separated list of globs at the commas that stand outside braces and brackets."""
    parts: list[str] = []
    depth = start = 0
    for index, char in enumerate(value):
        if char in "{[(":
            depth += 1
        elif char in "}])":
            depth = max(0, depth - 1)
        elif char == "," and depth == 0:
            parts.append(value[start:index].strip())
            start = index + 1
    parts.append(value[start:].strip())
    return tuple(part for part in parts if part)
