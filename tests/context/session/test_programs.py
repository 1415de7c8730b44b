"""Conversations as agent programs hold them: large tools and prompts, their own notes between the user's words."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.context.session.scripts import CONSTRAINTS, FACTS, code, prose
from tests.context.session.servers import Provider
from tipstaff.context import AutoMemory, ContextSession
from tipstaff.context.conversation.messages import words_of

WINDOW, OUTPUT = 40_000, 4_000
SYSTEM = "\n".join(f"{number}. You must never {prose(random.Random(number), 30)}" for number in range(120))
SKILLS = "\n".join(f"- skill{number}: always use it to {prose(random.Random(number), 20)}" for number in range(60))
TOOLS = [
    {
        "name": f"Tool{number}",
        "description": prose(random.Random(number), 250),
        "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}},
    }
    for number in range(8)
]


def reminder(text: str) -> dict[str, Any]:
    return {"type": "text", "text": f"<system-reminder>\n{text}\n</system-reminder>\n"}


def run_program(root: Path, provider: Provider, turns: int) -> ContextSession:
    """Run a program that keeps its own notes in the conversation; half of the window is its prompt and its tools."""
    chance = random.Random(7)
    session = ContextSession(root, model_window=WINDOW, max_output=OUTPUT, snapshots=None, git=None)
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]

    def call(blocks: list[dict[str, Any]]) -> None:
        provider.next = blocks
        answer = provider.take("/v1/messages", session.request(messages, TOOLS))
        session.record(answer)
        messages.append({"role": "assistant", "content": answer["content"]})

    for number in range(turns):
        prompt = f"Turn {number}: {prose(chance, 12)}"
        prompt += f" {CONSTRAINTS[number]}" if number < len(CONSTRAINTS) else ""
        prompt += f" Remember that {FACTS[number]}." if number < len(FACTS) else ""
        first = [reminder(SKILLS), reminder("Today's date is 2026-03-04.")] if number == 0 else []
        mark = {"cache_control": {"type": "ephemeral"}}
        messages.append({"role": "user", "content": [*first, {"type": "text", "text": prompt} | mark]})
        for step in range(4):
            ids = [f"t{number}_{step}_{part}" for part in range(chance.choice((1, 2, 3)))]
            call(
                [
                    {"type": "tool_use", "id": name, "name": "Edit", "input": {"file_path": f"{root}/made/{name}.py"}}
                    for name in ids
                ]
            )
            results: list[Any] = [
                {"type": "tool_result", "tool_use_id": name, "content": code(chance, chance.choice((8, 80)))}
                for name in ids
            ]
            messages.append(
                {"role": "user", "content": [*results, reminder("You must never forget the list of tasks.")]}
            )
        call([{"type": "text", "text": f"We decided to {prose(chance, 12)}"}])
    return session


def test_a_program_with_large_prompts_and_notes_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("# Shop\n\nAll times are UTC, says the project.\n", encoding="utf-8")
    provider = Provider(WINDOW, OUTPUT)
    session = run_program(tmp_path, provider, 45)
    assert provider.log.problems == []
    assert provider.log.too_long == 0
    assert session.course.compactions >= 5
    body = provider.log.bodies[-1]
    assert [words for words in (*CONSTRAINTS, *FACTS) if words not in json.dumps(body["messages"])] == []
    assert "Turn 0: " in json.dumps(body["messages"])
    for sent in provider.log.bodies:
        # What is in the system prompt is nowhere else, and no note is there twice.
        texts = [b["text"] for m in sent["messages"] for b in m["content"] if b["type"] == "text"]
        assert SYSTEM[:200] in sent["system"][0]["text"]
        assert not any(SYSTEM[:200] in text or "says the project" in text for text in texts)
        added = [text for text in texts if text.startswith("<tipstaff-context>")]
        assert len(added) == len(set(added))
    assert not any("list of tasks" in one or "skill" in one for one in session.facts.constraints)


@pytest.mark.parametrize("recorded", [True, False])
def test_thinking_that_a_program_leaves_out_at_times_breaks_no_cache(recorded: bool, tmp_path: Path) -> None:
    provider = Provider(WINDOW, OUTPUT)
    session = ContextSession(tmp_path, model_window=WINDOW, max_output=OUTPUT, snapshots=None, git=None)
    messages: list[Any] = []
    for number in range(12):
        messages.append({"role": "user", "content": f"Turn {number}: {'words of the user ' * 20}"})
        for step in range(3):
            thinking = {"type": "thinking", "thinking": f"thought {number}", "signature": f"s{number}{step}"}
            use = {"type": "tool_use", "id": f"t{number}{step}", "name": "Read", "input": {}}
            last = {"type": "text", "text": "Done."}
            provider.next = [thinking, use if step < 2 else last]
            given = messages
            if step == 1 and number % 2:
                bare = [[b for b in m["content"] if b["type"] != "thinking"] for m in messages if m["role"] != "user"]
                given = [m if m["role"] == "user" else m | {"content": bare.pop(0)} for m in messages]
            answer = provider.take("/v1/messages", session.request(given))
            if recorded:
                session.record(answer)
            messages.append({"role": "assistant", "content": answer["content"]})
            if step < 2:
                result = {"type": "tool_result", "tool_use_id": use["id"], "content": "a line of it " * 20}
                messages.append({"role": "user", "content": [result]})
    assert provider.log.problems == []
    assert provider.log.share > 0.9
    assert {call.broken_by for call in session.course.calls} <= {""}


def test_project_instructions_that_change_arrive_at_the_next_request(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("All times are UTC.\n", encoding="utf-8")
    session = ContextSession(tmp_path, base="Be careful.", git=None, snapshots=None, skills="One skill.")
    first = session.request("one")
    assert "All times are UTC." in first["system"][0]["text"]
    assert [block["text"] for block in first["messages"][0]["content"]] == ["one"]
    session.record({"content": "Done."})
    (tmp_path / "AGENTS.md").write_text("All times are local.\n", encoding="utf-8")
    second = session.request("two")
    assert json.dumps(second).count("All times are local.") == 1
    assert "All times are UTC." not in json.dumps(second)
    assert "Be careful." not in json.dumps(second["messages"])
    session.record({"content": "Done."})
    third = session.request("three")
    assert (third["system"], json.dumps(third).count("All times are local.")) == (second["system"], 1)


def test_a_session_is_not_shown_what_it_has_just_written_to_memory(tmp_path: Path) -> None:
    AutoMemory.of_project(tmp_path).remember({"decisions": ["Use UTC everywhere"]}, "before")
    provider = Provider(WINDOW, OUTPUT)
    session = run_program(tmp_path, provider, 12)
    assert session.course.compactions >= 1
    assert "Never touch the folder legacy" in (tmp_path / ".tipstaff" / "auto-memory.md").read_text(encoding="utf-8")
    messages = json.dumps(provider.log.bodies[-1]["messages"])
    assert messages.count("Use UTC everywhere") == 1
    assert messages.count("(session session, ") == 0
    later = json.dumps(ContextSession(tmp_path, git=None, snapshots=None).request("go on")["messages"])
    assert "Never touch the folder legacy" in later
    assert later.count("## What the user demanded") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<system-reminder>\nDo not forget.\n</system-reminder>\n", ""),
        ("<system-reminder>a</system-reminder> <environment_context>b</environment_context>\nfix it ", "fix it"),
        ("fix <system-reminder> in the parser", "fix <system-reminder> in the parser"),
        ("<system-reminder> never closed", ""),
        ("<div>a page of the user's</div>", "<div>a page of the user's</div>"),
        ("<", "<"),
        ("", ""),
    ],
)
def test_the_users_words_without_the_frames_of_hosts(text: str, words: str) -> None:
    assert words_of({"type": "text", "text": text}) == words


def test_many_frames_take_linear_time() -> None:
    text = "<system-reminder>x</system-reminder>" * 50_000 + "<system-reminder>" * 50_000
    assert words_of({"type": "text", "text": text}) == ""
