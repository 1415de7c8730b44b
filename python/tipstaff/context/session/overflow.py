"""What a session says where a request cannot be made to fit."""

from __future__ import annotations

from tipstaff.errors import TipstaffError
from tipstaff.model import Record


class OversizedPart(Record, frozen=True):
    """One part of a request that does not fit.

    Attributes
    ----------
    what
        Such as ``system prompt``, ``tools`` or ``message 12 (user: "Here is the log ...")``.
    tokens
        What it takes.
    """

    what: str
    tokens: int


class WindowOverflowError(TipstaffError, ValueError):
    """A request does not fit although everything that may be left out is.

    Attributes
    ----------
    needed_tokens, available_tokens, excess_tokens
        What it takes, what the window has beside the answer, and the difference.
    parts
        The largest parts, `OversizedPart`, the largest first: what to drop or to shorten.
    """

    def __init__(self, needed: int, available: int, parts: tuple[OversizedPart, ...]) -> None:
        self.needed_tokens = needed
        self.available_tokens = available
        self.excess_tokens = needed - available
        self.parts = parts
        named = "; ".join(f"{part.what}: {part.tokens:,}" for part in parts)
        super().__init__(
            f"the request takes {needed:,} tokens, {self.excess_tokens:,} more than the {available:,} that the window "
            f"has beside the answer; drop or shorten the largest parts: {named}"
        )
