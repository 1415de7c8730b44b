"""OnnxEmbedding against a small model made here, and against the real one where ``make eval`` has fetched it."""

from __future__ import annotations

import builtins
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from tools.embedding.export_onnx import build

from tipstaff import OnnxEmbedding, ShardRetriever, StaticEmbedding, compile_guidance, open_project
from tipstaff.cli import exits, main
from tipstaff.errors import ConfigError, EmbeddingFileError, MissingExtraError

WIDTH, HEADS, LAYERS, INNER, LONGEST = 32, 4, 2, 48, 16
WORDS = "[PAD] [UNK] [CLS] [SEP] fix the auth issue report every vulnerability keep images small log in user".split()
CONFIG = {"hidden_size": WIDTH, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "layer_norm_eps": 1e-12}
REAL = Path(__file__).resolve().parents[3] / "build" / "models" / "all-MiniLM-L6-v2"
Weights = dict[str, NDArray[np.float32]]


def made_weights() -> Weights:
    random = np.random.default_rng(7)
    weights: Weights = {}

    def add(name: str, *shape: int, around: float = 0.0) -> None:
        weights[name] = (random.standard_normal(shape) * 0.3 + around).astype(np.float32)

    for part, rows in (("word", len(WORDS)), ("position", LONGEST), ("token_type", 2)):
        add(f"embeddings.{part}_embeddings.weight", rows, WIDTH)
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            add(f"{at}.{name}.weight", WIDTH, WIDTH)
            add(f"{at}.{name}.bias", WIDTH)
        add(f"{at}.intermediate.dense.weight", INNER, WIDTH)
        add(f"{at}.intermediate.dense.bias", INNER)
        add(f"{at}.output.dense.weight", WIDTH, INNER)
        add(f"{at}.output.dense.bias", WIDTH)
        norms += [f"{at}.attention.output.LayerNorm", f"{at}.output.LayerNorm"]
    for name in norms:
        add(f"{name}.weight", WIDTH, around=1.0)
        add(f"{name}.bias", WIDTH)
    return weights


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("export")
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()  # type: ignore[assignment]
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()  # type: ignore[assignment]
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))  # type: ignore[assignment]
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(build(made_weights(), CONFIG).SerializeToString())
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": LONGEST}), encoding="utf-8")
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}', encoding="utf-8")
    return folder


@pytest.fixture
def copy(export: Path, tmp_path: Path) -> Path:
    return shutil.copytree(export, tmp_path / "copy")


