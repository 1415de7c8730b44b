"""What of a conversation is pruned, and by what it is replaced; the conversation itself is never touched.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, cast

from tipstaff.budgets import STUB_CHARS
from tipstaff.context.conversation.graphemes import ceil_boundary, floor_boundary
from tipstaff.context.conversation.messages import (
    CALLS,
    THINKING,
    Block,
    Message,
    blocks_of,
    starts_turn,
    text_of,
    with_blocks,
)
from tipstaff.context.shortening.preamble import CompactionConfig, read_preamble
from tipstaff.context.tokens.counting import (
    TextCounter,
    default_counter,
    estimate_block,
)
from tipstaff.context.tokens.request_tokens import message_costs
from tipstaff.kernels import utf16_units
from tipstaff.model import Record

Reference: TypeAlias = Callable[[Block], str | None]
"""Told a block that is pruned, says where the whole of it is kept (a path, an address), or None."""

MARKER: Final = "[content pruned: "
_TAIL_SHARE: Final = 0.3
_ERROR_TAIL_SHARE: Final = 0.6
_LONG_FACTOR: Final = 2
_LONGEST_STUB: Final = STUB_CHARS + 1_200


def stub_of(kind: str, block: Block, where: str) -> Block | None:
    """Return what stands for a block: None for nothing at all, the block itself where it is short already."""
    if kind == "thinking":
        return None
    if kind == "tool_result":
        content: object = block.get("content")
        text = text_of(content)
        others = _other_parts(content)
        if not others and _is_short(text):
            return block
        return {**block, "content": stub_text(text, where, errors=bool(block.get("is_error")), others=others)}
    if kind == "text":
        text = str(block.get("text") or "")
        return block if _is_short(text) else {**block, "text": stub_text(text, where)}
    value: object = block.get("input")
    if not isinstance(value, Mapping):
        return block
    shorter = _shorter_values(cast("Mapping[str, Any]", value), where)
    return block if shorter is value else {**block, "input": shorter}


def _shorter_values(value: Any, where: str, depth: int = 0) -> Any:
    """Return an input with its long texts cut; the very same object where there are none."""
    if isinstance(value, str):
        return value if _is_short(value) else stub_text(value, where)
    if depth > 16:
        return value
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value)
        shorter = {key: _shorter_values(item, where, depth + 1) for key, item in items.items()}
        return shorter if any(shorter[key] is not item for key, item in items.items()) else value
    if isinstance(value, list):
        found: list[Any] = value
        parts = [_shorter_values(item, where, depth + 1) for item in found]
        return parts if any(part is not item for part, item in zip(parts, found, strict=True)) else found
    return value


def _is_short(text: str) -> bool:
    """Whether a text is left as it is: it is short, or a stub already."""
    return len(text) <= STUB_CHARS * _LONG_FACTOR or (len(text) <= _LONGEST_STUB and MARKER in text)


def shortened_result(block: Block, share: float, reference: Reference | None = None) -> Block:
    """Return a tool's result cut to about a share of its text, with a line that says what is gone."""
    content: object = block.get("content")
    text, others = text_of(content), _other_parts(content)
    where = (reference(block) if reference is not None else None) or ""
    room = max(STUB_CHARS, int(len(text) * share) - 160)
    if room >= len(text) and not others:
        return block
    tail = int(room * _TAIL_SHARE)
    head = text[: floor_boundary(text, room - tail)]
    end = text[ceil_boundary(text, max(len(head), len(text) - tail)) :]
    gone = len(text) - len(head) - len(end)
    notes = [part for part in (f"{gone:,} of {len(text):,} characters left out" if gone else "", others) if part]
    line = f"{MARKER}{', '.join(notes)}; the whole did not fit into the window{f'; whole: {where}' if where else ''}]"
    return {**block, "content": "\n".join(part for part in (head, line, end) if part)}


def stub_text(text: str, where: str = "", *, errors: bool = False, others: str = "") -> str:
    """Return the first and last characters of a text and a line that says what is gone, and where the whole is.

    At most 200 characters of the text, in UTF-16 code units as well, cut between graphemes, at the end of a line or
    a word where one is near. Of an error the last lines matter most; `others` is what else is gone, such as ``1
    image``.
    """
    if len(text) <= STUB_CHARS and utf16_units(text) <= STUB_CHARS:
        head, tail = text, ""
    else:
        tail_chars = int(STUB_CHARS * (_ERROR_TAIL_SHARE if errors else _TAIL_SHARE))
        head = _at_word(text[: floor_boundary(text, _fitting(text, STUB_CHARS - tail_chars))])
        start = len(text) - _fitting(text[-tail_chars:][::-1], tail_chars)
        tail = text[ceil_boundary(text, start) :]
    gone = len(text) - len(head) - len(tail)
    notes = [f"{gone:,} of {len(text):,} characters left out"] if gone else []
    if others:
        notes.append(others)
    line = MARKER + ", ".join(notes or ["nothing"]) + (f"; whole: {where}]" if where else "]")
    return "\n".join(part for part in (head, line, tail) if part)


