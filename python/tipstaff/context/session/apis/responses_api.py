"""OpenAI's Responses: items as blocks that keep the item they came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.messages import (
    EXTENSION,
    Block,
    Message,
    MessageError,
    blocks_of,
    compact_json,
    text_of,
    without_extensions,
)
from tipstaff.context.conversation.openai_chat import arguments_of, split_system
from tipstaff.context.conversation.openai_responses import ResponsesShape, is_output
from tipstaff.context.conversation.shapes import written
from tipstaff.context.session.apis.sdk import field_of, plain
from tipstaff.context.session.apis.wire import (
    definition_of,
    function_of,
    not_an_answer,
    object_json,
    parted,
    plain_items,
)

_TEXT_OUTPUTS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "apply_patch_call_output"}
)
"""Outputs that a shorter text may stand for."""

_NATIVE: Final = frozenset({"tool_use", "tool_result"})


class ResponsesApi:
    """See `Wire`."""

    vocabulary = "o200k"

    def __init__(self) -> None:
        self._shape = _Shape()

    def read(self, items: Sequence[Any]) -> tuple[str, list[dict[str, Any]]]:
        """See `Wire.read`."""
        given = plain_items(items)
        for at, item in enumerate(given):
            _refuse_foreign(item, at)
        system, rest = split_system([_sound(item) for item in given])
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
        """See `Wire.answer`."""
        output = field_of(response, "output")
        if output is None:
            raise not_an_answer(response, "a Response with its output", "stream.get_final_response()")
        items = [_sound(item) for item in cast("list[dict[str, Any]]", plain(output))]
        kept = [item for item in items if item.get("type") != "message" or item.get("content")]
        while kept and kept[-1].get("type") == "reasoning":
            kept.pop()
        return self._shape.to_message(kept) if kept else None

    def write(self, message: Message) -> list[dict[str, Any]]:
        """See `Wire.write`."""
        return [
            without_extensions(dict(item))
            for part in parted(message)
            for item in (self._shape.to_items(part) if part.get("role") == "assistant" else written(self._shape, part))
        ]

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """See `Wire.tools`."""
        return [
            tool
            if tool.get("type", "function") != "function" or ("parameters" in tool and "function" not in tool)
            else {"type": "function", **function_of(tool)}
            for tool in map(definition_of, tools)
        ]

    def arguments(
        self, system: str, groups: Sequence[list[dict[str, Any]]], tools: list[dict[str, Any]], max_output: int
    ) -> dict[str, Any]:
        """See `Wire.arguments`."""
        found: dict[str, Any] = {"instructions": system} if system else {}
        found["input"] = [item for group in groups for item in group]
        if tools:
            found["tools"] = tools
        return found | {"max_output_tokens": max_output}


class _Shape(ResponsesShape):
    """Items as blocks that keep the item they came from."""

    def to_message(self, group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        if is_output(group[0]):
            return {"role": "user", "content": [_result(item) for item in group]}
        if group[0].get("role", "assistant") != "assistant":
            return super().to_message(group)
        answered = {item.get("call_id") for item in group if _kind(item).endswith("_output")}
        blocks: list[dict[str, Any]] = []
        reasoning = ""
        for item in group:
            kind = _kind(item)
            note = {"item": dict(item), "reasoning": reasoning}
            if kind == "reasoning":
                reasoning = str(item.get("id") or "")
                summary = text_of(item.get("summary")) or "[reasoning]"
                signed = item.get("encrypted_content") or ""
                blocks.append({"type": "thinking", "thinking": summary, "signature": signed, EXTENSION: note})
            elif kind.endswith("_call") and item.get("call_id") and item["call_id"] not in answered:
                name = item.get("name") or kind.removesuffix("_call")
                call = {"type": "tool_use", "id": item["call_id"], "name": name, "input": _input(item)}
                blocks.append(call | {EXTENSION: note})
            else:
                blocks.append({"type": "text", "text": _text_in(item), EXTENSION: note})
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
            if item is None:
                bare = {key: value for key, value in block.items() if key != EXTENSION}
                found = super().to_items({"role": message.get("role"), "content": [bare]})
                kind = str(note.get("call") or "")
                items += [_output_of(kind, one) for one in found] if kind else found
                continue
            if not _unchanged(item, block):
                item = _changed(item, block)
            if item.get("type") == "reasoning" and not item.get("encrypted_content"):
                continue  # only a server that keeps the conversation knows it: others refuse its id
            if item.get("type") == "reasoning":
                sent.add(str(item.get("id") or ""))
            elif note.get("reasoning") and note["reasoning"] not in sent:
                # Its id would ask for the reasoning that is left out.
                item = {key: value for key, value in item.items() if key != "id"}
            items.append(item)
        return items


def _refuse_foreign(item: Mapping[str, Any], at: int) -> None:
    advice = "convert the conversation with from_openai_chat, then to_openai_responses"
    if "tool_calls" in item or item.get("role") in {"tool", "function"}:
        msg = f"item {at}: a chat completions message: {advice}, or give the session api='openai-chat'"
        raise MessageError(msg)
    content: object = item.get("content")
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    if any(isinstance(one, Mapping) and cast("Mapping[str, Any]", one).get("type") in _NATIVE for one in blocks):
        msg = f"item {at}: a message of the Messages API: convert the conversation with to_openai_responses"
        raise MessageError(msg)
    if "role" not in item and "type" not in item:
        msg = f"item {at}: expected a message with a role or an item with a type, got keys {sorted(item)}"
        raise MessageError(msg)


def _kind(item: Mapping[str, Any]) -> str:
    return str(item.get("type") or "message")


def _sound(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item whose arguments are a JSON object whatever the model wrote."""
    if _kind(item) != "function_call":
        return item
    given: object = item.get("arguments")
    clean = object_json(given)
    return item if clean == given else {**item, "arguments": clean}


