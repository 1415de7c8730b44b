"""Small word-piece tables, written as the shipped one is."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from tools.embedding.file_format import write

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
WORDS = ("auth", "fix", "issue", "vault", "secret", "secrets", "http", "server", "##s", "##ing", "##ication", "test")
GRAM_SCALE = 0.03125


@cache
def pieces() -> list[str]:
    """Return the vocabulary: every letter but q, alone and continuing, and some words."""
    kept = [letter for letter in LETTERS if letter != "q"]
    return sorted({*kept, *(f"##{letter}" for letter in kept), *WORDS})


@cache
def rows(dimensions: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """Return codes and scales."""
    rng = np.random.default_rng(7)
    codes = rng.integers(-127, 128, (len(pieces()), dimensions)).astype(np.int8)
    return codes, rng.uniform(0.001, 0.01, len(pieces())).astype(np.float32)


@cache
def table(dimensions: int = 48) -> bytes:
    """Return the bytes of a table file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.bin"
        write(path, pieces(), *rows(dimensions), GRAM_SCALE)
        return path.read_bytes()
