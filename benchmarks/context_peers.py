"""What five ways to keep a session within a window leave of it: ``python -m benchmarks.context_peers [--write]``.

One recorded session (`tests.context.session.scripts`: calls with results, errors, nine planted facts, six constraints
of the user's) is replayed in the shape of Chat Completions. At each call a contender is given the whole conversation
and returns what it would send. All are judged alike: by a counter of the provider's own, and by rules of the API that
know nothing of the contenders. ``--write`` puts the table into ``docs/reference/context.md``. No model is asked: where
a peer asks one for a summary it is given the first and last 2,000 characters of what it wants summarized; a model keeps
other words.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.context.session import rules
from tests.context.session.scripts import CHAT_TOOLS, CONSTRAINTS, FACTS, Turn, script

from tipstaff.context import ContextSession

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "reference" / "context.md"
BEGIN, END = "<!-- peers: benchmarks.context_peers -->", "<!-- /peers -->"
WINDOW: Final = 60_000
MAX_OUTPUT: Final = 8_000
TURNS: Final = 300
SYSTEM: Final = "You are an engineer of the shop. Be careful."
_CHARS_PER_TOKEN: Final = 3.4
_LATER_SHARE: Final = 0.85
_SUMMARY_CHARS: Final = 2_000

Item = dict[str, Any]
Contender = Callable[[list[Item]], Sequence[Item]]


@dataclass
class Result:
    """How one contender did."""

    name: str
    tokens: list[int] = field(default_factory=list[int])
    milliseconds: list[float] = field(default_factory=list[float])
    shares: list[float] = field(default_factory=list[float])
    problems: int = 0
    too_long: int = 0
    refused: int = 0
    last: str = ""

    def row(self, changed: set[str]) -> str:
        """Return the row of the table."""
        kept = [sum(one in self.last for one in some) for some in (FACTS, CONSTRAINTS, changed)]
        refused = f", {self.refused} refused" if self.refused else ""
        parts = " | ".join(
            f"{number} of {len(some)}" for number, some in zip(kept, (FACTS, CONSTRAINTS, changed), strict=True)
        )
        return (
            f"| {self.name} | {parts} | {statistics.mean(self.tokens):,.0f} | {self.too_long}{refused} "
            f"| {self.problems} | {statistics.mean(self.shares[1:]):.2f} | {statistics.median(self.milliseconds):.1f} |"
        )


def conversation(turns: Sequence[Turn]) -> list[tuple[list[Item], Item]]:
    """Return for each call what is new before it, and the model's answer, in the shape of Chat Completions."""
    calls: list[tuple[list[Item], Item]] = []
    for turn in turns:
        added: list[Item] = [{"role": "user", "content": turn.user}]
        for blocks, results in turn.rounds:
            calls.append((added, _answer(blocks)))
            added = [{"role": "tool", "tool_call_id": one["tool_use_id"], "content": one["content"]} for one in results]
        calls.append((added, _answer(turn.answer)))
    return calls


def _answer(blocks: Sequence[Mapping[str, Any]]) -> Item:
    text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
        }
        for block in blocks
        if block["type"] == "tool_use"
    ]
    return {"role": "assistant", "content": text or None} | ({"tool_calls": calls} if calls else {})


def changed_files(turns: Sequence[Turn]) -> set[str]:
    """Return the files that calls really changed."""
    found: set[str] = set()
    for turn in turns:
        for blocks, results in turn.rounds:
            failed = {one["tool_use_id"] for one in results if one.get("is_error")}
            found |= {
                block["input"]["file_path"]
                for block in blocks
                if block["type"] == "tool_use" and block["name"] == "Edit" and block["id"] not in failed
            }
    return found


def count(body: Mapping[str, Any]) -> int:
    """Return the tokens of a request as the judge counts them."""
    return int(sum(len(text.encode()) for text in rules.texts(body)) / _CHARS_PER_TOKEN) + 6 * len(body["messages"])


