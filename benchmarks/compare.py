"""Whether anything became slower: ``python -m benchmarks.compare OLD.json NEW.json [--margin 0.15]``.

Both files are pytest-benchmark's. Times of two runs cannot be compared, as machines and their load differ; what is
compared is each contender's median divided by that of a reference contender of the same group, size and run. With
``--statistic min`` the shortest rounds are taken instead: the better choice if the machine was busy, since others' work
only ever adds.

Exit codes: 0 nothing worsened beyond its margin; 1 something did; 2 the files cannot be compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

DEFAULT_MARGIN: Final = 0.15


class Yardstick(NamedTuple):
    """How a group is compared.

    Attributes
    ----------
    references
        Contenders to divide by, the first that both runs have; none of them is expected to change with this project.
    margin
        By what share a ratio may worsen before it counts; None for the command line's.
    """

    references: tuple[str, ...]
    margin: float | None = None


YARDSTICKS: Final = {
    "compile a 400-rule file of 42 KB": Yardstick(("test_node", "test_markdown_events_alone")),
    "open the compiled rules of a repository in which nothing changed": Yardstick(("test_stat_and_read_alone",), 0.30),
    "retrieve for a task": Yardstick(("test_numpy_scores_alone",), 0.20),
    "start a process and wait for its end": Yardstick(("test_process[command=python -c pass]",), 0.20),
    "open a store of 100,000 shards": Yardstick(("test_pickled_columns",), 0.50),
    "embed one text by hashing": Yardstick(("test_numpy",)),
    "embed a column of 1000 texts by hashing": Yardstick(("test_batch[isa=portable]",), 0.20),
}
PEERS: Final = (
    "test_faiss",
    "test_markdown",
    "test_node",
    "test_numpy",
    "test_parquet",
    "test_pickled",
    "test_plain",
    "test_stat_and_read",
    "test_usearch",
)
"""Beginnings of the names of contenders that are shown and not judged: they are not this project's."""
OURS: Final = ("tipstaff", "python")
"""Versions that may differ between the runs; those of peers may not."""


class UnusableError(ValueError):
    """The files cannot be compared; the message says why."""


class Contender(NamedTuple):
    """Who was measured, and at which size."""

    group: str
    size: str
    name: str


class Line(NamedTuple):
    """One contender in both runs; ratios are times divided by the reference's, None where it was not measured."""

    contender: Contender
    reference: str
    old: float | None
    new: float | None
    margin: float
    judged: bool

    @property
    def change(self) -> float | None:
        """By what share the ratio grew; negative where it fell."""
        return None if self.old is None or self.new is None else self.new / self.old - 1

    @property
    def worsened(self) -> bool:
        """Whether it grew beyond its margin."""
        return self.judged and self.change is not None and self.change > self.margin


class Run(NamedTuple):
    """One file: a time in seconds for each contender, and what they were measured on."""

    path: Path
    times: dict[Contender, float]
    machine: dict[str, Any]


def read_run(path: Path, statistic: str = "median") -> Run:
    """Read a file of pytest-benchmark, ``median`` or ``min`` of each benchmark's rounds.

    Raises
    ------
    UnusableError
        If it cannot be read, is no such file, or has a benchmark without a group or with an invalid time.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        times: dict[Contender, float] = {}
        for one in document["benchmarks"]:
            contender = _contender(path, one)
            if contender in times:
                msg = f"{path}: {contender.name} is twice in group {contender.group!r}"
                raise UnusableError(msg)
            times[contender] = float(one["stats"][statistic])
        machine = document.get("machine_info", {}).get("tipstaff", {})
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise UnusableError(msg) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, UnusableError):
            raise
        msg = f"{path}: this is no JSON file of pytest-benchmark ({type(error).__name__}: {error})"
        raise UnusableError(msg) from error
    if not times:
        msg = f"{path}: there are no benchmarks in it"
        raise UnusableError(msg)
    for contender, seconds in times.items():
        if not 0 < seconds < float("inf"):
            msg = f"{path}: {contender.name} has the time {seconds}; it must be above 0"
            raise UnusableError(msg)
    return Run(path, times, machine)


def _contender(path: Path, one: dict[str, Any]) -> Contender:
    if not one["group"]:
        msg = f"{path}: {one['name']} has no group; a group is the question that contenders answer"
        raise UnusableError(msg)
    params = dict(one["params"] or {})
    size = str(params.pop("size", ""))
    name = one["name"].split("[", 1)[0]
    if params:
        name += "[" + ",".join(f"{key}={value}" for key, value in sorted(params.items())) + "]"
    return Contender(one["group"], size, name)


def is_peer(name: str) -> bool:
    """Whether a contender is a peer's."""
    return name.startswith(PEERS)


