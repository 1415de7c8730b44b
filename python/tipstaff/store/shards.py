"""The shard store: a compiled bundle and the index of its shards in one memory-mapped file that many processes share.

::

    0        header, 64 bytes: magic, schema version, file size, where the directory is, its checksum, its own
    64..     parts, each from a multiple of 64 on and zeros up to the next: columns of numbers, one MessagePack
             document a shard, constitution, manifest, ..., the index by which retrieval searches
    ...      the directory: a MessagePack map that names every part with offset, length and xxh3

Opening maps the file and makes views; nothing is decoded before it is asked for. What is checked when:

================================ =======================================================================
at opening                       header, directory, the columns that retrieval reads for every shard; in a
                                 store of up to `CHECK_ALL_BYTES`, every byte
before a part is decoded         that part
when `ShardStore.verify` is      every byte, the vectors of a large store included
called
================================ =======================================================================

Numbers are in the machine's own byte order: a file from a machine of the other order shows as a foreign schema version.
A store is only ever replaced by renaming another over it, so a process that has it open continues with what it mapped.
Whoever shortens the file in place instead ends the processes that have mapped it, as with any mapped file.
"""

from __future__ import annotations

import mmap
import os
import stat
import struct
from array import array
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar, cast, get_type_hints

import msgspec
import xxhash

from tipstaff.errors import (
    ConfigError,
    SourceNotFoundError,
    StoreDamagedError,
    StoreEmbeddingError,
    StoreError,
    StoreVersionError,
)
from tipstaff.model import (
    INTENT_BITS,
    RISK_CODES,
    Constitution,
    Diagnostic,
    GuidanceRule,
    PolicyBundle,
    Relation,
    RuleManifest,
    RuleShard,
)
from tipstaff.store.replacing import replaced_file, write_error

SCHEMA_VERSION: Final = 7
"""Rises with every change of layout; a store of another version is built again, never converted."""

CHECK_ALL_BYTES: Final = 4 * 1024 * 1024
"""A store up to this size is checked to the last byte when it is opened."""

CODED: Final = ("repo_scopes", "path", "active_from", "active_until", "overrides")
"""What filters decide on the few distinct values and then look at codes: see `ShardStore.codes`."""

_MAGIC: Final = b"TIPSTAFF"
_HEADER: Final = struct.Struct("=8sIIQQQQ8xQ")  # magic, version, reserved, file, directory: offset, length, xxh3; seal
_SEALED_BYTES: Final = _HEADER.size - 8
_ALIGNMENT: Final = 64
_COLUMNS: Final = {"intent_masks": "H", "risks": "B", "priorities": "i"}

_Part = TypeVar("_Part")


class _Directory(msgspec.Struct, frozen=True, kw_only=True):
    n_shards: int
    dims: int
    embedding_identity: str
    metadata: dict[str, str]
    parts: dict[str, tuple[int, int, int]]


_encode: Final = msgspec.msgpack.encode
_directory_decoder: Final = msgspec.msgpack.Decoder(_Directory)
_shard_decoder: Final[msgspec.msgpack.Decoder[Any]] = msgspec.msgpack.Decoder(
    msgspec.defstruct("Document", [*get_type_hints(GuidanceRule).items(), ("compact_text", str)], array_like=True)
)
_values_decoder: Final = msgspec.msgpack.Decoder(dict[str, list[str | tuple[str, ...] | None]])
_constitution_decoder: Final = msgspec.msgpack.Decoder(Constitution)
_manifest_decoder: Final = msgspec.msgpack.Decoder(RuleManifest)
_diagnostics_decoder: Final = msgspec.msgpack.Decoder(tuple[Diagnostic, ...])
_relations_decoder: Final = msgspec.msgpack.Decoder(tuple[Relation, ...])


# -- writing -----------------------------------------------------------------------------------------------------------


