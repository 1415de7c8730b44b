"""Pairs of similar sets: against all pairs by definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.instruction_sets import call_all, implementations


def flat(sets: list[set[int]]) -> tuple[np.ndarray, np.ndarray]:
    tokens = np.array([token for members in sets for token in sorted(members)], dtype=np.uint32)
    return tokens, np.cumsum([0, *map(len, sets)]).astype(np.int64)


def by_definition(sets: list[set[int]], threshold: float) -> list[tuple[int, int, float]]:
    found = []
    for (i, a), (j, b) in combinations(enumerate(sets), 2):
        if a | b and len(a & b) / len(a | b) >= threshold:
            found.append((i, j, len(a & b) / len(a | b)))
    return found


@given(
    st.lists(st.sets(st.integers(0, 30) | st.integers(0, 2**32 - 1), max_size=12), max_size=40),
    st.sampled_from([0.05, 0.25, 0.3, 1 / 3, 0.5, 0.6, 2 / 3, 0.75, 0.8, 0.9, 1.0]),
)
def test_all_pairs_are_found(sets: list[set[int]], threshold: float) -> None:
    for found, complete in call_all("jaccard_pairs", *flat(sets), threshold, 10_000).values():
        assert complete
        assert found == by_definition(sets, threshold)


def test_a_thousand_zipf_sets() -> None:
    rng = np.random.default_rng(3)
    sets = [set((rng.zipf(1.4, 14) % 5000).tolist()) for _ in range(1000)]
    tokens, offsets = flat(sets)
    found, complete = implementations("jaccard_pairs")["native"](tokens, offsets, 0.5, 1_000_000)
    assert complete
    assert found == by_definition(sets, 0.5)


def test_a_limit_of_pairs_stops_the_search() -> None:
    sets = [{1, 2, 3}] * 30
    for found, complete in call_all("jaccard_pairs", *flat(sets), 0.5, 17).values():
        assert len(found) == 17
        assert not complete
        assert all(similarity == 1.0 for _, _, similarity in found)


def test_a_limit_of_work_stops_the_search() -> None:
    sets = [{1, 2, 3, 4 + i} for i in range(60)]
    for found, complete in call_all("jaccard_pairs", *flat(sets), 0.5, 10_000, work_limit=200).values():
        assert not complete
        assert set(found) <= set(by_definition(sets, 0.5))


def test_alike_sets_do_not_take_quadratic_work() -> None:
    # 30,000 equal sets have 450 million pairs; the default limit ends the search.
    tokens, offsets = flat([{1, 2}] * 30_000)
    found, complete = implementations("jaccard_pairs")["native"](tokens, offsets, 0.9, 1000)
    assert not complete
    assert len(found) == 1000


def test_a_slice_of_a_longer_column() -> None:
    tokens, offsets = flat([{9}, {1, 2}, {1, 2}, {9}])
    for found, complete in call_all("jaccard_pairs", tokens, offsets[1:4], 0.9, 10).values():
        assert (found, complete) == ([(0, 1, 1.0)], True)


@pytest.mark.parametrize("which", implementations("jaccard_pairs"))
def test_bad_input_is_refused(which: str) -> None:
    pairs = implementations("jaccard_pairs")[which]
    tokens, offsets = flat([{1, 2}, {2, 3}])
    for threshold in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(ValueError, match="threshold"):
            pairs(tokens, offsets, threshold, 10)
    with pytest.raises(ValueError, match="set 1 are not strictly ascending"):
        pairs(np.array([1, 2, 3, 3], dtype=np.uint32), offsets, 0.5, 10)
    for wrong in ([0, 5], [0, 2, 1], [-1, 2]):
        with pytest.raises(ValueError, match="are out of order"):
            pairs(tokens, np.array(wrong, dtype=np.int64), 0.5, 10)
    with pytest.raises(ValueError, match="none"):
        pairs(tokens, b"", 0.5, 10)
    with pytest.raises(TypeError, match="tokens"):
        pairs(tokens.astype(np.int64), offsets, 0.5, 10)
    with pytest.raises(ValueError, match="max_pairs"):
        pairs(tokens, offsets, 0.5, -1)
