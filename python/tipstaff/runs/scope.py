"""What an agent may do: tools, paths and budgets. A scope can be narrowed and never widened.

A call must pass every layer, those of the parents included, and what it uses is charged to every layer.
"""

from __future__ import annotations

import itertools
import math
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tipstaff.errors import ConfigError
from tipstaff.gates.fields import fields_of
from tipstaff.gates.judging.allowlist import is_allowed
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.gates.results import GateResult
from tipstaff.globs import compile_scope, is_valid
from tipstaff.model import Record

PATH_FIELDS: Final = frozenset(
    "file_path filepath path paths notebook_path filename file target_file absolute_path dir_path directory".split()
)
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
        """Return whether a path relative to the root is in the layer."""
        if self._matchers is None:
            return True
        return not path.startswith("..") and any(matches(path) for matches in self._matchers)


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
        self, tools: Any = None, paths: Any = None, budgets: Budgets | Mapping[str, Any] | None = None
    ) -> Scope:
        """Return a scope with one layer more.

        Raises
        ------
        ConfigError
            Tools or paths are not lists of texts, or a budget is not usable.
        """
        table = Budgets(**budgets) if isinstance(budgets, Mapping) else budgets
        layer = Layer(_texts("tools", tools), _texts("paths", paths), table)
        return Scope(self.root, (*self.layers, layer))

    def check(self, tool: str, params: Any, gates: EnforcementGates, cwd: str | None = None) -> list[GateResult]:
        """Count a call, and return a blocking result for each thing in which it leaves the scope."""
        if not self.layers:
            return []
        found: list[GateResult] = []
        for layer in self.layers:
            used_up = layer.exceeded(layer.count_call())
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
            used = {"tokens": layer.tokens, "calls": layer.calls, "usd": layer.usd, "seconds": layer.seconds}
            for name, spent in used.items():
                limit = getattr(layer.budgets, name)
                if limit is not None:
                    left[name] = min(left.get(name, limit), max(0, limit - spent))
        return Budgets(**left)

    def _outside(self, tool: str, params: Any, gates: EnforcementGates, cwd: str | None) -> Iterator[GateResult]:
        for path in dict.fromkeys(self._paths(tool, params, gates, cwd)):
            for layer in self.layers:
                if not layer.holds_path(path):
                    allowed = ", ".join(layer.paths or ()) or "none"
                    reason = f"{path} is outside this agent's paths."
                    yield GateResult("block", "scope", reason, (), f"Stay in: {allowed}.", {"path": path})
                    return

    def _paths(self, tool: str, params: Any, gates: EnforcementGates, cwd: str | None) -> Iterator[str]:
        """Yield the paths that a call names, relative to the root."""
        del tool
        where = cwd or self.root
        for field in fields_of(params):
            name = field.name.lower()
            if name in PATH_FIELDS:
                yield self._relative(field.text, where)
            elif name in PATCH_FIELDS and ("*** " in field.text or "+++ " in field.text):
                for match in _PATCHED.finditer(field.text):
                    if match[1] != "/dev/null":
                        yield self._relative(match[1].strip(), where)
            if name in {"command", "cmd", "script"}:
                yield from self._paths_of_command(field.text, gates, where)

    def _paths_of_command(self, text: str, gates: EnforcementGates, where: str) -> Iterator[str]:
        for command in gates.explain(text, cwd=where).to_dict()["commands"]:
            folder = command["cwd"] or where
            for word in command["words"]:
                name = word["text"]
                is_redirection = command["program"].startswith("@")
                is_argument = not name.startswith("-") and "://" not in name
                if is_redirection or (is_argument and _names_a_path(name, folder)):
                    yield self._relative(name, folder)

    def _relative(self, path: str, where: str) -> str:
        # A link must not lead out of the scope.
        full = os.path.realpath(os.path.join(where, os.path.expanduser(path)))  # noqa: PTH111, PTH118 - texts
        return os.path.relpath(full, self.root)


def _names_a_path(word: str, folder: str) -> bool:
    """Return whether a word of a command is a path: it says so, or something of that name is there."""
    if word.startswith(("/", "~", "./", "../")) or word in {".", ".."}:
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
