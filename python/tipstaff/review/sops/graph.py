"""SOPs and conventions as statements, in the vocabulary ``source.doc.*`` and ``semspec.convention.*``.

An SOP has what it says of itself and no body; its chunks, a section each, have the body in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tipstaff.model import Record
from tipstaff.review.sops.documents import Sop

BELONGS: Final = "code.structure.belongs"
TITLE: Final = "dc.terms.title"
CONVENTION_KEYS: Final = ("name", "pattern", "applies_to", "source_task", "approved_by", "confidence", "status")

_LINE: Final = re.compile(r"[ ]{0,3}(?:(?P<fence>`{3,}|~{3,})|#{1,6}(?:[ \t]+(?P<title>.*?))?[ \t]*#*[ \t]*$)")

Value = str | int | float | bool


class Statement(Record, frozen=True, gc=False):
    """One statement; `is_entity` says that its object is the id of an entity and not a value."""

    subject: str
    predicate: str
    object: Value
    is_entity: bool = False


def sop_graph(sops: Iterable[Sop], conventions: Iterable[Mapping[str, Any]] = ()) -> tuple[Statement, ...]:
    """Return the statements about SOPs and conventions, by subject; each counts once.

    Parameters
    ----------
    sops
        SOPs.
    conventions
        With ``id``, ``project`` and `CONVENTION_KEYS`.
    """
    found = [one for sop in sops for one in _sop_statements(sop)]
    for convention in conventions:
        subject = f"semspec.convention.{convention.get('project') or 'default'}.{convention['id']}"
        for key in CONVENTION_KEYS:
            value: Any = convention.get(key)
            values: Iterable[Any] = value if isinstance(value, list | tuple) else (value,)
            found += [Statement(subject, f"semspec.convention.{key}", one) for one in values if one is not None]
    return tuple(sorted(dict.fromkeys(found), key=lambda one: one.subject))


def query(
    statements: Iterable[Statement], *, entity_prefix: str = "", predicate_prefix: str = "", chunks: bool = True
) -> list[Statement]:
    """Return the statements whose subject and predicate begin so; those of chunks where they are wanted."""
    return [
        one
        for one in statements
        if one.subject.startswith(entity_prefix)
        and one.predicate.startswith(predicate_prefix)
        and (chunks or ".chunk." not in one.subject)
    ]


def _sop_statements(sop: Sop) -> Iterator[Statement]:
    import xxhash

    sections = list(_sections(sop.text)) if sop.text else []
    yield Statement(sop.id, "source.doc.type", "document")
    yield Statement(sop.id, TITLE, sop.title)
    for name in ("category", "severity", "scope", "summary"):
        if getattr(sop, name):
            yield Statement(sop.id, f"source.doc.{name}", getattr(sop, name))
    for name in ("applies_to", "requirements", "domain", "related_domains", "keywords"):
        for value in getattr(sop, name):
            yield Statement(sop.id, f"source.doc.{name}", value)
    digest = xxhash.xxh3_128_hexdigest(sop.text.encode("utf-8", "surrogatepass"))
    for name, about in (("mime_type", "text/markdown"), ("file_path", sop.path), ("file_hash", digest)):
        yield Statement(sop.id, f"source.doc.{name}", about)
    yield Statement(sop.id, "source.doc.chunk_count", len(sections))
    for index, (title, text) in enumerate(sections, start=1):
        chunk = f"{sop.id}.chunk.{index}"
        yield Statement(chunk, BELONGS, sop.id, is_entity=True)
        yield Statement(chunk, "source.doc.chunk_index", index)
        if title:
            yield Statement(chunk, "source.doc.section", title)
        yield Statement(chunk, "source.doc.content", text)


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Yield the heading and the text of each section; the texts joined are the whole."""
    title, held, fence = "", list[str](), ""
    for line in text.splitlines(keepends=True):
        mark = _LINE.match(line.rstrip("\r\n"))
        if mark is not None and mark["fence"]:
            if not fence:
                fence = mark["fence"]
            elif mark["fence"].startswith(fence):
                fence = ""
        elif mark is not None and not fence:
            if held:
                yield title, "".join(held)
            title, held = (mark["title"] or "").strip(), []
        held.append(line)
    yield title, "".join(held)
