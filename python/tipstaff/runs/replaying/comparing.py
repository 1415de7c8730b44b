"""Replay: what a changed policy, configuration or rule set would have decided of recorded calls and tasks.

Nothing is run, and no file of this machine is looked at, so the same inputs give the same report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.gates.config import GateConfig
from tipstaff.gates.judging.engine import CLOSER_LOOK, EnforcementGates
from tipstaff.gates.results import DECISIONS
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.model import PolicyBundle, Record
from tipstaff.processors import usable_processors
from tipstaff.runs.replaying.calls import Calls, distinct_calls, read_calls
from tipstaff.runs.statistics.intervals import wilson_interval

EXAMPLES: Final = 20
HOME: Final = "/home/user"
TEMPORARY: Final = "/tmp"  # noqa: S108 - a name in recorded commands, nothing is written
_CHUNK: Final = 20_000
_LONGEST: Final = 500

Progress = Callable[[int, int], None]


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
    calls: str | Path | Any, *, before: Any, after: Any, threads: int | None = None, progress: Progress | None = None
) -> ReplayReport:
    """Compare what two policies decide of recorded calls, and which rules two rule sets give recorded tasks.

    Parameters
    ----------
    calls
        A Parquet or Arrow file, or a ``pyarrow.Table``, with columns ``command``, or ``tool`` and ``params`` (JSON);
        ``cwd``; and ``task`` for tasks.
    before, after
        `EnforcementGates`, a `GateConfig`, a list of packs, or a repository's folder (its packs and rules); for tasks a
        `PolicyBundle` or a folder. Tasks are left out where neither has rules.
    threads
        As many as there are processors if None.
    progress
        Called with the number of distinct calls done and their number.

    Raises
    ------
    SourceNotFoundError, SourceError
        The calls cannot be read.
    ConfigError
        `before` or `after` is nothing to judge by.
    """
    table = read_calls(calls)
    workers = threads or usable_processors()
    found: dict[str, Any] = {
        "total": 0, "changed": 0, "changed_interval": (0.0, 1.0), "by_rule": {}, "transitions": {}, "examples": (),
    }  # fmt: skip
    if {"command", "params"} & set(table.column_names):
        found |= _calls_compared(distinct_calls(table), _gates_of(before), _gates_of(after), workers, progress)
    if "task" in table.column_names and (_has_rules(before) or _has_rules(after)):
        found |= _tasks_compared(table, before, after)
    return ReplayReport(**found)


# -- calls -------------------------------------------------------------------------------------------------------------


def _calls_compared(
    calls: Calls, before: EnforcementGates, after: EnforcementGates, threads: int, progress: Progress | None
) -> dict[str, Any]:
    import numpy as np

    total = int(calls.counts.sum())
    count = len(calls.counts)

    def report(done: int, of: int, *, first: int) -> None:
        if progress is not None:
            progress(first * count + done, 2 * of)

    old = decided(calls, before, threads, partial(report, first=0))
    new = decided(calls, after, threads, partial(report, first=1))
    rows = np.flatnonzero(old != new)
    pairs = np.bincount(old.astype(np.int64) * 4 + new, weights=calls.counts, minlength=16)
    transitions = {f"{DECISIONS[at // 4]} -> {DECISIONS[at % 4]}": int(pairs[at]) for at in range(16) if pairs[at]}
    changed = int(calls.counts[rows].sum())
    by_rule: dict[str, int] = {}
    examples: list[CallExample] = []
    order = rows[np.argsort(-calls.counts[rows], kind="stable")]
    shown = set(order[:EXAMPLES].tolist())
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        for row, rules in zip(part.tolist(), _deciding(calls, part, old, new, before, after), strict=True):
            times = int(calls.counts[row])
            by_rule[rules[0]] = by_rule.get(rules[0], 0) + times
            if row in shown:
                examples.append(_example(calls, row, DECISIONS[old[row]], DECISIONS[new[row]], rules, times))
    examples.sort(key=lambda one: -one.count)
    return {
        "total": total, "changed": changed, "changed_interval": wilson_interval(changed, total),
        "by_rule": _ranked(by_rule),
        "transitions": transitions, "examples": tuple(examples),
    }  # fmt: skip


def decided(calls: Calls, gates: EnforcementGates, threads: int = 1, progress: Progress | None = None) -> Any:
    """Return the decision of each distinct call: numpy uint8, an index of `DECISIONS`.

    The native engine judges straight from the columns, one thread per processor; calls of tools that may hold a secret,
    or whose parameters are not plain JSON, are judged one by one.
    """
    import numpy as np
    import pyarrow as pa

    out = np.zeros(len(calls.counts), dtype=np.uint8)
    done = 0
    for folder, rows in _by_folder(calls, calls.is_command):
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            texts = calls.texts.take(pa.array(part))
            offsets, data = _buffers(texts)
            out[part] = np.frombuffer(gates.decide_column(offsets, data, cwd=folder, threads=threads), dtype=np.uint8)
            if gates.config.secrets:
                _raise_for_secrets(out, part, texts, gates)
            done += len(part)
            if progress is not None:
                progress(done, len(out))
    for folder, rows in _by_folder(calls, ~calls.is_command):
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            columns = (_buffers(column.take(pa.array(part))) for column in (calls.tools, calls.texts))
            out[part] = np.frombuffer(gates.decide_tool_column(*columns, cwd=folder, threads=threads), dtype=np.uint8)
            closer = part[out[part] == CLOSER_LOOK]
            for row, results in zip(closer.tolist(), _results(calls, closer, gates, threads), strict=True):
                out[row] = max((DECISIONS.index(one.decision) for one in results), default=0)
            done += len(part)
            if progress is not None:
                progress(done, len(out))
    if gates.config.tool_allowlist:
        _raise_for_tools(out, calls, gates)
    return out


def _raise_for_tools(out: Any, calls: Calls, gates: EnforcementGates) -> None:
    """Block the calls whose tool the allowlist does not have."""
    import numpy as np

    from tipstaff.gates.judging.allowlist import is_allowed

    tools = calls.tools.dictionary_encode()
    allowed = [is_allowed(tool or "Bash", gates.config.allowed_tools) for tool in tools.dictionary.to_pylist()]
    out[~np.array(allowed, dtype=bool)[np.asarray(tools.indices)]] = DECISIONS.index("block")


def _raise_for_secrets(out: Any, rows: Any, texts: Any, gates: EnforcementGates) -> None:
    """Raise the decisions of commands that hold secrets.

    All texts are searched as one; those in which something was found are judged again alone, for what is in two of
    them is not a secret.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute

    from tipstaff.gates.secrets.scanner import scan_secrets

    pc: Any = pyarrow.compute
    # The findings' offsets are code points; each text is followed by two line ends.
    ends = np.cumsum(np.asarray(pc.utf8_length(texts)) + 2)
    empty, end = (pa.scalar(text, texts.type) for text in ("", "\n\n"))
    joined = pc.binary_join_element_wise(texts, empty, end).buffers()[2]
    found = scan_secrets(joined.to_pybytes().decode(), wary=True)
    suspects = np.unique(np.searchsorted(ends, [one.start for one in found], side="right")) if found else ()
    for at in suspects:
        results = gates.evaluate_command(texts[int(at)].as_py())
        secret = max((DECISIONS.index(one.decision) for one in results if one.gate_name == "secrets"), default=0)
        out[rows[at]] = max(int(out[rows[at]]), secret)


