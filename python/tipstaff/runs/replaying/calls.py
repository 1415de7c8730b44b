"""Recorded calls as columns: from a Parquet or Arrow file, or a table, to distinct calls and how often each occurs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from tipstaff.errors import SourceError, SourceNotFoundError

COMMAND_TOOLS = ("Bash", "bash", "shell", "run_shell_command", "local_shell", "exec_command", "run_terminal_cmd")
"""Tools whose one parameter that counts is ``command``."""


class Calls(NamedTuple):
    """Distinct calls, by columns of one length, and for each recorded call the number of its distinct one.

    Attributes
    ----------
    tools, texts, folders
        Arrow ``large_string``: the tool (empty for a bare command), its command or its parameters as JSON, the
        directory (empty where it is not known).
    is_command
        numpy bool: whether the text is a command, not JSON.
    which
        numpy int64 ``(recorded calls,)``.
    counts
        numpy int64: how often each distinct call was recorded.
    """

    tools: Any
    texts: Any
    folders: Any
    is_command: Any
    which: Any
    counts: Any


def read_calls(calls: str | Path | Any) -> Any:
    """Return an Arrow table of recorded calls.

    Raises
    ------
    SourceNotFoundError
        There is no such file.
    SourceError
        It is not a table of calls: it has neither ``command``, nor ``tool`` and ``params``, nor ``task``.
    """
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet as pq

    if isinstance(calls, pa.Table):
        table: Any = calls
    else:
        path = Path(calls)
        if not path.exists():
            raise SourceNotFoundError(f"{path}: there is no such file")
        try:
            is_arrow = path.suffix in {".arrow", ".feather", ".ipc"}
            table = pyarrow.feather.read_table(path) if is_arrow else pq.read_table(path)
        except (pa.ArrowException, OSError) as error:
            raise SourceError(f"{path}: not a Parquet or Arrow file: {error}") from error
    names = set(table.column_names)
    if not names & {"command", "task"} and not {"tool", "params"} <= names:
        raise SourceError(
            f"a table of calls has a column command, or tool and params, or task; this one has {', '.join(names)}"
        )
    return table


def distinct_calls(table: Any) -> Calls:
    """Return the distinct calls of a table; rows that are tasks alone are left out."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute
    rows = table.num_rows
    tools, params, folders = (_column(table, name, rows) for name in ("tool", "params", "cwd"))
    commands = _column(table, "command", rows, missing=None)
    is_shell = pc.is_in(tools, value_set=pa.array(COMMAND_TOOLS, pa.large_string()))
    in_params = _commands_of(params, pc.and_(is_shell, pc.is_null(commands)))
    commands = pc.coalesce(commands, in_params)
    is_command = pc.is_valid(commands)
    tools = pc.if_else(is_command, "", tools)
    texts = pc.coalesce(commands, params)
    given = pc.or_(is_command, pc.not_equal(texts, ""))
    columns = pa.table({"tool": tools, "text": texts, "cwd": folders, "is_command": is_command}).filter(given)
    names = ["tool", "text", "cwd", "is_command"]
    numbered = columns.append_column("row", pa.array(np.arange(columns.num_rows)))
    # First of each group, in the order of the rows: the same input gives the same report.
    groups = numbered.group_by(names, use_threads=False).aggregate([("row", "min"), ("row", "count")])
    groups = groups.sort_by("row_min")
    firsts = np.asarray(groups.column("row_min"))
    which = _which(columns, names, firsts)
    flat = {name: groups.column(name).combine_chunks() for name in names}
    flat = {name: one.chunk(0) if isinstance(one, pa.ChunkedArray) else one for name, one in flat.items()}
    return Calls(
        flat["tool"], flat["text"], flat["cwd"], np.asarray(flat["is_command"].cast(pa.uint8())).astype(bool),
        which, np.asarray(groups.column("row_count")),
    )  # fmt: skip


def _column(table: Any, name: str, rows: int, missing: str | None = "") -> Any:
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute
    if name not in table.column_names:
        return pa.chunked_array([pa.array([missing], pa.large_string()).take(pa.array([0] * rows, pa.int8()))])
    column = table.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        column = column.cast(pa.large_string())
    except pa.ArrowException as error:
        raise SourceError(f"column {name} holds {column.type}; it must hold text") from error
    return column if missing is None else pc.fill_null(column, missing)


def _commands_of(params: Any, wanted: Any) -> Any:
    """Return the ``command`` of parameters that are JSON objects with a text of that name, null for others.

    Arrow reads the JSON, a line for each call; where one line is not what it expects, all are left to the slow way.
    """
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.json

    pc: Any = pyarrow.compute
    reader: Any = pyarrow.json
    null = pa.scalar(None, pa.large_string())
    chosen = pc.if_else(wanted, params, '{"command":null}')
    flat = chosen.combine_chunks()
    flat = flat.chunk(0) if isinstance(flat, pa.ChunkedArray) else flat
    if not len(flat) or pc.any(pc.match_substring(flat, "\n")).as_py():
        return pc.if_else(wanted, null, null)
    empty, end = (pa.scalar(text, flat.type) for text in ("", "\n"))
    lines = pc.binary_join_element_wise(flat, empty, end).buffers()[2]
    options = reader.ParseOptions(
        explicit_schema=pa.schema([("command", pa.string())]), unexpected_field_behavior="ignore"
    )
    try:
        found = reader.read_json(pa.BufferReader(lines), parse_options=options).column("command")
    except pa.ArrowException:
        return pc.if_else(wanted, null, null)
    if len(found) != len(flat):
        return pc.if_else(wanted, null, null)
    return found.cast(pa.large_string())


def _which(columns: Any, names: list[str], firsts: Any) -> Any:
    """Return for each row the number of its distinct call: both are coded by the same dictionary of each column."""
    import numpy as np

    codes = np.zeros(columns.num_rows, dtype=np.int64)
    for name in names:
        encoded = columns.column(name).combine_chunks().dictionary_encode()
        parts = encoded.chunks if hasattr(encoded, "chunks") else [encoded]
        indices = np.concatenate([np.asarray(part.indices) for part in parts]) if parts else np.zeros(0, np.int64)
        size = int(indices.max(initial=0)) + 1
        codes = codes * size + indices
        # Kept small, so that the product of sizes never overflows.
        _, codes = np.unique(codes, return_inverse=True)
    numbers = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    numbers[codes[firsts]] = np.arange(len(firsts))
    return numbers[codes]