def compare(old: Run, new: Run, margin: float = DEFAULT_MARGIN) -> list[Line]:
    """Compare two runs, line by line in the order of groups, sizes and names.

    Raises
    ------
    UnusableError
        If the runs share no group, a group has no yardstick or no reference in both runs, a contender of ours is
        missing from the new run, or a peer has another version.
    """
    _same_versions(old, new)
    old_sets, new_sets = _by_question(old.times), _by_question(new.times)
    shared = [key for key in sorted(old_sets, key=_order) if key in new_sets]
    if not shared:
        msg = f"{old.path} and {new.path} have no group and size in common"
        raise UnusableError(msg)
    for group, size in sorted(old_sets.keys() - new_sets.keys(), key=_order):
        if not all(is_peer(name) for name in old_sets[group, size]):
            msg = f"{new.path} lacks the group {group!r}{f', size {size}' if size else ''}, which {old.path} has"
            raise UnusableError(msg)
    lines: list[Line] = []
    for group, size in shared:
        before, after = old_sets[group, size], new_sets[group, size]
        yardstick = YARDSTICKS.get(group)
        if yardstick is None:
            msg = f"the group {group!r} has no yardstick; name its reference contender in benchmarks/compare.py"
            raise UnusableError(msg)
        reference = next((name for name in yardstick.references if name in before and name in after), None)
        if reference is None:
            wanted = " nor ".join(yardstick.references)
            msg = (
                f"in the group {group!r}{f', size {size}' if size else ''} not both files have {wanted}, its reference"
            )
            raise UnusableError(msg)
        allowed = margin if yardstick.margin is None else yardstick.margin
        for name in sorted({*before, *after} - {reference}):
            if name in before and name not in after and not is_peer(name):
                msg = f"{new.path} lacks {name} in the group {group!r}, which {old.path} has"
                raise UnusableError(msg)
            lines.append(
                Line(
                    Contender(group, size, name),
                    reference,
                    before[name] / before[reference] if name in before else None,
                    after[name] / after[reference] if name in after else None,
                    allowed,
                    not is_peer(name),
                )
            )
    if not any(line.judged and line.change is not None for line in lines):
        msg = f"{old.path} and {new.path} have no contender of ours in common"
        raise UnusableError(msg)
    return lines


def _by_question(times: dict[Contender, float]) -> dict[tuple[str, str], dict[str, float]]:
    sets: dict[tuple[str, str], dict[str, float]] = {}
    for contender, seconds in times.items():
        sets.setdefault((contender.group, contender.size), {})[contender.name] = seconds
    return sets


def _order(key: tuple[str, str]) -> tuple[str, int, str]:
    return key[0], int(key[1]) if key[1].isdecimal() else -1, key[1]


def _same_versions(old: Run, new: Run) -> None:
    before, after = (run.machine.get("versions", {}) for run in (old, new))
    for name in sorted(before.keys() & after.keys() - set(OURS)):
        if before[name] != after[name] and "absent" not in (before[name], after[name]):
            msg = f"{name} is {before[name]} in {old.path} and {after[name]} in {new.path}; measure the old state again"
            raise UnusableError(msg)


def notes(old: Run, new: Run) -> list[str]:
    """Return what makes the comparison doubtful without making it impossible."""
    found: list[str] = []
    for key, words in (("cpu", "the processors differ"), ("isa", "the instruction sets differ")):
        before, after = old.machine.get(key), new.machine.get(key)
        if before != after:
            found.append(f"note: {words}: {before} and {after}; ratios are machine-bound where a kernel is")
    return found


def table(lines: Iterable[Line]) -> list[str]:
    """Return the comparison as lines of text: per question a heading, per contender both ratios and the change."""
    result: list[str] = []
    question: tuple[str, str] | None = None
    for line in lines:
        group, size, name = line.contender
        if (group, size) != question:
            question = group, size
            result.append(f"{group}{f', size {size}' if size else ''}: times {line.reference}")
        old, new = (f"{value:.4g}" if value is not None else "-" for value in (line.old, line.new))
        change = "new" if line.old is None else "gone" if line.change is None else f"{line.change:+.0%}"
        verdict = f"WORSE, margin {line.margin:.0%}" if line.worsened else "" if line.judged else "not judged"
        result.append(f"  {name:46} {old:>10} {new:>10} {change:>7}  {verdict}".rstrip())
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compare", description="Compare two pytest-benchmark files by ratios."
    )
    parser.add_argument("old", type=Path, metavar="OLD.json")
    parser.add_argument("new", type=Path, metavar="NEW.json")
    parser.add_argument("--margin", type=float, default=DEFAULT_MARGIN, help="for groups without a margin of their own")
    parser.add_argument("--statistic", choices=("median", "min"), default="median", help="of each benchmark's rounds")
    options = parser.parse_args(argv)
    if not 0 <= options.margin < float("inf"):
        parser.error(f"--margin is {options.margin}; it must be 0 or more")
    try:
        old, new = (read_run(path, options.statistic) for path in (options.old, options.new))
        lines = compare(old, new, options.margin)
    except UnusableError as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    print("\n".join([*notes(old, new), *table(lines)]))
    worse = [line for line in lines if line.worsened]
    judged = sum(line.judged for line in lines)
    print(f"{judged} judged, {len(worse)} worse")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
