"""How a session speaks to each API: the caller's messages in, the arguments of a call out.

Inside a session every conversation has the shape of the Messages API. What another shape holds beside that (the ids of
a Responses item, its encrypted reasoning) stays with its block, and goes out again as it came unless the block was
changed. A message is written the same way each time, so that a provider's prompt cache holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol, TypeAlias, cast

from tipstaff.context.conversation.messages import (
    EXTENSION,
    Block,
    Message,
    MessageError,
    blocks_of,
    refuse_foreign,
    text_of,
    without_extensions,
)
from tipstaff.context.conversation.openai_chat import ChatShape, arguments_of, split_system
from tipstaff.context.conversation.openai_responses import ResponsesShape
from tipstaff.context.conversation.shapes import read_items, written
from tipstaff.context.session.breakpoints import with_breakpoints
from tipstaff.context.session.sdk import field_of, plain
from tipstaff.errors import ConfigError

Api: TypeAlias = Literal["anthropic", "openai-chat", "openai-responses"]

_CHAT_FIELDS: Final = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "reasoning_content"}
)
_MESSAGE_FIELDS: Final = ("role", "content")


class Wire(Protocol):
    """One API.

    Attributes
    ----------
    vocabulary
        Of the token estimator.
    """

    vocabulary: str

    def read(self, items: Sequence[Any]) -> tuple[str, list[dict[str, Any]]]:
        """Return the system prompt at the start of the caller's messages, and the messages in the native shape."""
        ...

    def answer(self, response: object) -> dict[str, Any] | None:
        """Return the assistant's message of an answer, None where it said and called nothing."""
        ...

    def write(self, message: Message) -> list[dict[str, Any]]:
        """Return what stands for a native message; always the same for the same message."""
        ...

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return tool definitions in this API's shape."""
        ...

    def arguments(
        self, system: str, groups: Sequence[list[dict[str, Any]]], tools: list[dict[str, Any]], max_output: int
    ) -> dict[str, Any]:
        """Return the keyword arguments of the SDK's call."""
        ...


def delivery_of(block: Block) -> bool:
    """Whether a block is context that the session added, not something that was said."""
    note: object = block.get(EXTENSION)
    return isinstance(note, Mapping) and "delivery" in note


class _Anthropic:
    vocabulary = "claude"

    def read(self, items: Sequence[Any]) -> tuple[str, list[dict[str, Any]]]:
        found: list[dict[str, Any]] = []
        for at, item in enumerate(items):
            data = plain(item)
            if not isinstance(data, dict):
                msg = f"message {at}: expected a dictionary or an SDK's message, got {type(item).__name__}"
                raise MessageError(msg)
            message = cast("dict[str, Any]", data)
            refuse_foreign(message, f"message {at}")
            found.append({key: message.get(key) for key in _MESSAGE_FIELDS})
        return "", found

    def answer(self, response: object) -> dict[str, Any] | None:
        content = plain(field_of(response, "content"))
        return {"role": "assistant", "content": content} if content else None

    def write(self, message: Message) -> list[dict[str, Any]]:
        # Always as blocks: a mark for the cache needs one, and must not be the only difference to the request before.
        return [{"role": message.get("role"), "content": without_extensions(list(blocks_of(message)))}]

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for tool in tools:
            one = _definition(plain(tool))
            parts = one.get("function") if isinstance(one.get("function"), dict) else one
            if "input_schema" not in one and isinstance(parts, dict) and "parameters" in parts:
                one = {
                    "name": parts.get("name"),
                    "description": parts.get("description") or "",
                    "input_schema": parts.get("parameters"),
                }
            found.append(one)
        return found

    def arguments(
        self, system: str, groups: Sequence[list[dict[str, Any]]], tools: list[dict[str, Any]], max_output: int
    ) -> dict[str, Any]:
        messages = [message for group in groups for message in group]
        return with_breakpoints(system, messages, tools) | {"max_tokens": max_output}


