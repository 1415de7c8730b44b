"""A model server on the loopback that follows a script, for real agent programs: Anthropic Messages, OpenAI Responses,
Gemini. A script is a list of turns: ``{"name": ..., "args": ...}`` calls a tool, a text ends the conversation, an
integer is answered as that HTTP status. The turn follows from how many tool results a request holds.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Turn = dict[str, Any] | str | int


@contextlib.contextmanager
def model_server(script: list[Turn], seen: list[dict[str, Any]] | None = None) -> Iterator[str]:
    """Serve a script and yield the URL; the requests are appended to `seen`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            self.reply({"data": [], "models": []})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            path = self.path.partition("?")[0]
            if seen is not None and path.endswith("/messages"):
                seen.append(body)
            if path.endswith("/messages"):
                self.anthropic(body)
            elif path.endswith("/responses"):
                self.openai(body)
            elif "generateContent" in path or "GenerateContent" in path:
                self.gemini(body, streams="stream" in path)
            else:
                self.reply({"input_tokens": 1, "totalTokens": 1})

        def turn(self, results: int, *, has_tools: bool) -> Turn:
            if not has_tools and not isinstance(script[0], int):
                return "{}"  # a question beside the conversation: its title, for example
            return script[min(results, len(script) - 1)]

        def anthropic(self, body: dict[str, Any]) -> None:
            blocks = [block for message in body["messages"] if isinstance(message["content"], list)
                      for block in message["content"]]  # fmt: skip
            turn = self.turn(sum(one["type"] == "tool_result" for one in blocks), has_tools=bool(body.get("tools")))
            if isinstance(turn, int):
                self.reply({"type": "error", "error": {"type": "invalid_request_error", "message": "refused"}}, turn)
                return
            if isinstance(turn, str):
                empty, block, why = {"type": "text", "text": ""}, {"type": "text", "text": turn}, "end_turn"
                delta = {"type": "text_delta", "text": turn}
            else:
                empty = {"type": "tool_use", "id": f"toolu_{len(blocks)}", "name": turn["name"], "input": {}}
                block, why = {**empty, "input": turn["args"]}, "tool_use"
                delta = {"type": "input_json_delta", "partial_json": json.dumps(turn["args"])}
            usage = {
                "input_tokens": 100,
                "output_tokens": 10,
                "cache_read_input_tokens": 7,
                "cache_creation_input_tokens": 0,
            }
            message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "usage": usage,
                       "content": [block], "stop_reason": why, "stop_sequence": None}  # fmt: skip
            if not body.get("stream"):
                self.reply(message)
                return
            self.stream([
                {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
                {"type": "content_block_start", "index": 0, "content_block": empty},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": {"output_tokens": 10}},
                {"type": "message_stop"},
            ])  # fmt: skip

        def openai(self, body: dict[str, Any]) -> None:
            given = body["input"] if isinstance(body["input"], list) else []
            done = sum(str(one.get("type", "")).endswith("_call_output") for one in given)
            turn = self.turn(done, has_tools=bool(body.get("tools")))
            if isinstance(turn, int):
                self.reply({"error": {"message": "refused", "type": "invalid_request_error"}}, turn)
                return
            if isinstance(turn, str):
                text = {"type": "output_text", "text": turn, "annotations": []}
                item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [text]}
            elif isinstance(turn["args"], str):
                item = {"type": "custom_tool_call", "id": f"c{done}", "call_id": f"call{done}", "name": turn["name"],
                        "input": turn["args"]}  # fmt: skip
            else:
                item = {"type": "function_call", "id": f"c{done}", "call_id": f"call{done}", "name": turn["name"],
                        "arguments": json.dumps(turn["args"]), "status": "completed"}  # fmt: skip
            usage = {"input_tokens": 107, "input_tokens_details": {"cached_tokens": 7}, "output_tokens": 10,
                     "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 117}  # fmt: skip
            response = {"id": f"resp_{done}", "object": "response", "created_at": 0, "model": body["model"],
                        "status": "completed", "output": [item], "usage": usage, "error": None}  # fmt: skip
            begun = {**response, "status": "in_progress", "output": []}
            self.stream([
                {"type": "response.created", "response": begun},
                {"type": "response.output_item.added", "output_index": 0, "item": item},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": response},
            ])  # fmt: skip

        def gemini(self, body: dict[str, Any], *, streams: bool) -> None:
            parts = [part for content in body["contents"] for part in content.get("parts", ())]
            done = sum("functionResponse" in part for part in parts)
            turn = self.turn(done, has_tools=bool(body.get("tools")))
            if isinstance(turn, int):
                self.reply({"error": {"code": turn, "message": "refused", "status": "INVALID_ARGUMENT"}}, turn)
                return
            part = {"text": turn} if isinstance(turn, str) else {"functionCall": {**turn, "id": f"call{done}"}}
            usage = {
                "promptTokenCount": 107,
                "cachedContentTokenCount": 7,
                "candidatesTokenCount": 10,
                "totalTokenCount": 117,
            }
            content = {"role": "model", "parts": [part]}
            reply = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
            if streams:
                self.stream([reply])
            else:
                self.reply(reply)

        def stream(self, events: list[dict[str, Any]]) -> None:
            named = (f"event: {one['type']}\n" if "type" in one else "" for one in events)
            text = "".join(f"{name}data: {json.dumps(one)}\n\n" for name, one in zip(named, events, strict=True))
            self.answer(text.encode(), "text/event-stream")

        def reply(self, document: dict[str, Any], status: int = 200) -> None:
            self.answer(json.dumps(document).encode(), "application/json", status)

        def answer(self, data: bytes, kind: str, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