def _input(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a call was given, whatever kind of call it is."""
    for name in ("arguments", "input", "action", "operation"):
        if item.get(name) is not None:
            return arguments_of(item[name])
    return {}


def _result(item: Mapping[str, Any]) -> dict[str, Any]:
    note = {"item": dict(item), "reasoning": ""}
    call = item.get("call_id") or item.get("id")
    return {"type": "tool_result", "tool_use_id": call, "content": _output(item), EXTENSION: note}


def _output(item: Mapping[str, Any]) -> str:
    """Return what a tool put out, as text; of pictures that there is one."""
    output: object = item.get("output")
    if isinstance(output, str):
        return output
    parts: list[Any] = output if isinstance(output, list) else [output]
    return "\n".join(_part_text(part) for part in parts if part is not None)


def _part_text(part: Any) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    fields = cast("Mapping[str, Any]", part)
    if isinstance(words := fields.get("text"), str):
        return words
    if "stdout" in fields or "stderr" in fields:
        return "\n".join(str(fields[name]) for name in ("stdout", "stderr") if fields.get(name))
    return f"[{fields.get('type')}]"


def _text_in(item: Mapping[str, Any]) -> str:
    if _kind(item) != "message":
        # A picture's data is nothing that a vocabulary would count.
        return compact_json({key: value for key, value in item.items() if key not in {"result", "encrypted_content"}})
    content: object = item.get("content")
    if isinstance(content, str):
        return content
    parts = cast("Sequence[Mapping[str, Any]]", content or ())
    return "\n".join(str(part.get("text") or part.get("refusal") or "") for part in parts)


def _unchanged(item: Mapping[str, Any], block: Block) -> bool:
    kind = _kind(item)
    if kind == "reasoning":
        return True
    if block.get("type") == "tool_result":
        return (item.get("call_id") or item.get("id")) == block.get("tool_use_id") and _output(item) == block["content"]
    if block.get("type") == "tool_use":
        return item.get("call_id") == block.get("id") and _input(item) == block.get("input")
    return _text_in(item) == block.get("text")


def _changed(item: dict[str, Any], block: Block) -> dict[str, Any]:
    """Return an item with what its block says now; what has no other form stays as it was."""
    kind = _kind(item)
    if block.get("type") == "tool_result":
        call = {"call_id" if "call_id" in item else "id": block.get("tool_use_id")}
        if _output(item) == block["content"] or kind not in _TEXT_OUTPUTS | {"shell_call_output"}:
            return {**item, **call}
        return _output_of(kind.removesuffix("_output"), {**item, **call, "output": text_of(block.get("content"))})
    if block.get("type") == "tool_use":
        found = {key: value for key, value in item.items() if key != "id"} | {"call_id": block.get("id")}
        if _input(item) == block.get("input"):
            return found
        if kind == "function_call":
            return found | {"arguments": compact_json(block.get("input"))}
        return found | {"input": compact_json(block.get("input"))} if kind == "custom_tool_call" else found
    if kind != "message":
        return item
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": block.get("text")}]}


def _output_of(call: str, item: dict[str, Any]) -> dict[str, Any]:
    """Return an output, given as text, as that of a call of this kind."""
    kind = f"{call}_output"
    found = {**item, "type": kind}
    if kind == "local_shell_call_output" and "id" not in found:
        found["id"] = found.pop("call_id")
    if kind == "shell_call_output" and isinstance(found.get("output"), str):
        outcome = {"type": "exit", "exit_code": 0}
        found["output"] = [{"stdout": found["output"], "stderr": "", "outcome": outcome}]
    return found
