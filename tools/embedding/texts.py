"""The text of all packages, made once and kept in the work folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from tools.embedding.selection import package_texts, select

if TYPE_CHECKING:
    from tools.embedding.sources import Source

_WORKERS = 2


def gather(
    archives: list[tuple[Source, Path]], evaluation: Iterable[str], limit: int, work: Path
) -> tuple[list[str], list[str], dict[str, tuple[int, int]]]:
    """Extract and select.

    Parameters
    ----------
    archives
        The packages.
    evaluation
        Texts that nothing taken may overlap.
    limit
        Number of sentences and items to keep, of the shuffled ones the first.
    work
        Where the result is kept, for a person to look at; it is not to be published.

    Returns
    -------
    sentences and items, phrases, and per package how many sentences and items it offered
    """
    with ProcessPoolExecutor(_WORKERS) as pool:
        per_package = list(pool.map(_one, archives))
    texts, phrases = select(per_package, evaluation)
    texts = texts[:limit]
    offered = {
        source.name: (len(sentences), len(items))
        for (source, _), (sentences, items) in zip(archives, per_package, strict=True)
    }
    (work / "texts.json").write_text(json.dumps([texts, phrases], indent=0), encoding="utf-8")
    return texts, phrases, offered


def _one(archive: tuple[Source, Path]) -> tuple[list[str], list[str]]:
    return package_texts(*archive)
