"""Recorded calls as columns: from a Parquet or Arrow file, or a table, to distinct calls and how often each occurs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from tipstaff.errors import SourceError, SourceNotFoundError

COMMAND_TOOLS = ("Bash", "bash", "shell", "run_shell_command", "local_shell", "exec_command", "run_terminal_cmd")
"""Tools whose one parameter that counts is ``command``."""


TOOL_PREFIX = r"[A-Za-z_][\w.-]{0,63}: "
"""What a run may write before a call's command."""


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
    """Return an Arrow table of recorded calls; of a ledger's export, the tasks and the calls of its runs.

    Raises
    ------
    SourceNotFoundError
        There is no such file.
    SourceError
        It is not a table of calls: it has neither ``command``, nor ``tool`` and ``params``, nor ``task``, nor
        ``tools_used``.
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
    if "tools_used" in names and pa.types.is_list(table.schema.field("tools_used").type):
        return _of_runs(table)
    if not names & {"command", "task"} and not {"tool", "params"} <= names:
        raise SourceError(
            "a table of calls has a column command, or tool and params, or task, or is a ledger's export; this one has "
            f"{', '.join(table.column_names)}"
        )
    return table


def _of_runs(table: Any) -> Any:
    """Return the tasks of runs and their calls, which runs name as evaluators read them: ``Bash: COMMAND`` too."""
    import pyarrow as pa
    import pyarrow.compute

    pc: Any = pyarrow.compute
    calls = pc.list_flatten(table.column("tools_used")).cast(pa.large_string())
    commands = pc.replace_substring_regex(calls, f"^{TOOL_PREFIX}", "", max_replacements=1)
    tasks = _column(table, "task", table.num_rows, missing=None)
    tasks = pc.if_else(pc.equal(tasks, ""), pa.scalar(None, pa.large_string()), tasks)
    return pa.concat_tables(
        [pa.table({"command": commands}), pa.table({"task": tasks})], promote_options="default"
    )  # fmt: skip


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
    # Of each distinct call the first row, in the order of the rows: the same input gives the same report.
    codes = _codes(columns)
    _, firsts, numbers, counts = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(firsts)
    flat = {name: _flat(columns.column(name).take(pa.array(firsts[order]))) for name in columns.column_names}
    return Calls(
        flat["tool"], flat["text"], flat["cwd"], np.asarray(flat["is_command"].cast(pa.uint8())).astype(bool),
        np.argsort(order)[numbers], counts[order],
    )  # fmt: skip


def _flat(column: Any) -> Any:
    """Return a chunked column as one array."""
    import pyarrow as pa

    flat = column.combine_chunks()
    if not isinstance(flat, pa.ChunkedArray):
        return flat
    return flat.chunk(0) if flat.num_chunks else pa.array([], flat.type)


def _codes(columns: Any) -> Any:
    """Return for each row a number that rows with the same values share: numpy int64."""
    import numpy as np

    codes = np.zeros(columns.num_rows, dtype=np.int64)
    size = 1
    for name in columns.column_names:
        encoded = _flat(columns.column(name).dictionary_encode())
        own = max(1, len(encoded.dictionary))
        if size * own >= 1 << 62:
            known, codes = np.unique(codes, return_inverse=True)
            size = len(known)
        codes = codes * own + np.asarray(encoded.indices)
        size *= own
    return codes


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
    flat = _flat(pc.if_else(wanted, params, '{"command":null}'))
    if not pc.any(wanted).as_py() or pc.any(pc.match_substring(flat, "\n")).as_py():
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
