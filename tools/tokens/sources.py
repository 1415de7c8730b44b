"""The packages that texts and vocabularies come from: named, pinned, and fetched by their registries' own clients."""

from __future__ import annotations

import csv
import hashlib
import sys
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

from tools.embedding.sources import Source, fetch

LIST: Final = Path(__file__).with_name("sources.tsv")


@dataclass(frozen=True, slots=True)
class TextSource:
    """One package.

    Parameters
    ----------
    kind
        ``deb`` (Debian main), ``wheel``, ``sdist`` or ``npm``.
    name, version, licence
        As the registry has them.
    sha256
        Of the archive, in hexadecimal.
    category
        What is taken of it: ``code``, ``prose``, ``json``, ``cjk``, ``cyrillic``, ``languages`` (see
        `tools.tokens.prose`), or ``vocabulary``.
    side
        ``fit`` or ``unseen``: a package is on one side with all it holds.
    """

    kind: str
    name: str
    version: str
    licence: str
    sha256: str
    category: str
    side: str


def read_sources(path: Path = LIST) -> list[TextSource]:
    """Return the list, in its order."""
    with path.open(encoding="utf-8", newline="") as file:
        return [TextSource(**row) for row in csv.DictReader(file, delimiter="\t")]


def write_sources(sources: list[TextSource], path: Path = LIST) -> None:
    """Write the list."""
    with path.open("w", encoding="utf-8", newline="") as file:
        names = [one.name for one in fields(TextSource)]
        writer = csv.DictWriter(file, names, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(one) for one in sources)


def fetch_all(sources: list[TextSource], folder: Path) -> dict[str, Path]:
    """Fetch every package that is not there yet; return archives by package name.

    Raises
    ------
    ValueError
        If an archive is not the one that was pinned.
    """
    plain = [Source(one.kind, one.name, one.version, one.licence, one.sha256) for one in sources]
    found = {source.name: path for source, path in fetch(plain, folder)}
    for one in sources:
        if one.name not in found:
            print(f"left out: {one.name} {one.version}", file=sys.stderr)
    return found


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
