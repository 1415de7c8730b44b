"""Pruning: valid, stable, never larger, only what is needed, and the conversation is never touched."""

from __future__ import annotations

import copy
import json
import random
from functools import partial
from types import MappingProxyType
from typing import Any

import pytest

from tests.context.conversations import conversation, current_thinking, problems
from tipstaff.context import CompactionConfig, compact, estimate_full_context, estimate_tokens, prune_for_request
from tipstaff.context.shortening.pruning import KEPT_EXCHANGES, MARKER, THINKING_REMOVED, stub_text
from tipstaff.errors import ConfigError

# Figures are by the rule of four characters a token.
prune_for_request_by_rule = partial(prune_for_request, count=estimate_tokens)
compact_by_rule = partial(compact, count=estimate_tokens)


def small(window: int, turns: int = 5, **options: Any) -> CompactionConfig:
    return CompactionConfig(window, 0, protected_turns=turns, **options)


def exchange(number: int, output: str = "x" * 4000, **extra: Any) -> list[dict[str, Any]]:
    return [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": f"t{number}", "name": "Read", "input": {"n": number}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": output, **extra}]},
    ]


def turns(n: int, output: str = "x" * 4000) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number in range(n):
        messages += [{"role": "user", "content": f"task {number}"}, *exchange(number, output)]
        messages.append({"role": "assistant", "content": f"done {number}"})
    return messages


@pytest.mark.parametrize("chunk", range(4))
def test_ten_thousand_conversations_stay_valid(chunk: int) -> None:
    for seed in range(chunk * 2500, chunk * 2500 + 2500):
        chance = random.Random(seed)
        messages = conversation(chance)
        tokens = estimate_full_context("", (), messages)
        config = small(max(60, int(tokens * chance.choice((0.3, 0.6, 0.9, 1.3)))), chance.choice((0, 1, 2, 5)))
        before = copy.deepcopy(messages) if seed % 10 == 0 else None
        result = prune_for_request_by_rule(messages, config=config)
        found = list(result.messages)
        assert not problems(found, messages), (seed, problems(found, messages))
        assert current_thinking(found) == current_thinking(messages), seed
        assert len(found) == len(messages)
        assert result.original_tokens == tokens
        assert result.pruned_tokens == estimate_full_context("", (), found) <= tokens, seed
        assert result.applied == (result.pruned_tokens < tokens) == bool(result.parts), seed
        if seed % 5:  # stability is looked at in 2,000 of them
            continue
        again = prune_for_request_by_rule(found, config=config)
        assert list(again.messages) == found, seed
        assert not again.applied, seed
        cut = chance.randrange(1, len(messages) + 1)
        shorter = prune_for_request_by_rule(messages[:cut], config=config)
        # What was pruned then is pruned now, in the same words.
        parts = {(part.message, part.block) for part in result.parts}
        assert {(part.message, part.block) for part in shorter.parts} <= parts, seed
        for part in shorter.parts:
            if part.kind != "thinking":
                then, now = shorter.messages[part.message], found[part.message]
                wanted = [one for one in then["content"] if one.get("id", one.get("tool_use_id"))]
                assert all(one in now["content"] for one in wanted if MARKER in json.dumps(one)), seed
        if before is not None:
            assert messages == before, seed


def test_the_same_conversation_gives_the_same_bytes_as_it_grows() -> None:
    messages = turns(60, "line\n" * 700)
    config = small(20_000)
    sent: list[Any] = []
    changes = 0
    for end in range(1, len(messages) + 1):
        now = prune_for_request_by_rule(messages[:end], config=config).messages
        if sent != list(now[: len(sent)]):
            changes += 1
        sent = list(now)
    # The prefix changes once when the trigger is passed, then holds until it is passed again, many turns later.
    assert 1 <= changes <= 60 * 900 // (20_000 * 0.2) + 2


def test_nothing_happens_at_or_below_the_trigger() -> None:
    messages = turns(3)
    tokens = estimate_full_context("", (), messages)
    config = small(100_000)
    exact = next(small(window) for window in range(tokens, 2 * tokens) if small(window).trigger_tokens == tokens)
    for chosen in (config, exact):
        result = prune_for_request_by_rule(messages, config=chosen)
        assert not result.applied
        assert result.messages == tuple(messages)
        assert all(a is b for a, b in zip(result.messages, messages, strict=True))
        assert result.original_tokens == result.pruned_tokens == tokens


