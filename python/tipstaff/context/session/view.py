"""The conversation as it is sent: messages that any provider takes, each with what it costs and where it came from.

What callers give is not always what a provider takes: an answer without content, two messages of the user's in a row, a
call that was interrupted before its result, a result of no call. A view is whole at all times; what it was made of is
not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.messages import CALLS, EXTENSION, THINKING, Block, Message, blocks_of, text_of
from tipstaff.context.session.wire import SYSTEM_ROLES, Restorable, delivery_of
from tipstaff.context.shortening.preamble import go_on

FAILED: Final = "[the tool failed]"
NO_RESULT: Final = "[no result: the call was interrupted]"


class View(Restorable):
    """Messages to send; their order, roles and pairs of calls and results are always right.

    With each message goes what it costs, and the number of the first of the session's messages that is in it.
    """

    def __init__(self, cost: Callable[[Message], int]) -> None:
        self._cost = cost
        self.messages: list[dict[str, Any]] = []
        self.costs: list[int] = []
        self.origins: list[int] = []
        self.changed_from = 0
        """The first message that differs from what it was when this was last set to the number of messages."""
        self.ids: set[str] = set()
        self.renamed: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def tokens(self) -> int:
        """What all messages cost."""
        return sum(self.costs)

    def open_calls(self) -> list[str]:
        """Return the ids of calls of the last message, which wait for results."""
        return list(self._waiting())

    def append(self, message: Message, origin: int) -> None:
        """Add a message of the session."""
        role = "assistant" if message.get("role") == "assistant" else "user"
        blocks = [_sound(block) for block in blocks_of(message) if not _empty(block)]
        note = {EXTENSION: message[EXTENSION]} if EXTENSION in message else {}
        if message.get("role") in SYSTEM_ROLES:
            blocks = [{**block, EXTENSION: {"role": message["role"]}} for block in blocks]
            note = {}
        waiting = self._waiting()
        if role == "user":
            blocks = self._with_sent_ids(blocks)
            if self.messages and self.messages[-1].get("role") == "user":
                blocks = self._late(blocks)
            blocks = _answers(blocks, waiting)
            if not blocks and self.messages and self.messages[-1].get("role") == "assistant":
                blocks = [dict(block) for block in blocks_of(go_on())]  # the user said nothing, and it is their turn
        while role == "assistant" and blocks and blocks[-1].get("type") in THINKING:
            blocks.pop()  # the answer was cut off: no provider takes thinking that nothing follows
        if not blocks:
            return
        last = self.messages[-1] if self.messages else None
        if role == "assistant":
            blocks = self._with_own_ids(blocks)
            if last is None:
                self._add(dict(go_on()), origin)
            elif last.get("role") == "assistant":
                if not waiting and _goes_on(last, blocks):
                    self.replace(len(self) - 1, {"role": role, "content": [*blocks_of(last), *blocks]})
                    return
                lost = [_no_result(call) for call in waiting.values()]
                self._add({"role": "user", "content": lost} if lost else dict(go_on()), origin)
        elif last is not None and last.get("role") == "user":
            # Notes of the shape belong to one message as it was.
            self.replace(len(self) - 1, {"role": "user", "content": [*blocks_of(last), *blocks]})
            return
        content: object = message.get("content")
        same = isinstance(content, str) and len(blocks) == 1 and blocks[0].get("text") == content
        self._add({"role": role, "content": content if same else blocks, **note}, origin)

    def _late(self, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Put results where the last message says that there are none, if it was not sent yet; return the others."""
        index = len(self) - 1
        if index < self.changed_from or not blocks:
            return blocks
        held = [dict(block) for block in blocks_of(self.messages[index])]
        missing = {str(one.get("tool_use_id")): one for one in held if one.get("content") == NO_RESULT}
        found = {str(one.get("tool_use_id")): one for one in blocks if one.get("type") == "tool_result"}
        if not missing.keys() & found.keys():
            return blocks
        self.replace(
            index,
            {
                "role": "user",
                "content": [
                    found.get(str(one.get("tool_use_id")), one) if one in missing.values() else one for one in held
                ],
            },
        )
        return [one for one in blocks if str(one.get("tool_use_id")) not in missing]

    def _waiting(self) -> dict[str, Block]:
        """Return the calls of the last message, which wait for results, by their ids."""
        if not self.messages or self.messages[-1].get("role") != "assistant":
            return {}
        blocks = blocks_of(self.messages[-1])
        return {str(block.get("id")): block for block in blocks if block.get("type") == "tool_use"}

    def _with_own_ids(self, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return an answer's blocks; a call with the id of an earlier one gets another: some models count again."""
        self.renamed = {}
        for position, block in enumerate(blocks):
            if block.get("type") != "tool_use":
                continue
            given = str(block.get("id"))
            own, number = given, 1
            while own in self.ids:
                number += 1
                own = f"{given}_{number}"
            self.ids.add(own)
            self.renamed.setdefault(given, []).append(own)
            if own != given:
                blocks[position] = {**block, "id": own}
        return blocks

    def _with_sent_ids(self, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return a user's blocks with the ids under which the calls that they answer are sent."""
        left = {given: list(own) for given, own in self.renamed.items()}
        for position, block in enumerate(blocks):
            own = left.get(str(block.get("tool_use_id"))) if block.get("type") == "tool_result" else None
            if own and (sent := own.pop(0)) != block["tool_use_id"]:
                blocks[position] = {**block, "tool_use_id": sent}
        return blocks

    def replace(self, index: int, message: dict[str, Any]) -> None:
        """Replace a message with another."""
        self.messages[index] = message
        self.costs[index] = self._cost(message)
        self.changed_from = min(self.changed_from, index)

    def drop_last(self) -> None:
        """Forget the last message."""
        for part in (self.messages, self.costs, self.origins):
            part.pop()

    def takes_context(self) -> bool:
        """Whether context may be added to the last message: it is the user's, and no result of a program's calls.

        Beside results of calls that code made (``caller``) the Messages API takes nothing else.
        """
        if not self.messages or self.messages[-1].get("role") != "user":
            return False
        results = {b.get("tool_use_id") for b in blocks_of(self.messages[-1]) if b.get("type") == "tool_result"}
        if not results or len(self.messages) < 2:
            return True
        calls = [block for block in blocks_of(self.messages[-2]) if block.get("id") in results]
        return all((block.get("caller") or {"type": "direct"}).get("type") == "direct" for block in calls)

    def add_context(self, text: str) -> None:
        """Add context to the last message, which must be the user's."""
        last = self.messages[-1]
        block = {"type": "text", "text": text, EXTENSION: {"delivery": True}}
        self.replace(len(self) - 1, {**last, "content": [*blocks_of(last), block]})

    def without_context(self) -> list[dict[str, Any]]:
        """Return the messages without the context that was added to them."""
        found: list[dict[str, Any]] = []
        for message in self.messages:
            blocks = blocks_of(message)
            kept = [block for block in blocks if not delivery_of(block)]
            if len(kept) == len(blocks):
                found.append(message)
            else:
                found.append({**message, "content": kept or [{"type": "text", "text": "[context]"}]})
        return found

    def reset(self, messages: Sequence[Message], origins: Sequence[int]) -> None:
        """Start again from other messages, which must be right by themselves."""
        self.messages = [dict(message) for message in messages]
        self.costs = [self._cost(message) for message in self.messages]
        self.origins = list(origins)
        self.changed_from = 0
        self.ids = {str(b.get("id")) for m in messages for b in blocks_of(m) if b.get("type") == "tool_use"}

    def _add(self, message: dict[str, Any], origin: int) -> None:
        self.messages.append(message)
        self.costs.append(self._cost(message))
        self.origins.append(origin)


def _empty(block: Block) -> bool:
    return block.get("type") == "text" and not str(block.get("text") or "").strip()


def _sound(block: Block) -> dict[str, Any]:
    """Return a copy of a block without the empty texts in its result, which providers refuse."""
    content: object = block.get("content")
    if block.get("type") != "tool_result" or not isinstance(content, list):
        return dict(block)
    parts = [part for part in cast("list[Block]", content) if not _empty(part)]
    if block.get("is_error") is True and any(part.get("type") != "text" for part in parts):
        # A failure may hold nothing but text: the picture is worth more than the mark.
        bare = {key: value for key, value in block.items() if key != "is_error"}
        return {**bare, "content": [{"type": "text", "text": FAILED}, *parts]}
    return {**block, "content": parts or ""}


def _goes_on(last: Message, blocks: Sequence[Block]) -> bool:
    """Whether an answer continues the message before it: one the caller began, or the provider interrupted."""
    begun = {block.get("id") for block in blocks_of(last) if block.get("type") in CALLS}
    answered = {block.get("tool_use_id") for block in blocks_of(last)}
    return bool(begun - answered) or "thinking" not in str(blocks[0].get("type"))


def _no_result(call: Block) -> dict[str, Any]:
    found = {"type": "tool_result", "tool_use_id": str(call.get("id")), "content": NO_RESULT, "is_error": True}
    note = cast("Mapping[str, Any]", call.get(EXTENSION) or {})
    kind = cast("Mapping[str, Any]", note.get("item") or {}).get("type")
    return found | {EXTENSION: {"call": kind}} if kind else found


def _answers(blocks: list[dict[str, Any]], waiting: Mapping[str, Block]) -> list[dict[str, Any]]:
    """Return a user's blocks with the results of the calls that wait first, one for each; other results as text."""
    results: dict[str, dict[str, Any]] = {}
    others: list[dict[str, Any]] = []
    for block in blocks:
        kind = str(block.get("type", ""))
        call = str(block.get("tool_use_id"))
        if kind == "tool_result" and call in waiting and call not in results:
            results[call] = block
        elif kind == "tool_result":
            result = text_of(block.get("content")).strip()
            if result:
                others.append({"type": "text", "text": f"[late result of {call}] {result}"})
        elif kind not in CALLS and "thinking" not in kind:
            others.append(block)
    return [*(results.get(name) or _no_result(call) for name, call in waiting.items()), *others]
