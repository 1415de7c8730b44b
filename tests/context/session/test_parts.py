"""What a session takes in, sends, remembers and draws."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.context.session.rules import anthropic_problems, chat_problems
from tipstaff.context import AutoMemory, ContextSession, MessageError
from tipstaff.context.tokens.counting import usage_tokens
from tipstaff.serving.pictures import course_svg

PROMPT = {"role": "user", "content": "fix `total` in shop/orders.py"}


def session(root: Path, api: Any = "anthropic", **options: Any) -> ContextSession:
    return ContextSession(root, api=api, model_window=32_000, max_output=4_000, git=None, snapshots=None, **options)


def call(name: str, path: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Edit", "input": {"file_path": path}}


def test_interrupted_calls_empty_answers_and_doubled_roles_are_mended(tmp_path: Path) -> None:
    found = session(tmp_path)
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": "hello"},
        PROMPT,
        {"role": "assistant", "content": [call("a", "x.py"), call("b", "y.py")]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "ok"}]},
        {"role": "assistant", "content": []},
        {"role": "user", "content": "and"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "zz", "content": "late"}]},
    ]
    assert anthropic_problems(found.request(messages)) == []
    with pytest.raises(MessageError, match="calls c have no results yet"):
        found.request([*messages, {"role": "assistant", "content": [call("c", "z.py")]}])


def test_a_retry_an_edit_and_a_repeated_word_are_understood(tmp_path: Path) -> None:
    found = session(tmp_path)
    first = found.request([PROMPT])
    assert found.request([dict(PROMPT)]) == first
    found.record({"content": [{"type": "text", "text": "done"}]})
    messages = [PROMPT, {"role": "assistant", "content": "done"}, {"role": "user", "content": "go on"}]
    assert len(found.request(messages)["messages"]) == 3
    found.record({"content": [{"type": "text", "text": "more"}]})
    edited = [*messages[:2], {"role": "user", "content": "no, stop"}]
    sent = found.request(edited)["messages"]
    assert "no, stop" in str(sent[-1])
    assert "go on" not in str(sent)
    other = session(tmp_path)
    for _ in range(3):
        other.request([{"role": "user", "content": "continue"}])
        other.record({"content": [{"type": "text", "text": "ok"}]})
    assert [message["role"] for message in other.messages] == ["user", "assistant"] * 3


def test_rules_come_with_the_files_that_the_agent_edits(tmp_path: Path) -> None:
    rules = tmp_path / ".tipstaff" / "rules"
    rules.mkdir(parents=True)
    (rules / "mail.md").write_text(
        "---\npaths: ['shop/mail/*.py']\n---\n- Send mails as plain text.\n", encoding="utf-8"
    )
    found = session(tmp_path)
    first = found.request([PROMPT])
    assert "plain text" not in str(first)
    found.record({"content": [call("a", "shop/mail/send.py")]})
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]}
    second = found.request([result])
    assert "Send mails as plain text." in str(second["messages"][-1])
    assert second["messages"][:1] == [
        {"role": "user", "content": [{k: v for k, v in b.items() if k != "cache_control"} for b in m["content"]]}
        for m in first["messages"]
    ]
    found.record({"content": [{"type": "text", "text": "done"}]})
    # What was delivered stays where it was and is not delivered again.
    assert str(found.request([{"role": "user", "content": "next"}])).count("Send mails as plain text.") == 1


def test_tools_of_any_shape_and_objects_of_other_apis(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {}}
    chat = {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": schema}}
    sent = session(tmp_path).request([PROMPT], [chat])["tools"]
    assert {k: sent[0][k] for k in ("name", "description", "input_schema")} == {
        "name": "read",
        "description": "Reads.",
        "input_schema": schema,
    }
    native = {"name": "read", "description": "Reads.", "input_schema": schema}
    body = session(tmp_path, "openai-chat").request([PROMPT], [native])
    assert body["tools"] == [chat]
    assert chat_problems(body) == []
    with pytest.raises(MessageError, match="from_openai_chat"):
        session(tmp_path).request([{"role": "tool", "tool_call_id": "x", "content": "y"}])
    with pytest.raises(MessageError, match="openai-responses"):
        session(tmp_path, "openai-chat").request([{"type": "function_call_output", "call_id": "x", "output": "y"}])


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"input_tokens": 3, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 7, "output_tokens": 5}, 100),
        ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 90}}, 100),
        ({"input_tokens": 100, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 90}}, 100),
    ],
)
def test_usage_of_every_api(usage: dict[str, Any], tokens: int) -> None:
    assert usage_tokens(usage) == tokens
    assert usage_tokens(usage, with_output=True) == tokens + 5


def test_memory_keeps_what_people_wrote_and_each_entry_once(tmp_path: Path) -> None:
    memory = AutoMemory(tmp_path / "auto-memory.md")
    memory.path.write_text("# Ours\n\n- a note of mine\n", encoding="utf-8")
    day = dt.date(2026, 1, 2)
    assert memory.remember({"decisions": ["Use\nUTC", "Use UTC"], "files": ["`a.py`"]}, "s1", today=day) == 2
    assert memory.remember({"decisions": ["Use UTC"]}, "s2", today=day) == 0
    text = memory.path.read_text(encoding="utf-8")
    assert text.startswith("# Ours\n\n- a note of mine")
    assert text.count("- Use UTC (session s1, 2026-01-02)") == 1
    for number in range(80):
        memory.remember({"files": [f"`f{number}.py`"]}, "s3", today=day)
    assert memory.path.read_text(encoding="utf-8").count("- `") == 60


def test_the_course_as_a_picture(tmp_path: Path) -> None:
    found = session(tmp_path)
    for number in range(4):
        found.request([{"role": "user", "content": f"turn {number}"}])
        found.record({"content": [{"type": "text", "text": "ok"}], "usage": {"input_tokens": 40, "output_tokens": 2}})
    course = found.course
    assert [call.number for call in course.calls] == [1, 2, 3, 4]
    root = ET.fromstring(course_svg(course, window=32_000))
    assert len(root.findall("{http://www.w3.org/2000/svg}g")) == 4
