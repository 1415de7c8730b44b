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

import bisect
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tipstaff.context.conversation.messages import (
    CALLS,
    THINKING,
    Block,
    Message,
    blocks_of,
    plain_data,
    starts_turn,
    with_blocks,
)
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.measure import RequestMeasure
from tipstaff.context.shortening.preamble import read_preamble
from tipstaff.context.shortening.stubs import shortened_result, stub_of
from tipstaff.context.tokens.counting import (
    SystemPrompt,
    TextCounter,
    default_counter,
    estimate_block,
    message_costs,
)
from tipstaff.model import Record

Reference: TypeAlias = Callable[[Block], str | None]
"""Given a block that is pruned, returns where the whole of it is kept (a path, an address), or None."""

KEPT_EXCHANGES: Final = 8
"""Of a kept turn, as many of its last rounds of calls and results are never pruned."""

THINKING_REMOVED: Final = "[thinking removed]"
_STEP_SHARE: Final = 0.06
"""Pruning that cannot reach its target has to save this share of the window at least: each time breaks the provider's
cache. It must stay below what lies between trigger and target, or a result pruned once would be pruned again."""


LAST_RESORT_SHARE: Final = 0.9
"""Where a request would take more of the window than this, results are cut wherever they are, even new ones."""

_LEAST_SHORTENED: Final = 400


class PrunedPart(Record, frozen=True, gc=False):
    """One block that is not sent as it is in the conversation.

    Attributes
    ----------
    message, block
        Its position in the conversation.
    kind
        ``tool_result``, ``thinking``, ``tool_use`` or ``text``.
    saved_tokens
        What leaving it out saves.
    reference
        Where the whole of it is: the caller's answer, else the id of its call.
    mark
        By which the block is known again: another block at its position is not pruned instead.
    """

    message: int
    block: int
    kind: str
    saved_tokens: int
    reference: str = ""
    mark: str = ""


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


@dataclass(slots=True)
class _Candidate:
    """A block that could be pruned, and when."""

    message: int
    block: int
    kind: str
    place: int
    """It may go once the kept turns begin after this message."""
    counted: bool = False


@dataclass(slots=True)
class _Queue:
    """Candidates of one stage, in their order; none is looked at twice."""

    items: list[_Candidate] = field(default_factory=list[_Candidate])
    next: int = 0
    known: int = 0
    """Up to here it is known what could be saved."""


