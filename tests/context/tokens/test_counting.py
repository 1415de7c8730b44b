"""Counting tokens: the rule, its overheads, incremental counting, reported usage, images and documents."""

from __future__ import annotations

import base64
import copy
import json
import struct
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shared_data import shared_path
from tipstaff.context import (
    ConversationMeter,
    MessageError,
    TokenEstimator,
    check_budget,
    estimate_full_context,
    estimate_message,
    estimate_tokens,
    estimate_tools,
    forget_conversations,
    usage_tokens,
)
from tipstaff.context.conversation.messages import compact_json
from tipstaff.context.tokens.counting import messages_total
from tipstaff.context.tokens.media import image_size, pdf_pages

VECTORS = shared_path("vectors", "context", "tokens.json")


def cases() -> list[dict[str, Any]]:
    if VECTORS is None:
        return []
    found: list[dict[str, Any]] = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
    return [case for case in found if case["binding"]]


@pytest.mark.skipif(VECTORS is None, reason="the labelled cases are not beside this checkout")
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_labelled_cases(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    if given["kind"] == "text":
        assert estimate_tokens(given["text"]) == expected["tokens"]
    elif given["kind"] == "messages":
        assert [estimate_message(message) for message in given["messages"]] == expected["per_message"]
        assert estimate_full_context("", (), given["messages"]) == expected["tokens"]
    elif given["kind"] == "tools":
        assert estimate_tools(given["tools"]) == expected["tokens"]
    else:
        found = check_budget(
            given["system_prompt"],
            given["tools"],
            given["messages"],
            context_window=given["context_window_tokens"],
            max_output=given["max_output_tokens"],
        )
        assert {key: getattr(found, key) for key in expected} == expected


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.text(max_size=9), st.text(max_size=60) | st.floats() | st.booleans(), max_size=4))
def test_compact_json_is_what_the_standard_encoder_writes(value: dict[str, Any]) -> None:
    plain = {**value, '\x00\x1f\x7f\u2028/\\"<&': '\x00\b\t\n\x7f\u2028/\\"<&😀'}
    for one in (value, plain, {**plain, "\ud800": "\udfff"}):
        assert compact_json(one) == json.dumps(one, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("🧩🧩", 1), ("🧩🧩🧩", 2), ("漢" * 9, 3), ("\ud800" * 5, 2)],
)
def test_four_code_units_are_a_token(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.parametrize(
    ("block", "tokens"),
    [
        ({"type": "text", "text": "abcde"}, 2),
        ({"type": "thinking", "thinking": "abcde", "signature": "s" * 400}, 2),
        ({"type": "redacted_thinking", "data": "abcdefgh"}, 2),
        ({"type": "tool_use", "id": "x" * 99, "name": "bash", "input": {"command": "ls"}}, 1 + 4 + 20),
        ({"type": "tool_use", "id": "x", "name": "bash", "input": {"a": "漢字", "b": 0.5}}, 1 + 5 + 20),
        ({"type": "tool_result", "tool_use_id": "x", "content": "abcde"}, 2 + 10),
        ({"type": "tool_result", "tool_use_id": "x"}, 10),
        ({"type": "tool_result", "tool_use_id": "x", "content": [{"type": "text", "text": "abcde"}]}, 2 + 10),
        ({"type": "server_tool_use", "id": "x", "name": "web", "input": {}}, 1 + 1 + 20),
        ({"type": "something_new", "a": 1}, 8),
        ({"type": "image", "source": {"type": "url", "url": "x"}}, 1600),
        ({"type": "document", "source": {"type": "text", "data": "abcde"}, "title": "abcd"}, 3),
        ({"type": "document", "source": {"type": "file", "file_id": "f"}}, 2500),
    ],
)
def test_blocks(block: dict[str, Any], tokens: int) -> None:
    assert estimate_message({"role": "user", "content": [block]}) == 4 + tokens


def test_plain_and_missing_content() -> None:
    assert estimate_message({"role": "user", "content": "abcde"}) == 6
    assert estimate_message({"role": "user", "content": None}) == 4
    assert estimate_message({"role": "user", "content": []}) == 4
    assert estimate_tools(None) == 0
    assert estimate_tools([{"name": "noop"}]) == 11
    assert estimate_full_context(None, None, None) == 0
    assert estimate_full_context([{"type": "text", "text": "abcde"}], None, None) == 2


@pytest.mark.parametrize(
    ("message", "message_part"),
    [
        ("text", "message: expected a dictionary"),
        ({"role": "user", "content": 5}, "content: expected a text or a list of blocks, got int"),
        ({"role": "user", "content": ["x"]}, r"content\[0\]: expected a dictionary with a type, got str"),
        ({"role": "user", "content": [{"type": "text", "text": 5}]}, "expected a text, got int: '5'"),
    ],
)
def test_what_is_not_a_message_is_an_error_that_says_so(message: Any, message_part: str) -> None:
    with pytest.raises(MessageError, match=message_part):
        estimate_message(message)


def test_images_are_counted_by_their_size() -> None:
    def cost(data: bytes) -> int:
        source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(data).decode()}
        return estimate_message({"role": "user", "content": [{"type": "image", "source": source}]}) - 4

    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
    assert cost(png + struct.pack(">II", 750, 100) + bytes(50)) == 100
    assert cost(png + struct.pack(">II", 20_000, 20_000) + bytes(50)) == 1600
    assert cost(png + struct.pack(">II", 3136, 100) + bytes(50)) == 105  # halved first
    assert cost(b"no image") == 1600
    assert image_size(b"GIF89a" + struct.pack("<HH", 3, 4)) == (3, 4)
    jpeg = b"\xff\xd8\xff\xe0\0\x04AB\xff\xc0\0\x11\x08" + struct.pack(">HH", 30, 40) + bytes(9)
    assert image_size(jpeg) == (40, 30)
    assert image_size(b"\xff\xd8\xff" + b"\xff" * 99) is None
    webp = b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + (99).to_bytes(3, "little") + (49).to_bytes(3, "little")
    assert image_size(webp) == (100, 50)
    assert pdf_pages(b"/Type /Pages /Count 3 /Type /Page /Type/Page") == 3
    assert pdf_pages(b"") == 1


