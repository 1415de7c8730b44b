"""The two messages that a compacted conversation begins with: one compaction writes them, the next carries them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tipstaff.context.conversation.messages import Message, blocks_of, text_of
from tipstaff.context.conversation.transcript import shortened
from tipstaff.context.prompt.graphemes import floor_boundary
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.facts import Facts, read_facts
from tipstaff.context.tokens.counting import TextCounter

COMPACTED: Final = "[COMPACTED]"
CONTINUATION: Final = (
    "This session is continued from a previous conversation that ran out of context. Its summary follows. Continue "
    "with the task from where it stopped; do not start over and do not ask again what has been answered."
)
GO_ON: Final = "Go on from here."
_SUMMARY_MARK: Final = "\n\n--- later ---\n\n"
LEAST_SUMMARY: Final = 60
"""Tokens that a summary is given at least."""

_CARRIED_SHARE: Final = 0.5
_TASK_SHARE: Final = 0.25
_PINNED: Final = re.compile(r"\A<pinned>\n(.*)\n</pinned>\Z", re.DOTALL)
_TASK: Final = re.compile(r"\A<task>\n(.*)\n</task>\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Preamble:
    """What an earlier compaction left at the start of a conversation."""

    size: int = 0
    pinned: tuple[str, ...] = ()
    task: str = ""
    summaries: str = ""
    facts: Facts = field(default_factory=Facts)


def pinned_block(text: str) -> dict[str, Any]:
    """Return a block that holds a pinned text word for word."""
    return {"type": "text", "text": f"<pinned>\n{text}\n</pinned>"}


def opening(
    pinned: Sequence[str],
    task: str,
    preamble: Preamble,
    summary: str,
    facts: Facts,
    config: CompactionConfig,
    count: TextCounter,
) -> tuple[Message, Message]:
    """Return the two messages that a conversation begins with after a compaction."""
    most = int(config.prune_target_tokens * _TASK_SHARE) * 4
    first: list[dict[str, Any]] = [{"type": "text", "text": CONTINUATION}]
    first += [pinned_block(text) for text in pinned]
    if task:
        first.append({"type": "text", "text": f"<task>\n{shortened(task, max(400, most))}\n</task>"})
    carried = latest_summaries(
        preamble.summaries, max(LEAST_SUMMARY, int(config.prune_target_tokens * _CARRIED_SHARE)), count
    )
    body = [COMPACTED, joined(carried, summary), facts.render()]
    return (
        {"role": "user", "content": first},
        {"role": "assistant", "content": [{"type": "text", "text": "\n\n".join(part for part in body if part)}]},
    )


def go_on() -> Message:
    """Return what stands before an answer that the kept part begins with: roles take turns."""
    return {"role": "user", "content": [{"type": "text", "text": GO_ON}]}


def joined(earlier: str, later: str) -> str:
    """Return summaries one after the other, marked as such."""
    return _SUMMARY_MARK.join(part for part in (earlier, later) if part)


def latest_summaries(summaries: str, tokens: int, count: TextCounter) -> str:
    """Return as many whole summaries as so many tokens allow, the newest; of the newest at least a part."""
    parts = summaries.split(_SUMMARY_MARK)
    for first in range(len(parts)):
        kept = _SUMMARY_MARK.join(parts[first:])
        if count(kept) <= tokens:
            return kept
    return cut_to(parts[-1], tokens, count)


def cut_to(text: str, tokens: int, count: TextCounter) -> str:
    """Return as much of a text's beginning as so many tokens allow."""
    if tokens <= 0:
        return ""
    while text and (cost := count(text)) > tokens:
        size = min(len(text) - 1, len(text) * tokens // cost)
        text = text[: floor_boundary(text, size)].rstrip()
    return text


def read_preamble(messages: Sequence[Message]) -> Preamble:
    """Return what an earlier compaction left, nothing where there was none."""
    if len(messages) < 2 or messages[0].get("role") != "user" or messages[1].get("role") != "assistant":
        return Preamble()
    opening, said = text_of(messages[0].get("content")), text_of(messages[1].get("content"))
    if "continued from a previous conversation" not in opening or not said.startswith(COMPACTED):
        return Preamble()
    pinned: list[str] = []
    task = ""
    for block in blocks_of(messages[0]):
        text = str(block.get("text") or "")
        if (match := _PINNED.match(text)) is not None:
            pinned.append(match.group(1))
        elif (match := _TASK.match(text)) is not None:
            task = match.group(1)
    facts = read_facts(said)
    body = said[len(COMPACTED) :]
    if "<facts>\n" in body and body.rstrip().endswith("</facts>"):
        body = body[: body.rindex("<facts>\n")]
    size = 2
    if len(messages) > 2 and messages[2].get("role") == "user" and text_of(messages[2].get("content")) == GO_ON:
        size = 3
    return Preamble(size, tuple(pinned), task, body.strip(), facts)