def plainly(text: str) -> NDArray[np.float64]:
    """Compute a text's states (pieces, WIDTH) as the papers write them down, in float64 and without ONNX."""
    weights = {name: value.astype(np.float64) for name, value in made_weights().items()}
    known = {word: index for index, word in enumerate(WORDS)}
    ids = [2, *(known.get(word, 1) for word in text.lower().split()), 3]
    ids = [*ids[: LONGEST - 1], 3] if len(ids) > LONGEST else ids

    def norm(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def linear(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm("embeddings.LayerNorm", x + weights["embeddings.token_type_embeddings.weight"][0])
    each = WIDTH // HEADS
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        query, key, value = (linear(f"{at}.attention.self.{part}", x) for part in ("query", "key", "value"))
        mixed = np.empty_like(x)
        for head in range(HEADS):
            part = slice(head * each, (head + 1) * each)
            scores = query[:, part] @ key[:, part].T / np.sqrt(each)
            shares = np.exp(scores - scores.max(-1, keepdims=True))
            mixed[:, part] = shares / shares.sum(-1, keepdims=True) @ value[:, part]
        x = norm(f"{at}.attention.output.LayerNorm", x + linear(f"{at}.attention.output.dense", mixed))
        inner = linear(f"{at}.intermediate.dense", x)
        erf = np.vectorize(__import__("math").erf)
        x = norm(f"{at}.output.LayerNorm", x + linear(f"{at}.output.dense", inner * (1 + erf(inner / np.sqrt(2))) / 2))
    return x


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("text", ["fix the auth issue", "Fix", "", "unknown words only", "log in " * 30])
@pytest.mark.parametrize(
    ("pooling", "pool"),
    [("mean", lambda states: states.mean(0)), ("cls", lambda states: states[0]), ("max", lambda states: states.max(0))],
)
def test_vectors_are_those_of_the_formulas(export: Path, text: str, pooling: str, pool: Any) -> None:
    found = OnnxEmbedding(export, pooling=pooling).embed(text)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, unit(pool(plainly(text))), atol=2e-5)


def test_a_batch_gives_what_single_texts_give_whatever_their_lengths(export: Path) -> None:
    embedding = OnnxEmbedding(export, threads=1)
    texts = ["fix", "report every vulnerability", "", "log in user " * 9, "images \ud800 small", "fix"]
    rows = embedding.embed_batch(texts)
    assert rows.shape == (6, WIDTH)
    for row, text in zip(rows, texts, strict=True):
        np.testing.assert_allclose(row, embedding.embed(text), atol=1e-6)
    column = pa.array([text for text in texts if "\ud800" not in text])
    np.testing.assert_allclose(embedding.embed_batch(column), np.delete(rows, 4, axis=0), atol=1e-6)
    assert embedding.embed_batch([]).shape == (0, WIDTH)


def test_more_texts_than_one_run_takes(export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tipstaff.guidance.embeddings.onnx_embedding._PIECES_PER_RUN", 20)
    embedding = OnnxEmbedding(export)
    texts = [" ".join(WORDS[4 + index % 9 :][: index % 7]) for index in range(40)]
    np.testing.assert_allclose(embedding.embed_batch(texts), [unit(plainly(text).mean(0)) for text in texts], atol=2e-5)


def test_what_is_no_list_of_texts(export: Path) -> None:
    embedding = OnnxEmbedding(export)
    with pytest.raises(TypeError, match="one text was given"):
        embedding.embed_batch("fix")
    with pytest.raises(ValueError, match="has 1 nulls"):
        embedding.embed_batch(pa.array(["a", None]))
    with pytest.raises(ValueError, match="1 headings were given for 2 texts"):
        embedding.rule_rows(["a", "b"], ["c"])


def test_rules_are_embedded_under_their_headings(export: Path) -> None:
    embedding = OnnxEmbedding(export)
    rows = embedding.rule_rows(["fix the issue", "keep images small"], ["auth", ""])
    first = unit(embedding.embed("fix the issue").astype(np.float64) + 0.3 * embedding.embed("auth"))
    np.testing.assert_allclose(rows, [first, embedding.embed("keep images small")], atol=1e-6)


def test_an_export_may_pool_by_itself_and_call_its_output_so(copy: Path) -> None:
    model = onnx.load(copy / "model.onnx")
    graph = model.graph
    graph.node.append(
        helper.make_node("ReduceMean", ["last_hidden_state"], ["sentence_embedding"], axes=[1], keepdims=0)
    )
    graph.output.append(helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["texts", WIDTH]))
    onnx.save(model, copy / "model.onnx")
    np.testing.assert_allclose(OnnxEmbedding(copy).embed("fix the"), unit(plainly("fix the").mean(0)), atol=2e-5)


def test_the_model_may_be_in_a_folder_of_its_own_or_be_named(copy: Path) -> None:
    (copy / "onnx").mkdir()
    (copy / "model.onnx").rename(copy / "onnx" / "model.onnx")
    by_folder, by_file = OnnxEmbedding(copy), OnnxEmbedding(copy / "onnx" / "model.onnx")
    assert by_folder.identity == by_file.identity
    assert (by_folder.embed("fix") == by_file.embed("fix")).all()


def test_the_identity_follows_model_tokenizer_and_options(export: Path, copy: Path) -> None:
    first = OnnxEmbedding(export)
    assert first.identity == OnnxEmbedding(copy).identity
    assert first.identity.startswith(f"onnx-{WIDTH}-mean-{LONGEST}-")
    assert first.dimensions == WIDTH
    assert OnnxEmbedding(copy, pooling="cls").identity != first.identity
    assert OnnxEmbedding(copy, max_pieces=8).identity != first.identity
    with (copy / "tokenizer.json").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert OnnxEmbedding(copy).identity != first.identity


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda folder: (folder / "model.onnx").unlink(), "neither model.onnx nor onnx/model.onnx"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "no tokenizer.json beside the model"),
        (lambda folder: (folder / "model.onnx").write_bytes(b"not a model"), "onnxruntime cannot open the model"),
        (lambda folder: (folder / "tokenizer.json").write_text("{}"), "tokenizer.json: not a tokenizer"),
        (lambda folder: (folder / "config.json").write_text("{"), "config.json: not readable as JSON"),
        (
            lambda folder: (folder / "1_Pooling" / "config.json").write_text(
                '{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true}'
            ),
            "joins the poolings cls, mean",
        ),
    ],
)
def test_a_broken_export_is_reported(copy: Path, break_it: Any, message: str) -> None:
    break_it(copy)
    with pytest.raises(EmbeddingFileError, match=message):
        OnnxEmbedding(copy)


