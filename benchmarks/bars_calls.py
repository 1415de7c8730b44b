"""What a public call costs from Python: the call, the native kernel in it, the wrapper around that, and many threads.

One call is timed by processor time and its kernel beside it in turns, the least of many short rounds each: other work
on the machine takes rounds away, never time off. "Threads" is the throughput of four threads on two processors as a
multiple of one's, of rounds that are long enough for the interpreter to change threads; the best of many, for the same
reason. Small calls hold the interpreter's lock, since giving it away costs more than they do; large ones give it away.

``python -m benchmarks.bars_calls`` prints the table of docs/performance.md.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.judging import Row
from benchmarks.peers.install import PeerUnavailableError
from benchmarks.peers.node import NodePeer

from tipstaff.store.fingerprints import RACY_NS

COMMAND: Final = "git commit -m 'fix the parser of rule files' --no-edit src/a.py"
SCRIPT: Final = "\n".join(f"git commit -m 'fix the parser of rule {at}' src/a{at}.py" for at in range(700))
PROSE: Final = "The quick brown fox reads every file of this folder and says nothing about it. "
TASK: Final = "Fix the rounding of the refund total in the billing service"
REPOSITORY: Final = Path(__file__).parent.parent / "examples" / "orchard"
ROUNDS: Final = 25
ROUND_S: Final = 0.004
THREADS: Final = 4
SMALL_ROUNDS: Final = (0.03, 30)
"""Seconds and number of the rounds with threads: longer than the 5 ms after which the interpreter changes threads."""
LARGE_ROUNDS: Final = (0.003, 120)
"""Short, so that of many some meet both processors idle."""


class Measured(NamedTuple):
    """A call, in microseconds.

    Attributes
    ----------
    name
        What is called, with what.
    call, kernel
        The whole call, and the native part alone; `kernel` is None where there is none.
    threads
        Throughput of four threads, times that of one.
    large
        Whether the interpreter's lock should be given away meanwhile.
    """

    name: str
    call: float
    kernel: float | None
    threads: float
    large: bool


class Contender(NamedTuple):
    """A public call, and the native call that it comes down to."""

    name: str
    call: Callable[[], object]
    kernel: Callable[[], object] | None = None
    large: bool = False


def contenders() -> list[Contender]:
    """Return what is measured."""
    from benchmarks import inputs
    from tipstaff import (
        EnforcementGates,
        GuidanceControlPlane,
        HashEmbedding,
        ShardRetriever,
        StaticEmbedding,
        aggregate_decision,
        classify_intent,
        compile_guidance,
        compile_repository,
        lint_repository,
        open_project,
        redact,
        redact_data,
        scan_secrets,
    )
    from tipstaff.context import estimate_message, estimate_tokens, estimate_tools, truncate
    from tipstaff.gates.secrets.scanner import default_scanner

    gates = EnforcementGates()
    gates.evaluate_command(COMMAND)
    site, judge, find = gates._sites[None], gates._judge, default_scanner().table.find
    shell, write = {"command": COMMAND, "description": "Commit it"}, {"file_path": "src/a.py", "content": PROSE * 500}
    asked, long = gates.evaluate_command("git reset --hard"), PROSE * 4000
    retriever = ShardRetriever(inputs.bundle(500), StaticEmbedding())
    short = {"role": "user", "content": [{"type": "text", "text": long[:160]}]}
    message = {"role": "user", "content": [{"type": "text", "text": PROSE * 10}]}
    tools = [{"name": f"t{at}", "description": PROSE, "input_schema": {"type": "object"}} for at in range(10)]
    plane = GuidanceControlPlane()
    rules = "# Rules\n" + "\n".join(
        f"- [R-{at:03}] Totals of kind {at} must be rounded before they are stored." for at in range(20)
    )
    few = compile_guidance(rules)
    hashed, static = HashEmbedding(), StaticEmbedding()
    commands = [COMMAND] * 64
    repository = _a_copy_of(REPOSITORY)
    compiled = compile_repository(repository)
    open_project(repository)
    return [
        Contender(
            "evaluate_command, 60 characters",
            lambda: gates.evaluate_command(COMMAND),
            lambda: judge.command(COMMAND, 0, site),
        ),
        Contender(
            "evaluate_command, a script of 36 KB",
            lambda: gates.evaluate_command(SCRIPT),
            lambda: judge.command(SCRIPT, 0, site),
            True,
        ),
        Contender(
            "evaluate_tool_use, a command",
            lambda: gates.evaluate_tool_use("Bash", shell),
            lambda: judge.call("Bash", shell, 0, site, {}),
        ),
        Contender(
            "evaluate_tool_use, a file of 40 KB",
            lambda: gates.evaluate_tool_use("Write", write),
            lambda: judge.call("Write", write, 0, site, {}),
            True,
        ),
        Contender("evaluate_edit, 80 characters", lambda: gates.evaluate_edit("src/a.py", PROSE, 3)),
        Contender("EnforcementGates.evaluate_batch, 64 commands", lambda: gates.evaluate_batch(commands)),
        Contender("aggregate_decision", lambda: aggregate_decision(asked)),
        Contender("scan_secrets, 160 characters", lambda: scan_secrets(long[:160]), lambda: find(long[:160])),
        Contender("scan_secrets, 320 KB", lambda: scan_secrets(long), lambda: find(long), True),
        Contender("redact, 160 characters", lambda: redact(long[:160]), lambda: find(long[:160])),
        Contender("redact_data, a message of 160 characters", lambda: redact_data(short)),
        Contender("GuidanceControlPlane.evaluate_command", lambda: plane.evaluate_command(COMMAND)),
        Contender("compile_guidance, 20 rules", lambda: compile_guidance(rules)),
        Contender("compile_guidance, 20 rules, none changed", lambda: compile_guidance(rules, previous=few)),
        Contender(
            "compile_repository, the example, nothing changed",
            lambda: compile_repository(repository, previous=compiled),
        ),
        Contender("open_project, the example, nothing changed", lambda: open_project(repository)),
        Contender("lint_repository, the example", lambda: lint_repository(repository)),
        Contender("classify_intent", lambda: classify_intent(TASK)),
        Contender("HashEmbedding.embed, 60 characters", lambda: hashed.embed(TASK)),
        Contender("StaticEmbedding.embed, 60 characters", lambda: static.embed(TASK)),
        Contender("ShardRetriever.retrieve, 500 shards", lambda: retriever.retrieve(TASK)),
        Contender("estimate_tokens, 160 characters", lambda: estimate_tokens(long[:160])),
        Contender("estimate_tokens, 320 KB, seen before", lambda: estimate_tokens(long)),
        Contender("estimate_message, 800 characters", lambda: estimate_message(message)),
        Contender("estimate_tools, ten", lambda: estimate_tools(tools)),
        Contender("truncate, 3 KB to 1 KB", lambda: truncate(long[:3000], 1000)),
        Contender("truncate, 320 KB to 100 KB", lambda: truncate(long, 100_000)),
    ]


def _a_copy_of(repository: Path) -> Path:
    # Opening it writes its store.
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copied = shutil.copytree(repository, folder / repository.name)
    time.sleep(RACY_NS / 1e9 + 0.1)  # folders younger than that are read again whenever it is opened
    return copied


def least_us(calls: Sequence[Callable[[], object]]) -> list[float]:
    """Return the processor time of one call of each, the least of rounds in which they take turns."""
    counts = [_count(call, ROUND_S) for call in calls]
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for at, call in enumerate(calls):
            start = time.thread_time_ns()
            for _ in range(counts[at]):
                call()
            best[at] = min(best[at], (time.thread_time_ns() - start) / counts[at] / 1e3)
    return best


def _count(call: Callable[[], object], seconds: float) -> int:
    # Of several: one alone may be interrupted by other work for longer than all of them take.
    least = 1.0
    for _ in range(20):
        start = time.perf_counter()
        call()
        least = min(least, time.perf_counter() - start)
    return max(1, int(seconds / max(least, 1e-7)))


def throughput(call: Callable[[], object], seconds: float, rounds: int) -> float:
    """Return how many times as many calls four threads make as one, the best rounds of each."""
    count = _count(call, seconds)
    gate = threading.Barrier(THREADS + 1)
    stamps: list[tuple[float, float]] = []  # when each thread of a round began and ended

    def work() -> None:
        for _ in range(rounds):
            gate.wait()
            began = time.perf_counter()
            for _ in range(count):
                call()
            stamps.append((began, time.perf_counter()))
            gate.wait()

    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for one in threads:
        one.start()
    together = alone = float("inf")
    for _ in range(rounds):
        stamps.clear()
        gate.wait()
        gate.wait()
        together = min(together, max(end for _, end in stamps) - min(began for began, _ in stamps))
        start = time.perf_counter()
        for _ in range(count):
            call()
        alone = min(alone, time.perf_counter() - start)
    for one in threads:
        one.join()
    return THREADS * alone / together


@cache
def measured() -> tuple[Measured, ...]:
    """Measure every call."""
    found: list[Measured] = []
    for one in contenders():
        call, *kernel = least_us([one.call, *([one.kernel] if one.kernel else [])])
        found.append(
            Measured(
                one.name,
                call,
                kernel[0] if kernel else None,
                throughput(one.call, *(LARGE_ROUNDS if one.large else SMALL_ROUNDS)),
                one.large,
            )
        )
    return tuple(found)


def _named(name: str) -> Measured:
    return next(one for one in measured() if one.name.startswith(name))


def calls() -> list[Row]:
    """Judge the two calls before each tool."""
    command, tool = _named("evaluate_command"), _named("evaluate_tool_use")
    rows = [
        Row("evaluate_command, a harmless one, us", "CALL_COMMAND_US", [command.call], True, _parts(command)),
        Row("evaluate_tool_use, a harmless command, us", "CALL_TOOL_US", [tool.call], True, _parts(tool)),
    ]
    name = "evaluate_command, times the reference's under Node"
    try:
        with NodePeer() as peer:
            judged = peer.prepare("gates", commands=[COMMAND], times=2000)
            theirs = min(peer.time("gates", times=15, warm=10).seconds) / judged * 1e6
    except PeerUnavailableError as error:
        return [*rows, Row(name, "CALL_COMMAND_VS_NODE", [], True, str(error))]
    return [*rows, Row(name, "CALL_COMMAND_VS_NODE", [command.call / theirs], True, f"Node {theirs:.2f} us")]


def threads() -> list[Row]:
    """Judge four threads: none of the small calls may lose by them, the large ones gain."""
    small = [one for one in measured() if not one.large]
    large = [one for one in measured() if one.large]
    least, most = min(small, key=lambda one: one.threads), min(large, key=lambda one: one.threads)
    return [
        Row(
            "small calls in four threads, times one, the worst",
            "CALL_SMALL_THREADS_VS_ONE",
            [least.threads],
            False,
            least.name,
        ),
        Row(
            "large calls in four threads, times one, the worst",
            "CALL_LARGE_THREADS_VS_ONE",
            [most.threads],
            False,
            most.name,
        ),
    ]


def _parts(one: Measured) -> str:
    return "" if one.kernel is None else f"kernel {one.kernel:.2f}, wrapper {one.call - one.kernel:.2f}"


def table() -> list[str]:
    """Return the table for the page."""
    lines = ["| call | whole, us | kernel | wrapper | four threads |", "|---|---:|---:|---:|---:|"]
    for one in measured():
        kernel = "" if one.kernel is None else f"{one.kernel:.2f}"
        wrapper = "" if one.kernel is None else f"{max(one.call - one.kernel, 0):.2f}"
        lines.append(f"| {one.name} | {one.call:.2f} | {kernel} | {wrapper} | {one.threads:.2f} |")
    return lines


def main() -> None:
    """Print the table, and the bars as JSON."""
    print("\n".join(table()))
    found: list[dict[str, Any]] = [
        {"bar": row.name, "value": row.value, "required": row.required} for row in (*calls(), *threads())
    ]
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
