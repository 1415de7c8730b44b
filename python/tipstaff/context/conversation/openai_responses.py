"""Conversations in the shape of OpenAI's Responses: ``input`` items, a call and its output apart from the messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.messages import Message, blocks_of, compact_json, text_of
from tipstaff.context.conversation.openai_chat import arguments_of
from tipstaff.context.conversation.openai_parts import block_of_part, part_of_block
from tipstaff.context.conversation.shapes import Item, read_items, write_items


class ResponsesShape:
    """The shape, as `tipstaff.context.conversation.shapes` takes it."""

    name = "openai_responses"

    def continues(self, group: Sequence[Item], item: Item) -> bool:
        """Return whether an item belongs to the message of the group before it."""
        before, now = _side(group[-1]), _side(item)
        return before == now and now in {"assistant", "result"}

    def to_message(self, group: Sequence[Item]) -> dict[str, Any]:
        """Return the message that a group is."""
        side = _side(group[0])
        if side == "result":
            return {"role": "user", "content": [_result(item) for item in group]}
        if side == "user":
            content: object = group[0].get("content")
            return {"role": "user", "content": content if isinstance(content, str) else _blocks(content)}
        if len(group) == 1 and isinstance(group[0].get("content"), str):
            return {"role": "assistant", "content": group[0]["content"]}
        return {"role": "assistant", "content": [block for item in group for block in _assistant_blocks(item)]}

    def to_items(self, message: Message) -> list[dict[str, Any]]:
        """Return the items that a message is."""
        content: object = message.get("content")
        role = str(message.get("role"))
        if isinstance(content, str):
            return [{"role": role, "content": content}]
        items: list[dict[str, Any]] = []
        parts: list[dict[str, Any]] = []
        for block in blocks_of(message):
            item = _item(block)
            if item is None:
                if role == "assistant":
                    text = block.get("text") or block.get("thinking")
                    parts.append({"type": "output_text", "text": compact_json(block) if text is None else text})
                else:
                    parts.append(part_of_block(block, "responses"))
                continue
            if parts:
                items.append({"type": "message", "role": role, "content": parts})
                parts = []
            items.append(item)
        if parts or not items:
            items.append({"type": "message", "role": role, "content": parts})
        return items


_SHAPE: Final = ResponsesShape()


def from_openai_responses(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return Responses input items in the native shape.

    What the assistant said and called in a row becomes one message, as do outputs in a row. Items that have no block
    (reasoning, searches ...) are rendered as text and turn back.

    Raises
    ------
    MessageError
        If an item is no dictionary.
    """
    return read_items(_SHAPE, items)


def to_openai_responses(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a native conversation as Responses input items.

    What that shape has no place for comes along under ``x_tipstaff``: see `to_openai_chat`.
    """
    return write_items(_SHAPE, messages)


def is_output(item: Item) -> bool:
    """Whether an item is what the caller's tool put out; of the provider's own tools the output is in the answer."""
    kind = str(item.get("type") or "message")
    return kind.endswith("_output") and kind != "tool_search_output"


def _side(item: Item) -> str:
    kind = str(item.get("type") or "message")
    if is_output(item):
        return "result"
    if kind == "message":
        return "assistant" if item.get("role") == "assistant" else "user"
    return "assistant"


def _blocks(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block_of_part(part) for part in cast("Sequence[object]", content)] if isinstance(content, list) else []


def _assistant_blocks(item: Item) -> list[dict[str, Any]]:
    kind = str(item.get("type") or "message")
    if kind == "message":
        return _blocks(item.get("content"))
    if kind in {"function_call", "custom_tool_call"}:
        given: object = item.get("arguments") if kind == "function_call" else item.get("input")
        return [{"type": "tool_use", "id": item.get("call_id"), "name": item.get("name"), "input": arguments_of(given)}]
    if kind == "reasoning":
        summary = text_of(item.get("summary"))
        return [{"type": "text", "text": f"[reasoning] {summary}".strip()}]
    return [{"type": "text", "text": compact_json(item)}]


def _result(item: Item) -> dict[str, Any]:
    output: object = item.get("output")
    if not isinstance(output, str):
        output = _blocks(output) if isinstance(output, list) else compact_json(output)
    return {"type": "tool_result", "tool_use_id": item.get("call_id"), "content": output}


def _item(block: Mapping[str, Any]) -> dict[str, Any] | None:
    kind: object = block.get("type")
    if kind == "tool_use":
        return {
            "type": "function_call",
            "call_id": block.get("id"),
            "name": block.get("name"),
            "arguments": compact_json(block.get("input") or {}),
        }
    if kind == "tool_result":
        return {
            "type": "function_call_output",
            "call_id": block.get("tool_use_id"),
            "output": text_of(block.get("content")),
        }
    return None
