"""Conversations in OpenAI's two shapes, Chat Completions and Responses, as native ones and back, without loss.

A shape says how its items are grouped into messages, and how a group becomes a message and back. A group that would not
come back as it was is carried unchanged in its message, under the key `EXTENSION`, and is taken back only where the
message still is what the group became. `without_extensions` takes that key out of what is sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, cast

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

Item: TypeAlias = Mapping[str, Any]


class Shape(Protocol):
    """Another way to write a conversation; `name` is under which groups are kept in messages."""

    name: str

    def continues(self, group: Sequence[Item], item: Item) -> bool:
        """Return whether an item belongs to the same message as the group before it."""
        ...

    def to_message(self, group: Sequence[Item]) -> dict[str, Any]:
        """Return the message that a group is."""
        ...

    def to_items(self, message: Message) -> list[dict[str, Any]]:
        """Return the items that a message is."""
        ...


def read_items(shape: Shape, items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return the messages of a conversation in another shape.

    Raises `MessageError` if an item is no dictionary.
    """
    found: list[dict[str, Any]] = []
    for group, native in _groups(shape, items):
        if native is not None and shape.to_items(native) == [without_extensions(item) for item in group]:
            found.append(native)
            continue
        plain = [{key: value for key, value in item.items() if key != EXTENSION} for item in group]
        message = shape.to_message(plain)
        if shape.to_items(message) != plain:
            message[EXTENSION] = {shape.name: plain}
        found.append(message)
    return found


