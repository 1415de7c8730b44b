"""Facts: files, commands and errors out of calls and results, each once, quoted rightly."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.context.shortening.facts import Facts, extract_facts, read_facts


def call(name: str, value: Any, output: Any = "ok", *, error: bool = False) -> list[dict[str, Any]]:
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": "t", "content": output}
    if error:
        result["is_error"] = True
    return [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": name, "input": value}]},
        {"role": "user", "content": [result]},
    ]


@pytest.mark.parametrize(
    ("name", "value", "files"),
    [
        ("write_file", {"file_path": "a.py"}, ("a.py",)),
        ("Edit", {"file_path": 'quo"te.py'}, ('quo"te.py',)),
        ("mcp__fs__edit_file", {"path": "b.py"}, ("b.py",)),
        ("str_replace_based_edit_tool", {"command": "view", "path": "b.py"}, ()),
        ("str_replace_based_edit_tool", {"command": "create", "path": "b.py"}, ("b.py",)),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: x/y.py\n*** Add File: z.py\n"},
            ("x/y.py", "z.py"),
        ),
        ("Read", {"file_path": "a.py"}, ()),
    ],
)
def test_changed_files(name: str, value: dict[str, Any], files: tuple[str, ...]) -> None:
    assert extract_facts(call(name, value)).files == files
    assert extract_facts(call(name, value, error=True)).files == ()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ('git commit -m "a \\"quoted\\" word"', True),
        ("lsof -i :8080 -P", True),
        ("cd src && make all", True),
        ("cd /a/very/long/path/to/somewhere", False),
        ("ls -la /a/very/long/path", False),
        ("cd a && ls -la && pwd", False),
        ("short", False),
    ],
)
def test_d27_commands_are_reported_verbatim(command: str, expected: bool) -> None:
    assert extract_facts(call("bash", {"command": command})).commands == ((command,) if expected else ())


def test_d27_nothing_is_reported_twice_and_null_is_no_error() -> None:
    messages = [
        *call("Bash", {"command": "make everything"}),
        *call("Bash", {"command": "make everything"}, None, error=True),
        *call("shell", {"command": ["bash", "-lc", "make it 'so'"]}, "boom\nbang", error=True),
        *call("write_file", {"file_path": "a.py"}),
        *call("write_file", {"file_path": "a.py"}, [{"type": "text", "text": "boom\nbang"}], error=True),
    ]
    messages[6]["content"][0]["id"] = messages[7]["content"][0]["tool_use_id"] = "u"
    facts = extract_facts(messages)
    assert facts.commands == ("make everything", "bash -lc 'make it '\"'\"'so'\"'\"''")
    assert facts.errors == ("boom bang",)
    assert facts.files == ("a.py",)
    assert facts.items()[0] == "Modified file: a.py"


def test_long_ones_are_cut_between_characters() -> None:
    facts = extract_facts([*call("bash", {"command": "echo " + "👩‍👩‍👧" * 90}), *call("x", {}, "e" * 300, error=True)])
    assert facts.commands[0].endswith("...")
    assert not facts.commands[0].removesuffix("...").endswith("\u200d")
    assert facts.errors == ("e" * 200 + "...",)


def test_a_demand_within_a_long_sentence_is_taken_from_its_clause_on() -> None:
    before, after = "we looked at the totals of many regions " * 12, " and so it goes on for a long while" * 12
    text = f"{before}, never touch the folder legacy/billing{after}"
    (found,) = extract_facts([{"role": "user", "content": text}]).constraints
    assert found.startswith("never touch the folder legacy/billing and so")
    assert len(found) <= 403
    without = f"{before} never touch the folder legacy/billing{after}"
    (found,) = extract_facts([{"role": "user", "content": without}]).constraints
    assert "never touch the folder legacy/billing" in found
    assert extract_facts([{"role": "user", "content": "only lines of a log " * 900}]).constraints == ()


texts = st.tuples(st.lists(st.text(max_size=20), max_size=4, unique=True).map(tuple)).map(lambda one: one[0])


@given(st.builds(Facts, texts, texts, texts))
def test_what_is_written_is_read_back(facts: Facts) -> None:
    assert read_facts("before\n" + facts.render() + "\nafter") == facts
    assert facts.merged(facts) == facts


def test_where_room_is_short_plain_demands_outlive_sentences_with_a_word_of_many_meanings() -> None:
    wishes = tuple(f"The totals of region {number} stay in the table" for number in range(400))
    demands = ("Never touch the folder legacy", "Remember that the port is 5544")
    facts = Facts(files=("a.py", "b.py"), constraints=(*demands, *wishes))
    short = facts.within(300, lambda text: len(text) // 4)
    assert short.constraints[:2] == demands
    assert short.files == ("a.py", "b.py")
    assert 2 < len(short.constraints) < 40
    assert short.constraints[-1] == wishes[-1]
