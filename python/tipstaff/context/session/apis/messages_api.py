"""Anthropic's Messages API, whose shape is the session's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.messages import Message, blocks_of, check_message, refuse_foreign, without_extensions
from tipstaff.context.session.apis.breakpoints import with_breakpoints
from tipstaff.context.session.apis.sdk import field_of, plain
from tipstaff.context.session.apis.wire import definition_of, function_of, not_an_answer, plain_items, role_of

_FIELDS: Final = ("role", "content")
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
