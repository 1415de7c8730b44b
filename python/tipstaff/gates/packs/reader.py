"""Reads packs: TOML files of gate rules, as docs/packs.md describes them. Unknown keys and wrong types are errors."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tipstaff.gates.packs.conditions import CONDITION_KEYS, ID, ConditionReader, homes_of
from tipstaff.gates.packs.model import (
    DECISIONS,
    MARKS,
    SEVERITIES,
    STYLES,
    Condition,
    PackError,
    PackRule,
    Policy,
    Program,
    Row,
    Sample,
    Subcommand,
)
from tipstaff.gates.packs.weakenings import WeakeningReview
from tipstaff.store.untrusted import read_untrusted_text

PACKS_DIRECTORY: Final = Path(__file__).parent
SAMPLE_CWD: Final = "/home/dev/proj"
MAX_PACK_BYTES: Final = 1024 * 1024
_SHELLS: Final = ("bash", "sh", "zsh", "powershell", "cmd", "sql", "python", "node", "redis", "mongo", "tool")
_ORDER: Final = {"allow": 0, "mark": 0, "warn": 1, "require-confirmation": 2, "uncertain": 3, "block": 4}
WIRING: Final = "wiring."
"""What the ids of the rules begin with that keep the gate itself in place."""

_RULE_KEYS: Final = CONDITION_KEYS | {
    "id", "programs", "any", "unless", "unless_of", "decision", "decide", "reason", "safer", "severity", "marks",
    "positives", "negatives", "because", "enabled",
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
        return tomllib.loads(read_untrusted_text(path))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PackError(f"{path}: cannot be read as TOML: {error}") from error


class _Reader(ConditionReader):
    """Reads one file; every error names it and the rule."""

    def __init__(
        self,
        path: Path,
        policy: Policy,
        tables: dict[str, tuple[Row, ...]],
        review: WeakeningReview | None = None,
    ) -> None:
        super().__init__(path.name, policy.words, tables)
        self._path = path
        self._review = review
        self._policy = policy
        self._named = tables
        self._cwd = SAMPLE_CWD

    def shared(self, data: Mapping[str, Any]) -> None:
        """Take word sets, tables and programs, which every pack may use."""
        self._known(data, {"pack", "words", "tables", "program", "rule"})
        because = self._table(data.get("pack", {}), "pack").get("because", "")
        for name, globs in self._table(data.get("words", {}), "words").items():
            if not self._admits("words", name, globs, because):
                continue
            more = [glob for text in self._strings(globs, f"words.{name}") for glob in homes_of(text)]
            self._policy.words[name] = (*self._policy.words.get(name, ()), *more)
        for name, table in self._table(data.get("tables", {}), "tables").items():
            self._known(self._table(table, name), {"rows"})
            if not self._admits("table", name, table, because):
                continue
            self._named[name] = self._rows(table.get("rows"))
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
        if not isinstance(pack_id, str) or not ID.fullmatch(pack_id):
            raise self._error("[pack] needs an id of lower-case letters, digits and dashes")
        self._cwd = str(pack.get("cwd", SAMPLE_CWD))
        seen: set[str] = set()
        for entry in self._list(data.get("rule", []), "rule"):
            rule = self._table(entry, "rule")
            rule_id = rule.get("id")
            if not isinstance(rule_id, str) or not ID.fullmatch(rule_id):
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
        rule = self._rule(rule_id, pack_id, data, over=over)
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

    def _rule(self, rule_id: str, pack_id: str, data: Mapping[str, Any], *, over: bool) -> PackRule:
        self._known(data, _RULE_KEYS)
        programs = self._programs(data.get("programs"))
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
        # Those of the package's own rules are with its tests.
        if over and not (positives or negatives or decision == "mark"):
            raise self._error("it needs positive and negative samples")
        return PackRule(
            id=rule_id,
            pack=pack_id,
            source=str(self._path.name),
            programs=programs,
            base=self._conditions({key: value for key, value in data.items() if key in CONDITION_KEYS}),
            any_of=self._groups(data.get("any", []), "any"),
            unless=(*self._groups(data.get("unless", []), "unless"), *self._exceptions_of(data.get("unless_of", []))),
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

    def _exceptions_of(self, value: object) -> tuple[tuple[Condition, ...], ...]:
        """Return the exceptions of rules that were read before."""
        found: list[tuple[Condition, ...]] = []
        for name in self._strings(value, "unless_of"):
            if name not in self._policy.rules:
                raise self._error(f"`unless_of`: no rule before it has the id {name!r}")
            found.extend(self._policy.rules[name].unless)
        return tuple(found)

    def _programs(self, value: object) -> tuple[str, ...]:
        """Return the programs of a rule: a word set stands for its names; made-up programs keep their sign."""
        found: dict[str, None] = {}
        for text in self._strings(value, "programs"):
            found.update(dict.fromkeys(self._words.get(text[1:], (text,)) if text.startswith("@") else (text,)))
        return tuple(found)

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
