"""Writing a shard store: from a bundle and its vectors to one file, in one step."""

from __future__ import annotations

import io
import mmap
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.model import PolicyBundle
from tipstaff.store.columns import arrow, buffer_extents, record_batch, schema
from tipstaff.store.container import HEADER_BYTES, SCHEMA_VERSION, Directory, finish_container
from tipstaff.store.replacing import replaced_file, write_error

PARTS: Final = (
    "mean", "fingerprint", "constitution", "tenant_constitutions", "manifest", "diagnostics", "relations", "search",
)  # fmt: skip
"""Segments after the Arrow part."""

_ALIGNMENT: Final = 64
"""Rows that begin at a multiple of this are read a little faster; readers must not count on it."""


def write_store(
    path: str | os.PathLike[str],
    bundle: PolicyBundle,
    vectors: object | None,
    *,
    embedding_identity: str,
    fingerprint: bytes | str = b"",
    metadata: Mapping[str, str] | None = None,
    dims: int | None = None,
    quantized: Sequence[object] | None = None,
    search: bytes = b"",
) -> None:
    """Write a compiled bundle and the vectors or the index of its shards, replacing what is at `path` in one step.

    Parameters
    ----------
    path
        The store; its directory must exist. Only its owner may read it.
    bundle
        What :meth:`ShardStore.bundle` will give back.
    vectors
        float32 buffer of shape (n_shards, dims), C-contiguous; a flat one does as well. None where `search` holds all
        that retrieval reads.
    embedding_identity
        Name of the embedding that made vectors or index; a reader that uses another one is refused.
    fingerprint
        Of the sources, opaque here; see `tipstaff.store.fingerprints`.
    metadata
        Further short facts to keep.
    dims
        Numbers in a vector; needed only where `vectors` is None, or flat and there is no shard.
    quantized
        int8 rows, scales, error bounds and mean of these vectors, where they are known; made here where None.
    search
        A further index of the shards, opaque here; empty for none.

    Raises
    ------
    ConfigError
        If `vectors` does not fit the bundle, or a rule has an unknown risk class.
    StoreWriteError
        If the disk is full, the directory read-only or missing, or a value does not fit its column (a lone surrogate,
        an integer beyond 32 bits). What was at `path` before is unharmed.
    """
    target = Path(path)
    rows: memoryview | None = None
    if vectors is not None:
        rows, dims = _checked_vectors(vectors, len(bundle.shards), dims)
    elif not dims or not search:
        raise ConfigError("without vectors a store needs their dimensions and an index of its shards")
    pa = arrow()
    facts = {"schema_version": str(SCHEMA_VERSION), "embedding": embedding_identity, "dims": str(dims)}
    try:
        columns = {} if rows is None else {"embedding": rows, **_quantized(rows, dims, quantized)}
        mean = columns.pop("mean", b"")
        width = 0 if rows is None else dims
        arrow_schema = schema(width, {f"tipstaff.{name}": value for name, value in facts.items()})
        batch = record_batch(bundle.shards, columns, width, arrow_schema)
        encode = msgspec.msgpack.encode
        parts: dict[str, bytes | memoryview] = {
            "mean": bytes(memoryview(cast("bytes", mean)).cast("B")),
            "fingerprint": fingerprint.encode() if isinstance(fingerprint, str) else bytes(fingerprint),
            "constitution": encode(bundle.constitution),
            "tenant_constitutions": encode(bundle.tenant_constitutions),
            "manifest": encode(bundle.manifest),
            "diagnostics": encode(bundle.diagnostics),
            "relations": encode(bundle.relations),
            "search": search,
        }
        directory = Directory(
            n_shards=len(bundle.shards),
            dims=dims,
            embedding_identity=embedding_identity,
            metadata=dict(metadata or {}),
        )
        with replaced_file(target) as file:
            _write_content(file, batch, parts, directory)
    except ConfigError:
        raise
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        raise write_error(target, error) from error


