"""What a caller asks for beside the task, as the kernels take it: an intent, and risk classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.model import INTENT_BITS, RISK_CLASSES, RISK_CODES, IntentMatch

ALL_RISKS: Final = 0xFF
"""Lets every risk class through, and the kernels need not look at them."""


def given_intent(intent: str) -> IntentMatch:
    """Return an intent that somebody named.

    Raises
    ------
    ConfigError
        If it is invalid.
    """
    if intent not in INTENT_BITS:
        msg = f"intent is {intent!r}; it must be one of {', '.join(INTENT_BITS)}"
        raise ConfigError(msg)
    return IntentMatch(intent, 1.0)


def intent_mask(intents: Iterable[str]) -> int:
    """Return intents as a bit mask; unknown names count for nothing."""
    mask = 0
    for intent in intents:
        mask |= INTENT_BITS.get(intent, 0)
    return mask


def risk_bits(risk_filter: str | Iterable[str] | None) -> int:
    """Return a bit for each risk class that is let through; all where none is named.

    Raises
    ------
    ConfigError
        If a name is no risk class.
    """
    if not risk_filter:
        return ALL_RISKS
    bits = 0
    for name in (risk_filter,) if isinstance(risk_filter, str) else risk_filter:
        code = RISK_CODES.get(name)
        if code is None:
            msg = f"risk_filter names {name!r}; risk classes are {', '.join(RISK_CLASSES)}"
            raise ConfigError(msg)
        bits |= 1 << code
    return bits or ALL_RISKS
