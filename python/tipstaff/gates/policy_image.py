"""Compiles a policy to the image that the native engine reads: one flat, little-endian, position-independent block.

The layout is that of ``native/include/tipstaff/gate/image.hpp``, record by record; the native side trusts
nothing of it.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tipstaff.gates.pack_model import (
    CONDITIONS,
    DECISIONS,
    SELECTORS,
    SEVERITIES,
    STYLES,
    Condition,
    PackError,
    PackRule,
    Policy,
    Program,
    Row,
    Selector,
)

MAGIC: Final = b"TIPSGATE"
VERSION: Final = 1
DEFAULT_IMAGE: Final = Path(__file__).parent / "packs" / "default.image"
"""The image of this package's own packs, as it is shipped; a test holds that it equals what the packs give."""

NOTHING: Final = 0xFFFFFFFF
FLAG_BITS: Final = 128
_ALIGNMENT: Final = 64
_SECTIONS: Final = (
    "strings", "texts", "slots", "specs", "flags", "buckets", "lists", "instances", "groups", "conditions", "globs",
    "masks", "sequences", "rules", "tables", "rows", "terms", "selectors", "config", "allowlist", "secrets", "shared",
)  # fmt: skip
_GLOB_KINDS: Final = {
    name: number for number, name in enumerate("literal prefix suffix contains general anything".split())
}
_MASK64: Final = 0xFFFFFFFFFFFFFFFF
_Values = tuple[int, ...]


def compile_image(
    policy: Policy,
    *,
    config: Sequence[int] = (0b1101, 300, 0, 2, 3, 2),
    allowlist: Iterable[str] = (),
    secrets: bytes = b"",
) -> bytes:
    """Return the policy as an image.

    Parameters
    ----------
    policy
        What the packs say.
    config
        Switches (bits: destructive 1, allowlist 2, diff size 4, secrets 8), lines of one edit, lines of one run (0: no
        limit), what is uncertain with a person and without one, and what an error means (decisions by number).
    allowlist
        Globs of tool names.
    secrets
        The secret scanner's own table, as it is.
    """
    return _Compiler(policy).compile(config, allowlist, secrets)


