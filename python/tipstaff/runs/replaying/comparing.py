"""Replay: what a changed policy, configuration or rule set would have decided of recorded calls and tasks.

Nothing is run, and no file of this machine is looked at, so the same inputs give the same report.
"""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from tipstaff.errors import ConfigError, SourceError, SourceNotFoundError
from tipstaff.gates.config import GateConfig
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.gates.results import DECISIONS, GateResult, aggregate_decision
from tipstaff.gates.secrets.scanner import redact
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.model import PolicyBundle, Record
from tipstaff.processors import usable_processors
from tipstaff.runs.evaluators.evaluating import command_of
from tipstaff.runs.statistics.metrics import wilson_interval

COMMAND_TOOLS: Final = frozenset("Bash bash shell run_shell_command local_shell exec_command run_terminal_cmd".split())
"""Tools whose one parameter that counts is ``command``."""

EXAMPLES: Final = 20
HOME: Final = "/home/user"
TEMPORARY: Final = "/tmp"  # noqa: S108 - a name in recorded commands, nothing is written
_SUFFIXES: Final = frozenset({".parquet", ".arrow", ".feather", ".ipc"})
_KNOWN: Final = ("command", "tool", "params", "cwd", "tools_used", "task")
PART_ROWS: Final = 200_000
"""About how many rows a process of a cluster is handed at a time."""
_CHUNK: Final = 20_000
_LONGEST: Final = 500

Progress = Callable[[int, int], None]
Spread = Callable[[Callable[["CallsPart"], "Compared"], Sequence["CallsPart"]], Iterable["Compared"]]
"""Calls a function for each part, wherever it likes, and gives what it returns in their order."""


class CallExample(Record, frozen=True, kw_only=True):
    """One call of which the decision would differ; secrets in it are masked."""

    tool: str
    text: str
    cwd: str
    before: str
    after: str
    rules: tuple[str, ...]
    count: int


class TaskExample(Record, frozen=True, kw_only=True):
    """One task for which other rules would be retrieved."""

    task: str
    gone: tuple[str, ...]
    new: tuple[str, ...]
    count: int


class ReplayReport(Record, frozen=True, kw_only=True):
    """What would differ.

    Attributes
    ----------
    total, changed
        Recorded calls, and those of which the decision would differ.
    changed_interval
        Wilson interval of their share, at 95 %.
    by_rule
        Calls whose decision differs, by the rule that decides it on the stricter side; the most frequent first.
    transitions
        Calls by ``before -> after``, those that do not differ included.
    examples
        The most frequent of the distinct calls that differ.
    tasks, tasks_changed, tasks_interval
        The same of recorded tasks: those that would be given other rules.
    rules_gone, rules_new
        Tasks by the rule that they would not be given any more, or newly.
    task_examples
        The most frequent of the tasks that differ.
    """

    total: int
    changed: int
    changed_interval: tuple[float, float]
    by_rule: dict[str, int]
    transitions: dict[str, int]
    examples: tuple[CallExample, ...]
    tasks: int = 0
    tasks_changed: int = 0
    tasks_interval: tuple[float, float] = (0.0, 1.0)
    rules_gone: dict[str, int] = {}  # noqa: RUF012 - msgspec copies it
    rules_new: dict[str, int] = {}  # noqa: RUF012 - as above
    task_examples: tuple[TaskExample, ...] = ()


