"""What the three APIs refuse, taken strictly, and what a request takes of the window; written without the package.

Each validator takes the body of a request as JSON gave it and returns one sentence per violation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Body = Mapping[str, Any]
_ANTHROPIC_BLOCKS = {"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document"}
_KEYS = {
    "text": {"type", "text", "cache_control", "citations"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "document": {"type", "source", "title", "context", "citations", "cache_control"},
}


def anthropic_problems(body: Body, signed: set[tuple[str, str]] | None = None) -> list[str]:
    """Return what the Messages API would refuse; with the (thinking, signature) pairs it issued, which are altered."""
    found: list[str] = []
    messages: Sequence[Any] = body["messages"]
    if not messages:
        return ["no messages"]
    if messages[0]["role"] != "user":
        found.append("the first message is not the user's")
    if messages[-1]["role"] != "user":
        found.append("the last message is not the user's")
    marks = _marks(body)
    if len(marks) > 4:
        found.append(f"{len(marks)} cache breakpoints")
    system = body.get("system", "")
    found += [
        "a bad system block"
        for block in (system if isinstance(system, list) else [])
        if block.get("type") != "text" or not block.get("text", "").strip()
    ]
    turn_begins = 0
    for index, message in enumerate(messages):
        if message["role"] == "user" and not any(b["type"] == "tool_result" for b in _blocks(message)):
            turn_begins = index
    open_calls: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(messages):
        where = f"message {index}"
        if set(message) != {"role", "content"}:
            found.append(f"{where}: keys {sorted(message)}")
        role = message["role"]
        if role not in {"user", "assistant"}:
            found.append(f"{where}: role {role}")
        if index and messages[index - 1]["role"] == role:
            found.append(f"{where}: {role} twice in a row")
        blocks = _blocks(message)
        if not blocks:
            found.append(f"{where}: no content")
        elif role == "assistant" and "thinking" in blocks[-1]["type"]:
            found.append(f"{where}: ends with thinking")
        results = [b.get("tool_use_id") for b in blocks if b["type"] == "tool_result"]
        if sorted(map(str, results)) != sorted(open_calls):
            found.append(f"{where}: calls {sorted(open_calls)} answered by {sorted(map(str, results))}")
        if results and any(b["type"] == "tool_result" for b in blocks[len(results) :]):
            found.append(f"{where}: results do not come first")
        open_calls = []
        begun = False
        for block in blocks:
            kind = block["type"]
            if kind not in _ANTHROPIC_BLOCKS:
                found.append(f"{where}: block of type {kind}")
                continue
            if extra := set(block) - _KEYS[kind]:
                found.append(f"{where}: {kind} with {sorted(extra)}")
            if kind == "text" and not block["text"].strip():
                found.append(f"{where}: empty text")
            if (
                kind == "text"
                and block["text"] != block["text"].rstrip()
                and role == "assistant" == _last(messages, index)
            ):
                found.append(f"{where}: trailing white space of a final answer")
            if kind == "tool_result":
                if role != "user":
                    found.append(f"{where}: a result of the assistant's")
                content = block.get("content")
                for part in content if isinstance(content, list) else []:
                    if part.get("type") not in {"text", "image", "document"}:
                        found.append(f"{where}: a result with {part.get('type')}")
                    if part.get("type") == "text" and not part["text"].strip():
                        found.append(f"{where}: empty text in a result")
            if kind in {"tool_use", "thinking", "redacted_thinking"} and role != "assistant":
                found.append(f"{where}: {kind} of the user's")
            if kind == "tool_use":
                if not isinstance(block["input"], dict) or block["id"] in seen or not block["name"]:
                    found.append(f"{where}: a bad call {block['id']}")
                seen.add(block["id"])
                open_calls.append(block["id"])
            if "thinking" in kind:
                if begun:
                    found.append(f"{where}: thinking after other blocks")
                pair = (block.get("thinking", ""), block.get("signature") or block.get("data") or "")
                if signed is not None and pair not in signed:
                    found.append(f"{where}: altered thinking")
            else:
                begun = True
        if (
            body.get("thinking", {}).get("type") == "enabled"
            and index > turn_begins
            and role == "assistant"
            and open_calls
            and "thinking" not in blocks[0]["type"]
        ):
            found.append(f"{where}: calls of the open turn without their thinking")
    if open_calls:
        found.append(f"calls without results: {sorted(open_calls)}")
    return found


def _last(messages: Sequence[Any], index: int) -> str:
    return messages[index]["role"] if index == len(messages) - 1 else ""


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content)


def _marks(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        own = [value["cache_control"]] if "cache_control" in value else []
        return own + [mark for item in value.values() for mark in _marks(item)]
    return [mark for item in value for mark in _marks(item)] if isinstance(value, list) else []


def chat_problems(body: Body) -> list[str]:
    """Return what the Chat Completions API would refuse."""
    found: list[str] = []
    open_calls: list[str] = []
    messages: Sequence[Any] = body["messages"]
    if not messages or not any(m["role"] == "user" for m in messages):
        found.append("nothing of the user's")
    if body.get("tools") == []:
        found.append("tools: empty array")
    allowed = {
        "system": {"role", "content", "name"},
        "developer": {"role", "content", "name"},
        "user": {"role", "content", "name"},
        "assistant": {"role", "content", "tool_calls", "refusal", "name", "audio"},
        "tool": {"role", "content", "tool_call_id"},
    }
    for index, message in enumerate(messages):
        where, role = f"message {index}", message.get("role")
        if role not in allowed:
            found.append(f"{where}: role {role}")
            continue
        if extra := set(message) - allowed[role]:
            found.append(f"{where}: {role} with {sorted(extra)}")
        content = message.get("content")
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                found.append(f"{where}: answers no open call: {message.get('tool_call_id')}")
            else:
                open_calls.remove(message["tool_call_id"])
        elif open_calls:
            found.append(f"{where}: {role} while {open_calls} are unanswered")
            open_calls = []
        if isinstance(content, list):
            if not content:
                found.append(f"{where}: content is an empty array")
            for part in content:
                kinds = {"text"} if role != "user" else {"text", "image_url", "input_audio", "file"}
                if part.get("type") not in kinds:
                    found.append(f"{where}: part of type {part.get('type')}")
                if part.get("type") == "text" and not part.get("text"):
                    found.append(f"{where}: empty text part")
        elif not isinstance(content, str) and not (role == "assistant" and message.get("tool_calls")):
            found.append(f"{where}: content is {type(content).__name__}")
        calls = message.get("tool_calls")
        if calls == []:
            found.append(f"{where}: tool_calls is an empty array")
        for call in calls or []:
            open_calls.append(call["id"])
            if call.get("type") == "custom" and set(call["custom"]) == {"name", "input"}:
                continue
            if call.get("type") != "function" or not isinstance(call["function"]["arguments"], str):
                found.append(f"{where}: a bad call")
            elif not isinstance(json.loads(call["function"]["arguments"]), dict):
                found.append(f"{where}: arguments that are no object")
    if open_calls:
        found.append(f"calls without results: {open_calls}")
    return found


_CLIENT_CALLS = {"function_call", "custom_tool_call", "shell_call", "computer_call"}
_OUTPUTS: dict[str, Any] = {"shell_call_output": list, "computer_call_output": dict}
_SERVER_ITEMS = {"web_search_call", "tool_search_call", "tool_search_output", "image_generation_call"}


def responses_problems(body: Body, issued: set[tuple[str, str]] | None = None) -> list[str]:
    """Return what the Responses API would refuse; with the (id, encrypted content) of the reasoning it issued."""
    found: list[str] = []
    items: Sequence[Any] = body["input"]
    calls: dict[str, str] = {}
    reasoning: set[str] = set()
    if not any(item.get("role") == "user" for item in items):
        found.append("nothing of the user's")
    if body.get("tools") == []:
        found.append("tools: empty array")
    for index, item in enumerate(items):
        where, kind = f"item {index}", item.get("type", "message")
        if "x_tipstaff" in _keys(item):
            found.append(f"{where}: unknown field")
        after = items[index + 1] if index + 1 < len(items) else {}
        if kind == "reasoning":
            pair = (item.get("id", ""), item.get("encrypted_content") or "")
            if issued is not None and pair not in issued:
                found.append(f"{where}: altered reasoning")
            reasoning.add(item.get("id", ""))
            if after.get("type", "message") not in {"function_call", "message", "reasoning", "custom_tool_call"} or (
                after.get("type", "message") == "message" and after.get("role") != "assistant"
            ):
                found.append(f"{where}: reasoning without the item that follows it")
        elif kind in _CLIENT_CALLS:
            if item["call_id"] in calls:
                found.append(f"{where}: call {item['call_id']} twice")
            calls[item["call_id"]] = kind
            if kind == "function_call" and not isinstance(json.loads(item["arguments"]), dict):
                found.append(f"{where}: arguments that are no object")
            # A call with its id asks for the reasoning item that was issued with it: fc_7 came with rs_7.
            needed = str(item.get("id", "")).replace("fc_", "rs_")
            if issued is not None and any(needed == name for name, _ in issued) and needed not in reasoning:
                found.append(f"{where}: a call without its reasoning item")
        elif kind.removesuffix("_output") in _CLIENT_CALLS:
            if calls.get(item["call_id"], "") != kind.removesuffix("_output"):
                found.append(f"{where}: answers no open call of its kind")
            calls[item["call_id"]] = ""
            expected = _OUTPUTS.get(kind, str | list)
            if not isinstance(item.get("output"), expected):
                found.append(f"{where}: output is {type(item.get('output')).__name__}")
        elif kind == "message":
            content = item.get("content")
            if any(calls.values()):
                found.append(f"{where}: a message while calls are unanswered")
            if isinstance(content, str):
                if not content:
                    found.append(f"{where}: empty text")
            elif not content:
                found.append(f"{where}: no content")
            else:
                kinds = {"output_text", "refusal"} if item["role"] == "assistant" else {
                    "input_text", "input_image", "input_file"
                }  # fmt: skip
                found += [f"{where}: {part['type']} of {item['role']}" for part in content if part["type"] not in kinds]
                found += [
                    f"{where}: empty text" for part in content if part["type"].endswith("_text") and not part["text"]
                ]
        elif kind not in _SERVER_ITEMS:
            found.append(f"{where}: item of type {kind}")
    found += [f"call without a result: {name}" for name, waiting in calls.items() if waiting]
    return found


def _keys(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        return set(value).union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()


def texts(value: Any) -> Iterator[str]:
    """Yield every text of a body: what a provider counts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in {"cache_control", "signature", "encrypted_content"}:
                yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def wire(body: Body) -> str:
    """Return the part of a body that a prompt cache sees, in its order: tools, system, messages."""
    parts = [
        body.get("tools", []),
        body.get("system", body.get("instructions", "")),
        *body.get("messages", body.get("input")),
    ]
    return "\n".join(json.dumps(_bare(part), ensure_ascii=False) for part in parts)


def _bare(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _bare(item) for key, item in value.items() if key != "cache_control"}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def common_prefix(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
