from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff import compile_guidance
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.intents.task_paths import paths_in
from tipstaff.guidance.retrieval.retriever import ShardRetriever

RULES = """
- Keep pages accessible scope:web/**
- Keep endpoints accessible scope:api/**
- Keep documents accessible
"""


@pytest.mark.parametrize(
    ("task", "paths"),
    [
        ("Fix web/login.ts, then `api/payments/`", ("web/login.ts", "api/payments")),
        ("bug in src/app.py:12:4.", ("src/app.py",)),
        ("./src/a/b.c and .\\web\\c.ts", ("src/a/b.c", "web/c.ts")),
        ("refactor billing.ledger.post and Foo::bar and Cart#total", ("billing/ledger/post", "Foo/bar", "Cart/total")),
        ("update main.tf and README.md", ("main.tf", "README.md")),
        ("@acme/ui has a wrong colour", ("@acme/ui",)),
        ("the src/api handlers", ("src/api",)),
        ("read/write and/or yes/no", ()),
        ("see https://example.com/a/b and www.example.org/x and me@example.com", ()),
        ("version 3.5, v1.2.3, 10/12, e.g. this", ()),
        ("../outside/of/it", ()),
        ("", ()),
    ],
)
def test_paths(task: str, paths: tuple[str, ...]) -> None:
    assert paths_in(task) == paths


@given(st.text(max_size=200))
def test_any_text_names_at_most_eight_paths(task: str) -> None:
    found = paths_in(task)
    assert len(found) <= 8
    assert len(set(found)) == len(found)
    assert not any(path.startswith("/") or ".." in path.split("/") for path in found)


@pytest.mark.parametrize("path", ["web/cart/basket.ts", "`web/cart/`", "web.cart.basket"])
def test_rules_of_the_path_that_a_task_names_come_first(path: str) -> None:
    retriever = ShardRetriever(compile_guidance(RULES))
    first = retriever.retrieve(f"Make {path} accessible").shards[0]
    assert first.shard.rule.repo_scopes == ("web/**",)
    assert "applies to web/**, where web/cart" in first.reason
    assert first.reason.endswith("(+0.05)")
    assert first.similarity > first.cosine + 0.05 - 1e-6  # words that both share add to it


def test_paths_filter_nothing_and_the_hash_knows_none() -> None:
    bundle = compile_guidance(RULES)
    assert len(ShardRetriever(bundle).retrieve("Make web/a.ts accessible").shards) == 3
    for one in ShardRetriever(bundle, HashEmbedding()).retrieve("Make web/a.ts accessible").shards:
        assert "web/a.ts" not in one.reason


def test_a_path_outside_the_callers_scope_counts_for_nothing() -> None:
    found = ShardRetriever(compile_guidance(RULES)).retrieve("Make web/a.ts accessible", repo_scope="api/x.py")
    assert {one.shard.rule.repo_scopes for one in found.shards} == {("api/**",), ("**/*",)}


def test_the_boost_finds_rules_beyond_the_best() -> None:
    """Of 400 equal rules the one that holds in the place is the last."""
    lines = [f"- Rule {number:03}: keep pages accessible scope:p{number}/**" for number in range(400)]
    retriever = ShardRetriever(compile_guidance("\n".join(lines)))
    found = retriever.retrieve("Make p399/index.html accessible", max_shards=1)
    assert [one.shard.rule.repo_scopes for one in found.shards] == [("p399/**",)]
