"""Compiles the example repository, lints it, and retrieves rules for three tasks: what ``make demo`` runs.

Nothing is written beside the example: its store is kept in a temporary folder.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from tipstaff.cli.output import COLOURS, Painter, counted
from tipstaff.guidance.lint import lint_repository
from tipstaff.guidance.project import open_project
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.model import PolicyBundle, Severity

ORCHARD = Path(__file__).resolve().parent / "orchard"
TASKS = (
    ("Fix the delivery day that is wrong around midnight", "api/orders.py"),
    ("Add a field for a discount code to the basket", "web/src/basket.ts"),
    ("Deploy the new version to production before the weekend", "infra/main.tf"),
)
CALLS = 500
WIDTH = 110

paint = Painter()


def main() -> None:
    """Show each step with what it took."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "orchard.store"
        began = time.perf_counter()
        with open_project(ORCHARD, store=store) as project:
            first = time.perf_counter() - began
            show_compiled(project.bundle, first)
        began = time.perf_counter()
        with open_project(ORCHARD, store=store) as project:
            again = time.perf_counter() - began
            show(f"opened again, unchanged: {again * 1e3:.2f} ms")
            show_findings()
            retriever = project.retriever()
            for task, path in TASKS:
                show_task(retriever, task, path)


def show(text: str = "") -> None:
    """Print a line."""
    sys.stdout.write(f"{text}\n")


def title(text: str) -> None:
    """Print a heading."""
    show()
    show(paint(text, bold=True))


def short(text: str, chars: int) -> str:
    """Return a text cut to a number of characters."""
    return text if len(text) <= chars else f"{text[: chars - 1].rstrip()}…"


def show_compiled(bundle: PolicyBundle, seconds: float) -> None:
    """Print what was compiled, and the constitution as a model reads it."""
    manifest = bundle.manifest
    title(f"compile {ORCHARD.parent.name}/{ORCHARD.name}")
    show(
        f"{counted(manifest.total_rules, 'rule')} from {counted(len(manifest.source_hashes), 'file')}: "
        f"{manifest.constitution_rules} always loaded, {manifest.shard_rules} loaded for tasks; {seconds * 1e3:.1f} ms"
    )
    for line in bundle.constitution.text.splitlines():
        show(paint(f"  | {short(line, WIDTH)}", dim=True))


def show_findings() -> None:
    """Print the linter's errors and warnings, and how many infos there are."""
    began = time.perf_counter()
    report = lint_repository(ORCHARD)
    seconds = time.perf_counter() - began
    title("lint")
    infos = 0
    for found in report.diagnostics:
        if found.severity is Severity.INFO:
            infos += 1
            continue
        severity = paint(found.severity.value, COLOURS[found.severity])
        show(f"  {found.source}:{found.line}: {severity} {found.code} {short(found.message, WIDTH - 40)}")
    show(f"  and {counted(infos, 'info', 'infos')}; {seconds * 1e3:.1f} ms")


def show_task(retriever: ShardRetriever, task: str, path: str) -> None:
    """Print the rules for a task, why each was chosen, and how long it took."""
    began = time.perf_counter()
    result = retriever.retrieve(task, repo_scope=path)
    first = time.perf_counter() - began
    times: list[float] = []
    for _ in range(CALLS):
        began = time.perf_counter()
        retriever.retrieve(task, repo_scope=path)
        times.append(time.perf_counter() - began)
    title(f"retrieve “{task}”, working on {path}")
    show(f"  intent {result.detected_intent} ({result.confidence:.0%} sure)")
    for found in result.shards:
        rule = found.shard.rule
        show(f"  {found.similarity:.2f} {paint(rule.id, bold=True)} {short(rule.text, WIDTH - 30)}")
        show(paint(f"       {found.reason}; {rule.path}:{rule.line}", dim=True))
    for dropped in result.dropped:
        show(f"  left out {dropped.id}: {dropped.reason}")
    typical = statistics.median(times) * 1e6
    show(f"  first call {first * 1e6:,.0f} µs, then {typical:,.0f} µs (median of {CALLS} calls)")


if __name__ == "__main__":
    main()
