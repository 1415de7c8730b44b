"""Four bits for each number of int8 rows: they change no entry, and bound what they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernels.test_scoring import columns
from tests.kernels.twins import ISAS, implementations
from tipstaff.kernels import _int8, _scoring


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([2049, 2080, 2111, 5000]), st.sampled_from([1, 64, 100, 128, 129, 256, 384]),
    st.sampled_from([1, 5, 40]), st.integers(0, 2**32 - 1), st.booleans(),
)  # fmt: skip
def test_nibbles_change_no_entry(n: int, dimensions: int, k: int, seed: int, clustered: bool) -> None:
    case = columns(n, dimensions, seed)
    rows = np.asarray(case["rows"])
    if clustered:  # rows that no four bits tell apart, one number much larger than the others
        rows = rows[seed % n] + rows * np.float32(1e-3)
        rows[:, 0] += 3
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    small = _int8.quantize_rows(rows, dimensions)
    nibbles = _int8.nibble_rows(*small[:3], dimensions)
    held = _int8.Int8Rows(rows, *small, case["intents"], case["risks"], nibbles)
    for isa in ISAS:
        for start, stop in ((0, n), (31, n - 1)):
            for query in (np.asarray(case["query"]), rows[n // 2]):
                options = {"query_intents": case["query_intents"], "risk_filter": case["risk_filter"], "k": k}
                mask = case["row_mask"]
                found = held.topk(query, mask, start=start, stop=stop, isa=isa, **options)
                exact = implementations("score_topk_f32")[isa](
                    rows[start:stop], query, case["intents"][start:stop], case["risks"][start:stop],
                    None if mask is None else mask[start:stop], **options,
                )  # fmt: skip
                assert [row - start for row in found[0]] == list(exact[0])
                assert found[1:] == (list(exact[1]), list(exact[2]))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.sampled_from([1, 3, 127, 128, 130, 256, 300]), st.integers(0, 2**32 - 1))
def test_nibbles_bound_what_they_stand_for(n: int, dimensions: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, dimensions)).astype(np.float32) * np.float32(10.0 ** rng.integers(-3, 4))
    rows[0] = rows[-1]
    codes, scales, errors, mean = _int8.quantize_rows(rows, dimensions)
    query = rng.standard_normal(dimensions)
    found = {which: make(codes, scales, errors, dimensions) for which, make in implementations("nibble_rows").items()}
    for halves, half_scales, half_errors in found.values():
        taken = np.asarray(halves).reshape(n, -1, 64)
        numbers = np.concatenate([taken & 15, taken >> 4], axis=2).astype(np.float64)
        for row in range(n):
            near = mean @ query + np.asarray(half_scales)[row] * np.sum((2 * numbers[row] - 15) * turned(query))
            assert abs(rows[row] @ query - near) <= np.asarray(half_errors)[row] * np.linalg.norm(query)
    plain, native = (found[which] for which in ("plain", next(which for which in found if which != "plain")))
    assert np.mean(np.asarray(plain[0]) != np.asarray(native[0])) < 0.01  # ties of rounding
    np.testing.assert_allclose(np.asarray(plain[1]), np.asarray(native[1]), rtol=1e-6)


def turned(query: np.ndarray) -> np.ndarray:
    """Return a query's numbers as nibbles have them (parts, 128), by the matrix of the transform."""
    n_parts = -(-len(query) // 128)
    parts = np.zeros(n_parts * 128)
    parts[: len(query)] = query
    signs = [-1.0 if 0x13198A2E03707344243F6A8885A308D3 >> i & 1 else 1.0 for i in range(128)]
    hadamard = np.array([[(-1.0) ** (i & j).bit_count() for j in range(128)] for i in range(128)])
    return (parts.reshape(128, n_parts).T * signs) @ hadamard


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dimensions", [7, 64])
def test_nibbles_that_tell_too_few_rows_apart_are_left_on_the_way(dimensions: int, isa: str) -> None:
    n = 20_011
    case = columns(n, dimensions, dimensions)
    rows = np.asarray(case["rows"])
    if dimensions == 64:
        rows = rows[0] + rows * np.float32(1e-3)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    small = _int8.quantize_rows(rows, dimensions)
    held = _int8.Int8Rows(rows, *small, case["intents"], case["risks"], _int8.nibble_rows(*small[:3], dimensions))
    for query in (case["query"], rows[17]):
        options = {"query_intents": case["query_intents"], "k": 7, "isa": isa}
        exact = _scoring.score_topk_f32(rows, query, case["intents"], case["risks"], **options)
        assert held.topk(query, **options) == tuple(list(column) for column in exact)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.sampled_from([1, 5, 128, 300, 1024]), st.integers(-4, 6), st.integers(0, 2**32 - 1))
def test_plain_bounds_hold_in_the_native_scan(n: int, dimensions: int, power: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, dimensions)).astype(np.float32) * np.float32(10.0**power)
    plain, native = implementations("quantize_rows")["plain"], _int8.quantize_rows
    ours = plain(rows, dimensions)
    codes, _, errors, mean = native(rows, dimensions, ours[3])
    if bytes(codes) == bytes(ours[0]):  # else one of them rounded a tie the other way
        # Their scales are rounded to float32, one of them upwards.
        slack = 2e-7 * (np.linalg.norm(rows, axis=1) + np.linalg.norm(mean))
        assert np.all(np.asarray(ours[2]) >= np.asarray(errors) * (1 - 1e-6) - slack)
    mine, theirs = (make(*ours[:3], dimensions) for make in implementations("nibble_rows").values())
    if bytes(mine[0]) == bytes(theirs[0]):
        np.testing.assert_allclose(np.asarray(mine[2]), np.asarray(theirs[2]), rtol=1e-5)
    assert len(mean) == dimensions


@pytest.mark.parametrize("which", implementations("nibble_rows"))
def test_nibbles_check_what_they_are_given(which: str) -> None:
    make = implementations("nibble_rows")[which]
    case = columns(20, 12, 3)
    small = _int8.quantize_rows(case["rows"], 12)
    codes, scales, errors, _ = small
    for wrong, message in (
        ((codes[:-1], scales, errors, 12), "codes: expected 240 bytes, got 239"),
        ((codes, scales, errors[:2], 12), "errors: expected 80 bytes, got 8"),
        ((codes, scales, errors, 0), "dimensions: expected 1 to 65536, got 0"),
    ):
        with pytest.raises(ValueError, match=message):
            make(*wrong)
    with pytest.raises(TypeError, match="codes: expected a buffer of int8"):
        make(np.zeros(240, np.float32), scales, errors, 12)
    halves = make(codes, scales, errors, 12)
    rows = implementations("Int8Rows")[which]
    assert len(rows(case["rows"], *small, case["intents"], case["risks"], halves)) == 20
    for place, message in (
        (0, "nibbles: expected 1280 bytes, got 1216"), (1, "nibble_scales: expected 80 bytes, got 76"),
        (2, "nibble_errors: expected 80 bytes, got 76"),
    ):  # fmt: skip
        wrong_halves = [*halves]
        wrong_halves[place] = halves[place][: 19 * (64 if place == 0 else 1)]
        with pytest.raises(ValueError, match=message):
            rows(case["rows"], *small, case["intents"], case["risks"], tuple(wrong_halves))
    for some in ((), halves[:2], (*halves, halves[0])):
        with pytest.raises(ValueError, match="values to unpack"):
            rows(case["rows"], *small, case["intents"], case["risks"], some)
