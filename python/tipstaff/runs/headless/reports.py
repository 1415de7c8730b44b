"""A suite's result as JUnit XML, JSON or Markdown."""

from __future__ import annotations

import json
import re
from typing import Final
from xml.etree import ElementTree as Xml

from tipstaff.runs.headless.runner import CaseResult, SuiteResult

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(result: SuiteResult) -> str:
    """Return JUnit XML: a failure where an assertion does not hold, an error where the program failed."""
    failed = sum(bool(one.failures) and not one.errors for one in result.results)
    broken = sum(bool(one.errors) for one in result.results)
    attributes = {
        "name": result.name, "tests": str(len(result.results)), "failures": str(failed), "errors": str(broken),
        "time": f"{result.seconds:.3f}",
    }  # fmt: skip
    root = Xml.Element("testsuites", attributes)
    suite = Xml.SubElement(root, "testsuite", attributes)
    for one in result.results:
        case = Xml.SubElement(suite, "testcase", name=one.id, classname=result.name, time=f"{one.seconds:.3f}")
        if one.errors:
            Xml.SubElement(case, "error", message=_clean(one.errors[0])).text = _clean("\n".join(one.errors))
        elif one.failures:
            Xml.SubElement(case, "failure", message=_clean(one.failures[0])).text = _clean("\n".join(one.failures))
        Xml.SubElement(case, "system-out").text = _clean(one.output)
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def as_json(result: SuiteResult) -> str:
    """Return one JSON document."""
    return json.dumps({**result.to_dict(), "passed": result.passed}, ensure_ascii=False, indent=2) + "\n"


def markdown(result: SuiteResult) -> str:
    """Return a table, and what went wrong below it."""
    passed = sum(one.passed for one in result.results)
    lines = [
        f"# {result.name}: {passed} of {len(result.results)} cases passed", "",
        "| case | result | attempts | seconds | tokens |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for one in result.results:
        state = "passed" if one.passed else "error" if one.errors else "failed"
        lines.append(f"| {_cell(one.id)} | {state} | {one.attempts} | {one.seconds:.1f} | {one.event.tokens.total} |")
    for one in result.results:
        if not one.passed:
            lines += ["", f"## {one.id}", *(f"- {_cell(text)}" for text in _wrong(one))]
    return "\n".join(lines) + "\n"


def _wrong(result: CaseResult) -> tuple[str, ...]:
    return (*result.errors, *result.failures)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
