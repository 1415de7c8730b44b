from __future__ import annotations

import base64
import itertools
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared_data import shared_path
from tipstaff.errors import ConfigError
from tipstaff.guidance.embeddings.hash_embedding import MAX_DIMENSIONS, Embedding, HashEmbedding, text_column

_MEASURED = shared_path("vectors", "guidance", "hash_embedding.json")
_TEXTS = st.text(max_size=40)


def by_definition(text: str, dimensions: int) -> list[float]:
    """Return the vector as the formula reads, rounding to float32 where the formula does."""
    number = 0
    units = text.lower().strip().encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        number = (number * 31 + (low | high << 8)) % 2**32
    values = []
    for position in range(dimensions):
        hashed = (position + 1) * number % 2**32
        signed = hashed - 2**32 if hashed >= 2**31 else hashed
        values.append(np.float32((math.sin(signed) + 1) / 2))
    length = math.sqrt(sum(float(value) ** 2 for value in values))
    return [float(np.float32(float(value) / length)) for value in values]


@pytest.mark.parametrize("text", ["", "a", "Never log passwords", "naïve 規則 🚦", "  Padded\t", "x" * 500])
@pytest.mark.parametrize("dimensions", [1, 7, 64, 384])
def test_vectors_are_those_of_the_formula(text: str, dimensions: int) -> None:
    assert HashEmbedding(dimensions).embed(text).tolist() == by_definition(text, dimensions)


@pytest.mark.skipif(_MEASURED is None, reason="no folder of measured cases beside this checkout")
def test_vectors_are_bit_equal_to_the_measured_ones() -> None:
    assert _MEASURED is not None
    cases = json.loads(_MEASURED.read_text(encoding="utf-8"))["cases"]
    assert len(cases) >= 20
    for case in cases:
        for dimensions, expected in case["expected"].items():
            found = HashEmbedding(int(dimensions)).embed(case["text"])
            assert found.tobytes() == base64.b64decode(expected["base64_f32le"]), case["name"]


@given(st.lists(_TEXTS, max_size=6), st.sampled_from([1, 3, 16, 33]))
def test_one_by_one_in_a_list_and_in_a_column_are_the_same(texts: list[str], dimensions: int) -> None:
    embedding = HashEmbedding(dimensions)
    expected = np.array([embedding.embed(text) for text in texts], dtype=np.float32).reshape(-1, dimensions)
    assert np.array_equal(embedding.embed_batch(texts), expected)
    assert np.array_equal(embedding.embed_batch(tuple(texts)), expected)
    assert embedding.embed_rows(texts) == expected.tobytes()
    if all(char < "\ud800" or char > "\udfff" for text in texts for char in text):
        for kind in (pa.string(), pa.large_string()):
            assert np.array_equal(embedding.embed_batch(pa.array(texts, kind)), expected)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_a_slice_of_a_column_is_read_without_a_copy(kind: pa.DataType) -> None:
    texts = ["zero", "", "zwei — 規", "three", ""]
    column = pa.array(texts, kind)
    embedding = HashEmbedding(16)
    for start in range(6):
        for stop in range(start, 6):
            found = embedding.embed_batch(column[start:stop])
            assert np.array_equal(found, embedding.embed_batch(texts[start:stop]))
    assert embedding.embed_batch(pa.array(["", ""], kind)).tolist() == [embedding.embed("").tolist()] * 2


def test_lone_surrogates_are_units_like_others() -> None:
    embedding = HashEmbedding(8)
    texts = ["\ud800", "a\udfffb", "plain"]
    assert embedding.embed_batch(texts).tolist() == [embedding.embed(text).tolist() for text in texts]
    assert embedding.embed("\ud800").tolist() == by_definition("\ud800", 8)
    rows = [embedding.embed(text).tobytes() for text in texts]
    assert embedding.embed_rows(texts) == b"".join(rows)


def test_a_column_of_another_type_is_refused() -> None:
    embedding = HashEmbedding(8)
    with pytest.raises(TypeError, match="int64"):
        embedding.embed_batch(pa.array([1, 2]))
    with pytest.raises(TypeError, match="dictionary"):
        embedding.embed_batch(pa.array(["a", "b"]).dictionary_encode())
    with pytest.raises(TypeError, match="int64"):
        embedding.embed_batch(pa.array([], pa.int64()))
    with pytest.raises(ValueError, match="1 nulls"):
        embedding.embed_batch(pa.array(["a", None]))


@pytest.mark.parametrize("texts", ["one text", [1, 2], ["a", None], [b"bytes"]])
def test_what_is_no_list_of_texts_is_refused(texts: Any) -> None:
    with pytest.raises(TypeError):
        HashEmbedding(8).embed_batch(texts)
    with pytest.raises(TypeError):
        HashEmbedding(8).embed_rows(texts)


@given(_TEXTS)
def test_rows_have_length_one_and_no_negative_number(text: str) -> None:
    vector = HashEmbedding(384).embed(text)
    assert vector.dtype == np.float32
    assert vector.shape == (384,)
    assert abs(float(np.linalg.norm(vector.astype(np.float64))) - 1) < 1e-6
    assert (vector >= 0).all()


def test_case_and_outer_blanks_do_not_matter_and_inner_ones_do() -> None:
    embedding = HashEmbedding(32)
    assert embedding.embed("  Fix It\n").tolist() == embedding.embed("fix it").tolist()
    assert embedding.embed("fix  it").tolist() != embedding.embed("fix it").tolist()


def test_nothing_returned_is_shared() -> None:
    embedding = HashEmbedding(16)
    first = embedding.embed("same")
    kept = first.copy()
    first[:] = 7
    assert np.array_equal(embedding.embed("same"), kept)
    batch = embedding.embed_batch(["same", "same"])
    batch[0] = 7
    assert np.array_equal(batch[1], kept)


@pytest.mark.parametrize("dimensions", [0, -1, MAX_DIMENSIONS + 1, 3.5, "8", None])
def test_dimensions_that_cannot_be_are_refused(dimensions: Any) -> None:
    with pytest.raises(ConfigError, match="between 1 and 4096"):
        HashEmbedding(dimensions)


def test_the_identity_names_all_that_changes_vectors() -> None:
    assert HashEmbedding().identity == "hash-384"
    assert HashEmbedding(64).identity == "hash-64"
    assert isinstance(HashEmbedding(), Embedding)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=9), max_size=5))
def test_a_text_column_is_what_arrow_would_lay_out(texts: Sequence[str]) -> None:
    offsets, data = text_column(texts)
    parts = [data[start:end] for start, end in itertools.pairwise(offsets)]
    assert [part.decode() for part in parts] == list(texts)
    assert (offsets[0], offsets[-1]) == (0, len(data))
