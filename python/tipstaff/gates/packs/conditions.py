"""What a rule of a pack asks for and how it decides: the tables of conditions, path classes and selectors, checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from tipstaff.gates.packs.model import (
    DECISIONS,
    DIALECTS,
    PATH_CLASSES,
    SELECTORS,
    VIA,
    Condition,
    PackError,
    Row,
    Selector,
)

ID: Final = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*")
_PROGRAM_KEYS: Final = ("reads_from", "writes_to", "inside")
_GLOB_KEYS: Final = (
    "first",
    "second",
    "last",
    "args_any",
    "args_all",
    "args_none",
    "patterns_all",
    "patterns_none",
    "ends_with",
    "fetches",
    "unbuilt_none",
    "built_some",
    "words_any",
    "input",
)
CONDITION_KEYS: Final = frozenset(
    {
        *_GLOB_KEYS, *_PROGRAM_KEYS, "subcommand", "flags_any", "flags_all", "flags_none", "values", "args_min",
        "args_max", "paths", "via_any", "via_none", "reads_paths", "writes_paths", "unknown_args", "dialects",
    }
)  # fmt: skip


class ConditionReader:
    """Reads the conditions and decisions of rules; every error names the file and the rule.

    Parameters
    ----------
    where
        The file, and the rule that is being read.
    words, tables
        Word sets and tables of decisions by name, as far as they were read.
    """

    def __init__(self, where: str, words: Mapping[str, tuple[str, ...]], tables: Mapping[str, tuple[Row, ...]]) -> None:
        self._where = where
        self._words = words
        self._tables = tables

    def _groups(self, value: object, key: str) -> tuple[tuple[Condition, ...], ...]:
        groups: list[tuple[Condition, ...]] = []
        for entry in self._list(value, key):
            table = self._table(entry, key)
            self._known(table, CONDITION_KEYS)
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
        found.extend(
            Condition(key, rows=(Row("block", self._terms(data[key])),))
            for key in ("reads_paths", "writes_paths")
            if key in data
        )
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

    def _options(self, text: str) -> tuple[str, ...]:
        names = tuple(text.split("|"))
        if not all(name[:1] in {"-", "/"} and len(name) > 1 for name in names):
            raise self._error(f"an option begins with - or /: {text!r}")
        return names

    def _globs(self, value: object, key: str) -> tuple[str, ...]:
        globs: list[str] = []
        for text in self._strings(value, key):
            if text.startswith("@") and text[1:] in self._words:
                # A set in a set would be a glob that no word matches.
                inner = next(
                    (one for one in self._words[text[1:]] if one.startswith("@") and one[1:] in self._words), None
                )
                if inner is not None:
                    raise self._error(
                        f"the word set {text!r} holds the name of another, {inner!r}; name both in the rule"
                    )
                globs.extend(self._words[text[1:]])
            elif text.startswith("@") and ID.fullmatch(text[1:]) and key not in _PROGRAM_KEYS:
                raise self._error(f"there is no word set {text!r}")
            else:
                globs.extend(homes_of(text))
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
        texts = cast("list[str]", value)
        if len(set(texts)) < len(texts):
            twice = next(text for number, text in enumerate(texts) if text in texts[:number])
            raise self._error(f"`{key}` holds {twice!r} twice")
        return tuple(texts)

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


def homes_of(glob: str) -> tuple[str, ...]:
    """Return a glob as it is, and one of anybody's home, ``~any/...``, once for each way to write one."""
    if not glob.startswith("~any/"):
        return (glob,)
    return tuple(home + glob.removeprefix("~any") for home in ("~", "/home/?*", "/users/?*", "/root"))


def _powers(names: Iterable[str]) -> dict[str, int]:
    return {name: 1 << bit for bit, name in enumerate(names)}
