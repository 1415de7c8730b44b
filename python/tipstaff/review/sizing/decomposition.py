"""A task that is too large in, smaller ones out: groups of files that each fit, and in which order to do them.

Files belong together where one imports the other or uses what it declares, where one is the other's test, where their
names have words in common, and where they are in one folder.
Groups are merged, the closest pair first, as long as the result fits: its tokens within the limit, and the SOPs that
apply to any of its files within their reserve.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from tipstaff.model import Record
from tipstaff.review.sizing.budget import DECOMPOSITION_TRIGGER, FileSize, SizingConfig, TaskSizing, size_task
from tipstaff.review.sizing.imports import files_under_test

_IMPORT: Final = 4.0
_TEST: Final = 6.0
_NAME: Final = 2.0
_FOLDER: Final = 1.0
_NAME_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_MAX_DEPTH: Final = 40
MAX_BLOCK: Final = 300
"""More files than this are divided by folder first: merging compares all pairs."""

MANY_FILES: Final = 2_000
"""More files than this are divided by folder and name alone, in one pass, without reading what they import."""


class ProposedTask(Record, frozen=True, kw_only=True):
    """One of the smaller tasks.

    Attributes
    ----------
    sequence
        From 1 on: imported files come before those that import them, where that is possible.
    files
        Sorted paths.
    estimate
        Tokens with the description and the criteria of the whole task.
    sop_tokens
        Tokens of the SOPs that apply to any of its files.
    fits
        False for a single file that is too large by itself, or whose SOPs exceed their reserve.
    reasons
        As those of a task.
    after
        Sequences of the tasks whose files these import.
    """

    sequence: int
    files: tuple[str, ...]
    estimate: int
    fits: bool
    sop_tokens: int = 0
    reasons: tuple[str, ...] = ()
    after: tuple[int, ...] = ()


class Decomposition(Record, frozen=True, kw_only=True):
    """A proposal to divide a task.

    Attributes
    ----------
    tasks
        Together they have every file, each once.
    event
        What to publish: ``subject`` and ``payload``.
    """

    tasks: tuple[ProposedTask, ...]
    event: dict[str, Any]


def decompose(
    sizing: TaskSizing,
    files: Mapping[str, FileSize],
    edges: Mapping[str, set[str]],
    *,
    window: int,
    description: str = "",
    acceptance_criteria: Sequence[str] = (),
    sweet_spot: int | None = None,
    config: SizingConfig | None = None,
    sops: Mapping[str, Mapping[str, int]] | None = None,
    task_id: str = "",
    plan_slug: str = "",
) -> Decomposition:
    """Propose how to divide a task.

    Parameters
    ----------
    sizing
        Of the whole task; its reasons are part of the event.
    files
        Sizes, as given to :func:`tipstaff.review.size_task`.
    edges
        For each file those that it imports.
    window, description, acceptance_criteria, sweet_spot, config
        As given there. A proposed task has at most ``config.soft_files`` files, so that it has no warning either.
    sops
        For each file the ids of the SOPs that apply to it, with their tokens.
    task_id, plan_slug
        Part of the event.
    """
    settings = config or SizingConfig()
    most = max(1, settings.soft_files)
    applicable = sops or {}
    paths = sorted(files)

    fixed = sizing.description_tokens + sum(sizing.criteria_tokens)
    room = sizing.limit - fixed
    groups: list[list[str]] = []
    merge = _Merging(room, most, settings.sop_reserve, sizing.file_tokens, applicable)
    if len(paths) > MANY_FILES:
        groups = _packed(paths, merge)
        order, after = list(range(len(groups))), dict[int, set[int]]()
    else:
        for block in _blocks(paths, MAX_BLOCK):
            groups.extend(_merged(block, edges, merge))
        order, after = _ordered(groups, edges)
    rank = {index: sequence for sequence, index in enumerate(order, start=1)}
    tasks: list[ProposedTask] = []
    for sequence, index in enumerate(order, start=1):
        group = groups[index]
        tokens = sum(sizing.file_tokens[path] for path in group)
        sop_tokens = sum(_union(applicable.get(path, {}) for path in group).values())
        reasons: tuple[str, ...] = ()
        if tokens > room or sop_tokens > settings.sop_reserve:
            reasons = size_task(
                window=window,
                files={path: files[path] for path in group},
                description=description,
                acceptance_criteria=acceptance_criteria,
                sweet_spot=sweet_spot,
                sop_tokens=sop_tokens,
                config=settings,
            ).reasons
        tasks.append(
            ProposedTask(
                sequence=sequence,
                files=tuple(group),
                estimate=fixed + tokens,
                fits=not reasons,
                sop_tokens=sop_tokens,
                reasons=reasons,
                after=tuple(sorted(rank[one] for one in after.get(index, ()) if rank[one] < sequence)),
            )
        )
    feedback = (
        f"The task is too large ({', '.join(sizing.reasons)}): {sizing.estimate:,} tokens in {len(paths):,} files; "
    )
    feedback += (
        f"the limit is {sizing.limit:,} tokens and {settings.hard_files} files. It divides into {len(tasks)} tasks."
    )
    event = {
        "subject": DECOMPOSITION_TRIGGER,
        "payload": {
            "original_task_id": task_id,
            "plan_slug": plan_slug,
            "feedback": feedback,
            "reasons": list(sizing.reasons),
            "tasks": [{"sequence": task.sequence, "files": list(task.files)} for task in tasks],
        },
    }
    return Decomposition(tasks=tuple(tasks), event=event)


def _blocks(paths: list[str], most: int, depth: int = 0) -> list[list[str]]:
    """Return paths in blocks of at most `most`, divided by folder from the root on."""
    if len(paths) <= most:
        return [paths]
    by_folder: dict[str, list[str]] = {}
    for path in paths:
        parts = path.split("/")
        by_folder.setdefault("/".join(parts[: depth + 1]) if len(parts) > depth + 1 else "", []).append(path)
    blocks: list[list[str]] = []
    for folder, group in sorted(by_folder.items()):
        if not folder or depth > _MAX_DEPTH:
            blocks.extend(group[start : start + most] for start in range(0, len(group), most))
        else:
            blocks.extend(_blocks(group, most, depth + 1))
    return blocks


class _Merging(Record, frozen=True):
    """What bounds a group: tokens of its files, number of files, tokens of its SOPs."""

    room: int
    most: int
    sop_reserve: int
    tokens: Mapping[str, int]
    sops: Mapping[str, Mapping[str, int]]


def _union(mappings: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the SOPs of several files, each once."""
    found: dict[str, int] = {}
    for one in mappings:
        found.update(one)
    return found


