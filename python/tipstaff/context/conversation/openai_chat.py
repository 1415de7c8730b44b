"""Conversations in the shape of OpenAI's chat completions: ``messages`` with roles system, user, assistant and tool."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.messages import Message, blocks_of, compact_json, text_of
from tipstaff.context.conversation.openai_parts import block_of_part, part_of_block
from tipstaff.context.conversation.shapes import Item, read_items, write_items

_SYSTEM: Final = frozenset({"system", "developer"})


class ChatShape:
    """The shape, as `tipstaff.context.conversation.shapes` takes it."""

    name = "openai_chat"

    def continues(self, group: Sequence[Item], item: Item) -> bool:
        """Return whether an item belongs to the message of the group before it."""
        return group[-1].get("role") == "tool" == item.get("role")

    def to_message(self, group: Sequence[Item]) -> dict[str, Any]:
        """Return the message that a group is."""
        role = group[0].get("role")
        if role == "tool":
            return {"role": "user", "content": [_result(item) for item in group]}
        item = group[0]
        content: object = item.get("content")
        calls: object = item.get("tool_calls")
        if role == "assistant" and isinstance(calls, list) and calls:
            blocks = _blocks(content)
            blocks += [_call(call) for call in cast("Sequence[object]", calls)]
            return {"role": "assistant", "content": blocks}
        name = "assistant" if role == "assistant" else "user"
        return {"role": name, "content": content if isinstance(content, str) else _blocks(content)}

    def to_items(self, message: Message) -> list[dict[str, Any]]:
        """Return the items that a message is."""
        content: object = message.get("content")
        role = str(message.get("role"))
        if isinstance(content, str):
            return [{"role": role, "content": content}]
        blocks = blocks_of(message)
        if role == "assistant":
            return [_assistant(blocks)]
        results = [block for block in blocks if block.get("type") == "tool_result"]
        others = [block for block in blocks if block.get("type") != "tool_result"]
        items: list[dict[str, Any]] = [
            {
                "role": "tool",
                "tool_call_id": block.get("tool_use_id"),
                "content": text_of(block.get("content")),
            }
            for block in results
        ]
        if others or not results:
            items.append({"role": "user", "content": [part_of_block(block, "chat") for block in others]})
        return items


_SHAPE: Final = ChatShape()


def from_openai_chat(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a chat completions conversation in the native shape.

    System and developer messages become messages of the user's, as the native shape has no such role, and turn back:
    take those at the start out before, with `split_system`, to send them as the system prompt. Results that follow one
    another become one message.

    Raises
    ------
    MessageError
        If a message is no dictionary.
    """
    return read_items(_SHAPE, messages)


def to_openai_chat(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a native conversation as chat completions take it.

    What that shape has no place for (thinking and its signatures, marks for caches, ``is_error``) comes along under
    ``x_tipstaff``, so that `from_openai_chat` gives it back; `without_extensions` takes it out of what is sent.
    """
    return write_items(_SHAPE, messages)


def split_system(messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[Mapping[str, Any]]]:
    """Return the text of the system and developer messages at the start, and the rest."""
    at = 0
    while at < len(messages) and messages[at].get("role") in _SYSTEM:
        at += 1
    return "\n\n".join(text_of(one.get("content")) for one in messages[:at]), list(messages[at:])


def _blocks(content: object) -> list[dict[str, Any]]:
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list | tuple):
        return [{"type": "text", "text": str(content)}]
    return [block_of_part(part) for part in cast("Sequence[object]", content)]


def _result(item: Item) -> dict[str, Any]:
    content: object = item.get("content")
    return {
        "type": "tool_result",
        "tool_use_id": item.get("tool_call_id"),
        "content": content if isinstance(content, str) else _blocks(content),
    }


def _call(call: object) -> dict[str, Any]:
    found = cast("Mapping[str, Any]", call) if isinstance(call, Mapping) else {}
    function: object = found.get("function", found.get("custom"))
    named = cast("Mapping[str, Any]", function) if isinstance(function, Mapping) else {}
    given: object = {"input": named["input"]} if "input" in named else named.get("arguments")
    return {"type": "tool_use", "id": found.get("id"), "name": named.get("name"), "input": arguments_of(given)}


def arguments_of(text: object) -> dict[str, Any]:
    """Return the arguments of a call; those that are not a JSON object, as one argument of that name."""
    try:
        value: object = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        value = text
    if value is None or value == "":
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"arguments": value}


def _assistant(blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    calls = [block for block in blocks if block.get("type") == "tool_use"]
    texts = [block for block in blocks if block.get("type") == "text"]
    content: str | None = "\n".join(str(block.get("text") or "") for block in texts) if texts else None
    item: dict[str, Any] = {"role": "assistant", "content": content if content is not None or calls else ""}
    if calls:
        item["tool_calls"] = [
            {
                "id": block.get("id"),
                "type": "function",
                "function": {"name": block.get("name"), "arguments": compact_json(block.get("input") or {})},
            }
            for block in calls
        ]
    return item
