"""Word-piece embeddings: every instruction set gives the same bits, and those of an independent derivation."""

from __future__ import annotations

import math
import random
import struct
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.kernels.instruction_sets import ISAS, call_all, implementations
from tests.kernels.wordpiece_tables import pieces, rows, table
from tipstaff.kernels import _wordpiece

TEXTS = (
    "",
    "Fix the auth issue",
    "getUserByID APIs HTTPServer IOError x1Y",
    "don't don\u2019t rock'N'roll",
    "xzvbrtk xzvbrtk2 authentication",
    "Straße naïve ＡＰＩ ＸＺＶ９ Ångström ǅ",
    "提交前运行测试 テスト、한국어",
    "Не храните ПАРОЛИ в коде; Τεστ πρινς",
    "mixedсмешанное漢字word",
    "\ud800 lone \udfff",
    "!!! ??? 🚀 \u200b",
    "a" * 255,
    "z" * 256,
    "secret" * 200,
    "q",
    "qqqaqqq",
)


def derived(text: str, dimensions: int = 48) -> np.ndarray:
    """Return the vector of words of known letters, by plain sums in float32."""
    codes, scales = rows(dimensions)
    names = pieces()
    total = np.zeros(dimensions, np.float32)
    for word in text.split():
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            end = next(e for e in range(len(word), start, -1) if prefix + word[start:e] in names)
            number = names.index(prefix + word[start:end])
            total += scales[number] * codes[number].astype(np.float32)
            start = end
    return (total / np.linalg.norm(total)).astype(np.float32)


def column(texts: list[str], *, large: bool = False) -> tuple[np.ndarray, bytes]:
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)]).astype(np.int64 if large else np.int32)
    return offsets, b"".join(encoded)


def same_bits(name: str, *args: Any) -> bytes:
    """Return the one result that all instruction sets give."""
    results = {which: bytes(result) for which, result in call_all(name, *args).items()}
    assert len(set(results.values())) == 1, sorted(results)
    assert len(results) == len(ISAS)
    return results["portable"]


@pytest.mark.parametrize("text", ["fix auth issue", "secrets vault testing", "servers http 2 ab", "authing"])
@pytest.mark.parametrize("dimensions", [16, 48, 256, 1024])
def test_a_vector_is_the_sum_of_its_rows(text: str, dimensions: int) -> None:
    vector = np.frombuffer(same_bits("wordpiece_embed", table(dimensions), text), np.float32)
    np.testing.assert_allclose(vector, derived(text, dimensions), atol=2e-6)


@pytest.mark.parametrize("text", TEXTS)
def test_every_instruction_set_gives_the_same_bits(text: str) -> None:
    for dimensions in (16, 48, 80, 256):
        same_bits("wordpiece_embed", table(dimensions), text)


@given(st.text() | st.text("aQz09'ñß漢ДΣ HT\ud800_-", max_size=400))
@example("\u1e9e\u0130\u0131\ufb01")
def test_any_text_is_a_unit_vector_or_zeros(text: str) -> None:
    vector = np.frombuffer(same_bits("wordpiece_embed", table(), text), np.float32)
    length = float(np.linalg.norm(vector.astype(np.float64)))
    assert not vector.any() or abs(length - 1) < 1e-6


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=8), st.booleans())
def test_a_batch_is_its_texts_one_by_one(texts: list[str], large: bool) -> None:
    offsets, data = column(texts, large=large)
    expected = b"".join(bytes(_wordpiece.wordpiece_embed(table(), text)) for text in texts)
    for which, embed in implementations("wordpiece_embed_batch").items():
        out = np.full((len(texts), 48), 9, np.float32)
        embed(table(), offsets, data, len(texts), out, large_offsets=large)
        assert out.tobytes() == expected, which


def test_lengths_are_those_of_the_sums() -> None:
    texts = ["", "fix", "fix fix", "fix auth", "漢字", "--"]
    offsets, data = column(texts, large=False)
    for which, embed in implementations("wordpiece_embed_batch").items():
        out, lengths = np.zeros((6, 48), np.float32), np.full(6, 9, np.float32)
        embed(table(), offsets, data, 6, out, lengths=lengths)
        assert lengths[[0, 5]].tolist() == [0.0, 0.0], which
        assert lengths[2] == 2 * lengths[1] > 0, which
        both = lengths[1] * out[1].astype(np.float64)
        assert np.linalg.norm(lengths[3] * out[3] - both) == pytest.approx(_length("auth"), rel=1e-5), which
        with pytest.raises(ValueError, match="lengths: expected 6 float32, got 5"):
            embed(table(), offsets, data, 6, out, lengths=np.zeros(5, np.float32))


