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
from tipstaff.context.shortening.pruner import PrunedPart, Pruner
from tipstaff.context.shortening.stubs import Reference
from tipstaff.context.tokens.counting import SystemPrompt, TextCounter, default_counter, estimate_system_prompt
from tipstaff.context.tokens.request_tokens import estimate_full_context, message_costs
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
    reference
        Says where the whole of a pruned block is kept.

    Raises
    ------
    MessageError
        If a message is not of the Messages API's shape.
    """
    found, counter = tuple(messages), count or default_counter()
    costs = message_costs(messages, count=counter)
    beside = estimate_full_context(system_prompt, tools, (), count=counter)
    apart = min(config.system_prompt_tokens, estimate_system_prompt(system_prompt, count=counter))
    original = beside + sum(costs)
    if original - apart <= config.trigger_tokens:
        return PruneResult(found, original, original, applied=False)
    pruner = Pruner(found, config, count=counter, reference=reference, costs=costs)
    pruner.walk(beside - apart)
    left = original - pruner.saved
    return PruneResult(
        pruner.messages(),
        original,
        left,
        applied=bool(pruner.parts),
        parts=tuple(sorted(pruner.parts, key=lambda part: (part.message, part.block))),
        fits=left - apart <= config.trigger_tokens,
    )
