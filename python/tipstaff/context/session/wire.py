"""What a session needs of an API: reading the caller's messages, writing its own.

Inside a session every conversation has the shape of the Messages API. What another shape holds beside that (the ids of
a Responses item, its encrypted reasoning) stays with its block, and goes out again as it came unless the block was
changed. A message is written the same way each time, so that a provider's prompt cache holds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol, TypeAlias, cast

from tipstaff.context.conversation.messages import EXTENSION, Block, Message, MessageError, blocks_of, compact_json
from tipstaff.context.conversation.openai import arguments_of

_ENDS: Final = (int, float, bool, type(None))
_DERIVED: Final = frozenset({"parsed", "parsed_output", "parsed_arguments"})
"""What an SDK adds to an answer for its reader; no provider takes it back."""


def plain(value: object) -> Any:
    """Return a value as new dictionaries and lists.

    Fields of an SDK's object that are None were not in the answer and are left out; what a dictionary holds stays.

    Raises `MessageError` if something in it is neither JSON nor an object with fields.
    """
    if isinstance(value, str):
        return sound_text(value)
    if isinstance(value, _ENDS):
        return value
    if isinstance(value, Mapping):
        return {sound_text(str(key)): plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("Sequence[object]", value)]
    found: object = getattr(value, "__dict__", None)
    if not isinstance(found, dict) or isinstance(value, type):
        raise MessageError(f"expected JSON or an object of an SDK, got {type(value).__name__}")
    fields = cast("dict[str, object]", found)
    more: object = getattr(value, "__pydantic_extra__", None)
    if isinstance(more, dict):
        fields = {**fields, **cast("dict[str, object]", more)}
    return {
        name: plain(item)
        for name, item in fields.items()
        if item is not None and not name.startswith("_") and name not in _DERIVED
    }


def sound_text(text: str) -> str:
    """Return a text that can be sent: halves of surrogate pairs joined, lone ones replaced, as UTF-8 has none."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def field_of(value: object, name: str) -> Any:
    """Return a field of an SDK's object or of a mapping, None where there is none."""
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else getattr(value, name, None)


Api: TypeAlias = Literal["anthropic", "openai-chat", "openai-responses"]


class Wire(Protocol):
    """One API; `vocabulary` is that of the token estimator."""

    vocabulary: str

    def read(self, items: Sequence[Any]) -> tuple[str, list[dict[str, Any]]]:
        """Return the system prompt at the start of the caller's messages, and the messages in the native shape."""
        ...

    def answer(self, response: object) -> dict[str, Any] | None:
        """Return the assistant's message of an answer, None where it said and called nothing.

        Raises `MessageError` if this is not an answer of the API.
        """
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


class Restorable:
    """Something whose state is copied before a request, and restored where that cannot be sent.

    Lists, sets and dictionaries are copied flat: what is in them is replaced, never changed.
    """

    def copied(self) -> dict[str, Any]:
        """Return what `restore` takes."""
        return {
            name: value.copied()
            if isinstance(value, Restorable)
            else value.copy()
            if isinstance(value, list | dict | set)
            else value
            for name, value in vars(self).items()
        }

    def restore(self, copied: dict[str, Any]) -> None:
        """Become what this was when it was copied."""
        for name, value in copied.items():
            own: object = getattr(self, name)
            if isinstance(own, Restorable):
                own.restore(value)
            else:
                setattr(self, name, value)


def not_an_answer(response: object, expected: str, final: str) -> MessageError:
    """Return the error for something else than the SDK's answer, such as a stream that was not read to its end."""
    return MessageError(f"expected {expected}, got {type(response).__name__}; of a stream, give {final}")


SYSTEM_ROLES: Final = frozenset({"system", "developer"})


def role_of(block: Block) -> str:
    """Return the role of a system message that stands in the middle of a conversation; empty for what has none."""
    note: object = block.get(EXTENSION)
    return str(cast("Mapping[str, Any]", note).get("role") or "") if isinstance(note, Mapping) else ""


def delivery_of(block: Block) -> bool:
    """Whether a block is context that the session added, not something that was said."""
    note: object = block.get(EXTENSION)
    return isinstance(note, Mapping) and "delivery" in note


def plain_items(items: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the caller's messages as dictionaries.

    Raises `MessageError` if one of them is neither a dictionary nor an SDK's object.
    """
    found: list[dict[str, Any]] = []
    for at, item in enumerate(items):
        data = plain(item)
        if not isinstance(data, dict):
            raise MessageError(f"message {at}: expected a dictionary or an SDK's message, got {type(item).__name__}")
        found.append(cast("dict[str, Any]", data))
    return found


def parted(message: Message) -> list[Message]:
    """Return a message in parts: what was said, and each piece of context that the session added, by itself."""
    blocks = blocks_of(message)
    if not any(delivery_of(block) or role_of(block) for block in blocks):
        return [message]
    parts: list[list[Block]] = [[]]
    for block in blocks:
        if delivery_of(block) or role_of(block):
            parts += [[block], []]
        else:
            parts[-1].append(block)
    # What was one text stays one, so that it is written as it was before context was added to it.
    return [
        {
            **message,
            "role": role_of(part[0]) or message.get("role"),
            "content": part[0]["text"] if _lone(part) else part,
        }
        for part in parts
        if part
    ]


def _lone(part: list[Block]) -> bool:
    return len(part) == 1 and part[0].get("type") == "text"


def definition_of(tool: object) -> dict[str, Any]:
    """Return a tool's definition as plain data, without marks for a cache.

    Raises `MessageError` if it is no dictionary.
    """
    found = plain(tool)
    if not isinstance(found, dict):
        raise MessageError(f"tools: expected dictionaries, got {type(tool).__name__}")
    fields = cast("dict[str, Any]", found)
    return {key: value for key, value in fields.items() if key != "cache_control"}


def function_of(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return name, description and parameters of a function's definition in any of the three shapes."""
    function: object = tool.get("function")
    parts = cast("Mapping[str, Any]", function) if isinstance(function, Mapping) else tool
    schema = parts.get("parameters", parts.get("input_schema"))
    found = {"name": parts.get("name"), "description": parts.get("description") or ""}
    strict = {"strict": parts["strict"]} if "strict" in parts else {}
    return found | {"parameters": {"type": "object", "properties": {}} if schema is None else schema} | strict


def object_json(given: object) -> str:
    """Return a call's arguments as the JSON of an object, whatever the model wrote; unchanged where they are one."""
    if isinstance(given, str):
        try:
            if isinstance(json.loads(given), dict):
                return given
        except ValueError:
            pass
    return compact_json(arguments_of(given))
