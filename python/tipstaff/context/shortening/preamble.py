"""The two messages that a compacted conversation begins with: one compaction writes them, the next carries them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tipstaff.context.conversation.frames import PLAN, REPORT, SKILL
from tipstaff.context.conversation.graphemes import floor_boundary
from tipstaff.context.conversation.messages import Message, blocks_of, host_parts, said_in, starts_turn, text_of
from tipstaff.context.conversation.transcript import shortened
from tipstaff.context.shortening.facts import Facts, read_facts
from tipstaff.context.tokens.counting import TextCounter
from tipstaff.errors import ConfigError
from tipstaff.model import Record


class CompactionConfig(Record, frozen=True):
    """When a conversation is pruned or compacted, and down to what.

    Attributes
    ----------
    context_window_tokens, max_output_tokens
        The model's window, and what of it is kept for the answer.
    system_prompt_tokens
        What of the window is set apart for the system prompt; the prompt is then not counted a second time.
    compaction_threshold, prune_target, protected_turns
        Shares of the effective window: what sets it off, what is aimed at; as many of the user's last turns are kept.

    Raises
    ------
    ConfigError
        If a value lies outside its range.
    """

    context_window_tokens: int = 200_000
    max_output_tokens: int = 16_384
    system_prompt_tokens: int = 0
    compaction_threshold: float = 0.85
    prune_target: float = 0.60
    protected_turns: int = 5

    def __post_init__(self) -> None:
        for name in ("context_window_tokens", "max_output_tokens", "system_prompt_tokens", "protected_turns"):
            value: object = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ConfigError(f"{name}: expected a whole number, 0 or more, got {value!r}")
        if self.context_window_tokens == 0 or self.max_output_tokens >= self.context_window_tokens:
            raise ConfigError(
                f"max_output_tokens: expected less than the window of {self.context_window_tokens} tokens, "
                f"got {self.max_output_tokens}"
            )
        if not 0 < self.compaction_threshold <= 1:
            msg = f"compaction_threshold: expected a share above 0, at most 1, got {self.compaction_threshold!r}"
            raise ConfigError(msg)
        if not 0 < self.prune_target < self.compaction_threshold:
            raise ConfigError(f"prune_target: expected a share above 0, below the threshold, got {self.prune_target!r}")

    @property
    def effective_window_tokens(self) -> int:
        """What is left of the window for tools and messages, and for a prompt nothing was set apart for."""
        return max(0, self.context_window_tokens - self.max_output_tokens - self.system_prompt_tokens)

    @property
    def trigger_tokens(self) -> int:
        """Pruning and compaction begin above this."""
        return int(self.effective_window_tokens * self.compaction_threshold)

    @property
    def prune_target_tokens(self) -> int:
        """They end at or below this."""
        return int(self.effective_window_tokens * self.prune_target)


COMPACTED: Final = "[COMPACTED]"
CONTINUATION: Final = (
    "This session is continued from a previous conversation that ran out of context. First comes what the user said, "
    "word for word, the oldest first: a later message replaces an earlier one about the same thing. Then, under "
    "<state>, what was so at its end, and a summary of what was done. Continue from where it stopped; do not start "
    "over and do not ask again what has been answered."
)
GO_ON: Final = "Go on from here."
_SUMMARY_MARK: Final = "\n\n--- before that ---\n\n"
_NOW, _THEN = "Current state:", "State at that time:"
LEAST_SUMMARY: Final = 60
"""Tokens that a summary is given at least."""

_FRAME_TOKENS: Final = 8
_PINNED: Final = re.compile(r"\A<pinned>\n(.*)\n</pinned>\Z", re.DOTALL)
_STATE: Final = re.compile(r"\A<state>\n(.*)\n</state>\Z", re.DOTALL)
_HOST_MESSAGE: Final = re.compile(r"\A<host-message kind=\"(\w+)\">\n(.*)\n</host-message>\Z", re.DOTALL)
_USER_MESSAGE: Final = re.compile(r"\A<user-message>\n(.*)\n</user-message>\Z", re.DOTALL)
_CAPS: Final = (4_000, 1_200, 500)
_HOST_CAPS: Final = {PLAN: 6_000, SKILL: 1_500, REPORT: 700}
_MOST_HOST_TEXTS: Final = 8
_LEFT_OUT: Final = re.compile(r"\A\[\d+ earlier messages of the user's left out\]\Z")


@dataclass(frozen=True, slots=True)
class Preamble:
    """What an earlier compaction left in the first `size` messages of a conversation.

    Pinned texts, what the user said, the plans, skills and reports that a host brought (kind and text), summaries and
    facts of what was before.
    """

    size: int = 0
    pinned: tuple[str, ...] = ()
    user_texts: tuple[str, ...] = ()
    host_texts: tuple[tuple[str, str], ...] = ()
    summaries: str = ""
    facts: Facts = field(default_factory=Facts)


def pinned_block(text: str) -> dict[str, Any]:
    """Return a block that holds a pinned text word for word."""
    return {"type": "text", "text": f"<pinned>\n{text}\n</pinned>"}


def opening(
    pinned: Sequence[str],
    user_texts: Sequence[str],
    host_texts: Sequence[tuple[str, str]],
    summaries: str,
    facts: Facts,
) -> tuple[Message, Message]:
    """Return the two messages that a conversation begins with after a compaction."""
    state = facts.state()
    first: list[dict[str, Any]] = [{"type": "text", "text": CONTINUATION}]
    first += [pinned_block(text) for text in pinned]
    first += [{"type": "text", "text": f"<user-message>\n{text}\n</user-message>"} for text in user_texts]
    first += [
        {"type": "text", "text": f'<host-message kind="{kind}">\n{text}\n</host-message>'} for kind, text in host_texts
    ]
    # What is the same after the next compaction comes first, for the provider's cache.
    first += [{"type": "text", "text": f"<state>\n{state}\n</state>"}] if state else []
    body = [COMPACTED, summaries, facts.render()]
    return (
        {"role": "user", "content": first},
        {"role": "assistant", "content": [{"type": "text", "text": "\n\n".join(part for part in body if part)}]},
    )


def go_on() -> Message:
    """Return what is put before an answer that the kept part begins with: roles take turns."""
    return {"role": "user", "content": [{"type": "text", "text": GO_ON}]}


def user_texts_in(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return what the user said, message by message: not results of tools, nor what a host added."""
    found: list[str] = []
    for message in messages:
        text = said_in(message)
        if text and text != GO_ON and (starts_turn(message) or len(text) < 20_000):
            found.append(text)
    return tuple(found)


