"""How many tokens whole conversations and requests cost, and whether they fit into a window.

A conversation is counted once. From 32 messages on :func:`estimate_full_context` remembers, for the few lists that it
saw last, what each message cost, and looks which of them still consist of the very same objects with the very same
contents (:class:`tipstaff.kernels.MessageGuard`): an edit in place, at any depth, is seen, and that message and those
after it are counted again. So no answer is stale. What cannot be watched is counted each time: a sequence that is no
plain list or tuple, a message with an object in it that is not of plain JSON's types. What is remembered keeps those
messages alive until four other conversations were counted, or :func:`forget_conversations` is called.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tipstaff.context.conversation.messages import Message
from tipstaff.context.tokens.counting import (
    SystemPrompt,
    TextCounter,
    default_counter,
    estimate_message,
    estimate_system_prompt,
    estimate_tokens,
    estimate_tool,
    estimate_tools,
    usage_tokens,
)
from tipstaff.kernels import MessageGuard
from tipstaff.model import Record

_PLAIN: Final = frozenset({list, tuple})
_REMEMBERED: Final = 8
_FEW: Final = 32


class BudgetCheck(Record, frozen=True, kw_only=True, gc=False):
    """Whether a request fits, and what its parts cost, in tokens.

    `available_tokens` is the window less what is kept for the answer, never below 0; `measured` is whether
    `total_estimated` rests on what the provider reported.
    """

    system_prompt_tokens: int
    tool_definition_tokens: int
    message_tokens: int
    total_estimated: int
    available_tokens: int
    over_budget: bool
    excess_tokens: int
    measured: bool = False


def estimate_full_context(
    system_prompt: SystemPrompt,
    tools: Sequence[Mapping[str, Any]] | None,
    messages: Sequence[Message] | None,
    *,
    count: TextCounter = estimate_tokens,
    usage: object = None,
    measured_messages: int | None = None,
) -> int:
    """Return the tokens of a whole request, of which each part may be None.

    `usage` is what the provider reported with its last answer, as `usage_tokens` takes it. It stands for the system
    prompt, the tools and the messages that it covers: the first `measured_messages`, the answer included, or all up
    to the last of the assistant's. Only later messages are estimated. Raises `MessageError` if a message is not of
    the Messages API's shape.
    """
    found = messages or ()
    if usage is not None:
        covered = _covered(found) if measured_messages is None else measured_messages
        if covered > 0:
            rest = sum(estimate_message(message, count=count) for message in found[covered:])
            return usage_tokens(usage, with_output=True) + rest
    total = estimate_system_prompt(system_prompt, count=count)
    if tools:
        total += _tools_total(tools, count)
    return total + messages_total(found, count=count)


def check_budget(
    system_prompt: SystemPrompt,
    tools: Sequence[Mapping[str, Any]] | None,
    messages: Sequence[Message] | None,
    *,
    context_window: int,
    max_output: int,
    count: TextCounter = estimate_tokens,
    usage: object = None,
    measured_messages: int | None = None,
) -> BudgetCheck:
    """Return whether a request fits into a window of `context_window` tokens that keeps `max_output` for the answer."""
    prompt = estimate_system_prompt(system_prompt, count=count)
    definitions = _tools_total(tools, count) if tools else 0
    conversation = messages_total(messages or (), count=count)
    total = prompt + definitions + conversation
    if usage is not None:
        total = estimate_full_context(
            system_prompt, tools, messages, count=count, usage=usage, measured_messages=measured_messages
        )
    available = max(0, context_window - max_output)
    return BudgetCheck(
        system_prompt_tokens=prompt,
        tool_definition_tokens=definitions,
        message_tokens=conversation,
        total_estimated=total,
        available_tokens=available,
        over_budget=total > available,
        excess_tokens=max(0, total - available),
        measured=usage is not None,
    )


class ConversationMeter:
    """The cost of one conversation (or other items, by `cost`), kept up to date.

    Only what changed, and what follows, is counted. Belongs to one thread at a time, and keeps the messages that it saw
    last alive.
    """

    def __init__(
        self,
        count: TextCounter = estimate_tokens,
        *,
        cost: Callable[[Mapping[str, Any], TextCounter], int] | None = None,
    ) -> None:
        self._count = count
        self._cost = cost
        self._guard = MessageGuard()
        self._costs: list[int] = []
        self._total = 0
        self._first: object = None

    def total(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Return the tokens of the messages, a list or a tuple.

        Raises `MessageError` if one of them is not of the Messages API's shape; what was known before it stays known.
        """
        self._first = messages[0] if messages else None
        same = self._guard.unchanged(messages)
        if same == len(messages) == len(self._costs):
            return self._total
        self._total -= sum(self._costs[same:])
        del self._costs[same:]
        self._guard.record(messages[:same], same)
        for message in messages[same:]:
            cost = self._cost(message, self._count) if self._cost else estimate_message(message, count=self._count)
            self._costs.append(cost)
            self._total += cost
        self._guard.record(messages, same)
        return self._total

    def begins(self, messages: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether a conversation begins with the object that this one did."""
        return bool(messages) and messages[0] is self._first

    def costs(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """Return the tokens of each message."""
        self.total(messages)
        return list(self._costs)


_LOCK = threading.RLock()
_METERS: OrderedDict[tuple[int, int], ConversationMeter] = OrderedDict()
_TOOL_METERS: OrderedDict[tuple[int, int], ConversationMeter] = OrderedDict()


def _is_remembered(count: TextCounter, items: Sequence[Mapping[str, Any]], least: int) -> bool:
    return (count is estimate_tokens or count is default_counter()) and len(items) >= least and type(items) in _PLAIN


def messages_total(messages: Sequence[Message], *, count: TextCounter = estimate_tokens) -> int:
    """Return the tokens of a conversation, remembering what it counted where that pays."""
    if not _is_remembered(count, messages, _FEW):
        return sum(estimate_message(message, count=count) for message in messages)
    with _LOCK:
        return _meter(_METERS, messages, count, None).total(messages)


def message_costs(messages: Sequence[Message], *, count: TextCounter = estimate_tokens) -> list[int]:
    """Return the tokens of each message, remembering what it counted where that pays."""
    if not _is_remembered(count, messages, _FEW):
        return [estimate_message(message, count=count) for message in messages]
    with _LOCK:
        return _meter(_METERS, messages, count, None).costs(messages)


def forget_conversations() -> None:
    """Drop what was remembered of conversations and tools."""
    with _LOCK:
        _METERS.clear()
        _TOOL_METERS.clear()


def _tools_total(tools: Sequence[Mapping[str, Any]], count: TextCounter) -> int:
    if not _is_remembered(count, tools, 0):
        return estimate_tools(tools, count=count)
    with _LOCK:
        return _meter(_TOOL_METERS, tools, count, estimate_tool).total(tools)


def _meter(
    meters: OrderedDict[tuple[int, int], ConversationMeter],
    items: Sequence[Mapping[str, Any]],
    count: TextCounter,
    cost: Callable[[Mapping[str, Any], TextCounter], int] | None,
) -> ConversationMeter:
    # Another list at the address of one that is gone is no harm: the guard compares what is in it.
    key = id(items), id(count)
    meter = meters.get(key)
    if meter is None:
        # A caller that makes a new list for each request: the conversation in it is one that is known.
        other = next((one for one in reversed(meters) if one[1] == key[1] and meters[one].begins(items)), None)
        meter = meters[key] = ConversationMeter(count, cost=cost) if other is None else meters.pop(other)
        while len(meters) > _REMEMBERED:
            meters.popitem(last=False)
    else:
        meters.move_to_end(key)
    return meter


def _covered(messages: Sequence[Message]) -> int:
    for index in range(len(messages), 0, -1):
        if messages[index - 1].get("role") == "assistant":
            return index
    return 0
