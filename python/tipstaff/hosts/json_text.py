"""Edits a JSON text where something changes, and nowhere else: order, spaces and line ends of the rest stay."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from json import JSONDecoder
from pathlib import Path
from typing import Any, Final, cast

from tipstaff.errors import SourceError
from tipstaff.hosts.host import below
from tipstaff.store.untrusted import read_untrusted_text

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_SCALAR: Final = JSONDecoder()
_INDENT: Final = re.compile(r"\n([ \t]+)\S")
_LINE_COMMENT: Final = re.compile(r"[ \t]*//[^\r\n]*")
_STRING_OR_COMMENT: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)


class JsonTextError(SourceError):
    """A settings file is not a JSON document that can be edited; nothing was changed."""


class Node:
    """A value in a text: its span, and what is below it.

    Attributes
    ----------
    start, end
        Half-open span in the text.
    members
        Of an object: key, where the key starts, value.
    items
        Of an array.
    kind
        ``object``, ``array`` or ``scalar``.
    """

    __slots__ = ("end", "items", "kind", "members", "start", "value")

    def __init__(self, kind: str, start: int) -> None:
        self.kind = kind
        self.start = start
        self.end = start
        self.members: list[tuple[str, int, Node]] = []
        self.items: list[Node] = []
        self.value: Any = None

    def member(self, key: str) -> Node | None:
        """Return the last member of that name, as readers of JSON do."""
        return next((node for name, _, node in reversed(self.members) if name == key), None)

    def plain(self) -> Any:
        """Return the value as plain data."""
        if self.kind == "object":
            return {key: node.plain() for key, _, node in self.members}
        if self.kind == "array":
            return [node.plain() for node in self.items]
        return self.value


def without_comments(text: str) -> str:
    """Return a text with blanks for its comments: what follows them stays in its line and column."""
    return _STRING_OR_COMMENT.sub(
        lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text
    )


def parse(text: str, source: str, *, comments: bool = False) -> Node:
    """Return the root of a document, which must be an object.

    Parameters
    ----------
    text, source
        The document, and what it is called in messages.
    comments
        Whether it may have comments; spans are those of the text as it is.

    Raises
    ------
    JsonTextError
        Naming the file, the place and what is wrong.
    """
    if comments:
        text = without_comments(text)
    try:
        json.loads(text)
    except RecursionError:
        raise JsonTextError(f"{source}: it is nested too deeply; nothing was changed") from None
    except json.JSONDecodeError as error:
        hint = " (JSON has no comments: remove them)" if _comments(text) else ""
        where = f"{source}: line {error.lineno} column {error.colno}"
        raise JsonTextError(f"{where}: not valid JSON: {error.msg}{hint}; nothing was changed") from None
    root, _ = _value(text, _skip(text, 0))
    if root.kind != "object":
        raise JsonTextError(f"{source}: it must contain one JSON object; nothing was changed")
    return root


def with_member(text: str, owner: Node, key: str, value: Any) -> str:
    """Return the text with a member added at the end of an object."""
    return _inserted(text, owner, f"{json.dumps(key, ensure_ascii=False)}: ", value)


def with_item(text: str, owner: Node, value: Any) -> str:
    """Return the text with an element added at the end of an array."""
    return _inserted(text, owner, "", value)


def without(text: str, owner: Node, index: int) -> str:
    """Return the text without a member of an object or an element of an array."""
    spans = _spans(owner)
    start, end = spans[index]
    if len(spans) == 1:
        first, last = owner.start + 1, owner.end - 1
    elif index == 0:
        first, last = start, spans[1][0]
    else:
        first, last = spans[index - 1][1], end
    return text[:first] + _comments_alone(text[first:start] + text[end:last]) + text[last:]


def _comments_alone(text: str) -> str:
    """Return what is around an element without the comma; nothing where no comment is in it."""
    comma = without_comments(text).find(",")
    rest = text if comma < 0 else text[:comma] + text[comma + 1 :]
    return rest if rest.strip() else ""


def _spans(owner: Node) -> list[tuple[int, int]]:
    if owner.kind == "object":
        return [(start, node.end) for _, start, node in owner.members]
    return [(node.start, node.end) for node in owner.items]


def _inserted(text: str, owner: Node, head: str, value: Any) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    found = _INDENT.search(text)
    unit = found[1] if found else "  "
    spans = _spans(owner)
    if spans and "\n" not in text[owner.start : owner.end]:
        at = spans[-1][1]
        return f"{text[:at]}, {head}{json.dumps(value, ensure_ascii=False)}{text[at:]}"
    outer = _margin(text, owner.start)
    # Where elements are already, the new one is as they do.
    inner = _margin(text, spans[-1][0]) if spans else outer + unit
    body = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", newline + inner)
    if spans:
        at = spans[-1][1]
        comment = _LINE_COMMENT.match(text, at)  # it is of the element before
        after = comment.end() if comment else at
        return f"{text[:at]},{text[at:after]}{newline}{inner}{head}{body}{text[after:]}"
    comments = text[owner.start + 1 : owner.end - 1].rstrip()
    return f"{text[: owner.start + 1]}{comments}{newline}{inner}{head}{body}{newline}{outer}{text[owner.end - 1 :]}"


def _margin(text: str, at: int) -> str:
    """Return the blanks that the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> tuple[Node, int]:
    if text[at] == "{":
        return _object(text, at)
    if text[at] == "[":
        return _array(text, at)
    node = Node("scalar", at)
    node.value, node.end = _SCALAR.raw_decode(text, at)
    return node, node.end


def _object(text: str, at: int) -> tuple[Node, int]:
    node = Node("object", at)
    at = _skip(text, at + 1)
    while text[at] != "}":
        start = at
        key, at = _SCALAR.raw_decode(text, at)
        value, at = _value(text, _skip(text, _skip(text, at) + 1))
        node.members.append((str(key), start, value))
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    node.end = at + 1
    return node, node.end


def _array(text: str, at: int) -> tuple[Node, int]:
    node = Node("array", at)
    at = _skip(text, at + 1)
    while text[at] != "]":
        value, at = _value(text, at)
        node.items.append(value)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    node.end = at + 1
    return node, node.end


def _comments(text: str) -> bool:
    return re.search(r"(^|[\s,{\[])(//|/\*)", text) is not None


def read_json(path: Path) -> dict[str, Any]:
    """Return a host's own JSON file, which may have comments; empty where it cannot be read."""
    try:
        found: Any = json.loads(without_comments(read_untrusted_text(path, encoding="utf-8-sig")))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def read_toml(path: Path) -> dict[str, Any]:
    """Return a host's own TOML file; empty where it cannot be read."""
    try:
        return tomllib.loads(read_untrusted_text(path, encoding="utf-8-sig"))
    except (OSError, ValueError):
        return {}


def folder_levels(levels: Mapping[str, Any], root: Path) -> str:
    """Return the level that the longest rule gives a folder, as Gemini CLI and Qwen Code choose it; empty for none.

    Parameters
    ----------
    levels
        Folder to ``TRUST_FOLDER``, ``TRUST_PARENT`` or ``DO_NOT_TRUST``: ``trustedFolders.json``.
    root
        Folder of the project.
    """
    best, found = -1, ""
    for folder, level in levels.items():
        trusted = Path(folder).parent if level == "TRUST_PARENT" else Path(folder)
        if isinstance(level, str) and len(folder) > best and below(root, trusted):
            best, found = len(folder), level
    return found
