"""A conversation that grew too long, made short for good: pruned, and summarised where that is not enough.

Phase 0 collects what was done, phase 1 prunes as for a request, phase 2 replaces what is old with a summary.
What follows a compaction begins with

- a message of the user's that says so, with the pinned texts, what the user said so far, word for word, and what is so
  now (the current task, what the agent was doing, what has not finished);
- one of the assistant's that begins with ``[COMPACTED]``: earlier summaries as they are, the new one, and the facts;
- the last turns as they were.

The room up to the target is given to the user's words first, then to the facts, then to the summary, whatever the size
of the window. A later compaction finds those two messages and carries them: summaries are not summarised again, facts
flow through. The result is never larger than what was given, and nothing is changed that fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.budgets import SUMMARY_MAX_TOKENS
from tipstaff.context.conversation.frames import REPORT
from tipstaff.context.conversation.messages import Message, blocks_of, plain_data, starts_turn, text_of, turn_starts
from tipstaff.context.conversation.transcript import Entry, entries_of
from tipstaff.context.shortening.facts import Facts, extract_facts
from tipstaff.context.shortening.preamble import (
    COMPACTED,
    LEAST_SUMMARY,
    CompactionConfig,
    Preamble,
    cut_to,
    go_on,
    host_texts_in,
    host_texts_within,
    joined,
    latest_summaries,
    opening,
    pinned_block,
    read_preamble,
    user_texts_in,
    user_texts_within,
)
from tipstaff.context.shortening.pruning import PrunedPart, Pruner, Reference, capped_results
from tipstaff.context.shortening.summarizers import ExtractiveSummarizer, Summarizer, SummaryRequest, summary_in
from tipstaff.context.tokens.counting import (
    SystemPrompt,
    TextCounter,
    default_counter,
    estimate_message,
    estimate_system_prompt,
)
from tipstaff.context.tokens.request_tokens import estimate_full_context, message_costs
from tipstaff.model import Record

_ROOM_SHARE: Final = 0.6
"""Of the target, what the user's words, facts and summary are given before fewer of the last turns are kept."""

_RESULT_SHARE: Final = 0.3
"""Of the target, what one result of a tool may take after a compaction."""

_LEAST_CAP: Final = 500
_USER_SHARE: Final = 0.75
_CARRIED_SHARE: Final = 0.5
_HOST_SHARE: Final = 0.5
_BROUGHT_SHARE: Final = 0.2
"""Of the target, what plans and skills are given at least."""

_MODEL_PART: Final = 8
"""A model is asked for a summary of at most one part in so many of the room, and never less than it always was."""

_MARKS: Final = ((COMPACTED, "[compacted]"), ("<facts>", "(facts)"), ("</facts>", "(/facts)"))


class CompactionResult(Record, frozen=True):
    """The conversation to continue with.

    Attributes
    ----------
    messages, kept
        Those that take the place of the ones given; where nothing was done, the very same ones. After a summary, how
        many of the last messages follow it as they were.
    original_tokens, compacted_tokens
        Before and after, with system prompt and tools.
    phase, summary
        ``none``, ``pruned`` or ``summarized``; what the assistant's ``[COMPACTED]`` message then says.
    facts, parts
        What was done in the conversation, for a memory; what was pruned, by its place in the messages given.
    fits, warnings
        Whether the result is at or below the trigger: where not, what is kept is too large by itself. What did not go
        as asked, such as a model that gave no summary.
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
    kept: int = 0

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
    count: TextCounter | None = None,
    reference: Reference | None = None,
    facts: Facts | None = None,
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
        Counter of texts; by default the fitted estimator.
    reference
        Says where the whole of a pruned block is kept.
    facts
        What is known of the conversation beside what its messages say, such as of parts that were pruned out of them.
    force
        Compact even below the trigger, as when a user asks for it.

    Raises
    ------
    MessageError
        If a message is not of the Messages API's shape.
    """
    found = tuple(messages)
    work = _Work(messages, found, system_prompt, tools, config, count or default_counter())
    preamble = read_preamble(found)
    facts = extract_facts(found[preamble.size :], preamble.facts.merged(facts or Facts()))
    if work.original - work.apart <= config.trigger_tokens and not force:
        return CompactionResult(found, work.original, work.original, "none", facts)
    pruner = Pruner(found, config, count=work.count, reference=reference, costs=work.costs)
    pruner.walk(work.fixed, finish=True)
    parts = pruner.sorted_parts()
    # One result as large as the window would leave no room for what the user said.
    most = max(_LEAST_CAP, int(config.prune_target_tokens * _RESULT_SHARE))
    shorter = capped_results(pruner.messages(), most, count=work.count, reference=reference)
    pruned = _with_pinned(shorter, pinned)
    changed = bool(parts) or shorter != found
    best = _finished(work, "pruned" if changed else "none", pruned, facts, parts)
    if best.compacted_tokens - work.apart <= config.prune_target_tokens and changed:
        return best
    return _summarized(work, shorter, preamble, facts, parts, summarizer, pinned) or best