def host_texts_in(messages: Sequence[Message]) -> tuple[tuple[str, str], ...]:
    """Return the plans, skills and reports of other agents that a host brought, long ones cut in their middle."""
    parts = [part for message in messages for part in host_parts(message) if part.who in _HOST_CAPS]
    return tuple((part.who, shortened(part.text, _HOST_CAPS[part.who])) for part in parts)


def host_texts_within(texts: Sequence[tuple[str, str]], tokens: int, count: TextCounter) -> tuple[tuple[str, str], ...]:
    """Return the newest of some texts of hosts that so many tokens allow, each once; reports last, plans cut to fit."""
    kept: dict[int, tuple[str, str]] = {}
    order = sorted(range(len(texts)), key=lambda at: (texts[at][0] == REPORT, -at))
    for at in order:
        kind, text = texts[at]
        cost = count(text) + _FRAME_TOKENS
        if kind == PLAN and LEAST_SUMMARY < tokens < cost:
            text = shortened(text, int(len(text) * tokens / cost * 0.9))
            cost = count(text) + _FRAME_TOKENS
        if cost <= tokens and (kind, text) not in kept.values() and len(kept) < _MOST_HOST_TEXTS:
            tokens -= cost
            kept[at] = kind, text
    return tuple(kept[at] for at in sorted(kept))


def user_texts_within(user_texts: Sequence[str], tokens: int, count: TextCounter) -> tuple[tuple[str, ...], bool]:
    """Return as much of what the user said as so many tokens allow, and whether that is all.

    All of it word for word where that fits. Else long ones are cut in their middle, ever shorter, the first and the
    last less than others; then the oldest go, but for the first.
    """

    def cost(text: str) -> int:
        return count(text) + _FRAME_TOKENS if text else 0

    costs = [cost(text) for text in user_texts]
    if sum(costs) <= tokens:
        return tuple(user_texts), True
    cut = list(user_texts)
    for cap in _CAPS:
        caps = [max(cap, 2_000) if at in {0, len(user_texts) - 1} else cap for at in range(len(user_texts))]
        cut = [
            shortened(text, most) if size * 2 > most // 2 and len(text) > most else text
            for text, size, most in zip(user_texts, costs, caps, strict=True)
        ]
        sizes = [size if new is old else cost(new) for new, old, size in zip(cut, user_texts, costs, strict=True)]
        if sum(sizes) <= tokens:
            return tuple(cut), False
    cut = [shortened(text, max(400, tokens)) if cost(text) > tokens // 2 else text for text in cut]
    room = tokens - (cost(cut[0]) if cut else 0) - 12
    kept: list[str] = []
    for text in reversed(cut[1:]):
        room -= cost(text)
        if room < 0:
            break
        kept.append(text)
    gone = len(cut) - 1 - len(kept)
    note = [f"[{gone} earlier messages of the user's left out]"] if gone > 0 else []
    return (*cut[:1], *note, *reversed(kept)), False


def joined(earlier: str, later: str) -> str:
    """Return summaries one after the other, the newest first, marked as such."""
    return _SUMMARY_MARK.join(part for part in (later, earlier.replace(_NOW, _THEN)) if part)


def latest_summaries(summaries: str, tokens: int, count: TextCounter) -> str:
    """Return as many whole summaries as so many tokens allow, the newest; of the newest at least a part."""
    if not summaries or tokens <= 0:
        return ""
    parts = summaries.split(_SUMMARY_MARK)
    for last in range(len(parts), 0, -1):
        kept = _SUMMARY_MARK.join(parts[:last])
        if count(kept) <= tokens:
            return kept
    return cut_to(parts[0], tokens, count)


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
    hosts: list[tuple[str, str]] = []
    state = ""
    for block in blocks_of(messages[0]):
        text = str(block.get("text") or "")
        if (match := _PINNED.match(text)) is not None:
            pinned.append(match.group(1))
        elif (match := _STATE.match(text)) is not None:
            state = match.group(1)
        elif (match := _HOST_MESSAGE.match(text)) is not None:
            hosts.append((match.group(1), match.group(2)))
        elif (match := _USER_MESSAGE.match(text)) is not None and not _LEFT_OUT.match(match.group(1)):
            texts.append(match.group(1))
    body = second[len(COMPACTED) :]
    rendered = ""
    if "<facts>\n" in body and body.rstrip().endswith("</facts>"):
        at = body.rindex("<facts>\n")
        body, rendered = body[:at], body[at:]
    facts = read_facts(f"{rendered}\n{state}")
    size = 2
    if len(messages) > 2 and messages[2].get("role") == "user" and text_of(messages[2].get("content")) == GO_ON:
        size = 3
    return Preamble(size, tuple(pinned), tuple(texts), tuple(hosts), body.strip(), facts)
