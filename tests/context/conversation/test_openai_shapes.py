"""Adapters: what goes there and back is equal to what it was, in both directions."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.context.conversations import conversation, problems
from tipstaff.context import CompactionConfig, MessageError, prune_for_request
from tipstaff.context.conversation.messages import without_extensions
from tipstaff.context.conversation.openai import (
    from_openai_chat,
    from_openai_responses,
    split_system,
    to_openai_chat,
    to_openai_responses,
)

CALL = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"a": 1,  "b":[2]}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": [{"type": "text", "text": "And kind."}]},
    {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2", "function": {"name": "run", "arguments": "not json"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "one"},
    {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "two"}]},
    {"role": "user", "content": "next", "name": "ada"},
    {"role": "assistant", "content": "ok", "refusal": None},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": ""},
    {"role": "user", "content": [{"type": "file", "file": {"file_data": "data:application/pdf;base64,AA", "filename": "a.pdf"}}, {"type": "input_audio", "input_audio": {"data": "A", "format": "wav"}}]},
]  # fmt: skip
RESPONSES: list[dict[str, Any]] = [
    {"role": "user", "content": "hello"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": "http://a/b.png"}]},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "zzz"},
    {"type": "message", "role": "assistant", "id": "m", "status": "completed", "content": [{"type": "output_text", "text": "y", "annotations": []}]},
    {"type": "function_call", "call_id": "c1", "id": "fc", "name": "run", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "done"},
    {"type": "web_search_call", "id": "w", "status": "completed"},
    {"role": "assistant", "content": "plain"},
    {"role": "assistant", "content": "twice"},
]  # fmt: skip
SHAPES = {
    "chat": (from_openai_chat, to_openai_chat, CHAT),
    "responses": (from_openai_responses, to_openai_responses, RESPONSES),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_foreign_items_come_back_equal(shape: str) -> None:
    read, write, items = SHAPES[shape]
    before = copy.deepcopy(items)
    for start in range(len(items)):
        assert write(read(items[start:])) == items[start:]
        assert write(read(items[: start + 1])) == items[: start + 1]
    assert items == before


@pytest.mark.parametrize("shape", SHAPES)
def test_native_conversations_come_back_equal(shape: str) -> None:
    read, write, _ = SHAPES[shape]
    for seed in range(300):
        messages = conversation(random.Random(seed))
        assert read(write(messages)) == messages, seed
        bare = without_extensions(write(messages))
        assert "x_tipstaff" not in repr(bare)
        assert len(bare) >= len(messages) or shape == "responses"


@given(st.lists(st.sampled_from(CHAT), max_size=12), st.lists(st.sampled_from(RESPONSES), max_size=12))
def test_any_order_of_items_comes_back(chat: list[dict[str, Any]], responses: list[dict[str, Any]]) -> None:
    assert to_openai_chat(from_openai_chat(chat)) == chat
    assert to_openai_responses(from_openai_responses(responses)) == responses


def test_the_native_form_is_the_messages_api() -> None:
    system, rest = split_system(CHAT)
    assert system == "Be brief.\n\nAnd kind."
    native = without_extensions(from_openai_chat(rest[:5]))
    assert native[1]["content"][0] == {"type": "tool_use", "id": "c1", "name": "run", "input": {"a": 1, "b": [2]}}
    assert [block["tool_use_id"] for block in native[2]["content"]] == ["c1", "c2"]
    assert not problems(native[:3])
    assert native[0]["content"][1]["source"] == {"type": "base64", "media_type": "image/png", "data": "AAAA"}


def test_what_was_pruned_is_written_pruned() -> None:
    items: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number in range(30):
        named = {**CALL, "id": f"c{number}"}
        items += [
            {"role": "assistant", "content": None, "tool_calls": [named]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "x" * 4000},
        ]
    result = prune_for_request(from_openai_chat(items), config=CompactionConfig(20_000, 0))
    assert result.applied
    written = to_openai_chat(result.messages)
    assert len(written) == len(items)
    assert len(str(without_extensions(written))) < len(str(items)) / 2
    assert "x" * 4000 not in written[2]["content"]


def test_no_dictionary_is_an_error() -> None:
    with pytest.raises(MessageError, match="item 1: expected a dictionary, got str"):
        from_openai_chat([CHAT[0], "x"])  # type: ignore[list-item]