def replay(
    calls: str | Path | Any,
    *,
    before: Any,
    after: Any,
    threads: int | None = None,
    progress: Progress | None = None,
    spread: Spread | None = None,
) -> ReplayReport:
    """Compare what two policies decide of recorded calls, and which rules two rule sets give recorded tasks.

    Parameters
    ----------
    calls
        A Parquet or Arrow file, a folder of them, or a ``pyarrow.Table``, with columns ``command``, or ``tool`` and
        ``params`` (JSON); ``cwd``; and ``task`` for tasks.
    before, after
        `EnforcementGates`, a `GateConfig`, a list of packs, or a repository's folder (its packs and rules); for tasks a
        `PolicyBundle` or a folder. Tasks are left out where neither has rules.
    threads
        As many as there are processors if None.
    progress
        Called with the number of distinct calls done and their number.
    spread
        Where files are judged in parts: ``Cluster.map`` of `tipstaff.cluster`. The report is the same.

    Raises
    ------
    SourceNotFoundError, SourceError
        The calls cannot be read.
    ConfigError
        `before` or `after` is nothing to judge by.
    """
    comparison = Comparison(_gates_of(before), _gates_of(after), 1 if spread else threads or usable_processors())
    parts: Iterable[Compared] = (
        [comparison.of_parts(calls_parts(calls), progress)]
        if spread is None
        else spread(comparison.of_part, calls_parts(calls, PART_ROWS))
    )
    total = 0
    transitions: Counter[tuple[int, int]] = Counter()
    differing: dict[Call, Differing] = {}
    tasks: Counter[str] = Counter()
    for part in parts:
        total += part.total
        transitions.update(part.transitions)
        tasks.update(part.tasks)
        for call, one in part.differing.items():
            known = differing.get(call)
            differing[call] = one if known is None else one._replace(times=known.times + one.times)
    found = _calls_reported(total, transitions, differing)
    if tasks and (_has_rules(before) or _has_rules(after)):
        found |= _tasks_compared(tasks, before, after)
    return ReplayReport(**found)


# -- calls -------------------------------------------------------------------------------------------------------------


class Call(NamedTuple):
    """One call as it was recorded: a command (no tool), or a tool and its parameters as JSON; cwd may be empty."""

    tool: str
    text: str
    cwd: str

    def event(self) -> dict[str, Any]:
        """Return it as `EnforcementGates.evaluate_batch` takes it."""
        params = _decoded(self.text) if self.tool else {"command": self.text}
        return {"tool": self.tool or "Bash", "params": params, "cwd": self.cwd or None}


class CallsPart(NamedTuple):
    """Some rows of recorded calls: row groups of a Parquet file, else rows; the whole source where `stop` is None."""

    source: Any
    start: int = 0
    stop: int | None = None

    def tables(self) -> Iterator[Any]:
        """Yield its rows as tables, a row group at a time where the file has them."""
        import pyarrow.feather
        import pyarrow.parquet as pq

        if not isinstance(self.source, str):
            yield self.source
        elif _is_arrow(self.source):
            table = pyarrow.feather.read_table(self.source, memory_map=True)
            yield table.slice(self.start, None if self.stop is None else self.stop - self.start)
        else:
            with pq.ParquetFile(self.source) as file:
                for group in range(self.start, file.num_row_groups if self.stop is None else self.stop):
                    yield file.read_row_group(
                        group, columns=[name for name in _KNOWN if name in file.schema_arrow.names]
                    )


def calls_parts(calls: str | Path | Any, rows: int | None = None) -> list[CallsPart]:
    """Divide recorded calls: a table of Arrow, a file, or a folder of Parquet and Arrow files.

    Parameters
    ----------
    calls
        As of `replay`.
    rows
        About how many make a part; None for a part each file.

    Raises
    ------
    SourceNotFoundError
        There is no such file, or no table in the folder.
    SourceError
        It is not a table of calls: it has neither ``command``, nor ``tool`` and ``params``, nor ``task``, nor
        ``tools_used``.
    """
    import pyarrow as pa

    if isinstance(calls, pa.Table):
        table: Any = calls
        _check_names(table.column_names)
        return [CallsPart(table)]
    path = Path(calls)
    if not path.exists():
        raise SourceNotFoundError(f"{path}: there is no such file")
    files = sorted(one for one in path.rglob("*") if one.suffix in _SUFFIXES) if path.is_dir() else [path]
    if not files:
        raise SourceNotFoundError(f"{path}: no Parquet or Arrow file is in this folder")
    return [part for file in files for part in _file_parts(str(file), rows)]


