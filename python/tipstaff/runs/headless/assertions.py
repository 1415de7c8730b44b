"""Whether what must hold after a case does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import msgspec

from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.globs import matches
from tipstaff.runs.evaluators.commands import forbidden_rules
from tipstaff.runs.evaluators.counting import results_of
from tipstaff.runs.events import TestResults
from tipstaff.runs.headless.executors import run_command
from tipstaff.runs.headless.streams import Transcript
from tipstaff.runs.headless.suites import Assertion, Case

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
