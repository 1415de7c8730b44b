"""JSON-RPC 2.0 (https://www.jsonrpc.org/specification): from the bytes of a request to the bytes of its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import msgspec

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

_MAX_BATCH: Final = 1_000


class RpcError(Exception):
    """What a method raises to answer with an error.

    Parameters
    ----------
    code
        One of the specification's, or one from -32099 to -32000.
    message
        One sentence.
    data
        JSON-ready, or None for no such member.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Method(NamedTuple):
    """A method: its name, the names of its parameters in their order, and what it does with them by name."""

    name: str
    parameters: tuple[str, ...]
    call: Callable[[dict[str, Any]], Any]


class Dispatcher:
    """Answers requests, notifications and batches.

    Parameters
    ----------
    methods
        What can be called. Names that begin with ``rpc.`` are the specification's own.
    """

    def __init__(self, methods: Iterable[Method]) -> None:
        self._methods = {method.name: method for method in methods}

    def answer(self, message: bytes) -> bytes | None:
        """Return the answer to a message, one line of UTF-8 JSON without its newline; None where none is due."""
        try:
            # msgspec is strict about what JSON is and knows no NaN; deep nesting is an error, not a crash.
            request: Any = msgspec.json.decode(message)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _encoded(_failure(None, PARSE_ERROR, "Parse error"))
        if not isinstance(request, list):
            return self._one(request)
        batch: list[Any] = request
        if not 0 < len(batch) <= _MAX_BATCH:
            reason = "an empty batch" if not batch else f"a batch of more than {_MAX_BATCH}"
            return _encoded(_failure(None, INVALID_REQUEST, "Invalid Request", reason))
        answers = [answer for answer in map(self._one, batch) if answer is not None]
        return b"[" + b",".join(answers) + b"]" if answers else None

    def _one(self, request: Any) -> bytes | None:
        if not isinstance(request, dict):
            return _encoded(_failure(None, INVALID_REQUEST, "Invalid Request", "expected an object"))
        members: dict[str, Any] = request
        request_id = members.get("id")
        if isinstance(request_id, bool) or not isinstance(request_id, (str, int, float, type(None))):
            return _encoded(_failure(None, INVALID_REQUEST, "Invalid Request", "id: expected text, a number or null"))
        wrong = _wrong_with(members)
        if wrong:
            return _encoded(_failure(request_id, INVALID_REQUEST, "Invalid Request", wrong))
        try:
            result = self._call(members["method"], members.get("params", {}))
            answer = _encoded({"jsonrpc": "2.0", "result": result, "id": request_id})
        except RpcError as error:
            answer = _encoded(_failure(request_id, error.code, error.message, error.data))
        except Exception as error:  # noqa: BLE001 - whatever a method does, the caller gets an answer
            answer = _encoded(_failure(request_id, INTERNAL_ERROR, "Internal error", type(error).__name__))
        # A notification is never answered, not even with an error.
        return answer if "id" in members else None

    def _call(self, name: str, params: dict[str, Any] | list[Any]) -> Any:
        method = self._methods.get(name)
        if method is None:
            raise RpcError(METHOD_NOT_FOUND, "Method not found", name)
        if isinstance(params, list):
            if len(params) > len(method.parameters):
                raise RpcError(INVALID_PARAMS, "Invalid params", f"expected at most {len(method.parameters)}")
            params = dict(zip(method.parameters, params, strict=False))
        unknown = sorted(set(params) - set(method.parameters))
        if unknown:
            raise RpcError(INVALID_PARAMS, "Invalid params", f"unknown: {', '.join(unknown)}")
        return method.call(params)


def _wrong_with(members: dict[str, Any]) -> str:
    if members.get("jsonrpc") != "2.0":
        return 'jsonrpc: expected "2.0"'
    if not isinstance(members.get("method"), str):
        return "method: expected text"
    if not isinstance(members.get("params", {}), (dict, list)):
        return "params: expected an object or an array"
    return ""


def _failure(request_id: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return {"jsonrpc": "2.0", "error": error, "id": request_id}


def _encoded(answer: Any) -> bytes:
    return json.dumps(answer, ensure_ascii=True, separators=(",", ":")).encode("ascii")