def _packed(paths: list[str], limits: _Merging) -> list[list[str]]:
    """Return groups of neighbours in the order of their names, each in one folder, as long as they fit."""
    groups: list[list[str]] = []
    folder, tokens, sops = "", 0, dict[str, int]()
    for path in paths:
        here = path.rpartition("/")[0]
        size, more = limits.tokens[path], limits.sops.get(path, {})
        together = sops if more.items() <= sops.items() else {**sops, **more}
        if (
            groups
            and here == folder
            and len(groups[-1]) < limits.most
            and tokens + size <= limits.room
            and (together is sops or sum(together.values()) <= limits.sop_reserve)
        ):
            groups[-1].append(path)
            tokens, sops = tokens + size, together
        else:
            groups.append([path])
            folder, tokens, sops = here, size, dict(more)
    return groups


def _merged(paths: list[str], edges: Mapping[str, set[str]], limits: _Merging) -> list[list[str]]:
    """Return groups of files, merged as long as they fit."""
    groups: dict[int, list[str]] = {index: [path] for index, path in enumerate(paths)}
    sizes = {index: limits.tokens[path] for index, path in enumerate(paths)}
    sops = {index: limits.sops.get(path, {}) for index, path in enumerate(paths)}
    near: dict[int, dict[int, float]] = {index: {} for index in groups}
    partner = files_under_test(paths)
    for left in range(len(paths)):
        for right in range(left + 1, len(paths)):
            value = _closeness(paths[left], paths[right], edges, partner)
            if value > 0:
                near[left][right] = near[right][left] = value
    # Of equally close pairs the larger group is filled first, or groups of two would be left that no pair can join.
    heap = [
        (-value, 0, left, right) for left, others in near.items() for right, value in others.items() if left < right
    ]
    heapq.heapify(heap)
    following = len(paths)
    while heap:
        _, _, left, right = heapq.heappop(heap)
        if left not in groups or right not in groups:
            continue
        if len(groups[left]) + len(groups[right]) > limits.most or sizes[left] + sizes[right] > limits.room:
            continue
        together = _union((sops[left], sops[right]))
        if sum(together.values()) > limits.sop_reserve:
            continue
        groups[following] = sorted(groups.pop(left) + groups.pop(right))
        sizes[following] = sizes[left] + sizes[right]
        sops[following] = together
        near[following] = {}
        for other in (near[left].keys() | near[right].keys()) & groups.keys():
            # The mean, so that large groups do not draw everything.
            value = (near[left].get(other, 0.0) + near[right].get(other, 0.0)) / 2
            near[following][other] = near[other][following] = value
            files = len(groups[following]) + len(groups[other])
            heapq.heappush(heap, (-value, -files, min(following, other), max(following, other)))
        following += 1
    return sorted(groups.values())


def _closeness(left: str, right: str, edges: Mapping[str, set[str]], partner: Mapping[str, str | None]) -> float:
    value = 0.0
    if right in edges.get(left, ()) or left in edges.get(right, ()):
        value += _IMPORT
    if partner[left] == right or partner[right] == left:
        value += _TEST
    words, others = _name_words(left), _name_words(right)
    value += _NAME * len(words & others) / max(1, len(words | others))
    ours, theirs = left.split("/")[:-1], right.split("/")[:-1]
    shared = 0
    for one, other in zip(ours, theirs, strict=False):
        if one != other:
            break
        shared += 1
    longest = max(len(ours), len(theirs))
    return value + (_FOLDER * shared / longest if longest else _FOLDER)


@lru_cache(maxsize=MAX_BLOCK)
def _name_words(path: str) -> frozenset[str]:
    """Return the words of a file's name, without its ending and the marks of a test."""
    stem = path.rpartition("/")[2].partition(".")[0]
    return frozenset(word.lower() for word in _NAME_WORD.findall(stem)) - {"test", "tests", "spec", "init", "index"}


def _ordered(groups: list[list[str]], edges: Mapping[str, set[str]]) -> tuple[list[int], dict[int, set[int]]]:
    """Return the groups' indexes, imported ones first, and for each the groups that it imports from."""
    home = {path: index for index, group in enumerate(groups) for path in group}
    after = {
        index: {home[target] for path in group for target in edges.get(path, ()) if target in home} - {index}
        for index, group in enumerate(groups)
    }
    order: list[int] = []
    left = dict.fromkeys(range(len(groups)))
    while left:
        ready = [index for index in left if not after[index] & left.keys()]
        # Groups that import each other: the one with the fewest open imports goes first.
        chosen = ready or [min(left, key=lambda index: (len(after[index] & left.keys()), index))]
        for index in chosen:
            order.append(index)
            del left[index]
    return order, after
