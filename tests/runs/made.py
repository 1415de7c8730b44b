"""Runs and spool lines made for tests."""

from __future__ import annotations

import json
from typing import Any

from tipstaff.runs import DiffSummary, RunEvent, TestResults, Violation

KEY = bytes(range(32))
START = 1_700_000_000_000


def run_event(number: int = 1, **changes: Any) -> RunEvent:
    """Return a run whose every part is filled."""
    fields: dict[str, Any] = {
        "event_id": f"run-{number}", "task_id": f"task-{number % 5}", "guidance_hash": "0123456789abcdef",
        "retrieved_rule_ids": ("R1", "R2"), "tools_used": ("Read", "npm test"), "files_touched": ("src/a.ts",),
        "diff_summary": DiffSummary(lines_added=10, lines_removed=number % 7, files_changed=1),
        "test_results": TestResults(ran=True, passed=5), "intent": "bug-fix", "timestamp": START + number * 1000,
        "violations": (Violation(rule_id="R1", description="größer – 変更", severity="high"),) if number % 3 == 0 else (),
        "duration_ms": 12.5, "session_id": f"session-{number % 3}", "agent_id": f"agent-{number % 2}",
    }  # fmt: skip
    return RunEvent(**(fields | changes))


def spool_line(number: int, **changes: Any) -> bytes:
    """Return a line as the hook writes it."""
    line: dict[str, Any] = {
        "v": 1, "at": 1_700_000_000 + number, "us": 400, "host": "claude", "event": "PreToolUse",
        "session": f"session-{number % 3}", "agent": "", "cwd": "/work", "tool": "Bash", "decision": "allow",
        "subject": f"{number:064x}", "rules": [],
    }  # fmt: skip
    return json.dumps(line | changes, separators=(",", ":")).encode() + b"\n"