class Pruner:
    """Decides what of a conversation is pruned. One serves for one conversation, once.

    Attributes
    ----------
    parts
        What was pruned.
    saved
        Tokens that it saves.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        config: CompactionConfig,
        *,
        count: TextCounter | None = None,
        reference: Reference | None = None,
        costs: Sequence[int] | None = None,
    ) -> None:
        self._messages = messages
        self._count = count or default_counter()
        self._costs = message_costs(messages, count=self._count) if costs is None else costs
        self._config = config
        self._reference = reference
        self._replaced: dict[int, dict[int, Block | None]] = {}
        self._old, self._long, self._kept = _Queue(), _Queue(), _Queue()
        self._collected = 0
        self._savable = 0
        self._earlier: dict[int, int] = {}
        # What an earlier compaction said is all that is left of what was before it.
        self._carried = read_preamble(messages).size
        self._starts = [index for index, message in enumerate(messages) if starts_turn(message)]
        self.parts: list[PrunedPart] = []
        self.saved = 0

    def walk(self, fixed_tokens: int, *, finish: bool = False) -> None:
        """Go through the conversation and prune wherever it would have been over the trigger.

        Parameters
        ----------
        fixed_tokens
            What is sent beside the messages.
        finish
            Whether to continue at the end until the target is reached, trigger or not.
        """
        trigger, target = self._config.trigger_tokens, self._config.prune_target_tokens
        step = min(int(self._config.effective_window_tokens * _STEP_SHARE), (trigger - target) // 2)
        total, turn = fixed_tokens, -1
        exchanges: list[list[int]] = []
        for index, message in enumerate(self._messages):
            cost = self._costs[index]
            total += cost - self._earlier.pop(index, 0)
            if turn + 1 < len(self._starts) and self._starts[turn + 1] == index:
                turn += 1
                exchanges.append([])
            if message.get("role") == "assistant" and exchanges:
                exchanges[-1].append(index)
            if total > trigger:
                boundary = self._boundary(turn, index)
                # In steps: a little at every message would break the provider's cache at every call.
                if self._can_save(step, boundary, index, exchanges):
                    total -= self._prune(total - target, boundary, index, exchanges)
        if finish and total > target:
            end = len(self._messages) - 1
            self._prune(total - target, self._boundary(turn, end), end, exchanges)

    def apply_earlier(self, parts: Sequence[PrunedPart]) -> None:
        """Prune what an earlier result for this conversation did."""
        for part in parts:
            if part.message >= len(self._messages):
                continue
            blocks = blocks_of(self._messages[part.message])
            if part.block >= len(blocks):
                continue
            if not _is_same(part, blocks[part.block]):
                continue
            candidate = _Candidate(part.message, part.block, part.kind, part.message)
            before = self.saved
            if self._take(candidate):
                self._earlier[part.message] = self._earlier.get(part.message, 0) + self.saved - before

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation with what was pruned replaced."""
        out = list(self._messages)
        for index, changes in self._replaced.items():
            blocks = [changes.get(place, block) for place, block in enumerate(blocks_of(out[index]))]
            kept = [block for block in blocks if block is not None]
            out[index] = with_blocks(out[index], kept or [{"type": "text", "text": THINKING_REMOVED}])
        return tuple(out)

    def _boundary(self, turn: int, index: int) -> int:
        """Return where the kept turns begin, in a conversation that ends with the message `index`."""
        wanted = self._config.protected_turns
        # What is in the last message the model has not seen yet.
        return index if wanted == 0 or turn < 0 else self._starts[max(0, turn + 1 - wanted)]

    def _collect(self, index: int, message: Message, cost: int) -> None:
        if cost <= self._count(THINKING_REMOVED):
            return
        assistant = message.get("role") == "assistant"
        for place, block in enumerate(blocks_of(message)):
            kind = str(block.get("type"))
            if kind in THINKING and assistant:
                self._old.items.append(_Candidate(index, place, "thinking", index))
            elif kind == "tool_result":
                self._old.items.append(_Candidate(index, place, kind, index))
                self._kept.items.append(self._old.items[-1])
            elif assistant and index >= self._carried and (kind in CALLS or kind == "text"):
                self._long.items.append(_Candidate(index, place, "text" if kind == "text" else "tool_use", index))

    def _collect_to(self, end: int) -> None:
        # Nothing is looked at before the first time that anything has to go.
        for index in range(self._collected, end + 1):
            self._collect(index, self._messages[index], self._costs[index])
        self._collected = max(self._collected, end + 1)

    def _can_save(self, least: int, boundary: int, end: int, exchanges: list[list[int]]) -> bool:
        """Return whether pruning now would save so much; each block is weighed once in a walk."""
        self._collect_to(end)
        turn_begins = self._starts[len(exchanges) - 1] if exchanges else 0
        for queue in (self._old, self._long):
            while self._savable < least and queue.known < len(queue.items):
                candidate = queue.items[queue.known]
                if candidate.place >= boundary or (candidate.kind == "thinking" and candidate.place >= turn_begins):
                    break
                self._weigh(candidate)
                queue.known += 1
        queue = self._kept
        while self._savable < least and queue.known < len(queue.items):
            candidate = queue.items[queue.known]
            if candidate.place < min(end, max(boundary, self._recent(candidate.place, exchanges))):
                self._weigh(candidate)
            elif candidate.place >= turn_begins:
                break
            queue.known += 1
        return self._savable >= least

    def _weigh(self, candidate: _Candidate) -> None:
        if not candidate.counted:
            candidate.counted = True
            found = self._stubbed(candidate)
            self._savable += found[1] if found is not None else 0

    def _prune(self, excess: int, boundary: int, end: int, exchanges: list[list[int]]) -> int:
        """Prune until `excess` tokens are saved or nothing is left to prune; return what was saved."""
        before = self.saved
        self._collect_to(end)
        turn_begins = self._starts[len(exchanges) - 1] if exchanges else 0
        for queue in (self._old, self._long):
            while queue.next < len(queue.items) and self.saved - before < excess:
                candidate = queue.items[queue.next]
                if candidate.place >= boundary:
                    break
                # The thinking of the turn that continues belongs to its calls: providers refuse them without it.
                if candidate.kind == "thinking" and candidate.place >= turn_begins:
                    break
                self._take(candidate)
                queue.next += 1
        while self._kept.next < len(self._kept.items) and self.saved - before < excess:
            candidate = self._kept.items[self._kept.next]
            if candidate.place < min(end, max(boundary, self._recent(candidate.place, exchanges))):
                self._take(candidate)
            elif candidate.place >= turn_begins:
                break
            # Else it is of a turn that is over: the last rounds of that stay until it is no longer kept.
            self._kept.next += 1
        return self.saved - before

    def _recent(self, place: int, exchanges: list[list[int]]) -> int:
        """Return where, in the turn of a message, the last rounds begin."""
        turn = bisect.bisect_right(self._starts, place, hi=len(exchanges)) - 1
        if turn < 0:
            return 0
        rounds = exchanges[turn]
        return rounds[-KEPT_EXCHANGES] if len(rounds) >= KEPT_EXCHANGES else self._starts[turn]

    def _stubbed(self, candidate: _Candidate) -> tuple[Block | None, int, str] | None:
        """Return what would replace a block, what that saves, and where the whole is; None where nothing is saved."""
        changes = self._replaced.get(candidate.message, {})
        if candidate.block in changes:
            return None
        blocks = blocks_of(self._messages[candidate.message])
        block = blocks[candidate.block]
        where = (self._reference(block) if self._reference is not None else None) or ""
        stub, cost, left = _weighed(candidate.kind, block, where, self._count)
        if stub is block:
            return None
        alone = all(place == candidate.block or changes.get(place, other) is None for place, other in enumerate(blocks))
        if stub is None and alone:
            left = self._count(THINKING_REMOVED)
        return (stub, cost - left, where) if left < cost else None

    def _take(self, candidate: _Candidate) -> bool:
        found = self._stubbed(candidate)
        if found is None:
            return False
        stub, saves, where = found
        block = blocks_of(self._messages[candidate.message])[candidate.block]
        self._replaced.setdefault(candidate.message, {})[candidate.block] = stub
        self.saved += saves
        if candidate.counted:
            self._savable -= saves
        candidate.counted = True
        name = where or str(block.get("tool_use_id") or block.get("id") or "")
        part = PrunedPart(candidate.message, candidate.block, candidate.kind, saves, name, _mark_of(block))
        self.parts.append(part)
        return True


