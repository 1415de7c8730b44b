"""Summaries of changed files: their signatures, as one item each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tipstaff.errors import MissingExtraError
from tipstaff.review.assembly.signatures import MAX_SOURCE_BYTES, language_of, signatures
from tipstaff.store.untrusted import open_untrusted


def file_summaries(root: Path, files: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return an item for each source file that declares anything, and notes on those that could not be summarised."""
    items: list[dict[str, Any]] = []
    notes: list[str] = []
    for path in files:
        language = language_of(path)
        if not language:
            continue
        full = root / path
        if not full.is_file() or not full.resolve().is_relative_to(root.resolve()):
            continue
        try:
            with open_untrusted(full) as file:
                rows = signatures(file.read(MAX_SOURCE_BYTES), language)
        except MissingExtraError as error:
            if str(error) not in notes:
                notes.append(str(error))
            continue
        except OSError as error:
            notes.append(f"{path}: cannot be read: {error.strerror}")
            continue
        if rows:
            body = "\n".join(rows)
            items.append({"id": f"summary:{path}", "text": f"## File {path}\n\n```\n{body}\n```\n"})
    return items, notes