def _file_parts(file: str, rows: int | None) -> Iterator[CallsPart]:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq

    try:
        if _is_arrow(file):
            table = pyarrow.feather.read_table(file, memory_map=True)
            unit = rows or max(1, table.num_rows)
            names, sizes = table.column_names, [unit] * -(-table.num_rows // unit)
        else:
            with pq.ParquetFile(file) as opened:
                names = opened.schema_arrow.names
                sizes = [opened.metadata.row_group(group).num_rows for group in range(opened.num_row_groups)]
            unit = 1
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{file}: not a Parquet or Arrow file: {error}") from error
    _check_names(names)
    start = held = 0
    for number, size in enumerate(sizes, 1):
        held += size
        if rows is not None and held >= rows:
            yield CallsPart(file, start * unit, number * unit)
            start, held = number, 0
    if start < len(sizes):
        yield CallsPart(file, start * unit, len(sizes) * unit)


def _is_arrow(file: str) -> bool:
    return Path(file).suffix in _SUFFIXES - {".parquet"}


def _check_names(names: Sequence[str]) -> None:
    known = set(names)
    if not known & {"command", "task", "tools_used"} and not {"tool", "params"} <= known:
        raise SourceError(
            "a table of calls has a column command, or tool and params, or task, or is a ledger's export; this one has "
            f"{', '.join(names)}"
        )


def _columns(table: Any, *names: str) -> Iterator[tuple[Any, ...]]:
    """Yield the values of columns row by row; None where there is no such column."""
    import pyarrow as pa

    known = [name for name in names if name in table.column_names]
    for name in known:
        kind = table.schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) or pa.types.is_list(kind) else kind
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)
        if not is_text or (name != "tools_used" and pa.types.is_list(table.schema.field(name).type)):
            raise SourceError(f"column {name} holds {table.schema.field(name).type}; it must hold text")
    for batch in table.select(known).to_batches(max_chunksize=_CHUNK):
        columns = {name: batch.column(name).to_pylist() for name in known}
        yield from zip(*(columns.get(name, repeat(None, batch.num_rows)) for name in names), strict=True)


def count_calls(table: Any, calls: Counter[Call], tasks: Counter[str]) -> None:
    """Count the distinct calls and tasks of a table, in the order in which each was first recorded."""
    for command, tool, params, cwd, used, task in _columns(table, *_KNOWN):
        for entry in used or ():  # of an exported run, which names calls as evaluators read them
            calls[Call("", command_of(entry), "")] += 1
        text = command
        if text is None and tool in COMMAND_TOOLS and params:
            given = _decoded(params)
            text = given.get("command") if isinstance(given, dict) else None
        if isinstance(text, str):
            calls[Call("", text, cwd or "")] += 1
        elif params:
            calls[Call(tool or "Bash", params, cwd or "")] += 1
        if task:
            tasks[task] += 1