def write_items(shape: Shape, messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation in another shape."""
    groups = [written(shape, message) for message in messages]
    items = [dict(item) for group in groups for item in group]
    if _same(read_items(shape, items), messages):
        return items
    # Something of the messages, or where one ends, would be lost: each group's first item brings its message along.
    return [
        {**item, EXTENSION: {"message": dict(message), "items": len(group)}} if position == 0 else dict(item)
        for message, group in zip(messages, groups, strict=True)
        for position, item in enumerate(group)
    ]


def _same(found: Sequence[Message], messages: Sequence[Message]) -> bool:
    return len(found) == len(messages) and all(a == b for a, b in zip(found, messages, strict=True))


def written(shape: Shape, message: Message) -> Sequence[Item]:
    """Return the items of one message: those that it came from, unless it was changed since."""
    kept: object = message.get(EXTENSION)
    group: object = cast("Mapping[str, Any]", kept).get(shape.name) if isinstance(kept, Mapping) else None
    bare = {key: value for key, value in message.items() if key != EXTENSION}
    if isinstance(group, list):
        items = cast("list[Item]", group)
        if shape.to_message(items) == bare:
            return items
    return shape.to_items(bare)


def _checked(item: object, at: int) -> Item:
    if not isinstance(item, Mapping):
        raise MessageError(f"item {at}: expected a dictionary, got {type(item).__name__}")
    return cast("Item", item)


def _groups(shape: Shape, items: Sequence[Item]) -> Iterator[tuple[list[Item], dict[str, Any] | None]]:
    """Yield groups, and for each the message that it brought along."""
    group: list[Item] = []
    at = 0
    while at < len(items):
        found = _checked(items[at], at)
        kept: object = found.get(EXTENSION)
        if isinstance(kept, Mapping) and "message" in kept and "items" in kept:
            if group:
                yield group, None
                group = []
            note = cast("Mapping[str, Any]", kept)
            size = max(1, int(note["items"]))
            yield list(items[at : at + size]), dict(note["message"])
            at += size
            continue
        if group and not shape.continues(group, found):
            yield group, None
            group = []
        group.append(found)
        at += 1
    if group:
        yield group, None


_DATA_URL = re.compile(r"\Adata:([\w.+-]+/[\w.+-]+);base64,(.*)\Z", re.DOTALL)
_TEXTS: Final = frozenset({"text", "input_text", "output_text"})


def block_of_part(part: object) -> dict[str, Any]:
    """Return the block of a part; one of a kind that has no block is rendered as text, so that a model can read it."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, Mapping):
        return {"type": "text", "text": compact_json(part)}
    found = cast("Mapping[str, Any]", part)
    kind: object = found.get("type")
    if kind in _TEXTS:
        return {"type": "text", "text": str(found.get("text") or "")}
    if kind == "refusal":
        return {"type": "text", "text": str(found.get("refusal") or "")}
    if kind in {"image_url", "input_image"}:
        url: object = found.get("image_url")
        if isinstance(url, Mapping):
            url = cast("Mapping[str, Any]", url).get("url")
        if isinstance(url, str):
            return {"type": "image", "source": _source(url)}
    audio: object = found.get("input_audio")
    if kind == "input_audio" and isinstance(audio, Mapping):
        sound = cast("Mapping[str, Any]", audio)
        return {
            "type": "audio",
            "source": {"type": "base64", "media_type": f"audio/{sound.get('format')}", "data": sound.get("data")},
        }
    if kind in {"file", "input_file"}:
        inner: object = found.get("file")
        file = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else found
        data: object = file.get("file_data") or file.get("file_url")
        if isinstance(data, str):
            block: dict[str, Any] = {"type": "document", "source": _source(data)}
            return block | {"title": file["filename"]} if file.get("filename") else block
    return {"type": "text", "text": compact_json(found)}


def part_of_block(block: Block, shape: str) -> dict[str, Any]:
    """Return the part of a block, for ``chat`` or ``responses``; what has none is rendered as text."""
    kind: object = block.get("type")
    chat = shape == "chat"
    if kind == "text":
        return {"type": "text" if chat else "input_text", "text": block.get("text")}
    source: object = block.get("source")
    if kind == "image" and isinstance(source, Mapping):
        url = _url(cast("Mapping[str, Any]", source))
        if url:
            return (
                {"type": "image_url", "image_url": {"url": url}} if chat else {"type": "input_image", "image_url": url}
            )
    if kind == "audio" and isinstance(source, Mapping):
        sound = cast("Mapping[str, Any]", source)
        encoding = str(sound.get("media_type") or "").removeprefix("audio/")
        return {"type": "input_audio", "input_audio": {"data": sound.get("data"), "format": encoding}}
    if kind == "document" and isinstance(source, Mapping):
        url = _url(cast("Mapping[str, Any]", source))
        if url:
            key = "file_data" if url.startswith("data:") else "file_url"
            file = {"filename": block.get("title") or "document.pdf", key: url}
            return {"type": "file", "file": file} if chat else {"type": "input_file", **file}
    return {"type": "text" if chat else "input_text", "text": compact_json(block)}


def _source(url: str) -> dict[str, Any]:
    match = _DATA_URL.match(url)
    if match is None:
        return {"type": "url", "url": url}
    return {"type": "base64", "media_type": match.group(1), "data": match.group(2)}


def _url(source: Mapping[str, Any]) -> str:
    if source.get("type") == "base64":
        return f"data:{source.get('media_type')};base64,{source.get('data')}"
    return str(source.get("url") or "")


_SYSTEM: Final = frozenset({"system", "developer"})


class ChatShape:
    """The shape, as `tipstaff.context.conversation.openai` takes it."""

    name = "openai_chat"

    def continues(self, group: Sequence[Item], item: Item) -> bool:
        """Return whether an item belongs to the message of the group before it."""
        return group[-1].get("role") == "tool" == item.get("role")

    def to_message(self, group: Sequence[Item]) -> dict[str, Any]:
        """Return the message that a group is."""
        role = group[0].get("role")
        if role == "tool":
            return {"role": "user", "content": [_chat_result(item) for item in group]}
        item = group[0]
        content: object = item.get("content")
        calls: object = item.get("tool_calls")
        if role == "assistant" and isinstance(calls, list) and calls:
            blocks = _chat_blocks(content)
            blocks += [_call(call) for call in cast("Sequence[object]", calls)]
            return {"role": "assistant", "content": blocks}
        name = "assistant" if role == "assistant" else "user"
        return {"role": name, "content": content if isinstance(content, str) else _chat_blocks(content)}

    def to_items(self, message: Message) -> list[dict[str, Any]]:
        """Return the items that a message is."""
        content: object = message.get("content")
        role = str(message.get("role"))
        if isinstance(content, str):
            return [{"role": role, "content": content}]
        blocks = blocks_of(message)
        if role == "assistant":
            return [_chat_assistant(blocks)]
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


_CHAT: Final = ChatShape()


def from_openai_chat(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a chat completions conversation in the native shape.

    System and developer messages become messages of the user's, as the native shape has no such role, and turn back:
    take those at the start out before, with `split_system`, to send them as the system prompt. Results that follow one
    another become one message.

    Raises `MessageError` if a message is no dictionary.
    """
    return read_items(_CHAT, messages)


def to_openai_chat(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a native conversation as chat completions take it.

    What that shape has no place for (thinking and its signatures, marks for caches, ``is_error``) comes along under
    ``x_tipstaff``, so that `from_openai_chat` gives it back; `without_extensions` takes it out of what is sent.
    """
    return write_items(_CHAT, messages)


def split_system(messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[Mapping[str, Any]]]:
    """Return the text of the system and developer messages at the start, and the rest."""
    at = 0
    while at < len(messages) and messages[at].get("role") in _SYSTEM:
        at += 1
    return "\n\n".join(text_of(one.get("content")) for one in messages[:at]), list(messages[at:])


def _chat_blocks(content: object) -> list[dict[str, Any]]:
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list | tuple):
        return [{"type": "text", "text": str(content)}]
    return [block_of_part(part) for part in cast("Sequence[object]", content)]


def _chat_result(item: Item) -> dict[str, Any]:
    content: object = item.get("content")
    return {
        "type": "tool_result",
        "tool_use_id": item.get("tool_call_id"),
        "content": content if isinstance(content, str) else _chat_blocks(content),
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


def _chat_assistant(blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
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


class ResponsesShape:
    """The shape, as `tipstaff.context.conversation.openai` takes it."""

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


_RESPONSES: Final = ResponsesShape()


def from_openai_responses(items: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return Responses input items in the native shape.

    What the assistant said and called in a row becomes one message, as do outputs in a row. Items that have no block
    (reasoning, searches ...) are rendered as text and turn back.

    Raises `MessageError` if an item is no dictionary.
    """
    return read_items(_RESPONSES, items)


def to_openai_responses(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a native conversation as Responses input items.

    What that shape has no place for comes along under ``x_tipstaff``: see `to_openai_chat`.
    """
    return write_items(_RESPONSES, messages)


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
