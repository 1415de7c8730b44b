"""Hash embeddings: every instruction set gives the bits of an independent derivation and of recorded vectors."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.instruction_sets import call_all, implementations
from tests.shared_data import shared_path

# sha256 over the float32 bytes at 64, 128 and 384 dimensions, from `derived` below.
GOLDEN = {
    "": "0d006a29ebf34b8173edf5468f884ea6623260fba47b066c1e21eca4eab5d8bc",
    "Always validate input at the boundary": "8950f06178d54567468fbbc71f44628ca61d32d3764223365e82248b0857a1d2",
    "  Never commit SECRETS\t\n": "39768df4d97bec32459358ff21311db52ea6f0c4112cbcb5771b6a6ab79338c9",
    "ÄÖÜ straße ΣΊΣΥΦΟΣ": "2c2a8d1c091fc93f4bb79c608bf4e89806c25d33e630649481cd73e8621657ac",
    "\ufeff提交前运行测试 🚀\u3000": "2902742fa60064e82cb98fd19eae637f28237b3c9b5cc46c9036f82a22092ef3",
    "\x1cnot trimmed\x85": "e15242fba6f39be770d04d6bc95fb935a7c8fab51e6b31ddcd89a78366608be0",
    "x" * 1000: "6cea7b1fa6ad15aa5f70280673775f5b5494d2843522dae30aa6d46189966cb4",
}


def derived(text: str, dimensions: int) -> bytes:
    """Return the vector by the definition: a separate 31-hash for each dimension, libm sines."""
    spaces = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
    data = text.lower().strip(spaces).encode("utf-16-le", "surrogatepass")
    units = struct.unpack(f"<{len(data) // 2}H", data)
    values = []
    for i in range(1, dimensions + 1):
        total = 0
        for unit in units:
            total = (total * 31 + unit * i) % 2**32
        signed = total - 2**32 if total >= 2**31 else total
        values.append(float(np.float32((math.sin(signed) + 1) / 2)))
    norm = math.sqrt(_sequential(values))
    return np.array([value / norm for value in values], dtype=np.float32).tobytes()


def _sequential(values: list[float]) -> float:
    squares = 0.0
    for value in values:
        squares += value * value
    return squares


def column(texts: list[str], *, large: bool = False) -> tuple[np.ndarray, bytes]:
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)]).astype(np.int64 if large else np.int32)
    return offsets, b"".join(encoded)


@pytest.mark.parametrize("text", GOLDEN)
def test_golden_vectors(text: str) -> None:
    for dimensions in (64, 128, 384):
        for which, vector in call_all("hash_embed", text, dimensions).items():
            assert bytes(vector) == derived(text, dimensions), which
    digest = hashlib.sha256(b"".join(bytes(implementations("hash_embed")["portable"](text, d)) for d in (64, 128, 384)))
    assert digest.hexdigest() == GOLDEN[text]


def test_recorded_vectors_of_the_reference() -> None:
    path = shared_path("vectors", "guidance", "hash_embedding.json")
    if path is None:
        pytest.skip("no recorded vectors beside this checkout")
    cases = json.loads(path.read_text())["cases"]
    assert len(cases) >= 30
    for case in cases:
        for dimensions, expected in case["expected"].items():
            for which, vector in call_all("hash_embed", case["text"], int(dimensions)).items():
                assert bytes(vector) == base64.b64decode(expected["base64_f32le"]), (case["name"], dimensions, which)


@given(st.text(max_size=90), st.integers(1, 200))
def test_every_instruction_set_gives_the_same_bits(text: str, dimensions: int) -> None:
    assert len({bytes(vector) for vector in call_all("hash_embed", text, dimensions).values()}) == 1


@given(st.text(st.characters(exclude_categories=()), max_size=12))
def test_lone_surrogates_are_units(text: str) -> None:
    assert len({bytes(vector) for vector in call_all("hash_embed", text, 16).values()}) == 1


@given(st.text(st.characters(max_codepoint=127), max_size=300))
def test_ascii_is_hashed_as_its_utf16_units(text: str) -> None:
    # A letter outside ASCII sends the rest of the text through the other path.
    for which, embed in implementations("hash_embed").items():
        plain_text = embed(text.strip() + "e", 8)
        assert bytes(plain_text) == derived(text.strip() + "e", 8), which


@given(st.lists(st.text(max_size=40), max_size=25), st.integers(1, 70), st.booleans())
def test_batch_rows_equal_single_texts(texts: list[str], dimensions: int, large: bool) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    offsets, data = column(texts, large=large)
    single = implementations("hash_embed")
    for which, batch in implementations("hash_embed_batch").items():
        out = np.full((len(texts), dimensions), np.nan, dtype=np.float32)
        batch(offsets, data, len(texts), dimensions, out, large_offsets=large)
        for row, text in enumerate(texts):
            assert out[row].tobytes() == bytes(single[which](text, dimensions)), (which, text)


def test_batch_takes_a_slice_of_an_arrow_column() -> None:
    texts = ["Never log tokens", "Überprüfe Eingaben", "", "Run the tests ", "日本語"]
    sliced = pa.array(["left out", *texts, "left out too"]).slice(1, len(texts))
    _, offsets, data = sliced.buffers()
    single = implementations("hash_embed")
    for which, batch in implementations("hash_embed_batch").items():
        out = np.zeros((len(texts), 32), dtype=np.float32)
        batch(memoryview(offsets)[sliced.offset * 4 :], data, len(texts), 32, out)
        assert [row.tobytes() for row in out] == [bytes(single[which](text, 32)) for text in texts], which


def test_embed_into_writes_the_same_vector() -> None:
    single = implementations("hash_embed")
    for which, into in implementations("hash_embed_into").items():
        out = np.zeros(100, dtype=np.float32)
        into("Prefer composition", out)
        assert out.tobytes() == bytes(single[which]("Prefer composition", 100))


def test_vectors_are_unit_length_and_the_callers_own() -> None:
    for embed in implementations("hash_embed").values():
        first = embed("Same text")
        assert len(first) == 384
        assert math.isclose(np.linalg.norm(first), 1, rel_tol=1e-6)
        kept = bytes(first)
        first[0] = 7.0
        assert bytes(embed("Same text")) == kept


@pytest.mark.parametrize("which", implementations("hash_embed"))
def test_bad_input_is_refused(which: str) -> None:
    embed, into, batch = (
        implementations(name)[which] for name in ("hash_embed", "hash_embed_into", "hash_embed_batch")
    )
    out = np.zeros((2, 4), dtype=np.float32)
    for dimensions in (0, -1, 65537):
        with pytest.raises(ValueError, match=f"got {dimensions}"):
            embed("x", dimensions)
    with pytest.raises(TypeError, match="format 'd'"):
        into("x", np.zeros(4))
    with pytest.raises((BufferError, ValueError)):
        into("x", bytes(16))
    with pytest.raises(ValueError, match="not a whole number"):
        into("x", bytearray(7))
    with pytest.raises(ValueError, match="2 rows need 3 offsets"):
        batch(np.array([0, 1], dtype=np.int32), b"ab", 2, 4, out)
    with pytest.raises(ValueError, match="n_rows"):
        batch(np.array([0], dtype=np.int32), b"", -1, 4, out)
    with pytest.raises(ValueError, match="out"):
        batch(np.array([0, 1, 2], dtype=np.int32), b"ab", 2, 5, out)
    for offsets in ([0, 2, 1], [0, 1, 3], [-1, 1, 2], [3, 3, 3]):
        with pytest.raises(ValueError, match=r"row [01] are out of order"):
            batch(np.array(offsets, dtype=np.int32), b"ab", 2, 4, out)
    with pytest.raises(ValueError, match="utf-8"):
        batch(np.array([0, 1, 2], dtype=np.int32), b"a\xff", 2, 4, out)
    with pytest.raises(TypeError, match="offsets"):
        batch(np.array([0, 1, 2], dtype=np.int64), b"ab", 2, 4, out)
