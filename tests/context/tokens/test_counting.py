"""Counting tokens: the rule, its overheads, incremental counting, reported usage, images and documents."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared_data import shared_path
from tipstaff.context import (
    MessageError,
    check_budget,
    estimate_full_context,
    estimate_message,
    estimate_tokens,
    estimate_tools,
)
from tipstaff.context.conversation.messages import compact_json
from tipstaff.context.tokens.counting import image_size, pdf_pages
from tipstaff.context.tokens.estimator import TokenEstimator

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
