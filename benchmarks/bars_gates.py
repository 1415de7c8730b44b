"""The destructive gate against twelve regular expressions in Node and in Python, and against a parse by tree-sitter.

The same commands of about 60 characters go through every contender, in turns, and each in a loop of its own process: no
process is started and no event is decoded within the time. Ours judges each command whole (read, options, rules, paths)
from a list of Python texts to a decision each, in one native call; the expressions only search, a parse only parses.
Nothing remembers a command that it met. One thread, but for the row about threads: how much faster two of them can be
is the machine's affair, so they are compared with two processes that judge at the same time.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.judging import Row

COMMANDS: Final = (
    "git commit -m 'fix the parser of rule files' --no-edit src/a.py",
    "npm run build -- --mode production && npm run test:unit -- -u",
    "kubectl get pods -n staging -o wide --context dev-cluster-1 -w",
    "python3 -m pytest -q tests/gates --maxfail=1 -k 'not slow' -x",
    "docker compose -f compose.yml logs -f --tail 100 api worker db",
    "git push --force origin main && git status --short --branch -u",
)
EXPRESSIONS: Final = (
    r"\brm\s+-[a-z]*r[a-z]*\b", r"\bgit\s+push\b.*--force\b", r"\bgit\s+reset\s+--hard\b", r"\bgit\s+clean\s+-[a-z]*f",
    r"\bdrop\s+(table|database|schema|index)\b", r"\btruncate\s+table\b", r"\bdelete\s+from\s+\w+\s*$",
    r"\balter\s+table\s+\w+\s+drop\b",
    r"\bformat\s+[a-z]:", r"\bdel\s+/[sf]\b", r"\b(kubectl|helm)\s+delete\b.*--all\b", r"\bmkfs(\.\w+)?\s+/dev/",
)  # fmt: skip
TIMES: Final = 1_000
# A thread takes as long to start as some hundred commands to judge: what compares threads judges many more.
TIMES_THREADS: Final = 8 * TIMES
ROUNDS: Final = 7
_ROOT: Final = Path(__file__).resolve().parents[1]
_NODE: Final = """
const {commands, expressions, times} = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const all = expressions.map((text) => new RegExp(text, 'i'));
let found = 0;
const round = () => { for (const c of commands) for (const e of all) if (e.test(c)) found += 1; };
for (let i = 0; i < 3000; i++) round();
const taken = [];
for (let k = 0; k < 15; k++) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < times; i++) round();
  taken.push(Number(process.hrtime.bigint() - start) / times / commands.length / 1e3);
}
taken.sort((a, b) => a - b);
console.log(JSON.stringify({us: taken[7], found}));
"""


def _microseconds(call: Callable[[], object], calls: int, times: int = 3) -> float:
    taken: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(taken)


def _ours(threads: int = 1, times: int = TIMES) -> Callable[[], float]:
    from tipstaff import EnforcementGates, GateConfig
    from tipstaff.gates.judging.surroundings import site_of

    gates = EnforcementGates(GateConfig(read_files=False))
    site = site_of("/home/dev/proj", "/home/dev", "/tmp", files=False)
    many = list(COMMANDS) * times
    settings = gates._settings
    judge = gates._policy.native.decisions
    return lambda: _microseconds(lambda: judge(many, site, settings, 0, threads), len(many))


def _node() -> Callable[[], float] | str:
    node = shutil.which("node")
    if node is None:
        return "node is not installed"
    given = json.dumps({"commands": COMMANDS, "expressions": EXPRESSIONS, "times": TIMES})

    def measure() -> float:
        done = subprocess.run([node, "-e", _NODE], input=given, capture_output=True, text=True, check=True)
        return float(json.loads(done.stdout)["us"])

    return measure


def _python() -> Callable[[], float]:
    compiled = [re.compile(text, re.IGNORECASE) for text in EXPRESSIONS]

    def search() -> None:
        for command in COMMANDS * 20:
            for expression in compiled:
                expression.search(command)

    return lambda: _microseconds(search, 20 * len(COMMANDS))


def _tree_sitter() -> Callable[[], float] | str:
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError as error:
        return f"not installed: {error.name}"
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    texts = [command.encode() for command in COMMANDS] * 20
    return lambda: _microseconds(lambda: [parser.parse(text) for text in texts], len(texts))


def worker() -> None:
    """Judge the commands once for each line that is read; one of two processes at the same time."""
    measure = _ours(times=TIMES_THREADS)
    print("ready", flush=True)
    for _ in sys.stdin:
        measure()
        print("done", flush=True)


@contextmanager
def _two_processes() -> Iterator[Callable[[], float]]:
    start = [sys.executable, "-c", "from benchmarks.bars_gates import worker; worker()"]
    workers: list[subprocess.Popen[str]] = []

    def begin() -> subprocess.Popen[str]:
        return subprocess.Popen(start, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def turn(say: str) -> None:
        for one in workers:
            assert one.stdin is not None
            one.stdin.write(say)
            one.stdin.flush()
        for one in workers:
            assert one.stdout is not None
            if not one.stdout.readline():
                raise RuntimeError("a process that was to judge beside another one has ended")

    try:
        workers.extend(begin() for _ in range(2))
        turn("")
        yield lambda: _microseconds(lambda: turn("go\n"), 2 * 3 * len(COMMANDS) * TIMES_THREADS)
    finally:
        for one in workers:
            one.communicate()


def gates() -> Sequence[Row]:
    """Measure the bars of one command."""
    contenders = (
        ("a command of 60 characters, times as fast as 12 expressions in Node", "GATE_60_CHARS_VS_NODE", _node()),
        ("the same, times as fast as a parse by tree-sitter-bash", "GATE_60_CHARS_VS_TREE_SITTER", _tree_sitter()),
        ("the same, times as fast as 12 expressions in Python", "GATE_60_CHARS_VS_PYTHON_RE", _python()),
    )
    ours = _ours()
    own: dict[str, list[float]] = {budget: [] for _, budget, _ in contenders}
    others: dict[str, list[float]] = {budget: [] for _, budget, _ in contenders}
    for _ in range(ROUNDS):
        for _, budget, measure in contenders:
            if not isinstance(measure, str):
                own[budget].append(ours())
                others[budget].append(measure())
    return [
        Row(name, budget, [], False, measure)
        if isinstance(measure, str)
        else Row(name, budget, [_ratio(own[budget], others[budget])], False, _times(own[budget], others[budget]))
        for name, budget, measure in contenders
    ]


def threads() -> Sequence[Row]:
    """Measure the bar of two threads."""
    alone, together = _ours(times=TIMES_THREADS), _ours(threads=2, times=TIMES_THREADS)
    one: list[float] = []
    own: list[float] = []
    others: list[float] = []
    with _two_processes() as processes:
        for _ in range(ROUNDS):
            one.append(alone())
            own.append(together())
            others.append(processes())
    name = "commands in two threads, times as fast as in two processes"
    remark = f"{_times(own, others)}; one thread {statistics.median(one):.2f} us"
    return [Row(name, "GATE_THREADS_VS_PROCESSES", [_ratio(own, others)], False, remark)]


def _ratio(own: list[float], others: list[float]) -> float:
    # Both of a round are measured one right after the other: a shared machine is faster in some rounds.
    return statistics.median(two / one for one, two in zip(own, others, strict=True))


def _times(own: list[float], others: list[float]) -> str:
    return f"ours {statistics.median(own):.2f} us, the other {statistics.median(others):.2f} us"


if __name__ == "__main__":
    for row in (*gates(), *threads()):
        print(f"{row.name}: {row.value} (required {row.required}) {row.remark}")
