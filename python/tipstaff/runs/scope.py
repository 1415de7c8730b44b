"""What an agent may do: tools, paths and budgets. A scope can be narrowed and never widened.

A call must pass every layer, those of the parents included, and what it uses is charged to every layer.
"""

from __future__ import annotations

import glob
import itertools
import math
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from sqlalchemy import BigInteger, Column, Float, MetaData, Table, Text, insert, select, update

from tipstaff.errors import ConfigError
from tipstaff.gates.fields import Field, fields_of
from tipstaff.gates.judging.allowlist import is_allowed
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.gates.results import GateResult
from tipstaff.globs import compile_scope, is_valid
from tipstaff.model import Record
from tipstaff.store.database import Database, Schema, migrate

_PATH_WORDS: Final = frozenset(
    "path paths file files filename filenames filepath dir dirs directory directories folder folders cwd workdir root "
    "source src destination dest dst target uri uris location notebook worktree output input glob".split()
)
"""Words in the name of a parameter, or of one that it is in, whose text is a path."""

_CONTENT_WORDS: Final = frozenset(
    "content contents text string str prompt description query message reason thought code data body command cmd "
    "script patch diff regex language encoding format type mode".split()
)
"""Last words of names whose text is no path, whatever it is in."""

_FOLDER_FIELDS: Final = frozenset({"cwd", "workdir", "working_directory"})
"""Parameters that only say where a call works: the root is allowed, for what is named from there is looked at."""

_FILE_PROGRAMS: Final = frozenset(
    "cp mv ln mkdir touch rm rmdir tee install truncate unlink mkfifo chmod chown shred split cat head tail".split()
)
"""Programs whose words are all names of files, also of those that are not there yet."""

_NAME_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|mailto:|data:")
_PLAIN_NAME: Final = re.compile(r"[\w@%+=:,./~*?\[\]{}-]+")
_ENDING: Final = re.compile(r"\.[A-Za-z]\w{0,7}$")
_GLOB: Final = re.compile(r"[*?\[{]")
_MOST_MATCHES: Final = 1000
_LONGEST_PATH: Final = 4096
PATCH_FIELDS: Final = frozenset({"patch", "input", "diff", "command"})
_PATCHED: Final = re.compile(
    r"^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |\+\+\+ (?:b/)?|--- (?:a/)?)(.+)$", re.MULTILINE
)


class Budgets(Record, frozen=True, kw_only=True):
    """The most that an agent may use; None is no limit."""

    tokens: int | None = None
    calls: int | None = None
    seconds: float | None = None
    usd: float | None = None

    def __post_init__(self) -> None:
        for name in ("tokens", "calls", "seconds", "usd"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not value >= 0):
                raise ConfigError(f"budget {name} is {value!r}; it must be 0 or more")


class Layer:
    """One narrowing, and what was used under it."""

    def __init__(
        self, tools: tuple[str, ...] | None = None, paths: tuple[str, ...] | None = None,
        budgets: Budgets | None = None,
    ) -> None:  # fmt: skip
        self.tools = tools
        self.paths = paths
        self.budgets = budgets or Budgets()
        for path in paths or ():
            problem = is_valid(path)
            if problem:
                raise ConfigError(f"paths: {path!r}: {problem}")
        self._matchers = None if paths is None else [compile_scope(path) for path in paths]
        # `next` of a counter is one step under the interpreter's lock: the hot path needs no lock of its own.
        self._calls = itertools.count(1)
        self.calls = 0
        self.tokens = 0
        self.usd = 0.0
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def count_call(self) -> int:
        """Count a call; returns its number."""
        self.calls = number = next(self._calls)
        return number

    def spend(self, tokens: int, usd: float) -> None:
        """Charge what a model used."""
        with self._lock:
            self.tokens += tokens
            self.usd += usd

    def refresh(self) -> None:
        """Take in what others used under it."""

    def exceeded(self, call: int) -> str:
        """Return which budget is used up at a call's number, empty where none is."""
        budgets = self.budgets
        if budgets.calls is not None and call > budgets.calls:
            return f"{budgets.calls} calls"
        if budgets.tokens is not None and self.tokens >= budgets.tokens:
            return f"{budgets.tokens} tokens"
        if budgets.usd is not None and self.usd >= budgets.usd:
            return f"{budgets.usd:g} US dollars"
        if budgets.seconds is not None and self.seconds >= budgets.seconds:
            return f"{budgets.seconds:g} seconds"
        return ""

    @property
    def seconds(self) -> float:
        """How long ago the layer began."""
        return time.monotonic() - self._began

    def holds_path(self, path: str) -> bool:
        """Return whether a path relative to the root is in the layer, or all that is in the folder is."""
        if self._matchers is None:
            return True
        return not path.startswith("..") and any(matches(path) or matches(f"{path}/-") for matches in self._matchers)


