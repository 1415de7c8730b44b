"""What users of each SDK give a session: every kind of content, and everything that goes wrong between two calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anthropic.types as claude
import pytest

from tests.context.session.rules import anthropic_problems, chat_problems, responses_problems
from tipstaff.context import ContextSession, MessageError

PROBLEMS: dict[str, Any] = {
    "anthropic": anthropic_problems,
    "openai-chat": chat_problems,
    "openai-responses": responses_problems,
}
APIS = sorted(PROBLEMS)
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def session(root: Path, api: Any = "anthropic", **options: Any) -> ContextSession:
    given: dict[str, Any] = {"model_window": 32_000, "max_output": 4_000, "git": None, "snapshots": None}
    return ContextSession(root, api=api, **(given | {"memory": None} | options))


def sent(found: ContextSession, api: str, messages: Any, tools: Any = ()) -> dict[str, Any]:
    """Return a request that the API takes, as JSON."""
    body = found.request(messages, tools)
    json.dumps(body, ensure_ascii=False).encode()
    assert PROBLEMS[api](body) == []
    return body


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def call(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Read", "input": given or {"file_path": "a.py"}}


def result(name: str, content: Any = "ok") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": name, "content": content}


@pytest.mark.parametrize("api", APIS)
def test_text_of_every_plane_and_halves_of_surrogate_pairs(api: str, tmp_path: Path) -> None:
    planes = "".join(chr(plane * 0x10000 + 0x141) for plane in range(17))
    body = sent(session(tmp_path, api), api, [user(f"{planes} \ud800 \ud83d\ude00 \udcff")])
    text = json.dumps(body, ensure_ascii=False)
    assert planes in text
    assert "😀" in text
    assert text.count("\ufffd") == 2


@pytest.mark.parametrize("api", APIS)
def test_a_user_who_says_nothing(api: str, tmp_path: Path) -> None:
    found = session(tmp_path, api)
    sent(found, api, [user("hi"), {"role": "assistant", "content": "hello"}, user("  ")])
    with pytest.raises(MessageError, match="no messages"):
        session(tmp_path, api).request([user("")])


def test_results_with_empty_parts_pictures_and_nothing(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": [call("t1"), call("t2"), call("t3")]}
    results = [result("t3", [IMAGE, {"type": "text", "text": " "}]), result("t1", []), result("t2", None)]
    blocks = sent(session(tmp_path), "anthropic", [user("look"), answer, user(results)])["messages"][2]["content"][:3]
    assert [block["tool_use_id"] for block in blocks] == ["t1", "t2", "t3"]
    assert blocks[2]["content"] == [IMAGE]


def test_thinking_comes_back_as_it_was_signed(tmp_path: Path) -> None:
    found = session(tmp_path)
    found.request([user("q")])
    answer = claude.Message(
        id="m",
        type="message",
        role="assistant",
        model="local",
        content=[
            claude.ThinkingBlock(type="thinking", thinking="", signature="s1"),
            claude.RedactedThinkingBlock(type="redacted_thinking", data="opaque"),
            claude.TextBlock(type="text", text="", citations=None),
            claude.ToolUseBlock(type="tool_use", id="t1", name="Read", input={}),
        ],
        stop_reason="tool_use",
        stop_sequence=None,
        usage=claude.Usage(input_tokens=10, output_tokens=5),
    )
    found.record(answer)
    messages = [user("q"), {"role": "assistant", "content": answer.content}, user([result("t1")])]
    assert sent(found, "anthropic", messages)["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "", "signature": "s1"},
        {"type": "redacted_thinking", "data": "opaque"},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {}},
    ]


def test_an_interrupted_server_tool_continues_in_its_own_message(tmp_path: Path) -> None:
    found = session(tmp_path)
    found.request([user("q")])
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    found.record({"content": [search], "stop_reason": "pause_turn"})
    assert found.request([])["messages"][-1]["content"][0]["id"] == "s1"
    hits = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    found.record({"content": [hits, {"type": "text", "text": "found"}]})
    roles = [message["role"] for message in found.request("next")["messages"]]
    assert roles == ["user", "assistant", "user"]


def test_the_beginning_of_an_answer_is_gone_on_with(tmp_path: Path) -> None:
    found = session(tmp_path)
    begun = found.request([user("q"), {"role": "assistant", "content": "The answer is "}])["messages"]
    assert begun[-1]["content"][0]["text"] == "The answer is"
    found.record({"content": [{"type": "text", "text": "42"}]})
    body = sent(found, "anthropic", "why?")
    assert [block["text"] for block in body["messages"][1]["content"]] == ["The answer is ", "42"]


def test_ids_of_calls_that_come_again(tmp_path: Path) -> None:
    found = session(tmp_path)
    messages: list[Any] = [user("q")]
    for text in ("one", "two"):
        messages += [{"role": "assistant", "content": [call("call_0"), call("call_0")]}]
        messages += [user([result("call_0", text), result("call_0", f"{text} more")])]
    sent(found, "anthropic", messages)
    found.record({"content": [call("call_0")]})
    body = sent(
        found,
        "anthropic",
        [*messages, {"role": "assistant", "content": [call("call_0")]}, user([result("call_0", "three")])],
    )
    results = [block for message in body["messages"][2::2] for block in message["content"]]
    assert [block["content"] for block in results if "content" in block] == [
        "one",
        "one more",
        "two",
        "two more",
        "three",
    ]


def test_a_callers_own_marks_for_the_cache_are_not_added_to_the_sessions(tmp_path: Path) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    messages: list[Any] = []
    for number in range(5):
        messages += [user([{"type": "text", "text": f"turn {number}"} | mark]), {"role": "assistant", "content": "ok"}]
    tool = {"name": "Read", "description": "Reads.", "input_schema": {"type": "object", "properties": {}}} | mark
    sent(session(tmp_path, base="Be careful."), "anthropic", [*messages, user("x")], [tool])


@pytest.mark.parametrize(("api", "size"), [(api, size) for api in APIS for size in (2_000_000,)])
def test_a_result_of_two_megabytes(api: str, size: int, tmp_path: Path) -> None:
    text = "x = 1  # a line\n" * (size // 16)
    conversations: dict[str, list[Any]] = {
        "anthropic": [user("read"), {"role": "assistant", "content": [call("t1")]}, user([result("t1", text)])],
        "openai-chat": [user("read"), chat_call("t1"), {"role": "tool", "tool_call_id": "t1", "content": text}],
        "openai-responses": [
            user("read"),
            {"type": "function_call", "call_id": "t1", "name": "Read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "t1", "output": text},
        ],
    }
    body = sent(session(tmp_path, api), api, conversations[api])
    assert "did not fit into the window" in json.dumps(body)
    assert len(json.dumps(body)) < 4 * 32_000


def chat_call(name: str, arguments: str = "{}") -> dict[str, Any]:
    function = {"name": "Read", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }


def test_two_hundred_tools(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {f"p{i}": {"type": "string", "description": "a field " * 5} for i in range(8)},
    }
    tools = [{"name": f"tool_{i}", "description": "does a thing " * 30, "input_schema": schema} for i in range(200)]
    for api in APIS:
        body = sent(session(tmp_path, api, model_window=200_000), api, [user("x")], tools)
        assert len(body["tools"]) == 200
        with pytest.raises(ValueError, match="largest parts: tools"):
            session(tmp_path, api).request([user("x")], tools)


@pytest.mark.parametrize("arguments", ["", "{broken", "[1]", "null", '"text"'])
def test_arguments_that_are_no_object(arguments: str, tmp_path: Path) -> None:
    messages = [user("q"), chat_call("c1", arguments), {"role": "tool", "tool_call_id": "c1", "content": ""}]
    sent(session(tmp_path, "openai-chat"), "openai-chat", messages)
    items: list[Any] = [user("q"), {"type": "function_call", "call_id": "c1", "name": "Read", "arguments": arguments}]
    items.append({"type": "function_call_output", "call_id": "c1", "output": ""})
    found = session(tmp_path, "openai-responses")
    first = sent(found, "openai-responses", items)["input"][1]["arguments"]
    assert isinstance(json.loads(first), dict)


def test_calls_of_custom_tools_spoken_answers_and_the_former_form(tmp_path: Path) -> None:
    custom = {"id": "c1", "type": "custom", "custom": {"name": "grep", "input": "x y"}}
    messages = [
        user("q"),
        {"role": "assistant", "tool_calls": [custom]},
        {"role": "tool", "tool_call_id": "c1", "content": "z"},
    ]
    assert session(tmp_path, "openai-chat").request(messages)["messages"][1]["tool_calls"] == [custom]
    found = session(tmp_path, "openai-chat")
    found.request([user("q")])
    audio = {"id": "a1", "data": "AAAA", "expires_at": 1, "transcript": "spoken words"}
    found.record({"choices": [{"message": {"role": "assistant", "content": None, "audio": audio}}]})
    assert sent(found, "openai-chat", [user("b")])["messages"][1]["content"] == "spoken words"
    former = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    with pytest.raises(MessageError, match="use tool_calls"):
        session(tmp_path, "openai-chat").request([user("q"), former])


SHELL = {"type": "shell_call", "id": "sh", "call_id": "c1", "action": {"commands": ["ls"]}, "status": "completed"}
SHELL_OUTPUT = [{"stdout": "listing\n" * 900, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
SCREEN = {"type": "computer_screenshot", "image_url": "data:image/png;base64,AA"}
CALLS: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    (SHELL, {"type": "shell_call_output", "call_id": "c1", "output": SHELL_OUTPUT}),
    (
        {"type": "custom_tool_call", "id": "x", "call_id": "c1", "name": "grep", "input": "needle " * 900},
        {"type": "custom_tool_call_output", "call_id": "c1", "output": "straw " * 900},
    ),
    (
        {"type": "computer_call", "id": "x", "call_id": "c1", "action": {"type": "wait"}, "status": "completed"},
        {"type": "computer_call_output", "call_id": "c1", "output": SCREEN},
    ),
    (
        {
            "type": "function_call",
            "id": "fc_9",
            "call_id": "c1",
            "name": "f",
            "arguments": json.dumps({"a": "b" * 5_000}),
        },
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "word " * 900}]},
    ),
)


@pytest.mark.parametrize(("made", "output"), CALLS)
def test_calls_of_every_kind_keep_their_outputs(made: dict[str, Any], output: dict[str, Any], tmp_path: Path) -> None:
    found = session(tmp_path, "openai-responses", model_window=16_000)
    found.request("go")
    found.record({"output": [made]})
    assert sent(found, "openai-responses", [output])["input"][1:] == [made, output]
    found.record(
        {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}]}
    )
    # Long afterwards they are shortened, or left out, together.
    for number in range(22):
        body = sent(found, "openai-responses", f"turn {number}: " + "words of the user " * 150)
        kinds = [item["type"] for item in body["input"] if item.get("call_id") == "c1"]
        assert kinds in ([made["type"], output["type"]], [])
        found.record(
            {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]}]}
        )
    assert found.course.compactions >= 1


@pytest.mark.parametrize("made", [pair[0] for pair in CALLS if pair[0]["type"] != "computer_call"])
def test_calls_of_every_kind_that_were_interrupted(made: dict[str, Any], tmp_path: Path) -> None:
    found = session(tmp_path, "openai-responses")
    found.request("go")
    found.record({"output": [made]})
    items = sent(found, "openai-responses", "stop that")["input"]
    assert items[2]["type"] == f"{made['type']}_output"
    assert items[2]["call_id"] == "c1"


def test_what_the_provider_ran_itself_stays_in_its_answer(tmp_path: Path) -> None:
    found = session(tmp_path, "openai-responses")
    found.request("go")
    text = {"type": "output_text", "text": "hi", "annotations": []}
    output: list[dict[str, Any]] = [
        {"type": "web_search_call", "id": "ws", "status": "completed", "action": {"type": "search", "query": "x"}},
        {"type": "tool_search_call", "id": "ts", "call_id": "c7", "arguments": {}, "execution": "server"},
        {"type": "tool_search_output", "id": "to", "call_id": "c7", "tools": [], "execution": "server"},
        {"type": "image_generation_call", "id": "ig", "status": "completed", "result": "A" * 400_000},
        {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]},
    ]
    found.record({"output": output})
    assert found.request("b")["input"][1:-1] == output
    assert found.request([user("go"), *output, user("b")])["input"][1:-1] == output


@pytest.mark.parametrize(
    ("api", "message", "named"),
    [
        ("anthropic", {"role": "tool", "tool_call_id": "x", "content": "y"}, "from_openai_chat"),
        (
            "anthropic",
            {"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"},
            "from_openai_responses",
        ),
        ("anthropic", user([{"type": "image_url", "image_url": {"url": "x"}}]), "from_openai_chat"),
        ("anthropic", user([{"type": "input_text", "text": "x"}]), "from_openai_responses"),
        ("openai-chat", user([result("x")]), "to_openai_chat"),
        ("openai-chat", {"type": "function_call_output", "call_id": "x", "output": "y"}, "from_openai_responses"),
        ("openai-responses", {"role": "tool", "tool_call_id": "x", "content": "y"}, "from_openai_chat"),
        ("openai-responses", user([result("x")]), "to_openai_responses"),
    ],
)
def test_messages_of_another_api_are_refused_by_the_name_of_their_converter(
    api: str, message: Any, named: str, tmp_path: Path
) -> None:
    import tipstaff.context

    assert callable(getattr(tipstaff.context, named))
    with pytest.raises(MessageError, match=named):
        session(tmp_path, api).request([user("q"), message])


def test_a_long_session_resumed_from_disk(tmp_path: Path) -> None:
    messages: list[Any] = []
    for number in range(200):
        answer = {"role": "assistant", "content": [call(f"t{number}")]}
        messages += [user(f"step {number}: " + "words " * 20), answer, user([result(f"t{number}", "out " * 400)])]
        messages += [{"role": "assistant", "content": "did it"}]
    messages = json.loads(json.dumps([*messages, user("go on")]))
    found = session(tmp_path)
    body = sent(found, "anthropic", messages)
    assert found.request(messages) == body
    assert "step 199" in json.dumps(body)
