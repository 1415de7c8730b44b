"""What users and programs do to a history: edits, retries, split results, system messages, refusals of the size."""

from __future__ import annotations

import base64
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.context.session.rules import anthropic_problems
from tipstaff.context import ContextSession, estimate_message
from tipstaff.context.conversation.openai import from_openai_chat
from tipstaff.context.session.fitting import window_in
from tipstaff.context.shortening.preamble import CompactionConfig
from tipstaff.errors import ConfigError, SourceNotFoundError

PROMPT = {"role": "user", "content": "Delete the table"}
DONE = {"content": [{"type": "text", "text": "Done."}]}


def session(root: Path, api: Any = "anthropic", **options: Any) -> ContextSession:
    given = {"model_window": 32_000, "max_output": 4_000, "git": None, "snapshots": None, "memory": None}
    return ContextSession(root, api=api, **(given | options))


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": "a"}}


def result(name: str, content: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def test_another_answer_and_an_edited_first_prompt(tmp_path: Path) -> None:
    found, messages = session(tmp_path), [PROMPT]
    found.request(messages)
    found.record(DONE)
    assert [message["role"] for message in found.request(messages)["messages"]] == ["user"]
    found.record(DONE)
    edited = found.request([{"role": "user", "content": "Only LIST"}], whole=True)
    assert "Delete" not in str(edited)
    assert "Only LIST" in str(edited["messages"][-1])


def test_results_in_two_messages_answer_their_calls(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": [call("a"), call("b")]}
    halves = [{"role": "user", "content": [result("a", "1")]}, {"role": "user", "content": [result("b", "2")]}]
    sent = session(tmp_path).request([PROMPT, answer, *halves])
    assert anthropic_problems(sent) == []
    assert "no result" not in str(sent)
    assert [block["content"] for block in sent["messages"][-1]["content"][:2]] == ["1", "2"]


def test_a_failure_with_a_picture_and_calls_of_programs(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "url", "url": "https://example.invalid/x.png"}}
    failed = {"role": "user", "content": [result("a", [image], is_error=True)]}
    sent = session(tmp_path).request([PROMPT, {"role": "assistant", "content": [call("a")]}, failed])
    assert "is_error" not in str(sent)
    (tmp_path / "AGENTS.md").write_text(
        "- [A-1] Never delete tables (critical)\n- Read files whole.\n", encoding="utf-8"
    )
    program = {**call("b"), "caller": {"type": "code_execution_20250825", "tool_id": "x"}}
    given = [PROMPT, {"role": "assistant", "content": [program]}, {"role": "user", "content": [result("b")]}]
    assert [block["type"] for block in session(tmp_path).request(given)["messages"][-1]["content"]] == ["tool_result"]


@pytest.mark.parametrize("api", ["anthropic", "openai-chat"])
def test_a_system_message_in_the_middle_stays_one(api: str, tmp_path: Path) -> None:
    found = session(tmp_path, api)
    given = [PROMPT, {"role": "assistant", "content": "Sure?"}, {"role": "user", "content": "Yes"}]
    sent = found.request([*given, {"role": "system", "content": "Never drop the users' table."}])
    assert [m["role"] for m in sent["messages"] if "users' table" in str(m)] == ["system"]
    assert found.facts.constraints == ()


def test_thinking_of_another_provider_is_sent_back(tmp_path: Path) -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    calls = [{"id": "a", "type": "function", "function": {"name": "Read", "arguments": "{}"}}]
    answer = {"role": "assistant", "content": None, "tool_calls": calls, "thinking_blocks": [thinking]}
    sent = session(tmp_path, "openai-chat").request(
        [PROMPT, answer, {"role": "tool", "tool_call_id": "a", "content": "x"}]
    )
    assert sent["messages"][1]["thinking_blocks"] == [thinking]


def test_what_a_provider_keeps_is_not_sent_again(tmp_path: Path) -> None:
    found = session(tmp_path, "openai-responses")
    found.request("first")
    text = {"type": "output_text", "text": "Done.", "annotations": []}
    found.record({"id": "r1", "output": [{"type": "message", "role": "assistant", "content": [text]}]})
    sent = found.request("second", previous_response_id="r1")
    assert sent["previous_response_id"] == "r1"
    assert "first" not in str(sent["input"])
    assert "second" in str(sent["input"])
    with pytest.raises(ConfigError, match="openai-responses"):
        session(tmp_path).request("x", previous_response_id="r1")


def test_a_refusal_of_the_size_is_learned_from(tmp_path: Path) -> None:
    found = session(tmp_path, model_window=60_000)
    messages: list[Any] = []
    for number in range(40):
        messages += [{"role": "user", "content": f"step {number}: " + "several plain words " * 260}]
        found.request(messages)
        messages.append({"role": "assistant", "content": [{"type": "text", "text": "ok"}]})
        found.record(messages[-1])
    messages.append({"role": "user", "content": "and now?"})
    before = found.request(messages)
    after = found.too_long("prompt is too long: 45123 tokens > 40000 maximum")
    assert found.config.context_window_tokens == 40_000
    assert len(after["messages"]) < len(before["messages"])
    assert "and now?" in str(after["messages"][-1])
    assert found.course.calls[-1].number == 40


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("prompt is too long: 45123 tokens > 40000 maximum", (40_000, 45_123)),
        ("input length and `max_tokens` exceed context limit: 38240 + 4000 > 40000, decrease", (40_000, 38_240)),
        (
            "This model's maximum context length is 40000 tokens. However, your messages resulted in 45012 tokens.",
            (40_000, 45_012),
        ),
        ("Your input exceeds the context window of this model.", (36_550, 0)),
        (
            "Input tokens exceed the configured limit of 40000 tokens. Your messages resulted in 45000 tokens.",
            (40_000, 45_000),
        ),
    ],
)
def test_the_window_in_a_refusal(words: str, expected: tuple[int, int]) -> None:
    assert window_in(words, 43_000, CompactionConfig(60_000, 4_000)) == expected


