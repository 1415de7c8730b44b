"""The native shape of a conversation: dictionaries as the Anthropic Messages API takes them, and questions about them.

A message is ``{"role": "user" | "assistant", "content": str | [block, ...]}``. Blocks
are dictionaries with a ``type``:
``text``, ``thinking``, ``redacted_thinking``, ``tool_use``, ``tool_result``, ``image``, ``document``; others are left
as they are. Nothing in this room changes a message that it was given: what differs is a new dictionary.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

import msgspec

from tipstaff.context.conversation.frames import ARGUMENT, PERSON, Part, answer_in, parts_of, person_words
from tipstaff.errors import TipstaffError

Message: TypeAlias = Mapping[str, Any]
Block: TypeAlias = Mapping[str, Any]

EXTENSION: Final = "x_tipstaff"
"""Key under which adapters keep what a shape has no place for; providers do not know it: see `without_extensions`."""

_TEXTS: Final = msgspec.json.Encoder()
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)

CONTEXT_OPEN: Final = "<tipstaff-context>"
CONTEXT_CLOSE: Final = "</tipstaff-context>"
"""Around what a host added to a message of the user's; the user did not write it."""

_CHAT_PARTS: Final = frozenset({"image_url", "input_audio"})
_RESPONSES_PARTS: Final = frozenset({"input_text", "output_text", "input_image", "input_file", "summary_text"})
_RESPONSES_ITEMS: Final = frozenset(
    {"function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning"}
)

THINKING: Final = frozenset({"thinking", "redacted_thinking"})
CALLS: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


class MessageError(TipstaffError, ValueError):
    """A message is not of the shape that it should have."""


def check_message(message: object, where: str = "message") -> Message:
    """Return the message.

    Raises `MessageError` if it is no mapping, or its content is neither a text, None, nor a list of mappings.
    """
    # Plain dictionaries are what nearly all are, and asking whether something is a mapping takes long.
    if type(message) is not dict and not isinstance(message, Mapping):
        raise MessageError(f"{where}: expected a dictionary with role and content, got {type(message).__name__}")
    found = cast("Message", message)
    content: object = found.get("content")
    if content is None or isinstance(content, str):
        return found
    if not isinstance(content, list | tuple):
        raise MessageError(f"{where}: content: expected a text or a list of blocks, got {type(content).__name__}")
    for index, block in enumerate(cast("Sequence[object]", content)):
        if type(block) is not dict and not isinstance(block, Mapping):
            msg = f"{where}: content[{index}]: expected a dictionary with a type, got {type(block).__name__}"
            raise MessageError(msg)
    return found


def refuse_foreign(message: Message, where: str = "message") -> None:
    """Refuse a message of another API's shape, by the name of what converts it.

    Raises `MessageError` if it is one of Chat Completions or an item of Responses.
    """
    role: object = message.get("role")
    converter = ""
    if role in {"tool", "function"} or message.get("tool_calls"):
        converter = "a Chat Completions message: convert the conversation with from_openai_chat"
    elif role is None and message.get("type") in _RESPONSES_ITEMS:
        converter = "an item of the Responses API: convert the conversation with from_openai_responses"
    if converter:
        raise MessageError(f"{where}: {converter}")


def refuse_foreign_part(kind: object) -> None:
    """Refuse a part of another API's message.

    Raises `MessageError` if blocks of this type belong to Chat Completions or to Responses.
    """
    for kinds, name in ((_CHAT_PARTS, "from_openai_chat"), (_RESPONSES_PARTS, "from_openai_responses")):
        if kind in kinds:
            msg = f"content: {kind!r} is a part of another API's message: convert the conversation with {name}"
            raise MessageError(msg)


def words_of(block: Block) -> str:
    """Return what the person said in a block of text: without what hosts put into messages of the user's."""
    text = str(block.get("text") or "") if block.get("type") == "text" else ""
    return person_words(text) if text else ""


