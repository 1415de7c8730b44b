"""How a conversation of another shape becomes one of the native shape and back, without loss.

A shape says how its items are grouped into messages, and how a group becomes a message and a message a group. Whatever
that loses is kept: a group that would not come back as it was is carried unchanged in its message, under the key
`EXTENSION`, and is taken back only if the message still is what the group became (one that was pruned is converted
again). So what is converted there and back is equal to what it was, in both directions. Providers do not know the key:
`without_extensions` takes it out of what is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, cast

from tipstaff.context.conversation.messages import EXTENSION, Message, MessageError, without_extensions

Item: TypeAlias = Mapping[str, Any]


class Shape(Protocol):
    """Another way to write a conversation.

    Attributes
    ----------
    name
        Under which groups are kept in messages.
    """

    name: str

    def continues(self, group: Sequence[Item], item: Item) -> bool:
        """Return whether an item belongs to the same message as the group before it."""
        ...

    def to_message(self, group: Sequence[Item]) -> dict[str, Any]:
        """Return the message that a group is."""
        ...

    def to_items(self, message: Message) -> list[dict[str, Any]]:
        """Return the items that a message is."""
        ...


def read_items(shape: Shape, items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return the messages of a conversation in another shape.

    Raises
    ------
    MessageError
        If an item is no dictionary.
    """
    found: list[dict[str, Any]] = []
    for group, native in _groups(shape, items):
        if native is not None and shape.to_items(native) == [without_extensions(item) for item in group]:
            found.append(native)
            continue
        plain = [{key: value for key, value in item.items() if key != EXTENSION} for item in group]
        message = shape.to_message(plain)
        if shape.to_items(message) != plain:
            message[EXTENSION] = {shape.name: plain}
        found.append(message)
    return found


def write_items(shape: Shape, messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return a conversation in another shape."""
    groups = [written(shape, message) for message in messages]
    items = [dict(item) for group in groups for item in group]
    if _same(read_items(shape, items), messages):
        return items
    # Something of the messages, or where one ends, would be lost: each group's first item brings its message along.
    return [
        {**item, EXTENSION: {"message": dict(message), "items": len(group)}} if position == 0 else dict(item)
        for message, group in zip(messages, groups, strict=True)
        for position, item in enumerate(group)
    ]


def _same(found: Sequence[Message], messages: Sequence[Message]) -> bool:
    return len(found) == len(messages) and all(a == b for a, b in zip(found, messages, strict=True))


def written(shape: Shape, message: Message) -> Sequence[Item]:
    """Return the items of one message: those that it came from, unless it was changed since."""
    kept: object = message.get(EXTENSION)
    group: object = cast("Mapping[str, Any]", kept).get(shape.name) if isinstance(kept, Mapping) else None
    bare = {key: value for key, value in message.items() if key != EXTENSION}
    if isinstance(group, list):
        items = cast("list[Item]", group)
        if shape.to_message(items) == bare:
            return items
    return shape.to_items(bare)


def _checked(item: object, at: int) -> Item:
    if not isinstance(item, Mapping):
        msg = f"item {at}: expected a dictionary, got {type(item).__name__}"
        raise MessageError(msg)
    return cast("Item", item)


def _groups(shape: Shape, items: Sequence[Item]) -> Iterator[tuple[list[Item], dict[str, Any] | None]]:
    """Yield groups, and for each the message that it brought along."""
    group: list[Item] = []
    at = 0
    while at < len(items):
        found = _checked(items[at], at)
        kept: object = found.get(EXTENSION)
        if isinstance(kept, Mapping) and "message" in kept and "items" in kept:
            if group:
                yield group, None
                group = []
            note = cast("Mapping[str, Any]", kept)
            size = max(1, int(note["items"]))
            yield list(items[at : at + size]), dict(note["message"])
            at += size
            continue
        if group and not shape.continues(group, found):
            yield group, None
            group = []
        group.append(found)
        at += 1
    if group:
        yield group, None
