"""A conversation that grew too long, made short for good: pruned, and summarised where that is not enough.

Phase 0 collects what was done, phase 1 prunes as for a request, phase 2 puts a summary in the place of what is old.
What follows a compaction begins with

- a message of the user's that says so, with the pinned texts (the constitution, the rules that were retrieved) and the
  user's task, word for word;
- one of the assistant's that begins with ``[COMPACTED]``: earlier summaries as they are, the new one, and the facts;
- the last turns as they were.

A later compaction finds those two messages and carries them: summaries are not summarised again. The result is never
larger than what was given, and nothing is changed that fits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tipstaff.budgets import SUMMARY_MAX_TOKENS
from tipstaff.context.facts import Facts, extract_facts, read_facts
from tipstaff.context.graphemes import floor_boundary
from tipstaff.context.messages import Message, blocks_of, starts_turn, text_of, turn_starts
from tipstaff.context.model_calls import SummarizerError
from tipstaff.context.pruning import CompactionConfig, PrunedPart, Pruner, Reference
from tipstaff.context.summarizers import ExtractiveSummarizer, Summarizer, SummaryRequest, summary_in
from tipstaff.context.tokens import (
    SystemPrompt,
    TextCounter,
    estimate_full_context,
    estimate_message,
    estimate_system_prompt,
    estimate_tokens,
    estimate_tools,
    messages_total,
)
from tipstaff.context.transcript import entries_of, shortened
from tipstaff.model import Record

COMPACTED: Final = "[COMPACTED]"
CONTINUATION: Final = (
    "This session is continued from a previous conversation that ran out of context. Its summary follows. Continue "
    "with the task from where it stopped; do not start over and do not ask again what has been answered."
)
GO_ON: Final = "Go on from here."
_SUMMARY_MARK: Final = "\n\n--- later ---\n\n"
_FACTS_KEPT: Final = (60, 25, 10, 3, 0)
_LEAST_SUMMARY: Final = 60
_CARRIED_SHARE: Final = 0.5
_TASK_SHARE: Final = 0.25
_PINNED = re.compile(r"\A<pinned>\n(.*)\n</pinned>\Z", re.DOTALL)
_TASK = re.compile(r"\A<task>\n(.*)\n</task>\Z", re.DOTALL)


class CompactionResult(Record, frozen=True):
    """The conversation to go on with.

    Attributes
    ----------
    messages
        Those that take the place of the ones given; where nothing was done, the very same ones.
    original_tokens, compacted_tokens
        Before and after, with system prompt and tools.
    phase
        ``none``, ``pruned`` or ``summarized``.
    facts
        What was done in the conversation: for a memory, and part of the summary.
    summary
        What the assistant's ``[COMPACTED]`` message says; empty in other phases.
    parts
        What was pruned, by its place in the messages given.
    fits
        Whether the result is at or below the trigger. Where not, what is kept is too large by itself.
    warnings
        What did not go as asked, such as a model that gave no summary.
    """

    messages: tuple[Any, ...]
    original_tokens: int
    compacted_tokens: int
    phase: str
    facts: Facts = Facts()
    summary: str = ""
    parts: tuple[PrunedPart, ...] = ()
    fits: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def reduction_percent(self) -> float:
        """What was saved, in percent of what there was."""
        return 100.0 * (1 - self.compacted_tokens / self.original_tokens) if self.original_tokens else 0.0


@dataclass(frozen=True, slots=True)
class _Preamble:
    """What an earlier compaction left at the start of a conversation."""

    size: int = 0
    pinned: tuple[str, ...] = ()
    task: str = ""
    summaries: str = ""
    facts: Facts = field(default_factory=Facts)


def compact(
    messages: Sequence[Message],
    system_prompt: SystemPrompt = "",
    *,
    config: CompactionConfig,
    summarizer: Summarizer | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    pinned: Sequence[str] = (),
    count: TextCounter = estimate_tokens,
    usage: Mapping[str, Any] | None = None,
    reference: Reference | None = None,
    force: bool = False,
) -> CompactionResult:
    """Make a conversation shorter, if it needs it.

    Parameters
    ----------
    messages
        The whole conversation, in the Messages API's shape. It is not changed.
    system_prompt, tools
        What is sent beside it.
    config
        Window, trigger (85 %), target (60 %), kept turns.
    summarizer
        Who writes the summary; the extractive one, without a model, by default. If it fails, that one serves, and the
        result's `warnings` say so.
    pinned
        Texts that have to be in what follows, word for word.
    count
        Counter of texts.
    usage
        What the provider reported of the last request: see `estimate_full_context`.
    reference
        Says where the whole of a pruned block is kept.
    force
        Compact even below the trigger, as when a user asks for it.

    Raises
    ------
    MessageError
        If a message is not of the Messages API's shape.
    """
    found = tuple(messages)
    work = _Work(found, system_prompt, tools, config, count, usage)
    facts = extract_facts(found)
    preamble = _read_preamble(found)
    facts = preamble.facts.merged(facts)
    if work.original - work.apart <= config.trigger_tokens and not force:
        return CompactionResult(found, work.original, work.original, "none", facts)
    pruner = Pruner(found, config, count=count, reference=reference)
    pruner.walk(work.fixed, finish=True)
    parts = tuple(sorted(pruner.parts, key=lambda part: (part.message, part.block)))
    pruned = _with_pinned(pruner.messages(), pinned)
    best = _finished(work, "pruned" if parts else "none", pruned, facts, parts)
    if best.compacted_tokens - work.apart <= config.prune_target_tokens and parts:
        return best
    return _summarized(work, pruner.messages(), preamble, facts, parts, summarizer, pinned) or best


class _Work:
    """The figures of one compaction."""

    def __init__(
        self,
        messages: tuple[Message, ...],
        system_prompt: SystemPrompt,
        tools: Sequence[Mapping[str, Any]],
        config: CompactionConfig,
        count: TextCounter,
        usage: Mapping[str, Any] | None,
    ) -> None:
        self.messages = messages
        self.config = config
        self.count = count
        prompt = estimate_system_prompt(system_prompt, count=count)
        self.apart = min(config.system_prompt_tokens, prompt)
        estimated = estimate_full_context(system_prompt, tools, messages, count=count)
        self.original = (
            estimated
            if usage is None
            else estimate_full_context(system_prompt, tools, messages, count=count, usage=usage)
        )
        self.beside = prompt + estimate_tools(tools, count=count) + self.original - estimated
        self.fixed = self.beside - self.apart

    def tokens(self, messages: Sequence[Message]) -> int:
        """Return what a request with these messages would take."""
        return self.beside + messages_total(messages, count=self.count)


def _finished(
    work: _Work,
    phase: str,
    messages: tuple[Message, ...],
    facts: Facts,
    parts: tuple[PrunedPart, ...],
    summary: str = "",
    warnings: tuple[str, ...] = (),
) -> CompactionResult:
    """Return the result, or the conversation as it was where that is not larger."""
    after = work.tokens(messages)
    trigger = work.config.trigger_tokens + work.apart
    if phase == "none" or after >= work.original:
        return CompactionResult(
            work.messages, work.original, work.original, "none", facts, fits=work.original <= trigger, warnings=warnings
        )
    return CompactionResult(
        messages, work.original, after, phase, facts, summary, parts, fits=after <= trigger, warnings=warnings
    )


def _summarized(
    work: _Work,
    pruned: tuple[Message, ...],
    preamble: _Preamble,
    facts: Facts,
    parts: tuple[PrunedPart, ...],
    summarizer: Summarizer | None,
    pinned: Sequence[str],
) -> CompactionResult | None:
    texts = tuple(pinned) or preamble.pinned
    task = preamble.task or _task_of(work.messages[preamble.size :])
    target = work.config.prune_target_tokens + work.apart
    last_cut = _last_cut(pruned, preamble)
    left = [0] * (len(pruned) + 1)  # tokens from each message on
    for index in range(len(pruned) - 1, -1, -1):
        left[index] = left[index + 1] + estimate_message(pruned[index], count=work.count)
    front = work.tokens(_front(work, texts, task, preamble, "", Facts()))
    go_on = estimate_message(_go_on(), count=work.count)
    for cut in _cuts(work, pruned, preamble):
        kept = pruned[cut:]
        gone = pruned[preamble.size : cut]
        if not gone:
            continue
        shortest = front + left[cut] + (0 if kept[0].get("role") == "user" else go_on)
        room = target - shortest
        if room < _LEAST_SUMMARY and cut != last_cut:
            continue
        limit = work.original - 1 - shortest
        allowed = min(SUMMARY_MAX_TOKENS, max(room, _LEAST_SUMMARY), limit)
        if allowed <= 0:
            continue
        shown = _facts_within(facts, allowed // 3, work.count)
        allowed -= work.count(shown.render())
        summary, warnings = _asked(summarizer, gone, allowed, work.count)
        result = _finished(
            work,
            "summarized",
            (
                *_front(work, texts, task, preamble, summary, shown),
                *(() if kept[0].get("role") == "user" else (_go_on(),)),
                *kept,
            ),
            facts,
            tuple(part for part in parts if part.message >= cut),
            _joined(preamble.summaries, summary),
            warnings,
        )
        if result.phase == "summarized":
            return result
    return None


def _asked(
    summarizer: Summarizer | None, gone: Sequence[Message], allowed: int, count: TextCounter
) -> tuple[str, tuple[str, ...]]:
    """Return a summary of at most so many tokens, and what went wrong."""
    request = SummaryRequest(entries_of(gone), max(_LEAST_SUMMARY, allowed))
    warnings: tuple[str, ...] = ()
    summary = ""
    if summarizer is not None:
        try:
            summary = summary_in(summarizer.summarize(request))
        except SummarizerError as error:
            warnings = (f"no summary by {type(summarizer).__name__}: {error}; the extractive summarizer served",)
    if not summary:
        summary = ExtractiveSummarizer().summarize(request)
    # A summary that speaks in our marks would be read as ours later.
    summary = summary.replace(COMPACTED, "[compacted]").replace("<facts>", "(facts)").replace("</facts>", "(/facts)")
    return _cut_to(summary, allowed, count), warnings


def _cut_to(text: str, tokens: int, count: TextCounter) -> str:
    """Return as much of a text's beginning as so many tokens allow."""
    if tokens <= 0:
        return ""
    while text and (cost := count(text)) > tokens:
        size = min(len(text) - 1, len(text) * tokens // cost)
        text = text[: floor_boundary(text, size)].rstrip()
    return text


def _facts_within(facts: Facts, tokens: int, count: TextCounter) -> Facts:
    for n in _FACTS_KEPT:
        shown = facts.latest(n)
        if count(shown.render()) <= tokens:
            return shown
    return Facts()


def _cuts(work: _Work, messages: Sequence[Message], preamble: _Preamble) -> list[int]:
    """Return where the kept part may begin: before the last N turns, then fewer, then within the last turn."""
    starts = [index for index in turn_starts(messages) if index > preamble.size]
    wanted = work.config.protected_turns
    cuts = starts[-wanted:] if wanted > 0 else []
    begin = cuts[-1] if cuts else preamble.size
    rounds = [
        index
        for index, message in enumerate(messages)
        if index > begin and message.get("role") == "assistant" and _is_whole_from(messages, index)
    ]
    if len(rounds) > 12:
        rounds = rounds[:: len(rounds) // 12] + rounds[-1:]
    return sorted({*cuts, *rounds})


def _last_cut(messages: Sequence[Message], preamble: _Preamble) -> int:
    for index in range(len(messages) - 1, preamble.size, -1):
        if messages[index].get("role") == "assistant" and _is_whole_from(messages, index):
            return index
        if starts_turn(messages[index]):
            return index
    return -1


def _is_whole_from(messages: Sequence[Message], index: int) -> bool:
    """Whether a conversation may begin at a message: it answers no call that stands before it."""
    return not any(str(block.get("type", "")).endswith("tool_result") for block in blocks_of(messages[index]))


def _front(
    work: _Work, pinned: Sequence[str], task: str, preamble: _Preamble, summary: str, facts: Facts
) -> tuple[Message, Message]:
    """Return the two messages that a conversation begins with after a compaction."""
    most = int(work.config.prune_target_tokens * _TASK_SHARE) * 4
    first: list[dict[str, Any]] = [{"type": "text", "text": CONTINUATION}]
    first += [{"type": "text", "text": f"<pinned>\n{text}\n</pinned>"} for text in pinned]
    if task:
        first.append({"type": "text", "text": f"<task>\n{shortened(task, max(400, most))}\n</task>"})
    carried = _cut_to(
        preamble.summaries, max(_LEAST_SUMMARY, int(work.config.prune_target_tokens * _CARRIED_SHARE)), work.count
    )
    body = [COMPACTED, _joined(carried, summary), facts.render()]
    return (
        {"role": "user", "content": first},
        {"role": "assistant", "content": [{"type": "text", "text": "\n\n".join(part for part in body if part)}]},
    )


def _go_on() -> Message:
    """Return what stands before an answer that the kept part begins with: roles take turns."""
    return {"role": "user", "content": [{"type": "text", "text": GO_ON}]}


def _joined(earlier: str, later: str) -> str:
    return _SUMMARY_MARK.join(part for part in (earlier, later) if part)


def _read_preamble(messages: Sequence[Message]) -> _Preamble:
    """Return what an earlier compaction left, nothing where there was none."""
    if len(messages) < 2 or messages[0].get("role") != "user" or messages[1].get("role") != "assistant":
        return _Preamble()
    opening, said = text_of(messages[0].get("content")), text_of(messages[1].get("content"))
    if "continued from a previous conversation" not in opening or not said.startswith(COMPACTED):
        return _Preamble()
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
    return _Preamble(size, tuple(pinned), task, body.strip(), facts)


def _task_of(messages: Sequence[Message]) -> str:
    """Return what the user asked for first."""
    for message in messages:
        if starts_turn(message) and (text := text_of(message.get("content")).strip()):
            return text
    return ""


def _with_pinned(messages: tuple[Message, ...], pinned: Sequence[str]) -> tuple[Message, ...]:
    """Return the messages with the pinned texts that are not in them before the user's first words."""
    if not pinned:
        return messages
    whole = "\n".join(text_of(message.get("content")) for message in messages)
    missing = [text for text in pinned if text not in whole]
    for index, message in enumerate(messages):
        if missing and starts_turn(message):
            blocks = [{"type": "text", "text": f"<pinned>\n{text}\n</pinned>"} for text in missing]
            changed = {**message, "content": [*blocks_of(message), *blocks]}
            return (*messages[:index], changed, *messages[index + 1 :])
    return messages
