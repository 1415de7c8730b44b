"""Compiling packs to the flat table that the scanner runs on.

The table is little-endian, holds offsets alone, and can be anywhere: in a file, in a section of a policy image. Its
layout is in `tipstaff.kernels.formats.secret_table`; ``secrets/table.hpp`` reads it.
"""

from __future__ import annotations

import bisect
import itertools
import math
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.gates.secrets import packs
from tipstaff.gates.secrets.anchors import (
    FEWEST,
    MOST_ANCHORS,
    WINDOW,
    anchor_of,
    best_start,
    both_cases,
    checks_of,
    compared,
    paths_of,
    variants,
)
from tipstaff.gates.secrets.buckets import wide_table
from tipstaff.gates.secrets.packs import SecretPackError, SecretRule
from tipstaff.gates.secrets.shapes import Mark, Node, Repeat, encode_shape, parse_shape
from tipstaff.kernels.formats import secret_table as layout

_WORD_LISTS: Final = (
    "placeholder",
    "plain_value",
    "about_after",
    "about_before",
    "secret_names",
    "references",
    "file_endings",
    "known_passwords",
    "introducers",
    "obvious",
    "trial_values",
    "local_hosts",
    "trial_paths",
    "sample_hosts",
    "letter_odds",
    "vector_names",
    "source_endings",
    "vector_labels",
    "field_names",
    "holders",
    "copulas",
    "wallet_words",
    "wallet_samples",
    "joined_copulas",
    "foreign_names",
)
_WITH_DOCUMENTED: Final = frozenset({"placeholder", "obvious"})
"""Lists that the samples of documentation belong to as well."""

_PRIORITIES: Final = {"shape": 60, "assign": 50, "url": 30, "pem": 95}

_AFTER_NAME: Final = frozenset({9, 10, 13, *range(32, 127)})
"""What may follow a name of three letters: without it there is no assignment."""

_ANY_BYTE: Final = frozenset(range(256))
"""What may follow the three known bytes of anything else: a user of an address may begin with any letter."""


_MOST_OF_SIX: Final = 16
"""A window that so many ways of writing six bytes fit at most is looked for by six, any other by four."""


def _differ_in_one(one: Sequence[frozenset[int]], other: Sequence[frozenset[int]]) -> bool:
    """Return whether two windows are as precise together: nothing fits both of them mixed that fits neither."""
    size = min(len(one), WINDOW)
    return size == min(len(other), WINDOW) and sum(map(frozenset.__ne__, one[:size], other[:size])) <= 1


