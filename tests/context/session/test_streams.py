"""Streamed answers with the real SDKs: complete, cut off at any event, and not read at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.context.session.loops import RUNS, sent_text
from tests.context.session.rules import anthropic_problems, chat_problems, responses_problems
from tests.context.session.scripts import CHAT_TOOLS, CONSTRAINTS, FACTS, RESPONSES_TOOLS, TOOLS, script
from tests.context.session.servers import Provider, served
from tipstaff.context import ContextSession, MessageError

WINDOW, OUTPUT = 32_000, 4_000
ANSWER: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "which file may it be", "signature": "sig1"},
    {"type": "text", "text": "I read both files."},
    {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.py"}},
    {"type": "tool_use", "id": "t2", "name": "Read", "input": {"file_path": "b.py"}},
]
STOP = {"role": "user", "content": "stop, do the other thing"}


def session(root: Path, api: Any) -> ContextSession:
    return ContextSession(
        root, api=api, model_window=WINDOW, max_output=OUTPUT, base="Be careful. " * 40, snapshots=None, git=None
    )


@pytest.mark.parametrize(("api", "usage"), [("anthropic", True), ("openai-chat", False), ("openai-responses", True)])
def test_a_streamed_session_breaks_no_rule(api: str, usage: bool, tmp_path: Path) -> None:
    provider = Provider(WINDOW, OUTPUT, usage=usage)
    found = session(tmp_path, api)
    with served(provider) as url:
        RUNS[api](found, provider, url, script(6, 40), stream=True)
    assert provider.log.problems == []
    assert provider.log.too_long == 0
    assert found.course.compactions >= 1
    assert provider.log.share >= 0.93
    assert [fact for fact in (*FACTS, *CONSTRAINTS) if fact not in sent_text(provider)] == []
    reported = [call.tokens for call in found.course.calls if call.measured]
    assert reported == (provider.log.tokens if usage else [])


def read_anthropic(client: Any, body: dict[str, Any], most: int) -> tuple[Any, list[Any], bool]:
    """Return what a stream held when it was left after `most` events, as answer and as messages; whether it ended."""
    with client.messages.stream(model="local", **body) as events:
        ended = not any(at >= most for at, _ in enumerate(events))
        answer = events.current_message_snapshot
    return answer, [{"role": "assistant", "content": answer.content}], ended


def read_chat(client: Any, body: dict[str, Any], most: int) -> tuple[Any, list[Any], bool]:
    with client.chat.completions.stream(model="local", **body) as events:
        ended = not any(at >= most for at, _ in enumerate(events))
        answer = events.current_completion_snapshot
    return answer, [answer.choices[0].message], ended


def read_responses(client: Any, body: dict[str, Any], most: int) -> tuple[Any, list[Any], bool]:
    items: dict[str, Any] = {}
    ended = True
    with client.responses.stream(model="local", store=False, **body) as events:
        for at, event in enumerate(events):
            if event.type in {"response.output_item.added", "response.output_item.done"}:
                items[event.item.id] = event.item
            if at >= most:
                ended = False
                break
    return {"output": list(items.values())}, list(items.values()), ended


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("api", sorted(RUNS))
def test_a_stream_cut_off_at_any_event(api: str, recorded: bool, tmp_path: Path) -> None:
    read, tools, problems, maker = {
        "anthropic": (read_anthropic, TOOLS, anthropic_problems, anthropic.Anthropic),
        "openai-chat": (read_chat, CHAT_TOOLS, chat_problems, openai.OpenAI),
        "openai-responses": (read_responses, RESPONSES_TOOLS, responses_problems, openai.OpenAI),
    }[api]
    provider = Provider(WINDOW, OUTPUT)
    provider.next = ANSWER
    with served(provider) as url, maker(api_key="local", base_url=f"{url}/v1", max_retries=0) as client:
        most, ended = 1, False
        while not ended:
            found = session(tmp_path, api)
            messages: list[Any] = [{"role": "user", "content": "go"}]
            answer, shown, ended = read(client, found.request(messages, tools), most)
            if recorded:
                found.record(answer)
            body = found.request([*messages, *shown, STOP], tools)
            issued = (provider.signed if api == "anthropic" else provider.issued,) if api != "openai-chat" else ()
            assert problems(json.loads(json.dumps(body)), *issued) == [], most
            assert STOP["content"] in json.dumps(body)
            most += 1
    assert most > 10


@pytest.mark.parametrize("api", sorted(RUNS))
def test_what_is_not_an_answer_is_refused_and_the_answer_can_follow(api: str, tmp_path: Path) -> None:
    found = session(tmp_path, api)
    first = found.request("go")
    for wrong in (iter([]), None, "text", [], {"error": {"message": "overloaded"}}):
        with pytest.raises(
            MessageError, match=r"expected an? (Message|ChatCompletion|Response) .* give stream.get_final"
        ):
            found.record(wrong)
    assert found.course.calls == ()
    # The call failed, and is made again as it was.
    assert found.request([]) == first
    shown = {"type": "output_text", "text": "ok", "annotations": []}
    found.record(
        {
            "anthropic": {"content": [{"type": "text", "text": "ok"}]},
            "openai-chat": {"choices": [{"message": {"role": "assistant", "content": "ok"}}]},
            "openai-responses": {"output": [{"type": "message", "id": "m", "role": "assistant", "content": [shown]}]},
        }[api]
    )
    assert found.course.calls[0].tokens > 0


@pytest.mark.parametrize("api", sorted(RUNS))
def test_an_answer_of_nothing(api: str, tmp_path: Path) -> None:
    found = session(tmp_path, api)
    found.request("go")
    found.record(
        {"anthropic": {"content": []}, "openai-chat": {"choices": []}, "openai-responses": {"output": []}}[api]
    )
    assert "go on, then" in json.dumps(found.request("go on, then"))
