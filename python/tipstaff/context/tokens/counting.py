"""How many tokens texts, messages, tools and system prompts cost.

The rule is four characters a token, rounded up for each piece; characters are UTF-16 code units, as the programs count
that set this rule. Around them: 4 for a message, 20 for a call, 10 for a result, 10 for a tool's definition. Every
function takes another counter of texts as `count`: :class:`tipstaff.context.tokens.estimator.TokenEstimator` is one
that knows real vocabularies. Where a provider has reported what a request cost, that is better than any of them: see
`usage`.
"""

from __future__ import annotations

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
from tipstaff.context.tokens.media import audio_tokens, document_tokens, image_tokens
from tipstaff.kernels import utf16_units

TextCounter: TypeAlias = Callable[[str], int]
SystemPrompt: TypeAlias = str | Sequence[Block] | None

_ROLES: Final = frozenset({"user", "assistant"})


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
    if kind == "audio":
        return audio_tokens(block)
    refuse_foreign_part(kind)
    return count(compact_json({key: value for key, value in block.items() if key != EXTENSION}))


def estimate_tools(tools: Sequence[Mapping[str, Any]] | None, *, count: TextCounter = estimate_tokens) -> int:
    """Return the tokens of tool definitions: name, description and compact JSON of the schema, and 10 for each.

    The definitions may be in the shape of the Messages API, of Chat Completions or of Responses.
    """
    return sum(estimate_tool(tool, count) for tool in tools or ())


def estimate_system_prompt(system_prompt: SystemPrompt, *, count: TextCounter = estimate_tokens) -> int:
    """Return the tokens of a system prompt: a text, or a list of text blocks."""
    if not system_prompt:
        return 0
    if isinstance(system_prompt, str):
        return count(system_prompt)
    return sum(estimate_block(block, count=count) for block in system_prompt)


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


def default_counter() -> TokenEstimator:
    """Return the counter that budgets rest on: the fitted estimator, the same object each time."""
    return _FITTED


_FITTED: Final = TokenEstimator()


def estimate_tool(tool: Mapping[str, Any], count: TextCounter) -> int:
    """Return the tokens of one tool definition."""
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
