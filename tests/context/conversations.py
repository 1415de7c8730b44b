"""Conversations for tests: a seeded generator, and a validator of the Messages API's rules."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

WORDS = "cache widget harbor daemon handler index velvet window pocket mirror 漢字 кедр 🧩 naïve ledger orchard".split()
KNOWN = {"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document"}


_TEXT = " ".join(random.Random(1).choice(WORDS) + ("\n" if i % 9 == 8 else "") for i in range(4000))


def words(chance: random.Random, most: int) -> str:
    """Return a text of up to so many words, with nothing white at its ends."""
    start = chance.randrange(len(_TEXT) // 2)
    return "x" + _TEXT[start : start + int(6 * most * chance.random() ** 2)] + "."


def conversation(chance: random.Random) -> list[dict[str, Any]]:
    """Return a valid conversation: turns with loops of calls, thinking, parallel calls, errors, images."""
    messages: list[dict[str, Any]] = []
    calls = 0
    turns = chance.choice((1, 1, 2, 3, 4, 6, 9))
    for turn in range(turns):
        task = words(chance, 60)
        content: Any = task if chance.random() < 0.6 else [{"type": "text", "text": task}]
        if chance.random() < 0.05 and isinstance(content, list):
            content.append(
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}}
            )
        messages.append({"role": "user", "content": content})
        for _ in range(chance.choice((0, 1, 1, 2, 3, 14) if chance.random() < 0.3 else (0, 1, 2))):
            blocks: list[dict[str, Any]] = []
            if chance.random() < 0.5:
                blocks.append({"type": "thinking", "thinking": words(chance, 120), "signature": "c2ln"})
            elif chance.random() < 0.1:
                blocks.append({"type": "redacted_thinking", "data": "QUJD" * chance.randrange(1, 60)})
            if chance.random() < 0.4:
                blocks.append({"type": "text", "text": words(chance, 300 if chance.random() < 0.2 else 30)})
            results: list[dict[str, Any]] = []
            for _ in range(chance.choice((1, 1, 1, 2, 3))):
                calls += 1
                name = chance.choice(("Bash", "write_file", "Read", "mcp__srv__edit_file"))
                value = {"file_path": f"src/f{calls % 7}.py", "content": words(chance, 200)}
                if name == "Bash":
                    value = {"command": f"make part{calls % 5} && " + words(chance, 10)}
                blocks.append({"type": "tool_use", "id": f"t{calls}", "name": name, "input": value})
                output: Any = words(chance, 500)
                if chance.random() < 0.2:
                    output = [{"type": "text", "text": output}]
                    if chance.random() < 0.3:
                        output.append({"type": "image", "source": {"type": "url", "url": "file.png"}})
                result = {"type": "tool_result", "tool_use_id": f"t{calls}", "content": output}
                if chance.random() < 0.15:
                    result["is_error"] = True
                if chance.random() < 0.05:
                    result["cache_control"] = {"type": "ephemeral"}
                results.append(result)
            messages.append({"role": "assistant", "content": blocks})
            chance.shuffle(results)
            if chance.random() < 0.1:
                results.append({"type": "text", "text": "also: " + words(chance, 10)})
            messages.append({"role": "user", "content": results})
        if turn + 1 < turns or chance.random() < 0.5:
            last: Any = words(chance, 80)
            if chance.random() < 0.3:
                last = [{"type": "thinking", "thinking": words(chance, 80), "signature": "c2ln"}]
                if chance.random() < 0.7:
                    last.append({"type": "text", "text": words(chance, 80)})
            messages.append({"role": "assistant", "content": last})
    return messages


def problems(messages: Sequence[Mapping[str, Any]], original: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """Return what the Messages API would refuse, taken strictly; with the original, which thinking was altered."""
    found: list[str] = []
    if not messages:
        return ["no messages"]
    if messages[0]["role"] != "user":
        found.append("the first message is not the user's")
    open_calls: set[str] = set()
    seen: set[str] = set()
    signed = {
        (block.get("thinking"), block.get("signature"), block.get("data"))
        for message in original
        if isinstance(message["content"], list)
        for block in message["content"]
        if "thinking" in block["type"]
    }
    for index, message in enumerate(messages):
        where = f"message {index}"
        if set(message) != {"role", "content"}:
            found.append(f"{where}: keys {sorted(message)}")
        role, content = message["role"], message["content"]
        if index and messages[index - 1]["role"] == role:
            found.append(f"{where}: {role} twice in a row")
        if role not in {"user", "assistant"}:
            found.append(f"{where}: role {role}")
        if isinstance(content, str):
            if not content.strip():
                found.append(f"{where}: empty text")
            blocks: list[dict[str, Any]] = []
        elif isinstance(content, list):
            blocks = content
            if not blocks:
                found.append(f"{where}: no blocks")
        else:
            found.append(f"{where}: content is {type(content).__name__}")
            continue
        results = [block for block in blocks if block["type"] == "tool_result"]
        answered = [block["tool_use_id"] for block in results]
        if open_calls != set(answered) or len(answered) != len(set(answered)):
            found.append(f"{where}: calls {sorted(open_calls)} answered by {sorted(answered)}")
        if results and any(block["type"] == "tool_result" for block in blocks[len(results) :]):
            found.append(f"{where}: results do not come first")
        open_calls = set()
        thinking_over = False
        for block in blocks:
            kind = block["type"]
            if kind not in KNOWN:
                found.append(f"{where}: a block of kind {kind}")
            if kind == "text" and not block["text"].strip():
                found.append(f"{where}: an empty text block")
            if kind in {"tool_use", "thinking", "redacted_thinking"} and role != "assistant":
                found.append(f"{where}: {kind} of the user's")
            if kind == "tool_result" and role != "user":
                found.append(f"{where}: a result of the assistant's")
            if kind == "tool_use":
                if not isinstance(block["input"], dict) or block["id"] in seen:
                    found.append(f"{where}: a bad call")
                open_calls.add(block["id"])
                seen.add(block["id"])
            if "thinking" in kind:
                if thinking_over:
                    found.append(f"{where}: thinking after other blocks")
                if original and (block.get("thinking"), block.get("signature"), block.get("data")) not in signed:
                    found.append(f"{where}: altered thinking")
            else:
                thinking_over = True
    if open_calls and messages[-1]["role"] != "assistant":
        found.append(f"calls without results: {sorted(open_calls)}")
    return found


def current_thinking(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the thinking of the open turn: all of it must be sent back."""
    begins = 0
    for index, message in enumerate(messages):
        content = message["content"]
        if message["role"] == "user" and (
            isinstance(content, str) or not any(block["type"] == "tool_result" for block in content)
        ):
            begins = index
    return [
        block
        for message in messages[begins:]
        if isinstance(message["content"], list)
        for block in message["content"]
        if "thinking" in block["type"]
    ]
