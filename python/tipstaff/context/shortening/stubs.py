"""What stands for a block that is pruned: its first and last words, how much is gone, and where the whole is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from tipstaff.budgets import STUB_CHARS
from tipstaff.context.conversation.graphemes import ceil_boundary, floor_boundary
from tipstaff.context.conversation.messages import Block, text_of
from tipstaff.kernels import utf16_units

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
    """Return the first and last characters of a text and a line that says what is gone.

    Parameters
    ----------
    text
        The whole.
    where
        Where the whole is kept.
    errors
        Whether it reports an error, whose last lines matter most.
    others
        What else is gone, such as ``1 image``.

    Returns
    -------
    str
        At most 200 characters of the text, in UTF-16 code units as well, and the line. Cuts are made between graphemes,
        at the end of a line or a word where one is near.
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
