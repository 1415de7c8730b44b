"""Which blocks of a conversation are pruned at which message, and by what they are replaced.

Three queues hold what may go, each in the conversation's order: results of tools and thinking of turns that are over,
long inputs and answers of those, results within the turns that are kept. A walk goes from message to message and takes
from the queues wherever the conversation, as it was then, would have been over the trigger.
"""

from __future__ import annotations

import bisect
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tipstaff.context.conversation.messages import CALLS, THINKING, Block, Message, blocks_of, starts_turn, with_blocks
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.preamble import read_preamble
from tipstaff.context.shortening.stubs import Reference, stub_of
from tipstaff.context.tokens.counting import TextCounter, default_counter, estimate_block
from tipstaff.context.tokens.request_tokens import message_costs
from tipstaff.model import Record

KEPT_EXCHANGES: Final = 8
"""Of a kept turn, as many of its last rounds of calls and results are never pruned."""

THINKING_REMOVED: Final = "[thinking removed]"
_STEP_SHARE: Final = 0.06
"""Pruning that cannot reach its target has to save this share of the window at least: each time breaks the provider's
cache. It must stay below what is between trigger and target, or a result pruned once would be pruned again."""


class PrunedPart(Record, frozen=True, gc=False):
    """One block that is not sent as it is in the conversation.

    Attributes
    ----------
    message, block
        Where it is in the conversation.
    kind
        ``tool_result``, ``thinking``, ``tool_use`` or ``text``.
    saved_tokens
        What leaving it out saves.
    reference
        Where the whole of it is, as the caller said.
    """

    message: int
    block: int
    kind: str
    saved_tokens: int
    reference: str = ""


@dataclass(slots=True)
class _Candidate:
    """A block that could be pruned once the kept turns begin after its message."""

    message: int
    block: int
    kind: str
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
            total += cost
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

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation with what was pruned replaced."""
        out = list(self._messages)
        for index, changes in self._replaced.items():
            blocks = [changes.get(number, block) for number, block in enumerate(blocks_of(out[index]))]
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
        for number, block in enumerate(blocks_of(message)):
            kind = str(block.get("type"))
            if kind in THINKING and assistant:
                self._old.items.append(_Candidate(index, number, "thinking"))
            elif kind == "tool_result":
                self._old.items.append(_Candidate(index, number, kind))
                self._kept.items.append(self._old.items[-1])
            elif assistant and index >= self._carried and (kind in CALLS or kind == "text"):
                self._long.items.append(_Candidate(index, number, "text" if kind == "text" else "tool_use"))

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
                if candidate.message >= boundary or (candidate.kind == "thinking" and candidate.message >= turn_begins):
                    break
                self._weigh(candidate)
                queue.known += 1
        queue = self._kept
        while self._savable < least and queue.known < len(queue.items):
            candidate = queue.items[queue.known]
            if candidate.message < min(end, max(boundary, self._recent(candidate.message, exchanges))):
                self._weigh(candidate)
            elif candidate.message >= turn_begins:
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
                if candidate.message >= boundary:
                    break
                # The thinking of the turn that continues belongs to its calls: providers refuse them without it.
                if candidate.kind == "thinking" and candidate.message >= turn_begins:
                    break
                self._take(candidate)
                queue.next += 1
        while self._kept.next < len(self._kept.items) and self.saved - before < excess:
            candidate = self._kept.items[self._kept.next]
            if candidate.message < min(end, max(boundary, self._recent(candidate.message, exchanges))):
                self._take(candidate)
            elif candidate.message >= turn_begins:
                break
            # Else it is of a turn that is over: the last rounds of that stay until it is no longer kept.
            self._kept.next += 1
        return self.saved - before

    def _recent(self, at: int, exchanges: list[list[int]]) -> int:
        """Return where, in the turn of a message, the last rounds begin."""
        turn = bisect.bisect_right(self._starts, at, hi=len(exchanges)) - 1
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
        alone = all(
            number == candidate.block or changes.get(number, other) is None for number, other in enumerate(blocks)
        )
        if stub is None and alone:
            left = self._count(THINKING_REMOVED)
        return (stub, cost - left, where) if left < cost else None

    def _take(self, candidate: _Candidate) -> None:
        found = self._stubbed(candidate)
        if found is None:
            return
        stub, saves, where = found
        self._replaced.setdefault(candidate.message, {})[candidate.block] = stub
        self.saved += saves
        if candidate.counted:
            self._savable -= saves
        candidate.counted = True
        self.parts.append(PrunedPart(candidate.message, candidate.block, candidate.kind, saves, where))


_WEIGHED: OrderedDict[int, tuple[Block, tuple[object, ...], tuple[Block | None, int, int]]] = OrderedDict()
_MOST_WEIGHED: Final = 4_096


def _weighed(kind: str, block: Block, where: str, count: TextCounter) -> tuple[Block | None, int, int]:
    """Return what would replace a block, what it costs and what that does; remembered, as each request asks again."""
    if count is not default_counter():
        return _weigh(kind, block, where, count)
    # The texts are what may be replaced in a block that stays the same object.
    weighed = (where, *(block.get(name) for name in ("content", "input", "text", "thinking")))
    known = _WEIGHED.get(id(block))
    if known is not None and known[0] is block and all(a is b for a, b in zip(known[1], weighed, strict=True)):
        return known[2]
    found = _weigh(kind, block, where, count)
    if isinstance(weighed[1], str | None) and not isinstance(weighed[2], Mapping):  # else it may change within
        with _WEIGHED_LOCK:
            _WEIGHED[id(block)] = (block, weighed, found)
            while len(_WEIGHED) > _MOST_WEIGHED:
                _WEIGHED.popitem(last=False)
    return found


_WEIGHED_LOCK: Final = threading.Lock()


def _weigh(kind: str, block: Block, where: str, count: TextCounter) -> tuple[Block | None, int, int]:
    stub = stub_of(kind, block, where)
    if stub is block:
        return stub, 0, 0
    return stub, estimate_block(block, count=count), 0 if stub is None else estimate_block(stub, count=count)