def test_a_stub_has_head_tail_and_reference() -> None:
    messages = [
        {"role": "user", "content": "task"},
        *exchange(1, "BEGIN " + "word " * 2000 + "END", is_error=False, cache_control={"type": "ephemeral"}),
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "next"},
    ]
    result = prune_for_request_by_rule(messages, config=small(2000, 1))
    block = result.messages[2]["content"][0]
    assert block["content"].startswith("BEGIN ")
    assert block["content"].endswith("END")
    assert "of 10,009 characters left out]" in block["content"]
    assert block["cache_control"] == {"type": "ephemeral"}
    assert block["tool_use_id"] == "t1"
    assert block["is_error"] is False
    kept = [line for line in block["content"].split("\n") if MARKER not in line]
    assert sum(map(len, kept)) <= 200
    named = prune_for_request_by_rule(
        messages, config=small(2000, 1), reference=lambda found: f"/tmp/{found['tool_use_id']}.txt"
    )
    assert "whole: /tmp/t1.txt]" in named.messages[2]["content"][0]["content"]
    assert named.parts[0].reference == "/tmp/t1.txt"
    assert result.to_dict()["parts"][0]["kind"] == "tool_result"


def test_images_in_old_results_go_and_are_reported() -> None:
    image = {"type": "image", "source": {"type": "url", "url": "x.png"}}
    messages = [
        {"role": "user", "content": "task"},
        *exchange(1, [{"type": "text", "text": "shot"}, image]),  # type: ignore[arg-type]
        {"role": "assistant", "content": "ok"},
        {"role": "user", "content": "next"},
    ]
    result = prune_for_request_by_rule(messages, config=small(1000, 1))
    assert result.messages[2]["content"][0]["content"] == f"shot\n{MARKER}1 image]"


@pytest.mark.parametrize("name", ["window", "output", "threshold", "target", "turns", "prompt", "kind"])
def test_a_config_that_makes_no_sense_is_an_error(name: str) -> None:
    wrong: dict[str, dict[str, Any]] = {
        "window": {"context_window_tokens": 0},
        "output": {"context_window_tokens": 100, "max_output_tokens": 100},
        "threshold": {"compaction_threshold": 1.1},
        "target": {"prune_target": 0.85},
        "turns": {"protected_turns": -1},
        "prompt": {"system_prompt_tokens": -1},
        "kind": {"context_window_tokens": 1.5},
    }
    with pytest.raises(ConfigError, match="expected"):
        CompactionConfig(**wrong[name])


def test_the_config_has_the_figures_of_the_rule() -> None:
    config = CompactionConfig()
    assert (config.effective_window_tokens, config.trigger_tokens, config.prune_target_tokens) == (
        183_616,
        156_073,
        110_169,
    )
    assert CompactionConfig(1000, 500, 800).effective_window_tokens == 0
    assert CompactionConfig().to_dict()["protected_turns"] == 5


# -- defects of the system that this replaces ----------------------------------------------------------------------------


def test_d13_a_stub_splits_no_character() -> None:
    for text in ("🧩" * 500, "a" * 139 + "👩‍👩‍👧‍👦" * 90, "e\u0301" * 700, "x" * 199 + "🇫🇷" * 300):
        stub = stub_text(text)
        head, line, tail = stub.split("\n") if stub.count("\n") == 2 else (*stub.split("\n"), "")
        assert MARKER in line
        assert text.startswith(head)
        assert text.endswith(tail)
        assert not head.endswith("\u200d")
        assert not tail.startswith(("\u200d", "\u0301"))
        assert len((head + tail).encode("utf-16-le")) // 2 <= 200
        stub.encode("utf-8")


def test_d23_the_system_prompt_is_counted_once() -> None:
    prompt = "p" * 40_000  # 10,000 tokens
    config = CompactionConfig(32_000, 4_000, system_prompt_tokens=10_000)
    assert config.trigger_tokens == 15_300
    messages = turns(6, "x" * 8000)  # some 12,300 tokens: below the trigger
    result = prune_for_request_by_rule(messages, prompt, config=config)
    assert result.original_tokens == 10_000 + estimate_full_context("", (), messages)
    assert not result.applied
    assert not prune_for_request_by_rule([{"role": "user", "content": "hi"}], prompt, config=config).applied


def test_d25_turns_are_the_users_and_its_task_stays() -> None:
    messages = [{"role": "user", "content": "THE TASK " + "t" * 3000}]
    for number in range(30):
        messages += exchange(number)
    result = prune_for_request_by_rule(messages, config=small(20_000, 5))
    assert result.applied
    assert result.messages[0] is messages[0]
    # Results of tools are no turns of the user's; of a long turn the last rounds stay as they were.
    assert result.messages[-2 * KEPT_EXCHANGES :] == tuple(messages[-2 * KEPT_EXCHANGES :])
    assert MARKER in result.messages[2]["content"][0]["content"]
    assert result.fits


