"""Reads packs: TOML files of gate rules, as docs/packs.md describes them. Unknown keys and wrong types are errors."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from tipstaff.gates.packs.model import (
    DECISIONS,
    DIALECTS,
    MARKS,
    PATH_CLASSES,
    SELECTORS,
    SEVERITIES,
    STYLES,
    VIA,
    Condition,
    PackError,
    PackRule,
    Policy,
    Program,
    Row,
    Sample,
    Selector,
    Subcommand,
)
from tipstaff.gates.packs.weakenings import WeakeningReview

PACKS_DIRECTORY: Final = Path(__file__).parent
SAMPLE_CWD: Final = "/home/dev/proj"
MAX_PACK_BYTES: Final = 1024 * 1024
_ID: Final = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")
_SHELLS: Final = ("bash", "sh", "zsh", "powershell", "cmd", "sql", "python", "node", "redis", "mongo")
_ORDER: Final = {"allow": 0, "mark": 0, "warn": 1, "require-confirmation": 2, "uncertain": 3, "block": 4}
_GLOB_KEYS: Final = ("first", "second", "last", "args_any", "args_all", "args_none", "words_any", "input")
_PROGRAM_KEYS: Final = ("reads_from", "writes_to", "inside")
WIRING: Final = "wiring."
"""What the ids of the rules begin with that keep the gate itself in place."""

_CONDITION_KEYS: Final = frozenset(
    {
        *_GLOB_KEYS, *_PROGRAM_KEYS, "subcommand", "flags_any", "flags_all", "flags_none", "values", "args_min",
        "args_max", "paths", "via_any", "via_none", "reads_paths", "unknown_args", "dialects",
    }
)  # fmt: skip
_RULE_KEYS: Final = _CONDITION_KEYS | {
    "id", "programs", "any", "unless", "decision", "decide", "reason", "safer", "severity", "marks", "positives",
    "negatives", "because", "enabled",
}  # fmt: skip


def pack_files(directory: Path) -> list[Path]:
    """Return the pack files of a directory, sorted; an absent directory has none."""
    return sorted(path for path in directory.glob("*.toml") if path.is_file()) if directory.is_dir() else []


def load_policy(
    files: Iterable[Path] | None = None, *, extra: Iterable[Path] = (), review: WeakeningReview | None = None
) -> Policy:
    """Read packs and lay a repository's own packs over them.

    Parameters
    ----------
    files
        The packs to start from; those of this package if None.
    extra
        Packs that add rules, or replace rules by their id.
    review
        Who says which of the weakenings in `extra` count, for packs that nobody has vouched for; without it, all do.

    Raises
    ------
    PackError
        A file cannot be read or says something that has no meaning, or makes a rule weaker without ``because``.
    """
    policy = Policy()
    base = [(path, False) for path in (pack_files(PACKS_DIRECTORY) if files is None else files)]
    texts = [(path, over, _parse(path)) for path, over in [*base, *((path, True) for path in extra)]]
    tables: dict[str, tuple[Row, ...]] = {}
    for path, over, data in texts:
        if not over:
            _Reader(path, policy, tables).shared(data)
    if review is not None:
        review.learn([data for _, over, data in texts if not over])
    for path, over, data in texts:
        if over:
            _Reader(path, policy, tables, review).shared(data)
    for path, over, data in texts:
        _Reader(path, policy, tables, review if over else None).rules(data, over=over)
    return policy


def _is_stricter(rule: PackRule, former: PackRule) -> bool:
    """Return whether a rule holds wherever the former one does, and decides no less there."""
    same = (rule.programs, rule.base, rule.any_of, rule.unless) == (
        former.programs,
        former.base,
        former.any_of,
        former.unless,
    )
    return same and rule.rows is None and former.rows is None and _ORDER[rule.decision] >= _ORDER[former.decision]


def _parse(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > MAX_PACK_BYTES:
            raise PackError(f"{path}: larger than {MAX_PACK_BYTES} bytes; split it")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PackError(f"{path}: cannot be read as TOML: {error}") from error


class _Reader:
    """Reads one file; every error names it and the rule."""

    def __init__(
        self,
        path: Path,
        policy: Policy,
        tables: dict[str, tuple[Row, ...]],
        review: WeakeningReview | None = None,
    ) -> None:
        self._path = path
        self._review = review
        self._policy = policy
        self._tables = tables
        self._where = path.name
        self._cwd = SAMPLE_CWD

    def shared(self, data: Mapping[str, Any]) -> None:
        """Take word sets, tables and programs, which every pack may use."""
        self._known(data, {"pack", "words", "tables", "program", "rule"})
        because = self._table(data.get("pack", {}), "pack").get("because", "")
        for name, globs in self._table(data.get("words", {}), "words").items():
            if not self._admits("words", name, globs, because):
                continue
            self._policy.words[name] = (*self._policy.words.get(name, ()), *self._strings(globs, f"words.{name}"))
        for name, table in self._table(data.get("tables", {}), "tables").items():
            self._known(self._table(table, name), {"rows"})
            if not self._admits("table", name, table, because):
                continue
            self._tables[name] = self._rows(table.get("rows"))
        for entry in self._list(data.get("program", []), "program"):
            table = self._table(entry, "program")
            names = self._strings(table.get("names"), "names")
            admitted = [name for name in names if self._admits("program", name, table, because)]
            self._program({**table, "names": admitted})

    def _admits(self, what: str, name: str, content: object, because: object) -> bool:
        """Return whether a repository's change of something shared counts."""
        if self._review is None:
            return True
        if self._review.wires(what, name):
            raise self._error(f"{what} {name!r}: the rules wiring.* depend on it, and a repository cannot change those")
        if not self._review.loosens(what, name):
            return True
        now = "changed" if what == "table" else "extended"
        return self._review.admits(what, name, "as it is shipped", now, content, because, self._path)

    def rules(self, data: Mapping[str, Any], *, over: bool) -> None:
        """Take the rules."""
        pack = self._table(data.get("pack", {}), "pack")
        self._known(pack, {"id", "title", "cwd", "because"})
        pack_id = pack.get("id")
        if not isinstance(pack_id, str) or not _ID.fullmatch(pack_id):
            raise self._error("[pack] needs an id of lower-case letters, digits and dashes")
        self._cwd = str(pack.get("cwd", SAMPLE_CWD))
        seen: set[str] = set()
        for entry in self._list(data.get("rule", []), "rule"):
            rule = self._table(entry, "rule")
            rule_id = rule.get("id")
            if not isinstance(rule_id, str) or not _ID.fullmatch(rule_id):
                raise self._error(f"a rule needs an id of lower-case letters, digits, dashes and dots, not {rule_id!r}")
            self._where = f"{self._path.name}: rule {rule_id}"
            if rule_id in seen or (not over and rule_id in self._policy.rules):
                raise self._error("the id is used twice")
            seen.add(rule_id)
            self._take(rule_id, pack_id, rule, over=over)

    def _take(self, rule_id: str, pack_id: str, data: Mapping[str, Any], *, over: bool) -> None:
        former = self._policy.rules.get(rule_id)
        because = data.get("because")
        if because is not None and (not isinstance(because, str) or not because.strip()):
            raise self._error("`because` must say why, in words")
        enabled = data.get("enabled", True)
        if not isinstance(enabled, bool):
            raise self._error("`enabled` must be true or false")
        if not enabled:
            if former is None:
                raise self._error("it switches off a rule that does not exist")
            if because is None and self._review is None:
                raise self._error('switching a rule off needs because = "..."')
            if not self._counts(former, "off", data):
                return
            self._policy.relaxed[rule_id] = (former.strictest, because or "")
            # It continues matching, so that every verdict that it would have changed can say so.
            self._policy.rules[rule_id] = replace(
                former, decision="allow", rows=None, because=because, former=former.strictest
            )
            return
        rule = self._rule(rule_id, pack_id, data)
        if self._review is not None and former is None and rule_id.startswith(WIRING):
            raise self._error(f"the rules {WIRING}* are this package's own")
        if self._review is not None and former is not None and not _is_stricter(rule, former):
            if not self._counts(former, rule.strictest, data):
                return
            self._policy.relaxed[rule_id] = (former.strictest, because or "")
            rule = replace(rule, because=because, former=former.strictest)
        elif over and former is not None and _ORDER[rule.strictest] < _ORDER[former.strictest]:
            if because is None:
                raise self._error(f'{rule.strictest} is weaker than {former.strictest}, which needs because = "..."')
            self._policy.relaxed[rule_id] = (former.strictest, because)
            rule = replace(rule, because=because, former=former.strictest)
        self._policy.rules[rule_id] = rule

    def _counts(self, former: PackRule, now: str, data: Mapping[str, Any]) -> bool:
        """Return whether a weaker form of a rule counts; a repository's does where a person has allowed it."""
        if self._review is None:
            return True
        if former.id.startswith(WIRING):
            raise self._error(f"a repository cannot weaken {WIRING}*: they keep this gate in place")
        return self._review.admits("rule", former.id, former.strictest, now, data, data.get("because"), self._path)

    def _rule(self, rule_id: str, pack_id: str, data: Mapping[str, Any]) -> PackRule:
        self._known(data, _RULE_KEYS)
        programs = self._strings(data.get("programs"), "programs")
        if not programs:
            raise self._error("`programs` names no program")
        decide = data.get("decide")
        decision = data.get("decision", "allow" if decide is not None else None)
        if decision not in DECISIONS or (decide is not None and "decision" in data):
            raise self._error(f"it needs one of `decision` ({', '.join(DECISIONS[1:])}) and `decide`")
        rows, selectors, missing = self._decide(decide) if decide is not None else (None, (), None)
        reason, safer = data.get("reason", ""), data.get("safer", "")
        if not isinstance(reason, str) or not reason or not isinstance(safer, str):
            raise self._error("`reason` must be one sentence, `safer` a text")
        severity = data.get("severity", "medium")
        if severity not in SEVERITIES:
            raise self._error(f"`severity` must be one of {', '.join(SEVERITIES)}")
        marks = 0
        for name in self._strings(data.get("marks", []), "marks"):
            if name not in MARKS:
                raise self._error(f"`marks` knows {', '.join(MARKS)}, not {name!r}")
            marks |= MARKS[name]
        positives, negatives = self._samples(data, "positives"), self._samples(data, "negatives")
        if not (positives or negatives or decision == "mark"):
            raise self._error("it needs positive and negative samples")
        return PackRule(
            id=rule_id,
            pack=pack_id,
            source=str(self._path.name),
            programs=programs,
            base=self._conditions({key: value for key, value in data.items() if key in _CONDITION_KEYS}),
            any_of=self._groups(data.get("any", []), "any"),
            unless=self._groups(data.get("unless", []), "unless"),
            decision=decision,
            rows=rows,
            selectors=selectors,
            missing=missing,
            reason=reason,
            safer=safer,
            severity=severity,
            marks=marks,
            positives=positives,
            negatives=negatives,
        )

    def _groups(self, value: object, key: str) -> tuple[tuple[Condition, ...], ...]:
        groups: list[tuple[Condition, ...]] = []
        for entry in self._list(value, key):
            table = self._table(entry, key)
            self._known(table, _CONDITION_KEYS)
            if not table:
                raise self._error(f"`{key}` has an empty table")
            groups.append(self._conditions(table))
        return tuple(groups)

    def _conditions(self, data: Mapping[str, Any]) -> tuple[Condition, ...]:
        found: list[Condition] = []
        if "subcommand" in data:  # the first one: it says where the other positionals begin
            sequences = tuple(tuple(text.lower().split()) for text in self._strings(data["subcommand"], "subcommand"))
            if not all(sequences):
                raise self._error("`subcommand` has an empty text")
            found.append(Condition("subcommand", sequences=sequences))
        found.extend(
            Condition("flags_any", options=self._options(text))
            for text in self._strings(data.get("flags_all", []), "flags_all")
        )
        for key in ("flags_any", "flags_none"):
            if key in data:
                options = [name for text in self._strings(data[key], key) for name in self._options(text)]
                found.append(Condition(key, options=tuple(options)))
        for names, globs in self._table(data.get("values", {}), "values").items():
            found.append(Condition("value", options=self._options(names), globs=self._globs(globs, "values")))
        found.extend(
            Condition(key, globs=self._globs(data[key], key)) for key in (*_GLOB_KEYS, *_PROGRAM_KEYS) if key in data
        )
        if "args_min" in data or "args_max" in data:
            least, most = data.get("args_min", 0), data.get("args_max", 0xFFFFFFFF)
            if not all(isinstance(number, int) and number >= 0 for number in (least, most)):
                raise self._error("`args_min` and `args_max` must be counts")
            found.append(Condition("count", least=least, most=most))
        if "paths" in data:
            table = self._table(data["paths"], "paths")
            self._known(table, {"of", "classes", "strip"})
            row = Row("block", self._terms(table.get("classes")))
            found.append(Condition("paths", selectors=self._selectors(table), rows=(row,)))
        if "reads_paths" in data:
            found.append(Condition("reads_paths", rows=(Row("block", self._terms(data["reads_paths"])),)))
        found.extend(
            Condition(key, least=self._bits(data[key], key, VIA)) for key in ("via_any", "via_none") if key in data
        )
        if "dialects" in data:
            found.append(Condition("dialects", least=self._bits(data["dialects"], "dialects", _powers(DIALECTS))))
        if "unknown_args" in data:
            found.append(Condition("unknown_args", least=int(bool(data["unknown_args"]))))
        return tuple(found)

    def _decide(self, value: object) -> tuple[tuple[Row, ...], tuple[Selector, ...], str | None]:
        table = self._table(value, "decide")
        self._known(table, {"of", "table", "rows", "missing", "strip"})
        if "table" in table:
            if table["table"] not in self._tables or "rows" in table:
                raise self._error(f"`decide` names a table that does not exist: {table['table']!r}")
            rows = self._tables[table["table"]]
        else:
            rows = self._rows(table.get("rows"))
        missing = table.get("missing")
        if missing is not None and not isinstance(missing, str):
            raise self._error("`missing` must be a path")
        return rows, self._selectors(table), missing

    def _rows(self, value: object) -> tuple[Row, ...]:
        rows: list[Row] = []
        for entry in self._list(value, "rows"):
            pair = self._strings(entry, "rows")
            if len(pair) != 2 or pair[0] not in DECISIONS:
                raise self._error(f'a row is ["decision", "classes"], not {entry!r}')
            rows.append(Row(pair[0], self._terms(pair[1])))
        if not rows:
            raise self._error("a table needs rows")
        return tuple(rows)

    def _terms(self, value: object) -> tuple[tuple[int, int], ...]:
        if not isinstance(value, str) or not value.split():
            raise self._error('path classes are a text such as "root home-root"')
        terms: list[tuple[int, int]] = []
        for text in value.split():
            require = forbid = 0
            for name in text.split("+"):
                bare = name.removeprefix("!")
                if bare != "*" and bare not in PATH_CLASSES:
                    raise self._error(f"there is no path class {bare!r}; there are {', '.join(PATH_CLASSES)}")
                bit = PATH_CLASSES.get(bare, 0)
                if name.startswith("!"):
                    forbid |= bit
                else:
                    require |= bit
            terms.append((require, forbid))
        return tuple(terms)

    def _selectors(self, table: Mapping[str, Any]) -> tuple[Selector, ...]:
        of = table.get("of", "args")
        strip = table.get("strip", "")
        if not isinstance(strip, str) or len(strip) > 1 or not strip.isascii():
            raise self._error("`strip` is one character")
        selectors: list[Selector] = []
        for text in [of] if isinstance(of, str) else self._strings(of, "of"):
            kind, _, rest = text.partition(":")
            if kind not in SELECTORS or (kind in {"option", "key"}) != bool(rest):
                raise self._error(f"`of` knows {', '.join(SELECTORS)} (option:-x|--xx, key:name), not {text!r}")
            options = self._options(rest) if kind == "option" else ()
            selectors.append(Selector(kind, options, rest.lower() if kind == "key" else "", strip))
        return tuple(selectors)

    def _samples(self, data: Mapping[str, Any], key: str) -> tuple[Sample, ...]:
        samples: list[Sample] = []
        for entry in self._list(data.get(key, []), key):
            if isinstance(entry, str):
                samples.append(Sample(entry, self._cwd))
                continue
            table = self._table(entry, key)
            self._known(table, {"command", "cwd", "shell", "decision"})
            command, cwd = table.get("command"), table.get("cwd", self._cwd)
            shell, decision = table.get("shell", "bash"), table.get("decision")
            if not isinstance(command, str) or not isinstance(cwd, str) or shell not in _SHELLS:
                raise self._error(f"`{key}`: a sample has a command, and may have cwd, shell and decision")
            if decision is not None and decision not in DECISIONS[:4]:
                raise self._error(f"`{key}`: a sample's decision is one of {', '.join(DECISIONS[:4])}")
            samples.append(Sample(command, cwd, shell, decision))
        return tuple(samples)

    def _program(self, data: Mapping[str, Any]) -> None:
        self._known(data, {"names", "style", "values", "values_before", "attached", "harmless", "subcommands"})
        style = data.get("style", "whole")
        if style not in STYLES:
            raise self._error(f"`style` must be one of {', '.join(STYLES)}")
        for name in self._strings(data.get("names"), "names"):
            program = self._policy.programs.setdefault(name, Program(name, style))
            if "style" in data:
                program.style = style
            for key, kept in (
                ("values", program.values),
                ("attached", program.attached),
                ("values_before", program.values_before),
                ("harmless", program.harmless),
            ):
                kept.update(self._strings(data.get(key, []), key))
            for word, entry in self._table(data.get("subcommands", {}), "subcommands").items():
                table = self._table(entry, word)
                self._known(table, {"values", "harmless"})
                subcommand = program.subcommands.setdefault(word.lower(), Subcommand())
                subcommand.values.update(self._strings(table.get("values", []), "values"))
                subcommand.harmless.update(self._strings(table.get("harmless", []), "harmless"))

    def _options(self, text: str) -> tuple[str, ...]:
        names = tuple(text.split("|"))
        if not all(name[:1] in {"-", "/"} and len(name) > 1 for name in names):
            raise self._error(f"an option begins with - or /: {text!r}")
        return names

    def _globs(self, value: object, key: str) -> tuple[str, ...]:
        globs: list[str] = []
        for text in self._strings(value, key):
            if text.startswith("@") and text[1:] in self._policy.words:
                globs.extend(self._policy.words[text[1:]])
            elif text.startswith("@") and _ID.fullmatch(text[1:]) and key not in _PROGRAM_KEYS:
                raise self._error(f"there is no word set {text!r}")
            else:
                globs.append(text)
        return tuple(globs)

    def _bits(self, value: object, key: str, names: Mapping[str, int]) -> int:
        bits = 0
        for name in self._strings(value, key):
            if name not in names:
                raise self._error(f"`{key}` knows {', '.join(names)}, not {name!r}")
            bits |= names[name]
        return bits

    def _strings(self, value: object, key: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in cast("list[object]", value)):
            raise self._error(f"`{key}` must be a list of texts")
        return tuple(cast("list[str]", value))

    def _list(self, value: object, key: str) -> list[Any]:
        if not isinstance(value, list):
            raise self._error(f"`{key}` must be a list")
        return value

    def _table(self, value: object, key: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._error(f"`{key}` must be a table")
        return cast("dict[str, Any]", value)

    def _known(self, data: Mapping[str, Any], keys: Iterable[str]) -> None:
        known = set(keys)
        for key in data:
            if key not in known:
                raise self._error(f"unknown key {key!r}; known are {', '.join(sorted(known))}")

    def _error(self, message: str) -> PackError:
        return PackError(f"{self._where}: {message}")


def _powers(names: Iterable[str]) -> dict[str, int]:
    return {name: 1 << bit for bit, name in enumerate(names)}
