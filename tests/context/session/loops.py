"""Whole sessions against a local provider: the loops that an agent's author writes, one for each API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anthropic
import openai

from tests.context.session.scripts import CHAT_TOOLS, RESPONSES_TOOLS, TOOLS, Turn
from tests.context.session.servers import Provider
from tipstaff.context.session.session import ContextSession

TYPED_CALLS = 24
"""After so many calls bodies are given to OpenAI's SDK as they are: it takes a second to type a hundred items."""


def run_anthropic(
    session: ContextSession,
    provider: Provider,
    url: str,
    turns: Sequence[Turn],
    *,
    whole: bool = True,
    objects: bool = True,
    stream: bool = False,
) -> list[Any]:
    """Run a session with the Messages API; `whole` gives all messages each time, `objects` the SDK's own."""
    messages: list[Any] = []

    def call(blocks: list[dict[str, Any]]) -> Any:
        provider.next = blocks
        body = session.request(messages, TOOLS)
        if stream:
            with client.messages.stream(model="local", **body) as events:
                answer: Any = events.get_final_message()
        else:
            answer = client.messages.create(model="local", **body)
        session.record(answer)
        if not whole:
            messages.clear()
        elif objects:
            messages.append({"role": "assistant", "content": answer.content})
        else:
            messages.append({"role": "assistant", "content": [b.model_dump(exclude_none=True) for b in answer.content]})
        return answer

    with anthropic.Anthropic(api_key="local", base_url=url, max_retries=0) as client:
        for turn in turns:
            messages.append({"role": "user", "content": turn.user})
            for blocks, results in turn.rounds:
                call(blocks)
                messages.append({"role": "user", "content": results})
            call(turn.answer)
    return messages


def run_chat(
    session: ContextSession,
    provider: Provider,
    url: str,
    turns: Sequence[Turn],
    *,
    whole: bool = True,
    stream: bool = False,
) -> list[Any]:
    """Run a session with Chat Completions."""
    messages: list[Any] = [{"role": "system", "content": "You are an engineer of the shop."}]

    def call(blocks: list[dict[str, Any]]) -> Any:
        provider.next = blocks
        body = session.request(messages, CHAT_TOOLS)
        typed = len(provider.log.tokens) < TYPED_CALLS
        if stream:
            usage: Any = {"stream_options": {"include_usage": True}}
            given: Any = body if typed else {"messages": [], "extra_body": body}
            with client.chat.completions.stream(model="local", **usage, **given) as events:
                answer: Any = events.get_final_completion()
        elif typed:
            answer = client.chat.completions.create(model="local", **body)
        else:
            answer = client.chat.completions.create(model="local", messages=[], extra_body=body)
        session.record(answer)
        if whole:
            messages.append(answer.choices[0].message)
        else:
            messages.clear()
        return answer

    with openai.OpenAI(api_key="local", base_url=f"{url}/v1", max_retries=0) as client:
        for turn in turns:
            messages.append({"role": "user", "content": turn.user})
            for blocks, results in turn.rounds:
                call(blocks)
                messages.extend(
                    {"role": "tool", "tool_call_id": one["tool_use_id"], "content": one["content"]} for one in results
                )
            call(turn.answer)
    return messages


def run_responses(
    session: ContextSession,
    provider: Provider,
    url: str,
    turns: Sequence[Turn],
    *,
    whole: bool = True,
    stream: bool = False,
) -> list[Any]:
    """Run a session with Responses."""
    items: list[Any] = []

    def call(blocks: list[dict[str, Any]]) -> Any:
        provider.next = blocks
        body = session.request(items, RESPONSES_TOOLS)
        typed = len(provider.log.tokens) < TYPED_CALLS // 4
        if stream:
            given: Any = body if typed else {"input": [], "extra_body": body}
            with client.responses.stream(model="local", store=False, **given) as events:
                answer: Any = events.get_final_response()
        elif typed:
            answer = client.responses.create(model="local", store=False, **body)
        else:
            answer = client.responses.create(model="local", store=False, extra_body=body)
        session.record(answer)
        if whole:
            items.extend(answer.output)
        else:
            items.clear()
        return answer

    with openai.OpenAI(api_key="local", base_url=f"{url}/v1", max_retries=0) as client:
        for turn in turns:
            items.append({"role": "user", "content": turn.user})
            for blocks, results in turn.rounds:
                call(blocks)
                items.extend(
                    {"type": "function_call_output", "call_id": one["tool_use_id"], "output": one["content"]}
                    for one in results
                )
            call(turn.answer)
    return items


RUNS = {"anthropic": run_anthropic, "openai-chat": run_chat, "openai-responses": run_responses}


def sent_text(provider: Provider) -> str:
    """Return all that the last request said, as one text."""
    return json.dumps(provider.log.bodies[-1], ensure_ascii=False)
