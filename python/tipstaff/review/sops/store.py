"""SOPs in an Arrow file, so that a folder of hundreds is read and checked once.

The file holds one row for each SOP and, in its metadata, the diagnostics and the state of the files that it was made
from: names, sizes, times and inodes. It is taken where that state is unchanged, and rewritten otherwise; a file that
cannot be read or written costs time alone.
"""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import xxhash

from tipstaff.kernels import stat_files
from tipstaff.model import Diagnostic
from tipstaff.review.cache_folder import CACHE_FOLDER, write_cache
from tipstaff.review.sops.documents import Sop

NAME: Final = "sops.arrow"
VERSION: Final = b"1"
FROM_FILES: Final = 64
"""Fewer files are parsed sooner than pyarrow is imported."""

_RACY_NS: Final = 50_000_000
_LISTS: Final = ("requirements", "applies_to", "domain", "related_domains", "keywords")


def folder_state(root: Path, files: Sequence[str]) -> str | None:
    """Return a digest of the names, sizes, times and inodes of files; None where one was changed only just now."""
    stats = stat_files(root, files)
    times = stats.tolist()
    if max(max(times[1::4], default=0), max(times[2::4], default=0)) >= time.time_ns() - _RACY_NS:
        return None
    total = xxhash.xxh3_128("\0".join(files).encode("utf-8", "surrogateescape"))
    total.update(stats)
    return total.hexdigest()


def load_sops(root: Path, state: str) -> tuple[tuple[Sop, ...], tuple[Diagnostic, ...]] | None:
    """Return the SOPs and diagnostics that were kept in this state; None where there are none."""
    path = root / CACHE_FOLDER / NAME
    if not path.is_file():
        return None
    import pyarrow as pa

    try:
        with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as reader:
            about = cast("dict[bytes, bytes]", reader.schema.metadata or {})
            if about.get(b"version") != VERSION or about.get(b"state") != state.encode():
                return None
            rows = cast("list[dict[str, Any]]", reader.read_all().to_pylist())
        sops = tuple(msgspec.convert(row, Sop) for row in rows)
        return sops, msgspec.json.decode(about[b"diagnostics"], type=tuple[Diagnostic, ...])
    except (pa.ArrowException, OSError, KeyError, ValueError):
        return None


def save_sops(root: Path, state: str, sops: Sequence[Sop], diagnostics: Sequence[Diagnostic]) -> None:
    """Write SOPs and diagnostics; does nothing where that is not possible."""
    import pyarrow as pa

    names = [field.name for field in msgspec.structs.fields(Sop)]
    kinds = {name: pa.list_(pa.string()) if name in _LISTS else pa.string() for name in names}
    about = {"version": VERSION, "state": state, "diagnostics": msgspec.json.encode(tuple(diagnostics))}
    schema = pa.schema(list(kinds.items()), metadata=about)
    columns = [[_plain(getattr(sop, name)) for sop in sops] for name in names]
    buffer = io.BytesIO()
    with contextlib.suppress(pa.ArrowException, OSError, ValueError):
        batch = pa.record_batch(
            [pa.array(column, kinds[name]) for name, column in zip(names, columns, strict=True)], schema=schema
        )
        with pa.ipc.new_file(buffer, schema) as writer:
            writer.write_batch(batch)
        write_cache(root, NAME, buffer.getvalue())


def _plain(value: object) -> object:
    return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value
