"""Sign rows: exact where all rows are candidates, near where they are not, and the same on every instruction set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.test_scoring import columns
from tests.kernels.twins import ISAS, call_all, implementations, unaligned, unit_rows
from tipstaff.kernels import _scoring, _signs


def signed(case: dict[str, Any]) -> dict[str, Any]:
    """Return a case with its sign rows."""
    rows = case["rows"]
    mean = rows.mean(axis=0, dtype=np.float64).astype(np.float32) if len(rows) else np.zeros_like(case["query"])
    bits, factors = _signs.sign_rows(rows, mean, rows.shape[1])
    return case | {"bits": bits, "factors": factors, "mean": mean}


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 150), st.integers(1, 90), st.integers(0, 30), st.integers(0, 2**32 - 1), st.booleans())
def test_where_all_rows_are_candidates_the_answer_is_exact(
    n: int, dimensions: int, k: int, seed: int, masked: bool
) -> None:
    case = columns(n, dimensions, seed)
    if not masked:
        case["row_mask"] = None
    exact = call_all("score_topk_f32", **case, k=k)
    for isa, found in call_all("score_topk_signs", **signed(case), k=k, candidates=n).items():
        for ours, theirs in zip(found, exact[isa], strict=True):
            assert bytes(ours) == bytes(theirs), isa


@settings(max_examples=30, deadline=None)
@given(st.integers(200, 3000), st.sampled_from([64, 100, 256]), st.integers(0, 2**32 - 1))
def test_every_instruction_set_finds_the_same_rows(n: int, dimensions: int, seed: int) -> None:
    case = signed(columns(n, dimensions, seed))
    found = [np.asarray(_signs.score_topk_signs(**case, k=9, candidates=40, isa=isa)[0]).tolist() for isa in ISAS]
    assert all(one == found[0] for one in found)


def test_few_candidates_find_nearly_all_of_the_best() -> None:
    rng = np.random.default_rng(3)
    case = signed(columns(20_000, 256, 5)) | {"risk_filter": 255}
    shared = 0
    for row in rng.integers(0, 20_000, 40):
        query = case["rows"][row] + 0.05 * rng.normal(size=256)
        case["query"] = (query / np.linalg.norm(query)).astype(np.float32)
        plain = {name: case[name] for name in case if name not in {"bits", "factors", "mean"}}
        exact = _scoring.score_topk_f32(**plain, k=5)[0]
        near = _signs.score_topk_signs(**case, k=5, candidates=2_000)[0]
        shared += len(set(exact) & set(near))
    assert shared >= 0.97 * 40 * 5


def test_a_filter_costs_no_recall() -> None:
    """Rows that are masked out take no place among the candidates, however near they are."""
    case = signed(columns(5_000, 64, 9))
    order = np.argsort(-(case["rows"] @ case["query"]))
    mask = np.zeros(5_000, dtype=bool)
    mask[order[-30:]] = True
    case |= {"row_mask": mask, "risk_filter": 255}
    exact = {name: case[name] for name in case if name not in {"bits", "factors", "mean"}}
    for isa, found in call_all("score_topk_signs", **case, k=5, candidates=30).items():
        expected = implementations("score_topk_f32")[isa](**exact, k=5)
        assert np.asarray(found[0]).tolist() == np.asarray(expected[0]).tolist()


def test_twins_make_the_same_bits_and_factors() -> None:
    rows = unit_rows(np.random.default_rng(1), 70, 40)
    mean = rows.mean(axis=0)
    plain, native = (make(rows, mean, 40) for make in implementations("sign_rows").values())
    assert bytes(plain[0]) == bytes(native[0])
    np.testing.assert_allclose(np.asarray(plain[1]), np.asarray(native[1]), rtol=1e-5)


def test_any_alignment_and_the_same_bits_twice() -> None:
    case = signed(columns(300, 48, 2))
    whole = _signs.score_topk_signs(**case, k=7, candidates=20)
    moved = dict(case)
    for name in ("rows", "bits", "factors", "mean", "query", "intents"):
        moved[name] = unaligned(np.asarray(case[name]))
    assert [bytes(part) for part in _signs.score_topk_signs(**moved, k=7, candidates=20)] == [
        bytes(part) for part in whole
    ]


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_query_without_direction_scores_every_row(value: float) -> None:
    case = signed(columns(200, 16, 4))
    case["query"] = np.full(16, value, dtype=np.float32)
    exact = {name: case[name] for name in case if name not in {"bits", "factors", "mean"}}
    for isa in ISAS:
        found = _signs.score_topk_signs(**case, k=5, candidates=5, isa=isa)
        assert bytes(found[0]) == bytes(_scoring.score_topk_f32(**exact, k=5, isa=isa)[0])


@pytest.mark.parametrize("change", ["bits", "factors", "mean", "risks", "k", "boosts", "dimensions"])
def test_what_does_not_fit_is_refused(change: str) -> None:
    case: dict[str, Any] = signed(columns(130, 16, 6)) | {"k": 3}
    if change == "k":
        case["k"] = -1
    elif change == "boosts":
        case["boosts"] = (float("nan"), 0.0, 0.0)
    elif change == "dimensions":
        case["query"] = np.zeros(15, dtype=np.float32)
    else:
        case[change] = case[change][:-1]
    for isa in (*ISAS, "plain"):
        with pytest.raises(ValueError, match=r"expected|whole rows"):
            implementations("score_topk_signs")[isa](**case)


def test_too_many_dimensions_are_refused() -> None:
    for make in implementations("sign_rows").values():
        with pytest.raises(ValueError, match="expected 1 to 2048 dimensions"):
            make(b"", b"", 2049)
