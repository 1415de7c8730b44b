"""OpenAI's Chat Completions, and compatible APIs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.messages import Message, MessageError, without_extensions
from tipstaff.context.conversation.openai_chat import ChatShape, split_system
from tipstaff.context.conversation.shapes import read_items, written
from tipstaff.context.session.apis.sdk import field_of
from tipstaff.context.session.apis.wire import (
    SYSTEM_ROLES,
    definition_of,
    function_of,
    not_an_answer,
    object_json,
    parted,
    plain_items,
)

_FIELDS: Final = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "reasoning_content", "thinking_blocks"}
)


class _Shape(ChatShape):
    """The shape in which a system message in the middle of a conversation stays one."""

    def to_message(self, group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the message that a group is."""
        found = super().to_message(group)
        return {**found, "role": group[0]["role"]} if group[0].get("role") in SYSTEM_ROLES else found


class ChatApi:
    """See `Wire`."""

    vocabulary = "o200k"

    def __init__(self) -> None:
        self._shape = _Shape()

    def read(self, items: Sequence[Any]) -> tuple[str, list[dict[str, Any]]]:
        """See `Wire.read`."""
        system, rest = split_system([_item(item, at) for at, item in enumerate(plain_items(items))])
        return system, read_items(self._shape, rest)

    def answer(self, response: object) -> dict[str, Any] | None:
        """See `Wire.answer`."""
        choices = field_of(response, "choices")
        if choices is None and field_of(response, "role") != "assistant":
            expected = "a ChatCompletion with its choices, or its message"
            raise not_an_answer(response, expected, "stream.get_final_completion()")
        message = response if choices is None else field_of(choices[0], "message") if choices else None
        item = _item(plain_items([message])[0] if message is not None else {"role": "assistant"}, 0)
        if not (item.get("content") or item.get("tool_calls") or item.get("refusal")):
            return None
        if not item.get("content") and item.get("refusal"):
            item["content"] = item["refusal"]
        return read_items(self._shape, [item])[0]

    def write(self, message: Message) -> list[dict[str, Any]]:
        """See `Wire.write`."""
        items: list[dict[str, Any]] = []
        for part in parted(message):
            found = without_extensions(list(written(self._shape, part)))
            items += [item for item in found if item.get("content") or item.get("tool_calls") or item["role"] == "tool"]
        return items

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """See `Wire.tools`."""
        return [
            tool
            if "function" in tool or tool.get("type", "function") != "function"
            else {"type": "function", "function": function_of(tool)}
            for tool in map(definition_of, tools)
        ]

    def arguments(
        self, system: str, groups: Sequence[list[dict[str, Any]]], tools: list[dict[str, Any]], max_output: int
    ) -> dict[str, Any]:
        """See `Wire.arguments`."""
        first = [{"role": "system", "content": system}] if system else []
        found: dict[str, Any] = {"messages": [*first, *(item for group in groups for item in group)]}
        if tools:
            found["tools"] = tools
        return found | {"max_completion_tokens": max_output}


def _item(message: dict[str, Any], at: int) -> dict[str, Any]:
    """Return a message with the fields that the API takes back.

    Raises
    ------
    MessageError
        If it is of another API or in a form that is no longer served.
    """
    if "role" not in message:
        advice = "convert the conversation with from_openai_responses, then to_openai_chat"
        msg = f"message {at}: an item of the Responses API: {advice}, or give the session api='openai-responses'"
        raise MessageError(msg)
    if message["role"] == "function" or message.get("function_call"):
        msg = f"message {at}: function_call is the former form of calls; use tool_calls and messages of role 'tool'"
        raise MessageError(msg)
    if _has_native_blocks(message):
        msg = f"message {at}: a message of the Messages API: convert the conversation with to_openai_chat"
        raise MessageError(msg)
    item = {key: value for key, value in message.items() if key in _FIELDS and value is not None and value != []}
    audio: object = message.get("audio")
    if isinstance(audio, Mapping) and not item.get("content"):
        item["content"] = str(cast("Mapping[str, Any]", audio).get("transcript") or "")
    if isinstance(item.get("tool_calls"), list):
        item["tool_calls"] = [_call(call) for call in cast("list[dict[str, Any]]", item["tool_calls"])]
    return item


def _has_native_blocks(message: Mapping[str, Any]) -> bool:
    content: object = message.get("content")
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    return any(
        isinstance(block, Mapping) and cast("Mapping[str, Any]", block).get("type") in {"tool_use", "tool_result"}
        for block in blocks
    )


def _call(call: dict[str, Any]) -> dict[str, Any]:
    """Return a call as it is sent back: without what streams add, and with a JSON object for its arguments."""
    found = {key: value for key, value in call.items() if key != "index"}
    function: object = found.get("function")
    if isinstance(function, Mapping):
        fields = cast("Mapping[str, Any]", function)
        found["function"] = {"name": fields.get("name"), "arguments": object_json(fields.get("arguments"))}
    return found
