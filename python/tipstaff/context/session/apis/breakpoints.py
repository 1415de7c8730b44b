"""Where the Messages API keeps its prompt cache, and what a request costs with it.

A mark is at the end of the system prompt (or of the tools, without one) and at the end of the last message; another
at an earlier message where more blocks are between than the provider looks back over. Marks do not count as a change:
the provider compares what is before them. Source: the Messages API's page on prompt caching (four marks at most, a look
back over 20 blocks, 1.25 times the price to write, a tenth to read, from 1,024 tokens on).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

MARK: Final = {"type": "ephemeral"}
LOOK_BACK_BLOCKS: Final = 20
READ_PRICE: Final = 0.1
WRITE_PRICE: Final = {"anthropic": 1.25, "openai-chat": 1.0, "openai-responses": 1.0}
LEAST_CACHED_TOKENS: Final = 1_024


def with_breakpoints(
    system: str, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return ``system``, ``messages`` and ``tools`` with marks; what was given is not changed."""
    found: dict[str, Any] = {}
    if system:
        found["system"] = [{"type": "text", "text": system, "cache_control": MARK}]
    sent = list(messages)
    if sent:
        last = len(sent) - 1
        sent[last] = _marked(sent[last])
        # The last call looked up to the message of the user's before; from there it may be too far to look back.
        blocks = 0
        for index in range(last, max(-1, last - 2), -1):
            content = sent[index]["content"]
            blocks += len(content) if isinstance(content, list) else 1
        if last >= 2 and blocks >= LOOK_BACK_BLOCKS:
            sent[last - 2] = _marked(sent[last - 2])
    found["messages"] = sent
    if tools:
        definitions = list(tools)
        if not system:
            definitions[-1] = {**definitions[-1], "cache_control": MARK}
        found["tools"] = definitions
    return found


def _marked(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content: object = message["content"]
    if isinstance(content, str):
        return {**message, "content": [{"type": "text", "text": content, "cache_control": MARK}]}
    blocks = list(cast("Sequence[Mapping[str, Any]]", content))
    for at in range(len(blocks) - 1, -1, -1):
        if "thinking" not in str(blocks[at].get("type")):
            blocks[at] = {**blocks[at], "cache_control": MARK}
            break
    return {**message, "content": blocks}


def modelled_cost(tokens: int, cached: int, api: str) -> float:
    """Return what a request costs, in tokens at the price without a cache, if `cached` of its tokens are read."""
    read = cached if cached >= LEAST_CACHED_TOKENS else 0
    return READ_PRICE * read + WRITE_PRICE[api] * (tokens - read)
