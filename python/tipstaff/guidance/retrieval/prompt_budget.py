"""How many shards are given for a task, by their number or by what their lines cost in tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tipstaff.errors import require_whole_number

MOST_SHARDS: Final = 5
"""Shards that are given at most where nobody says how many."""
PROMPT_TOKENS: Final = 800
"""What the hook and the command line give for a task (ADR-G001: 200 to 800)."""
MOST_BY_TOKENS: Final = 40
"""The same where as many are wanted as fit."""


def most_shards(max_shards: int | None, max_tokens: int | None) -> int:
    """Return how many shards may be given at most; None is as many as fit."""
    if max_tokens is not None:
        require_whole_number("max_tokens", max_tokens, 0)
    if max_shards is None:
        return MOST_BY_TOKENS
    require_whole_number("max_shards", max_shards, 0)
    return max_shards


def positions_within(lines: Sequence[str], max_tokens: int) -> list[int]:
    """Return the positions of the lines that fit into so many tokens, passing over those that do not."""
    kept: list[int] = []
    left = max_tokens
    for position, line in enumerate(lines):
        cost = len(line) // 4 + 1
        if cost <= left:
            left -= cost
            kept.append(position)
    return kept
