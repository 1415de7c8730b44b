"""What one call took, from its request and from what the provider reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tipstaff.context.conversation.messages import Message
from tipstaff.context.session.course import CallReport, cost_of
from tipstaff.context.session.meter import Meter


class Sent:
    """What is kept of a request until its answer comes."""

    __slots__ = ("broken_by", "estimate", "prefix", "saved", "whole_prefix")

    def __init__(self, estimate: int, prefix: int, whole_prefix: int, broken_by: str, saved: int) -> None:
        self.estimate = estimate
        self.prefix = prefix
        self.whole_prefix = whole_prefix
        self.broken_by = broken_by
        self.saved = saved


def report_of(
    sent: Sent, usage: Mapping[str, Any] | None, answer: Message | None, meter: Meter, *, number: int, api: str
) -> CallReport:
    """Return the report of a call, whose `usage` the meter takes."""
    measured = meter.take(usage, sent.estimate)
    tokens = measured if measured is not None else meter.likely(sent.estimate)
    prefix = int(tokens * (sent.prefix / sent.estimate)) if sent.estimate else 0
    whole = int(tokens * (sent.whole_prefix / sent.estimate)) if sent.estimate else 0
    cost = cost_of(tokens, prefix, api)
    return CallReport(
        number=number,
        tokens=tokens,
        measured=measured is not None,
        output_tokens=_output_tokens(usage, answer, meter),
        prefix_tokens=prefix,
        cached_tokens=_cached_tokens(usage),
        cost=cost,
        broken_by=sent.broken_by,
        break_cost=cost - cost_of(tokens, whole, api) if sent.broken_by else 0.0,
        saved_tokens=sent.saved,
    )


def _output_tokens(usage: Mapping[str, Any] | None, answer: Message | None, meter: Meter) -> int:
    for key in ("output_tokens", "completion_tokens"):
        value: object = (usage or {}).get(key)
        if isinstance(value, int) and value > 0:
            return value
    return int(meter.message(answer) * meter.ratio) if answer is not None else 0


def _cached_tokens(usage: Mapping[str, Any] | None) -> int | None:
    if not usage:
        return None
    if isinstance(read := usage.get("cache_read_input_tokens"), int):
        return read
    for key in ("prompt_tokens_details", "input_tokens_details"):
        details: object = usage.get(key)
        if isinstance(details, Mapping):
            cached: object = cast("Mapping[str, Any]", details).get("cached_tokens")
            if isinstance(cached, int):
                return cached
    return None
