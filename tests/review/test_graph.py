"""SOPs as statements: nothing lost, queries by the beginnings of entities and predicates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tipstaff.review.sops.documents import parse_sop
from tipstaff.review.sops.graph import BELONGS, Statement, query, sop_graph

TEXT = """---
applies_to: ["*.go", "api/"]
severity: error
---
Before.

# Errors

You must.

```
# no heading
```
## Details #

More.
"""


def test_an_sop_and_its_chunks() -> None:
    sop = parse_sop(TEXT, "sops/errors.md", "sops")
    found = sop_graph([sop, sop], [{"id": "c1", "name": "early return", "applies_to": ["*.go", "*.py"]}])
    assert len(found) == len(set(found))
    assert [one.object for one in query(found, predicate_prefix="source.doc.applies_to")] == ["*.go", "api/"]
    parents = query(found, entity_prefix="source.doc.sops", predicate_prefix="source.doc.severity", chunks=False)
    assert parents == [Statement(sop.id, "source.doc.severity", "error")]
    assert [one.object for one in query(found, predicate_prefix="source.doc.section")] == ["Errors", "Details"]
    assert "".join(str(one.object) for one in query(found, predicate_prefix="source.doc.content")) == sop.text
    assert {one.object for one in query(found, predicate_prefix=BELONGS) if one.is_entity} == {sop.id}
    convention = query(found, entity_prefix="semspec.convention.default.c1", predicate_prefix="semspec.convention.app")
    assert [one.object for one in convention] == ["*.go", "*.py"]


@given(st.text(alphabet="#`~ a\n", max_size=80))
def test_the_chunks_are_the_body(text: str) -> None:
    sop = parse_sop("# T\n" + text, "x.md")
    found = sop_graph([sop])
    contents = sorted(
        (one for one in found if one.predicate == "source.doc.content"),
        key=lambda one: int(one.subject.rsplit(".", 1)[1]),
    )
    assert "".join(str(one.object) for one in contents) == sop.text
