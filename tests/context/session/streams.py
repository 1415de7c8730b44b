"""The events in which the three APIs stream an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Event = tuple[str, dict[str, Any]]
_PIECES = 5


def events(kind: str, answer: dict[str, Any]) -> bytes:
    """Return an answer as server-sent events; `kind` is the last part of the path that was asked."""
    of_kind = {"messages": _messages, "completions": _chat, "responses": _responses}[kind]
    lines: list[str] = []
    for name, data in of_kind(answer):
        lines += [f"event: {name}\n"] if name else []
        lines.append(f"data: {json.dumps(data)}\n\n")
    return ("".join(lines) + ("data: [DONE]\n\n" if kind == "completions" else "")).encode()


def _pieces(text: str) -> list[str]:
    size = max(1, -(-len(text) // _PIECES))
    return [text[at : at + size] for at in range(0, len(text), size)]


def _messages(answer: dict[str, Any]) -> Iterator[Event]:
    usage = answer["usage"]
    begun = {**answer, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": begun}
    yield "ping", {"type": "ping"}
    for at, block in enumerate(answer["content"]):
        kind = block["type"]
        empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}[kind]
        yield "content_block_start", {"type": "content_block_start", "index": at, "content_block": {**block, **empty}}
        if kind == "tool_use":
            deltas = [
                {"type": "input_json_delta", "partial_json": part} for part in _pieces(json.dumps(block["input"]))
            ]
        else:
            deltas = [{"type": f"{kind}_delta", kind: part} for part in _pieces(block[kind])]
        if kind == "thinking":
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": at, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": at}
    end = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    output = {"output_tokens": usage["output_tokens"]}
    yield "message_delta", {"type": "message_delta", "delta": end, "usage": output}
    yield "message_stop", {"type": "message_stop"}


def _chat(answer: dict[str, Any]) -> Iterator[Event]:
    common = {key: answer[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    choice = answer["choices"][0]
    message = choice["message"]

    def chunk(delta: dict[str, Any], finish: str | None = None) -> Event:
        return "", {**common, "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]}

    yield chunk({"role": "assistant", "content": "" if message["content"] else None})
    for part in _pieces(message["content"] or ""):
        yield chunk({"content": part})
    for at, call in enumerate(message.get("tool_calls", [])):
        function = call["function"]
        begun = {"index": at, **call, "function": {"name": function["name"], "arguments": ""}}
        yield chunk({"tool_calls": [begun]})
        for part in _pieces(function["arguments"]):
            yield chunk({"tool_calls": [{"index": at, "function": {"arguments": part}}]})
    yield chunk({}, choice["finish_reason"])
    if "usage" in answer:
        yield "", {**common, "choices": [], "usage": answer["usage"]}


def _responses(answer: dict[str, Any]) -> Iterator[Event]:
    number = -1

    def event(name: str, /, **fields: Any) -> Event:
        nonlocal number
        number += 1
        return name, {"type": name, "sequence_number": number, **fields}

    begun = {**answer, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    yield event("response.in_progress", response=begun)
    for at, item in enumerate(answer["output"]):
        of = {"item_id": item["id"], "output_index": at}
        empty: dict[str, Any] = {"message": {"content": []}, "function_call": {"arguments": ""}}.get(item["type"], {})
        yield event("response.output_item.added", output_index=at, item={**item, **empty})
        if item["type"] == "function_call":
            for part in _pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", **of, delta=part)
            yield event("response.function_call_arguments.done", **of, name=item["name"], arguments=item["arguments"])
        elif item["type"] == "message":
            part = item["content"][0]
            of["content_index"] = 0
            yield event("response.content_part.added", **of, part={**part, "text": ""})
            for text in _pieces(part["text"]):
                yield event("response.output_text.delta", **of, delta=text, logprobs=[])
            yield event("response.output_text.done", **of, text=part["text"], logprobs=[])
            yield event("response.content_part.done", **of, part=part)
        yield event("response.output_item.done", output_index=at, item=item)
    yield event("response.completed", response=answer)
