"""What a caller gives at each call: the whole conversation again, or only what is new. Both come out as what is new.

An agent's loop keeps its own list of messages and gives all of it each time, or it gives the session what has just
happened. The first is recognised by what it begins with. A list that goes another way than the one before (a message
was taken back or edited) starts again from where they part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import msgspec

from tipstaff.context.conversation.messages import EXTENSION, THINKING, Message, blocks_of
from tipstaff.context.session.wire import Restorable, Wire

_LEFT_OUT: Final = frozenset({EXTENSION, "cache_control", "citations", "status"})


class ConversationUpdate(NamedTuple):
    """What is new.

    How many of the messages known so far still hold, what follows them, and the system prompt at the start of the
    caller's list, None where the list has no start.
    """

    keep: int
    messages: list[dict[str, Any]]
    system: str | None


class Intake(Restorable):
    """Finds out what is new in each list that a caller gives."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._given: list[tuple[object, object, int]] = []
        self.known: list[str] = []
        self.recorded_at: set[int] = set()
        self.whole: bool | None = None

    def recorded(self, message: Message) -> None:
        """Take an answer that was given to the session: callers may or may not give it again."""
        self.recorded_at.add(len(self.known))
        self.known.append(_digest(message))

    def take(self, given: Sequence[Any], whole: bool | None = None) -> ConversationUpdate:
        """Return what is new in a list of messages: the whole conversation, only what is new, or None to find out.

        Raises `MessageError` if a message is of another shape than this session's API takes.
        """
        if whole is not None:
            self.whole = whole
        keys = [_key(item) for item in given]
        same = len(self._given)
        if (
            same
            and len(keys) >= same
            and all(a[0] is b[0] and a[1:] == b[1:] for a, b in zip(self._given, keys, strict=False))
        ):
            _, fresh = self._wire.read(given[same:])
            self.whole = True if fresh else self.whole
            last = len(self.known) - 1
            # The very same messages after their answer: another answer is asked for.
            again = not fresh and last in self.recorded_at and whole is not False
            update = ConversationUpdate(last, [], None) if again else self._following(fresh, None)
        elif whole is False:
            system, messages = self._wire.read(given)
            update = self._following(messages, None) if self.known else ConversationUpdate(0, messages, system)
        else:
            system, messages = self._wire.read(given)
            update = self._aligned(messages, system)
        self._given = keys if self.whole is not False else []
        del self.known[update.keep :]
        self.recorded_at = {at for at in self.recorded_at if at < update.keep}
        self.known += map(_digest, update.messages)
        return update

    def _following(self, fresh: list[dict[str, Any]], system: str | None) -> ConversationUpdate:
        """Return messages that follow what the caller gave before; the first may be the recorded answer."""
        count = len(self.known)
        last = count - 1
        if fresh and fresh[0].get("role") == "assistant" and last in self.recorded_at:
            if _digest(fresh[0]) == self.known[last]:
                return ConversationUpdate(count, fresh[1:], system)
            return ConversationUpdate(last, fresh, system)
        return ConversationUpdate(count, fresh, system)

    def _aligned(self, messages: list[dict[str, Any]], system: str) -> ConversationUpdate:
        digests = list(map(_digest, messages))
        given = known = 0
        while given < len(digests) and known < len(self.known):
            if digests[given] == self.known[known]:
                given, known = given + 1, known + 1
            elif known in self.recorded_at and messages[given].get("role") != "assistant":
                known += 1  # an answer that the caller keeps to itself
            else:
                break
        left = set(range(known, len(self.known)))
        if not self.known:
            return ConversationUpdate(0, messages, system)
        if given == 0 and not self.whole:
            self.whole = False
            return self._following(messages, None)
        if given == len(digests):
            if not left:
                return ConversationUpdate(len(self.known), [], system)
            if self.whole:
                return ConversationUpdate(
                    known, [], system
                )  # an answer is to be given again, or messages were taken back
            # It only says again what was said at the start, as "continue" does.
            self.whole = False
            return self._following(messages, None)
        if left and left <= self.recorded_at and len(left) == 1 and messages[given].get("role") == "assistant":
            self.whole = True
            return ConversationUpdate(known, messages[given:], system)
        if left and self.whole is False:
            return self._following(messages, None)
        self.whole = True
        return ConversationUpdate(known, messages[given:], system)


def _key(item: object) -> tuple[object, object, int]:
    """Return what shows that an object was not replaced: itself, and the content that hangs on it."""
    content: object = cast("Mapping[str, Any]", item).get("content") if isinstance(item, Mapping) else None
    return item, id(content), len(cast("Sequence[object]", content)) if isinstance(content, list | str) else 0


def _digest(message: Message) -> str:
    """Return a digest that is the same for messages that say the same: callers may leave thinking out, and back in."""
    blocks = [_plain(block) for block in blocks_of(message) if block.get("type") not in THINKING]
    return hashlib.blake2b(msgspec.json.encode([message.get("role"), blocks]), digest_size=16).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value)
        return {key: _plain(item) for key, item in sorted(items.items()) if key not in _LEFT_OUT and item is not None}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("Sequence[Any]", value)]
    return value