def test_d25_the_last_turns_of_the_user_stay_whole() -> None:
    messages = turns(12)
    result = prune_for_request_by_rule(messages, config=small(8000, 3))
    starts = [
        index
        for index, message in enumerate(messages)
        if message["role"] == "user" and isinstance(message["content"], str)
    ]
    boundary = starts[-3]
    assert result.messages[boundary:] == tuple(messages[boundary:])
    assert max(part.message for part in result.parts) < boundary


def test_d29_thinking_alone_and_large_inputs_are_pruned() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "task"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "t" * 4000, "signature": "s"}]},
        {"role": "user", "content": "go on"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "w", "name": "write_file",
                                          "input": {"file_path": "a.py", "content": "code\n" * 3000}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "w", "content": "ok"}]},
        {"role": "assistant", "content": "long answer. " * 500},
        {"role": "user", "content": "next"},
    ]  # fmt: skip
    result = prune_for_request_by_rule(messages, config=small(2000, 1))
    assert {part.kind for part in result.parts} == {"thinking", "tool_use", "text"}
    assert result.messages[1]["content"] == [{"type": "text", "text": THINKING_REMOVED}]
    value = result.messages[3]["content"][0]["input"]
    assert value["file_path"] == "a.py"
    assert MARKER in value["content"]
    assert result.fits
    assert not problems(result.messages, messages)


def test_d30_no_more_is_pruned_than_is_needed() -> None:
    messages = turns(20)
    tokens = estimate_full_context("", (), messages)
    config = small(int(tokens / 0.85), 2)
    assert config.trigger_tokens < tokens
    result = prune_for_request_by_rule(messages, config=config)
    assert config.prune_target_tokens - 1100 < result.pruned_tokens <= config.prune_target_tokens
    pruned = [part.message for part in result.parts]
    assert pruned == sorted(pruned)
    assert pruned[0] == 2  # the oldest goes first
    assert len(pruned) < 10


def test_messages_may_be_mappings_of_any_kind() -> None:
    messages = [MappingProxyType(message) for message in turns(12)]
    result = prune_for_request_by_rule(messages, config=small(8000, 3))
    assert result.applied
    assert list(result.messages) == list(prune_for_request_by_rule(turns(12), config=small(8000, 3)).messages)
    assert json.loads(json.dumps(result.to_dict()))["messages"] == list(result.messages)
    short = compact_by_rule(messages, config=small(8000, 1), force=True)
    assert json.loads(json.dumps(short.to_dict()))["phase"] == short.phase != "none"


def _block(chance: random.Random) -> dict[str, Any]:
    text = chance.choice(("a", "🧩", "\ud83e", "e\u0301", "漢", "\n")) * chance.choice((0, 5, 300, 3000))
    content = (text, None, [], [{"type": "text", "text": text}], {"type": "text", "text": text}, [text])
    source = ({"type": "text", "data": text}, {"type": "url", "url": "u"}, {"type": "base64", "data": "!!"}, {})
    return chance.choice(
        (
            {"type": "text", "text": text},
            {"type": "text"},
            {"type": "tool_use", "id": "x", "name": "Bash", "input": {"command": text, "a": {"b": [text, text]}}},
            {"type": "tool_use", "id": "x", "name": "bash", "input_json": "{bad"},
            {"type": "tool_result", "tool_use_id": "x", "content": chance.choice(content), "is_error": True},
            {"type": "thinking", "thinking": text, "signature": "s"},
            {"type": "document", "source": chance.choice(source)},
            {"type": "server_tool_use", "id": "y", "name": "w", "input": {}},
            {"type": "of a later version", "v": 1},
        )
    )


def test_what_no_provider_would_take_breaks_nothing() -> None:
    for seed in range(600):
        chance = random.Random(seed)
        messages: list[dict[str, Any]] = []
        for _ in range(chance.choice((0, 1, 2, 5, 9, 40))):
            blocks = [_block(chance) for _ in range(chance.randrange(5))]
            content = chance.choice((None, "", "x" * 3000, [], blocks, blocks, tuple(blocks)))
            role = chance.choice(("user", "assistant", "user", "assistant", "system", "system"))
            messages.append({"role": role, "content": content} if chance.random() < 0.95 else {"role": role})
        tokens = estimate_full_context("", (), messages)
        config = small(max(60, int(tokens * chance.choice((0.2, 0.6, 0.9)))), chance.choice((0, 1, 5)))
        before = copy.deepcopy(messages)
        result = prune_for_request_by_rule(messages, config=config)
        assert result.pruned_tokens == estimate_full_context("", (), result.messages) <= tokens, seed
        assert prune_for_request_by_rule(result.messages, config=config).messages == result.messages, seed
        short = compact_by_rule(messages, config=config, pinned=("rule",))
        assert short.compacted_tokens == estimate_full_context("", (), short.messages) <= tokens, seed
        assert messages == before, seed
