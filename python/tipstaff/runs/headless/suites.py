"""Suites: what agents are asked to do, and what must hold afterwards; read from YAML.

::

    name: delivery
    executor: claude            # claude, codex, gemini, qwen, opencode, or a command as a list ("{prompt}" is replaced)
    options: {permission: edit, model: "", allowed_tools: ["Bash(pytest:*)"], args: [], stream: claude}
    defaults: {timeout_s: 300, retries: 1}
    cases:
      - id: midnight
        prompt: Fix the delivery day that is wrong around midnight.
        tags: [bug-fix]
        files: {notes.txt: "written before the agent starts"}
        assertions:
          - output-contains: midnight
          - files-touched: api/orders.py
          - no-forbidden-commands
          - tests-pass: [python, -m, pytest, -q]
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import yaml

from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.globs import matches
from tipstaff.model import Record
from tipstaff.runs.evaluators.evaluating import forbidden_rules, results_of
from tipstaff.runs.events import TestResults
from tipstaff.runs.headless.executors import run_command
from tipstaff.runs.headless.streams import Transcript
from tipstaff.store.untrusted import read_untrusted_text

ASSERTIONS: Final = {
    "output-contains": "text",
    "output-not-contains": "text",
    "output-matches": "pattern",
    "files-touched": "glob",
    "files-not-touched": "glob",
    "no-forbidden-commands": "none",
    "tests-pass": "command",
    "judge": "command",
}
"""Kinds of assertions, and what each takes."""


class Assertion(Record, frozen=True):
    """One thing that must hold after a case."""

    kind: str
    value: str | tuple[str, ...] = ""


class Case(Record, frozen=True, kw_only=True):
    """One task for an agent.

    Attributes
    ----------
    id, prompt, tags
        What it is called, what is asked, by what it can be chosen.
    files
        Files that are written into the clone before the agent starts.
    assertions
        What must hold.
    timeout_s, retries
        Seconds for the agent; how often a case that failed is tried again.
    """

    id: str
    prompt: str
    tags: tuple[str, ...] = ()
    files: dict[str, str] = {}  # noqa: RUF012 - msgspec copies it
    assertions: tuple[Assertion, ...] = ()
    timeout_s: float = 600.0
    retries: int = 0


class ExecutorOptions(Record, frozen=True, kw_only=True):
    """How the program is asked; see `Executor`."""

    permission: str = "edit"
    model: str = ""
    allowed_tools: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    stream: str | None = None


class Suite(Record, frozen=True, kw_only=True):
    """Cases, and who is asked, how."""

    name: str
    executor: str | tuple[str, ...]
    cases: tuple[Case, ...]
    options: ExecutorOptions = ExecutorOptions()

    def tagged(self, tags: tuple[str, ...]) -> Suite:
        """Return the suite with the cases that have one of the tags; all where none is named."""
        return self.replace(cases=tuple(one for one in self.cases if not tags or set(tags) & set(one.tags)))


def read_suite(path: str | Path) -> Suite:
    """Read a suite.

    Raises
    ------
    SourceNotFoundError
        There is no such file.
    ConfigError
        It is not a suite; the message says where.
    """
    source = Path(path)
    try:
        text = read_untrusted_text(source)
    except FileNotFoundError as error:
        raise SourceNotFoundError(f"{path}: there is no such file") from error
    try:
        data: Any = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    return suite_of(data, str(path))


def suite_of(data: Any, where: str = "suite") -> Suite:
    """Return a suite from plain data. Raises `ConfigError` as :func:`read_suite`."""
    given: Any = data
    if not isinstance(given, Mapping):
        raise ConfigError(f"{where}: expected a mapping with name, executor and cases")
    table = dict(cast("Mapping[str, Any]", given))
    defaults: Mapping[str, Any] = table.pop("defaults", None) or {}
    cases: list[dict[str, Any]] = []
    for number, given in enumerate(table.get("cases") or ()):
        if not isinstance(given, Mapping):
            raise ConfigError(f"{where}: case {number + 1} is not a mapping")
        case = {**defaults, **cast("Mapping[str, Any]", given)}
        name = f"{where}: case {case.get('id', number + 1)!r}"
        case["assertions"] = [_assertion(one, name) for one in case.get("assertions") or ()]
        cases.append(case)
    if not cases:
        raise ConfigError(f"{where}: there are no cases")
    table |= {"cases": cases, "name": table.get("name", where)}
    unknown = set(table) - set(Suite.__struct_fields__)
    unknown |= set(table.get("options") or {}) - set(ExecutorOptions.__struct_fields__)
    unknown |= {key for case in cases for key in case} - set(Case.__struct_fields__)
    if unknown:
        raise ConfigError(f"{where}: unknown keys: {', '.join(sorted(unknown))}")
    try:
        suite = msgspec.convert(table, Suite)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {error}") from error
    ids = [case.id for case in suite.cases]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        raise ConfigError(f"{where}: two cases are called {', '.join(twice)}")
    for one in suite.cases:
        outside = [name for name in one.files if name.startswith("/") or ".." in Path(name).parts]
        if outside or one.timeout_s <= 0 or one.retries < 0:
            raise ConfigError(f"{where}: case {one.id!r}: files must lie inside, timeout_s above 0, retries from 0")
    return suite


def _assertion(given: Any, where: str) -> dict[str, Any]:
    kind, value = (given, None) if isinstance(given, str) else next(iter(given.items()), ("", None))
    takes = ASSERTIONS.get(kind)
    if takes is None or (isinstance(given, Mapping) and len(cast("Mapping[str, Any]", given)) != 1):
        raise ConfigError(f"{where}: unknown assertion {given!r}; known are {', '.join(ASSERTIONS)}")
    if takes == "none":
        return {"kind": kind}
    if takes == "command":
        words: list[Any] = ["sh", "-c", value] if isinstance(value, str) else value if isinstance(value, list) else []
        if not words:
            raise ConfigError(f"{where}: {kind} needs a command, as a text or a list")
        return {"kind": kind, "value": [str(word) for word in words]}
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{where}: {kind} needs a text")
    if takes == "pattern":
        try:
            re.compile(value)
        except re.error as error:
            raise ConfigError(f"{where}: {value!r} is not a regular expression: {error}") from error
    return {"kind": kind, "value": value}


# -- whether what must hold after a case does --------------------------------------------------------------------------


COMMAND_TIMEOUT_S: Final = 600.0


def failure_of(
    assertion: Assertion,
    case: Case,
    transcript: Transcript,
    files: tuple[str, ...],
    folder: Path,
    gates: EnforcementGates,
    tests: list[TestResults],
) -> str:
    """Return why an assertion does not hold, empty where it does; results of tests are added to `tests`."""
    value = assertion.value
    match assertion.kind, value:
        case "output-contains", str():
            return "" if value in transcript.result else f"the output does not contain {value!r}"
        case "output-not-contains", str():
            return f"the output contains {value!r}" if value in transcript.result else ""
        case "output-matches", str():
            return "" if re.search(value, transcript.result) else f"the output does not match {value!r}"
        case "files-touched", str():
            return "" if any(matches(value, file) for file in files) else f"no file that matches {value!r} was touched"
        case "files-not-touched", str():
            found = [file for file in files if matches(value, file)]
            return f"touched: {', '.join(found)}" if found else ""
        case "no-forbidden-commands", _:
            return _forbidden(transcript, folder, gates)
        case "tests-pass", tuple():
            done = run_command(value, folder, timeout_s=COMMAND_TIMEOUT_S)
            if done.timed_out:
                return f"the tests did not end within {COMMAND_TIMEOUT_S:g} s"
            counted = results_of(f"{done.output}\n{done.errors}")
            if counted is not None:
                tests.append(counted)
            if done.status != 0:
                return f"the tests ended with {done.status}: {_tail(done.output + done.errors)}"
            if counted is None:
                return f"the command ended well, and printed no results of tests: {_tail(done.output) or 'nothing'}"
            return (
                ""
                if counted.passed and not counted.failed
                else f"{counted.passed} tests passed, {counted.failed} failed"
            )
        case "judge", tuple():
            question = {"prompt": case.prompt, "output": transcript.result, "files": files, "tools": transcript.tools}
            stdin = msgspec.json.encode(question).decode()
            done = run_command(value, folder, timeout_s=COMMAND_TIMEOUT_S, stdin=stdin)
            return "" if done.status == 0 else f"the judge ended with {done.status}: {_tail(done.output + done.errors)}"
        case _:
            return f"unknown assertion {assertion.kind!r}"


def _forbidden(transcript: Transcript, folder: Path, gates: EnforcementGates) -> str:
    if not transcript.reports_tools:
        return "the program's output reports no tool calls, so they cannot be checked"
    if transcript.unread:
        return f"{transcript.unread} lines of the output cannot be read, so the tool calls in them cannot be checked"
    found = [
        f"{tool} ({', '.join(rules)})"
        for tool in transcript.tools
        if (rules := tuple(dict.fromkeys(forbidden_rules(tool, gates, str(folder)))))
    ]
    return f"forbidden: {'; '.join(found)}" if found else ""


def _tail(text: str) -> str:
    return " ".join(text.split())[-300:]
