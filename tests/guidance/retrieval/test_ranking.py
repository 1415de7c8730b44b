from __future__ import annotations

import pytest

from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.retrieval.ranking import rank_texts


def test_rank_orders_plain_texts() -> None:
    texts = ["Write tests for the cart", "Deploy on Monday", "Fix crashes first", "Deploy on Monday"]
    ranked = rank_texts("Fix the crash", texts, 10)
    assert sorted(ranked) == [0, 1, 2, 3]
    assert ranked.index(1) < ranked.index(3)
    assert rank_texts("Fix the crash", texts, 2) == ranked[:2]
    assert all(type(position) is int for position in ranked)


@pytest.mark.parametrize("number", [0, -1])
def test_rank_of_nothing(number: int) -> None:
    assert rank_texts("Fix", ["a"], number) == []
    assert rank_texts("Fix", [], 5) == []


def test_the_name_of_a_file_before_headings_is_not_one_of_them() -> None:
    texts, heads = ["Keep it short", "Keep it safe", "Keep it"], ["Docs", "Deploy > Agents", ""]
    named = [f"AGENTS.md > {head}" if head else "AGENTS.md" for head in heads]
    for task in ("Deploy the docs", "Change AGENTS.md"):
        assert rank_texts(task, texts, 3, headings=named) == rank_texts(task, texts, 3, headings=heads)


def test_rank_takes_headings() -> None:
    texts, heads = ["one", "two", "three"], ["", "Testing", "Deployment"]
    plain = ["one", "Testing: two", "Deployment: three"]
    assert rank_texts("Deploy", texts, 3, headings=heads, embedding=HashEmbedding()) == rank_texts(
        "Deploy", plain, 3, embedding=HashEmbedding()
    )
    assert rank_texts("Deploy", texts, 1, headings=heads) == [2]
    with pytest.raises(ValueError, match="2 headings were given for 3 texts"):
        rank_texts("Deploy", texts, 3, headings=["a", "b"])
