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


def _ran(number: int, name: str, value: dict[str, Any], output: str) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"t{number}", "name": name, "input": value}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


WAITING: list[tuple[list[dict[str, Any]], tuple[str, ...]]] = [
    (_ran(1, "exec", {"cmd": "make wait-for-it"}, "Process running with session ID 6"), ("still running as 6",)),
    (_ran(1, "Bash", {"command": "npm run dev"}, "Command running in background with ID: b_1"), ("running as b_1",)),
    (_ran(1, "bash", {"command": "npm run dev"}, "<command with shellId: 3 is still running after 30 s"), ("as 3",)),
    (
        _ran(1, "exec", {"cmd": "make wait-for-it"}, "Process running with session ID 6")
        + _ran(2, "write_stdin", {"session_id": 6}, "Process exited with code 0"),
        (),
    ),
    ([{"role": "assistant", "content": "The agent is spawned as `results-layout` from main."}], ("`results-layout`",)),
    ([{"role": "assistant", "content": "A TODO comment says that aliases matter."}], ()),
]


def test_what_runs_on_is_waited_for_until_it_is_over() -> None:
    for messages, expected in WAITING:
        step: Facts | None = None
        for end in range(0, len(messages), 2):  # read piece by piece, as a session does
            step = extract_facts(messages[end : end + 2], step)
        for found in (extract_facts(messages).waiting, (step or Facts()).waiting):
            assert len(found) == len(expected), messages
            assert all(part in one for part, one in zip(expected, found, strict=True)), found


def test_what_the_agent_does_is_said_at_its_end_and_belongs_to_the_task() -> None:
    long = "Analysis of the old gradient. " * 20 + "Now I write the parser."
    call = {"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a.py"}}
    asked = {"role": "user", "content": "Mend the parser."}
    doing = extract_facts([asked, {"role": "assistant", "content": [{"type": "text", "text": long}, call]}])
    assert doing.doing.endswith("Now I write the parser. [Read a.py]")
    assert "now working on" in doing.state()
    said = extract_facts([asked, {"role": "assistant", "content": long}])
    assert "last said" in said.state()
    assert read_facts(said.state()) == Facts(task=said.task, doing=said.doing)
    assert extract_facts([{"role": "user", "content": "Now the printer, please."}], said).doing == ""
