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

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.budgets import SUMMARY_MAX_TOKENS
from tipstaff.context.conversation.messages import Message, blocks_of, plain_data, starts_turn, text_of, turn_starts
from tipstaff.context.conversation.transcript import entries_of
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.facts import Facts, extract_facts
from tipstaff.context.shortening.preamble import (
    COMPACTED,
    LEAST_SUMMARY,
    Preamble,
    cut_to,
    go_on,
    joined,
    opening,
    pinned_block,
    read_preamble,
)
from tipstaff.context.shortening.pruning import PrunedPart, Pruner, Reference
from tipstaff.context.shortening.summarizers import ExtractiveSummarizer, Summarizer, SummaryRequest, summary_in
from tipstaff.context.tokens.counting import (
    SystemPrompt,
    TextCounter,
    estimate_full_context,
    estimate_message,
    estimate_system_prompt,
    estimate_tokens,
    message_costs,
)
from tipstaff.model import Record

_FACTS_KEPT: Final = (60, 25, 10, 3, 0)


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

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data; mappings of any kind become dictionaries."""
        return plain_data(self)

    @property
    def reduction_percent(self) -> float:
        """What was saved, in percent of what there was."""
        return 100.0 * (1 - self.compacted_tokens / self.original_tokens) if self.original_tokens else 0.0


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
    preamble = read_preamble(found)
    facts = preamble.facts.merged(facts)
    if work.original - work.apart <= config.trigger_tokens and not force:
        return CompactionResult(found, work.original, work.original, "none", facts)
    pruner = Pruner(found, config, count=count, reference=reference, costs=work.costs)
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
        self.apart = min(config.system_prompt_tokens, estimate_system_prompt(system_prompt, count=count))
        self.costs = message_costs(messages, count=count)
        self._known = dict(zip(map(id, messages), self.costs, strict=True))
        beside = estimate_full_context(system_prompt, tools, (), count=count)
        estimated = beside + sum(self.costs)
        self.original = (
            estimated
            if usage is None
            else estimate_full_context(system_prompt, tools, messages, count=count, usage=usage)
        )
        self.beside = beside + self.original - estimated
        self.fixed = self.beside - self.apart

    def tokens(self, messages: Sequence[Message]) -> int:
        """Return what a request with these messages would take."""
        return self.beside + sum(map(self.cost, messages))

    def cost(self, message: Message) -> int:
        """Return what a message takes; one of those given was counted before."""
        known = self._known.get(id(message))
        return estimate_message(message, count=self.count) if known is None else known


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
    preamble: Preamble,
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
        left[index] = left[index + 1] + work.cost(pruned[index])
    front = work.tokens(opening(texts, task, preamble, "", Facts(), work.config, work.count))
    turning = estimate_message(go_on(), count=work.count)
    asking = _Asking(summarizer, work.count)
    for cut in _cuts(work, pruned, preamble):
        kept = pruned[cut:]
        gone = pruned[preamble.size : cut]
        if not gone:
            continue
        shortest = front + left[cut] + (0 if kept[0].get("role") == "user" else turning)
        room = target - shortest
        if room < LEAST_SUMMARY and cut != last_cut:
            continue
        limit = work.original - 1 - shortest
        allowed = min(SUMMARY_MAX_TOKENS, max(room, LEAST_SUMMARY), limit)
        if allowed <= 0:
            continue
        shown = _facts_within(facts, allowed // 3, work.count)
        allowed -= work.count(shown.render())
        summary = asking.summary(gone, allowed)
        result = _finished(
            work,
            "summarized",
            (
                *opening(texts, task, preamble, summary, shown, work.config, work.count),
                *(() if kept[0].get("role") == "user" else (go_on(),)),
                *kept,
            ),
            facts,
            tuple(part for part in parts if part.message >= cut),
            joined(preamble.summaries, summary),
            asking.warnings,
        )
        if result.phase == "summarized":
            return result
    return None


class _Asking:
    """Asks for summaries; one that failed once is not asked a second time, since it may have taken minutes to fail."""

    def __init__(self, summarizer: Summarizer | None, count: TextCounter) -> None:
        self._summarizer = summarizer
        self._count = count
        self.warnings: tuple[str, ...] = ()

    def summary(self, gone: Sequence[Message], allowed: int) -> str:
        """Return a summary of at most so many tokens."""
        request = SummaryRequest(entries_of(gone), max(LEAST_SUMMARY, allowed))
        summary = ""
        if self._summarizer is not None and not self.warnings:
            try:
                reply = cast("object", self._summarizer.summarize(request))
                summary = summary_in(reply) if isinstance(reply, str) else ""
                reason = "it gave none"
            except Exception as error:  # noqa: BLE001 - other people's code: whatever it raises, the session goes on
                reason = str(error) or type(error).__name__
            if not summary:
                name = type(self._summarizer).__name__
                self.warnings = (f"no summary by {name}: {reason}; the extractive summarizer served",)
        if not summary:
            summary = ExtractiveSummarizer().summarize(request)
        # A summary that speaks in our marks would be read as ours later.
        summary = (
            summary.replace(COMPACTED, "[compacted]").replace("<facts>", "(facts)").replace("</facts>", "(/facts)")
        )
        return cut_to(summary, allowed, self._count)


def _facts_within(facts: Facts, tokens: int, count: TextCounter) -> Facts:
    for n in _FACTS_KEPT:
        shown = facts.latest(n)
        if count(shown.render()) <= tokens:
            return shown
    return Facts()


def _cuts(work: _Work, messages: Sequence[Message], preamble: Preamble) -> list[int]:
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


def _last_cut(messages: Sequence[Message], preamble: Preamble) -> int:
    for index in range(len(messages) - 1, preamble.size, -1):
        if messages[index].get("role") == "assistant" and _is_whole_from(messages, index):
            return index
        if starts_turn(messages[index]):
            return index
    return -1


def _is_whole_from(messages: Sequence[Message], index: int) -> bool:
    """Whether a conversation may begin at a message: it answers no call that stands before it."""
    return not any(str(block.get("type", "")).endswith("tool_result") for block in blocks_of(messages[index]))


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
            blocks = [pinned_block(text) for text in missing]
            changed = {**message, "content": [*blocks_of(message), *blocks]}
            return (*messages[:index], changed, *messages[index + 1 :])
    return messages
