"""Whose words a text of the user's role is: the person's, the host's, another agent's, a skill's.

Hosts put reminders, outputs of hooks, reports of subagents and templates into messages of the user's. ``frames.toml``
says how each marks them; what no frame holds is the person's.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
import tomllib
from functools import lru_cache
from importlib import resources
from typing import Any, Final, NamedTuple, cast

PERSON: Final = "person"
HOST: Final = "host"
PLAN: Final = "plan"
REPORT: Final = "report"
SKILL: Final = "skill"
ARGUMENT: Final = "argument"

_MOST_MARKS: Final = 64
_REMEMBERED_CHARS: Final = 1 << 20


class Part(NamedTuple):
    """A stretch of a text, and whose it is.

    ``person``, ``host``, ``plan`` (the host's, and the task), ``report`` (another agent's), ``skill``, or ``argument``
    (of a skill: of whoever called it).
    """

    who: str
    text: str


class _Frames(NamedTuple):
    tags: dict[str, str]
    inner: frozenset[str]
    opening: re.Pattern[str]
    kinds: dict[str, str]
    person: re.Pattern[str]
    lines: re.Pattern[str]
    answers: re.Pattern[str]
    begins: re.Pattern[str]
    next: re.Pattern[str]


@lru_cache(maxsize=1)
def _frames() -> _Frames:
    data = resources.files("tipstaff.context.conversation").joinpath("frames.toml").read_text("utf-8")
    tables = list(cast("dict[str, dict[str, Any]]", tomllib.loads(data)).values())

    def listed(name: str) -> list[str]:
        found: list[str] = []
        for table in tables:
            value = table.get(name, ())
            found += value.split() if isinstance(value, str) else list(value)
        return found

    tags = dict.fromkeys((*listed("tags"), *listed("tags_spaced")), HOST)
    kinds = dict.fromkeys(listed("openings"), HOST) | dict.fromkeys(listed("plans"), PLAN)
    for name, kind in (("reports", REPORT), ("skills", SKILL)):
        for one in listed(name):
            if " " in one:
                kinds[one] = kind
            else:
                tags[one.strip("<>")] = kind
    inner = listed("inner")
    names = "|".join(sorted(map(re.escape, (*tags, *inner)), key=len, reverse=True))
    return _Frames(
        tags,
        frozenset(inner),
        _any_of(kinds, r"\s*(", ")"),
        kinds,
        _any_of(listed("person"), r"^[ \t]*(?:", r")[ \t]*\n?", re.MULTILINE),
        re.compile("|".join(rf"(?:{fnmatch.translate(one)[4:-3]})" for one in map(_escaped, listed("lines")))),
        _any_of(listed("answers"), r"(?:\A|(?<=\s))(?:", r")[ \t]*\n?"),
        re.compile(rf"^[ \t]*<({names})(?:\s[^<>]*)?>", re.MULTILINE),
        re.compile(rf"\s*<({names})(?:\s[^<>]*)?>"),
    )


def _any_of(texts: Any, before: str, after: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(before + "|".join(sorted(map(re.escape, texts), key=len, reverse=True)) + after, flags)


def _escaped(pattern: str) -> str:
    return pattern.replace("[", "[[]")


def parts_of(text: str) -> tuple[Part, ...]:
    """Return whose words a text is, stretch by stretch; white space between them is left out.

    Linear in the text's length: each frame is looked for once, from where the one before it ended.
    """
    return _remembered(text) if len(text) <= _REMEMBERED_CHARS else _parts(text)


def _parts(text: str) -> tuple[Part, ...]:
    frames = _frames()
    found: list[Part] = []
    at = 0
    while (match := frames.next.match(text, at) or frames.begins.search(text, at)) is not None:
        _add_plain(found, text[at : match.start()], frames)
        name = match.group(1)
        end, at = _end_of(text, name, match.end())
        body = text[match.end() : end]
        if name in frames.inner:
            _add_plain(found, body, frames)
        else:
            found.append(Part(frames.tags[name], body.strip()))
    _add_plain(found, text[at:], frames)
    return tuple(found)


_remembered = lru_cache(maxsize=512)(_parts)


def _end_of(text: str, name: str, start: int) -> tuple[int, int]:
    """Return where a frame's text ends and where the frame does; a frame that nothing closes reaches to the end.

    A tag that a text names, ``<mode>...</mode>``, does not close the frame around it.
    """
    depth, first = 1, None
    marks = re.compile(rf"<(/?){re.escape(name)}(?:\s[^<>]*)?>").finditer(text, start)
    for mark in itertools.islice(marks, _MOST_MARKS):
        depth += -1 if mark.group(1) else 1
        found = mark.start(), mark.end()
        if mark.group(1) and first is None:
            first = found
        if depth == 0:
            return found
    return first or (len(text), len(text))


def _add_plain(found: list[Part], text: str, frames: _Frames) -> None:
    """Add a stretch without frames of tags: an opening makes it the host's, else some lines are."""
    if not text.strip():
        return
    if (match := frames.opening.match(text)) is not None:
        kind = frames.kinds[match.group(1)]
        after = frames.person.search(text, match.end())
        found.append(Part(kind, text[: after.start() if after else len(text)].strip()))
        if after is not None and (rest := text[after.end() :].strip()):
            found.append(Part(ARGUMENT if kind == SKILL else PERSON, rest))
        return
    lines = text.split("\n")
    kept = [line for line in lines if not frames.lines.fullmatch(line.strip())]
    if words := "\n".join(kept).strip():
        found.append(Part(PERSON, words))
    if len(kept) < len(lines):
        found.append(Part(HOST, "\n".join(line for line in lines if frames.lines.fullmatch(line.strip()))))


def person_words(text: str) -> str:
    """Return what of a text the person said, with what they gave to a skill."""
    return "\n".join(part.text for part in parts_of(text) if part.who in {PERSON, ARGUMENT})


def answer_in(result: str) -> str:
    """Return the person's words in a tool's result: an answer to a question, a reason for a rejection; else nothing."""
    match = _frames().answers.search(result[:4_000])
    return result[match.end() :].strip() if match is not None else ""
