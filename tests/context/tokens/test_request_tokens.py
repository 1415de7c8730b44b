"""What whole requests cost, counted once, and what a provider reported of them."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import pytest

from tipstaff.context import MessageError, check_budget, estimate_full_context, estimate_message, estimate_tools
from tipstaff.context.tokens.counting import usage_tokens
from tipstaff.context.tokens.request_tokens import ConversationMeter, forget_conversations, messages_total

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
