"""Scoring: every implementation against the definition in NumPy, and int8 against float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.instruction_sets import ISAS, call_all, implementations, unaligned, unit_rows
from tipstaff.kernels import _scoring

SHAPES = st.tuples(st.integers(0, 70), st.integers(1, 150), st.integers(0, 80), st.integers(0, 2**32 - 1))


def columns(n: int, dimensions: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "rows": unit_rows(rng, n, dimensions),
        "query": unit_rows(rng, 1, dimensions)[0],
        "intents": rng.integers(0, 1 << 10, n).astype(np.uint16),
        "risks": rng.integers(0, 5, n).astype(np.uint8),
        "row_mask": rng.random(n) < 0.8,
        "query_intents": int(rng.integers(0, 1 << 10)),
        "risk_filter": int(rng.integers(0, 32)),
    }


def expected(case: dict[str, Any], k: int, boosts: tuple[float, float, float] = (0.15, 0.10, 0.05)) -> np.ndarray:
    """Return all passing rows' scores in double precision, -inf for rows left out."""
    cosine = np.clip(case["rows"].astype(float) @ case["query"].astype(float), 0, 1)
    score = cosine + boosts[0] * ((case["intents"] & case["query_intents"]) != 0)
    score += np.where(case["risks"] == 4, boosts[1], 0) + np.where(case["risks"] == 3, boosts[2], 0)
    passes = ((case["risk_filter"] >> case["risks"].astype(int)) & 1).astype(bool)
    if case["row_mask"] is not None:
        passes &= case["row_mask"]
    return np.where(passes, score, -np.inf)


def assert_best(found: tuple[Any, Any, Any], scores: np.ndarray, k: int) -> None:
    """Hold that entries are k best by these scores, to float32 rounding, and in order."""
    rows, values, cosines = (np.asarray(part) for part in found)
    assert rows.dtype == np.int32
    assert values.dtype == cosines.dtype == np.float32
    assert len(rows) == len(values) == len(cosines) == min(k, np.isfinite(scores).sum())
    assert len(set(rows.tolist())) == len(rows)
    np.testing.assert_allclose(values, scores[rows], atol=3e-6)
    np.testing.assert_allclose(values, np.sort(scores)[::-1][: len(rows)], atol=3e-6)
    order = sorted(zip((-values).tolist(), rows.tolist(), strict=True))
    assert [row for _, row in order] == rows.tolist()


@given(SHAPES, st.booleans())
def test_f32_gives_the_k_best(shape: tuple[int, int, int, int], masked: bool) -> None:
    n, dimensions, k, seed = shape
    case = columns(n, dimensions, seed)
    if not masked:
        case["row_mask"] = None
    scores = expected(case, k)
    for found in call_all("score_topk_f32", **case, k=k).values():
        assert_best(found, scores, k)


@given(SHAPES, st.integers(0, 70))
def test_batch_gives_the_k_best_for_each_query(shape: tuple[int, int, int, int], m: int) -> None:
    n, dimensions, k, seed = shape
    case = columns(n, dimensions, seed)
    rng = np.random.default_rng(seed + 1)
    queries = unit_rows(rng, m, dimensions)
    query_intents = rng.integers(0, 1 << 10, m).astype(np.uint16)
    filters = rng.integers(0, 32, m).astype(np.uint8)
    shared = {name: case[name] for name in ("rows", "intents", "risks", "row_mask")}
    found = {
        isa: implementations("score_topk_f32_batch")[isa](
            **shared, queries=queries, dimensions=dimensions, query_intents=query_intents, risk_filters=filters, k=k
        )
        for isa in ISAS
    }
    for results in found.values():
        assert len(results) == m
        for i in range(m):
            one = {**case, "query": queries[i], "query_intents": int(query_intents[i]), "risk_filter": int(filters[i])}
            assert_best(results[i], expected(one, k), k)