_BUDGETS: Final = Table(
    "tipstaff_budgets",
    MetaData(),
    Column("name", Text, primary_key=True),
    Column("began", Float, nullable=False),
    Column("calls", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("usd", Float, nullable=False),
)
_SCHEMA: Final = Schema("budgets", "budgets_schema", (_BUDGETS.create,))


class SharedLayer(Layer):
    """A layer whose use is counted in a database, for all processes that name it.

    Parameters
    ----------
    database
        Where.
    name
        Of the budget. Its time begins when it is first used.
    tools, paths, budgets
        As of `Layer`.
    """

    def __init__(
        self, database: Database, name: str, tools: tuple[str, ...] | None, paths: tuple[str, ...] | None,
        budgets: Budgets | None,
    ) -> None:  # fmt: skip
        super().__init__(tools, paths, budgets)
        self._database = database
        self._name = name
        self._add()

    def count_call(self) -> int:
        """Count a call; returns its number among those of all processes."""
        return self._add(calls=1)

    def spend(self, tokens: int, usd: float) -> None:
        """Charge what a model used."""
        self._add(tokens=tokens, usd=usd)

    def refresh(self) -> None:
        """Take in what others used under it."""
        self._add()

    @property
    def seconds(self) -> float:
        """How long ago the budget was first used, by the clock of the day."""
        return time.time() - self._began

    def _add(self, calls: int = 0, tokens: int = 0, usd: float = 0.0) -> int:
        mine = _BUDGETS.c.name == self._name
        with self._database.writing() as connection:
            migrate(connection, _SCHEMA)
            row = connection.execute(select(_BUDGETS).where(mine)).one_or_none()
            if row is None:
                first = {"name": self._name, "began": time.time(), "calls": 0, "tokens": 0, "usd": 0.0}
                connection.execute(insert(_BUDGETS).values(first))
                row = connection.execute(select(_BUDGETS).where(mine)).one()
            used = {"calls": row.calls + calls, "tokens": row.tokens + tokens, "usd": row.usd + usd}
            if calls or tokens or usd:
                connection.execute(update(_BUDGETS).where(mine).values(used))
        self._began = row.began
        self.calls, self.tokens, self.usd = used["calls"], used["tokens"], used["usd"]
        return self.calls


class Scope:
    """The layers that hold for one agent.

    Parameters
    ----------
    root
        The repository; paths of layers are globs relative to it.
    layers
        From the outermost to the agent's own.
    """

    def __init__(self, root: str, layers: tuple[Layer, ...] = ()) -> None:
        self.root = os.path.realpath(root)
        self.layers = layers
        self._has_paths = any(layer.paths is not None for layer in layers)

    def narrowed(
        self, tools: Any = None, paths: Any = None, budgets: Budgets | Mapping[str, Any] | None = None,
        *, shared: tuple[Database, str] | None = None,
    ) -> Scope:  # fmt: skip
        """Return a scope with one layer more; `shared` is the database and the name of a budget of several processes.

        Raises
        ------
        ConfigError
            Tools or paths are not lists of texts, or a budget is not usable.
        """
        table = Budgets(**budgets) if isinstance(budgets, Mapping) else budgets
        own = _texts("tools", tools), _texts("paths", paths)
        layer = Layer(*own, table) if shared is None else SharedLayer(*shared, *own, table)
        return Scope(self.root, (*self.layers, layer))

    def check(
        self, tool: str, params: Any, gates: EnforcementGates, cwd: str | None = None, *, counts: bool = True
    ) -> list[GateResult]:
        """Count a call, where it `counts`, and return a blocking result for each thing in which it leaves the scope."""
        if not self.layers:
            return []
        found: list[GateResult] = []
        for layer in self.layers:
            used_up = layer.exceeded(layer.count_call() if counts else layer.calls + 1)
            if used_up:
                found.append(
                    GateResult("block", "budget", f"The budget of {used_up} is used up.", (), "Stop, and report.")
                )
                break
        for layer in self.layers:
            if layer.tools is not None and not is_allowed(tool, layer.tools):
                reason = f"The tool {tool!r} is outside this agent's scope."
                found.append(
                    GateResult("block", "tool-allowlist", reason, (), f"Use one of: {', '.join(layer.tools)}.")
                )
                break
        if self._has_paths:
            found.extend(self._outside(tool, params, gates, cwd))
        return found

    def spend(self, *, tokens: int = 0, usd: float = 0.0) -> None:
        """Charge what a model used to every layer.

        Raises
        ------
        ConfigError
            A number is negative or none: what was used cannot be given back.
        """
        for name, value in (("tokens", tokens), ("usd", usd)):
            if isinstance(value, bool) or not 0 <= value < math.inf:
                raise ConfigError(f"{name} is {value!r}; it must be 0 or more")
        for layer in self.layers:
            layer.spend(tokens, usd)

    def remaining(self) -> Budgets:
        """Return what is left of each budget, the least over all layers."""
        left: dict[str, Any] = {}
        for layer in self.layers:
            layer.refresh()
            used = {"tokens": layer.tokens, "calls": layer.calls, "usd": layer.usd, "seconds": layer.seconds}
            for name, spent in used.items():
                limit = getattr(layer.budgets, name)
                if limit is not None:
                    left[name] = min(left.get(name, limit), max(0, limit - spent))
        return Budgets(**left)

    def _outside(self, tool: str, params: Any, gates: EnforcementGates, cwd: str | None) -> Iterator[GateResult]:
        for path in dict.fromkeys(self.paths(tool, params, gates, cwd)):
            for layer in self.layers:
                if not layer.holds_path(path):
                    allowed = ", ".join(layer.paths or ()) or "none"
                    reason = f"{path} is outside this agent's paths."
                    yield GateResult("block", "scope", reason, (), f"Stay in: {allowed}.", {"path": path})
                    return

    def paths(self, tool: str, params: Any, gates: EnforcementGates, cwd: str | None) -> Iterator[str]:
        """Yield the paths that a call names, relative to the root; one may be named twice."""
        where = cwd or self.root
        fields = fields_of(params)
        for field in fields:
            if field.name.lower() in _FOLDER_FIELDS and field.text:
                where = os.path.join(where, _local(field.text))  # noqa: PTH118 - texts
                if self._relative(where, where) != ".":
                    yield self._relative(where, where)
        base = next((field.text for field in fields if field.name == "path"), "") if "glob" in tool.lower() else ""
        for field in fields:
            name = field.name.lower()
            if name in _FOLDER_FIELDS:
                continue
            if name in {"command", "cmd", "script"}:
                yield from self._paths_of_command(field.text, gates, where)
            if name in PATCH_FIELDS and ("*** " in field.text or "+++ " in field.text):
                for match in _PATCHED.finditer(field.text):
                    if match[1] != "/dev/null":
                        yield self._relative(match[1].strip(), where)
            elif name == "pattern" and "glob" in tool.lower():
                yield from self._matched(field.text, os.path.join(where, base))  # noqa: PTH118 - texts
            elif _is_path(field):
                yield from self._matched(_local(field.text), where)

    def _paths_of_command(self, text: str, gates: EnforcementGates, where: str) -> Iterator[str]:
        for command in gates.explain(text, cwd=where).to_dict()["commands"]:
            folder, program = command["cwd"] or where, command["program"].rpartition("/")[2]
            if os.path.realpath(folder) not in {self.root, os.path.realpath(where)}:
                yield self._relative(folder, folder)
            for word in command["words"]:
                # A redirection names a file, whatever its name is.
                names = [word["text"]] if program.startswith("@") else _path_in(word, program, folder)
                for name in names:
                    yield from self._matched(_local(name), folder)

    def _matched(self, path: str, where: str) -> Iterator[str]:
        """Yield a path relative to the root; of a pattern the files that it matches, itself where there is none."""
        full = os.path.join(where, os.path.expanduser(path))  # noqa: PTH111, PTH118 - texts
        found = list(itertools.islice(glob.iglob(full, recursive=True), _MOST_MATCHES)) if _GLOB.search(path) else []  # noqa: PTH207
        yield from (self._relative(one, where) for one in found or [_GLOB.split(full, maxsplit=1)[0] or full])

    def _relative(self, path: str, where: str) -> str:
        # A link must not lead out of the scope.
        full = os.path.realpath(os.path.join(where, os.path.expanduser(path).replace("\0", "")))  # noqa: PTH111, PTH118
        return os.path.relpath(full, self.root)


def _is_path(field: Field) -> bool:
    """Return whether a parameter's text is a path: by its name, or because it says so itself."""
    text = field.text
    if not text or "\n" in text or "\0" in text or len(text) > _LONGEST_PATH:
        return False
    own = [part.lower() for part in _NAME_PART.findall(field.name)]
    if own and own[-1] in _CONTENT_WORDS:
        return False
    if text.startswith(("/", "~/", "./", "../", "file:")) and " " not in text.partition("/")[0]:
        return True
    if _URL.match(text):
        return False
    return any(part.lower() in _PATH_WORDS for part in _NAME_PART.findall(field.path or field.name))


def _local(path: str) -> str:
    """Return the path of a ``file:`` URI, and any other text as it is."""
    return unquote(urlsplit(path).path) if path.lower().startswith("file:") else path


def _path_in(word: Mapping[str, Any], program: str, folder: str) -> Iterator[str]:
    """Yield the path that a word of a command is, or that is attached to its option."""
    text = word["text"]
    if _URL.match(text) and not text.startswith("file:"):
        return
    if not text.startswith("-"):
        _, sign, value = text.partition("=")
        if program in _FILE_PROGRAMS or "file" in word["classes"] or _names_a_path(text, folder):
            yield text
        elif sign and (_names_a_path(value, folder) or _ENDING.search(value)):
            yield value
        return
    value = text.partition("=")[2] if text.startswith("--") else text[2:]
    if value and _PLAIN_NAME.fullmatch(value) and _names_a_path(value, folder):
        yield value


def _names_a_path(word: str, folder: str) -> bool:
    """Return whether a word of a command is a path: it says so, or something of that name is there."""
    if not word or "\0" in word:
        return False
    if word.startswith(("/", "~", "./", "../", "file:")) or word in {".", ".."} or (_GLOB.search(word) and "/" in word):
        return True
    first = word.partition("/")[0]
    return os.path.lexists(os.path.join(folder, first))  # noqa: PTH118 - a text, on a path of every call


def _texts(name: str, given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    texts: tuple[Any, ...] = tuple(given)
    if isinstance(given, str) or not all(isinstance(one, str) and one for one in texts):
        raise ConfigError(f"{name} is {given!r}; it must be a list of globs")
    return texts
