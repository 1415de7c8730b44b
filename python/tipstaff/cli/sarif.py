"""What the linter finds, as SARIF 2.1.0."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any, Final

from tipstaff.guidance.diagnostics import KINDS
from tipstaff.guidance.lint import LintReport
from tipstaff.model import Diagnostic, Severity
from tipstaff.sarif import sarif_location, sarif_log

_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def help_page(code: str) -> str:
    """Return where a code is explained, relative to the project's root: no ``helpUri``, which has to be absolute."""
    return f"docs/diagnostics.md#{code.lower()}-{KINDS[code].name}"


def sarif(report: LintReport) -> dict[str, Any]:
    """Return a report as a SARIF log with one run."""
    codes = [code for code in KINDS if code in report.counts]
    seen: Counter[str] = Counter()
    results = [_result(found, codes.index(found.code), seen) for found in report.diagnostics]
    return sarif_log([_descriptor(code) for code in codes], results, columnKind="unicodeCodePoints")


def _descriptor(code: str) -> dict[str, Any]:
    kind = KINDS[code]
    return {
        "id": code,
        "name": "".join(part.capitalize() for part in kind.name.split("-")),
        "shortDescription": {"text": kind.summary},
        "fullDescription": {"text": kind.why},
        "help": {"text": f"{kind.why} {kind.fix} See {help_page(code)}."},
        "defaultConfiguration": {"level": _LEVELS[kind.severity]},
    }


def _result(found: Diagnostic, index: int, seen: Counter[str]) -> dict[str, Any]:
    text = f"{found.message} {found.fix}".strip()
    return {
        "ruleId": found.code,
        "ruleIndex": index,
        "level": _LEVELS[found.severity],
        "message": {"text": text},
        "locations": [sarif_location(found.source, {"startLine": found.line} if found.line else {})],
        "partialFingerprints": {"tipstaff/v1": _fingerprint(found, seen)},
    }


def _fingerprint(found: Diagnostic, seen: Counter[str]) -> str:
    """Return what stays the same when lines move: code, file, rule or message, and which of several alike it is."""
    about = found.rule_id or found.message
    base = "\0".join((found.code, found.source, about))
    seen[base] += 1
    return hashlib.sha256(f"{base}\0{seen[base]}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
