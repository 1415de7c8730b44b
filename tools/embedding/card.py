"""Writes what the model card says of the sources: name, version, licence and share of each package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tools.embedding.sources import Source

CARD: Final = Path(__file__).resolve().parents[2] / "docs" / "reference" / "embedding-model-card.md"
_BEGIN: Final = "<!-- sources: written by tools.embedding.train -->"
_END: Final = "<!-- end of sources -->"
_KINDS: Final = {"deb": "Debian main", "sdist": "PyPI, source distribution", "wheel": "PyPI, wheel"}


def write_card(
    sources: list[Source], offered: dict[str, tuple[int, int]], teacher: Source, n_sentences: int, n_phrases: int
) -> None:
    """Write the table of sources into the card, between its marks."""
    total = sum(sentences + items for sentences, items in offered.values())
    lines = [
        _BEGIN,
        "",
        f"{n_sentences:,} sentences and changelog items, taken at random from the {total:,} that",
        f"{len(sources)} packages offer, and {n_phrases:,} phrases counted in them.",
        "",
        "| package | from | version | licence | sentences | changelog items |",
        "|---|---|---|---|---:|---:|",
    ]
    for source in sources:
        sentences, items = offered[source.name]
        kind = _KINDS[source.kind]
        lines.append(f"| {source.name} | {kind} | {source.version} | {source.licence} | {sentences:,} | {items:,} |")
    lines += [
        f"| {teacher.name} | {_KINDS[teacher.kind]} | {teacher.version} | {teacher.licence} | the teacher | |",
        "",
        _END,
    ]
    text = CARD.read_text(encoding="utf-8")
    head, _, rest = text.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    CARD.write_text(head + "\n".join(lines) + tail, encoding="utf-8")
