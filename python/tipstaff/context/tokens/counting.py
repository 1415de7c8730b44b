"""How many tokens texts, messages, tools and whole requests cost.

The rule is four characters a token, rounded up for each piece; characters are UTF-16 code units, as the programs count
that set this rule. Around them: 4 for a message, 20 for a call, 10 for a result, 10 for a tool's definition. Every
function takes another counter of texts as `count`: :class:`tipstaff.context.tokens.estimator.TokenEstimator` is one
that knows real vocabularies. Where a provider has reported what a request cost, that is better than any of them: see
`usage`.

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
from typing import Any, Final, TypeAlias, cast

from tipstaff.budgets import (
    CHARS_PER_TOKEN,
    MESSAGE_OVERHEAD_TOKENS,
    TOOL_DEFINITION_OVERHEAD_TOKENS,
    TOOL_RESULT_OVERHEAD_TOKENS,
    TOOL_USE_OVERHEAD_TOKENS,
)
from tipstaff.context.conversation.messages import (
    CALLS,
    EXTENSION,
    Block,
    Message,
    MessageError,
    call_input_json,
    check_message,
    compact_json,
    refuse_foreign,
    refuse_foreign_part,
)
from tipstaff.context.tokens.estimator import TokenEstimator
from tipstaff.context.tokens.media import document_tokens, image_tokens
from tipstaff.kernels import MessageGuard, utf16_units
from tipstaff.model import Record

TextCounter: TypeAlias = Callable[[str], int]
SystemPrompt: TypeAlias = str | Sequence[Block] | None

_PLAIN: Final = frozenset({list, tuple})
_ROLES: Final = frozenset({"user", "assistant"})
_REMEMBERED: Final = 8
_FEW: Final = 32


class BudgetCheck(Record, frozen=True, kw_only=True, gc=False):
    """Whether a request fits, and what its parts cost, in tokens.

    Attributes
    ----------
    available_tokens
        The window less what is kept for the answer, never below 0.
    over_budget, excess_tokens
        Whether, and by how much, `total_estimated` is above it.
    measured
        Whether `total_estimated` rests on what the provider reported.
    """

    system_prompt_tokens: int
    tool_definition_tokens: int
    message_tokens: int
    total_estimated: int
    available_tokens: int
    over_budget: bool
    excess_tokens: int
    measured: bool = False


def estimate_tokens(text: str | None) -> int:
    """Return the tokens of a text by the rule: UTF-16 code units over four, rounded up; nothing costs nothing."""
    return -(-utf16_units(text) // CHARS_PER_TOKEN) if text else 0


def estimate_message(message: Message, *, count: TextCounter = estimate_tokens) -> int:
    """Return the tokens of a message: 4, and those of its blocks.

    Raises
    ------
    MessageError
        If it is not of the Messages API's shape.
    """
    content: object = message.get("content") if type(message) is dict else check_message(message).get("content")
    if "tool_calls" in message or message.get("role") not in _ROLES:
        refuse_foreign(message)
    if content is None or content == "":
        return MESSAGE_OVERHEAD_TOKENS
    if isinstance(content, str):
        return MESSAGE_OVERHEAD_TOKENS + count(content)
    total = MESSAGE_OVERHEAD_TOKENS
    blocks = cast("Sequence[Block]", content) if type(content) is list else check_message(message)["content"]
    for block in blocks:
        if type(block) is not dict:
            check_message(message)  # which says where, unless it is another kind of mapping
        total += estimate_block(block, count=count)
    return total


def estimate_block(block: Block, *, count: TextCounter = estimate_tokens) -> int:
    """Return the tokens of one block; one of a kind that is not known costs what its JSON does."""
    kind: object = block.get("type")
    if kind == "text":
        text: object = block.get("text")
        return count(text) if type(text) is str else _counted(text, count)
    if kind == "thinking":
        return _counted(block.get("thinking", block.get("text")), count)
    if kind == "redacted_thinking":
        return _counted(block.get("data"), count)
    if kind in CALLS:
        return _counted(block.get("name"), count) + _counted(call_input_json(block), count) + TOOL_USE_OVERHEAD_TOKENS
    if isinstance(kind, str) and kind.endswith("tool_result"):
        return _content_tokens(block.get("content"), count) + TOOL_RESULT_OVERHEAD_TOKENS
    if kind == "image":
        return image_tokens(block)
    if kind == "document":
        return document_tokens(block, count)
    refuse_foreign_part(kind)
    return count(compact_json({key: value for key, value in block.items() if key != EXTENSION}))


def estimate_tools(tools: Sequence[Mapping[str, Any]] | None, *, count: TextCounter = estimate_tokens) -> int:
    """Return the tokens of tool definitions: name, description and compact JSON of the schema, and 10 for each.

    The definitions may be in the shape of the Messages API, of Chat Completions or of Responses.
    """
    return sum(_tool_tokens(tool, count) for tool in tools or ())


def estimate_system_prompt(system_prompt: SystemPrompt, *, count: TextCounter = estimate_tokens) -> int:
    """Return the tokens of a system prompt: a text, or a list of text blocks."""
    if not system_prompt:
        return 0
    if isinstance(system_prompt, str):
        return count(system_prompt)
    return sum(estimate_block(block, count=count) for block in system_prompt)


def estimate_full_context(
    system_prompt: SystemPrompt,
    tools: Sequence[Mapping[str, Any]] | None,
    messages: Sequence[Message] | None,
    *,
    count: TextCounter = estimate_tokens,
    usage: object = None,
    measured_messages: int | None = None,
) -> int:
    """Return the tokens of a whole request.

    Parameters
    ----------
    system_prompt, tools, messages
        What would be sent; each may be None.
    count
        Counter of texts.
    usage
        What the provider reported with its last answer, as `usage_tokens` takes it. It stands for the system prompt,
        the tools and the messages that it covers; only later messages are estimated.
    measured_messages
        How many messages `usage` covers, the answer included. Left out: all up to the last of the assistant's.

    Raises
    ------
    MessageError
        If a message is not of the Messages API's shape.
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


