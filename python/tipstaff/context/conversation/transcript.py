"""A conversation as text for a summarizer: role and kind of each part, cut to what it can take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tipstaff.context.conversation.frames import ARGUMENT, PERSON, parts_of
from tipstaff.context.conversation.graphemes import ceil_boundary, floor_boundary
from tipstaff.context.conversation.messages import CALLS, THINKING, Message, blocks_of, call_input_json, text_of
from tipstaff.model import Record

_CAPS: Final = (8_000, 2_000, 800, 300, 120)
_CUT: Final = " [... {} characters ...] "
_LEAST_ENDS: Final = 40
_LEFT_OUT: Final = "[{} parts of the conversation left out]"


class Entry(Record, frozen=True, gc=False):
    """One part of a conversation.

    ``user``, ``host``, ``assistant``, ``call``, ``result`` or ``error``, and its text.
    """

    kind: str
    text: str


def entries_of(messages: Sequence[Message]) -> tuple[Entry, ...]:
    """Return the parts of a conversation; thinking and what has no text are left out."""
    found: list[Entry] = []
    for message in messages:
        speaker = "assistant" if message.get("role") == "assistant" else "user"
        for block in blocks_of(message):
            kind = str(block.get("type"))
            if kind in THINKING:
                continue
            if kind in CALLS:
                entry = Entry("call", f"{block.get('name')} {call_input_json(block)}")
            elif kind.endswith("tool_result"):
                entry = Entry("error" if block.get("is_error") is True else "result", text_of(block.get("content")))
            elif kind == "text" and speaker == "user":
                parts = parts_of(str(block.get("text") or ""))
                found += [Entry("user" if one.who in {PERSON, ARGUMENT} else "host", one.text) for one in parts]
                continue
            elif kind == "text":
                entry = Entry(speaker, str(block.get("text") or ""))
            else:
                entry = Entry(speaker, f"[{kind}]")
            if entry.text.strip():
                found.append(entry)
    return tuple(found)


def render(entries: Sequence[Entry], max_chars: int) -> str:
    """Return the entries as text of at most `max_chars` characters.

    Long parts are cut first, ever shorter; then parts of the middle are left out. The first ones, with the task, and
    the last ones stay longest.
    """
    for cap in _CAPS:
        text = "\n\n".join(_line(entry, cap) for entry in entries)
        if len(text) <= max_chars:
            return text
    lines = [_line(entry, _CAPS[-1]) for entry in entries]
    room = max_chars - len(_LEFT_OUT) - 12
    first: list[str] = []
    for line in lines[:4]:
        if len(line) + 2 <= room // 4:
            first.append(line)
            room -= len(line) + 2
    last: list[str] = []
    for line in reversed(lines[len(first) :]):
        if len(line) + 2 > room:
            break
        last.append(line)
        room -= len(line) + 2
    gone = len(lines) - len(first) - len(last)
    text = "\n\n".join([*first, _LEFT_OUT.format(gone), *reversed(last)])
    return text[: floor_boundary(text, max(0, max_chars))]


def _line(entry: Entry, cap: int) -> str:
    return f"[{entry.kind}] {shortened(entry.text, cap)}"


def shortened(text: str, most: int) -> str:
    """Return at most `most` characters of a text: its beginning, and its end where there is room for both.

    The mark between says how much is gone, and is shorter than that.
    """
    if len(text) <= most:
        return text
    longest = len(_CUT.format(f"{len(text):,}"))
    room = most - longest
    if room < _LEAST_ENDS or len(text) - room <= longest:
        return text[: floor_boundary(text, max(0, most))]
    head = floor_boundary(text, room * 2 // 3)
    tail = ceil_boundary(text, len(text) - (room - room * 2 // 3))
    return text[:head] + _CUT.format(f"{tail - head:,}") + text[tail:]