class _Chat:
    vocabulary = "o200k"

    def __init__(self) -> None:
        self._shape = ChatShape()

    def read(self, items: Sequence[Any]) -> tuple[str, list[dict[str, Any]]]:
        given = [self._item(item, at) for at, item in enumerate(items)]
        system, rest = split_system(given)
        return system, read_items(self._shape, rest)

    def _item(self, item: object, at: int) -> dict[str, Any]:
        data = plain(item)
        if not isinstance(data, dict):
            msg = f"message {at}: expected a dictionary or an SDK's message, got {type(item).__name__}"
            raise MessageError(msg)
        message = cast("dict[str, Any]", data)
        if "role" not in message:
            msg = f"message {at}: a chat completions message has a role; Responses items need api='openai-responses'"
            raise MessageError(msg)
        return {
            key: value for key, value in message.items() if key in _CHAT_FIELDS and value is not None and value != []
        }

    def answer(self, response: object) -> dict[str, Any] | None:
        choices = field_of(response, "choices")
        message = field_of(choices[0], "message") if choices else response
        item = self._item(message, 0)
        if not (item.get("content") or item.get("tool_calls") or item.get("refusal")):
            return None
        if not item.get("content") and item.get("refusal"):
            item["content"] = item["refusal"]
        return read_items(self._shape, [item])[0]

    def write(self, message: Message) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        for part in _parted(message):
            found = without_extensions(list(written(self._shape, part)))
            items += [item for item in found if item.get("content") or item.get("tool_calls") or item["role"] == "tool"]
        return items

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [
            tool if "function" in tool or tool.get("type", "function") != "function" else _chat_tool(_neutral(tool))
            for tool in map(_definition, map(plain, tools))
        ]

    def arguments(
        self, system: str, groups: Sequence[list[dict[str, Any]]], tools: list[dict[str, Any]], max_output: int
    ) -> dict[str, Any]:
        first = [{"role": "system", "content": system}] if system else []
        found: dict[str, Any] = {"messages": [*first, *(item for group in groups for item in group)]}
        if tools:
            found["tools"] = tools
        return found | {"max_completion_tokens": max_output}


