"""Fits a row for each word piece, so that the sum of a text's rows points where the teacher's vector does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import torch
from torch.nn import functional

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS: Final = 256
_MAX_PIECES: Final = 64
_BATCH: Final = 1_024
_RATE: Final = 3e-3
_LAST_RATE: Final = 1e-5
_DROPOUT: Final = 0.1
_DROPOUT_FROM: Final = 5
_COMMON: Final = 1e-3
_CONTINUATION: Final = 0.5


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts as pieces: text i is ``pieces[offsets[i]:offsets[i + 1]]``."""

    pieces: torch.Tensor
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, encoded: Sequence[Sequence[int]]) -> Corpus:
        """Join texts' pieces, each cut at the teacher's limit."""
        cut = [list(one[:_MAX_PIECES]) for one in encoded]
        offsets = np.cumsum([0, *map(len, cut)])
        return cls(torch.tensor([number for one in cut for number in one]), offsets)


def projection(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the directions of greatest variance of the teacher's vectors, float32 (384, 256)."""
    rows = vectors.astype(np.float64)
    centred = rows - rows.mean(0)
    _, directions = np.linalg.eigh(centred.T @ centred / len(rows))
    chosen = directions[:, ::-1][:, :DIMENSIONS]
    # An eigenvector's sign is a matter of chance: the largest entry is made positive.
    signs = np.sign(chosen[np.abs(chosen).argmax(0), np.arange(DIMENSIONS)])
    return (chosen * signs).astype(np.float32)


def first_rows(
    pieces: Sequence[str], vectors: NDArray[np.float32], directions: NDArray[np.float32], corpus: Corpus
) -> NDArray[np.float32]:
    """Return where the fit starts: the teacher's vectors of the pieces themselves, common ones made small."""
    counts = np.bincount(corpus.pieces.numpy(), minlength=len(pieces))
    share = counts / counts.sum()
    rows = (vectors - vectors.mean(0)) @ directions
    rows *= (_COMMON / (_COMMON + share))[:, None]
    rows[[piece.startswith("##") for piece in pieces]] *= _CONTINUATION
    return (rows / np.linalg.norm(rows, axis=1).mean()).astype(np.float32)


def fit(
    rows: NDArray[np.float32], corpus: Corpus, targets: NDArray[np.float32], *, epochs: int = 2, seed: int = 0
) -> NDArray[np.float32]:
    """Return the fitted rows, float32 (n_pieces, 256).

    Parameters
    ----------
    rows
        Where to start.
    corpus
        The texts.
    targets
        Unit vectors to point at, float32 (n_texts, 256).
    epochs, seed
        As said.

    Notes
    -----
    The loss is the mean of 1 - cosine, the optimiser Adam with a rate that falls linearly, on one thread: a second run
    on the same machine gives the same bits.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    random = np.random.default_rng(seed)
    table = torch.nn.Parameter(torch.from_numpy(rows.copy()))
    optimizer = torch.optim.Adam([table], lr=_RATE)
    goal = torch.from_numpy(targets)
    sizes = np.diff(corpus.offsets)
    used = np.flatnonzero(sizes)
    per_epoch = -(-len(used) // _BATCH)
    steps = epochs * per_epoch
    step = 0
    for _ in range(epochs):
        order = random.permutation(used)
        for start in range(0, len(order), _BATCH):
            optimizer.param_groups[0]["lr"] = _RATE + (_LAST_RATE - _RATE) * step / max(1, steps - 1)
            batch = order[start : start + _BATCH]
            positions = np.concatenate([np.arange(corpus.offsets[i], corpus.offsets[i + 1]) for i in batch])
            owner = np.repeat(np.arange(len(batch)), sizes[batch])
            keep = (random.random(len(positions)) >= _DROPOUT) | (sizes[batch][owner] < _DROPOUT_FROM)
            # A text keeps its first piece, so that none is empty.
            keep[np.searchsorted(owner, np.arange(len(batch)))] = True
            positions, owner = positions[keep], owner[keep]
            starts = torch.from_numpy(np.searchsorted(owner, np.arange(len(batch))))
            sums = functional.embedding_bag(corpus.pieces[positions], table, starts, mode="sum")
            loss = (1 - functional.cosine_similarity(sums, goal[batch], dim=1)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
        print(f"loss {loss.item():.4f} after {step} steps")
    return table.detach().numpy()


def gram_scale() -> float:
    """Return what one sign of a hashed n-gram weighs: together half of a usual row, whose length is near 1."""
    return 0.5 / DIMENSIONS**0.5


def quantise(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return int8 codes and the scale of each row: row = scale * codes."""
    scales = (np.abs(rows).max(1) / 127 + 1e-12).astype(np.float32)
    return np.rint(rows / scales[:, None]).astype(np.int8), scales
