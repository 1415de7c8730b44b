"""What a request costs before it is shortened: estimated, and in the provider's own tokens where it reported any."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tipstaff.context.conversation.messages import Message
from tipstaff.context.tokens.counting import SystemPrompt, TextCounter, estimate_system_prompt, usage_tokens
from tipstaff.context.tokens.request_tokens import estimate_full_context, message_costs

_LEAST, _MOST = 0.4, 4.0
_DOUBTFUL: Final = 0.85
"""Where a provider measured less than this share of the estimate, what it measured may have been sent pruned."""


class RequestMeasure:
    """The figures of one request.

    Parameters
    ----------
    system_prompt, tools, messages
        What would be sent.
    count
        Counter of texts.
    usage, measured_messages
        What the provider reported of the last request, and how many of the messages it covers, the answer included; by
        default all up to the last of the assistant's.
    saved
        Called with the costs and the number of covered messages, returns what was left out of them when they were sent;
        None where that is not known.
    pruned
        Called, where that is not known, with the costs, the tokens beside the messages and the number of covered ones,
        returns what a pruning would have left out of them.

    Attributes
    ----------
    ratio
        What the provider measured over what was estimated.
    prompt, beside, costs
        Tokens of the system prompt, of it and the tools, and of each message; by the provider's measure.
    original
        Their sum.
    """

    def __init__(
        self,
        system_prompt: SystemPrompt,
        tools: Sequence[Mapping[str, Any]],
        messages: Sequence[Message],
        *,
        count: TextCounter,
        usage: object = None,
        measured_messages: int | None = None,
        saved: Callable[[Sequence[int], int], int] | None = None,
        pruned: Callable[[Sequence[int], int, int], int] | None = None,
    ) -> None:
        costs = message_costs(messages, count=count)
        beside = estimate_full_context(system_prompt, tools, (), count=count)
        self.ratio = 1.0
        measured = usage_tokens(usage, with_output=True) if usage is not None else 0
        covered = covered_by_usage(messages) if measured_messages is None else measured_messages
        if measured > 0 and covered > 0:
            sent = beside + sum(costs[:covered])
            if saved is not None:
                sent -= saved(costs, covered)
            elif pruned is not None and measured < sent * _DOUBTFUL:
                shorter = sent - pruned(costs, beside, covered)
                sent = shorter if abs(shorter - measured) < abs(sent - measured) else sent
            if _LEAST <= measured / max(1, sent) <= _MOST:
                self.ratio = measured / max(1, sent)
            else:
                # No vocabulary differs by so much: something else was sent too.
                beside += measured - sent
        ratio = self.ratio
        prompt = estimate_system_prompt(system_prompt, count=count)
        if ratio == 1.0:
            self.prompt, self.beside, self.costs, self.count = prompt, beside, costs, count
        else:
            self.prompt, self.beside = round(prompt * ratio), round(beside * ratio)
            self.costs = [round(cost * ratio) for cost in costs]
            self.count = scaled_counter(count, ratio)
        self.original = self.beside + sum(self.costs)


def covered_by_usage(messages: Sequence[Message]) -> int:
    """Return how many messages a report of the last answer covers: all up to the last of the assistant's."""
    for index in range(len(messages), 0, -1):
        if messages[index - 1].get("role") == "assistant":
            return index
    return 0


def scaled_counter(count: TextCounter, ratio: float) -> TextCounter:
    """Return a counter of so many times what another counts."""

    def scaled(text: str) -> int:
        return round(count(text) * ratio)

    return scaled
