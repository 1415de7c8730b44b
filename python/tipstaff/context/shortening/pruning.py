"""A smaller view of a conversation for one request; the conversation itself is never touched.

What goes first is what is worth least: results of tools and thinking from turns that are long over, oldest first, and
only as much as brings the request down to its target. A result is replaced by a stub: its first and last words, how
much is gone, and where the whole is. Only where that is not enough, long inputs of old calls and long old answers
become stubs too, and then old results within the turns that are kept. The user's own words always stay.

What was pruned stays pruned, and in the same words, as the conversation continues, so that a provider's cache of the
prompt holds. No state is kept for that: the conversation is walked from its start, and at each message it is
decided what would have been pruned there. Later messages do not change what was decided before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tipstaff.context.conversation.messages import Message, plain_data
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.measure import RequestMeasure
from tipstaff.context.shortening.pruner import PrunedPart, Pruner
from tipstaff.context.shortening.stubs import Reference
from tipstaff.context.tokens.counting import SystemPrompt, TextCounter, default_counter
from tipstaff.model import Record


class PruneResult(Record, frozen=True):
    """What to send instead, and what it costs with system prompt and tools.

    Attributes
    ----------
    messages
        As many as were given; those in which nothing was pruned are the very same objects.
    original_tokens, pruned_tokens
        Before and after; equal where nothing was pruned.
    applied
        Whether anything was pruned.
    parts
        What was, in the order of the conversation.
    fits
        Whether the result is at or below the trigger.
    scale
        What the provider measured over what was estimated: the figures are in its tokens.
    """

    messages: tuple[Any, ...]
    original_tokens: int
    pruned_tokens: int
    applied: bool
    parts: tuple[PrunedPart, ...] = ()
    fits: bool = True
    scale: float = 1.0

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
    usage: object = None,
    measured_messages: int | None = None,
    reference: Reference | None = None,
    previous: PruneResult | None = None,
) -> PruneResult:
    """Return the conversation as it is to be sent.

    Parameters
    ----------
    messages
        The whole conversation, in the Messages API's shape. It is not changed.
    system_prompt, tools
        What is sent beside it.
    config
        Window, trigger, target, kept turns.
    count
        Counter of texts; by default the fitted estimator.
    usage, measured_messages
        What the provider reported of the last request: see `usage_tokens` and `estimate_full_context`. All estimates
        are scaled by what it measured. If the request was sent pruned, `previous` says what was left out of it; without
        that, it is taken to have been pruned as this function does.
    reference
        Says where the whole of a pruned block is kept.
    previous
        The result for the same conversation when it was shorter. What it pruned is pruned again even if the system
        prompt or the tools have changed since; without it, that holds while they have not. What is no longer where it
        was, as after a compaction, is passed over.

    Raises
    ------
    MessageError
        If a message is not of the Messages API's shape.
    """
    found = tuple(messages)
    measure = measured_request(
        messages,
        system_prompt,
        tools,
        config,
        count=count or default_counter(),
        usage=usage,
        measured_messages=measured_messages,
        previous=previous,
    )
    original = measure.original
    apart = min(config.system_prompt_tokens, measure.prompt)
    earlier = previous.parts if previous is not None else ()
    if original - apart <= config.trigger_tokens and not earlier:
        return PruneResult(found, original, original, applied=False, scale=measure.ratio)
    pruner = Pruner(found, config, count=measure.count, reference=reference, costs=measure.costs)
    pruner.apply_earlier(earlier)
    pruner.walk(measure.beside - apart)
    saved = pruner.saved
    return PruneResult(
        pruner.messages(),
        original,
        original - saved,
        applied=bool(pruner.parts),
        parts=tuple(sorted(pruner.parts, key=lambda part: (part.message, part.block))),
        fits=original - saved - apart <= config.trigger_tokens,
        scale=measure.ratio,
    )


def measured_request(
    messages: Sequence[Message],
    system_prompt: SystemPrompt,
    tools: Sequence[Mapping[str, Any]],
    config: CompactionConfig,
    *,
    count: TextCounter,
    usage: object,
    measured_messages: int | None = None,
    previous: PruneResult | None = None,
) -> RequestMeasure:
    """Return what a request costs, with what the provider reported of the one before, which may have been pruned."""
    return RequestMeasure(
        system_prompt,
        tools,
        messages,
        count=count,
        usage=usage,
        measured_messages=measured_messages,
        saved=None
        if previous is None
        else lambda costs, covered: _saved_before(messages[:covered], config, count, costs, previous),
        pruned=lambda costs, beside, covered: _saved_by_walk(messages[:covered], config, count, costs, beside),
    )


def _saved_before(
    messages: Sequence[Message],
    config: CompactionConfig,
    count: TextCounter,
    costs: Sequence[int],
    previous: PruneResult,
) -> int:
    """Return what an earlier result leaves out of these messages."""
    pruner = Pruner(messages, config, count=count, costs=costs)
    pruner.apply_earlier(previous.parts)
    return pruner.saved


def _saved_by_walk(
    messages: Sequence[Message], config: CompactionConfig, count: TextCounter, costs: Sequence[int], beside: int
) -> int:
    """Return what pruning would have left out of these messages."""
    pruner = Pruner(messages, config, count=count, costs=costs)
    pruner.walk(beside)
    return pruner.saved
