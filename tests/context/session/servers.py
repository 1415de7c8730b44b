"""A local server that speaks the three APIs: it answers out of a script, and keeps what it would have refused."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.context.session import rules
from tests.context.session.streams import events


@dataclass
class Log:
    """What a session did, as its provider saw it.

    `tokens`, `shares` and `costs` have one entry for each request: its size, the share of it that is byte-equal to the
    beginning of the request before, and what it cost with the cache over what it would have cost without.
    """

    window: int
    max_output: int
    problems: list[str] = field(default_factory=list)
    too_long: int = 0
    tokens: list[int] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Mean byte-equal share over all requests but the first."""
        return sum(self.shares[1:]) / max(1, len(self.shares) - 1)

    @property
    def cost(self) -> float:
        """What all requests cost, over what they would have cost without a cache."""
        return sum(self.costs) / max(1, sum(self.tokens))


class Provider:
    """Answers requests: `answer` is given the blocks of each answer, in the shape of the Messages API, before it."""

    def __init__(self, window: int, max_output: int, *, usage: bool = True, chars_per_token: float = 3.4) -> None:
        self.log = Log(window, max_output)
        self.next: list[dict[str, Any]] = []
        self.signed: set[tuple[str, str]] = set()
        self.issued: set[tuple[str, str]] = set()
        self._usage = usage
        self._chars = chars_per_token
        self._before = ""
        self._answers = 0

    def count(self, body: dict[str, Any]) -> int:
        """Return the tokens of a request by this provider's own vocabulary."""
        size = sum(len(text.encode("utf-8")) for text in rules.texts(body))
        return int(size / self._chars) + 6 * len(body.get("messages", body.get("input", ())))

    def take(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        log = self.log
        kind = path.rstrip("/").rpartition("/")[2]
        if kind == "messages":
            found = rules.anthropic_problems(body, self.signed)
        elif kind == "completions":
            found = rules.chat_problems(body)
        else:
            found = rules.responses_problems(body, self.issued)
        log.problems += [f"request {len(log.tokens)}: {one}" for one in found]
        tokens = self.count(body)
        wire = rules.wire(body)
        common = rules.common_prefix(self._before, wire)
        share = common / len(wire)
        cached = int(tokens * share) if share * tokens >= 1024 else 0
        write = 1.25 if kind == "messages" else 1.0
        log.too_long += tokens + log.max_output > log.window
        log.tokens.append(tokens)
        log.shares.append(share)
        log.costs.append(0.1 * cached + write * (tokens - cached))
        log.bodies.append(body)
        del log.bodies[:-3]
        self._before = wire
        self._answers += 1
        blocks = self.next
        output = max(1, int(sum(len(text) for text in rules.texts(blocks)) / self._chars))
        if kind == "messages":
            self.signed |= {(b["thinking"], b["signature"]) for b in blocks if b["type"] == "thinking"}
            return self._anthropic(blocks, tokens, cached, output)
        if kind == "completions":
            return self._chat(blocks, tokens, cached, output)
        return self._responses(blocks, tokens, cached, output)

    def _anthropic(self, blocks: list[dict[str, Any]], tokens: int, cached: int, output: int) -> dict[str, Any]:
        calls = any(b["type"] == "tool_use" for b in blocks)
        usage = {
            "input_tokens": 3,
            "cache_creation_input_tokens": tokens - cached - 3,
            "cache_read_input_tokens": cached,
            "output_tokens": output,
        }
        return {
            "id": f"msg_{self._answers}",
            "type": "message",
            "role": "assistant",
            "model": "local",
            "content": blocks,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": usage if self._usage else {"input_tokens": 0, "output_tokens": 0},
        }

    def _chat(self, blocks: list[dict[str, Any]], tokens: int, cached: int, output: int) -> dict[str, Any]:
        texts = [b["text"] for b in blocks if b["type"] == "text"]
        calls = [
            {
                "id": b["id"],
                "type": "function",
                "function": {"name": b["name"], "arguments": json.dumps(b["input"])},
            }
            for b in blocks
            if b["type"] == "tool_use"
        ]
        message: dict[str, Any] = {"role": "assistant", "content": "\n".join(texts) or None, "refusal": None}
        answer: dict[str, Any] = {
            "id": f"chatcmpl-{self._answers}",
            "object": "chat.completion",
            "created": 1,
            "model": "local",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls" if calls else "stop",
                    "logprobs": None,
                    "message": message | ({"tool_calls": calls} if calls else {}),
                }
            ],
        }
        if self._usage:
            answer["usage"] = {
                "prompt_tokens": tokens,
                "completion_tokens": output,
                "total_tokens": tokens + output,
                "prompt_tokens_details": {"cached_tokens": cached},
            }
        return answer

    def _responses(self, blocks: list[dict[str, Any]], tokens: int, cached: int, output: int) -> dict[str, Any]:
        items: list[dict[str, Any]] = []
        for index, b in enumerate(blocks):
            name = f"{self._answers}x{index}"
            if b["type"] == "thinking":
                # A call is issued with the reasoning before it and asks for it by its number.
                name = f"{self._answers}x{index + 1}"
                items.append(
                    {
                        "type": "reasoning",
                        "id": f"rs_{name}",
                        "summary": [{"type": "summary_text", "text": b["thinking"]}],
                        "encrypted_content": f"enc{name}",
                    }
                )
                self.issued.add((f"rs_{name}", f"enc{name}"))
            elif b["type"] == "text":
                part = {"type": "output_text", "text": b["text"], "annotations": []}
                items.append(
                    {
                        "type": "message",
                        "id": f"msg_{name}",
                        "role": "assistant",
                        "status": "completed",
                        "content": [part],
                    }
                )
            else:
                items.append(
                    {
                        "type": "function_call",
                        "id": f"fc_{name}",
                        "call_id": b["id"],
                        "name": b["name"],
                        "arguments": json.dumps(b["input"]),
                        "status": "completed",
                    }
                )
        answer: dict[str, Any] = {
            "id": f"resp_{self._answers}",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "local",
            "output": items,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
        if self._usage:
            answer["usage"] = {
                "input_tokens": tokens,
                "input_tokens_details": {"cached_tokens": cached},
                "output_tokens": output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": tokens + output,
            }
        return answer


@contextmanager
def served(provider: Provider) -> Iterator[str]:
    """Serve a provider on the loopback while the block runs; give its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            path = self.path.partition("?")[0].rstrip("/")
            answer = provider.take(path, body)
            streamed = body.get("stream", False)
            data = events(path.rpartition("/")[2], answer) if streamed else json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream" if streamed else "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
