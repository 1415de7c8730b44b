"""What a request is about: the files, identifiers and intentions that it names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.calls import changed_files, input_of, path_of
from tipstaff.context.conversation.graphemes import floor_boundary
from tipstaff.context.conversation.messages import CALLS, Block, words_of
from tipstaff.kernels import focus_scan
from tipstaff.model import Record

SUMMARY_CHARS: Final = 160
MAX_FILES: Final = 6
MAX_SYMBOLS: Final = 8
HISTORY_MESSAGES: Final = 6
"""How many of the newest messages are searched for files."""

SIGNALS: Final = (
    "continue current execution",
    "planning context",
    "code change requested",
    "verification requested",
)
_SIGNAL_SETS: Final = tuple(
    tuple(signal for bit, signal in enumerate(SIGNALS) if bits >> bit & 1) for bits in range(1 << len(SIGNALS))
)
_ELLIPSIS: Final = "..."


class RequestFocus(Record, frozen=True):
    """What a request is about.

    Attributes
    ----------
    query_summary
        The query on one line, at most 160 characters.
    active_file_paths
        At most 6 paths, as written but without line numbers and a leading ``./``: those of the query, then those that
        the agent's newest tool calls change or read, then those that the newest messages name.
    active_symbols
        At most 8 identifiers of the query without brackets: those between backticks, then the others.
    plan_signals
        Which of ``continue current execution``, ``planning context``, ``code change requested`` and ``verification
        requested`` its words ask for, in this order.
    """

    query_summary: str = ""
    active_file_paths: tuple[str, ...] = ()
    active_symbols: tuple[str, ...] = ()
    plan_signals: tuple[str, ...] = ()

    @classmethod
    def extract(
        cls,
        query: str,
        history: Iterable[str | Mapping[str, Any]] = (),
        *,
        project_root: str | os.PathLike[str] | None = None,
    ) -> RequestFocus:
        """Read what the user asks, after messages, the oldest first, of which the last 6 are searched for files.

        Absolute paths below `project_root` are made relative to it. Identifiers are what Python, JavaScript, Go, Rust,
        C++ and Java write as such and prose does not: ``snake_case``, ``__dunder__``, ``camelCase``, ``PascalCase`` of
        two words, ``Foo::bar``, dotted names, ``call()``, and between backticks any name, also ``kebab-case``.
        Addresses, e-mails, versions, domains and sentences without a space after the full stop are no files. Paths that
        hold spaces are found between quotes or backticks. Only whole words count: ``latest`` asks for no test. Linear
        in the length of the texts.
        """
        newest = list(history)[-HISTORY_MESSAGES:] if history else []
        called = _called(newest)
        texts = tuple(map(_text, newest))
        summary, longer, paths, symbols, signals = focus_scan(query, () if called else texts)
        if called:
            paths = tuple(dict.fromkeys((*paths, *called)))
            if len(paths) < MAX_FILES:
                paths = tuple(dict.fromkeys((*paths, *focus_scan("", texts)[2])))
            paths = paths[:MAX_FILES]
        if longer:
            summary = _shortened(summary)
        if project_root is not None and paths:
            paths = _relative(paths, project_root)
        return cls(summary, paths, symbols, _SIGNAL_SETS[signals])


def _shortened(summary: str) -> str:
    end = SUMMARY_CHARS - len(_ELLIPSIS)
    if not summary.isascii():
        end = floor_boundary(summary, end)
    return summary[:end].rstrip() + _ELLIPSIS


def _called(messages: list[str | Mapping[str, Any]]) -> list[str]:
    """Return the files of tool calls, the newest first: those that are changed before those that are read."""
    changed: dict[str, None] = {}
    read: dict[str, None] = {}
    for message in reversed(messages):
        content: object = None if isinstance(message, str) else message.get("content")
        if not isinstance(content, list | tuple):
            continue
        for block in reversed(cast("Sequence[object]", content)):
            if isinstance(block, Mapping) and cast("Mapping[str, Any]", block).get("type") in CALLS:
                call = cast("Mapping[str, Any]", block)
                files = changed_files(call)
                changed.update(dict.fromkeys(files))
                if not files and (path := path_of(input_of(call))):
                    read[path] = None
    return [path.replace("\\", "/").removeprefix("./") for path in {**changed, **read}]


def _text(message: str | Mapping[str, Any]) -> str:
    if isinstance(message, str):
        return message
    content: object = message.get("content", "")
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return ""
    blocks: Iterable[object] = content
    texts = (words_of(cast("Block", block)) for block in blocks if isinstance(block, Mapping))
    return "\n".join(text for text in texts if text)


def _relative(paths: tuple[str, ...], root: str | os.PathLike[str]) -> tuple[str, ...]:
    prefix = os.fspath(root).replace("\\", "/").rstrip("/") + "/"
    short = (path[len(prefix) :] if path.replace("\\", "/").startswith(prefix) else path for path in paths)
    return tuple(dict.fromkeys(path for path in short if path))
