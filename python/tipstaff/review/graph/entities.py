"""SOPs and conventions as statements, in the vocabulary ``source.doc.*`` and ``semspec.convention.*``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import xxhash

from tipstaff.review.graph.chunker import chunk_markdown
from tipstaff.review.graph.store import GraphStore, Statement
from tipstaff.review.sops.documents import Sop

BELONGS: Final = "code.structure.belongs"
TITLE: Final = "dc.terms.title"
CONVENTION_KEYS: Final = ("name", "pattern", "applies_to", "source_task", "approved_by", "confidence", "status")


def sop_graph(sops: Iterable[Sop], conventions: Iterable[Mapping[str, Any]] = ()) -> GraphStore:
    """Return the statements about SOPs and conventions.

    Parameters
    ----------
    sops
        The parent of each has what it says of itself and no body; its chunks have the body, in order.
    conventions
        With ``id``, ``project`` and `CONVENTION_KEYS`.
    """
    store = GraphStore()
    for sop in sops:
        for one in sop_statements(sop):
            store.add(one)
    for convention in conventions:
        for one in convention_statements(convention):
            store.add(one)
    return store


def sop_statements(sop: Sop) -> Iterator[Statement]:
    """Yield the statements about one SOP and its chunks."""
    chunks = chunk_markdown(sop.text) if sop.text else []
    yield Statement(sop.id, "source.doc.type", "document")
    yield Statement(sop.id, TITLE, sop.title)
    for name in ("category", "severity", "scope", "summary"):
        value: str = getattr(sop, name)
        if value:
            yield Statement(sop.id, f"source.doc.{name}", value)
    for name in ("applies_to", "requirements", "domain", "related_domains", "keywords"):
        values: tuple[str, ...] = getattr(sop, name)
        for value in values:
            yield Statement(sop.id, f"source.doc.{name}", value)
    yield Statement(sop.id, "source.doc.mime_type", "text/markdown")
    yield Statement(sop.id, "source.doc.file_path", sop.path)
    yield Statement(
        sop.id, "source.doc.file_hash", xxhash.xxh3_128_hexdigest(sop.text.encode("utf-8", "surrogatepass"))
    )
    yield Statement(sop.id, "source.doc.chunk_count", len(chunks))
    for chunk in chunks:
        name = f"{sop.id}.chunk.{chunk.index}"
        yield Statement(name, BELONGS, sop.id, is_entity=True)
        yield Statement(name, "source.doc.chunk_index", chunk.index)
        if chunk.section:
            yield Statement(name, "source.doc.section", chunk.section)
        yield Statement(name, "source.doc.content", chunk.text)


def convention_statements(convention: Mapping[str, Any]) -> Iterator[Statement]:
    """Yield the statements about one convention."""
    subject = f"semspec.convention.{convention.get('project') or 'default'}.{convention['id']}"
    for key in CONVENTION_KEYS:
        value: Any = convention.get(key)
        for one in value if isinstance(value, list | tuple) else (value,):
            if one is not None:
                yield Statement(subject, f"semspec.convention.{key}", one)