def test_a_sound_costs_by_its_seconds() -> None:
    header = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", 0, b"WAVE", b"fmt ", 16, 1, 1, 16_000, 32_000, 2, 16)
    data = base64.b64encode(header + bytes(32_000 * 12)).decode()
    part = {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}
    (message,) = from_openai_chat([{"role": "user", "content": [part]}])
    assert 100 < estimate_message(message) < 150


@pytest.mark.parametrize("api", ["anthropic", "openai-chat", "openai-responses"])
def test_a_saved_session_continues_with_the_same_bytes(api: str, tmp_path: Path) -> None:
    found = session(tmp_path, api, base="Be careful.")
    messages: list[Any] = []
    answers = {
        "anthropic": {"role": "assistant", "content": [{"type": "text", "text": "ok"}]},
        "openai-chat": {"role": "assistant", "content": "ok"},
        "openai-responses": {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "ok"}],
        },
    }
    for number in range(30):
        messages.append({"role": "user", "content": f"step {number}: " + "several plain words " * 300})
        found.request(messages)
        answer: Any = answers[api]
        found.record({"output": [answer]} if api == "openai-responses" else answer)
        messages.append(answer)
    assert found.course.compactions
    found.save(tmp_path / "saved.json")
    assert (tmp_path / "saved.json").stat().st_mode & 0o777 == 0o600
    messages.append({"role": "user", "content": "and now?"})
    other = ContextSession.load(tmp_path / "saved.json")
    assert other.request(messages) == found.request(messages)
    assert other.course.calls == found.course.calls
    assert other._state.broken_by == ""


def test_what_was_taken_out_is_recalled_without_its_secrets(tmp_path: Path) -> None:
    found = session(tmp_path, snapshots="project", model_window=12_000, max_output=1_000)
    secret = "ghp_" + "".join(chr(65 + (n * 7) % 26) + str(n % 10) for n in range(18))
    found.request("read it")
    found.record({"content": [call("a")]})
    text = f"token {secret} here\n" + "line of the file\n" * 6_000
    sent = found.request([{"role": "user", "content": [result("a", text)]}])
    stub = sent["messages"][-1]["content"][0]["content"]
    (name,) = re.findall(r"whole: recall ([0-9a-f]{12})", stub)
    whole = found.recall(name)
    assert len(whole) == len(text)
    assert secret not in whole
    with pytest.raises(SourceNotFoundError, match="nothing is kept"):
        found.recall("000000000000")
