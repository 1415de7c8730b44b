"""Findings as SARIF 2.1.0 and as GitHub's workflow commands.

Source: GitHub Docs, "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

from tipstaff.review.findings.model import Finding
from tipstaff.sarif import sarif_location, sarif_log

_LEVELS: Final = {"error": "error", "warning": "warning", "info": "note"}
_COMMANDS: Final = {"error": "error", "warning": "warning", "info": "notice"}


def to_sarif(findings: Iterable[tuple[str, Finding]]) -> dict[str, Any]:
    """Return a SARIF log of pairs of a check's name and a finding: one run, one rule for each check and code."""
    pairs = list(findings)
    rules = list(dict.fromkeys(_rule(name, finding) for name, finding in pairs))
    results = [_result(name, finding, rules) for name, finding in pairs]
    return sarif_log([{"id": rule} for rule in rules], results, tool="tipstaff check")


def to_annotations(findings: Iterable[tuple[str, Finding]]) -> list[str]:
    """Return ``::error file=...,line=...::message`` lines for pairs of a check's name and a finding."""
    lines: list[str] = []
    for name, finding in findings:
        fields = {"title": f"{name} {finding.code}".strip()}
        if finding.path:
            fields = {"file": finding.path, **({"line": str(finding.line)} if finding.line else {}), **fields}
            if finding.column:
                fields["col"] = str(finding.column)
        shown = ",".join(f"{key}={_escaped(value, more=True)}" for key, value in fields.items())
        lines.append(f"::{_COMMANDS[finding.severity]} {shown}::{_escaped(finding.message)}")
    return lines


def _rule(name: str, finding: Finding) -> str:
    return f"{name}/{finding.code}" if finding.code else name


def _result(name: str, finding: Finding, rules: list[str]) -> dict[str, Any]:
    rule = _rule(name, finding)
    digest = hashlib.sha256("\0".join((rule, finding.path, finding.message)).encode("utf-8", "surrogatepass"))
    result: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message or rule},
        "partialFingerprints": {"tipstaff/v1": digest.hexdigest()[:32]},
    }
    if finding.path:
        at = (("startLine", finding.line), ("startColumn", finding.line and finding.column))
        result["locations"] = [sarif_location(finding.path, {name: number for name, number in at if number})]
    return result


def _escaped(text: str, *, more: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if more else text
