"""Results of tools that are cut because they would not fit, even new ones: the last resort.

Neither pruning nor compaction is enough where one result is larger than the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tipstaff.context.conversation.messages import Block, Message, blocks_of, with_blocks
from tipstaff.context.shortening.stubs import Reference, shortened_result
from tipstaff.context.tokens.counting import TextCounter, estimate_block

_LEAST_SHORTENED: Final = 400


def capped_results(
    messages: Sequence[Message], most: int, *, count: TextCounter, reference: Reference | None = None
) -> tuple[Message, ...]:
    """Return messages of which no result of a tool takes more than `most` tokens; those that do are cut."""
    found = list(messages)
    for index, message in enumerate(messages):
        for position, block in enumerate(blocks_of(message)):
            if block.get("type") == "tool_result" and (size := estimate_block(block, count=count)) > most:
                blocks = list(blocks_of(found[index]))
                blocks[position] = shortened_result(block, most / size, reference)
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

    def put(index: int, position: int, block: Block, shorter: Block) -> int:
        blocks = list(blocks_of(found[index]))
        blocks[position] = shorter
        found[index] = with_blocks(found[index], blocks)
        return estimate_block(block, count=count) - estimate_block(shorter, count=count)

    for index, message in enumerate(messages):
        for position, block in enumerate(blocks_of(message)):
            if block.get("type") != "tool_result":
                continue
            before = known.get(str(block.get("tool_use_id")))
            size = estimate_block(block, count=count)
            if before is not None and estimate_block(before, count=count) < size:
                saved += put(index, position, block, before)
            elif excess > 0:
                sizes.append((size, index, position))
    for size, index, position in sorted(sizes, key=lambda one: (-one[0], one[1], one[2])):
        if saved >= excess or size < _LEAST_SHORTENED:
            break
        block = blocks_of(found[index])[position]
        shorter = shortened_result(block, max(0.0, 1 - (excess - saved) / size), reference)
        known[str(block.get("tool_use_id"))] = shorter
        saved += put(index, position, block, shorter)
    return tuple(found), saved