def replayed(name: str, contender: Contender, calls: Sequence[tuple[list[Item], Item]]) -> Result:
    """Replay the session with one contender."""
    found, history, before = Result(name), [], ""
    for added, answer in calls:
        history += added
        start = time.perf_counter()
        try:
            messages = list(contender(history))
        except Exception:  # noqa: BLE001 - a peer's own way to say that it cannot make the request fit
            found.refused += 1
            history.append(answer)
            continue
        found.milliseconds.append((time.perf_counter() - start) * 1e3)
        body = {"messages": messages, "tools": CHAT_TOOLS}
        tokens, wire = count(body), rules.wire(body)
        found.tokens.append(tokens)
        found.too_long += tokens + MAX_OUTPUT > WINDOW
        found.problems += len(rules.chat_problems(body))
        found.shares.append(rules.common_prefix(before, wire) / len(wire))
        found.last = json.dumps(messages, ensure_ascii=False)
        before = wire
        history.append(answer)
    return found


def tipstaff(root: Path, calls: Sequence[tuple[list[Item], Item]]) -> Contender:
    """Return `ContextSession`; it is given each answer, with its usage."""
    session = ContextSession(
        root, api="openai-chat", model_window=WINDOW, max_output=MAX_OUTPUT, base=SYSTEM, git=None, snapshots=None
    )
    answers = iter([answer for _, answer in calls])

    def send(history: list[Item]) -> Sequence[Item]:
        body = session.request(history, CHAT_TOOLS)
        session.record(
            {"choices": [{"message": next(answers)}], "usage": {"prompt_tokens": count(body), "completion_tokens": 9}}
        )
        return body["messages"]

    return send


class _Langchain:
    """The conversation as LangChain's messages; each is converted once."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self._taken = 0

    def take(self, history: list[Item]) -> list[Any]:
        """Return the whole conversation."""
        from langchain_core.messages import convert_to_messages

        self.messages += convert_to_messages(history[self._taken :])
        self._taken = len(history)
        return self.messages

    @staticmethod
    def items(messages: Sequence[Any]) -> list[Item]:
        """Return messages as the API takes them, the system prompt first."""
        from langchain_core.messages import convert_to_openai_messages

        found: Any = convert_to_openai_messages(list(messages))
        items = [{key: value for key, value in one.items() if value is not None} for one in found]
        rest = [one for one in items if one["role"] != "system"]
        return [{"role": "system", "content": SYSTEM}, *rest]


def trim_messages() -> Contender:
    """Return LangChain's `trim_messages`: the last messages that fit, from a human message on."""
    from langchain_core.messages import trim_messages as trim
    from langchain_core.messages.utils import count_tokens_approximately

    known = _Langchain()

    def send(history: list[Item]) -> Sequence[Item]:
        kept: Any = trim(
            known.take(history),
            max_tokens=int((WINDOW - MAX_OUTPUT) * _LATER_SHARE),
            token_counter=count_tokens_approximately,
            strategy="last",
            start_on="human",
        )
        return known.items(kept)

    return send


def clear_tool_uses() -> Contender:
    """Return LangChain's `ClearToolUsesEdit`: results of tools are cleared, but for the last three."""
    from langchain.agents.middleware.context_editing import ClearToolUsesEdit
    from langchain_core.messages.utils import count_tokens_approximately

    known = _Langchain()
    edit = ClearToolUsesEdit(trigger=int((WINDOW - MAX_OUTPUT) * _LATER_SHARE))

    def send(history: list[Item]) -> Sequence[Item]:
        messages = list(known.take(history))
        edit.apply(messages, count_tokens=count_tokens_approximately)
        return known.items(messages)

    return send