def _decoded(text: str) -> Any:
    """Return parameters, lone surrogates included; a text that is not JSON stands for a command."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {"command": text}


class Differing(NamedTuple):
    """How often a call was recorded of which the decision differs, and by which rules."""

    before: int
    after: int
    rules: tuple[str, ...]
    times: int


class Compared(NamedTuple):
    """What two policies decide of some recorded calls, and the tasks beside them."""

    total: int
    transitions: Counter[tuple[int, int]]
    differing: dict[Call, Differing]
    tasks: Counter[str]


class Comparison(NamedTuple):
    """Compares two policies; it can be sent to another process."""

    before: EnforcementGates
    after: EnforcementGates
    threads: int

    def of_part(self, part: CallsPart) -> Compared:
        """Compare them on one part."""
        return self.of_parts([part])

    def of_parts(self, parts: Sequence[CallsPart], progress: Progress | None = None) -> Compared:
        """Compare them on all parts as one: a call that is recorded in many is judged once."""
        calls: Counter[Call] = Counter()
        tasks: Counter[str] = Counter()
        for part in parts:
            for table in part.tables():
                count_calls(table, calls, tasks)
        transitions: Counter[tuple[int, int]] = Counter()
        differing: dict[Call, Differing] = {}
        entries = list(calls.items())
        for start in range(0, len(entries), _CHUNK):
            some = entries[start : start + _CHUNK]
            events = [call.event() for call, _ in some]
            judged = (gates.evaluate_batch(events, threads=self.threads) for gates in (self.before, self.after))
            for (call, count), old, new in zip(some, *judged, strict=True):
                was, becomes = (DECISIONS.index(aggregate_decision(one)) if one else 0 for one in (old, new))
                transitions[was, becomes] += count
                if was != becomes:
                    differing[call] = Differing(was, becomes, _deciding(new if becomes > was else old), count)
            if progress is not None:
                progress(start + len(some), len(entries))
        return Compared(sum(calls.values()), transitions, differing, tasks)


def _calls_reported(
    total: int, transitions: Counter[tuple[int, int]], differing: dict[Call, Differing]
) -> dict[str, Any]:
    by_rule: Counter[str] = Counter()
    for one in differing.values():
        by_rule[one.rules[0]] += one.times
    changed = sum(one.times for one in differing.values())
    shown = heapq.nlargest(EXAMPLES, differing.items(), key=lambda item: item[1].times)
    return {
        "total": total, "changed": changed, "changed_interval": wilson_interval(changed, total),
        "by_rule": _ranked(by_rule),
        "examples": tuple(
            CallExample(
                tool=call.tool or "Bash", text=redact(call.text)[:_LONGEST], cwd=call.cwd,
                before=DECISIONS[one.before], after=DECISIONS[one.after], rules=one.rules, count=one.times,
            )
            for call, one in shown
        ),
        "transitions": {
            f"{DECISIONS[was]} -> {DECISIONS[becomes]}": count for (was, becomes), count in sorted(transitions.items())
        },
    }  # fmt: skip


def _deciding(results: list[GateResult]) -> tuple[str, ...]:
    """Return the rules by which results come to their decision, the first one foremost."""
    decision = aggregate_decision(results)
    rules: dict[str, None] = {}
    for result in results:
        if result.decision == decision:
            findings: list[dict[str, Any]] = result.metadata.get("findings") or [{}]
            for finding in findings:
                if finding.get("decision", decision) == decision:
                    rules[finding.get("rule_id") or result.gate_name] = None
    return tuple(rules)


# -- tasks -------------------------------------------------------------------------------------------------------------


def _tasks_compared(counts: Counter[str], before: Any, after: Any) -> dict[str, Any]:
    tasks, times = list(counts), list(counts.values())
    old, new = (_retrieved(_retriever_of(one), tasks) for one in (before, after))
    gone: dict[str, int] = {}
    added: dict[str, int] = {}
    examples: list[TaskExample] = []
    for task, count, one, other in zip(tasks, times, old, new, strict=True):
        lost, won = tuple(sorted(one - other)), tuple(sorted(other - one))
        for rule in lost:
            gone[rule] = gone.get(rule, 0) + count
        for rule in won:
            added[rule] = added.get(rule, 0) + count
        if lost or won:
            examples.append(TaskExample(task=task[:_LONGEST], gone=lost, new=won, count=count))
    changed, total = sum(one.count for one in examples), sum(times)
    examples.sort(key=lambda one: -one.count)
    return {
        "tasks": total, "tasks_changed": changed, "tasks_interval": wilson_interval(changed, total),
        "rules_gone": _ranked(gone), "rules_new": _ranked(added), "task_examples": tuple(examples[:EXAMPLES]),
    }  # fmt: skip


def _retrieved(retriever: ShardRetriever, tasks: list[str]) -> list[frozenset[str]]:
    return [frozenset(one.shard.rule.id for one in result.shards) for result in retriever.retrieve_batch(tasks)]


def _has_rules(given: Any) -> bool:
    return isinstance(given, PolicyBundle | ShardRetriever) or (isinstance(given, str | Path) and Path(given).is_dir())


def _retriever_of(given: Any) -> ShardRetriever:
    from tipstaff.guidance.project import compile_repository

    if isinstance(given, ShardRetriever):
        return given
    if isinstance(given, PolicyBundle):
        return ShardRetriever(given)
    if isinstance(given, str | Path) and Path(given).is_dir():
        return ShardRetriever(compile_repository(given))
    raise ConfigError(
        f"tasks are compared between rule sets: a PolicyBundle or a repository, not {type(given).__name__}"
    )


def _gates_of(given: Any) -> EnforcementGates:
    if isinstance(given, EnforcementGates):
        gates = given
    elif given is None or isinstance(given, GateConfig | PolicyBundle | ShardRetriever):
        gates = EnforcementGates(given if isinstance(given, GateConfig) else None)
    elif isinstance(given, str | Path):
        path = Path(given)
        if not path.exists():
            raise ConfigError(f"{path}: there is no such folder or pack")
        gates = EnforcementGates.for_repository(path) if path.is_dir() else EnforcementGates(packs=[path])
    elif isinstance(given, Sequence):
        gates = EnforcementGates(packs=cast("Sequence[str | Path]", given))
    else:
        raise ConfigError(f"{type(given).__name__} is not a policy; use EnforcementGates, a GateConfig or a folder")
    return gates.offline(home=HOME, temporary=TEMPORARY)


def _ranked(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
