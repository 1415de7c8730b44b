"""Meaning by a sentence transformer: any local ONNX export of one, through onnxruntime (the extra ``onnx``)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tipstaff.errors import ConfigError, EmbeddingFileError, MissingExtraError
from tipstaff.guidance.embeddings.static_embedding import HEADING_WEIGHT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MODELS: Final = ("model.onnx", "onnx/model.onnx")
_MAX_PIECES: Final = 512
_PIECES_PER_RUN: Final = 8_192
"""Pieces that one run of the model works on, padding included: what bounds its memory."""
_POOLINGS: Final = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
}
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})


class OnnxEmbedding:
    """A sentence transformer that was exported to ONNX.

    Parameters
    ----------
    path
        The folder of the export: ``model.onnx`` (or ``onnx/model.onnx``) and ``tokenizer.json``, and where the export
        has them ``1_Pooling/config.json`` and ``sentence_bert_config.json``; or the ``.onnx`` file itself, with
        ``tokenizer.json`` beside it.
    threads
        Threads of one run; onnxruntime's own choice where None.
    pooling
        ``mean``, ``cls`` or ``max`` over a text's pieces; as the export says, else ``mean``, where None.
    max_pieces
        Longer texts are cut; as the export says, else 512, where None.

    Raises
    ------
    MissingExtraError
        If onnxruntime or tokenizers are not installed.
    EmbeddingFileError
        If a file is missing or is no model of sentences: what was found, and what would be right.
    ConfigError
        If an option is not usable.

    Notes
    -----
    The identity holds a digest of the model and of the tokenizer, so that a store made with another model is refused
    and built again. A text costs milliseconds, not microseconds; `embed_batch` sorts by length, so that little is
    padded. There is no floor, as every model has cosines of its own.
    """

    __slots__ = ("_inputs", "_output", "_pooling", "_session", "_tokenizer", "dimensions", "identity")

    boosts: ClassVar[tuple[float, float, float]] = (0.03, 0.02, 0.01)
    """For intent, critical and high risk, as with `StaticEmbedding`."""
    path_boost: ClassVar[float] = 0.05

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        threads: int | None = None,
        pooling: str | None = None,
        max_pieces: int | None = None,
    ) -> None:
        model, folder = _model_file(Path(path))
        tokenizer = _beside(folder, model, "tokenizer.json")
        if tokenizer is None:
            msg = f"{folder}: there is no tokenizer.json beside the model; export the tokenizer as well"
            raise EmbeddingFileError(msg)
        if threads is not None and threads < 1:
            raise ConfigError(f"threads is {threads}; it must be at least 1, or None")
        self._pooling = _pooling(folder, model) if pooling is None else pooling
        if self._pooling not in _POOLINGS.values():
            raise ConfigError(f"pooling is {self._pooling!r}; it must be one of {', '.join(_POOLINGS.values())}")
        longest = _longest(folder, model) if max_pieces is None else max_pieces
        if not 2 <= longest <= _PIECES_PER_RUN:
            raise ConfigError(f"max_pieces is {longest}; it must be between 2 and {_PIECES_PER_RUN}")
        self._tokenizer = _open_tokenizer(tokenizer, longest)
        self._session = _open_session(model, threads)
        self._inputs = self._check_inputs(model)
        self._output, self.dimensions = self._check_output(model)
        self.identity: str = f"onnx-{self.dimensions}-{self._pooling}-{longest}-{_digest(model, tokenizer)}"

    def embed(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text, float32 (dimensions,), of length 1 or zeros."""
        row: NDArray[np.float32] = self.embed_batch([text])[0]
        return row

    def embed_batch(self, texts: Sequence[str] | Any) -> NDArray[np.float32]:
        """Return the vectors of texts, float32 (n_texts, dimensions).

        Parameters
        ----------
        texts
            Strings, or an Arrow string column.

        Raises
        ------
        TypeError
            If one text is given.
        ValueError
            If the column has nulls.
        """
        import numpy as np

        if isinstance(texts, str):
            raise TypeError("one text was given where a list of texts is wanted")
        column: Any = texts
        listed: list[str | None] = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
        words = [text for text in listed if text is not None]
        if len(words) != len(listed):
            raise ValueError(f"the Arrow column has {len(listed) - len(words)} nulls; fill them first")
        # Lone surrogates are no text to a tokenizer.
        words = [text.encode("utf-8", "replace").decode() for text in words]
        out = np.zeros((len(words), self.dimensions), dtype=np.float32)
        encoded = self._tokenizer.encode_batch(words)
        order = sorted(range(len(words)), key=lambda index: len(encoded[index].ids))
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and len(encoded[order[end]].ids) * (end + 1 - start) <= _PIECES_PER_RUN:
                end += 1
            batch = order[start:end]
            out[batch] = self._run([encoded[index].ids for index in batch])
            start = end
        return out

    def rule_rows(self, texts: Sequence[str], headings: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of rules under their headings, float32 (n_rules, dimensions).

        ``norm(embed(rule) + 0.3 embed(heading))``; a rule without a heading stands for itself.

        Raises
        ------
        ValueError
            If the lengths differ.
        """
        import numpy as np

        if len(headings) != len(texts):
            raise ValueError(f"{len(headings)} headings were given for {len(texts)} texts; there must be one for each")
        rows = self.embed_batch(texts)
        above = [heading for heading in dict.fromkeys(headings) if heading]
        if above:
            positions = {heading: index for index, heading in enumerate(above)}
            vectors = np.vstack([self.embed_batch(above), np.zeros((1, self.dimensions), np.float32)])
            rows += np.float32(HEADING_WEIGHT) * vectors[[positions.get(heading, len(above)) for heading in headings]]
        return _unit(rows)

    def _run(self, ids: list[list[int]]) -> NDArray[np.float32]:
        import numpy as np

        width = max(1, *map(len, ids)) if ids else 1
        numbers = np.zeros((len(ids), width), dtype=np.int64)
        mask = np.zeros((len(ids), width), dtype=np.int64)
        for row, one in enumerate(ids):
            numbers[row, : len(one)] = one
            mask[row, : len(one)] = 1
        given = {"input_ids": numbers, "attention_mask": mask, "token_type_ids": np.zeros_like(numbers)}
        (found,) = self._session.run([self._output], {name: given[name] for name in self._inputs})
        states = np.asarray(found, dtype=np.float32)
        if states.ndim == 2:  # the export pools by itself
            return _unit(states)
        seen = mask[:, :, None].astype(np.float32)
        if self._pooling == "cls":
            return _unit(states[:, 0])
        if self._pooling == "max":
            return _unit(np.where(seen > 0, states, np.float32(-np.inf)).max(axis=1))
        return _unit((states * seen).sum(axis=1) / np.maximum(seen.sum(axis=1), 1.0))

    def _check_inputs(self, model: Path) -> list[str]:
        names = [one.name for one in self._session.get_inputs()]
        unknown = [name for name in names if name not in _INPUTS]
        if unknown or "input_ids" not in names:
            raise EmbeddingFileError(
                f"{model}: the model takes {', '.join(names)}; a sentence transformer takes input_ids and "
                "attention_mask, and perhaps token_type_ids"
            )
        return names

    def _check_output(self, model: Path) -> tuple[str, int]:
        outputs = self._session.get_outputs()
        by_name = {one.name: one for one in outputs}
        chosen = next(
            (by_name[name] for name in ("sentence_embedding", "last_hidden_state") if name in by_name), outputs[0]
        )
        width = chosen.shape[-1] if chosen.shape else None
        if len(chosen.shape) not in {2, 3} or chosen.type != "tensor(float)":
            raise EmbeddingFileError(
                f"{model}: the output {chosen.name} is {chosen.type} of shape {chosen.shape}; a sentence transformer "
                "gives tensor(float) of (texts, pieces, dimensions) or (texts, dimensions)"
            )
        if isinstance(width, int) and width > 0:
            return chosen.name, width
        import numpy as np

        one = np.ones((1, 1), dtype=np.int64)
        (found,) = self._session.run([chosen.name], dict.fromkeys(self._inputs, one))
        return chosen.name, int(np.asarray(found).shape[-1])


def _unit(rows: Any) -> NDArray[np.float32]:
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(rows / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def _model_file(path: Path) -> tuple[Path, Path]:
    """Return the model's file and the folder of the export."""
    if path.is_file():
        return path, path.parent
    for name in _MODELS:
        if (path / name).is_file():
            return path / name, path
    msg = f"{path}: there is neither {' nor '.join(_MODELS)} in it; give the folder of an ONNX export"
    raise EmbeddingFileError(msg)


def _beside(folder: Path, model: Path, name: str) -> Path | None:
    return next(
        (directory / name for directory in (folder, model.parent, model.parent.parent) if (directory / name).is_file()),
        None,
    )


def _read(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EmbeddingFileError(f"{path}: not readable as JSON ({error}); export the model again") from error
    return data if isinstance(data, dict) else {}


def _pooling(folder: Path, model: Path) -> str:
    modes = _read(_beside(folder, model, "1_Pooling/config.json"))
    chosen = [name for key, name in _POOLINGS.items() if modes.get(key) is True]
    if len(chosen) > 1:
        msg = f"{folder}: the export joins the poolings {', '.join(chosen)}; only one of them can be read"
        raise EmbeddingFileError(msg)
    return chosen[0] if chosen else "mean"


def _longest(folder: Path, model: Path) -> int:
    limits = (
        _read(_beside(folder, model, "sentence_bert_config.json")).get("max_seq_length"),
        _read(_beside(folder, model, "config.json")).get("max_position_embeddings"),
    )
    return min((one for one in limits if isinstance(one, int) and one > 1), default=_MAX_PIECES)


def _open_tokenizer(path: Path, longest: int) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtraError(_missing("tokenizers")) from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise EmbeddingFileError(f"{path}: not a tokenizer ({error}); export it again") from error
    tokenizer.enable_truncation(longest)
    tokenizer.no_padding()
    return tokenizer


def _open_session(path: Path, threads: int | None) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError(_missing("onnxruntime")) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if threads is not None:
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EmbeddingFileError(f"{path}: onnxruntime cannot open the model ({error}); export it again") from error


def _missing(package: str) -> str:
    return f"OnnxEmbedding needs {package}, which is not installed; install tipstaff[onnx]"


def _digest(*paths: Path) -> str:
    import xxhash

    state = xxhash.xxh3_64()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                state.update(block)
    return state.hexdigest()
