"""The graph of sources, its export and queries; the chunker."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.errors import ConfigError
from tipstaff.review.graph.chunker import chunk_markdown
from tipstaff.review.graph.entities import sop_graph
from tipstaff.review.graph.export import to_json_ld, to_n_quads
from tipstaff.review.graph.store import GraphStore, Statement
from tipstaff.review.sops.documents import parse_sop

BODY = "# Long\n\nFirst paragraph.\n\n" + "".join(
    f"## Part {n}\n\n{'words and more words. ' * 60}\n\n" for n in range(12)
)


def test_sops_as_a_graph() -> None:
    sop = parse_sop(f"---\napplies_to: ['*.go', 'api/**']\nseverity: error\n---\n{BODY}", "sops/long.md", "sops")
    other = parse_sop("# Short\nYou may.\n", "sops/short.md", "sops")
    store = sop_graph(
        [sop, other], [{"id": "c1", "project": "p", "pattern": "x", "applies_to": ["*.go"], "confidence": 0.5}]
    )
    parents = store.entities("source.doc.sops")
    assert [entity.id for entity in parents] == ["source.doc.sops.long", "source.doc.sops.short"]
    values = parents[0].values
    assert values["source.doc.applies_to"] == ("*.go", "api/**")
    assert values["source.doc.category"] == ("sop",)
    assert "source.doc.content" not in values
    count = values["source.doc.chunk_count"][0]
    assert isinstance(count, int)
    assert count > 1
    assert len(store.inbound(sop.id, "code.structure.belongs")) == count
    chunks = [
        store.entities(name, with_chunks=True)[0].values for name in store.inbound(sop.id, "code.structure.belongs")
    ]
    chunks.sort(key=lambda chunk: int(chunk["source.doc.chunk_index"][0]))
    assert "".join(str(chunk["source.doc.content"][0]) for chunk in chunks) == sop.text
    assert [one.object for one in store.query(predicate_prefix="source.doc.severity")] == ["error", "info"]
    assert store.entities("semspec.convention.p.c1")[0].values["semspec.convention.confidence"] == (0.5,)
    lines = to_n_quads(store.query()).splitlines()
    assert len(lines) == len(store.query())
    pattern = re.compile(
        r'<urn:[^<>\s]+> <[^<>\s]+> (?:<urn:[^<>\s]+>|"(?:[^"\\\n\r]|\\.)*"(?:\^\^<[^<>\s]+>)?) <urn:[^<>\s]+> \.'
    )
    assert all(pattern.fullmatch(line) for line in lines)
    document = to_json_ld(store.query(entity_prefix="source.doc.sops.long"))
    assert document["@graph"][0]["@id"] == "urn:tipstaff:entity:source.doc.sops.long"
    json.dumps(document)


@given(st.text(max_size=30))
def test_literals_are_escaped(text: str) -> None:
    line = to_n_quads([Statement("s", "p", text)])
    assert line.count("\n") == 1
    encoded = re.search(r'"(.*)" <urn', line, re.DOTALL)
    assert encoded is not None
    if not any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        # JSON's escapes are those of N-Quads.
        assert json.loads(f'"{encoded[1]}"') == text


def test_statements_count_once() -> None:
    store = GraphStore(
        [
            Statement("a", "p", 1),
            Statement("a", "p", 1),
            Statement("a", "p", "1"),
            Statement("b", "q", "a", is_entity=True),
        ]
    )
    assert len(store.query()) == 3
    assert store.inbound("a", "q") == ["b"]


blocks = st.lists(
    st.one_of(
        st.text(max_size=80),
        st.text(alphabet="é規√ab .!\n", min_size=50, max_size=600),
        st.sampled_from(
            ["# Heading", "## Other", "#hashtag", "#!shebang", "```", "~~~", "```py", "~~~~", "    # code", ""]
        ),
        st.integers(1, 60).map(lambda n: "```\n" + "code line\n" * n + "```"),
    ),
    max_size=25,
).map("\n".join)


@given(text=blocks, size=st.sampled_from([(20, 30, 5), (50, 50, 10), (1_000, 1_500, 200)]))
def test_chunks_keep_order_and_their_maximum_and_never_divide_a_fence(text: str, size: tuple[int, int, int]) -> None:
    target, maximum, minimum = size
    chunks = chunk_markdown(text, target=target, maximum=maximum, minimum=minimum)
    assert "".join(chunk.text for chunk in chunks) == text
    assert [chunk.index for chunk in chunks] == list(range(1, len(chunks) + 1))
    for chunk in chunks:
        size_bytes = len(chunk.text.encode("utf-8", "surrogatepass"))
        assert chunk.text
        assert size_bytes <= 4 * maximum or chunk.is_fence
        assert len(chunk.text) <= 4 * maximum or chunk.is_fence
    starts = {0}
    for chunk in chunks:
        starts.add(max(starts) + len(chunk.text))
    assert not any(begin < cut < end for begin, end in fences(text) for cut in starts)


def fences(text: str) -> list[tuple[int, int]]:
    """Return the ranges of fences, by a reader of its own."""
    found: list[tuple[int, int]] = []
    at = 0
    opened: tuple[int, str, int] | None = None
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        match = re.match(r" {0,3}(`{3,}|~{3,})(.*)", bare)
        if opened is None and match is not None and not (match[1][0] == "`" and "`" in match[2]):
            opened = at, match[1][0], len(match[1])
        elif opened is not None and re.fullmatch(rf" {{0,3}}{re.escape(opened[1])}{{{opened[2]},}}\s*", bare):
            found.append((opened[0], at + len(line)))
            opened = None
        at += len(line)
    if opened is not None:
        found.append((opened[0], at))
    return found


def test_sections_name_their_chunks_and_small_ones_are_joined() -> None:
    chunks = chunk_markdown(BODY)
    assert chunks[0].section == "Long"
    assert all(chunk.tokens >= 200 for chunk in chunks)
    assert all(chunk.text.startswith("#") for chunk in chunks)
    assert chunk_markdown("") == []


def test_a_fence_that_is_too_large_is_a_chunk_of_its_own() -> None:
    fence = "```\n" + "x = 1\n" * 400 + "```\n"
    chunks = chunk_markdown(f"Before.\n\n{fence}\nAfter.\n", target=20, maximum=30, minimum=5)
    assert [chunk.is_fence for chunk in chunks] == [False, True, False]
    assert chunks[1].text == fence


@pytest.mark.parametrize("sizes", [(10, 5, 1), (10, 20, 10), (10, 20, 0), (0, 20, -1)])
def test_limits_that_cannot_be(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ConfigError, match="minimum"):
        chunk_markdown("x", target=sizes[0], maximum=sizes[1], minimum=sizes[2])
