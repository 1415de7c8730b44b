"""A model server that follows a script, in the four wire protocols that agent hosts speak."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Document = dict[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """One call that the model makes.

    Attributes
    ----------
    names
        Names of the tool; the first one that the host offers is taken.
    arguments
        Its parameters; a text `<agent>` or `<session>` in them stands for what an earlier result named.
    text
        The input of a free-form tool, which has no parameters.
    """

    names: tuple[str, ...]
    arguments: Document
    text: str | None = None


@dataclass(frozen=True)
class Script:
    """The turns of the conversations in which `cue` is among the words of the user."""

    turns: Sequence[ToolCall | str]
    cue: str = ""


@dataclass
class Request:
    """One request for a completion, in the same terms for every protocol."""

    path: str
    body: Document
    tools: list[str] = field(default_factory=list)
    prompts: str = ""
    results: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return json.dumps(self.body, ensure_ascii=False)


class ModelServer:
    """Serves on a free port of 127.0.0.1 until it is closed; which turn is due is counted by the results in a request."""

    def __init__(self, scripts: Sequence[Script]) -> None:
        self.requests: list[Request] = []
        self._scripts = scripts
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                pass

            def do_GET(self) -> None:
                models = [{"id": "mock-model", "object": "model", "created": 0, "owned_by": "nobody"}]
                _send(self, {"object": "list", "data": models, "models": []} if "/models" in self.path else {})

            def do_POST(self) -> None:
                try:
                    body: Any = json.loads(_body(self) or b"{}")
                except ValueError:
                    body = {}
                owner._answer(self, body if isinstance(body, dict) else {})

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def turns(self) -> list[Request]:
        """The requests that offer tools: titles and summaries do not."""
        return [one for one in self.requests if one.tools]

    @property
    def results(self) -> list[str]:
        """What came back for the calls of the longest conversation."""
        return max((one.results for one in self.turns), key=len, default=[])

    def _answer(self, http: BaseHTTPRequestHandler, body: Document) -> None:
        request = Request(http.path, body)
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        if "ountTokens" in http.path or "count_tokens" in http.path:
            return _send(http, {"input_tokens": 100, "totalTokens": 100})
        for mark, read, write in (
            ("/messages", read_messages, write_messages),
            ("/responses", read_responses, write_responses),
            ("/chat/completions", read_chat, write_chat),
            ("enerateContent", read_gemini, write_gemini),
        ):
            if mark in http.path:
                read(request)
                return write(http, request, self._turn(request), number)
        return _send(http, {})

    def _turn(self, request: Request) -> ToolCall | str:
        if not request.tools:
            return "a title"
        script = next((one for one in self._scripts if one.cue in request.prompts), None)
        if script is None or len(request.results) >= len(script.turns):
            return "done"
        turn = script.turns[len(request.results)]
        if isinstance(turn, str):
            return turn
        name = next((one for one in turn.names if one in request.tools), None)
        if name is None:
            return f"there is no tool {turn.names} among {request.tools}"
        earlier = "\n".join(request.results)
        agent, session = re.search(r'"agent_id":\s*"([^"]+)"', earlier), re.search(r"session ID (\d+)", earlier)
        given = json.dumps(turn.arguments).replace("<agent>", agent[1] if agent else "none")
        given = given.replace('"<session>"', session[1] if session else "0")
        return ToolCall((name,), json.loads(given), turn.text)


def texts(value: Any) -> str:
    """Return every text below a value, one after the other."""
    if isinstance(value, str):
        return value
    parts: Iterable[Any] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "\n".join(filter(None, map(texts, parts)))


# -- Anthropic Messages -------------------------------------------------------------------------------------------------


def read_messages(request: Request) -> None:
    request.tools = [one.get("name", "") for one in request.body.get("tools") or []]
    for message in request.body.get("messages", []):
        content = message.get("content")
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if message.get("role") == "user" and block.get("type") == "tool_result":
                request.results.append(texts(block.get("content")))
            elif message.get("role") == "user":
                request.prompts += texts(block.get("text")) + "\n"


def write_messages(http: BaseHTTPRequestHandler, request: Request, turn: ToolCall | str, number: int) -> None:
    if isinstance(turn, str):
        block: Document = {"type": "text", "text": turn}
        opened, delta = {**block, "text": ""}, {"type": "text_delta", "text": turn}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number:020d}", "name": turn.names[0], "input": turn.arguments}
        opened, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
    reason = "end_turn" if isinstance(turn, str) else "tool_use"
    message: Document = {
        "id": f"msg_{number:020d}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model"),
        "content": [block],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 9},
    }
    if not request.body.get("stream"):
        return _send(http, message)
    events: list[Document] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 9},
        },
        {"type": "message_stop"},
    ]
    return _stream(http, events, named=True)


# -- OpenAI Responses ---------------------------------------------------------------------------------------------------


def read_responses(request: Request) -> None:
    for tool in request.body.get("tools") or []:
        request.tools.append(tool.get("name") or tool.get("type", ""))
        request.tools += [one.get("name", "") for one in tool.get("tools") or []]  # of a namespace
    given = request.body.get("input")
    for item in given if isinstance(given, list) else [{"role": "user", "content": given}]:
        if item.get("role") == "user":
            request.prompts += texts(item.get("content")) + "\n"
        elif str(item.get("type", "")).endswith("_call_output"):
            request.results.append(texts(item.get("output")))


def write_responses(http: BaseHTTPRequestHandler, request: Request, turn: ToolCall | str, number: int) -> None:
    if isinstance(turn, str):
        content = [{"type": "output_text", "text": turn, "annotations": []}]
        item: Document = {
            "type": "message",
            "id": f"msg_{number}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }
    elif turn.text is not None:
        item = {
            "type": "custom_tool_call",
            "id": f"c_{number}",
            "call_id": f"call_{number}",
            "name": turn.names[0],
            "input": turn.text,
        }
    else:
        item = {
            "type": "function_call",
            "id": f"f_{number}",
            "call_id": f"call_{number}",
            "name": turn.names[0],
            "arguments": json.dumps(turn.arguments),
            "status": "completed",
        }
        for tool in request.body.get("tools") or []:
            if any(one.get("name") == turn.names[0] for one in tool.get("tools") or []):
                item["namespace"] = tool.get("name")
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 18,
    }
    response: Document = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 0,
        "model": request.body.get("model"),
        "status": "completed",
        "output": [item],
        "usage": usage,
        "error": None,
    }
    if not request.body.get("stream"):
        return _send(http, response)
    events: list[Document] = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]
    return _stream(http, events, named=True)


# -- OpenAI Chat --------------------------------------------------------------------------------------------------------


def read_chat(request: Request) -> None:
    request.tools = [(one.get("function") or one).get("name", "") for one in request.body.get("tools") or []]
    for message in request.body.get("messages", []):
        if message.get("role") == "user":
            request.prompts += texts(message.get("content")) + "\n"
        elif message.get("role") == "tool":
            request.results.append(texts(message.get("content")))


def write_chat(http: BaseHTTPRequestHandler, request: Request, turn: ToolCall | str, number: int) -> None:
    if isinstance(turn, str):
        message: Document = {"role": "assistant", "content": turn}
    else:
        function = {"name": turn.names[0], "arguments": json.dumps(turn.arguments)}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    reason = "stop" if isinstance(turn, str) else "tool_calls"
    head = {"id": f"chat_{number}", "created": 0, "model": request.body.get("model", "mock-model")}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    if not request.body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return _send(http, {**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    head["object"] = "chat.completion.chunk"
    events: list[Document] = [
        {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**head, "choices": [], "usage": usage},
    ]
    return _stream(http, events, end="data: [DONE]\n\n")


# -- Gemini -------------------------------------------------------------------------------------------------------------


def read_gemini(request: Request) -> None:
    for tool in request.body.get("tools") or []:
        request.tools += [one.get("name", "") for one in tool.get("functionDeclarations") or []]
    for content in request.body.get("contents", []):
        for part in content.get("parts", []) if content.get("role") == "user" else []:
            if "functionResponse" in part:
                request.results.append(texts(part["functionResponse"].get("response")))
            else:
                request.prompts += texts(part.get("text")) + "\n"


def write_gemini(http: BaseHTTPRequestHandler, request: Request, turn: ToolCall | str, number: int) -> None:
    if isinstance(turn, str):
        wants_json = (request.body.get("generationConfig") or {}).get("responseMimeType") == "application/json"
        part: Document = {"text": "{}" if wants_json else turn}
    else:
        part = {"functionCall": {"name": turn.names[0], "args": turn.arguments, "id": f"call_{number}"}}
    reply: Document = {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18},
        "modelVersion": "mock",
    }
    return _stream(http, [reply]) if "streamGenerateContent" in request.path else _send(http, reply)


# -- HTTP ---------------------------------------------------------------------------------------------------------------


def _body(http: BaseHTTPRequestHandler) -> bytes:
    if http.headers.get("Transfer-Encoding", "").lower() == "chunked":
        data = b""
        while size := int(http.rfile.readline().split(b";")[0] or b"0", 16):
            data += http.rfile.read(size)
            http.rfile.readline()
        http.rfile.readline()
    else:
        data = http.rfile.read(int(http.headers.get("Content-Length") or 0))
    return gzip.decompress(data) if http.headers.get("Content-Encoding") == "gzip" else data


def _send(http: BaseHTTPRequestHandler, document: Document) -> None:
    _reply(http, "application/json", json.dumps(document).encode())


def _stream(http: BaseHTTPRequestHandler, events: Sequence[Document], *, named: bool = False, end: str = "") -> None:
    text = "".join((f"event: {one['type']}\n" if named else "") + f"data: {json.dumps(one)}\n\n" for one in events)
    _reply(http, "text/event-stream", (text + end).encode())


def _reply(http: BaseHTTPRequestHandler, kind: str, data: bytes) -> None:
    http.send_response(200)
    http.send_header("Content-Type", kind)
    http.send_header("Content-Length", str(len(data)))
    http.end_headers()
    http.wfile.write(data)