def said_in(message: Message) -> str:
    """Return what the person said in a message: in its texts, and where they answered a tool's question.

    What an agent gave to a skill stands beside a result, and is not the person's.
    """
    if message.get("role") != "user":
        return ""
    blocks = blocks_of(message)
    results = any(str(block.get("type", "")).endswith("tool_result") for block in blocks)
    found: list[str] = []
    for block in blocks:
        kind = str(block.get("type", ""))
        if kind == "text" and EXTENSION not in block:
            parts = parts_of(str(block.get("text") or ""))
            found += [part.text for part in parts if part.who == PERSON or (part.who == ARGUMENT and not results)]
        elif kind.endswith("tool_result"):
            found.append(answer_in(text_of(block.get("content"))))
    return "\n".join(text for text in found if text)


def host_parts(message: Message) -> list[Part]:
    """Return what hosts put into a message of the user's."""
    if message.get("role") != "user":
        return []
    texts = [str(b.get("text") or "") for b in blocks_of(message) if b.get("type") == "text" and EXTENSION not in b]
    return [part for text in texts for part in parts_of(text) if part.who not in {PERSON, ARGUMENT}]


def blocks_of(message: Message) -> Sequence[Block]:
    """Return the blocks of a message; a plain text is one text block, no content none."""
    content: object = message.get("content")
    if content is None:
        return ()
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    return cast("Sequence[Block]", content)


def with_blocks(message: Message, blocks: Sequence[Block]) -> dict[str, Any]:
    """Return a copy of a message with other blocks."""
    return {**message, "content": list(blocks)}


def starts_turn(message: Message) -> bool:
    """Return whether a message begins a turn of the user: it is the user's, and no tool's result is in it.

    A message that brings results continues with the turn in which the tools were called, whatever else is in it.
    """
    return message.get("role") == "user" and not any(
        str(block.get("type", "")).endswith("tool_result") for block in blocks_of(message)
    )


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """Return where the turns of the user begin."""
    return [index for index, message in enumerate(messages) if starts_turn(message)]


def text_of(content: object) -> str:
    """Return the texts of a message's or a result's content, one after the other on lines of their own."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return text_of([content])
    if not isinstance(content, list | tuple):
        return str(content)
    parts: list[str] = []
    for block in cast("Sequence[object]", content):
        if isinstance(block, str):
            parts.append(block)
        elif isinstance(block, Mapping):
            value: object = cast("Block", block).get("text")
            if isinstance(value, str) and value:
                parts.append(value)
    return "\n".join(parts)


def compact_json(value: object) -> str:
    """Return JSON without spaces, keys in their order, other scripts as they are: the form whose length is counted."""
    if type(value) is dict:
        fields = cast("dict[object, object]", value)
        # Most inputs are texts by name. For those the fast encoder writes the same; numbers it may write otherwise.
        if all(type(name) is str and type(field) is str for name, field in fields.items()):
            with contextlib.suppress(UnicodeEncodeError):  # a lone surrogate
                return _TEXTS.encode(fields).decode()
    return _ENCODER.encode(value)


def call_input_json(block: Block) -> str:
    """Return the input of a call as JSON; ``input_json`` is taken as it is where a caller has that."""
    given: object = block.get("input_json")
    if isinstance(given, str):
        return given
    value: object = block.get("input")
    return "" if value is None else compact_json(value)


def without_extensions(value: Any) -> Any:
    """Return messages (or a part of one) without the adapters' notes, ready for a provider."""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value)
        return {key: without_extensions(item) for key, item in items.items() if key != EXTENSION}
    if isinstance(value, list | tuple):
        return [without_extensions(item) for item in cast("Sequence[Any]", value)]
    return value


def plain_data(record: msgspec.Struct) -> dict[str, Any]:
    """Return a record that holds messages as plain data; mappings of any kind become dictionaries."""
    data: dict[str, Any] = msgspec.to_builtins(record, enc_hook=_as_dict)
    return data


def _as_dict(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    raise MessageError(f"a message holds {type(value).__name__}, which is not JSON")