def capped_results(
    messages: Sequence[Message], most: int, *, count: TextCounter, reference: Reference | None = None
) -> tuple[Message, ...]:
    """Return messages of which no result of a tool takes more than `most` tokens; those that do are cut."""
    found = list(messages)
    for index, message in enumerate(messages):
        for place, block in enumerate(blocks_of(message)):
            if block.get("type") == "tool_result" and (size := estimate_block(block, count=count)) > most:
                blocks = list(blocks_of(found[index]))
                blocks[place] = shortened_result(block, most / size, reference)
                found[index] = with_blocks(found[index], blocks)
    return tuple(found)


def shortened_results(
    messages: Sequence[Message],
    excess: int,
    known: dict[str, Block],
    *,
    count: TextCounter,
    reference: Reference | None = None,
) -> tuple[tuple[Message, ...], int]:
    """Return messages with their largest results cut, even new ones, until `excess` tokens are saved; and what that is.

    The last resort, where neither pruning nor compaction is enough: one result may be larger than the window.

    Parameters
    ----------
    known
        Results that were cut before, by the ids of their calls: they are cut in the same way again, and new ones are
        added.
    """
    found = list(messages)
    sizes: list[tuple[int, int, int]] = []
    saved = 0

    def put(index: int, place: int, block: Block, shorter: Block) -> int:
        blocks = list(blocks_of(found[index]))
        blocks[place] = shorter
        found[index] = with_blocks(found[index], blocks)
        return estimate_block(block, count=count) - estimate_block(shorter, count=count)

    for index, message in enumerate(messages):
        for place, block in enumerate(blocks_of(message)):
            if block.get("type") != "tool_result":
                continue
            before = known.get(str(block.get("tool_use_id")))
            size = estimate_block(block, count=count)
            if before is not None and estimate_block(before, count=count) < size:
                saved += put(index, place, block, before)
            elif excess > 0:
                sizes.append((size, index, place))
    for size, index, place in sorted(sizes, key=lambda one: (-one[0], one[1], one[2])):
        if saved >= excess or size < _LEAST_SHORTENED:
            break
        block = blocks_of(found[index])[place]
        shorter = shortened_result(block, max(0.0, 1 - (excess - saved) / size), reference)
        known[str(block.get("tool_use_id"))] = shorter
        saved += put(index, place, block, shorter)
    return tuple(found), saved


_WEIGHED: OrderedDict[int, tuple[Block, tuple[object, ...], tuple[Block | None, int, int]]] = OrderedDict()
_MOST_WEIGHED: Final = 4_096


def _weighed(kind: str, block: Block, where: str, count: TextCounter) -> tuple[Block | None, int, int]:
    """Return what would replace a block, what it costs and what that does; remembered, as each request asks again."""
    if count is not default_counter():
        return _weigh(kind, block, where, count)
    # The texts are what may be replaced in a block that stays the same object.
    told = (where, *(block.get(name) for name in ("content", "input", "text", "thinking")))
    known = _WEIGHED.get(id(block))
    if known is not None and known[0] is block and all(a is b for a, b in zip(known[1], told, strict=True)):
        return known[2]
    found = _weigh(kind, block, where, count)
    if isinstance(told[1], str | None) and not isinstance(told[2], Mapping):  # else it may change within
        with _WEIGHED_LOCK:
            _WEIGHED[id(block)] = (block, told, found)
            while len(_WEIGHED) > _MOST_WEIGHED:
                _WEIGHED.popitem(last=False)
    return found


_WEIGHED_LOCK: Final = threading.Lock()


def _weigh(kind: str, block: Block, where: str, count: TextCounter) -> tuple[Block | None, int, int]:
    stub = stub_of(kind, block, where)
    if stub is block:
        return stub, 0, 0
    return stub, estimate_block(block, count=count), 0 if stub is None else estimate_block(stub, count=count)


def _mark_of(block: Block) -> str:
    """Return by what a block is known again: its call's id, its signature, else its length and first words."""
    known: object = block.get("tool_use_id") or block.get("id") or block.get("signature")
    if known:
        return str(known)[:64]
    text = str(block.get("text") or block.get("thinking") or block.get("data") or "")
    return f"{len(text)}:{text[:40]}"


def _is_same(part: PrunedPart, block: Block) -> bool:
    kind = str(block.get("type"))
    expected = "thinking" if kind in THINKING else "tool_use" if kind in CALLS else kind
    return part.kind == expected and part.mark in {"", _mark_of(block)}
