"""The file that holds a shard store: a header, an Arrow IPC file and parts of its own, every byte under a checksum.

::

    0        header, 64 bytes: magic, schema version, file size, where the directory is, checksums
    64..     padding, so that the first column of the Arrow part starts at a multiple of 64
    ...      the Arrow IPC file (all columns)
    ...      named parts: mean row, constitution, manifest, ..., each MessagePack or plain numbers
    ...      the directory: a MessagePack map that names every buffer with offset, length and xxh3

Why not a plain Arrow IPC file: its footer, its messages and their padding cannot carry a checksum of themselves, and a
flipped bit there would first be noticed by the code that follows it. Here the header vouches for the directory, the
directory vouches for each named *segment*, and one checksum more (the *frame*) vouches for every byte that no segment
holds, so nothing unchecked ever reaches Arrow. Numbers are in the machine's own byte order, as Arrow's are: a file
from a machine of the other order shows as a foreign schema version.
"""

from __future__ import annotations

import mmap
import os
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec
import xxhash

from tipstaff.errors import SourceNotFoundError, StoreDamagedError, StoreError, StoreVersionError

MAGIC: Final = b"TIPSTAFF"
SCHEMA_VERSION: Final = 5
"""Rises with every change of layout or columns; a store of another version is built again, never converted."""

CHECK_ALL_BYTES: Final = 4 * 1024 * 1024
"""A store up to this size is checked to the last byte when it is opened."""

HEADER_BYTES: Final = 64

_HEADER: Final = struct.Struct("=8sIIQQQQ")  # magic, version, reserved, file, directory: offset, length, xxh3
_SEAL: Final = struct.Struct("=Q")  # xxh3 of the header up to itself, in its last 8 bytes
_SEALED_BYTES: Final = HEADER_BYTES - _SEAL.size


class Directory(msgspec.Struct, frozen=True, kw_only=True):
    """What a store holds and where.

    Attributes
    ----------
    n_shards, dims
        Shape of the embedding column.
    embedding_identity
        Name of the embedding that made the vectors, such as ``hash-384``.
    metadata
        What the writer wished to add.
    arrow
        Offset and length of the Arrow IPC file, in bytes.
    segments
        By name: offset and length in bytes, and the xxh3 (64 bits) of the segment.
    frame
        The xxh3 of all bytes between header and directory that belong to no segment.
    content
        The xxh3 of all bytes between header and directory.
    """

    n_shards: int
    dims: int
    embedding_identity: str
    metadata: dict[str, str]
    arrow: tuple[int, int] = (0, 0)
    segments: dict[str, tuple[int, int, int]] = {}
    frame: int = 0
    content: int = 0


class Header(NamedTuple):
    """The fixed part at the beginning of the file; sizes and offsets in bytes."""

    version: int
    file_bytes: int
    directory_offset: int
    directory_bytes: int
    directory_digest: int

    def pack(self) -> bytes:
        """Return the header as `HEADER_BYTES` bytes, sealed with its own checksum."""
        fields = _HEADER.pack(MAGIC, self.version, 0, *self[1:]).ljust(_SEALED_BYTES, b"\0")
        return fields + _SEAL.pack(xxhash.xxh3_64_intdigest(fields))


_directory_decoder: Final = msgspec.msgpack.Decoder(Directory)


def finish_container(file: BinaryIO, directory: Directory, extents: Mapping[str, tuple[int, int]]) -> None:
    """Add the checksums of what has been written, the directory and the header.

    Parameters
    ----------
    file
        Holds `HEADER_BYTES` of anything, then the content; its position is the content's end.
    directory
        All but the checksums.
    extents
        Offset and length of each segment.

    Raises
    ------
    OSError
        If writing fails.
    """
    end = file.tell()
    file.flush()
    with mmap.mmap(file.fileno(), end, access=mmap.ACCESS_READ) as mapped, memoryview(mapped) as content:
        segments: dict[str, tuple[int, int, int]] = {}
        for name, (offset, length) in extents.items():
            with content[offset : offset + length] as part:
                segments[name] = (offset, length, xxhash.xxh3_64_intdigest(part))
        frame = _digest_of(content, _gaps(segments.values(), end))
        whole = _digest_of(content, [(HEADER_BYTES, end - HEADER_BYTES)])
    encoded = msgspec.msgpack.encode(
        msgspec.structs.replace(directory, segments=segments, frame=frame, content=whole),
    )
    file.write(encoded)
    file.seek(0)
    digest = xxhash.xxh3_64_intdigest(encoded)
    file.write(Header(SCHEMA_VERSION, end + len(encoded), end, len(encoded), digest).pack())
    file.flush()