class _Work:
    """The figures of one compaction."""

    def __init__(
        self,
        given: Sequence[Message],
        messages: tuple[Message, ...],
        system_prompt: SystemPrompt,
        tools: Sequence[Mapping[str, Any]],
        config: CompactionConfig,
        count: TextCounter,
    ) -> None:
        self.messages = messages
        self.config = config
        self.count = count
        self.apart = min(config.system_prompt_tokens, estimate_system_prompt(system_prompt, count=count))
        # The caller's own list: what its messages cost is remembered.
        self.costs = message_costs(given, count=count)
        self._known = dict(zip(map(id, messages), self.costs, strict=True))
        self.beside = estimate_full_context(system_prompt, tools, (), count=count)
        self.original = self.beside + sum(self.costs)
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
    kept: int = 0,
) -> CompactionResult:
    """Return the result, or the conversation as it was where that is not larger."""
    after = work.tokens(messages)
    trigger = work.config.trigger_tokens + work.apart
    if phase == "none" or after >= work.original:
        return CompactionResult(
            work.messages, work.original, work.original, "none", facts, fits=work.original <= trigger, warnings=warnings
        )
    return CompactionResult(
        messages, work.original, after, phase, facts, summary, parts, after <= trigger, warnings, kept
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
    count = work.count
    texts = tuple(pinned) or preamble.pinned
    target = min(work.config.prune_target_tokens + work.apart, work.original - 1)
    last_cut = _last_cut(pruned, preamble)
    left = [0] * (len(pruned) + 1)  # tokens from each message on
    for index in range(len(pruned) - 1, -1, -1):
        left[index] = left[index + 1] + work.cost(pruned[index])
    front = work.tokens(opening(texts, (), (), "", facts.latest(0)))
    turning = estimate_message(go_on(), count=count)
    requester = _SummaryRequester(summarizer, count)
    for cut in _cuts(work, pruned, preamble):
        kept = pruned[cut:]
        if cut <= preamble.size:
            continue
        user_first = kept[0].get("role") == "user"
        room = target - front - left[cut] - (0 if user_first else turning)
        before = user_texts_in(work.messages[preamble.size : cut])
        user_texts = (*preamble.user_texts, *before)
        hosts = (*preamble.host_texts, *host_texts_in(work.messages[preamble.size : cut]))
        brought = min(int(_BROUGHT_SHARE * target), sum(count(text) + 8 for kind, text in hosts if kind != REPORT))
        wanted = (
            sum(map(count, user_texts))
            + 8 * len(user_texts)
            + count(facts.without("\n".join(user_texts)).render())
            + brought
        )
        if cut != last_cut and room < min(wanted + LEAST_SUMMARY, int(_ROOM_SHARE * target)):
            continue
        # What is kept may be larger than the target. Then half of what is above it, below the trigger, is for
        # the user's words and the facts; and even where nothing fits, for the task and a few words on what was done.
        spare = room + max(0, work.config.trigger_tokens + work.apart - target) // 2
        most = work.original - 1 - (target - room)
        room = max(room, min(max(3 * LEAST_SUMMARY, min(wanted + 3 * LEAST_SUMMARY, spare)), most))
        if room <= LEAST_SUMMARY:
            continue
        user_texts, whole = user_texts_within(user_texts, int(room * _USER_SHARE), count)
        room -= sum(map(count, user_texts)) + 8 * (len(user_texts) + 1)
        shown = facts.without("\n".join(user_texts)).within(max(0, room - LEAST_SUMMARY - brought), count)
        room -= count(shown.render())
        hosts = host_texts_within(
            hosts, max(int(max(0, room) * _HOST_SHARE), min(brought, room - LEAST_SUMMARY)), count
        )
        room -= sum(count(text) + 8 for _, text in hosts)
        carried = latest_summaries(preamble.summaries, int(room * _CARRIED_SHARE), count)
        room -= count(carried)
        summary = requester.summary(work.messages[preamble.size : cut], max(LEAST_SUMMARY, room - 12), whole=whole)
        result = _finished(
            work,
            "summarized",
            (
                *opening(texts, user_texts, hosts, joined(carried, summary), shown),
                *(() if user_first else (go_on(),)),
                *kept,
            ),
            facts,
            tuple(part for part in parts if part.message >= cut),
            joined(carried, summary),
            requester.warnings,
            len(kept),
        )
        if result.phase == "summarized":
            return result
    return None


class _SummaryRequester:
    """Asks for summaries; one that failed once is not asked a second time, since it may have taken minutes to fail."""

    def __init__(self, summarizer: Summarizer | None, count: TextCounter) -> None:
        self._summarizer = summarizer
        self._count = count
        self.warnings: tuple[str, ...] = ()

    def summary(self, gone: Sequence[Message], allowed: int, *, whole: bool) -> str:
        """Return a summary of at most so many tokens; `whole` if all that the user said is kept beside it."""
        entries = entries_of(gone)
        summary = ""
        if self._summarizer is not None and not self.warnings:
            most = max(SUMMARY_MAX_TOKENS, allowed // _MODEL_PART)
            try:
                reply = cast("object", self._summarizer.summarize(SummaryRequest(entries, min(allowed, most))))
                summary = summary_in(reply) if isinstance(reply, str) else ""
                reason = "the answer has no text"
            except Exception as error:  # noqa: BLE001 - other people's code: whatever it raises, the session continues
                reason = str(error) or type(error).__name__
            if not summary:
                name = type(self._summarizer).__name__
                self.warnings = (f"no summary by {name}: {reason}; the extractive summarizer was used",)
        if not summary:
            summary = self._extract(entries, allowed, whole)
        # A summary that holds our marks would be read as ours later.
        for mark, other in _MARKS:
            summary = summary.replace(mark, other)
        return cut_to(summary, allowed, self._count)

    def _extract(self, entries: tuple[Entry, ...], allowed: int, whole: bool) -> str:
        summary, asked = "", allowed
        # Its rule of characters a token is not this counter's: ask again for what the room really holds.
        for _ in range(3):
            summary = ExtractiveSummarizer().summarize(SummaryRequest(entries, max(LEAST_SUMMARY, asked), whole))
            cost = self._count(summary)
            if cost <= allowed:
                break
            asked = int(asked * allowed / cost * 0.97)
        return summary


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
    """Whether a conversation may begin at a message: it answers no call that is before it."""
    return not any(str(block.get("type", "")).endswith("tool_result") for block in blocks_of(messages[index]))


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


class PruneResult(Record, frozen=True):
    """What to send instead, as many messages as were given, and its tokens with system prompt and tools.

    Messages in which nothing was pruned are the very same objects. `fits` is whether the result is at or below the
    trigger.
    """

    messages: tuple[Any, ...]
    original_tokens: int
    pruned_tokens: int
    applied: bool
    parts: tuple[PrunedPart, ...] = ()
    fits: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data; mappings of any kind become dictionaries."""
        return plain_data(self)


def prune_for_request(
    messages: Sequence[Message],
    system_prompt: SystemPrompt = "",
    tools: Sequence[Mapping[str, Any]] = (),
    *,
    config: CompactionConfig,
    count: TextCounter | None = None,
    reference: Reference | None = None,
) -> PruneResult:
    """Return a conversation in the Messages API's shape, which is not changed, as it is to be sent.

    `count` is the fitted estimator by default; `reference` says where the whole of a pruned block is kept. Raises
    `MessageError` if a message is not of the Messages API's shape.
    """
    work = _Work(messages, tuple(messages), system_prompt, tools, config, count or default_counter())
    if work.original - work.apart <= config.trigger_tokens:
        return PruneResult(work.messages, work.original, work.original, applied=False)
    pruner = Pruner(work.messages, config, count=work.count, reference=reference, costs=work.costs)
    pruner.walk(work.fixed)
    left = work.original - pruner.saved
    return PruneResult(
        pruner.messages(),
        work.original,
        left,
        applied=bool(pruner.parts),
        parts=pruner.sorted_parts(),
        fits=left - work.apart <= config.trigger_tokens,
    )
