"""Scopes as the hook program reads them: globs taken apart into folders, characters, stars and sets.

What is written is uint32. The scopes of a rule: how many globs; for each 1 where it takes out (``!``), how many plain
globs it stands for, and those: how many folders, 1 where it covers what is below the last, how many numbers follow,
and for each folder how many numbers it takes, 0 for ``**``, and those. A number is a character or one of `_STAR`,
`_ONE` and `_SET`, which says how many pairs (first, last) of characters follow. After the globs comes the number of
extents, and for each the positions and lengths of three texts: the leading folders, each with a slash after it,
the plain text after them, and that at the end.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Final

from tipstaff.globs import extents, plain_globs

_STAR: Final = 0x80000000
_ONE: Final = 0x80000001
_SET: Final = 0x81000000
_OTHERS: Final = 0x00800000
"""Joined with `_SET`: the characters that are not listed."""


def write_scopes(scopes: tuple[str, ...], text: Callable[[str], tuple[int, int]], out: array[int]) -> int:
    """Append the scopes of a rule and return where they begin.

    Parameters
    ----------
    scopes
        Globs.
    text
        Keeps a text and says where it is: its place and its length in bytes.
    out
        uint32.
    """
    start = len(out)
    compiled = [(glob.startswith("!"), plain_globs(glob)) for glob in scopes]
    # One that cannot be used takes nothing out.
    counted = [(out_, plain) for out_, plain in compiled if plain or not out_]
    out.append(len(counted))
    for takes_out, plain in counted:
        out.extend((takes_out, len(plain)))
        for folders, below in plain:
            numbers: list[int] = []
            for folder in folders:
                items = [] if folder == "**" else list(_items(folder))
                numbers += [len(items), *items]
            out.extend((len(folders), below, len(numbers)))
            out.extend(numbers)
    certain = extents(scopes)
    out.append(len(certain))
    for leading, partial, ending in certain:
        out.extend((*text("".join(f"{folder}/" for folder in leading)), *text(partial), *text(ending)))
    return start


def _items(name: str) -> Iterator[int]:
    """Yield the numbers of one folder of a usable glob."""
    at = 0
    while at < len(name):
        char = name[at]
        at += 1
        if char == "*":
            yield _STAR
        elif char == "?":
            yield _ONE
        elif char == "\\":
            yield ord(name[at])
            at += 1
        elif char == "[":
            others = name[at] in "!^"
            end = name.find("]", at + others + 1)  # a first ] is a member
            yield from _set(name[at + others : end], others=others)
            at = end + 1
        else:
            yield ord(char)


def _set(members: str, *, others: bool) -> Iterator[int]:
    ranges: list[tuple[int, int]] = []
    at = 0
    while at < len(members):
        spans = members[at + 1 : at + 2] == "-" and at + 2 < len(members)
        ranges.append((ord(members[at]), ord(members[at + 2 if spans else at])))
        at += 3 if spans else 1
    yield _SET | (_OTHERS if others else 0) | len(ranges)
    for pair in ranges:
        yield from pair
