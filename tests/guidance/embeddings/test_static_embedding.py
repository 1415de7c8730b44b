"""The static embedding: its vectors are those recorded, say what is near what, and a damaged file is an error."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.eval_retrieval import OWN, with_bm25
from hypothesis import given
from hypothesis import strategies as st
from tools.embedding.measures import innermost, judge_all, read_evaluation

from tests.shared_data import shared_path
from tipstaff.errors import EmbeddingFileError, TipstaffError
from tipstaff.guidance.embeddings.hash_embedding import Embedding, HashEmbedding
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.kernels import _wordpiece

FILE = Path(str(files("tipstaff") / "data" / "static_embedding.bin"))
GOLDEN = json.loads(Path(__file__).with_name("static_embedding_golden.json").read_text(encoding="utf-8"))["cases"]


@pytest.fixture(scope="module")
def embedding() -> StaticEmbedding:
    return StaticEmbedding()


def near(embedding: StaticEmbedding, left: str, right: str) -> float:
    return float(embedding.embed(left) @ embedding.embed(right))


@pytest.mark.parametrize("case", GOLDEN, ids=[case["text"][:20] for case in GOLDEN])
def test_golden_vectors(case: dict[str, object], embedding: StaticEmbedding) -> None:
    text, expected = str(case["text"]), bytes.fromhex(str(case["vector"]))
    table = FILE.read_bytes()
    for isa in _wordpiece.available_isas():
        assert bytes(_wordpiece.wordpiece_embed(table, text, isa=isa)) == expected, isa
    assert embedding.embed(text).tobytes() == expected
    assert embedding.pieces(text) == case["pieces"]


def test_it_is_an_embedding_with_a_name_of_its_own(embedding: StaticEmbedding) -> None:
    assert isinstance(embedding, Embedding)
    assert embedding.dimensions == 256
    assert re.fullmatch(r"static-256-[0-9a-f]{16}", embedding.identity)
    assert embedding.identity == StaticEmbedding(FILE).identity


def test_meaning(embedding: StaticEmbedding) -> None:
    assert near(embedding, "Fix the auth issue", "authentication vulnerability") > 0.4
    assert near(embedding, "Fix the auth issue", "kubernetes deployment") < 0.15
    assert near(embedding, "the nightly worker runs twice", "background jobs must be idempotent") > near(
        embedding, "the nightly worker runs twice", "images should be lazy loaded"
    )


def test_words_of_all_subjects_are_short(embedding: StaticEmbedding) -> None:
    lengths = embedding.word_lengths(["", "two", "existing", "nginx", "migration"] * 1_000)
    assert lengths.shape == (5_000,)
    assert lengths[0] == 0 < max(lengths[1:3]) < min(lengths[3:5]) / 2
    assert lengths[:5].tolist() == lengths[-5:].tolist()
    assert embedding.word_lengths([]).shape == (0,)


def test_one_by_one_in_lists_in_columns_and_without_numpy(embedding: StaticEmbedding) -> None:
    texts = ["", "Fix the auth issue", "ünïcode 漢字", "\ud800", *(case["text"] for case in GOLDEN)]
    expected = b"".join(embedding.embed(text).tobytes() for text in texts)
    assert embedding.embed_batch(texts).tobytes() == expected
    assert bytes(embedding.embed_rows(texts)) == expected
    assert b"".join(bytes(embedding.embed_query(text)) for text in texts) == expected
    clean = [text.replace("\ud800", "") for text in texts]
    for kind in (pa.string(), pa.large_string()):
        column = pa.array(["x", *clean], kind).slice(1)
        assert embedding.embed_batch(column).tobytes() == embedding.embed_batch(clean).tobytes()
        assert bytes(embedding.embed_rows(column)) == embedding.embed_batch(clean).tobytes()
    assert embedding.embed_batch([]).shape == (0, 256)
    assert embedding.embed_rows([]) == b""


def test_columns_that_hold_no_texts_are_errors(embedding: StaticEmbedding) -> None:
    with pytest.raises(TypeError, match="column of int64"):
        embedding.embed_batch(pa.array([1]))
    with pytest.raises(ValueError, match="has 1 nulls"):
        embedding.embed_batch(pa.array(["a", None]))


@given(st.text())
def test_any_text_is_a_unit_vector_or_zeros(text: str) -> None:
    vector = StaticEmbedding().embed(text)
    length = float(np.linalg.norm(vector.astype(np.float64)))
    assert length == 0 or abs(length - 1) < 1e-6
    assert length > 0 or not re.search(r"[A-Za-z0-9]", text)


def test_rules_lean_towards_their_headings(embedding: StaticEmbedding) -> None:
    rules, heads = ["Use bound parameters", "Keep it short", "", "!"], ["Database", "", "Database", ""]
    rows = embedding.rule_vectors(rules, heads)
    expected = embedding.embed_batch(rules) + np.float32(0.3) * embedding.embed_batch(heads)
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(rows, expected / np.where(lengths > 0, lengths, 1), atol=1e-6)
    assert bytes(embedding.rule_rows(rules, heads)) == rows.tobytes()
    assert not rows[3].any()
    assert embedding.rule_vectors([], []).shape == (0, 256)
    with pytest.raises(ValueError, match="1 headings were given for 2 texts"):
        embedding.rule_vectors(["a", "b"], ["c"])


def test_other_languages(embedding: StaticEmbedding) -> None:
    # Of other scripts, only shared characters count; none of it comes near English.
    assert near(embedding, "提交前运行测试", "运行测试") > 0.5
    assert near(embedding, "Не храните пароли в коде", "пароли в коде") > 0.5
    for foreign in ("提交前运行测试", "Не храните пароли в коде", "テストを実行する", "Τρέξε τα τεστ"):
        for english in ("run the tests before you commit", "never store passwords in code", "use the shared client"):
            assert abs(near(embedding, foreign, english)) < 0.25
    assert near(embedding, "café", "cafe") == pytest.approx(1, abs=1e-6)
    assert not embedding.embed("!!! 🚀").any()


@pytest.mark.parametrize("at", [0, 9, 20, 88, 97, 128, 5_000, -1])
def test_a_changed_byte_is_an_error(at: int, tmp_path: Path) -> None:
    data = bytearray(FILE.read_bytes())
    data[at] ^= 0x10
    path = tmp_path / "table.bin"
    path.write_bytes(data)
    with pytest.raises(EmbeddingFileError, match="install the package again") as caught:
        StaticEmbedding(path)
    assert str(path) in str(caught.value)
    assert isinstance(caught.value, TipstaffError)


@pytest.mark.parametrize("size", [0, 7, 128, 1_000_000])
def test_a_file_cut_short_is_an_error(size: int, tmp_path: Path) -> None:
    path = tmp_path / "table.bin"
    path.write_bytes(FILE.read_bytes()[:size])
    with pytest.raises(EmbeddingFileError, match="install the package again"):
        StaticEmbedding(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFileError, match="cannot be opened"):
        StaticEmbedding(tmp_path / "none.bin")


def test_threads_share_one_table(embedding: StaticEmbedding) -> None:
    texts = [f"rule {i} about tests and secrets" for i in range(300)]
    alone = embedding.embed_batch(texts)
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda text: StaticEmbedding().embed(text), texts))
    assert np.array_equal(np.array(rows), alone)


def test_neither_numpy_nor_pyarrow_is_loaded_for_a_query() -> None:
    code = (
        "import sys; from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding as S; e = S();"
        "e.embed_query('fix it'); e.rule_rows(['a'], ['b']); print(sorted({'numpy', 'pyarrow'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "[]", result.stderr


def test_the_file_is_small() -> None:
    assert FILE.stat().st_size <= 4_500_000


def quality(path: Path, embedding: StaticEmbedding) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean figures of the static embedding, of BM25 and of the hash."""
    evaluation = read_evaluation(path)
    heads = {name: [innermost(one) for one in paths] for name, paths in evaluation.headings.items()}
    static = {name: embedding.rule_vectors(rules, heads[name]) for name, rules in evaluation.pools.items()}
    words = {name: with_bm25(rules, heads[name]) for name, rules in evaluation.pools.items()}
    hashed = HashEmbedding()
    rows = {name: hashed.embed_batch(rules) for name, rules in evaluation.pools.items()}
    queries = evaluation.queries
    return (
        judge_all(evaluation, [static[q.pool] @ embedding.embed(q.task) for q in queries]).mean(0),
        judge_all(evaluation, [words[q.pool](q.task) for q in queries]).mean(0),
        judge_all(evaluation, [rows[q.pool] @ hashed.embed(q.task) for q in queries]).mean(0),
    )


