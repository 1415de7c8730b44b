"""The three APIs: Anthropic's Messages, OpenAI's Chat Completions (and compatible ones) and Responses.

The Messages API's prompt cache needs marks: at the end of the system prompt (or of the tools, without one), at the end
of the last message, and at an earlier one where more blocks are between than the provider looks back over. Marks do not
count as a change. Source: the Messages API's page on prompt caching.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.messages import (
    EXTENSION,
    Block,
    Message,
    MessageError,
    blocks_of,
    check_message,
    compact_json,
    refuse_foreign,
    text_of,
    without_extensions,
)
from tipstaff.context.conversation.openai import (
    ChatShape,
    ResponsesShape,
    arguments_of,
    is_output,
    read_items,
    split_system,
    written,
)
from tipstaff.context.session.wire import (
    SYSTEM_ROLES,
    Wire,
    definition_of,
    field_of,
    function_of,
    not_an_answer,
    object_json,
    parted,
    plain,
    plain_items,
    role_of,
)
from tipstaff.errors import ConfigError

MARK: Final = {"type": "ephemeral"}
LOOK_BACK_BLOCKS: Final = 20


def with_breakpoints(
    system: str, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return ``system``, ``messages`` and ``tools`` with marks; what was given is not changed."""
    found: dict[str, Any] = {}
    if system:
        found["system"] = [{"type": "text", "text": system, "cache_control": MARK}]
    sent = list(messages)
    if sent:
        last = len(sent) - 1
        sent[last] = _marked(sent[last])
        # The last call looked up to the message of the user's before; from there it may be too far to look back.
        blocks = 0
        for index in range(last, max(-1, last - 2), -1):
            content = sent[index]["content"]
            blocks += len(content) if isinstance(content, list) else 1
        if last >= 2 and blocks >= LOOK_BACK_BLOCKS:
            sent[last - 2] = _marked(sent[last - 2])
    found["messages"] = sent
    if tools:
        definitions = list(tools)
        if not system:
            definitions[-1] = {**definitions[-1], "cache_control": MARK}
        found["tools"] = definitions
    return found


