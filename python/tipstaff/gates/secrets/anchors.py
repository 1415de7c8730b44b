"""Where a secret's shape is looked for: the bytes that are rarest in text.

Of all the ways in which a shape can begin the window is taken whose bytes are rarest; what is before it is walked
over backwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from tipstaff.gates.secrets.shapes import Choice, Literal, Node, Option, Repeat

WINDOW: Final = 6
"""Bytes that the prefilter looks at."""

FEWEST: Final = 3
"""Bytes of an anchor that must be known: the prefilter hashes so many."""

MOST_ANCHORS: Final = 400
MOST_PATHS: Final = 640
"""Ways in which a shape may begin."""

_FEW_MORE: Final = 3
"""A repetition whose length varies by so many at most is taken as that many ways, where these stay few."""

_MANY_PATHS: Final = 64

_COMPARED: Final = 8
"""Bytes of an anchor that are compared in one step."""

_FIXED: Final = 64
"""Bytes of an anchor that are known at most: bytes far from its beginning may distinguish it from other text."""

CHECKS: Final = 3
"""Bytes of an anchor that are looked up before its shape is tried."""

# How often bytes occur in source text, per thousand: what makes one window rarer than another. Measured over 10 MB of
# Python, JavaScript, C and Markdown files; the figures of space to tilde are in this order.
_MEASURED: Final = """
235 .2 8.4 2.5 .05 .4 .2 6.6 11 11 1.4 .6 16 3.9 16 2.7 3.7 2.9 2.2 1.5 1.3 .9 1.2 .6 .7 .6 11 .6 .5 7.2 2.3 .3
.7 3.7 1.2 2.8 2.2 4.4 2.4 1 .7 3.5 .1 .5 2.4 1.5 5 2.6 2.7 .2 3.2 3.6 4.9 1.2 1.1 .6 .4 .6 .1 3.8 1 3.8 .1 22
1.2 37 8.1 19 20 68 17 9 9.5 35 1.1 3.5 28 14 37 34 20 1.1 40 39 48 15 4.5 3.7 4.7 10 .9 .8 1.6 .8 .2
"""
COMMON: Final = {10: 28.0, **{byte: float(figure) for byte, figure in enumerate(_MEASURED.split(), 32)}}


# Words that source text is full of: a window within one of them is anything but rare.
_COMMON_WORDS: Final = tuple(
    """
    argument attribute command compatibility connection custom default define description differ directory documentation
    example expression extension figure format function generator import include information inline instance interface
    language length license location message method module namespace number object operator option package pattern
    policy prefix property reference request resource result return schema search sequence server source specific static
    status stream string structure support system target template update value variable version
    """.split()
)


class Anchor:
    """Where to look for a rule: bytes that are known, at a known distance before or after the beginning."""

    def __init__(self, sets: Sequence[frozenset[int]], back: int, head: Repeat | None) -> None:
        self.sets = tuple(sets)
        self.back = back
        self.head = head


def both_cases(byte: int) -> frozenset[int]:
    """Return a letter in both cases, and any other byte alone."""
    char = chr(byte)
    return frozenset({ord(char.lower()), ord(char.upper())}) if byte < 128 else frozenset({byte})


Path = tuple[frozenset[int] | Repeat, ...]


def paths_of(nodes: Sequence[Node], *, counted: bool = True) -> list[Path]:
    """Return the beginnings of a shape: sets of bytes for single places, `Repeat` where the length varies.

    A beginning ends where no later byte changes where it is looked for. With `counted`, a repetition of a few lengths
    is as many ways, unless they get too many.

    Raises
    ------
    ValueError
        There are more than `MOST_PATHS` of them: those beyond would never be looked for.
    """
    paths: dict[Path, bool] = {(): False}  # each with whether it has ended
    for node in nodes:
        if all(paths.values()):
            break
        steps: Sequence[Path]
        if isinstance(node, Literal):
            steps = [tuple(both_cases(byte) if node.folded else frozenset({byte}) for byte in node.data)]
        elif isinstance(node, Repeat) and node.least == node.most <= 400:
            steps = [(node.members,) * node.least]
        elif counted and isinstance(node, Repeat) and _is_short(node, len(paths)):
            steps = [(node.members,) * count for count in range(node.least, node.most + 1)]
        elif isinstance(node, Repeat):
            fixed = (node.members,) * min(node.least, 12)
            steps = [(*fixed, Repeat(node.members, node.least - len(fixed), node.most - len(fixed)))]
        elif isinstance(node, Option):
            steps = [*paths_of(node.nodes, counted=counted), ()]
        elif isinstance(node, Choice):
            steps = [path for choice in node.choices for path in paths_of(choice, counted=counted)]
        else:
            continue
        longer: dict[Path, bool] = {}
        for path, ended in paths.items():
            for step in [()] if ended else steps:
                joined = path + step
                longer[joined] = ended or _is_anchored(joined)
            if len(longer) > MOST_PATHS:
                if counted:
                    return paths_of(nodes, counted=False)
                raise ValueError(f"the shape begins in more than {MOST_PATHS} ways")
        paths = longer
    return list(paths)


def _is_short(node: Repeat, paths: int) -> bool:
    more = node.most - node.least
    return node.most <= 2 * WINDOW and more <= _FEW_MORE and paths * (more + 1) <= _MANY_PATHS


@lru_cache(maxsize=1 << 16)
def _is_anchored(path: Path) -> bool:
    """Return whether what follows a beginning does not change where it is looked for."""
    repeats = [at for at, item in enumerate(path) if isinstance(item, Repeat)]
    return len(repeats) > 1 or (len(repeats) == 1 and best_start(path[: repeats[0]]) is not None)


_WORTH_A_LOOK: Final = 0.1
_MOST_KEYS: Final = 128
_FARTHEST: Final = 200
_COMMON: Final = 6.0


@cache
def _rarity(members: frozenset[int]) -> float:
    return -math.log(min(1.0, sum(COMMON.get(byte, 0.02) for byte in members) / 1000 + 1e-9))


def anchor_of(path: tuple[frozenset[int] | Repeat, ...]) -> Anchor | None:
    """Return the rarest window of known bytes on a way, None where there is none."""
    head: Repeat | None = None
    items = list(path)
    first_repeat = next((at for at, item in enumerate(items) if isinstance(item, Repeat)), len(items))
    start = 0
    if first_repeat < len(items) and best_start(items[:first_repeat]) is None:
        # A shape that begins with a run: the run is walked back from what follows it.
        repeat = items[first_repeat]
        members = repeat.members if isinstance(repeat, Repeat) else frozenset[int]()
        if any(item != members for item in items[:first_repeat]) or not isinstance(repeat, Repeat):
            return None
        head = Repeat(members, first_repeat + repeat.least, first_repeat + repeat.most)
        start = first_repeat + 1
        end = next((at for at in range(start, len(items)) if isinstance(items[at], Repeat)), len(items))
        run = items[start:end]
        # The window begins right after the run.
        best = best_start(run, only_first=True)
    else:
        end = first_repeat
        run = items[:first_repeat]
        best = best_start(run)
    if best is None:
        return None
    sets = [item for item in items[start:end] if not isinstance(item, Repeat)][best:]
    return Anchor(sets[:_FIXED], 0 if head is not None else best, head)


def compared(sets: Sequence[frozenset[int]]) -> tuple[bytes, bytes]:
    """Return the bytes that a window is compared with, and which of their bits count."""
    value, mask = bytearray(_COMPARED), bytearray(_COMPARED)
    for at, members in enumerate(sets[:_COMPARED]):
        if len(members) == 1:
            (value[at],), mask[at] = members, 0xFF
        elif len(members) == 2 and members == both_cases(min(members)):
            value[at], mask[at] = min(members) & 0xDF, 0xDF
    return bytes(value), bytes(mask)


def checks_of(sets: Sequence[frozenset[int]]) -> list[tuple[int, frozenset[int]]]:
    """Return which bytes of an anchor are looked up besides those that are compared: the rarest, with their places."""
    _, mask = compared(sets)
    open_positions = [at for at in range(FEWEST, len(sets)) if at >= _COMPARED or not mask[at]]
    rarest = sorted(open_positions, key=lambda at: (-_rarity(sets[at]), at))[:CHECKS]
    return [(at, sets[at]) for at in rarest if _rarity(sets[at]) > _WORTH_A_LOOK]


def _is_common(window: Sequence[frozenset[int]]) -> bool:
    """Return whether a window is within a common word or more of those."""
    letters = [{byte | 0x20 for byte in members} for members in window]
    if any(len(members) != 1 for members in letters):
        return False
    data = bytes(min(members) for members in letters).decode("latin-1")
    return any(data in word + "s" for word in _COMMON_WORDS)


def _keys_of(sets: Sequence[frozenset[int]]) -> int:
    """Return how many different folded beginnings a window has."""
    total = 1
    for members in sets[:FEWEST]:
        total *= len({byte | 0x20 for byte in members})
    return total


@lru_cache(maxsize=1 << 16)
def _window_rarity(window: tuple[frozenset[int], ...]) -> float | None:
    """Return how rare a window is, None where it begins in too many ways or with what is not ASCII."""
    keys = _keys_of(window)
    if len(window) < FEWEST or keys > _MOST_KEYS or any(byte > 127 for members in window[:FEWEST] for byte in members):
        return None
    common = _COMMON if _is_common(window) else 0.0
    return sum(map(_rarity, window)) - 2 * math.log(keys) - common


def best_start(run: Sequence[frozenset[int] | Repeat], *, only_first: bool = False) -> int | None:
    """Return where in a run the rarest window begins, None where there is none that the prefilter could look for."""
    sets = [item for item in run if not isinstance(item, Repeat)]
    starts: list[tuple[float, int]] = []
    for at in range(1 if only_first else max(0, len(sets) - FEWEST + 1)):
        rarity = _window_rarity(tuple(sets[at : at + WINDOW])) if at <= _FARTHEST else None
        if rarity is not None:
            starts.append((rarity - 0.01 * at, at))
    return max(starts)[1] if starts else None


def variants(key: str) -> list[str]:
    """Return the ways in which a name of several words is written."""
    if "_" not in key.strip("_"):
        return [key]
    inner = key.strip("_")
    left, right = key[: len(key) - len(key.lstrip("_"))], key[len(key.rstrip("_")) :]
    return [f"{left}{inner.replace('_', sign)}{right}" for sign in ("_", "-", "")]
