from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.guidance.made_rules import bundle_of, rule
from tipstaff.guidance.retrieval.prompt_budget import MOST_BY_TOKENS, MOST_SHARDS, most_shards, positions_within
from tipstaff.guidance.retrieval.retriever import ShardRetriever


@pytest.mark.parametrize(
    ("shards", "tokens", "most"),
    [
        (None, None, MOST_BY_TOKENS), (None, 100, MOST_BY_TOKENS), (MOST_SHARDS, 100, 5), (3, 100, 3), (0, None, 0), (60, None, 60),
    ],
)  # fmt: skip
def test_tokens_replace_the_default_number_alone(shards: int | None, tokens: int | None, most: int) -> None:
    assert most_shards(shards, tokens) == most


@pytest.mark.parametrize(("shards", "tokens", "name"), [(-1, None, "max_shards"), (1, -1, "max_tokens")])
def test_numbers_below_zero_are_refused(shards: int, tokens: int | None, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        most_shards(shards, tokens)


def test_a_line_that_does_not_fit_is_passed_over() -> None:
    assert positions_within(["x" * 40, "x" * 400, "x" * 36, "x" * 40], 21) == [0, 2]


@given(st.lists(st.integers(0, 200), max_size=12), st.integers(0, 120))
def test_what_is_kept_fits_and_what_is_left_out_did_not(lengths: list[int], tokens: int) -> None:
    kept = positions_within(["x" * length for length in lengths], tokens)
    left = tokens
    for position, length in enumerate(lengths):
        cost = length // 4 + 1
        assert (position in kept) == (cost <= left)
        left -= cost if position in kept else 0
    assert left >= 0


def test_a_retriever_keeps_to_the_tokens() -> None:
    retriever = ShardRetriever(bundle_of(rule(f"A-{n}", f"Test the cart in case {n}") for n in range(20)))
    for tokens in (0, 10, 40, 200):
        found = retriever.retrieve("Test the cart", max_tokens=tokens)
        assert sum(len(f"- {one.shard.compact_text}") // 4 + 1 for one in found.shards) <= tokens