def usage_tokens(usage: object, *, with_output: bool = False) -> int:
    """Return what a provider reports that a request took of the window, whatever it read from its cache.

    Parameters
    ----------
    usage
        As the Messages API (``input_tokens`` and, beside them, ``cache_creation_input_tokens`` and
        ``cache_read_input_tokens``), Responses (``input_tokens``, cached ones among them) or Chat Completions
        (``prompt_tokens``, cached ones among them) report it: a mapping or the SDK's object.
    with_output
        Whether the answer counts too.
    """

    def figure(name: str) -> int:
        value: object = (
            cast("Mapping[str, Any]", usage).get(name) if isinstance(usage, Mapping) else getattr(usage, name, None)
        )
        return value if isinstance(value, int) else 0

    total = figure("prompt_tokens") or sum(
        figure(name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    return total + (figure("completion_tokens") or figure("output_tokens") if with_output else 0)


class ConversationMeter:
    """The cost of one conversation, kept up to date: only messages that changed, and those after them, are counted.

    Parameters
    ----------
    count
        Counter of texts.
    cost
        What one item costs; messages by default.

    Notes
    -----
    Belongs to one thread at a time, and keeps the messages that it saw last alive.
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

        Raises
        ------
        MessageError
            If one of them is not of the Messages API's shape; what was known before it stays known.
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


def default_counter() -> TokenEstimator:
    """Return the counter that budgets rest on: the fitted estimator, the same object each time."""
    return _FITTED


_FITTED: Final = TokenEstimator()


def _is_remembered(count: TextCounter, items: Sequence[Mapping[str, Any]], least: int) -> bool:
    return (count is estimate_tokens or count is _FITTED) and len(items) >= least and type(items) in _PLAIN


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
        return _meter(_TOOL_METERS, tools, count, _tool_tokens).total(tools)


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


def _tool_tokens(tool: Mapping[str, Any], count: TextCounter) -> int:
    function: object = tool.get("function")
    if isinstance(function, Mapping):
        tool = cast("Mapping[str, Any]", function)
    schema: object = tool.get("input_schema", tool.get("parameters"))
    if schema is None and "name" not in tool:
        return count(compact_json(tool)) + TOOL_DEFINITION_OVERHEAD_TOKENS  # a tool that a provider runs itself
    total = _counted(tool.get("name"), count) + _counted(tool.get("description"), count)
    return total + (0 if schema is None else count(compact_json(schema))) + TOOL_DEFINITION_OVERHEAD_TOKENS


def _content_tokens(content: object, count: TextCounter) -> int:
    if content is None:
        return 0
    if isinstance(content, str):
        return _counted(content, count)
    if isinstance(content, list | tuple):
        total = 0
        for part in cast("Sequence[object]", content):
            if type(part) is dict or isinstance(part, Mapping):
                total += estimate_block(cast("Block", part), count=count)
            else:
                total += _counted(part, count)
        return total
    return count(compact_json(content))


def _counted(value: object, count: TextCounter) -> int:
    if isinstance(value, str):
        return count(value) if value else 0
    if value is None:
        return 0
    msg = f"expected a text, got {type(value).__name__}: {str(value)[:60]!r}"
    raise MessageError(msg)


def _covered(messages: Sequence[Message]) -> int:
    for index in range(len(messages), 0, -1):
        if messages[index - 1].get("role") == "assistant":
            return index
    return 0
