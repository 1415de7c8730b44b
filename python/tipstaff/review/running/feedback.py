"""The report of failed checks for a developer, person or agent: findings, and output only where there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tipstaff.review.findings.model import Finding
from tipstaff.review.running.results import CheckResult, Outcome

MAX_FINDINGS: Final = 20
MAX_OUTPUT_LINES: Final = 40
MAX_UNREAD_LINES: Final = 12
MAX_LINE_CHARS: Final = 300

OUTCOME_WORDS: Final = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.TIMED_OUT: "timed out",
    Outcome.TOOL_MISSING: "tool missing",
    Outcome.NOTHING_COLLECTED: "nothing collected",
    Outcome.SKIPPED: "skipped",
}


def feedback_text(results: Sequence[CheckResult], *, attempt: int, max_attempts: int, task: str = "") -> str:
    """Return the report of failed checks, empty where no required check failed.

    Parameters
    ----------
    results
        Of all checks.
    attempt, max_attempts
        Which attempt this was, and how many there are.
    task
        The task's description, repeated at the end.
    """
    failed = [result for result in results if result.failed and result.required]
    optional = [result for result in results if result.failed and not result.required]
    if not failed:
        return ""
    lines = [
        f"{len(failed)} required check{'s' if len(failed) > 1 else ''} failed (attempt {attempt} of {max_attempts})."
    ]
    shown: set[Finding] = set()
    for result in failed:
        lines += ["", *_about(result, shown)]
    if optional:
        lines += ["", f"Optional checks that failed: {', '.join(result.name for result in optional)}."]
    if task:
        lines += ["", "The task:", task]
    return "\n".join(lines)


def clipped(text: str, *, lines: int = MAX_OUTPUT_LINES) -> str:
    """Return the first lines and, mostly, the last ones of an output."""
    rows = [row if len(row) <= MAX_LINE_CHARS else f"{row[:MAX_LINE_CHARS]}…" for row in text.strip().splitlines()]
    if len(rows) <= lines:
        return "\n".join(rows)
    head = lines // 4
    tail = lines - head
    return "\n".join([*rows[:head], f"[... {len(rows) - lines:,} lines left out ...]", *rows[-tail:]])


def unread_output(result: CheckResult) -> str:
    """Return what no finding says of an output, clipped: all of it where there are no findings."""
    if not result.findings:
        return clipped(result.output)
    words = {finding.message[:60] for finding in result.findings if finding.message}
    places = {f"{finding.path.rpartition('/')[2]}:{finding.line}" for finding in result.findings if finding.path}
    rows = [
        row
        for row in result.output.splitlines()
        if row.strip() and not any(word in row for word in words) and not any(place in row for place in places)
    ]
    return clipped("\n".join(rows), lines=MAX_UNREAD_LINES)


def location(result_path: str, line: int, column: int = 0) -> str:
    """Return ``path:line:column`` as far as it is known."""
    return ":".join([result_path, *([str(line)] if line else []), *([str(column)] if line and column else [])])


def _about(result: CheckResult, shown: set[Finding]) -> list[str]:
    where = f" in {result.working_dir}" if result.working_dir else ""
    lines = [f"## {result.name}: {OUTCOME_WORDS[result.outcome]}", f"`{result.command}`{where}"]
    if result.reason:
        lines.append(result.reason)
    errors = [finding for finding in result.findings if finding.severity == "error"] or list(result.findings)
    new = [finding for finding in errors if finding not in shown]
    shown.update(new)
    if errors and len(new) < len(errors):
        lines.append(f"{len(errors) - len(new):,} of its findings are listed above.")
    for finding in new[:MAX_FINDINGS]:
        code = f" [{finding.code}]" if finding.code else ""
        where = location(finding.path, finding.line, finding.column)
        lines.append(f"- {where}: {finding.message}{code}" if where else f"- {finding.message}{code}")
    if len(new) > MAX_FINDINGS:
        lines.append(f"- and {len(new) - MAX_FINDINGS:,} more")
    rest = unread_output(result)
    if rest:
        lines += ["```", rest, "```"]
    return lines