def _results(calls: Calls, rows: Any, gates: EnforcementGates, threads: int) -> list[Any]:
    """Return the results of some calls, with all that there is to say of them."""
    return gates.evaluate_batch([_event(calls, int(row)) for row in rows], threads=threads)


def _event(calls: Calls, row: int) -> dict[str, Any]:
    text, cwd = calls.texts[row].as_py(), calls.folders[row].as_py() or None
    if calls.is_command[row]:
        return {"command": text, "cwd": cwd}
    try:
        params = msgspec.json.decode(text)
    except msgspec.DecodeError:
        params = {"command": text}
    return {"tool": calls.tools[row].as_py(), "params": params, "cwd": cwd}


def _deciding(
    calls: Calls, rows: Any, old: Any, new: Any, before: EnforcementGates, after: EnforcementGates
) -> Iterator[tuple[str, ...]]:
    """Yield for each call the rules that decide it on the stricter side, the first one foremost."""
    judged = {gates: _results(calls, rows, gates, 1) for gates in (before, after)}
    for at, row in enumerate(rows.tolist()):
        stricter, code = (after, new[row]) if new[row] > old[row] else (before, old[row])
        rules: dict[str, None] = {}
        for result in judged[stricter][at]:
            if result.decision == DECISIONS[code]:
                for finding in result.metadata.get("findings", ()):
                    if finding.get("decision", result.decision) == result.decision:
                        rules[finding.get("rule_id") or result.gate_name] = None
                if not result.metadata.get("findings"):
                    rules[result.gate_name] = None
        yield tuple(rules) or ("tool-allowlist",)


def _example(calls: Calls, row: int, before: str, after: str, rules: tuple[str, ...], count: int) -> CallExample:
    from tipstaff.gates.secrets.scanner import redact

    is_command = bool(calls.is_command[row])
    return CallExample(
        tool="Bash" if is_command else calls.tools[row].as_py(), text=redact(calls.texts[row].as_py())[:_LONGEST],
        cwd=calls.folders[row].as_py(), before=before, after=after, rules=rules, count=count,
    )  # fmt: skip


def _by_folder(calls: Calls, wanted: Any) -> Iterator[tuple[str, Any]]:
    """Yield each directory and the numbers of its calls among those that are wanted."""
    import numpy as np

    encoded = calls.folders.dictionary_encode()
    codes = np.asarray(encoded.indices)
    rows = np.flatnonzero(wanted)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    edges = np.flatnonzero(np.diff(codes[rows])) + 1
    for part in np.split(rows, edges) if len(rows) else ():
        yield encoded.dictionary[int(codes[part[0]])].as_py(), part


def _buffers(texts: Any) -> tuple[Any, Any]:
    """Return offsets and data of a large_string array that begins at the start of its buffers."""
    _, offsets, data = texts.buffers()
    whole = memoryview(offsets).cast("B")[8 * texts.offset : 8 * (texts.offset + len(texts) + 1)]
    return whole, b"" if data is None else data


# -- tasks -------------------------------------------------------------------------------------------------------------


def _tasks_compared(table: Any, before: Any, after: Any) -> dict[str, Any]:
    import pyarrow.compute

    pc: Any = pyarrow.compute
    counts = pc.value_counts(table.column("task").drop_null().combine_chunks())
    tasks, times = counts.field("values").to_pylist(), counts.field("counts").to_pylist()
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