def _fitting(text: str, most: int) -> int:
    """Return how many characters fit into as many UTF-16 code units."""
    if text[:most].isascii():
        return min(most, len(text))
    used = 0
    for index, char in enumerate(text):
        used += 2 if char > "\uffff" else 1
        if used > most:
            return index
    return len(text)


def _at_word(head: str) -> str:
    cut = max(head.rfind("\n"), head.rfind(" "))
    return head[:cut] if cut > len(head) * 3 // 4 else head


def _other_parts(content: object) -> str:
    counts: dict[str, int] = {}
    for part in _parts(content):
        kind = str(part.get("type"))
        if kind != "text":
            counts[kind] = counts.get(kind, 0) + 1
    return ", ".join(f"{number} {kind}{'s' if number > 1 else ''}" for kind, number in sorted(counts.items()))


def _parts(content: object) -> Iterator[Block]:
    if isinstance(content, list | tuple):
        for part in cast("Sequence[object]", content):
            if isinstance(part, Mapping):
                yield cast("Block", part)


_LEAST_SHORTENED: Final = 400


def capped_results(
    messages: Sequence[Message], most: int, *, count: TextCounter, reference: Reference | None = None
) -> tuple[Message, ...]:
    """Return messages of which no result of a tool takes more than `most` tokens; those that do are cut."""
    found = list(messages)
    for size, index, position in _result_sizes(messages, count):
        if size > most:
            _cut_result(found, index, position, most / size, reference)
    return tuple(found)


def _result_sizes(messages: Sequence[Message], count: TextCounter) -> list[tuple[int, int, int]]:
    return [
        (estimate_block(block, count=count), index, position)
        for index, message in enumerate(messages)
        for position, block in enumerate(blocks_of(message))
        if block.get("type") == "tool_result"
    ]


def _cut_result(found: list[Message], index: int, position: int, share: float, reference: Reference | None) -> Block:
    blocks = list(blocks_of(found[index]))
    blocks[position] = shortened_result(blocks[position], share, reference)
    found[index] = with_blocks(found[index], blocks)
    return blocks[position]


def shortened_results(
    messages: Sequence[Message], excess: int, *, count: TextCounter, reference: Reference | None = None
) -> tuple[Message, ...]:
    """Return messages with their largest results cut, even new ones, until `excess` tokens are saved.

    The last resort, where neither pruning nor compaction is enough: one result may be larger than the window.
    """
    found, saved = list(messages), 0
    for size, index, position in sorted(_result_sizes(messages, count), key=lambda one: (-one[0], one[1], one[2])):
        if saved >= excess or size < _LEAST_SHORTENED:
            break
        shorter = _cut_result(found, index, position, max(0.0, 1 - (excess - saved) / size), reference)
        saved += size - estimate_block(shorter, count=count)
    return tuple(found)


KEPT_EXCHANGES: Final = 8
"""Of a kept turn, as many of its last rounds of calls and results are never pruned."""

THINKING_REMOVED: Final = "[thinking removed]"
_STEP_SHARE: Final = 0.06
"""Pruning that cannot reach its target has to save this share of the window at least: each time breaks the provider's
cache. It must stay below what is between trigger and target, or a result pruned once would be pruned again."""


class PrunedPart(Record, frozen=True, gc=False):
    """One block that is not sent as it is in the conversation.

    Where it is, ``tool_result``, ``thinking``, ``tool_use`` or ``text``, what leaving it out saves, and where the whole
    of it is kept.
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
    """Decides what of a conversation is pruned, once; `saved` is in tokens."""

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

        `fixed_tokens` are sent beside the messages. With `finish`, continue at the end until the target is reached.
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

    def sorted_parts(self) -> tuple[PrunedPart, ...]:
        """Return what was pruned, in the order of the conversation."""
        return tuple(sorted(self.parts, key=lambda part: (part.message, part.block)))

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
        stub, cost, left = _weigh(candidate.kind, block, where, self._count)
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


def _weigh(kind: str, block: Block, where: str, count: TextCounter) -> tuple[Block | None, int, int]:
    stub = stub_of(kind, block, where)
    if stub is block:
        return stub, 0, 0
    return stub, estimate_block(block, count=count), 0 if stub is None else estimate_block(stub, count=count)
