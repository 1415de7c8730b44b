"""Whose words a text of the user's role is: one row a form of a host."""

from __future__ import annotations

import pytest

from tipstaff.context.conversation.frames import answer_in, parts_of, person_words
from tipstaff.context.conversation.messages import said_in

ROWS = [
    ("<system-reminder>\nThe file changed.\n</system-reminder>\n\nFix it", "Fix it", {"host", "person"}),
    ("Fix it\n<system_reminder>x</system_reminder>", "Fix it", {"host", "person"}),
    ("<task-notification>\n<task-id>a1</task-id>\n<result>No issues.</result>\n</task-notification>", "", {"report"}),
    ("This session is being continued from a previous conversation that ran out of context. Never ask.", "", {"host"}),
    ("[Request interrupted by user for tool use]\nno, the other file", "no, the other file", {"host", "person"}),
    ("<bash-stdout>make: ok</bash-stdout><bash-stderr></bash-stderr>", "", {"host"}),
    (
        "<command-name>/plan</command-name>\n<command-args>the login page</command-args>",
        "the login page",
        {"host", "person"},
    ),
    (
        "Base directory for this skill: /s/review\n\n# Review\n\nAlways read all.\n\nARGUMENTS: a.py",
        "a.py",
        {"skill", "argument"},
    ),
    ("Implement the following plan:\n\n# Plan\n\nAlways use tabs.", "", {"plan"}),
    ("<environment_context>\n  <cwd>/x</cwd>\n</environment_context>", "", {"host"}),
    (
        "<mode># Modes: `<mode>...</mode>` changes it.\n</mode> do it",
        "<mode># Modes: `<mode>...</mode>` changes it.\n</mode> do it",
        {"person"},
    ),
    (
        "<collaboration_mode># `<collaboration_mode>...</collaboration_mode>` changes it.\n</collaboration_mode>",
        "",
        {"host"},
    ),
    (
        "# Context from my IDE setup:\n\nopen: a.py\n\n## My request for Codex:\nrename it",
        "rename it",
        {"host", "person"},
    ),
    (
        "<user_query>\nmake it green\n</user_query>\n<attached_files>\nx = 1\n</attached_files>",
        "make it green",
        {"host", "person"},
    ),
    ("Parameter 'command' is expected to be one of ['view', 'create']", "", {"host"}),
    (
        "<uploaded_files>\n/repo\n</uploaded_files>\nFix the issue",
        "<uploaded_files>\n/repo\n</uploaded_files>\nFix the issue",
        {"person"},
    ),
    ("[image]\nthe button is off", "the button is off", {"host", "person"}),
    (
        "<current_datetime>2026</current_datetime>\n\nship it\n\n<system_reminder>t</system_reminder>",
        "ship it",
        {"host", "person"},
    ),
    ("<system-reminder>never closed", "", {"host"}),
    ("Use <b>bold</b> and [image] in one line", "Use <b>bold</b> and [image] in one line", {"person"}),
]


def test_each_form() -> None:
    for text, words, kinds in ROWS:
        assert person_words(text) == words, text
        assert {part.who for part in parts_of(text)} == kinds, text


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("User responded: keep both", "keep both"),
        (
            "The tool use was rejected. To tell you how to proceed, the user said:\nuse the other one",
            "use the other one",
        ),
        ("12 passed", ""),
    ],
)
def test_answers_in_results(result: str, words: str) -> None:
    assert answer_in(result) == words
    block = {"type": "tool_result", "tool_use_id": "a", "content": result}
    assert said_in({"role": "user", "content": [block]}) == words


def test_what_an_agent_gave_to_a_skill_is_not_the_persons() -> None:
    skill = {"type": "text", "text": "Base directory for this skill: /s\nText\nARGUMENTS: all of it"}
    done = {"type": "tool_result", "tool_use_id": "a", "content": "ok"}
    assert said_in({"role": "user", "content": [skill]}) == "all of it"
    assert said_in({"role": "user", "content": [done, skill]}) == ""


def test_many_frames_take_linear_time() -> None:
    assert parts_of("<image>\n" * 20_000)[0].who == "host"
    assert person_words("<image>\nx</image>\n" * 20_000) == ""