@pytest.mark.parametrize(
    ("model_input", "kind", "shape", "message"),
    [
        ("pixels", TensorProto.FLOAT, ["a", "b"], "the model takes pixels; a sentence transformer takes input_ids"),
        ("input_ids", TensorProto.INT64, ["a", "b"], r"the output out is tensor\(int64\)"),
    ],
)
def test_a_model_of_something_else(copy: Path, model_input: str, kind: int, shape: list[str], message: str) -> None:
    graph = helper.make_graph(
        [helper.make_node("Identity", [model_input], ["out"])],
        "other",
        [helper.make_tensor_value_info(model_input, kind, shape)],
        [helper.make_tensor_value_info("out", kind, shape)],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), copy / "model.onnx")
    with pytest.raises(EmbeddingFileError, match=message):
        OnnxEmbedding(copy)


@pytest.mark.parametrize("options", [{"threads": 0}, {"pooling": "sum"}, {"max_pieces": 1}])
def test_options_that_cannot_be(export: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        OnnxEmbedding(export, **options)


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    absent: set[str] = set()
    real = builtins.__import__

    def fake(name: str, *arguments: Any, **options: Any) -> Any:
        if name.split(".", maxsplit=1)[0] in absent:
            msg = f"No module named {name!r}"
            raise ImportError(msg)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", fake)
    return absent


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_library_that_is_not_installed_is_named(export: Path, without: set[str], package: str) -> None:
    without.add(package)
    with pytest.raises(MissingExtraError, match=rf"needs {package}, which is not installed; install tipstaff\[onnx\]"):
        OnnxEmbedding(export)


RULES = "- [R-001] Report every vulnerability\n- [R-002] Keep images small\n- [R-003] Log in the user\n"


def test_it_serves_retrieval_and_a_store_of_another_model_is_built_again(
    export: Path, copy: Path, tmp_path: Path
) -> None:
    embedding = OnnxEmbedding(export)
    result = ShardRetriever(compile_guidance(RULES), embedding).retrieve("keep images small")
    assert result.shards[0].shard.rule.id == "R-002"
    assert result.shards[0].reason.startswith("meaning ")
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "CLAUDE.md").write_text(RULES, encoding="utf-8")
    with open_project(repository, embedding=embedding) as project:
        assert project.rebuilt
        assert project.store_path.name == "guidance-onnx.store"
        assert project.retriever().retrieve("keep images small").shards[0].shard.rule.id == "R-002"
    open_project(repository, embedding=embedding).close()
    with open_project(repository, embedding=OnnxEmbedding(copy, pooling="cls")) as project:
        assert project.rebuilt
        assert "dimensions, asked for are 'onnx-" in project.reason


def test_the_command_line_takes_a_folder(export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "CLAUDE.md").write_text(RULES, encoding="utf-8")
    arguments = ["retrieve", "keep images small", "-C", str(tmp_path), "--json", "--embedding"]
    assert main([*arguments, f"onnx:{export}"]) == exits.OK
    assert json.loads(capsys.readouterr().out)["shards"][0]["shard"]["rule"]["id"] == "R-002"
    assert main([*arguments, f"onnx:{tmp_path}"]) == exits.USAGE
    assert "neither model.onnx nor" in capsys.readouterr().err
    assert main([*arguments, "bert"]) == exits.USAGE
    assert "invalid embedding 'bert'; use static, hash or onnx:FOLDER" in capsys.readouterr().err


@pytest.mark.skipif(not (REAL / "model.onnx").exists(), reason="`make eval` fetches the model (83 MB)")
def test_the_real_model_finds_meaning() -> None:
    embedding = OnnxEmbedding(REAL, threads=1)
    assert embedding.dimensions == 384
    auth, vulnerability, cluster = embedding.embed_batch(
        ["Fix the auth issue", "authentication vulnerability", "kubernetes deployment"]
    )
    assert auth @ vulnerability == pytest.approx(0.5306, abs=2e-3)
    assert auth @ cluster == pytest.approx(-0.0364, abs=2e-3)
    # The static table is this model's directions, so the two agree on which text is nearer.
    static = StaticEmbedding().embed_batch(
        ["Fix the auth issue", "authentication vulnerability", "kubernetes deployment"]
    )
    assert static[0] @ static[1] > static[0] @ static[2]
