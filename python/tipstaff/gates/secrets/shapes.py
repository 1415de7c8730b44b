r"""The language of shapes: a small, bounded part of regular expressions that is matched without ever going back.

======================  ===============================================================================
``abc``, ``\.``         bytes as they are; ``\`` makes a sign of the language a byte (``\n`` is a line feed)
``[0-9a-f]``, ``[^:]``  a class of bytes; ``\d`` is ``[0-9]``, ``\s`` a blank (within a class too)
``x{4}``, ``x{4,9}``    a byte or a class repeated, at most 65535 times; it takes as many as there are, and keeps them
``(ab|c)``              the first of several shapes that fits
``(ab)?``, ``x?``       a shape, or nothing; it is taken where it fits
``(?i)`` in front       letters of literals match in either case
``<...>``               the secret itself, where it is not the whole match
======================  ===============================================================================

Since nothing that was taken is given back, a shape is matched in one walk over the text, and means the same as a
regular expression with possessive repeats and atomic groups. A shape is compiled to a few bytes that the native matcher
walks over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from tipstaff.errors import ConfigError
from tipstaff.kernels.formats.shape_codes import CHOICE, CLASS, CLOSE, FOLDED, LITERAL, OPEN, OPTION

MAX_REPEAT: Final = 65535
MAX_DEPTH: Final = 4
_SPECIAL: Final = frozenset("[](){}<>|?\\")
_ESCAPES: Final = {"n": b"\n", "t": b"\t", "r": b"\r"}
_DIGITS: Final = frozenset(b"0123456789")
_BLANKS: Final = frozenset(b" \t\r\n")


class Literal(NamedTuple):
    """Bytes that must be there."""

    data: bytes
    folded: bool


class Repeat(NamedTuple):
    """A class of bytes, so many times."""

    members: frozenset[int]
    least: int
    most: int


class Choice(NamedTuple):
    """The first that fits."""

    choices: tuple[tuple[Node, ...], ...]


class Option(NamedTuple):
    """What may be there."""

    nodes: tuple[Node, ...]


class Mark(NamedTuple):
    """Where the secret begins or ends."""

    opens: bool


Node = Literal | Repeat | Choice | Option | Mark


class ShapeError(ConfigError):
    """A shape cannot be read."""


class _Reader:
    def __init__(self, text: str) -> None:
        self.folded = text.startswith("(?i)")
        self.text = text[4:] if self.folded else text
        self.at = 0

    def fail(self, what: str) -> ShapeError:
        return ShapeError(f"shape {self.text!r}, character {self.at}: {what}")

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self) -> str:
        char = self.peek()
        if not char:
            raise self.fail("ends too early")
        self.at += 1
        return char

    def sequence(self, depth: int) -> tuple[Node, ...]:
        if depth > MAX_DEPTH:
            raise self.fail(f"groups are nested deeper than {MAX_DEPTH}")
        nodes: list[Node] = []
        while (char := self.peek()) and char not in ")|":
            if char in "<>":
                self.at += 1
                nodes.append(Mark(char == "<"))
                continue
            nodes.append(self.repeated(self.single(depth)))
        return tuple(_joined(nodes))

    def single(self, depth: int) -> Node:
        char = self.take()
        if char == "[":
            return Repeat(self.members(), 1, 1)
        if char == "(":
            choices = [self.sequence(depth + 1)]
            while self.peek() == "|":
                self.at += 1
                choices.append(self.sequence(depth + 1))
            if self.take() != ")":
                raise self.fail("expected )")
            return Choice(tuple(choices))
        if char == "\\":
            return self.escaped()
        if char in _SPECIAL:
            raise self.fail(f"{char!r} must be written \\{char}")
        return Literal(char.encode(), self.folded)

    def escaped(self) -> Node:
        char = self.take()
        if char == "d":
            return Repeat(_DIGITS, 1, 1)
        if char == "s":
            return Repeat(_BLANKS, 1, 1)
        return Literal(_ESCAPES.get(char, char.encode()), self.folded)

    def members(self) -> frozenset[int]:
        negated = self.peek() == "^"
        self.at += negated
        found: set[int] = set()
        while (char := self.take()) != "]":
            if char == "\\":
                node = self.escaped()
                if isinstance(node, Repeat):
                    found |= node.members
                    continue
                first = node.data[0] if isinstance(node, Literal) else 0
            else:
                first = ord(char)
            last = first
            if self.peek() == "-" and self.text[self.at + 1 : self.at + 2] not in {"]", ""}:
                self.at += 1
                char = self.take()
                last = ord(self.take() if char == "\\" else char)
            if last < first or last > 127:
                raise self.fail("a class is of ASCII, and its ranges ascend")
            found.update(range(first, last + 1))
        return frozenset(range(256)) - found if negated else frozenset(found)

    def repeated(self, node: Node) -> Node:
        if self.peek() == "?":
            self.at += 1
            return Option((node,))
        match = re.compile(r"\{(\d+)(?:,(\d+))?\}").match(self.text, self.at)
        if match is None:
            return node
        least, most = int(match[1]), int(match[2] or match[1])
        self.at = match.end()
        if not least <= most <= MAX_REPEAT or most == 0:
            raise self.fail(f"repeats ascend, up to {MAX_REPEAT}")
        if isinstance(node, Literal) and len(node.data) == 1:
            members = {node.data[0]}
            if node.folded:
                members |= {*node.data.lower(), *node.data.upper()}
            return Repeat(frozenset(members), least, most)
        if isinstance(node, Repeat):
            return Repeat(node.members, least, most)
        raise self.fail("only a byte or a class can be repeated")


def _joined(nodes: list[Node]) -> Iterator[Node]:
    """Yield the nodes with neighbouring literals as one."""
    held: Literal | None = None
    for node in nodes:
        if isinstance(node, Literal):
            held = Literal(held.data + node.data, node.folded) if held is not None else node
            continue
        if held is not None:
            yield held
            held = None
        yield node
    if held is not None:
        yield held


def parse_shape(text: str) -> tuple[Node, ...]:
    """Return the nodes of a shape.

    Raises
    ------
    ShapeError
        If it is not one.
    """
    reader = _Reader(text)
    nodes = reader.sequence(0)
    if reader.at != len(reader.text):
        raise reader.fail(f"unexpected {reader.peek()!r}")
    marks = [node.opens for node in nodes if isinstance(node, Mark)]
    if marks not in ([], [True, False]) or any(_marks_within(node) for node in nodes):
        raise reader.fail("marks the secret with one < and one >, outside groups")
    if not nodes:
        raise reader.fail("is empty")
    return nodes


def _marks_within(node: Node) -> int:
    inner = node.choices if isinstance(node, Choice) else (node.nodes,) if isinstance(node, Option) else ()
    return sum(isinstance(one, Mark) or _marks_within(one) for nodes in inner for one in nodes)


def encode_shape(nodes: tuple[Node, ...], class_number: Callable[[frozenset[int]], int]) -> bytes:
    """Return the codes of a shape; `class_number` gives each class its number."""
    out = bytearray()
    for node in nodes:
        if isinstance(node, Literal):
            for start in range(0, len(node.data), 255):
                part = node.data[start : start + 255]
                out += bytes((FOLDED, len(part))) + part.lower() if node.folded else bytes((LITERAL, len(part))) + part
        elif isinstance(node, Repeat):
            out += bytes((CLASS, class_number(node.members)))
            out += node.least.to_bytes(2, "little") + node.most.to_bytes(2, "little")
        elif isinstance(node, Mark):
            out.append(OPEN if node.opens else CLOSE)
        elif isinstance(node, Option):
            inner = encode_shape(node.nodes, class_number)
            out += bytes((OPTION,)) + len(inner).to_bytes(2, "little") + inner
        else:
            inner = b"".join(
                len(code).to_bytes(2, "little") + code
                for code in (encode_shape(choice, class_number) for choice in node.choices)
            )
            out += bytes((CHOICE, len(node.choices))) + len(inner).to_bytes(2, "little") + inner
    return bytes(out)