def _length(word: str) -> float:
    offsets, data = column([word], large=False)
    lengths = np.zeros(1, np.float32)
    _wordpiece.wordpiece_embed_batch(table(), offsets, data, 1, np.zeros((1, 48), np.float32), lengths=lengths)
    return float(lengths[0])


def test_rows_of_a_sliced_arrow_column() -> None:
    texts = pa.array(["one", "fix auth", None, "vault ü"]).slice(1)
    _, offsets, data = texts.buffers()
    out = np.empty((3, 48), np.float32)
    _wordpiece.wordpiece_embed_batch(table(), memoryview(offsets)[4 * texts.offset :], data, 3, out)
    for row, text in zip(out, ("fix auth", "", "vault ü"), strict=True):
        assert row.tobytes() == bytes(_wordpiece.wordpiece_embed(table(), text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Secrets", ["secrets"]),
        ("testing", ["test", "##ing"]),
        ("authFix", ["auth", "fix"]),
        ("HTTPServer", ["http", "server"]),
        ("ISSUEs", ["issue", "##s"]),
        ("fix'FIX", ["fix", "##f", "##i", "##x"]),
        ("té­st te\u0301st", ["test", "test"]),
        ("qaq", ["##a"]),
        ("漢字 Дом", []),
        ("fix漢auth", ["fix", "auth"]),
    ],
)
def test_words_are_cut_into_the_longest_pieces(text: str, expected: list[str]) -> None:
    assert set(map(tuple, call_all("wordpiece_split", table(), text).values())) == {tuple(expected)}


def cosine(left: str, right: str) -> float:
    a, b = (np.asarray(_wordpiece.wordpiece_embed(table(256), text)) for text in (left, right))
    return float(a @ b)


def test_unknown_words_meet_themselves() -> None:
    codes, scales = rows(256)
    names = pieces()
    alone = sum(scales[names.index(p)] * codes[names.index(p)].astype(np.float64) for p in ("x", "##z", "##v"))
    vector = np.asarray(_wordpiece.wordpiece_embed(table(256), "xzv"), np.float64)
    # What is left beside the pieces is the signs of the word's hash.
    factor = (vector @ alone) / (alone @ alone)
    assert np.linalg.norm(vector - factor * alone) > 0.01
    digits = np.asarray(_wordpiece.wordpiece_embed(table(256), "x1v"), np.float64)
    with_digit = sum(scales[names.index(p)] * codes[names.index(p)].astype(np.float64) for p in ("x", "##1", "##v"))
    np.testing.assert_allclose(digits, with_digit / np.linalg.norm(with_digit), atol=1e-6)


def test_other_scripts_are_near_by_their_characters_only() -> None:
    assert cosine("提交前运行测试", "运行测试") > 0.5
    assert cosine("храните пароли", "пароль не храните") > 0.3
    assert cosine("ПАРОЛИ", "пароли") == pytest.approx(1, abs=1e-6)
    assert abs(cosine("提交前运行测试", "не храните пароли")) < 0.3
    assert cosine("!?", "fix auth") == 0.0


def test_damaged_headers_are_refused_by_all() -> None:
    good = table()
    for at, value, message in (
        (0, b"X", "wrong magic number"),
        (8, struct.pack("<I", 2), "version"),
        (12, struct.pack("<I", 40), "dimensions"),
        (12, struct.pack("<I", 2048), "dimensions"),
        (16, struct.pack("<I", 0), "pieces"),
        (16, struct.pack("<I", 65535), "pieces"),
        (20, struct.pack("<I", 100), "slots"),
        (24, struct.pack("<I", 33), "longest"),
        (32, struct.pack("<Q", 5), "size"),
        (40, struct.pack("<Q", 64), "section"),
        (56, struct.pack("<Q", 2**63), "section"),
        (80, struct.pack("<Q", 2**64 - 1), "section"),
    ):
        bad = good[:at] + value + good[at + len(value) :]
        for name, args in (("wordpiece_shape", ()), ("wordpiece_embed", ("x",)), ("wordpiece_split", ("x",))):
            for which, call in implementations(name).items():
                with pytest.raises(ValueError, match="not a valid word-piece table") as caught:
                    call(bad, *args)
                assert message in str(caught.value), which
    for size in (0, 10, 127, 128, len(good) - 1):
        for call in implementations("wordpiece_embed").values():
            with pytest.raises(ValueError, match="not a valid word-piece table"):
                call(good[:size], "x")


