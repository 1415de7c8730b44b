"""Orders and their states."""

from __future__ import annotations

_NEXT = {"placed": "confirmed", "confirmed": "charged", "charged": "packed", "packed": "delivered"}


def advance(state: str) -> str:
    """Return the state that follows; an order is charged only after the grower has confirmed it."""
    return _NEXT[state]


def discounted(cents: int, percent: int) -> int:
    """Return a price after a discount, rounded down to the cent."""
    return cents * (100 - percent) // 100