def _marked(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content: object = message["content"]
    if isinstance(content, str):
        return {**message, "content": [{"type": "text", "text": content, "cache_control": MARK}]}
    blocks = list(cast("Sequence[Mapping[str, Any]]", content))
    for at in range(len(blocks) - 1, -1, -1):
        if "thinking" not in str(blocks[at].get("type")):
            blocks[at] = {**blocks[at], "cache_control": MARK}
            break
    return {**message, "content": blocks}


_MESSAGE_FIELDS: Final = ("role", "content")
_SYSTEM: Final = frozenset({"system", "developer"})


class MessagesApi:
    """See `Wire`."""

    vocabulary = "claude"

    def read(self, items: Sequence[Any]) -> tuple[str, list[dict[str, Any]]]:
        """See `Wire.read`."""
        given = plain_items(items)
        at = 0
        while at < len(given) and given[at].get("role") in _SYSTEM:
            at += 1
        found: list[dict[str, Any]] = []
        for index, message in enumerate(given[at:], at):
            where = f"message {index}"
            refuse_foreign(message, where)
            check_message(message, where)
            found.append({"role": message.get("role"), "content": _bare(message.get("content"))})
        system = [str(block.get("text") or "") for message in given[:at] for block in blocks_of(message)]
        return "\n\n".join(system), found

    def answer(self, response: object) -> dict[str, Any] | None:
        """See `Wire.answer`."""
        given = field_of(response, "content")
        if given is None:
            raise not_an_answer(response, "a Message with its content", "stream.get_final_message()")
        content = _bare(plain(given))
        return {"role": "assistant", "content": content} if content else None

    def write(self, message: Message) -> list[dict[str, Any]]:
        """See `Wire.write`."""
        # Always as blocks: a mark for the cache needs one, and must not be the only difference to the request before.
        if not any(role_of(block) for block in blocks_of(message)):
            return [{"role": message.get("role"), "content": without_extensions(list(blocks_of(message)))}]
        found: list[dict[str, Any]] = []
        for block in blocks_of(message):
            role = role_of(block) or message.get("role")
            if not found or found[-1]["role"] != role:
                found.append({"role": role, "content": []})
            found[-1]["content"].append(without_extensions(block))
        return found

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """See `Wire.tools`."""
        return [_tool(definition_of(tool)) for tool in tools]

    def arguments(
        self, system: str, groups: Sequence[list[dict[str, Any]]], tools: list[dict[str, Any]], max_output: int
    ) -> dict[str, Any]:
        """See `Wire.arguments`."""
        messages = [message for group in groups for message in group]
        if messages and messages[-1]["role"] == "assistant":
            messages[-1] = _without_trailing_space(messages[-1])
        return with_breakpoints(system, messages, tools) | {"max_tokens": max_output}


def _bare(content: object) -> Any:
    """Return content without fields that are None and without the caller's marks for the cache: four are the most."""
    if not isinstance(content, list):
        return content
    found: list[Any] = []
    for block in cast("list[object]", content):
        if not isinstance(block, dict):
            found.append(block)
            continue
        fields = cast("dict[str, Any]", block)
        kept = {key: value for key, value in fields.items() if value is not None and key != "cache_control"}
        if fields.get("type") == "tool_result" and isinstance(kept.get("content"), list):
            kept["content"] = _bare(kept["content"])
        found.append(kept)
    return found


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    parts = function_of(tool)
    if "input_schema" in tool or ("parameters" not in tool and "function" not in tool):
        return tool  # of this API, or a tool that the provider runs itself
    return {"name": parts["name"], "description": parts["description"], "input_schema": parts["parameters"]}


def _without_trailing_space(message: dict[str, Any]) -> dict[str, Any]:
    """Return the beginning of an answer that the model is to continue with; the API refuses white space at its end."""
    blocks = list(message["content"])
    if blocks and blocks[-1].get("type") == "text":
        blocks[-1] = {**blocks[-1], "text": str(blocks[-1]["text"]).rstrip()}
    return {**message, "content": blocks}


_CHAT_FIELDS: Final = frozenset(
    {"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "reasoning_content", "thinking_blocks"}
)


class _ChatShape(ChatShape):
    """The shape in which a system message in the middle of a conversation stays one."""

    def to_message(self, group: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the message that a group is."""
        found = super().to_message(group)
        return {**found, "role": group[0]["role"]} if group[0].get("role") in SYSTEM_ROLES else found


class ChatApi:
    """See `Wire`."""

    vocabulary = "o200k"

    def __init__(self) -> None:
        self._shape = _ChatShape()

    def read(self, items: Sequence[Any]) -> tuple[str, list[dict[str, Any]]]:
        """See `Wire.read`."""
        system, rest = split_system([_chat_item(item, at) for at, item in enumerate(plain_items(items))])
        return system, read_items(self._shape, rest)

    def answer(self, response: object) -> dict[str, Any] | None:
        """See `Wire.answer`."""
        choices = field_of(response, "choices")
        if choices is None and field_of(response, "role") != "assistant":
            expected = "a ChatCompletion with its choices, or its message"
            raise not_an_answer(response, expected, "stream.get_final_completion()")
        message = response if choices is None else field_of(choices[0], "message") if choices else None
        item = _chat_item(plain_items([message])[0] if message is not None else {"role": "assistant"}, 0)
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


def _chat_item(message: dict[str, Any], at: int) -> dict[str, Any]:
    """Return a message with the fields that the API takes back.

    Raises `MessageError` if it is of another API or in a form that is no longer served.
    """
    if "role" not in message:
        advice = "convert the conversation with from_openai_responses, then to_openai_chat"
        msg = f"message {at}: an item of the Responses API: {advice}, or give the session api='openai-responses'"
        raise MessageError(msg)
    if message["role"] == "function" or message.get("function_call"):
        msg = f"message {at}: function_call is the former form of calls; use tool_calls and messages of role 'tool'"
        raise MessageError(msg)
    if _has_native_blocks(message):
        raise MessageError(f"message {at}: a message of the Messages API: convert the conversation with to_openai_chat")
    item = {key: value for key, value in message.items() if key in _CHAT_FIELDS and value is not None and value != []}
    audio: object = message.get("audio")
    if isinstance(audio, Mapping) and not item.get("content"):
        item["content"] = str(cast("Mapping[str, Any]", audio).get("transcript") or "")
    if isinstance(item.get("tool_calls"), list):
        item["tool_calls"] = [_chat_call(call) for call in cast("list[dict[str, Any]]", item["tool_calls"])]
    return item


def _has_native_blocks(message: Mapping[str, Any]) -> bool:
    content: object = message.get("content")
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    return any(
        isinstance(block, Mapping) and cast("Mapping[str, Any]", block).get("type") in {"tool_use", "tool_result"}
        for block in blocks
    )


def _chat_call(call: dict[str, Any]) -> dict[str, Any]:
    """Return a call as it is sent back: without what streams add, and with a JSON object for its arguments."""
    found = {key: value for key, value in call.items() if key != "index"}
    function: object = found.get("function")
    if isinstance(function, Mapping):
        fields = cast("Mapping[str, Any]", function)
        found["function"] = {"name": fields.get("name"), "arguments": object_json(fields.get("arguments"))}
    return found


_TEXT_OUTPUTS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "apply_patch_call_output"}
)
"""Outputs that a shorter text may stand for."""

_NATIVE: Final = frozenset({"tool_use", "tool_result"})


class ResponsesApi:
    """See `Wire`."""

    vocabulary = "o200k"

    def __init__(self) -> None:
        self._shape = _ResponsesShape()

    def read(self, items: Sequence[Any]) -> tuple[str, list[dict[str, Any]]]:
        """See `Wire.read`."""
        given = plain_items(items)
        for at, item in enumerate(given):
            _refuse_foreign_item(item, at)
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


class _ResponsesShape(ResponsesShape):
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


def _refuse_foreign_item(item: Mapping[str, Any], at: int) -> None:
    advice = "convert the conversation with from_openai_chat, then to_openai_responses"
    if "tool_calls" in item or item.get("role") in {"tool", "function"}:
        raise MessageError(f"item {at}: a chat completions message: {advice}, or give the session api='openai-chat'")
    content: object = item.get("content")
    blocks = cast("list[object]", content) if isinstance(content, list) else []
    if any(isinstance(one, Mapping) and cast("Mapping[str, Any]", one).get("type") in _NATIVE for one in blocks):
        msg = f"item {at}: a message of the Messages API: convert the conversation with to_openai_responses"
        raise MessageError(msg)
    if "role" not in item and "type" not in item:
        raise MessageError(f"item {at}: expected a message with a role or an item with a type, got keys {sorted(item)}")


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


def wire_of(api: str) -> Wire:
    """Return the translation to and from an API.

    Raises `ConfigError` if it is not one of the three.
    """
    found: dict[str, type[MessagesApi | ChatApi | ResponsesApi]] = {
        "anthropic": MessagesApi,
        "openai-chat": ChatApi,
        "openai-responses": ResponsesApi,
    }
    if api not in found:
        raise ConfigError(f"api: expected one of {', '.join(found)}, got {api!r}")
    return found[api]()