def test_d22_a_conversation_of_other_scripts_is_not_taken_for_english() -> None:
    han, english = "漢字仮名交じり文の例です。" * 50, "The quick brown fox jumps. " * 24
    assert abs(len(han) - len(english)) < 10
    assert estimate_tokens(han) == pytest.approx(estimate_tokens(english), abs=5)
    estimator = TokenEstimator("claude")
    assert estimator.estimate(han) > 1.8 * estimator.estimate(english)
    message = {"role": "user", "content": han}
    assert estimate_message(message, count=estimator) == 4 + estimator.estimate(han)
    assert estimate_full_context(han, (), [message], count=estimator) == 4 + 2 * estimator.estimate(han)


# -- incremental counting ------------------------------------------------------------------------------------------------


def long_conversation() -> list[dict[str, Any]]:
    return [
        {"role": "user" if i % 2 == 0 else "assistant", "content": [{"type": "text", "text": "word " * (i % 17)}]}
        for i in range(1000)
    ]


def plainly(messages: Any) -> int:
    return sum(estimate_message(message) for message in messages)


EDITS: dict[str, Any] = {
    "a text deep inside": lambda m: m[700]["content"][0].update(text="longer " * 100),
    "content replaced": lambda m: m[0].update(content="x" * 1000),
    "a block added": lambda m: m[999]["content"].append({"type": "text", "text": "x" * 50}),
    "a message added": lambda m: m.append({"role": "user", "content": "x" * 50}),
    "the middle removed": lambda m: m.__delitem__(slice(200, 300)),
    "everything removed": lambda m: m.clear(),
    "replaced by another list's": lambda m: m.__setitem__(slice(None), long_conversation()[:40]),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_in_place_gives_no_stale_answer(name: str) -> None:
    forget_conversations()
    messages, meter = long_conversation(), ConversationMeter()
    before = estimate_full_context("", (), messages)
    assert before == estimate_full_context("", (), messages) == meter.total(messages) == plainly(messages)
    EDITS[name](messages)
    assert estimate_full_context("", (), messages) == meter.total(messages) == plainly(messages) != before
    assert meter.costs(messages) == [estimate_message(message) for message in messages]


def test_only_what_is_new_is_counted() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    meter, messages = ConversationMeter(count), [{"role": "user", "content": f"m{i}"} for i in range(100)]
    assert meter.total(messages) == 100 * 4 + 10 * 2 + 90 * 3
    counted.clear()
    messages.append({"role": "user", "content": "new"})
    meter.total(messages)
    assert counted == ["new"]
    counted.clear()
    meter.total(messages)
    assert counted == []


def test_what_cannot_be_watched_is_counted_each_time() -> None:
    odd = OrderedDict(type="text", text="abcd")
    messages: list[dict[str, Any]] = [*long_conversation(), {"role": "user", "content": [odd]}]
    first = estimate_full_context("", (), messages)
    odd["text"] = "abcd" * 100
    assert estimate_full_context("", (), messages) == first + 99


def test_a_bad_message_leaves_what_was_known() -> None:
    meter, messages = ConversationMeter(), [{"role": "user", "content": "abcd"}]
    assert meter.total(messages) == 5
    messages.append({"role": "user", "content": 7})  # type: ignore[dict-item]
    for _ in range(2):
        with pytest.raises(MessageError):
            meter.total(messages)
    messages[1] = {"role": "user", "content": "abcd"}
    assert meter.total(messages) == 10


def test_tools_are_remembered_and_watched_too() -> None:
    tools = [{"name": "a", "description": "d", "input_schema": {"type": "object"}}]
    first = estimate_full_context("", tools, [])
    assert first == estimate_full_context("", tools, []) == estimate_tools(tools)
    tools[0]["input_schema"]["properties"] = {"x": {"type": "string"}}  # type: ignore[index]
    assert estimate_full_context("", tools, []) == estimate_tools(tools) > first


def test_other_sequences_and_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    many = [long_conversation()[: 40 + i] for i in range(8)]
    expected = [plainly(one) for one in many]
    assert messages_total(tuple(many[0])) == expected[0]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            assert list(pool.map(messages_total, many)) == expected


# -- usage ----------------------------------------------------------------------------------------------------------------


def test_reported_usage_replaces_estimates_of_what_it_covers() -> None:
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 3000, "output_tokens": 7}
    assert usage_tokens(usage) == 3030
    messages = [
        {"role": "user", "content": "a" * 400},
        {"role": "assistant", "content": "b" * 400},
        {"role": "user", "content": "c" * 400},
    ]
    assert estimate_full_context("sys", (), messages, usage=usage) == 3037 + 104
    assert estimate_full_context("sys", (), messages, usage=usage, measured_messages=3) == 3037
    assert estimate_full_context("sys", (), messages[:1], usage=usage) == 1 + 104  # no answer yet: nothing was measured
    found = check_budget("sys", (), messages, context_window=4000, max_output=1000, usage=usage)
    assert (found.total_estimated, found.excess_tokens, found.measured) == (3141, 141, True)
    assert found.to_dict()["over_budget"] is True


def test_d31_a_new_result_is_not_hidden_by_old_usage() -> None:
    usage = {"input_tokens": 100, "output_tokens": 1}
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x" * 400_000}]},
    ]
    before = copy.deepcopy(messages)
    assert estimate_full_context("", (), messages, usage=usage) > 100_000
    assert messages == before
