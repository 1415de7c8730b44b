"""Tasks to their best rows in one call: what the kernels say one by one, native and plain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.kernels.twins import implementations, unit_rows
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.intents.classify import LEXICON
from tipstaff.kernels import _int8, _intents, _wordpiece

TABLE = StaticEmbedding().table
DIMENSIONS = _wordpiece.wordpiece_shape(TABLE)[0]
READER = _intents.TaskReader(LEXICON.read_bytes())
MADE = implementations("TaskSearch")
ROWS = implementations("Int8Rows")
_PIECES = """fix add write test tests document the login page slow api cache deploy and , . : ( ) 1.3 src/app.py README.md é 日本 x
    """.split()
TASKS = st.lists(st.sampled_from(_PIECES), max_size=10).map(" ".join) | st.text(max_size=40)


def columns(n: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    rows = unit_rows(rng, n, DIMENSIONS)
    intents, risks = rng.integers(0, 1 << 11, n).astype(np.uint16), rng.integers(0, 5, n).astype(np.uint8)
    return rows, *_int8.quantize_rows(rows, DIMENSIONS), intents, risks


def made(which: str, n: int) -> Any:
    return MADE[which](ROWS[which](*columns(n)), LEXICON.read_bytes(), TABLE)


NATIVE, PLAIN = made("native", 40), made("plain", 40)
ONE_BY_ONE = _int8.Int8Rows(*columns(40))


@settings(max_examples=40, deadline=None)
@given(TASKS, st.none() | st.integers(0, 2047), st.integers(0, 255), st.integers(0, 50), st.booleans())
@example("fix the login page", None, 255, 13, False)
@example("", None, 255, 5, False)
@example("fix src/app.py", None, 255, 5, False)
@example("a\ud800", None, 255, 5, False)
def test_it_says_what_the_kernels_say_one_by_one(task: str, bits: int | None, risks: int, k: int, masked: bool) -> None:
    mask = bytes(row % 3 for row in range(40)) if masked else None
    options: dict[str, Any] = {"risk_filter": risks, "boosts": (0.03, 0.02, 0.01), "k": k}
    found = NATIVE.find(task, mask, query_intents=bits, **options)
    read = READER.read(task)
    if read is None or _intents.task_places(task):
        assert found is None
        assert PLAIN.find(task, mask, query_intents=bits, **options) is None
        return
    asked = 1 << read[0] if bits is None else bits
    vector = _wordpiece.wordpiece_embed(TABLE, task)
    assert found == (*read, *ONE_BY_ONE.topk(vector, mask, query_intents=asked, **options))


@pytest.mark.parametrize("task", ["fix the login page", "write tests for the api, and deploy", ""])
def test_the_twin_agrees(task: str) -> None:
    native, plain = NATIVE.find(task), PLAIN.find(task)
    assert native[:2] == plain[:2]
    np.testing.assert_allclose(native[3], plain[3], atol=3e-6)
    np.testing.assert_allclose(native[4], plain[4], atol=3e-6)


@pytest.mark.parametrize("which", MADE)
def test_what_does_not_fit_is_refused(which: str) -> None:
    make: Callable[..., Any] = MADE[which]
    rows = ROWS[which](*columns(3))
    with pytest.raises(ValueError, match="lexicon: not a valid lexicon"):
        make(rows, b"TIN1", TABLE)
    with pytest.raises(ValueError, match="table: not a valid word-piece table"):
        make(rows, LEXICON.read_bytes(), b"nothing")
    narrow = np.ones((2, 4), np.float32) / 2
    other = ROWS[which](narrow, *_int8.quantize_rows(narrow, 4), np.zeros(2, np.uint16), np.zeros(2, np.uint8))
    with pytest.raises(ValueError, match=f"expected the 4 dimensions of the rows, got {DIMENSIONS}"):
        make(other, LEXICON.read_bytes(), TABLE)
    with pytest.raises(ValueError, match="row_mask"):
        made(which, 3).find("tests", bytes(2))


def test_it_is_made_once() -> None:
    rows = _int8.Int8Rows(*columns(3))
    search = _int8.TaskSearch(rows, LEXICON.read_bytes(), TABLE)
    with pytest.raises(RuntimeError, match="made once"):
        search.__init__(rows, LEXICON.read_bytes(), TABLE)  # type: ignore[misc]
    with pytest.raises(ValueError, match="expected at least one"):
        _int8.TaskSearch.__new__(_int8.TaskSearch).find("tests")