def _checked_vectors(vectors: object, n_shards: int, dims: int | None) -> tuple[memoryview, int]:
    """Return the vectors as a flat buffer of bytes, and the number of dimensions."""
    try:
        view = memoryview(cast("bytes", vectors))
    except TypeError as error:
        raise ConfigError(f"vectors must offer a float32 buffer, got {type(vectors).__name__}") from error
    if view.format not in {"f", "<f", "=f"} or not view.c_contiguous or view.ndim not in {1, 2}:
        raise ConfigError(
            f"vectors must be C-contiguous float32 of shape (n_shards, dims), got format {view.format!r}, "
            f"shape {view.shape}"
        )
    shape = list(view.shape or ())
    if len(shape) == 2:
        found = shape[1]
    elif n_shards:
        found = shape[0] // n_shards
    else:
        found = dims or 0
    if found < 1 or dims not in {None, found} or view.nbytes != n_shards * found * 4:
        raise ConfigError(f"vectors must have shape ({n_shards}, {dims or 'dims'}), got {view.shape}")
    # A view with a 0 in its shape cannot be cast, nor one whose format names a byte order, as those of ctypes do.
    if not view.nbytes or view.format != "f":
        return memoryview(view.tobytes()), found
    return view.cast("B"), found


def _quantized(rows: memoryview, dims: int, known: Sequence[object] | None) -> dict[str, object]:
    """Return buffers ``embedding_i8``, ``scale``, ``error_bound`` and ``mean`` of float32 rows."""
    from tipstaff.kernels import quantize_rows

    codes, scales, errors, mean = quantize_rows(rows, dims) if known is None else known
    return {"embedding_i8": codes, "scale": scales, "error_bound": errors, "mean": mean}


def _write_content(file: BinaryIO, batch: Any, parts: Mapping[str, bytes | memoryview], directory: Directory) -> None:
    """Write all into a fresh file: room for the header, the Arrow part, our parts, the directory, then the header."""
    pa = arrow()
    start = HEADER_BYTES + -_first_buffer_offset(pa, batch) % _ALIGNMENT
    file.write(bytes(start))
    _write_arrow(pa, pa.PythonFile(_Appended(file, start), mode="w"), batch)
    length = file.tell() - start
    extents: dict[str, tuple[int, int]] = {}
    for name in PARTS:
        if parts[name]:
            file.write(bytes(-file.tell() % _ALIGNMENT))
            extents[name] = (file.tell(), len(parts[name]))
            file.write(parts[name])
    file.flush()
    # Where the buffers are, Arrow alone can say: ask it for the addresses that it finds when it reads the file.
    whole = pa.py_buffer(mmap.mmap(file.fileno(), file.tell(), access=mmap.ACCESS_READ))
    extents |= buffer_extents(_read_arrow(pa, whole.slice(start, length)), whole.address)
    finish_container(file, msgspec.structs.replace(directory, arrow=(start, length)), extents)


def _first_buffer_offset(pa: Any, batch: Any) -> int:
    """Return how far into the Arrow part the first column's numbers begin.

    Arrow's own messages are before them; those depend on schema and dictionaries, not on the number of rows, so a
    batch of one row tells.
    """
    if batch.num_rows == 0:
        return 0
    sink = pa.BufferOutputStream()
    _write_arrow(pa, sink, batch.slice(0, 1))
    sample = sink.getvalue()
    first = _read_arrow(pa, sample).column(0)
    return int(first.buffers()[-1].address - sample.address)


def _write_arrow(pa: Any, sink: Any, batch: Any) -> None:
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)


def _read_arrow(pa: Any, buffer: Any) -> Any:
    return pa.ipc.open_file(pa.BufferReader(buffer)).get_batch(0)


class _Appended(io.RawIOBase):
    """Lets Arrow count positions from where its part begins in the file."""

    def __init__(self, file: BinaryIO, start: int) -> None:
        super().__init__()
        self._file = file
        self._start = start

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell() - self._start

    def write(self, data: Any, /) -> int:
        return self._file.write(data)
