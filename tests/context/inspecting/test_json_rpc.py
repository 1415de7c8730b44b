"""The examples of the specification, and what it says beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tipstaff.context.inspecting.json_rpc import Dispatcher, Method, RpcError

CALLS: list[dict[str, Any]] = []


def subtract(params: dict[str, Any]) -> Any:
    return params["minuend"] - params["subtrahend"]


def update(params: dict[str, Any]) -> None:
    CALLS.append(params)


def refuse(params: dict[str, Any]) -> None:
    raise RpcError(-32050, "no", {"why": params})


DISPATCHER = Dispatcher(
    (
        Method("subtract", ("minuend", "subtrahend"), subtract),
        Method("update", ("a", "b", "c", "d", "e"), update),
        Method("get_data", (), lambda _: ["hello", 5]),
        Method("refuse", ("x",), refuse),
        Method("break", (), lambda _: 1 / 0),
        Method("unsayable", (), lambda _: object()),
        Method("half", (), lambda _: "\ud800"),
    )
)


def answer(message: str | bytes) -> Any:
    found = DISPATCHER.answer(message if isinstance(message, bytes) else message.encode())
    if found is None:
        return None
    assert b"\n" not in found
    return json.loads(found)


def error(code: int, message: str, request_id: object = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": request_id}


def without_data(found: Any) -> Any:
    if isinstance(found, list):
        return [without_data(item) for item in found]
    if "error" in found:
        found["error"].pop("data", None)
    return found


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ('{"jsonrpc":"2.0","method":"subtract","params":[42,23],"id":1}', {"jsonrpc": "2.0", "result": 19, "id": 1}),
        (
            '{"jsonrpc":"2.0","method":"subtract","params":{"subtrahend":23,"minuend":42},"id":"3"}',
            {"jsonrpc": "2.0", "result": 19, "id": "3"},
        ),
        ('{"jsonrpc":"2.0","method":"get_data","id":null}', {"jsonrpc": "2.0", "result": ["hello", 5], "id": None}),
        ('{"jsonrpc":"2.0","method":"get_data","id":1.5}', {"jsonrpc": "2.0", "result": ["hello", 5], "id": 1.5}),
        ('{"jsonrpc":"2.0","method":"foobar","id":"1"}', error(-32601, "Method not found", "1")),
        ('{"jsonrpc":"2.0","method":"rpc.discover","id":1}', error(-32601, "Method not found", 1)),
        ('{"jsonrpc":"2.0","method":"foobar,"params":"bar","baz]', error(-32700, "Parse error")),
        ("", error(-32700, "Parse error")),
        (b"\xff", error(-32700, "Parse error")),
        ('{"id": NaN}', error(-32700, "Parse error")),
        ("[" * 100_000, error(-32700, "Parse error")),
        ('{"jsonrpc":"2.0","method":1,"params":"bar"}', error(-32600, "Invalid Request")),
        ('{"jsonrpc":"2.0","method":1,"id":7}', error(-32600, "Invalid Request", 7)),
        ('{"jsonrpc":"2.0","method":"get_data","params":"bar","id":7}', error(-32600, "Invalid Request", 7)),
        ('{"jsonrpc":"2.0","method":"get_data","params":null,"id":7}', error(-32600, "Invalid Request", 7)),
        ('{"jsonrpc":"1.0","method":"get_data","id":7}', error(-32600, "Invalid Request", 7)),
        ('{"method":"get_data","id":7}', error(-32600, "Invalid Request", 7)),
        ('{"jsonrpc":"2.0","method":"get_data","id":true}', error(-32600, "Invalid Request")),
        ('{"jsonrpc":"2.0","method":"get_data","id":{}}', error(-32600, "Invalid Request")),
        ("5", error(-32600, "Invalid Request")),
        ("null", error(-32600, "Invalid Request")),
        ("[]", error(-32600, "Invalid Request")),
        ("[1]", [error(-32600, "Invalid Request")]),
        ("[1,2,3]", [error(-32600, "Invalid Request")] * 3),
        (json.dumps([1] * 1001), error(-32600, "Invalid Request")),
        ('{"jsonrpc":"2.0","method":"get_data","params":[1],"id":7}', error(-32602, "Invalid params", 7)),
        ('{"jsonrpc":"2.0","method":"get_data","params":{"x":1},"id":7}', error(-32602, "Invalid params", 7)),
        ('{"jsonrpc":"2.0","method":"break","id":7}', error(-32603, "Internal error", 7)),
        ('{"jsonrpc":"2.0","method":"unsayable","id":7}', error(-32603, "Internal error", 7)),
        ('{"jsonrpc":"2.0","method":"refuse","params":["x"],"id":7}', error(-32050, "no", 7)),
    ],
)
def test_answers(message: str | bytes, expected: Any) -> None:
    assert without_data(answer(message)) == expected


@pytest.mark.parametrize(
    "message",
    [
        '{"jsonrpc":"2.0","method":"update","params":[1,2,3,4,5]}',
        '{"jsonrpc":"2.0","method":"foobar"}',
        '{"jsonrpc":"2.0","method":"break"}',
        '{"jsonrpc":"2.0","method":"refuse"}',
        '[{"jsonrpc":"2.0","method":"update","params":[1]},{"jsonrpc":"2.0","method":"foobar"}]',
    ],
)
def test_notifications_are_not_answered(message: str) -> None:
    CALLS.clear()
    assert answer(message) is None
    assert bool(CALLS) is ("update" in message)


def test_a_batch() -> None:
    found = answer(
        '[{"jsonrpc":"2.0","method":"subtract","params":[42,23],"id":"2"},{"jsonrpc":"2.0","method":"update","params":[7]},'
        '{"foo":"boo"},{"jsonrpc":"2.0","method":"foo.get","params":{"name":"myself"},"id":"5"},'
        '{"jsonrpc":"2.0","method":"get_data","id":"9"}]'
    )
    assert without_data(found) == [
        {"jsonrpc": "2.0", "result": 19, "id": "2"},
        error(-32600, "Invalid Request"),
        error(-32601, "Method not found", "5"),
        {"jsonrpc": "2.0", "result": ["hello", 5], "id": "9"},
    ]


def test_errors_may_carry_data() -> None:
    assert answer('{"jsonrpc":"2.0","method":"refuse","params":[1],"id":7}')["error"]["data"] == {"why": {"x": 1}}


def test_a_text_that_is_no_utf8_is_answered_all_the_same() -> None:
    assert answer('{"jsonrpc":"2.0","method":"half","id":7}')["result"] == "\ud800"


@settings(deadline=None)
@given(
    st.binary(max_size=60)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["jsonrpc", "method", "id", "params", "x"]), inner, max_size=4)
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode())
)
def test_whatever_comes_nothing_breaks(message: bytes) -> None:
    found = answer(message)
    for item in found if isinstance(found, list) else [found]:
        assert item is None or item["jsonrpc"] == "2.0"
