"""Runs as Arrow columns, in Parquet or Arrow IPC files, and back.

The column ``body`` holds the whole event as canonical JSON, so nothing is lost on the way; the others are for
analysis.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tipstaff.errors import ConfigError, SourceError, SourceNotFoundError
from tipstaff.runs.events import RunEvent, canonical_json
from tipstaff.runs.ledger.ledger import Ledger
from tipstaff.store.replacing import replaced_file

_ROWS: Final = 10_000
_IPC: Final = frozenset({".arrow", ".feather", ".ipc"})

COLUMNS: Final[dict[str, tuple[str, Callable[[RunEvent], Any]]]] = {
    "event_id": ("string", lambda event: event.event_id),
    "task_id": ("string", lambda event: event.task_id),
    "task": ("string", lambda event: event.task),
    "session_id": ("string", lambda event: event.session_id),
    "agent_id": ("string", lambda event: event.agent_id),
    "guidance_hash": ("string", lambda event: event.guidance_hash),
    "intent": ("string", lambda event: event.intent),
    "timestamp": ("timestamp", lambda event: event.timestamp),
    "duration_ms": ("float64", lambda event: event.duration_ms),
    "outcome_accepted": ("bool", lambda event: event.outcome_accepted),
    "rework_lines": ("int64", lambda event: event.rework_lines),
    "lines_added": ("int64", lambda event: event.diff_summary.lines_added),
    "lines_removed": ("int64", lambda event: event.diff_summary.lines_removed),
    "files_changed": ("int64", lambda event: event.diff_summary.files_changed),
    "tests_ran": ("bool", lambda event: event.test_results.ran),
    "tests_passed": ("int64", lambda event: event.test_results.passed),
    "tests_failed": ("int64", lambda event: event.test_results.failed),
    "tests_skipped": ("int64", lambda event: event.test_results.skipped),
    "tests_parsed": ("bool", lambda event: event.test_results.parsed),
    "tokens": ("int64", lambda event: event.tokens.total),
    "retrieved_rule_ids": ("strings", lambda event: event.retrieved_rule_ids),
    "relevant_rule_ids": ("strings", lambda event: event.relevant_rule_ids),
    "violated_rule_ids": ("strings", lambda event: [found.rule_id for found in event.violations]),
    "auto_corrected": ("bools", lambda event: [found.auto_corrected for found in event.violations]),
    "tools_used": ("strings", lambda event: event.tools_used),
    "files_touched": ("strings", lambda event: event.files_touched),
    "body": ("string", lambda event: canonical_json(event).decode()),
}
"""Name of each column, its type, and what of an event it holds."""


def schema() -> Any:
    """Return the Arrow schema of exported runs."""
    import pyarrow as pa

    kinds: dict[str, Any] = {
        "string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_(),
        "timestamp": pa.timestamp("ms", tz="UTC"), "strings": pa.list_(pa.string()), "bools": pa.list_(pa.bool_()),
    }  # fmt: skip
    return pa.schema([(name, kinds[kind]) for name, (kind, _) in COLUMNS.items()])


def batches(events: Iterable[RunEvent]) -> Iterator[Any]:
    """Yield Arrow record batches of some thousand runs each."""
    import pyarrow as pa

    fields = schema()
    rest = iter(events)
    while part := list(islice(rest, _ROWS)):
        arrays = [pa.array([get(one) for one in part], fields.field(name).type) for name, (_, get) in COLUMNS.items()]
        yield pa.RecordBatch.from_arrays(arrays, schema=fields)


def events_table(events: Iterable[RunEvent]) -> Any:
    """Return runs as one Arrow table."""
    import pyarrow as pa

    return pa.Table.from_batches(list(batches(events)), schema())


def export(ledger: Ledger, path: Path) -> int:
    """Write all runs of a ledger to a file, streaming; returns how many.

    Raises
    ------
    ConfigError
        The suffix is not one of ``.parquet``, ``.arrow``, ``.feather``, ``.ipc``.
    StoreWriteError
        The file cannot be written; what was there is unharmed.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    _check_suffix(path)
    count = 0
    with replaced_file(path) as file:
        sink = pa.PythonFile(file, mode="w")
        writer: Any
        if path.suffix == ".parquet":
            writer = pq.ParquetWriter(sink, schema(), compression="zstd")
        else:
            writer = pa.ipc.new_file(sink, schema())
        with writer:
            for batch in batches(ledger.iter_events()):
                writer.write_batch(batch)
                count += batch.num_rows
    return count


def import_events(ledger: Ledger, path: Path) -> int:
    """Append the runs of an exported file; runs that the ledger has already are left as they are.

    Raises
    ------
    SourceNotFoundError
        There is no such file.
    SourceError
        It is not an export.
    ConfigError
        Its suffix is not one that is exported.
    """
    before = len(ledger)
    for bodies in _bodies(path):
        ledger.append_many(RunEvent.from_json(body) for body in bodies)
    return len(ledger) - before


def check_export(path: Path) -> None:
    """Refuse a file that no ledger exported, by its schema; raises as :func:`import_events`."""
    with _opened(path):
        return


def _bodies(path: Path) -> Iterator[list[str]]:
    with _opened(path) as file:
        for batch in file:
            yield batch.column("body").to_pylist()


@contextlib.contextmanager
def _opened(path: Path) -> Generator[Iterable[Any]]:
    """Give the record batches of an exported file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    _check_suffix(path)
    try:
        if path.suffix == ".parquet":
            with pq.ParquetFile(path) as parquet:
                parquet.schema_arrow.field("body")
                yield parquet.iter_batches(_ROWS, columns=["body"])
        else:
            with pa.ipc.open_file(path) as reader:
                reader.schema.field("body")
                yield (reader.get_batch(number) for number in range(reader.num_record_batches))
    except FileNotFoundError as error:
        raise SourceNotFoundError(f"{path}: there is no such file") from error
    except (pa.ArrowException, KeyError, IsADirectoryError) as error:
        raise SourceError(f"{path}: not an export of a ledger: {error}") from error


def _check_suffix(path: Path) -> None:
    if path.suffix != ".parquet" and path.suffix not in _IPC:
        raise ConfigError(f"{path}: the suffix decides the format; use .parquet or .arrow")