@given(SHAPES, st.floats(0.0, 1.0))
def test_i8_gives_the_rows_and_bits_of_f32(shape: tuple[int, int, int, int], likeness: float) -> None:
    n, dimensions, k, seed = shape
    case = columns(n, dimensions, seed)
    # From rows apart to rows all but alike, where bounds overlap.
    rows = case["rows"] * np.float32(1 - likeness) + case["rows"][:1] * np.float32(likeness)
    case["rows"] = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)).astype(np.float32)
    small = _scoring.quantize_rows(case["rows"], dimensions)
    rest = dict(case)
    arguments = [
        rest.pop("rows"),
        *small,
        rest.pop("query"),
        rest.pop("intents"),
        rest.pop("risks"),
        rest.pop("row_mask"),
    ]
    for which, scorer in implementations("score_topk_i8").items():
        exact = implementations("score_topk_f32")[which](**case, k=k)
        found = scorer(*arguments, **rest, k=k)
        assert [bytes(part) for part in found] == [bytes(part) for part in exact], which


@given(st.integers(1, 40), st.integers(1, 200), st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
def test_error_bounds_hold(n: int, dimensions: int, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    rows = (unit_rows(rng, n, dimensions) * size).astype(np.float32)
    for quantize in implementations("quantize_rows").values():
        codes, scales, errors, mean = (np.asarray(part).astype(float) for part in quantize(rows, dimensions))
        assert np.abs(codes).max() <= 127
        near = mean + scales[:, None] * codes.reshape(n, dimensions)
        distance = np.linalg.norm(rows - near, axis=1)
        assert (distance <= errors).all()
        assert (errors <= 1.3 * distance + 1e-4 * size + 1e-5).all()


def test_equal_scores_come_in_row_order() -> None:
    rows = np.repeat(unit_rows(np.random.default_rng(2), 1, 40), 100, axis=0)
    intents = np.ones(100, dtype=np.uint16)
    risks = np.full(100, 2, dtype=np.uint8)
    small = _scoring.quantize_rows(rows, 40)
    for k in (1, 5, 16, 40):
        for found in call_all("score_topk_f32", rows, rows[0], intents, risks, k=k).values():
            assert list(found[0]) == list(range(k))
        for found in call_all("score_topk_i8", rows, *small, rows[0], intents, risks, k=k).values():
            assert list(found[0]) == list(range(k))


def test_rows_that_bounds_cannot_tell_apart_are_all_scored() -> None:
    n = 12_000
    rows = np.repeat(unit_rows(np.random.default_rng(5), 1, 24), n, axis=0)
    rows[n - 1] = -rows[0]
    columns_ = np.zeros(n, dtype=np.uint16), np.zeros(n, dtype=np.uint8)
    small = _scoring.quantize_rows(rows, 24)
    for isa in ISAS:
        found, scored = _scoring.score_topk_i8_counted(rows, *small, rows[0], *columns_, k=3, isa=isa)
        assert list(found[0]) == [0, 1, 2]
        assert scored == n


def test_few_rows_are_scored_exactly() -> None:
    case = columns(5000, 96, 9)
    small = _scoring.quantize_rows(case["rows"], 96)
    for isa in ISAS:
        _, scored = _scoring.score_topk_i8_counted(
            case["rows"], *small, case["query"], case["intents"], case["risks"], k=5, isa=isa
        )
        assert scored < 100


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_unaligned_views_give_the_same_entries(shift: int) -> None:
    case = columns(37, 50, 11)
    moved = {name: unaligned(value, shift) if isinstance(value, np.ndarray) else value for name, value in case.items()}
    small = _scoring.quantize_rows(case["rows"], 50)
    small_moved = [unaligned(np.asarray(part), shift) for part in small]
    assert [bytes(part) for part in _scoring.quantize_rows(moved["rows"], 50)] == [bytes(part) for part in small]
    options = ("query_intents", "risk_filter")
    for which, scorer in implementations("score_topk_f32").items():
        entries = [bytes(part) for part in scorer(**case, k=7)]
        assert [bytes(part) for part in scorer(**moved, k=7)] == entries, which
        i8 = implementations("score_topk_i8")[which]
        arguments = [moved[name] for name in ("query", "intents", "risks", "row_mask")]
        found = i8(moved["rows"], *small_moved, *arguments, k=7, **{name: case[name] for name in options})
        assert [bytes(part) for part in found] == entries, which


def test_what_is_not_a_number_counts_as_zero() -> None:
    rows = unit_rows(np.random.default_rng(6), 20, 19)
    rows[3, 5] = np.nan
    rows[4, 0] = np.inf
    intents = np.zeros(20, dtype=np.uint16)
    risks = np.zeros(20, dtype=np.uint8)
    query = np.abs(rows[0])
    for found in call_all("score_topk_f32", rows, query, intents, risks, k=20).values():
        by_row = dict(zip(found[0], found[1], strict=True))
        assert by_row[3] == 0.0
        assert by_row[4] == 1.0
        assert len(by_row) == 20
    bad_query = query.copy()
    bad_query[0] = np.nan
    clean = unit_rows(np.random.default_rng(6), 20, 19)
    small = _scoring.quantize_rows(clean, 19)
    for found in call_all("score_topk_i8", clean, *small, bad_query, intents, risks, k=20).values():
        assert list(found[1]) == [0.0] * 20


def test_unknown_risk_codes_never_pass() -> None:
    rows = unit_rows(np.random.default_rng(7), 18, 16)
    risks = np.array([0, 8, 200] * 6, dtype=np.uint8)
    intents = np.zeros(18, dtype=np.uint16)
    for found in call_all("score_topk_f32", rows, rows[0], intents, risks, k=18).values():
        assert sorted(found[0]) == [0, 3, 6, 9, 12, 15]


def test_boosts_are_parameters() -> None:
    case = columns(40, 16, 8)
    case["risk_filter"] = 31
    boosts = (0.5, 0.25, 0.125)
    scores = expected(case, 10, boosts)
    for found in call_all("score_topk_f32", **case, boosts=boosts, k=10).values():
        assert_best(found, scores, 10)


def test_extreme_queries_still_give_what_f32_gives() -> None:
    case = columns(200, 30, 12)
    small = _scoring.quantize_rows(case["rows"], 30)
    for factor in (0.0, 1e-30, 1e-8, 1e8, 1e25):
        query = (case["query"] * np.float32(factor)).astype(np.float32)
        for isa in ISAS:
            exact = _scoring.score_topk_f32(case["rows"], query, case["intents"], case["risks"], k=9, isa=isa)
            found = _scoring.score_topk_i8(case["rows"], *small, query, case["intents"], case["risks"], k=9, isa=isa)
            assert [bytes(part) for part in found] == [bytes(part) for part in exact]


@pytest.mark.parametrize("which", implementations("score_topk_f32"))
def test_bad_input_is_refused(which: str) -> None:
    scorer = implementations("score_topk_f32")[which]
    rows = unit_rows(np.random.default_rng(0), 4, 8)
    intents, risks = np.zeros(4, dtype=np.uint16), np.zeros(4, dtype=np.uint8)
    with pytest.raises(TypeError, match=r"rows.*float32.*'d'"):
        scorer(rows.astype(float), rows[0], intents, risks)
    with pytest.raises(ValueError, match="not whole rows of 7"):
        scorer(rows, rows[0, :7], intents, risks)
    with pytest.raises(ValueError, match="got 0"):
        scorer(rows, b"", intents, risks)
    with pytest.raises(ValueError, match="intents: expected 8 bytes, got 6"):
        scorer(rows, rows[0], intents[:3], risks)
    with pytest.raises(TypeError, match="intents"):
        scorer(rows, rows[0], intents.astype(np.uint32), risks)
    with pytest.raises(ValueError, match="risks: expected 4 bytes, got 5"):
        scorer(rows, rows[0], intents, np.zeros(5, dtype=np.uint8))
    with pytest.raises(ValueError, match="row_mask"):
        scorer(rows, rows[0], intents, risks, np.ones(3, dtype=bool))
    with pytest.raises(ValueError, match="k: expected 0 or more, got -1"):
        scorer(rows, rows[0], intents, risks, k=-1)
    with pytest.raises(ValueError, match="boosts"):
        scorer(rows, rows[0], intents, risks, boosts=(0.1, float("nan"), 0.1))
    with pytest.raises((BufferError, ValueError)):
        scorer(rows[:, ::2], rows[0, :4].copy(), intents, risks)
    with pytest.raises(OverflowError):
        scorer(rows, rows[0], intents, risks, risk_filter=256)


@pytest.mark.parametrize("which", implementations("quantize_rows"))
def test_rows_that_are_not_finite_are_not_quantized(which: str) -> None:
    rows = unit_rows(np.random.default_rng(0), 4, 8)
    for value in (np.nan, np.inf, 1e30):
        rows[2, 3] = value
        with pytest.raises(ValueError, match="row 2 is not finite"):
            implementations("quantize_rows")[which](rows, 8)


def test_dimensions_up_to_the_limit() -> None:
    case = columns(3, 65536, 1)
    case["risk_filter"], case["row_mask"] = 31, None
    small = _scoring.quantize_rows(case["rows"], 65536)
    for isa in ISAS:
        exact = _scoring.score_topk_f32(**case, k=3, isa=isa)
        assert_best(exact, expected(case, 3), 3)
        options = {"query_intents": case["query_intents"], "risk_filter": 31}
        found = _scoring.score_topk_i8(
            case["rows"], *small, case["query"], case["intents"], case["risks"], k=3, isa=isa, **options
        )
        assert [bytes(part) for part in found] == [bytes(part) for part in exact]


@given(SHAPES)
def test_borrowed_rows_give_the_same_entries(shape: tuple[int, int, int, int]) -> None:
    n, dimensions, k, seed = shape
    case = columns(n, dimensions, seed)
    small = _scoring.quantize_rows(case["rows"], dimensions)
    options = {"query_intents": case["query_intents"], "risk_filter": case["risk_filter"], "k": k}
    for make in implementations("Int8Rows").values():
        held = make(case["rows"], *small, case["intents"], case["risks"])
        assert len(held) == n
        exact = implementations("score_topk_f32")[_scoring.isa()](
            case["rows"], case["query"], case["intents"], case["risks"], case["row_mask"], **options
        )
        assert held.topk(case["query"], case["row_mask"], **options) == tuple(map(list, exact))


@pytest.mark.parametrize("which", implementations("Int8Rows"))
def test_borrowed_rows_check_what_they_are_given(which: str) -> None:
    make = implementations("Int8Rows")[which]
    case = columns(20, 12, 3)
    codes, scales, errors, mean = _scoring.quantize_rows(case["rows"], 12)
    rest = (case["intents"], case["risks"])
    for wrong, message in (
        ((case["rows"][:19], codes, scales, errors, mean, *rest), "bytes, got"),
        ((case["rows"], codes[:-1], scales, errors, mean, *rest), "codes: expected 240 bytes, got 239"),
        ((case["rows"], codes, scales[:3], errors, mean, *rest), "scales: expected 80 bytes, got 12"),
        ((case["rows"], codes, scales, errors, mean, case["intents"][:2], case["risks"]), "intents: expected 40"),
    ):
        with pytest.raises(ValueError, match=message):
            make(*wrong)
    with pytest.raises(TypeError, match="risks: expected a buffer of uint8"):
        make(case["rows"], codes, scales, errors, mean, case["intents"], case["risks"].astype(np.float64))
    held = make(case["rows"], codes, scales, errors, mean, *rest)
    with pytest.raises(ValueError, match="query: expected 48 bytes, got 44"):
        held.topk(case["query"][:11])
    with pytest.raises(ValueError, match="row_mask: expected 20 bytes, got 19"):
        held.topk(case["query"], bytes(19))


@pytest.mark.parametrize("boosts", [(-3e38, 0.0, -3e38), (2e38, 2e38, 0.0), (0.0, float("nan"), 0.1)])
def test_boosts_whose_sums_are_no_numbers_are_refused(boosts: tuple[float, float, float]) -> None:
    case = columns(5, 8, 1)
    for score in implementations("score_topk_f32").values():
        with pytest.raises(ValueError, match="no two add up to 3e38"):
            score(case["rows"], case["query"], case["intents"], case["risks"], boosts=boosts)
