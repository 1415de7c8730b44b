"""Globs over files of a repository, as sizing, checks and SOPs read them.

========================  ====================================================================================
``*`` ``?``               any characters, one character, never ``/``; a leading dot is matched like others
``**``                    as a whole segment: zero or more folders; at the end: one or more segments
``[a-z]`` ``[!x]``        one character of a set, never ``/``; ``[^x]`` is the same as ``[!x]``
``docs/``                 everything below a folder, as ``docs/**``
========================  ====================================================================================

Braces are plain characters and letter case counts. Backslashes become ``/`` and a leading ``./`` is dropped, in globs
and in paths. A glob with ``/`` is anchored at the root; one without matches the file's name in any folder where
`by_name` is set, and files of the root alone where it is not.

This differs from :mod:`tipstaff.globs`, the dialect of rule files, in which braces are alternatives and ``src`` covers
what is below it. Both translate segments with :mod:`tipstaff.glob_syntax`, so matching takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from tipstaff.glob_syntax import MAX_GLOB_CHARS, InvalidGlob, segment_pattern

_MAGIC: Final = re.compile(r"[*?\[]")

Matcher = Callable[[str], bool]


def normal_path(path: str) -> str:
    """Return a path with forward slashes and without ``./`` at its front."""
    path = path.replace("\\", "/")
    while path.startswith("./"):
        path = path[2:]
    return path


def is_pattern(text: str) -> bool:
    """Return whether a text stands for more than one path: it has ``*``, ``?`` or ``[``, or ends with a slash."""
    return bool(_MAGIC.search(text)) or text.endswith(("/", "\\"))


@lru_cache(maxsize=4_096)
def invalid_reason(pattern: str) -> str:
    """Return why a glob cannot be used, empty where it can."""
    try:
        _translate(pattern, by_name=True)
    except InvalidGlob as error:
        return str(error)
    return ""


def misread_reason(pattern: str) -> str:
    """Return why a glob does not mean what other tools read in it, empty where it does.

    Braces and a leading ``!`` are plain characters here: a rule that is written with them would silently never apply.
    """
    if re.search(r"\{[^{}]*,[^{}]*\}", pattern):
        return "braces are no alternatives here; write one glob for each"
    if pattern.lstrip().startswith("!"):
        return "a glob cannot be negated; name what is meant"
    return ""


@lru_cache(maxsize=4_096)
def matcher(pattern: str, *, by_name: bool = True) -> Matcher:
    """Return the function that says whether a normalised path matches; an unusable glob matches nothing."""
    try:
        text = _translate(pattern, by_name=by_name)
    except InvalidGlob:
        return _nothing
    match = re.compile(text, re.DOTALL).match
    return lambda path: match(path) is not None


@lru_cache(maxsize=1_024)
def any_matcher(patterns: tuple[str, ...], *, by_name: bool = True) -> Matcher:
    """Return the function that says whether a normalised path matches one of several globs, in one expression."""
    texts = [_translate(pattern, by_name=by_name) for pattern in patterns if not invalid_reason(pattern)]
    if not texts:
        return _nothing
    match = re.compile("|".join(f"(?:{text})" for text in dict.fromkeys(texts)), re.DOTALL).match
    return lambda path: match(path) is not None


def matching(patterns: Iterable[str], paths: Iterable[str], *, by_name: bool = True) -> list[str]:
    """Return the paths that match any of the globs, in their order."""
    match = any_matcher(tuple(patterns), by_name=by_name)
    return [path for path in paths if match(normal_path(path))]


def _nothing(_path: str) -> bool:
    return False


def _translate(pattern: str, *, by_name: bool) -> str:
    """Return the anchored regular expression of a glob.

    Raises
    ------
    InvalidGlob
        If it is empty, leaves the repository, or has a set that is not closed.
    """
    text = normal_path(pattern.strip())
    if len(text) > MAX_GLOB_CHARS:
        msg = f"it is longer than {MAX_GLOB_CHARS} characters"
        raise InvalidGlob(msg)
    anchored = text.startswith("/")
    below = text.endswith("/")
    parts = [part for part in text.split("/") if part and part != "."]
    if not parts:
        msg = "it is empty"
        raise InvalidGlob(msg)
    if ".." in parts:
        msg = "it leaves the repository with .."
        raise InvalidGlob(msg)
    if by_name and len(parts) == 1 and not anchored and not below and parts != ["**"]:
        parts.insert(0, "**")
    if below:
        parts.append("**")
    runs: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            if runs[-1] or len(runs) == 1:
                runs.append([])
        else:
            runs[-1].append(segment_pattern(part))
    first, *rest = runs
    if not rest:
        return "/".join(first) + r"\Z"
    *inner, last = rest
    body = "".join(f"{part}/" for part in first)
    # The leftmost match leaves most room to the right, so no other need be tried: the group is atomic.
    body += "".join(f"(?>(?:.*?/)??{'/'.join(run)}/)" for run in inner)
    return body + (f"(?:.*/)?{'/'.join(last)}\\Z" if last else r".+\Z")