class Container:
    """A mapped store file whose header and directory are sound.

    Segments are views into the map. They stay valid for as long as someone holds them, also after the file was replaced
    or this object was closed.

    Raises
    ------
    SourceNotFoundError
        If there is no such file.
    StoreDamagedError
        If the file is not a store, or is truncated or altered.
    StoreVersionError
        If another schema version wrote it.
    StoreError
        If the file cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._bytes = memoryview(self._map())
        header = self._read_header()
        start, length = header.directory_offset, header.directory_bytes
        if start < HEADER_BYTES or start + length != header.file_bytes:
            raise self.damaged("its directory does not end where the file does")
        encoded = self._bytes[start:]
        if xxhash.xxh3_64_intdigest(encoded) != header.directory_digest:
            raise self.damaged("checksum mismatch of its directory")
        try:
            self.directory = _directory_decoder.decode(encoded)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self.damaged("its directory cannot be decoded") from error
        self._content_end = start

    @property
    def size(self) -> int:
        """Size of the file in bytes."""
        return self._bytes.nbytes

    def damaged(self, what: str) -> StoreDamagedError:
        """Return the error that says that this file is damaged and what to do."""
        return StoreDamagedError(f"{self.path}: the shard store is damaged: {what}; `tipstaff compile` builds it again")

    def segment(self, name: str, length: int | None = None) -> memoryview:
        """Return the bytes of a segment, empty where there is none.

        Parameters
        ----------
        name
            As in the directory.
        length
            How many bytes there must be at least; that many are returned. None returns all.

        Raises
        ------
        StoreDamagedError
            If the segment lies outside the file or is too short.
        """
        offset, available, _ = self.directory.segments.get(name, (HEADER_BYTES, 0, 0))
        wanted = available if length is None else length
        if offset < HEADER_BYTES or available < wanted or wanted < 0 or offset + available > self._content_end:
            raise self.damaged(f"column buffer {name!r} lies outside the file")
        return self._bytes[offset : offset + wanted]

    def slice(self, offset: int, length: int) -> memoryview:
        """Return a range of the file's bytes."""
        return self._bytes[offset : offset + length]

    def check(self, names: Iterable[str]) -> None:
        """Compare segments with their checksums.

        Raises
        ------
        StoreDamagedError
            If one differs.
        """
        segments = self.directory.segments
        for name in names:
            if name in segments and xxhash.xxh3_64_intdigest(self.segment(name)) != segments[name][2]:
                raise self.damaged(f"checksum mismatch of {name!r}")

    def check_frame(self) -> None:
        """Compare the bytes that belong to no segment, Arrow's own metadata among them, with their checksum.

        Raises
        ------
        StoreDamagedError
            If they differ.
        """
        gaps = _gaps(self.directory.segments.values(), self._content_end)
        if _digest_of(self._bytes, gaps) != self.directory.frame:
            raise self.damaged("checksum mismatch of its Arrow metadata")

    def check_all(self) -> None:
        """Compare every byte of the file with its checksum.

        Raises
        ------
        StoreDamagedError
            If one differs.
        """
        if _digest_of(self._bytes, [(HEADER_BYTES, self._content_end - HEADER_BYTES)]) == self.directory.content:
            return
        # Find out where, for the message.
        self.check(self.directory.segments)
        self.check_frame()
        raise self.damaged("checksum mismatch of its content")

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
                raise self.damaged("it is not a regular file")
            if status.st_size < HEADER_BYTES:
                raise self.damaged(f"it has {status.st_size} bytes, less than its header")
            # A small file will be read from end to end at once: one system call then maps all pages.
            populate = mmap.MAP_POPULATE if status.st_size <= CHECK_ALL_BYTES else 0
            return mmap.mmap(descriptor, status.st_size, flags=mmap.MAP_SHARED | populate, prot=mmap.PROT_READ)
        except (OSError, ValueError) as error:
            if isinstance(error, StoreError):
                raise
            raise StoreError(f"{self.path}: the shard store cannot be mapped: {error}") from error
        finally:
            os.close(descriptor)

    def _read_header(self) -> Header:
        fields = self._bytes[:_SEALED_BYTES]
        magic, version, _, *rest = _HEADER.unpack_from(fields)
        if magic != MAGIC:
            raise self.damaged("wrong magic number: not a shard store")
        (seal,) = _SEAL.unpack_from(self._bytes, _SEALED_BYTES)
        if xxhash.xxh3_64_intdigest(fields) != seal:
            raise self.damaged("checksum mismatch of its header")
        # Behind the seal: a flipped bit in the number is damage, not another version.
        if version != SCHEMA_VERSION:
            raise StoreVersionError(
                f"{self.path}: the shard store has schema version {version}, this tipstaff reads {SCHEMA_VERSION}; "
                "`tipstaff compile` builds it again"
            )
        header = Header(version, *rest)
        if header.file_bytes != self.size:
            raise self.damaged(f"it has {self.size} bytes and should have {header.file_bytes}")
        return header


def _gaps(segments: Iterable[tuple[int, int, int]], end: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges between header and `end` that no segment covers, as offset and length."""
    position = HEADER_BYTES
    for offset, length, _ in sorted(segments):
        yield position, offset - position
        position = offset + length
    yield position, end - position


def _digest_of(content: memoryview, ranges: Iterable[tuple[int, int]]) -> int:
    state = xxhash.xxh3_64()
    for offset, length in ranges:
        with content[offset : offset + max(length, 0)] as part:
            state.update(part)
    return state.intdigest()
