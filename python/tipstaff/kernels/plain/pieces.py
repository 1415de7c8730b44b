"""Joining pieces of texts in plain Python: states what the native kernel does."""

from __future__ import annotations


def join_pieces(pieces: list[tuple[str, int, int]]) -> str:
    """Join half-open ranges of texts; documented in ``src/_text.pyx``."""
    parts: list[str] = []
    for text, start, end in pieces:
        if not 0 <= start <= end <= len(text):
            msg = f"a piece from {start} to {end} is outside a text of {len(text)} characters"
            raise ValueError(msg)
        parts.append(text[start:end])
    return "".join(parts)
