"""The last resort where a request does not fit, and the error where that is not enough."""

from __future__ import annotations

from typing import Final

from tipstaff.context.conversation.messages import text_of
from tipstaff.context.session.meter import Meter
from tipstaff.context.session.view import View
from tipstaff.context.shortening.results import shortened_results
from tipstaff.context.shortening.stubs import Reference
from tipstaff.errors import TipstaffError
from tipstaff.model import Record

_LARGEST_PARTS: Final = 4


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


def shorten_results(view: View, meter: Meter, estimate: int, target: int, reference: Reference | None) -> None:
    """Shorten the largest results of a view until its request takes so many tokens, as hosts do with endless output.

    Parameters
    ----------
    view
        The conversation; changed.
    meter
        Counts.
    estimate
        Of the whole request now.
    target
        In the provider's tokens.
    reference
        Says where the whole of a result is kept.
    """
    excess = estimate - meter.estimate_of(target)
    shorter, _ = shortened_results(view.messages, excess, {}, count=meter.count, reference=reference)
    for index, (message, found) in enumerate(zip(view.messages.copy(), shorter, strict=True)):
        if found is not message:
            # Notes of the shape belong to the message as it was.
            view.replace(index, {"role": found["role"], "content": found["content"]})


def overflow_of(view: View, meter: Meter, system: int, tools: int, available: int) -> WindowOverflowError:
    """Return the error for a request that does not fit, with estimates of the system prompt and of the tools."""
    ratio = meter.ratio
    parts = [OversizedPart("system prompt", int(system * ratio)), OversizedPart("tools", int(tools * ratio))]
    for origin, message, cost in zip(view.origins, view.messages, view.costs, strict=True):
        excerpt = " ".join(text_of(message.get("content")).split())[:60]
        parts.append(OversizedPart(f"message {origin + 1} ({message.get('role')}: {excerpt!r})", int(cost * ratio)))
    parts.sort(key=lambda part: -part.tokens)
    needed = max(meter.likely(system + tools + view.tokens), available + 1)
    return WindowOverflowError(needed, available, tuple(parts[:_LARGEST_PARTS]))
