"""The story of a change: a task that is too large, divided; checks that fail and pass; what its reviewer reads.

Part of ``make demo``. It works on a copy of the example repository in a temporary folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tipstaff.cli.output import Painter, counted
from tipstaff.review import repository_checks, run_checks
from tipstaff.review.assembly.reviewer import review_context
from tipstaff.review.task_sizing import Task, size_repository_task
from tipstaff.review.verdicts.answer import parse_answer
from tipstaff.review.verdicts.verify import verify_answer

ORCHARD = Path(__file__).resolve().parent / "orchard"
SOP = """---
category: sop
applies_to: "api/*.py"
severity: error
---
# Money

Amounts of money MUST be whole cents in integers.
"""
DECISION = "# Refunds\n\nStatus: accepted\n\nA refund in api/orders.py never exceeds what was paid.\n"
WRONG = "\n\ndef refund(paid_cents: int, share: float) -> int:\n    return round(paid_cents * share\n"
RIGHT = (
    "\n\ndef refund(paid_cents: int, percent: int) -> int:\n    return min(paid_cents, paid_cents * percent // 100)\n"
)
CHECKS = {
    "additional": [
        {"name": "compile", "command": f"{sys.executable} -m py_compile api/orders.py"},
        {"name": "docs", "command": "test -s README.md", "required": False},
    ]
}

paint = Painter()


def main() -> None:
    """Tell the story."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "orchard"
        shutil.copytree(ORCHARD, folder)
        for path, text in ((".tipstaff/sops/money.md", SOP), ("docs/adr/0001-refunds.md", DECISION)):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        (folder / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "-c", "user.name=demo", "-c", "user.email=demo@example.com", "commit", "-q", "-m", "start")
        size(folder)
        orders = folder / "api/orders.py"
        before = orders.read_text(encoding="utf-8")
        orders.write_text(before + WRONG, encoding="utf-8")
        check(folder, "first attempt")
        orders.write_text(before + RIGHT, encoding="utf-8")
        check(folder, "fixed")
        review(folder)


def git(folder: Path, *arguments: str) -> None:
    """Run git without the user's configuration."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-C", str(folder), *arguments]
    subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603 - no input of others


def show(text: str = "") -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")


def title(text: str) -> None:
    """Print a heading."""
    show()
    show(paint(text, bold=True))


def size(folder: Path) -> None:
    """Size a task that is too large, and show how it divides."""
    title("size “Refund orders everywhere”, in api/**, web/** and docs/team/**")
    task = Task(description="Refund orders everywhere", files=("api/**", "web/**", "docs/team/**"))
    found = size_repository_task(folder, task)
    number = counted(len(found.sizing.file_tokens), "file")
    show(f"  {found.sizing.estimate:,} of {found.sizing.limit:,} tokens in {number}")
    show(f"  too large: {', '.join(found.sizing.reasons)}")
    for part in found.decomposition.tasks if found.decomposition is not None else ():
        show(f"  {part.sequence}. {part.estimate:,} tokens: {', '.join(part.files)}")


def check(folder: Path, what: str) -> None:
    """Run the checks, and show what failed and what happens next."""
    title(f"check, {what}")
    report = run_checks(folder, repository_checks(folder, CHECKS))
    for result in report.results:
        show(f"  {result.name} {result.outcome.value} ({result.duration_s * 1e3:.0f} ms)")
        for finding in result.findings:
            show(paint(f"       {finding.path}:{finding.line}: {finding.message}", dim=True))
    show(f"  {report.verdict.action}")


def review(folder: Path) -> None:
    """Show what the reviewer reads, and what two answers mean."""
    title("review assemble")
    context = review_context(folder)
    for name in context.assembly.included:
        show(f"  + {name}")
    for name, reason in context.assembly.omitted_reasons.items():
        show(f"  - {name}: {reason}")
    show(f"  {context.assembly.used:,} tokens used, {context.assembly.remaining:,} remaining")
    title("review verify")
    for quote in ("paid_cents * percent // 100", "Decimal(paid)"):
        evidence = f"api/orders.py `{quote}`"
        entry = {"sop_id": "source.doc.sops.money", "status": "passed", "evidence": evidence}
        answer = parse_answer(json.dumps({"verdict": "approved", "confidence": 0.9, "sop_review": [entry]}))
        outcome = verify_answer(answer, context.severities, folder)
        show(f"  {evidence}: {outcome.action}, {outcome.reason}")


if __name__ == "__main__":
    main()