class _Compiler:
    def __init__(self, rules: Sequence[SecretRule], words: Mapping[str, Sequence[str]]) -> None:
        self.rules = rules
        self.classes: dict[frozenset[int], int] = {}
        self.code = bytearray()
        self.names = bytearray()
        self.anchors: list[tuple[bytes, tuple[frozenset[int], ...], int, Repeat | None, int]] = []
        self.lists: list[Sequence[str]] = [
            (*words[name], *words.get("documented", ())) if name in _WITH_DOCUMENTED else words[name]
            for name in _WORD_LISTS
        ]

    def class_number(self, members: frozenset[int]) -> int:
        number = self.classes.setdefault(members, len(self.classes))
        if number > 254:
            raise SecretPackError("more than 255 classes of bytes")
        return number

    def check_number(self, members: frozenset[int]) -> int:
        """Return the class that a byte of an anchor is looked up in."""
        return self.classes.setdefault(members, len(self.classes))

    def boundary(self, text: str, rule: SecretRule) -> int:
        if not text:
            return layout.NO_CLASS
        nodes = parse_shape(text)
        if len(nodes) != 1 or not isinstance(nodes[0], Repeat):
            raise SecretPackError(f"rule {rule.id}: a border is one class, got {text!r}")
        return self.class_number(nodes[0].members)

    def record(self, number: int, rule: SecretRule) -> bytes:
        name = rule.id.encode()
        name_at = len(self.names)
        self.names += name
        code_at = len(self.code)
        left, right = self.boundary(rule.left, rule), self.boundary(rule.right, rule)
        if rule.shape:
            nodes = parse_shape(rule.shape)
            self.code += encode_shape(nodes, self.class_number)
            if rule.kind == "shape":
                self.anchor(number, rule, nodes)
        for key in rule.keys:
            for variant in variants(key):
                data = variant.encode().lower()
                if len(data) < FEWEST:
                    raise SecretPackError(f"rule {rule.id}: key {key!r} has fewer than {FEWEST} letters")
                sets = tuple(map(both_cases, data))
                # Where the rarest part of the name is: many begin as other words do.
                back = best_start(sets) or 0
                self.anchors.append((data, sets[back:], back, None, number))
        if rule.kind == "url":
            self.anchors.append((b"://", tuple(frozenset({byte}) for byte in b"://"), 0, None, number))
        if rule.kind == "pem":
            # Rows of hyphens are common: what ends them is looked for.
            sets = tuple(frozenset({byte}) for byte in b"-BEGIN ")
            self.anchors.append((b"-----begin ", sets, 4, None, number))
        context = 0
        if rule.context:
            self.lists.append(rule.context)
            context = len(self.lists)
        generic = rule.judge in {"password", "secret", "token", "quoted", "unquoted"}
        flags = (
            (layout.WARY if rule.wary else 0)
            | (0 if rule.repeats else layout.REPEATS_FINE)
            | (layout.ANYWHERE if rule.anywhere else 0)
            | (layout.NAMED if rule.kind == "assign" and not generic and not rule.anywhere else 0)
            | (layout.NO_STOPS if rule.stops == "none" else 0)
        )
        need = sum(packs.NEEDS[one] for one in rule.need.split())
        return struct.pack(
            "<IHBBIHBBHBBIBBBBH18x",
            name_at,
            len(name),
            packs.KINDS.index(rule.kind),
            rule.show,
            code_at,
            len(self.code) - code_at,
            left,
            right,
            flags,
            need,
            packs.SEVERITIES.index(rule.severity),
            round(rule.entropy * 65536),
            packs.CHECKSUMS.index(rule.checksum),
            packs.JUDGES.index(rule.judge),
            packs.CHECKS.index(rule.check),
            rule.priority or _PRIORITIES[rule.kind],
            context,
        )

    def anchor(self, number: int, rule: SecretRule, nodes: Sequence[Node]) -> None:
        seen: dict[tuple[bytes, int, int], list[int]] = {}
        first = len(self.anchors)
        nodes = [node for node in nodes if not isinstance(node, Mark)]
        try:
            paths = paths_of(nodes)
        except ValueError as error:
            raise SecretPackError(f"rule {rule.id}: {error}; split it into several rules") from None
        for path in paths:
            found = anchor_of(path)
            if found is None:
                raise SecretPackError(f"rule {rule.id}: the shape has no three known bytes in a row to look for")
            if found.head is not None:
                left = parse_shape(rule.left)[0] if rule.left else None
                if not (isinstance(left, Repeat) and found.head.members <= left.members):
                    raise SecretPackError(f"rule {rule.id}: begins with a run that `left` does not hold")
                if found.head.members & found.sets[0]:
                    raise SecretPackError(f"rule {rule.id}: begins with a run that its next byte could continue")
            for start in itertools.product(*({byte | 0x20 for byte in one} for one in found.sets[:FEWEST])):
                data = bytes(start)
                sets = tuple(
                    frozenset(byte for byte in one if byte | 0x20 == data[at]) if at < FEWEST else one
                    for at, one in enumerate(found.sets)
                )
                # Of one rule and place, windows that differ in one byte are one.
                key = (data, found.back, found.head.most if found.head else -1)
                alike = seen.setdefault(key, [])
                index = next((at for at in alike if _differ_in_one(self.anchors[at][1], sets)), None)
                if index is None:
                    alike.append(len(self.anchors))
                    self.anchors.append((data, sets, found.back, found.head, number))
                else:
                    old = self.anchors[index]
                    merged = tuple(a | b for a, b in zip(old[1], sets, strict=False))
                    self.anchors[index] = (old[0], merged, old[2], old[3], old[4])
        count = len(self.anchors) - first
        if count > MOST_ANCHORS:
            raise SecretPackError(f"rule {rule.id}: {count} beginnings to look for, more than {MOST_ANCHORS}")

    def table(self) -> bytes:
        records = b"".join(self.record(number, rule) for number, rule in enumerate(self.rules))
        anchors, heads = self.chained()
        words = bytearray()
        lists = bytearray()
        count = 0
        for number, entries in enumerate(self.lists):
            # In the order of first bytes, with an index of them: a search looks at few words for each byte.
            ordered = sorted({entry.encode().lower() for entry in entries})
            firsts = [word[0] for word in ordered]
            lists += struct.pack("<257H", *(count + bisect.bisect_left(firsts, first) for first in range(257)))
            for word in ordered:
                words += struct.pack("<IHH", len(self.names), len(word), number)
                self.names += word
                count += 1
        wide = wide_table([sets[:WINDOW] for _, sets, _, _, _ in self.anchors])
        sieve = self.sieve()
        logs = struct.pack(
            f"<{layout.LOGS}I", *(round(math.log2(number) * 65536) if number else 0 for number in range(layout.LOGS))
        )
        classes = b"".join(sum(1 << byte for byte in members).to_bytes(32, "little") for members in self.classes)
        sections = (
            records,
            anchors,
            classes,
            bytes(self.code),
            bytes(self.names),
            bytes(words),
            bytes(lists),
            heads,
            wide,
            logs,
            sieve,
        )
        offset = layout.HEADER_BYTES
        offsets: list[int] = []
        body = bytearray()
        for section in sections:
            padding = -len(body) % 64
            body += bytes(padding)
            offsets.append(offset + len(body))
            body += section
        header = layout.MAGIC + struct.pack(
            "<II19I",
            layout.VERSION,
            offset + len(body),
            len(self.rules),
            offsets[0],
            len(self.anchors),
            offsets[1],
            len(self.classes),
            offsets[2],
            len(self.code),
            offsets[3],
            len(self.names),
            offsets[4],
            count,
            offsets[5],
            len(self.lists),
            offsets[6],
            offsets[7],
            offsets[8],
            offsets[9],
            offsets[10],
            zlib.crc32(body),
        )
        return header + bytes(layout.HEADER_BYTES - len(header)) + bytes(body)

    @staticmethod
    def key_of(sets: Sequence[frozenset[int]]) -> int:
        """Return the hash that a window is looked up by."""
        first, second, third = (min(members) | 0x20 for members in sets[:FEWEST])
        return layout.hash_of(first, second, third)

    def chained(self) -> tuple[bytes, bytes]:
        """Return the anchors, those of one hash in a chain, and where each chain begins."""
        heads = [layout.NONE] * layout.HEADS
        records: list[bytes] = []
        # Those of one chain are together: a walk over it stays in one place.
        self.anchors.sort(key=lambda anchor: self.key_of(anchor[1]))
        heads_of = [
            layout.NO_CLASS if head is None else self.class_number(head.members) for *_, head, _ in self.anchors
        ]
        for number in reversed(range(len(self.anchors))):
            data, sets, back, head, rule = self.anchors[number]
            at = len(self.names)
            self.names += data
            key = self.key_of(sets)
            value, mask = compared(sets)
            checks = checks_of(sets) if self.rules[rule].kind == "shape" else []
            records.append(
                struct.pack(
                    "<8s8sIBBBxHHH3sx6s",
                    value,
                    mask,
                    at,
                    len(data),
                    back,
                    heads_of[number],
                    0 if head is None else head.most,
                    rule,
                    heads[key],
                    bytes(position for position, _ in checks),
                    struct.pack(f"<{len(checks)}H", *(self.check_number(members) for _, members in checks)),
                )
            )
            heads[key] = number
        records.reverse()
        return b"".join(records), struct.pack(f"<{layout.HEADS}H", *heads)

    def sieve(self) -> bytes:
        """Return three sieves: of four bytes of all literals, of four bytes of the short ones, of six of the others."""
        bits = bytearray(3 * layout.SIEVE_BITS // 8)
        seen: set[tuple[frozenset[int], ...]] = set()
        for _, sets, _, _, number in self.anchors:
            after = _AFTER_NAME if self.rules[number].kind == "assign" else _ANY_BYTE
            if (*sets[:WINDOW], after) in seen:
                continue
            seen.add((*sets[:WINDOW], after))
            folded = [{byte | 0x20 for byte in members} for members in sets[:WINDOW]]
            known = len(folded) == WINDOW and math.prod(map(len, folded)) <= _MOST_OF_SIX
            for four in itertools.product(*(*sets, after)[:4]):
                here = [layout.sieve_of(*four)]
                if not known:
                    here.append(layout.short_sieve_of(*four) + layout.SIEVE_BITS)
                for bit in here:
                    bits[bit >> 3] |= 1 << (bit & 7)
            if known:
                for six in itertools.product(*folded):
                    bit = layout.long_sieve_of(bytes(six)) + 2 * layout.SIEVE_BITS
                    bits[bit >> 3] |= 1 << (bit & 7)
        return bytes(bits)


def compile_table(rules: Iterable[SecretRule], words: Mapping[str, Sequence[str]]) -> bytes:
    """Return the table of some rules.

    Raises
    ------
    SecretPackError
        If a rule cannot be looked for: it has no three known bytes in a row, or is not of this language.
    """
    rules = tuple(rules)
    if not 0 < len(rules) < layout.NONE:
        raise SecretPackError(f"a table has between 1 and {layout.NONE - 1} rules, got {len(rules)}")
    ids = [rule.id for rule in rules]
    twice = next((one for one in ids if ids.count(one) > 1), None)
    if twice is not None:
        raise SecretPackError(f"rule {twice}: there are two of that id")
    missing = [name for name in _WORD_LISTS if name not in words]
    if missing:
        raise SecretPackError(f"lists of words are missing: {', '.join(missing)}")
    compiler = _Compiler(rules, words)
    try:
        return compiler.table()
    except ConfigError as error:
        raise SecretPackError(str(error)) from error


def check_samples(rule: SecretRule, words: Mapping[str, Sequence[str]]) -> None:
    """Hold a rule to its own samples.

    Raises
    ------
    SecretPackError
        Naming the rule and the sample that disagrees.
    """
    from tipstaff.kernels import SecretTable  # the packs are compiled before the kernels are

    table = SecretTable(compile_table([rule], words))
    for samples, wanted in ((rule.positives, True), (rule.negatives, False)):
        for sample in samples:
            if bool(table.find(packs.made_up(sample), wary=rule.wary)) != wanted:
                what = "finds nothing in its positive" if wanted else "finds something in its negative"
                raise SecretPackError(f"rule {rule.id}: {what} sample {sample!r}")
