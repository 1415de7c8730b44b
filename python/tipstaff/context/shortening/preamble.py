"""The two messages that a compacted conversation begins with: one compaction writes them, the next carries them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tipstaff.context.conversation.graphemes import floor_boundary
from tipstaff.context.conversation.messages import (
    EXTENSION,
    Message,
    blocks_of,
    starts_turn,
    text_of,
    words_of,
)
from tipstaff.context.conversation.transcript import shortened
from tipstaff.context.shortening.facts import Facts, read_facts
from tipstaff.context.tokens.counting import TextCounter

COMPACTED: Final = "[COMPACTED]"
CONTINUATION: Final = (
    "This session is continued from a previous conversation that ran out of context. What the user said in it follows, "
    "word for word, then a summary of what was done. Continue with the task from where it stopped; do "
    "not start over and "
    "do not ask again what has been answered."
)
GO_ON: Final = "Go on from here."
_SUMMARY_MARK: Final = "\n\n--- later ---\n\n"
LEAST_SUMMARY: Final = 60
"""Tokens that a summary is given at least."""

_FRAME_TOKENS: Final = 8
_PINNED: Final = re.compile(r"\A<pinned>\n(.*)\n</pinned>\Z", re.DOTALL)
_TASK: Final = re.compile(r"\A<task>\n(.*)\n</task>\Z", re.DOTALL)
_USER_MESSAGE: Final = re.compile(r"\A<user-message>\n(.*)\n</user-message>\Z", re.DOTALL)
_CAPS: Final = (4_000, 1_200, 500)
_LEFT_OUT: Final = re.compile(r"\A\[\d+ earlier messages of the user's left out\]\Z")


@dataclass(frozen=True, slots=True)
class Preamble:
    """What an earlier compaction left at the start of a conversation.

    Attributes
    ----------
    size
        How many messages it takes.
    pinned, task, user_texts
        Pinned texts; the first thing that the user asked for; what the user said after that.
    summaries, facts
        Of what was before.
    """

    size: int = 0
    pinned: tuple[str, ...] = ()
    task: str = ""
    user_texts: tuple[str, ...] = ()
    summaries: str = ""
    facts: Facts = field(default_factory=Facts)


def pinned_block(text: str) -> dict[str, Any]:
    """Return a block that holds a pinned text word for word."""
    return {"type": "text", "text": f"<pinned>\n{text}\n</pinned>"}


def opening(
    pinned: Sequence[str], task: str, user_texts: Sequence[str], summaries: str, facts: Facts
) -> tuple[Message, Message]:
    """Return the two messages that a conversation begins with after a compaction."""
    first: list[dict[str, Any]] = [{"type": "text", "text": CONTINUATION}]
    first += [pinned_block(text) for text in pinned]
    if task:
        first.append({"type": "text", "text": f"<task>\n{task}\n</task>"})
    first += [{"type": "text", "text": f"<user-message>\n{text}\n</user-message>"} for text in user_texts]
    body = [COMPACTED, summaries, facts.render()]
    return (
        {"role": "user", "content": first},
        {"role": "assistant", "content": [{"type": "text", "text": "\n\n".join(part for part in body if part)}]},
    )


def go_on() -> Message:
    """Return what is put before an answer that the kept part begins with: roles take turns."""
    return {"role": "user", "content": [{"type": "text", "text": GO_ON}]}


def user_texts_in(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return what the user said, message by message: not results of tools, nor context that a host added."""
    found: list[str] = []
    for message in messages:
        if message.get("role") != "user":
            continue
        texts = [words_of(block) for block in blocks_of(message) if EXTENSION not in block]
        text = "\n".join(text for text in texts if text)
        if text and text != GO_ON and (starts_turn(message) or len(text) < 20_000):
            found.append(text)
    return tuple(found)


def user_texts_within(
    task: str, user_texts: Sequence[str], tokens: int, count: TextCounter
) -> tuple[str, tuple[str, ...], bool]:
    """Return as much of what the user said as so many tokens allow.

    Returns
    -------
    task, user_texts, whole
        All of it word for word where that fits. Else long ones are cut in their middle, ever shorter; then the oldest
        but for the task go.
    """

    def cost(text: str) -> int:
        return count(text) + _FRAME_TOKENS if text else 0

    costs = [cost(text) for text in user_texts]
    if cost(task) + sum(costs) <= tokens:
        return task, tuple(user_texts), True
    shorter, cut = task, list(user_texts)
    for cap in _CAPS:
        shorter = shortened(task, max(cap, 2_000))
        cut = [
            shortened(text, cap) if size * 2 > cap // 2 and len(text) > cap else text
            for text, size in zip(user_texts, costs, strict=True)
        ]
        sizes = [size if new is old else cost(new) for new, old, size in zip(cut, user_texts, costs, strict=True)]
        if cost(shorter) + sum(sizes) <= tokens:
            return shorter, tuple(cut), False
    if cost(shorter) > tokens // 2:
        shorter = shortened(task, max(400, tokens))
    room = tokens - cost(shorter) - 12
    kept: list[str] = []
    for text in reversed(cut):
        room -= cost(text)
        if room < 0:
            break
        kept.append(text)
    gone = len(cut) - len(kept)
    note = [f"[{gone} earlier messages of the user's left out]"] if gone else []
    return shorter, (*note, *reversed(kept)), False


def joined(earlier: str, later: str) -> str:
    """Return summaries one after the other, marked as such."""
    return _SUMMARY_MARK.join(part for part in (earlier, later) if part)


def latest_summaries(summaries: str, tokens: int, count: TextCounter) -> str:
    """Return as many whole summaries as so many tokens allow, the newest; of the newest at least a part."""
    if not summaries or tokens <= 0:
        return ""
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
    """Return what an earlier compaction left; nothing where there was none."""
    if len(messages) < 2 or messages[0].get("role") != "user" or messages[1].get("role") != "assistant":
        return Preamble()
    opened, second = text_of(messages[0].get("content")), text_of(messages[1].get("content"))
    if "continued from a previous conversation" not in opened or not second.startswith(COMPACTED):
        return Preamble()
    pinned: list[str] = []
    texts: list[str] = []
    task = ""
    for block in blocks_of(messages[0]):
        text = str(block.get("text") or "")
        if (match := _PINNED.match(text)) is not None:
            pinned.append(match.group(1))
        elif (match := _TASK.match(text)) is not None:
            task = match.group(1)
        elif (match := _USER_MESSAGE.match(text)) is not None and not _LEFT_OUT.match(match.group(1)):
            texts.append(match.group(1))
    facts = read_facts(second)
    body = second[len(COMPACTED) :]
    if "<facts>\n" in body and body.rstrip().endswith("</facts>"):
        body = body[: body.rindex("<facts>\n")]
    size = 2
    if len(messages) > 2 and messages[2].get("role") == "user" and text_of(messages[2].get("content")) == GO_ON:
        size = 3
    return Preamble(size, tuple(pinned), task, tuple(texts), body.strip(), facts)