class _SessionResponses(ResponsesShape):
    """Items as blocks that keep the item they came from."""

    def to_message(self, group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        kinds = [str(item.get("type") or "message") for item in group]
        if kinds[0].endswith("_output"):
            return {"role": "user", "content": [self._result(item) for item in group]}
        if group[0].get("role", "assistant") != "assistant":
            return super().to_message(group)
        blocks: list[dict[str, Any]] = []
        reasoning = ""
        for item, kind in zip(group, kinds, strict=True):
            note = {"item": dict(item), "reasoning": reasoning}
            if kind == "reasoning":
                reasoning = str(item.get("id") or "")
                text = text_of(item.get("summary")) or "[reasoning]"
                blocks.append(
                    {
                        "type": "thinking",
                        "thinking": text,
                        "signature": item.get("encrypted_content") or "",
                        EXTENSION: note,
                    }
                )
            elif kind in {"function_call", "custom_tool_call"}:
                given: object = item.get("arguments") if kind == "function_call" else item.get("input")
                call = {"type": "tool_use", "id": item.get("call_id"), "name": item.get("name")}
                blocks.append({**call, "input": arguments_of(given), EXTENSION: note})
            else:
                blocks.append({"type": "text", "text": _said(item), EXTENSION: note})
        return {"role": "assistant", "content": blocks}

    def to_items(self, message: Message) -> list[dict[str, Any]]:
        content: object = message.get("content")
        if isinstance(content, str):
            return [{"role": str(message.get("role")), "content": content}]
        items: list[dict[str, Any]] = []
        sent: set[str] = set()
        for block in blocks_of(message):
            note = cast("Mapping[str, Any]", block.get(EXTENSION) or {})
            item = cast("dict[str, Any] | None", note.get("item"))
            if item is None or not _unchanged(item, block):
                items += super().to_items({"role": message.get("role"), "content": [_bare(block)]})
                continue
            if item.get("type") == "reasoning":
                sent.add(str(item.get("id") or ""))
            elif note.get("reasoning") and note["reasoning"] not in sent:
                # Its id would ask for the reasoning that is left out.
                item = {key: value for key, value in item.items() if key != "id"}
            items.append(item)
        return items

    @staticmethod
    def _result(item: Mapping[str, Any]) -> dict[str, Any]:
        output: object = item.get("output")
        content = output if isinstance(output, str) else text_of(output)
        note = {"item": dict(item), "reasoning": ""}
        return {"type": "tool_result", "tool_use_id": item.get("call_id"), "content": content, EXTENSION: note}


class _Responses:
    vocabulary = "o200k"

    def __init__(self) -> None:
        self._shape = _SessionResponses()

    def read(self, items: Sequence[Any]) -> tuple[str, list[dict[str, Any]]]:
        given: list[dict[str, Any]] = []
        for at, item in enumerate(items):
            data = plain(item)
            if not isinstance(data, dict) or ("role" not in data and "type" not in data) or "tool_calls" in data:
                msg = f"item {at}: not an item of the Responses API; chat completions messages need api='openai-chat'"
                raise MessageError(msg)
            given.append(cast("dict[str, Any]", data))
        system, rest = split_system(given)
        return system, [self._message(group) for group in self._groups(rest)]

    def _groups(self, items: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
        groups: list[list[Mapping[str, Any]]] = []
        for item in items:
            if groups and self._shape.continues(groups[-1], item):
                groups[-1].append(item)
            else:
                groups.append([item])
        return groups

    def _message(self, group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        message = self._shape.to_message(group)
        if message["role"] == "user" and self._shape.to_items(message) != list(group):
            message[EXTENSION] = {self._shape.name: [dict(item) for item in group]}
        return message

    def answer(self, response: object) -> dict[str, Any] | None:
        output = field_of(response, "output")
        items = cast("list[dict[str, Any]]", plain(output if output is not None else [response]))
        kept = [item for item in items if item.get("type") != "message" or item.get("content")]
        while kept and kept[-1].get("type") == "reasoning":
            kept.pop()
        return self._shape.to_message(kept) if kept else None

    def write(self, message: Message) -> list[dict[str, Any]]:
        return [
            without_extensions(dict(item))
            for part in _parted(message)
            for item in (self._shape.to_items(part) if part.get("role") == "assistant" else written(self._shape, part))
        ]

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [
            tool
            if tool.get("type", "function") != "function" or ("parameters" in tool and "function" not in tool)
            else {"type": "function", **_neutral(tool)}
            for tool in map(_definition, map(plain, tools))
        ]

    def arguments(
        self, system: str, groups: Sequence[list[dict[str, Any]]], tools: list[dict[str, Any]], max_output: int
    ) -> dict[str, Any]:
        found: dict[str, Any] = {"instructions": system} if system else {}
        found["input"] = [item for group in groups for item in group]
        if tools:
            found["tools"] = tools
        return found | {"max_output_tokens": max_output}


def wire_of(api: str) -> Wire:
    """Return how an API is spoken to.

    Raises
    ------
    ConfigError
        If it is not one of the three.
    """
    found: dict[str, type[_Anthropic | _Chat | _Responses]] = {
        "anthropic": _Anthropic,
        "openai-chat": _Chat,
        "openai-responses": _Responses,
    }
    if api not in found:
        msg = f"api: expected one of {', '.join(found)}, got {api!r}"
        raise ConfigError(msg)
    return found[api]()


def _parted(message: Message) -> list[Message]:
    """Return a message in parts: what was said, and each piece of context that the session added, by itself."""
    blocks = blocks_of(message)
    if not any(delivery_of(block) for block in blocks):
        return [message]
    parts: list[list[Block]] = [[]]
    for block in blocks:
        if delivery_of(block):
            parts += [[block], []]
        else:
            parts[-1].append(block)
    # What was one text stays one, so that it is written as it was before context was added to it.
    return [{**message, "content": part[0]["text"] if _lone(part) else part} for part in parts if part]


def _lone(part: list[Block]) -> bool:
    return len(part) == 1 and part[0].get("type") == "text"


def _bare(block: Block) -> dict[str, Any]:
    return {key: value for key, value in block.items() if key != EXTENSION}


def _said(item: Mapping[str, Any]) -> str:
    from tipstaff.context.conversation.messages import compact_json

    if str(item.get("type") or "message") != "message":
        return compact_json(item)
    content: object = item.get("content")
    if isinstance(content, str):
        return content
    parts = cast("Sequence[Mapping[str, Any]]", content or ())
    return "\n".join(str(part.get("text") or part.get("refusal") or "") for part in parts)


def _unchanged(item: Mapping[str, Any], block: Block) -> bool:
    kind = str(item.get("type") or "message")
    if kind == "reasoning":
        return True
    if kind.endswith("_output"):
        output: object = item.get("output")
        return (output if isinstance(output, str) else text_of(output)) == block.get("content")
    if kind in {"function_call", "custom_tool_call"}:
        given: object = item.get("arguments") if kind == "function_call" else item.get("input")
        return arguments_of(given) == block.get("input")
    return _said(item) == block.get("text")


def _definition(tool: object) -> dict[str, Any]:
    if not isinstance(tool, dict):
        msg = f"tools: expected dictionaries, got {type(tool).__name__}"
        raise MessageError(msg)
    return cast("dict[str, Any]", tool)


def _neutral(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return name, description and schema of a definition in any shape."""
    function: object = tool.get("function")
    parts = cast("Mapping[str, Any]", function) if isinstance(function, Mapping) else tool
    schema = parts.get("parameters", parts.get("input_schema"))
    found = {"name": parts.get("name"), "description": parts.get("description") or ""}
    return found | {"parameters": {"type": "object", "properties": {}} if schema is None else schema}


def _chat_tool(neutral: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": neutral}
