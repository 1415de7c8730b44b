"""The shard store: a compiled bundle and its vectors in one memory-mapped file that many processes share.

Opening maps the file and makes views; nothing is decoded before it is asked for, and pyarrow is not imported. What is
checked when:

======================================== =================================================================
at opening                               header, directory, the columns that retrieval reads for every shard
                                         (masks, risks, priorities, scales, error bounds, mean); in a store of
                                         up to `CHECK_ALL_BYTES`, every byte
before the first shard is decoded        offsets, codes, dictionaries, small columns
before the part is decoded               constitution, manifest, diagnostics, relations, fingerprint
before pyarrow is handed the Arrow part  Arrow's own metadata, offsets, codes, then Arrow's full validation
when `ShardStore.verify` is called       every byte, vectors and texts of large stores among them
======================================== =================================================================

A store is only ever replaced by renaming another over it, so a process that has it open continues with what it mapped.
Whoever shortens the file in place instead ends the processes that have mapped it, as with any mapped file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import msgspec

from tipstaff.errors import StoreDamagedError, StoreEmbeddingError
from tipstaff.model import Constitution, Diagnostic, PolicyBundle, Relation, RuleManifest, RuleShard
from tipstaff.store.columns import BULK_SEGMENTS, KERNEL_SEGMENTS, ShardColumns, arrow, numbers, schema
from tipstaff.store.container import CHECK_ALL_BYTES, Container
from tipstaff.store.writing import PARTS, write_store

__all__ = ["CHECK_ALL_BYTES", "ShardStore", "open_store", "write_store"]

_Part = TypeVar("_Part")
_constitution_decoder: Final = msgspec.msgpack.Decoder(Constitution)
_constitutions_decoder: Final = msgspec.msgpack.Decoder(dict[str, Constitution])
_manifest_decoder: Final = msgspec.msgpack.Decoder(RuleManifest)
_diagnostics_decoder: Final = msgspec.msgpack.Decoder(tuple[Diagnostic, ...])
_relations_decoder: Final = msgspec.msgpack.Decoder(tuple[Relation, ...])


def open_store(
    path: str | os.PathLike[str], *, embedding_identity: str | None = None, dims: int | None = None
) -> ShardStore:
    """Map a store into memory.

    Parameters
    ----------
    path
        As written by :func:`write_store`.
    embedding_identity, dims
        The embedding that is going to be asked with; None takes any.

    Raises
    ------
    SourceNotFoundError
        If there is no such file.
    StoreDamagedError
        If the file is torn, truncated, altered or no store.
    StoreVersionError
        If another schema version wrote it.
    StoreEmbeddingError
        If its vectors come from another embedding.
    StoreError
        If the file cannot be read.
    """
    container = Container(path)
    directory = container.directory
    asked = (
        directory.embedding_identity if embedding_identity is None else embedding_identity,
        directory.dims if dims is None else dims,
    )
    if asked != (directory.embedding_identity, directory.dims):
        raise StoreEmbeddingError(
            f"{container.path}: the shard store holds vectors of {directory.embedding_identity!r} "
            f"with {directory.dims} dimensions, asked for are {asked[0]!r} with {asked[1]}; "
            "`tipstaff compile` builds it again"
        )
    if container.size <= CHECK_ALL_BYTES:
        container.check_all()
    else:
        container.check(KERNEL_SEGMENTS)
    return ShardStore(container)


class ShardStore:
    """An open store. Read-only, and safe to share among threads.

    The numeric columns are read-only views (`memoryview`) into the mapped file, ready for the kernels or for
    ``numpy.asarray``. A view that someone still holds keeps the map alive after :meth:`close`.
    """

    def __init__(self, container: Container) -> None:
        self._container: Container | None = container
        n_shards, dims = container.directory.n_shards, container.directory.dims
        if n_shards < 0 or dims < 1:
            raise container.damaged(f"invalid store: {n_shards} shards with {dims} dimensions")
        self.path: Path = container.path
        self.n_shards: int = n_shards
        """Number of shards."""
        self.dims: int = dims
        """Numbers in a vector."""
        self.embedding_identity: str = container.directory.embedding_identity
        self.metadata: dict[str, str] = container.directory.metadata
        mean = container.segment("mean")
        n_rows = n_shards if len(mean) else 0  # or `search` is read instead
        if len(mean) not in {0, dims * 4}:
            raise container.damaged(f"its mean is not one of {dims} numbers")
        vectors = container.segment("embedding.2", n_rows * dims * 4)
        rows_i8 = container.segment("embedding_i8.2", n_rows * dims)
        # For an empty column memoryview has no shape (0, dims), so it stays flat.
        shape = (n_shards, dims)
        self._views: dict[str, memoryview[Any]] = {
            "vectors": vectors.cast("f", shape) if n_rows else vectors.cast("f"),
            "rows_i8": rows_i8.cast("b", shape) if n_rows else rows_i8.cast("b"),
            "intent_masks": numbers(container, "intent_mask.1", "H", 2),
            "risks": numbers(container, "risk.1", "B", 1),
            "priorities": numbers(container, "priority.1", "i", 4),
            "mean": mean.cast("f"),
            "scales": container.segment("scale.1", n_rows * 4).cast("f"),
            "error_bounds": container.segment("error_bound.1", n_rows * 4).cast("f"),
        }

    @property
    def vectors(self) -> memoryview:
        """float32 (n_shards, dims), unit rows; empty, as all of the next four, where `search` is read instead."""
        return self._view("vectors")

    @property
    def rows_i8(self) -> memoryview:
        """int8 (n_shards, dims): a row is about ``mean + scale * codes``."""
        return self._view("rows_i8")

    @property
    def scales(self) -> memoryview:
        """float32 (n_shards,)."""
        return self._view("scales")

    @property
    def error_bounds(self) -> memoryview:
        """float32 (n_shards,): what `rows_i8` may be off by, in the kernels' terms."""
        return self._view("error_bounds")

    @property
    def mean(self) -> memoryview:
        """float32 (dims,): mean of the rows."""
        return self._view("mean")

    @property
    def intent_masks(self) -> memoryview:
        """uint16 (n_shards,): bits of `tipstaff.model.INTENT_BITS`."""
        return self._view("intent_masks")

    @property
    def risks(self) -> memoryview:
        """uint8 (n_shards,): codes of `tipstaff.model.RISK_CODES`."""
        return self._view("risks")

    @property
    def priorities(self) -> memoryview:
        """int32 (n_shards,)."""
        return self._view("priorities")

    @property
    def fingerprint(self) -> bytes:
        """What the writer gave as the fingerprint of the sources."""
        return bytes(self._part("fingerprint"))

    @property
    def search(self) -> memoryview:
        """The index of the shards that the writer gave, empty for none."""
        return self._part("search")

    @cached_property
    def constitution(self) -> Constitution:
        """The rules that are always loaded."""
        return self._decoded("constitution", _constitution_decoder.decode)

    @cached_property
    def tenant_constitutions(self) -> dict[str, Constitution]:
        """For each tenant that has rules which are always loaded, those and the common ones."""
        return self._decoded("tenant_constitutions", _constitutions_decoder.decode)

    @cached_property
    def manifest(self) -> RuleManifest:
        """What the bundle holds and what it was made from."""
        return self._decoded("manifest", _manifest_decoder.decode)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the compiler found."""
        return self._decoded("diagnostics", _diagnostics_decoder.decode)

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """Duplicates and contradictions among the rules."""
        return self._decoded("relations", _relations_decoder.decode)

    def shard(self, index: int) -> RuleShard:
        """Return shard `index`, 0 to ``n_shards - 1``.

        Raises
        ------
        IndexError
            If there is no such shard.
        StoreDamagedError
            If the shard's columns are damaged.
        """
        return self._read(index, self._columns.shard)

    def compact_text(self, index: int) -> str:
        """Return the line in which the model reads shard `index`; raises as :meth:`shard` does."""
        return self._read(index, self._columns.compact_text)

    def codes(self, column: str) -> memoryview:
        """Return int32 (n_shards,): for each shard, the place of its value in :meth:`values`.

        `column` is one of `tipstaff.store.columns.CODED_TEXTS` and `CODED_LISTS`, such as ``repo_scopes``; `KeyError`
        for any other.
        """
        return self._columns.coded(column)[0]

    def values(self, column: str) -> tuple[Any, ...]:
        """Return the distinct values of a column: strings, None, or tuples of strings. See :meth:`codes`."""
        return self._columns.coded(column)[1]

    def bundle(self) -> PolicyBundle:
        """Return the bundle that was written, every shard decoded.

        Raises
        ------
        StoreDamagedError
            If any part of it is damaged.
        """
        return PolicyBundle(
            constitution=self.constitution,
            shards=tuple(self.shard(index) for index in range(self.n_shards)),
            manifest=self.manifest,
            diagnostics=self.diagnostics,
            relations=self.relations,
            tenant_constitutions=self.tenant_constitutions,
        )

    def to_arrow(self) -> Any:
        """Return all columns as a ``pyarrow.RecordBatch`` over the mapped file, for bulk analysis.

        Raises
        ------
        StoreDamagedError
            If Arrow's metadata, an offset or a text is damaged.
        """
        container = self._live
        container.check_frame()
        self._columns  # noqa: B018 - checks offsets and codes
        pa = arrow()
        try:
            with arrow().ipc.open_file(
                pa.BufferReader(pa.py_buffer(container.slice(*container.directory.arrow)))
            ) as file:
                batch = file.get_batch(0)
            batch.validate(full=True)
        except (pa.ArrowException, OSError) as error:
            raise container.damaged(f"Arrow cannot read it: {error}") from error
        if batch.num_rows != self.n_shards or not any(batch.schema.equals(schema(dims)) for dims in (self.dims, 0)):
            raise container.damaged("its columns are not those of this schema version")
        return batch

    def verify(self) -> None:
        """Compare every byte of the file with its checksum, the vectors and texts of a large store included.

        Raises
        ------
        StoreDamagedError
            If one differs.
        """
        self._live.check_all()

    def close(self) -> None:
        """Let go of the file. Closing twice is fine; other uses raise `ValueError` afterwards."""
        self._container = None
        self._views = {}
        self.__dict__.pop("_columns", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return self.n_shards

    def __repr__(self) -> str:
        return f"<ShardStore {str(self.path)!r}: {self.n_shards} shards, {self.embedding_identity} x {self.dims}>"

    @cached_property
    def _columns(self) -> ShardColumns:
        container = self._live
        done = {*BULK_SEGMENTS, *KERNEL_SEGMENTS, *PARTS}
        container.check(name for name in container.directory.segments if name not in done)
        try:
            return ShardColumns(container)
        except (ValueError, IndexError, TypeError) as error:
            if isinstance(error, StoreDamagedError):
                raise
            raise container.damaged(f"its columns cannot be decoded: {error}") from error

    @property
    def _live(self) -> Container:
        if self._container is None:
            raise ValueError(f"{self.path}: the shard store is closed")
        return self._container

    def _view(self, name: str) -> memoryview[Any]:
        try:
            return self._views[name]
        except KeyError:
            raise ValueError(f"{self.path}: the shard store is closed") from None

    def _read(self, index: int, read: Callable[[int], _Part]) -> _Part:
        if not 0 <= index < self.n_shards:
            raise IndexError(f"shard {index}: there are {self.n_shards}, counted from 0")
        try:
            return read(index)
        except (ValueError, IndexError) as error:
            raise self._live.damaged(f"shard {index} cannot be decoded: {error}") from error

    def _part(self, name: str) -> memoryview:
        self._live.check((name,))
        return self._live.segment(name)

    def _decoded(self, name: str, decode: Callable[[memoryview], _Part]) -> _Part:
        part = self._part(name)
        try:
            return decode(part)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._live.damaged(f"its {name} cannot be decoded") from error