def write_store(
    path: str | os.PathLike[str],
    bundle: PolicyBundle,
    vectors: object | None,
    *,
    embedding_identity: str,
    fingerprint: bytes | str = b"",
    metadata: Mapping[str, str] | None = None,
    dims: int | None = None,
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
    search
        A further index of the shards, opaque here; empty for none.

    Raises
    ------
    ConfigError
        If `vectors` does not fit the bundle, or a rule has an unknown risk class.
    StoreWriteError
        If the disk is full, the directory read-only or missing, or a value cannot be stored (a lone surrogate, a
        priority beyond 32 bits). What was at `path` before is unharmed.
    """
    target = Path(path)
    columns: dict[str, object] = {}
    if vectors is not None:
        rows, dims = _checked_vectors(vectors, len(bundle.shards), dims)
        columns["vectors"] = rows
    elif not dims or not search:
        raise ConfigError("without vectors a store needs their dimensions and an index of its shards")
    try:
        if vectors is not None:
            import numpy as np

            if not (finite := np.isfinite(np.frombuffer(cast("bytes", columns["vectors"]), np.float32))).all():
                raise ValueError(f"row {int(finite.argmin()) // dims} is not finite")
        encoded_print = fingerprint.encode() if isinstance(fingerprint, str) else bytes(fingerprint)
        parts = {name: bytes(memoryview(cast("bytes", column)).cast("B")) for name, column in columns.items()}
        parts |= {**_parts_of(bundle), "fingerprint": encoded_print, "search": search}
        facts = _Directory(
            n_shards=len(bundle.shards), dims=dims, embedding_identity=embedding_identity,
            metadata=dict(metadata or {}), parts={},
        )  # fmt: skip
        _encode(facts)  # before anything is written
        with replaced_file(target) as file:
            file.write(bytes(_HEADER.size))
            placed: dict[str, tuple[int, int, int]] = {}
            for name, data in parts.items():
                padded = data + bytes(-len(data) % _ALIGNMENT)
                placed[name] = (file.tell(), len(data), xxhash.xxh3_64_intdigest(padded))
                file.write(padded)
            end = file.tell()
            directory = _encode(msgspec.structs.replace(facts, parts=placed))
            file.write(directory)
            file.seek(0)
            file.write(_header(end + len(directory), end, directory))
    except ConfigError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise write_error(target, error) from error


def _header(file_bytes: int, offset: int, directory: bytes) -> bytes:
    digest = xxhash.xxh3_64_intdigest(directory)
    fields = _HEADER.pack(_MAGIC, SCHEMA_VERSION, 0, file_bytes, offset, len(directory), digest, 0)
    return fields[:_SEALED_BYTES] + struct.pack("=Q", xxhash.xxh3_64_intdigest(fields[:_SEALED_BYTES]))


def _parts_of(bundle: PolicyBundle) -> dict[str, bytes]:
    rules = [shard.rule for shard in bundle.shards]
    # Without the names of fields, which would be a third of the file.
    documents = [_encode([*msgspec.structs.astuple(one.rule), one.compact_text]) for one in bundle.shards]
    offsets = array("Q", [0])
    for document in documents:
        offsets.append(offsets[-1] + len(document))
    parts = {
        "intent_masks": array("H", (_intent_mask(rule.intents) for rule in rules)).tobytes(),
        "risks": array("B", map(_risk_code, rules)).tobytes(),
        "priorities": array("i", (rule.priority for rule in rules)).tobytes(),
        "shard_offsets": offsets.tobytes(),
        "shards": b"".join(documents),
    }
    values: dict[str, list[object]] = {}
    for name in CODED:
        codes: dict[object, int] = {}
        numbers = array("i", (codes.setdefault(getattr(rule, name), len(codes)) for rule in rules))
        parts[f"codes.{name}"] = numbers.tobytes()
        values[name] = list(codes)
    documents_of = ("constitution", "manifest", "diagnostics", "relations")
    return {**parts, "values": _encode(values), **{name: _encode(getattr(bundle, name)) for name in documents_of}}


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


def _intent_mask(intents: Iterable[str]) -> int:
    mask = 0
    for intent in intents:
        mask |= INTENT_BITS.get(intent, 0)
    return mask


def _risk_code(rule: GuidanceRule) -> int:
    code = RISK_CODES.get(rule.risk_class)
    if code is None:
        raise ConfigError(f"rule {rule.id}: risk class {rule.risk_class!r} is not one of {', '.join(RISK_CODES)}")
    return code


# -- reading -----------------------------------------------------------------------------------------------------------


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
    store = ShardStore(path)
    asked = (
        store.embedding_identity if embedding_identity is None else embedding_identity,
        store.dims if dims is None else dims,
    )
    if asked != (store.embedding_identity, store.dims):
        raise StoreEmbeddingError(
            f"{store.path}: the shard store holds vectors of {store.embedding_identity!r} with {store.dims} "
            f"dimensions, asked for are {asked[0]!r} with {asked[1]}; `tipstaff compile` builds it again"
        )
    return store


class ShardStore:
    """An open store; see :func:`open_store`. Read-only, and safe to share among threads.

    The numeric columns are read-only views (`memoryview`) into the mapped file, ready for the kernels or for
    ``numpy.asarray``. A view that someone still holds keeps the map alive after :meth:`close`.

    Attributes
    ----------
    path
        The file.
    n_shards, dims
        Number of shards, and of numbers in a vector.
    embedding_identity, metadata
        As they were written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._bytes: memoryview | None = memoryview(self._map())
        self._directory = directory = self._read_directory(self._bytes)
        self.n_shards, self.dims = directory.n_shards, directory.dims
        self.embedding_identity, self.metadata = directory.embedding_identity, directory.metadata
        if self.n_shards < 0 or self.dims < 1:
            raise self._damaged(f"invalid store: {self.n_shards} shards with {self.dims} dimensions")
        self._checked: set[str] = set()
        self._check(directory.parts if self._bytes.nbytes <= CHECK_ALL_BYTES else _COLUMNS)
        rows = self.n_shards if "vectors" in directory.parts else 0  # or `search` is read instead
        vectors = self._numbers("vectors", "f", rows * self.dims)
        # For an empty column memoryview has no shape (0, dims), so it stays flat.
        self._views: dict[str, memoryview[Any]] = {
            "vectors": vectors.cast("B").cast("f", (rows, self.dims)) if rows else vectors
        }
        for name, code in _COLUMNS.items():
            self._views[name] = self._numbers(name, code, self.n_shards)

    @property
    def vectors(self) -> memoryview:
        """float32 (n_shards, dims), unit rows; empty, where `search` is read instead."""
        return self._view("vectors")

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
            If it is damaged.
        """
        if not 0 <= index < self.n_shards:
            raise IndexError(f"shard {index}: there are {self.n_shards}, counted from 0")
        offsets, documents = self._shards
        try:
            *fields, compact_text = msgspec.structs.astuple(
                _shard_decoder.decode(documents[offsets[index] : offsets[index + 1]])
            )
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._damaged(f"shard {index} cannot be decoded: {error}") from error
        return RuleShard(GuidanceRule(**dict(zip(GuidanceRule.__struct_fields__, fields, strict=True))), compact_text)

    def compact_text(self, index: int) -> str:
        """Return the line in which the model reads shard `index`; raises as :meth:`shard` does."""
        return self.shard(index).compact_text

    def codes(self, column: str) -> memoryview:
        """Return int32 (n_shards,): for each shard, the place of its value in :meth:`values`.

        `column` is one of `CODED`; `KeyError` for any other.
        """
        if column not in CODED:
            raise KeyError(f"{column!r} has no codes; those that have are {', '.join(CODED)}")
        self._check((f"codes.{column}", "shard_offsets", "shards"))  # who filters by codes reads shards next
        return self._numbers(f"codes.{column}", "i", self.n_shards)

    def values(self, column: str) -> tuple[Any, ...]:
        """Return the distinct values of a column: strings, None, or tuples of strings. See :meth:`codes`."""
        if column not in self._values:
            raise self._damaged(f"it has no values of {column!r}")
        return tuple(self._values[column])

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
        )

    def verify(self) -> None:
        """Compare every byte of the file with its checksum, the vectors of a large store included.

        Raises
        ------
        StoreDamagedError
            If one differs.
        """
        self._read_directory(self._live)
        self._checked.clear()
        self._check(self._directory.parts)

    def close(self) -> None:
        """Let go of the file. Closing twice is fine; other uses raise `ValueError` afterwards."""
        self._bytes = None
        self._views = {}
        self.__dict__.pop("_shards", None)

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

    # -- inside -----------------------------------------------------------------------------------------------------

    @cached_property
    def _shards(self) -> tuple[memoryview, memoryview]:
        self._check(("shard_offsets", "shards"))
        offsets = self._numbers("shard_offsets", "Q", self.n_shards + 1)
        return offsets, self._slice("shards")

    @cached_property
    def _values(self) -> dict[str, list[str | tuple[str, ...] | None]]:
        return self._decoded("values", _values_decoder.decode)

    @property
    def _live(self) -> memoryview:
        if self._bytes is None:
            raise ValueError(f"{self.path}: the shard store is closed")
        return self._bytes

    def _view(self, name: str) -> memoryview[Any]:
        self._live  # noqa: B018 - says so where it is closed
        return self._views[name]

    def _part(self, name: str) -> memoryview:
        self._check((name,))
        return self._slice(name)

    def _decoded(self, name: str, decode: Callable[[memoryview], _Part]) -> _Part:
        part = self._part(name)
        try:
            return decode(part)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._damaged(f"its {name} cannot be decoded") from error

    def _numbers(self, name: str, code: str, count: int | None) -> memoryview[Any]:
        part = self._slice(name)
        if count is not None and part.nbytes != count * struct.calcsize(code):
            raise self._damaged(f"its {name} are not {count} numbers")
        return part.cast(cast("Any", code))

    def _slice(self, name: str) -> memoryview:
        offset, length, _ = self._directory.parts.get(name, (_HEADER.size, 0, 0))
        return self._live[offset : offset + length]

    def _check(self, names: Iterable[str]) -> None:
        """Compare parts with their checksums, each once."""
        content = self._live
        parts = self._directory.parts
        for name in names:
            if name in parts and name not in self._checked:
                offset, length, digest = parts[name]
                if xxhash.xxh3_64_intdigest(content[offset : offset + length + -length % _ALIGNMENT]) != digest:
                    raise self._damaged(f"checksum mismatch of {name!r}")
                self._checked.add(name)

    def _damaged(self, what: str) -> StoreDamagedError:
        return StoreDamagedError(f"{self.path}: the shard store is damaged: {what}; `tipstaff compile` builds it again")

    def _read_directory(self, content: memoryview) -> _Directory:
        magic, version, _, file_bytes, offset, length, digest, seal = _HEADER.unpack_from(content)
        if magic != _MAGIC:
            raise self._damaged("wrong magic number: not a shard store")
        if xxhash.xxh3_64_intdigest(content[:_SEALED_BYTES]) != seal:
            raise self._damaged("checksum mismatch of its header")
        # Behind the seal: a flipped bit in the number is damage, not another version.
        if version != SCHEMA_VERSION:
            raise StoreVersionError(
                f"{self.path}: the shard store has schema version {version}, this tipstaff reads {SCHEMA_VERSION}; "
                "`tipstaff compile` builds it again"
            )
        if file_bytes != content.nbytes:
            raise self._damaged(f"it has {content.nbytes} bytes and should have {file_bytes}")
        if offset < _HEADER.size or offset + length != file_bytes:
            raise self._damaged("its directory does not end where the file does")
        if xxhash.xxh3_64_intdigest(content[offset:]) != digest:
            raise self._damaged("checksum mismatch of its directory")
        try:
            directory = _directory_decoder.decode(content[offset:])
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._damaged("its directory cannot be decoded") from error
        for name, (start, size, _) in directory.parts.items():
            if start < _HEADER.size or size < 0 or start + size > offset:
                raise self._damaged(f"part {name!r} lies outside the file")
        return directory

    def _map(self) -> mmap.mmap:
        try:
            # Non-blocking, or a pipe of this name would wait for its writer.
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise SourceNotFoundError(f"{self.path}: there is no shard store; `tipstaff compile` builds one") from error
        except OSError as error:
            raise StoreError(f"{self.path}: the shard store cannot be read: {error.strerror}") from error
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise self._damaged("it is not a regular file")
            if status.st_size < _HEADER.size:
                raise self._damaged(f"it has {status.st_size} bytes, less than its header")
            # A small file will be read from end to end at once: one system call then maps all pages.
            populate = mmap.MAP_POPULATE if status.st_size <= CHECK_ALL_BYTES else 0
            return mmap.mmap(descriptor, status.st_size, flags=mmap.MAP_SHARED | populate, prot=mmap.PROT_READ)
        except (OSError, ValueError) as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"{self.path}: the shard store cannot be mapped: {error}") from error
        finally:
            os.close(descriptor)
