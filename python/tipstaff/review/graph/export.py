"""Statements as N-Quads and JSON-LD.

Sources: W3C, RDF 1.1 N-Quads; W3C, JSON-LD 1.1. Entities are URNs; predicates with a well-known equal are written as
that one (Dublin Core, PROV-O, BFO), others as URNs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

from tipstaff.review.graph.store import Statement, Value

_DC: Final = "http://purl.org/dc/terms/"
_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
GRAPH: Final = "urn:tipstaff:graph:sources"
PREDICATES: Final = {
    "dc.terms.title": f"{_DC}title",
    "source.doc.category": f"{_DC}type",
    "source.doc.summary": f"{_DC}abstract",
    "source.doc.mime_type": f"{_DC}format",
    "code.structure.belongs": "http://purl.obolibrary.org/obo/BFO_0000050",
    "prov.derived_from": "http://www.w3.org/ns/prov#wasDerivedFrom",
}


def iri(name: str, *, predicate: bool = False) -> str:
    """Return the IRI of an entity or a predicate."""
    if predicate and name in PREDICATES:
        return PREDICATES[name]
    kind = "predicate" if predicate else "entity"
    return f"urn:tipstaff:{kind}:{quote(name, safe='.-_~', errors='surrogatepass')}"


def to_n_quads(statements: Iterable[Statement], graph: str = GRAPH) -> str:
    """Return statements as N-Quads, one a line, in their order."""
    lines: list[str] = []
    for one in statements:
        target = f"<{iri(str(one.object))}>" if one.is_entity else _literal(one.object)
        lines.append(f"<{iri(one.subject)}> <{iri(one.predicate, predicate=True)}> {target} <{graph}> .\n")
    return "".join(lines)


def to_json_ld(statements: Iterable[Statement], graph: str = GRAPH) -> dict[str, Any]:
    """Return statements as an expanded JSON-LD document with one named graph."""
    nodes: dict[str, dict[str, Any]] = {}
    for one in statements:
        subject = iri(one.subject)
        value: dict[str, Any] = {"@id": iri(str(one.object))} if one.is_entity else {"@value": one.object}
        nodes.setdefault(subject, {"@id": subject}).setdefault(iri(one.predicate, predicate=True), []).append(value)
    return {"@id": graph, "@graph": list(nodes.values())}


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return f'"{str(value).lower()}"^^<{_XSD}boolean>'
    if isinstance(value, int):
        return f'"{value}"^^<{_XSD}integer>'
    if isinstance(value, float):
        return f'"{value!r}"^^<{_XSD}double>'
    out: list[str] = []
    for char in value:
        code = ord(char)
        if char in _ESCAPES:
            out.append(_ESCAPES[char])
        elif code < 0x20 or code == 0x7F:
            out.append(f"\\u{code:04X}")
        elif 0xD800 <= code <= 0xDFFF:
            out.append("\ufffd")  # a lone surrogate is not a character
        else:
            out.append(char)
    return f'"{"".join(out)}"'


_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