def image_checksum(data: bytes) -> int:
    """Return the checksum of an image's bytes after the checksum field; the twin of the native function."""
    total = 0x243F6A8885A308D3 ^ len(data)
    padded = data + bytes(-len(data) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        total = ((total ^ word) * 0x9E3779B97F4A7C15) & _MASK64
        total ^= total >> 32
    return total


def hash_name(name: str) -> int:
    """Return the 32-bit FNV-1a hash of a name in lower case, as the image's tables use it."""
    value = 2166136261
    for byte in name.encode():
        value = ((value ^ (byte + 32 if 65 <= byte <= 90 else byte)) * 16777619) & 0xFFFFFFFF
    return value


class _Flags:
    """The options of one program, each with its bit."""

    def __init__(self, style: str, where: str) -> None:
        self.style = style
        self._where = where
        self.bits: dict[str, int] = {}

    def canonical(self, option: str) -> str | None:
        """Return the name under which the image knows an option, or None where this style cannot spell it."""
        if self.style == "operands":
            return None
        if self.style == "slash":
            return option.lstrip("-/").lower()
        if option.startswith("/"):
            return None
        if self.style == "gnu":
            return option.lower() if option.startswith("--") else option if len(option) == 2 else None
        if self.style == "single":
            return option.lower() if len(option) > 2 else option
        name = option.lstrip("-")
        return name if len(name) == 1 and self.style == "go" else name.lower()

    def add(self, options: Iterable[str]) -> list[int]:
        found: list[int] = []
        for option in options:
            name = self.canonical(option)
            if name is None:
                continue
            bit = self.bits.setdefault(name, len(self.bits))
            if bit >= FLAG_BITS:
                raise PackError(f"{self._where}: rules name more than {FLAG_BITS} options")
            found.append(bit)
        return found

    def letter(self, name: str) -> str:
        """Return the letter of a one-letter option, or nothing."""
        if self.style in {"gnu", "single"}:
            return name[1] if len(name) == 2 and name != "--" else ""
        return name if len(name) == 1 and self.style in {"go", "slash"} else ""


class _Compiler:
    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._strings = bytearray()
        self._text_ids: dict[bytes, int] = {}
        self._sections: dict[str, array[int]] = {name: array("I") for name in _SECTIONS}
        self._mask_ids: dict[int, int] = {}
        self._table_ids: dict[tuple[Row, ...], int] = {}
        self._glob_ids: dict[tuple[str, ...], tuple[int, int]] = {}
        if self._sections["texts"].itemsize != 4:  # pragma: no cover - no such platform is supported
            raise PackError("this platform's unsigned int has not 32 bits")

    def compile(self, config: Sequence[int], allowlist: Iterable[str], secrets: bytes) -> bytes:
        order = sorted(self._policy.rules.values(), key=lambda rule: rule.id)
        numbers = {rule.id: number for number, rule in enumerate(order)}
        for rule in order:
            self._rule(rule)
        self._programs(order, numbers)
        self._shared(order, numbers)
        self._sections["allowlist"].extend(self._text(glob) for glob in allowlist)
        self._sections["config"].extend(config)
        return self._assemble(secrets)

    def _rule(self, rule: PackRule) -> None:
        self._sections["rules"].extend(
            (
                self._text(rule.id),
                self._text(rule.pack),
                self._text(rule.reason),
                self._text(rule.safer),
                SEVERITIES.index(rule.severity),
                DECISIONS.index(rule.decision),
                rule.marks,
                NOTHING if rule.because is None else self._text(rule.because),
                DECISIONS.index(rule.former),
            )
        )

    def _programs(self, order: Sequence[PackRule], numbers: dict[str, int]) -> None:
        by_program: dict[str, list[PackRule]] = {}
        for rule in order:
            for name in rule.programs:
                if name != "*":
                    by_program.setdefault(name, []).append(rule)
        specs: dict[tuple[object, ...], int] = {}
        slots: list[tuple[str, int]] = []
        for name, rules in sorted(by_program.items()):
            program = self._policy.programs.get(name, Program(name))
            key = (program.signature(), tuple(rule.id for rule in rules))
            if key not in specs:
                specs[key] = self._spec(program, rules, numbers)
            slots.append((name, specs[key]))
        table = _hashed([(name, (self._text(name), spec)) for name, spec in slots])
        for entry in table:
            self._sections["slots"].extend((0, NOTHING, 0) if entry is None else (entry[0], *entry[1]))

    def _shared(self, order: Sequence[PackRule], numbers: dict[str, int]) -> None:
        flags = _Flags("operands", "rules for every program")
        for rule in order:
            if "*" in rule.programs:
                conditions = [*rule.base, *(item for group in (*rule.any_of, *rule.unless) for item in group)]
                if any(condition.options for condition in conditions):
                    raise PackError(f"rule {rule.id}: a rule for every program cannot speak of options")
                self._sections["shared"].append(self._instance(rule, numbers[rule.id], flags))

    def _spec(self, program: Program, rules: Sequence[PackRule], numbers: dict[str, int]) -> int:
        flags = _Flags(program.style, f"program {program.name}")
        values = self._mask(flags.add(sorted(program.values | _implied_values(program, rules))))
        before = self._mask(flags.add(sorted(program.values_before)))
        harmless = self._mask(flags.add(sorted(program.harmless)))
        plain: list[int] = []
        buckets: dict[str, list[int]] = {}
        for rule in rules:
            instance = self._instance(rule, numbers[rule.id], flags)
            firsts = _first_words(rule)
            if firsts is None:
                plain.append(instance)
            else:
                for word in firsts:
                    buckets.setdefault(word, []).append(instance)
        entries: list[tuple[str, tuple[int, ...]]] = []
        for word in sorted({*buckets, *program.subcommands}):
            said = program.subcommands.get(word)
            entries.append(
                (
                    word,
                    (
                        self._text(word),
                        *self._list(buckets.get(word, [])),
                        self._mask(flags.add(sorted(said.values))) if said else NOTHING,
                        self._mask(flags.add(sorted(said.harmless))) if said else NOTHING,
                    ),
                )
            )
        table = _hashed(entries)
        first_bucket = len(self._sections["buckets"]) // 6
        for entry in table:
            self._sections["buckets"].extend(
                (0, NOTHING, 0, 0, NOTHING, NOTHING) if entry is None else (entry[0], *entry[1])
            )
        first_flag = len(self._sections["flags"]) // 4
        # Letters first: they are looked up by letter.
        named = sorted(flags.bits.items(), key=lambda item: (not flags.letter(item[0]), item[1]))
        for name, bit in named:
            letter = flags.letter(name)
            self._sections["flags"].extend((self._text(name), bit, ord(letter) if letter else 0, hash_name(name)))
        letters = sum(1 for name in flags.bits if flags.letter(name))
        number = len(self._sections["specs"]) // 11
        self._sections["specs"].extend(
            (
                STYLES.index(program.style),
                first_flag,
                len(named),
                letters,
                first_bucket,
                len(table),
                *self._list(plain),
                values,
                before,
                harmless,
            )
        )
        return number

    def _instance(self, rule: PackRule, number: int, flags: _Flags) -> int:
        groups = [self._conditions(group, flags) for group in (rule.base, *rule.any_of, *rule.unless)]
        first = len(self._sections["groups"]) // 2
        for group in groups:
            self._sections["groups"].extend(group)
        table = NOTHING if rule.rows is None else self._table(rule.rows)
        selectors = self._selectors(rule.selectors, flags)
        index = len(self._sections["instances"]) // 10
        self._sections["instances"].extend(
            (
                number,
                first,
                first + 1,
                len(rule.any_of),
                first + 1 + len(rule.any_of),
                len(rule.unless),
                table,
                *selectors,
                NOTHING if rule.missing is None else self._text(rule.missing),
            )
        )
        return index

    def _conditions(self, group: Sequence[Condition], flags: _Flags) -> tuple[int, int]:
        records = [self._condition(condition, flags) for condition in group]
        first = len(self._sections["conditions"]) // 4
        for entry in records:
            self._sections["conditions"].extend(entry)
        return first, len(records)

    def _condition(self, condition: Condition, flags: _Flags) -> tuple[int, int, int, int]:
        kind = CONDITIONS.index(condition.kind)
        match condition.kind:
            case "subcommand":
                globs = [self._globs(sequence) for sequence in condition.sequences]
                first = len(self._sections["sequences"]) // 2
                for entry in globs:
                    self._sections["sequences"].extend(entry)
                return kind, first, len(globs), 0
            case "flags_any" | "flags_none":
                return kind, self._mask_of(flags.add(condition.options)), 0, 0
            case "value":
                return kind, *self._globs(condition.globs), self._mask_of(flags.add(condition.options))
            case "paths":
                return kind, *self._selectors(condition.selectors, flags), self._table(condition.rows)
            case "reads_paths":
                return kind, self._table(condition.rows), 0, 0
            case "count" | "via_any" | "via_none" | "unknown_args" | "dialects":
                return kind, condition.least, condition.most, 0
            case _:
                return kind, *self._globs(condition.globs), 0

    def _selectors(self, selectors: Sequence[Selector], flags: _Flags) -> tuple[int, int]:
        records = [
            (
                SELECTORS.index(selector.kind),
                self._mask_of(flags.add(selector.options)) if selector.kind == "option" else 0,
                self._text(selector.key),
                ord(selector.strip) if selector.strip else 0,
            )
            for selector in selectors
        ]
        first = len(self._sections["selectors"]) // 4
        for entry in records:
            self._sections["selectors"].extend(entry)
        return first, len(records)

    def _table(self, rows: tuple[Row, ...]) -> int:
        if rows not in self._table_ids:
            records: list[tuple[int, int, int]] = []
            for row in rows:
                first = len(self._sections["terms"]) // 2
                for term in row.terms:
                    self._sections["terms"].extend(term)
                records.append((DECISIONS.index(row.decision), first, len(row.terms)))
            first_row = len(self._sections["rows"]) // 3
            for entry in records:
                self._sections["rows"].extend(entry)
            self._table_ids[rows] = len(self._sections["tables"]) // 2
            self._sections["tables"].extend((first_row, len(rows)))
        return self._table_ids[rows]

    def _globs(self, globs: tuple[str, ...]) -> tuple[int, int]:
        if globs not in self._glob_ids:
            first = len(self._sections["globs"]) // 4
            for glob in globs:
                kind, text = _glob_parts(glob.lower())
                self._sections["globs"].extend((_GLOB_KINDS[kind], self._text(text), *_glob_edge(kind, text)))
            self._glob_ids[globs] = (first, len(globs))
        return self._glob_ids[globs]

    def _list(self, instances: Sequence[int]) -> tuple[int, int]:
        first = len(self._sections["lists"])
        self._sections["lists"].extend(instances)
        return first, len(instances)

    def _mask(self, bits: Sequence[int]) -> int:
        return self._mask_of(bits) if bits else NOTHING

    def _mask_of(self, bits: Iterable[int]) -> int:
        mask = 0
        for bit in bits:
            mask |= 1 << bit
        if mask not in self._mask_ids:
            self._mask_ids[mask] = len(self._sections["masks"]) // 4
            self._sections["masks"].extend((mask >> shift) & 0xFFFFFFFF for shift in (0, 32, 64, 96))
        return self._mask_ids[mask]

    def _text(self, text: str) -> int:
        data = text.encode()
        if data not in self._text_ids:
            self._text_ids[data] = len(self._text_ids)
            self._sections["texts"].extend((len(self._strings), len(data)))
            self._strings += data
        return self._text_ids[data]

    def _assemble(self, secrets: bytes) -> bytes:
        header = 32 + 8 * len(_SECTIONS)
        body = bytearray(header)
        places: list[int] = []
        for name in _SECTIONS:
            body += bytes(-len(body) % _ALIGNMENT)
            if name == "strings":
                data = bytes(self._strings)
            elif name == "secrets":
                data = secrets
            else:
                numbers = self._sections[name]
                if sys.byteorder == "big":  # pragma: no cover - the image is little-endian everywhere
                    numbers.byteswap()
                data = numbers.tobytes()
            places.extend((len(body), len(data)))
            body += data
        body += bytes(-len(body) % 8)
        struct.pack_into("<IIQII", body, 8, VERSION, len(body), 0, len(_SECTIONS), 0)
        body[:8] = MAGIC
        struct.pack_into(f"<{len(places)}I", body, 32, *places)
        struct.pack_into("<Q", body, 16, _checksum(bytes(body[24:])))
        return bytes(body)


def _checksum(data: bytes) -> int:
    try:
        from tipstaff.kernels import _gates
    except ImportError:
        return image_checksum(data)
    return _gates.image_checksum(data)


def _implied_values(program: Program, rules: Iterable[PackRule]) -> set[str]:
    """Return the options that take a value because a rule asks for it, unless the program says where they do."""
    told = set(program.values_before).union(*(said.values for said in program.subcommands.values()))
    implied: set[str] = set()
    for rule in rules:
        for condition in (*rule.base, *(item for group in (*rule.any_of, *rule.unless) for item in group)):
            if condition.kind == "value":
                implied.update(condition.options)
            implied.update(*(selector.options for selector in condition.selectors))
        implied.update(*(selector.options for selector in rule.selectors))
    return implied - told


def _first_words(rule: PackRule) -> list[str] | None:
    """Return the first words of a rule's subcommands, or None where one of them is a pattern or there are none."""
    for condition in rule.base:
        if condition.kind == "subcommand":
            firsts = sorted({sequence[0] for sequence in condition.sequences})
            return None if any(set(word) & set("*?\\") for word in firsts) else firsts
    return None


def _glob_parts(glob: str) -> tuple[str, str]:
    """Return the kind of a glob and the text that it is compared with."""
    if glob == "*":
        return "anything", ""
    inner = glob.strip("*")
    if "\\" in glob or "?" in glob or "*" in inner or (glob.startswith("**") or glob.endswith("**")):
        return "general", glob
    if glob.startswith("*"):
        return ("contains" if glob.endswith("*") else "suffix"), inner
    return ("prefix" if glob.endswith("*") else "literal"), inner


def _glob_edge(kind: str, text: str) -> tuple[int, int]:
    """Return the shortest length in bytes that can match, and the letter that a match begins (or ends) with."""
    data = text.encode()
    if kind in {"literal", "prefix"}:
        return len(data), data[0] if data else 0
    if kind == "suffix":
        return len(data), data[-1] if data else 0
    if kind == "contains":
        return len(data), 0
    letters = len(data.replace(b"\\", b"").replace(b"*", b""))
    edge = data[:1] if kind == "general" and data[:1] not in {b"", b"*", b"?", b"\\"} else b""
    return (0, 0) if kind == "anything" or "\\" in text else (letters, edge[0] if edge else 0)


def _hashed(entries: Sequence[tuple[str, _Values]]) -> list[tuple[int, _Values] | None]:
    """Return an open-addressed table of a power of two with at least half of its places free; empty for nothing."""
    if not entries:
        return []
    size = 4
    while size < 2 * len(entries):
        size *= 2
    table: list[tuple[int, _Values] | None] = [None] * size
    for name, value in entries:
        hashed = hash_name(name)
        at = hashed & (size - 1)
        while table[at] is not None:
            at = (at + 1) & (size - 1)
        table[at] = (hashed, value)
    return table
