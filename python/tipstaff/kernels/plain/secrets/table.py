"""The table of the secrets scanner read in plain Python; its layout is in `tipstaff.kernels.formats.secret_table`."""

from __future__ import annotations

import functools
import re
import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple

from tipstaff.kernels.formats.secret_table import ANCHOR_BYTES, HEADER_BYTES, LOGS, MAGIC, NO_CLASS, RULE_BYTES, VERSION
from tipstaff.kernels.formats.shape_codes import number_at
from tipstaff.kernels.plain.secrets.shapes import class_regex, regex_of

_ESCAPED: Final = rb"(?<=\\[nrtbfv])|(?<=%[0-9A-Fa-f]{2})|(?<=\\x[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4})"
"""A letter or a digit that ends an escape is no part of the word after it."""


class Rule(NamedTuple):
    """A rule as the table holds it."""

    name: str
    kind: int
    show: int
    code: bytes
    left: int
    right: int
    flags: int
    need: int
    severity: int
    entropy: int
    checksum: int
    judge: int
    check: int
    priority: int
    context: int


class Table:
    """A table's sections.

    Raises
    ------
    ValueError
        If these bytes are no table.
    """

    def __init__(self, data: bytes) -> None:
        fault = ""
        if len(data) < HEADER_BYTES:
            fault = "truncated header"
        elif data[:8] != MAGIC:
            fault = "wrong magic number"
        elif number_at(data, 8, 4) != VERSION:
            fault = f"its version is not {VERSION}"
        elif number_at(data, 12, 4) != len(data):
            fault = "its size differs from the one in its header"
        elif number_at(data, 88, 4) != zlib.crc32(data[HEADER_BYTES:]):
            fault = "checksum mismatch"
        if fault:
            message = f"table: not a valid table of secrets: {fault}"
            raise ValueError(message)
        self.data = data
        pairs = [(number_at(data, at, 4), number_at(data, at + 4, 4)) for at in range(16, 72, 8)]
        (self.n_rules, self.rules_at), (self.n_anchors, self.anchors_at) = pairs[0], pairs[1]
        self.classes_at, self.codes_at, self.names_at = pairs[2][1], pairs[3][1], pairs[4][1]
        self.words_at, self.lists_at = pairs[5][1], pairs[6][1]
        self.logs: Sequence[int] = [number_at(data, number_at(data, 80, 4) + 4 * at, 4) for at in range(LOGS)]
        self.rules = [self._rule(number) for number in range(self.n_rules)]
        self.keys: list[list[bytes]] = [[] for _ in self.rules]
        for number in range(self.n_anchors):
            at = self.anchors_at + ANCHOR_BYTES * number
            self.keys[number_at(data, at + 26, 2)].append(self._name(number_at(data, at + 16, 4), data[at + 20]))

    def _name(self, at: int, size: int) -> bytes:
        return self.data[self.names_at + at : self.names_at + at + size]

    def _rule(self, number: int) -> Rule:
        data, at = self.data, self.rules_at + RULE_BYTES * number
        code_at = self.codes_at + number_at(data, at + 8, 4)
        return Rule(
            self._name(number_at(data, at, 4), number_at(data, at + 4, 2)).decode(),
            data[at + 6],
            data[at + 7],
            data[code_at : code_at + number_at(data, at + 12, 2)],
            data[at + 14],
            data[at + 15],
            number_at(data, at + 16, 2),
            data[at + 18],
            data[at + 19],
            number_at(data, at + 20, 4),
            data[at + 24],
            data[at + 25],
            data[at + 26],
            data[at + 27],
            number_at(data, at + 28, 2),
        )

    def members(self, number: int) -> bytes:
        """Return the bit map of a class."""
        return self.data[self.classes_at + 32 * number : self.classes_at + 32 * number + 32]

    @functools.cache  # noqa: B019 - tables live as long as the process
    def words(self, number: int) -> tuple[bytes, ...]:
        """Return a list of words."""
        at = self.lists_at + 514 * number
        first, last = number_at(self.data, at, 2), number_at(self.data, at + 512, 2)
        offsets = (self.words_at + 8 * word for word in range(first, last))
        return tuple(self._name(number_at(self.data, at, 4), number_at(self.data, at + 4, 2)) for at in offsets)

    @functools.cache  # noqa: B019
    def pattern(self, number: int) -> re.Pattern[bytes]:
        """Return the regular expression of a rule: every beginning counts, so matches may overlap."""
        rule = self.rules[number]
        left = b""
        if rule.left != NO_CLASS:
            left = b"(?:(?<!" + class_regex(self.members(rule.left)) + b")|" + _ESCAPED + b")"
        right = b"" if rule.right == NO_CLASS else b"(?!" + class_regex(self.members(rule.right)) + b")"
        return re.compile(left + b"(?=(" + regex_of(rule.code, self.members) + b")" + right + b")")

    @functools.cache  # noqa: B019
    def value_pattern(self, number: int) -> re.Pattern[bytes]:
        """Return the regular expression of an assigned value."""
        return re.compile(regex_of(self.rules[number].code, self.members))


@functools.lru_cache(maxsize=8)
def opened(data: bytes) -> Table:
    """Return the table of some bytes."""
    return Table(data)