def test_damage_after_the_header_stays_inside() -> None:
    rng = random.Random(3)
    good = table()
    text = "authentication secrets qaq 漢字 xzvb fix"
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(rng.randint(1, 400)):
            bad[rng.randrange(128, len(bad))] = rng.randrange(256)
        for isa in ISAS:
            vector = np.asarray(_wordpiece.wordpiece_embed(bytes(bad), text, isa=isa))
            assert np.isfinite(vector).all()
        _wordpiece.wordpiece_split(bytes(bad), text)


@pytest.mark.parametrize("offsets", [[0, 5, 3], [-1, 2, 3], [0, 2, 99]])
def test_offsets_that_leave_the_data_are_errors(offsets: list[int]) -> None:
    out = np.zeros((2, 48), np.float32)
    for embed in implementations("wordpiece_embed_batch").values():
        with pytest.raises(ValueError, match="are out of order"):
            embed(table(), np.array(offsets, np.int32), b"abcdef", 2, out)


def test_sizes_that_disagree_are_errors() -> None:
    offsets = np.zeros(3, np.int32)
    for embed in implementations("wordpiece_embed_batch").values():
        with pytest.raises(ValueError, match="3 rows need 4 offsets, got 3"):
            embed(table(), offsets, b"", 3, np.zeros((3, 48), np.float32))
        with pytest.raises(ValueError, match="2 rows of 48 float32 are 96 items, got 95"):
            embed(table(), offsets, b"", 2, np.zeros(95, np.float32))
        with pytest.raises(ValueError, match="n_rows: expected 0 or more, got -1"):
            embed(table(), offsets, b"", -1, np.zeros(0, np.float32))
        embed(table(), b"", b"", 0, np.zeros(0, np.float32))


def test_bytes_that_are_not_utf8_end_words() -> None:
    data = b"fix\xffauth\xc3"
    out = np.zeros(48, np.float32)
    for which, embed in implementations("wordpiece_embed_batch").items():
        embed(table(), np.array([0, len(data)], np.int32), data, 1, out)
        assert out.tobytes() == bytes(_wordpiece.wordpiece_embed(table(), "fix auth")), which


def test_blending_adds_headings() -> None:
    rng = np.random.default_rng(1)
    base, others = (rng.normal(size=(n, 32)).astype(np.float32) for n in (6, 3))
    base[5], others[2] = 0, 0
    positions = np.array([0, 1, 2, 1, 0, 2], np.int32)
    expected = base + np.float32(0.3) * others[positions]
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    expected = expected / np.where(lengths > 0, lengths, 1)
    for blend in implementations("blend_rows").values():
        out = base.copy()
        blend(out, others, positions, 0.3, 32)
        np.testing.assert_allclose(out, expected, atol=1e-6)
    assert not expected[5].any()


def test_blending_refuses_what_does_not_fit() -> None:
    base, others = np.ones((2, 16), np.float32), np.ones((1, 16), np.float32)
    for blend in implementations("blend_rows").values():
        for positions in ([0, 1], [-1, 0]):
            with pytest.raises(ValueError, match="is not one of the 1 others"):
                blend(base, others, np.array(positions, np.int32), 0.3, 16)
        with pytest.raises(ValueError, match="2 rows need as many, got 1"):
            blend(base, others, np.array([0], np.int32), 0.3, 16)
        with pytest.raises(ValueError, match="multiple of 16"):
            blend(base, others, np.array([0, 0], np.int32), 0.3, 8)
        with pytest.raises(ValueError, match="whole rows"):
            blend(base, np.ones(15, np.float32), np.array([0, 0], np.int32), 0.3, 16)
    assert (base == 1).all()


def test_unknown_instruction_sets_are_errors() -> None:
    with pytest.raises(ValueError, match="'mmx' is not one"):
        _wordpiece.wordpiece_embed(table(), "x", isa="mmx")


def test_many_threads_get_the_results_of_one() -> None:
    texts = [f"{TEXTS[i % len(TEXTS)]} fix {i}" for i in range(200)]
    alone = [bytes(_wordpiece.wordpiece_embed(table(), text)) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(4):
            assert [bytes(v) for v in pool.map(lambda t: _wordpiece.wordpiece_embed(table(), t), texts)] == alone


def test_time_grows_with_the_text_alone() -> None:
    # A word without borders is cut as it comes: no window is looked through twice.
    long = _wordpiece.wordpiece_split(table(), "a" * 200_000)
    assert len(long) == 200_000
    assert math.isclose(
        float(np.linalg.norm(np.asarray(_wordpiece.wordpiece_embed(table(), "a" * 200_000)))), 1, abs_tol=1e-6
    )