def test_it_finds_what_words_do_not(embedding: StaticEmbedding) -> None:
    static, words, hashed = quality(OWN, embedding)
    assert static[0] >= 0.55
    assert static[1] >= 0.70
    assert (static > words).all()
    assert (words > hashed).all()


def test_quality_on_the_larger_set(embedding: StaticEmbedding) -> None:
    path = shared_path("eval", "retrieval.json")
    if path is None:
        pytest.skip("no larger evaluation beside this checkout")
    static, words, hashed = quality(path, embedding)
    assert static[0] >= 0.41
    assert static[0] - words[0] >= 0.10
    assert hashed[0] < 0.1


def test_recall_of_recorded_tasks(embedding: StaticEmbedding) -> None:
    path = shared_path("vectors", "guidance", "retrieval_quality.json")
    if path is None:
        pytest.skip("no recorded tasks beside this checkout")
    data = json.loads(path.read_text(encoding="utf-8"))
    rules = re.findall(r"^- \[([^]]+)\] (.+)$", data["root"], re.MULTILINE)
    rows = embedding.embed_batch([text for _, text in rules])
    found = []
    for case in data["cases"]:
        best = np.argsort(-(rows @ embedding.embed(case["task"])), kind="stable")[:5]
        found.append(len({rules[i][0] for i in best} & set(case["relevant"])) / len(case["relevant"]))
    assert len(found) >= 30
    assert np.mean(found) >= 0.80
