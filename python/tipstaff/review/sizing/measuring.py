"""Sizes of a repository's files, with generated and binary ones marked; read by a native kernel."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from tipstaff.kernels import measure_files
from tipstaff.model import Record
from tipstaff.review.sizing.budget import FileSize
from tipstaff.review.sizing.generated import (
    HEAD_BYTES,
    generated_by_attributes,
    is_generated_head,
    is_generated_name,
)
from tipstaff.store.untrusted import open_untrusted, read_untrusted_text

_LINK: Final = -2
_BINARY: Final = 1
_MARKED: Final = 2
MAX_ATTRIBUTE_FILES: Final = 200


class MeasuredFiles(Record, frozen=True, kw_only=True):
    """Sizes of files.

    Attributes
    ----------
    sizes
        As `tipstaff.review.size_task` takes them: bytes, a mapping for a generated or binary file, None for one that
        does not exist.
    refused
        Symbolic links that lead out of the repository; they have no size.
    """

    sizes: dict[str, Any]
    refused: tuple[str, ...] = ()


def measure(root: Path, paths: Sequence[str], *, attributes: Iterable[str] | None = None) -> MeasuredFiles:
    """Return the sizes of files.

    Parameters
    ----------
    root
        The repository's folder.
    paths
        Relative to it.
    attributes
        Paths of its ``.gitattributes`` files; those in the root and above the files where None.
    """
    sizes, marks = measure_files(root, paths)
    found: dict[str, FileSize] = {}
    refused: list[str] = []
    stated_by = generated_by_attributes(_attributes(root, paths, attributes))
    base = root.resolve()
    for path, size, mark in zip(paths, sizes, marks, strict=True):
        if size == _LINK:
            target = (root / path).resolve()
            if not target.is_relative_to(base):
                refused.append(path)
            elif target.is_file():
                found[path] = target.stat().st_size
            else:
                found[path] = None
            continue
        if size < 0:
            found[path] = None
            continue
        stated = stated_by(path)
        flat = stated if stated is not None else (mark == _BINARY or is_generated_name(path))
        if stated is None and mark == _MARKED and not flat:
            flat = _head_says_generated(root / path)
        # Who says that a file of a generated name is not generated means it.
        found[path] = {"bytes": size, "generated": True} if flat else _plain(path, size, stated)
    return MeasuredFiles(sizes=found, refused=tuple(refused))


def _plain(path: str, size: int, stated: bool | None) -> FileSize:
    if stated is False and is_generated_name(path):
        return {"bytes": size, "generated": False}
    return size


def _head_says_generated(path: Path) -> bool:
    try:
        with open_untrusted(path) as file:
            return is_generated_head(file.read(HEAD_BYTES))
    except OSError:
        return False


def _attributes(root: Path, paths: Sequence[str], given: Iterable[str] | None) -> list[tuple[str, str]]:
    if given is None:
        folders = {""}
        for path in paths:
            folder = os.path.dirname(path)  # noqa: PTH120 - tens of thousands of them
            while folder not in folders:
                folders.add(folder)
                folder = os.path.dirname(folder)  # noqa: PTH120
        names = [f"{folder}/.gitattributes" if folder else ".gitattributes" for folder in sorted(folders)]
        sizes, _ = measure_files(root, names)
        given = [name for name, size in zip(names, sizes, strict=True) if size >= 0]
    texts: list[tuple[str, str]] = []
    for name in sorted(given, key=lambda one: one.count("/"))[:MAX_ATTRIBUTE_FILES]:
        try:
            texts.append((name.rpartition("/")[0], read_untrusted_text(root / name, errors="replace")))
        except OSError:
            continue
    return texts