def deepagents(root: Path) -> Contender:
    """Return the summarization of deepagents at its own thresholds, 85 % and 10 % of the window."""
    from deepagents.backends import FilesystemBackend
    from deepagents.middleware.summarization import SummarizationMiddleware
    from langchain.agents.middleware import ModelRequest, ModelResponse
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    class Quoting(BaseChatModel):
        """Answers with the beginning and the end of what it is asked to summarize."""

        @property
        def _llm_type(self) -> str:
            return "quoting"

        def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
            text = "\n".join(str(one.content) for one in messages)
            text = text[text.find("<messages>") + 1 :]
            summary = AIMessage(f"{text[:_SUMMARY_CHARS]}\n...\n{text[-_SUMMARY_CHARS:]}")
            return ChatResult(generations=[ChatGeneration(message=summary)])

    model = Quoting(profile={"max_input_tokens": WINDOW - MAX_OUTPUT})
    known = _Langchain()
    middleware: Any = SummarizationMiddleware(
        model,
        backend=FilesystemBackend(root_dir=root, virtual_mode=True),
        trigger=("fraction", _LATER_SHARE),
        keep=("fraction", 0.10),
    )
    state: dict[str, Any] = {"messages": known.messages}

    def send(history: list[Item]) -> Sequence[Item]:
        sent: list[Any] = []

        def handler(request: Any) -> Any:
            sent[:] = request.messages
            return ModelResponse(result=[AIMessage("ok")])

        request = ModelRequest(model=model, messages=list(known.take(history)), system_prompt=SYSTEM, state=state)
        response = middleware.wrap_model_call(request, handler)
        command = getattr(response, "command", None)
        state.update({key: value for key, value in ((command and command.update) or {}).items() if key != "messages"})
        return known.items(sent)

    return send


def llama_buffer() -> Contender:
    """Return llama-index' `ChatMemoryBuffer`."""
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import ChatMemoryBuffer

    memory = ChatMemoryBuffer.from_defaults(
        token_limit=int((WINDOW - MAX_OUTPUT) * _LATER_SHARE), tokenizer_fn=lambda text: range(len(text) // 4)
    )
    taken = 0

    def send(history: list[Item]) -> Sequence[Item]:
        nonlocal taken
        for item in history[taken:]:
            more = {key: item[key] for key in ("tool_calls", "tool_call_id") if key in item}
            memory.put(ChatMessage(role=item["role"], content=item["content"] or "", additional_kwargs=more))
        taken = len(history)
        items = [
            {"role": message.role.value, "content": message.content or "", **message.additional_kwargs}
            for message in memory.get()
        ]
        return [{"role": "system", "content": SYSTEM}, *items]

    return send


def table(results: Sequence[Result], calls: int, changed: set[str]) -> list[str]:
    """Return the lines of the table."""
    return [
        f"{TURNS} turns, {calls} calls, a window of {WINDOW:,} tokens of which {MAX_OUTPUT:,} are kept for the answer:",
        "",
        "| | facts kept | constraints | changed files | mean tokens | over the window | violations | unchanged | ms |",
        "|---|---|---|---|---|---|---|---|---|",
        *(result.row(changed) for result in results),
    ]


def main() -> None:
    """Measure and print; with ``--write``, put the table into the docs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/reference/context.md")
    write = parser.parse_args().write
    turns = script(1, TURNS)
    calls, changed = conversation(turns), changed_files(turns)
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = Path(folder)
        contenders: list[tuple[str, Callable[[], Contender]]] = [
            ("`ContextSession`", lambda: tipstaff(root, calls)),
            ("LangChain 1.4.7 `trim_messages`", trim_messages),
            ("LangChain 1.4.7 `ClearToolUsesEdit`", clear_tool_uses),
            ("deepagents 0.7.32 summarization", lambda: deepagents(root)),
            ("llama-index-core 0.14.25 `ChatMemoryBuffer`", llama_buffer),
        ]
        for name, made in contenders:
            results.append(replayed(name, made(), calls))
            print(results[-1].row(changed), flush=True)
    lines = table(results, len(calls), changed)
    if write:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
