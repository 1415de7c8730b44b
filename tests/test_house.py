"""The house: folders stay small enough to read (docs/decisions/T07)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
MOST_FILES: Final = 20
OF_LIKE_FILES: Final = {
    "python/tipstaff/gates/packs": "one file for each subject, and their reader",
    "python/tipstaff/gates/packs/secrets": "one file for each subject",
    "python/tipstaff/cli/commands": "one file for each command",
    "benchmarks": "one file for each figure or peer",
}
"""Folders of more files, which differ in their subject alone; docs/decisions/T07 says why."""


def folders() -> Iterator[tuple[str, int]]:
    """Yield the folders that git tracks, and how many files are in each."""
    listed = [
        path.relative_to(REPOSITORY)
        for root in ("python", "native", "src", "tests", "tools", "benchmarks", "docs")
        for path in (REPOSITORY / root).rglob("*")
        if path.is_file()
        and not {"__pycache__", "corpus", "cases", "samples"} & set(path.parts)
        and path.suffix not in {".pyc", ".so"}
    ]
    for folder in sorted({path.parent for path in listed}):
        yield folder.as_posix(), sum(path.parent == folder and path.name != "__init__.py" for path in listed)


def test_folders_are_small() -> None:
    large = {folder: count for folder, count in folders() if count > MOST_FILES}
    assert {folder: count for folder, count in large.items() if folder not in OF_LIKE_FILES} == {}
    assert set(OF_LIKE_FILES) <= set(large), "a folder that is small again needs no exception"
