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

A glob without ``/`` is about names at any depth, as in ``.gitignore``: ``*.ts`` covers ``web/a.ts``. Where a host
reads it as "in the root only", :func:`from_host` anchors it. A glob whose last part is plain text covers what is
below it as well: ``src/api`` covers ``src/api/orders.ts``. Letter case counts.

How globs are read, and why in linear time, says :mod:`tipstaff.glob_syntax`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from tipstaff.glob_syntax import ESCAPED, MAGIC, InvalidGlob, body_of, expand, parts_of, translate

_ROOT_ONLY_HOSTS: Final = frozenset({"claude", "copilot"})

Matcher = Callable[[str], bool]

# A glob's leading plain folders, the plain text after them, and the plain text at its very end; the last is empty where
# the glob also covers what is below it.
_Extent = tuple[tuple[str, ...], str, str]


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
    if MAGIC.search(repo_scope) and is_valid(repo_scope) is None and not matches_any(scopes, repo_scope):
        return scopes_may_overlap(scopes, (repo_scope,))
    return matches_any(scopes, repo_scope)


def from_host(glob: str, host: str) -> str:
    """Return a host's glob in this module's dialect.

    Claude Code (``paths``) and GitHub Copilot (``applyTo``) document ``*.md`` as files of the root folder, which is
    ``/*.md`` here; Cursor's ``globs`` are read as ``.gitignore`` would, because its documentation leaves it open.
    """
    return at_root(glob) if host in _ROOT_ONLY_HOSTS else glob


def at_root(glob: str) -> str:
    """Return a glob that, without ``/``, is about files of the root alone."""
    bare = glob.removeprefix("!")
    if "/" in bare or bare in {"", "**"}:
        return glob
    return f"{'!' if bare != glob else ''}/{bare}"


def normal_path(path: str) -> str:
    """Return a path with forward slashes and without ``./`` at its front."""
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path


def is_pattern(text: str) -> bool:
    """Return whether a text stands for more than one path: it has ``*``, ``?``, a set or braces, or ends with ``/``."""
    return bool(MAGIC.search(text)) or text.endswith("/")


@lru_cache(maxsize=4_096)
def is_valid(glob: str) -> str | None:
    """Return why a glob cannot be used, or None where it can."""
    try:
        translate(glob)
    except InvalidGlob as error:
        return str(error)
    return None


@lru_cache(maxsize=4_096)
def compile_scope(glob: str) -> Matcher:
    """Return the matcher of a glob: a path relative to the repository in, whether it is covered out."""
    try:
        pattern = translate(glob)
    except InvalidGlob:
        return _nothing
    negated = glob.startswith("!")
    if pattern is None:
        return _nothing if negated else _everything
    match = re.compile(pattern, re.DOTALL).match
    if negated:
        return lambda path: match(path if path[:1] not in "./" else _plain_path(path)) is None
    return lambda path: match(path if path[:1] not in "./" else _plain_path(path)) is not None


@lru_cache(maxsize=1_024)
def any_matcher(scopes: tuple[str, ...]) -> Matcher:
    """Return what says whether a file is covered, in one expression where none is a ``!glob``.

    As :func:`matches_any`, except that ``src/**`` is about files below ``src`` and not a file of that name, and that
    nothing is covered where no scope can be used.
    """
    scopes = tuple(f"{scope}/*" if scope.endswith("/**") else scope for scope in scopes)
    if any(scope.startswith("!") for scope in scopes):
        return lambda path: matches_any(scopes, path)
    usable = tuple(scope for scope in scopes if is_valid(scope) is None)
    if not usable:
        return _nothing
    patterns = dict.fromkeys(map(translate, usable))
    if None in patterns:
        return _everything
    match = re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.DOTALL).match
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
        For each glob without braces its folders, and whether it covers what is below the last of them; ``["**"]``
        alone where it covers everything.
    """
    if is_valid(glob) is not None:
        return []
    found = [parts for plain in expand(glob.removeprefix("!")) if (parts := parts_of(plain))]
    if ["**"] in found:
        return [(["**"], True)]
    return [(parts, parts[-1] == "**" or not MAGIC.search(ESCAPED.sub("", parts[-1]))) for parts in found]


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


@lru_cache(maxsize=4_096)
def _extent(glob: str) -> tuple[_Extent, ...]:
    """Return the extent of each plain glob that a glob stands for."""
    found: list[_Extent] = []
    for plain in expand(glob):
        parts = parts_of(plain)
        if not parts:
            continue
        body_of(parts)  # raises where a set is not usable
        literal: list[str] = []
        partial = ""
        for part in parts:
            magic = MAGIC.search(part)
            if magic:
                partial = part[: magic.start()]
                break
            literal.append(part)
        last = parts[-1]
        # Text after the last magic character; a set or an escape there says nothing.
        ending = last[max(last.rfind("*"), last.rfind("?")) + 1 :]
        whole = last == "**" or len(literal) == len(parts) or not MAGIC.search(last) or bool(MAGIC.search(ending))
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
    """Split a comma-separated list of globs at the commas that are outside braces and brackets."""
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
