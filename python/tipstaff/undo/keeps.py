"""Keeps on disk: one folder for each call that would have lost something, written natively before the call ran.

``STATE/undo/<first 16 hex digits of SHA-1 of the root>/<time ns>-<pid>-<bytes>/`` has ``keep`` (the contents of small
files, then the manifest and a trailer), ``0 1 ...`` (larger files), ``same0 ...`` (links to files with several names),
``index`` (of git) and ``after`` (the references after the call). Names that begin with a dot are unfinished.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import struct
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from tipstaff.errors import SourceNotFoundError, StoreDamagedError
from tipstaff.model import Record
from tipstaff.store.state import make_private, repository_of, state_folder

IDENTIFIER: Final = re.compile(r"(\d{1,20})-(\d{1,10})-(\d{1,16})")
_TRAILER: Final = struct.Struct("<8sQII")
_MAGIC: Final = b"tipkeep1"


class Entry(msgspec.Struct, frozen=True, rename={"kind": "class"}):
    """A file or folder as it was; times are in nanoseconds. A regular file has `how` or `object`, a link `link`."""

    path: str
    kind: str
    mode: int
    uid: int
    gid: int
    mtime: int
    size: int
    ino: int
    dev: int
    nlink: int
    xattrs: dict[str, str] = {}
    link: str | None = None
    object: str | None = None
    repository: str = ""
    how: str | None = None
    at: int = 0
    crc: int = 0
    file: str | None = None
    linked: bool = False
    same: str | None = None
    torn: bool = False


class Git(msgspec.Struct, frozen=True):
    """What was noted of a repository.

    `pins` is the prefix of the references that pin commits; `logs` and `sections` are the reflogs and the settings of
    branches that went, by the name of the reference.
    """

    root: str
    dir: str
    common: str
    head: str = ""
    refs: dict[str, str] = {}
    logs: dict[str, str] = {}
    sections: dict[str, str] = {}
    stashes: tuple[tuple[str, str], ...] = ()
    index: bool = False
    pins: str = ""


class Manifest(msgspec.Struct, frozen=True):
    """What a keep says about itself; paths are absolute, and no folder in them was a link."""

    command: str
    session: str
    time: int
    root: str
    moves: tuple[tuple[str, str, tuple[tuple[str, int, int], ...]], ...] = ()
    absent: tuple[str, ...] = ()
    git: Git | None = None
    files: tuple[Entry, ...] = ()
    version: int = 1


class KeptCall(Record, frozen=True):
    """A call of which something was kept.

    Attributes
    ----------
    id
        What `tipstaff.undo.undo` takes.
    time
        When, in milliseconds since 1970.
    session_id
        The agent's session, empty where it is unknown.
    command
        What was run, secrets masked; ``undo ID`` where an undo kept what it replaced.
    files
        How many files and links came with it.
    bytes
        What it takes on the disk.
    """

    id: str
    time: int
    session_id: str
    command: str
    files: int
    bytes: int


class Keep(NamedTuple):
    """A keep's name, taken apart."""

    folder: Path
    time: int
    process: int
    bytes: int

    @property
    def id(self) -> str:
        """Its identifier."""
        return self.folder.name.removeprefix(".")


def undo_folder(state: Path | None = None) -> Path:
    """Return the folder of all keeps, whether it exists or not."""
    return (state or state_folder()) / "undo"


@contextlib.contextmanager
def locked(base: Path) -> Generator[None]:
    """Hold the lock of undo and retention; a keep takes none."""
    import fcntl

    make_private(base)
    descriptor = os.open(base / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def root_of(repository: str | os.PathLike[str]) -> str:
    """Return the root of the repository that holds a folder, the folder itself where there is none; no links in it."""
    folder = Path(os.path.realpath(repository))
    return os.fspath(repository_of(folder) or folder)


def folder_of(root: str, state: Path | None = None) -> Path:
    """Return the folder of a repository's keeps."""
    name = hashlib.sha1(os.fsencode(root), usedforsecurity=False).hexdigest()[:16]
    return undo_folder(state) / name


def keeps_in(folder: Path, *, unfinished: bool = False) -> list[Keep]:
    """Return the whole keeps of a repository's folder, or the unfinished ones, the latest first."""
    found: list[Keep] = []
    try:
        names = [one.name for one in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    for name in names:
        match = IDENTIFIER.fullmatch(name.removeprefix("."))
        if match is not None and name.startswith(".") == unfinished:
            found.append(Keep(folder / name, *map(int, match.groups())))
    return sorted(found, key=lambda keep: (keep.time, keep.id), reverse=True)


def repositories(state: Path | None = None) -> Iterator[tuple[Path, str]]:
    """Yield each repository's folder, and the repository's root as its newest readable keep has it."""
    base = undo_folder(state)
    for folder in sorted(base.iterdir()) if base.is_dir() else ():
        for keep in keeps_in(folder):
            try:
                yield folder, read_manifest(keep.folder).root
            except (StoreDamagedError, OSError):
                continue
            break


def read_manifest(folder: Path) -> Manifest:
    """Read what a keep says about itself.

    Raises
    ------
    StoreDamagedError
        It is torn or altered, or of another version.
    """
    path = folder / "keep"
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TRAILER.size))
            trailer = file.read()
            magic, length, crc, own = _TRAILER.unpack(trailer) if len(trailer) == _TRAILER.size else (b"", 0, 0, 0)
            if magic != _MAGIC or own != zlib.crc32(trailer[:-4]) or length > size - _TRAILER.size:
                raise StoreDamagedError(f"{path}: it is torn; what it kept cannot be read")
            file.seek(size - _TRAILER.size - length)
            text = file.read(length)
        if zlib.crc32(text) != crc:
            raise StoreDamagedError(f"{path}: its manifest is altered; what it kept cannot be read")
        # Bytes that are no UTF-8 are lone surrogates, which only the standard decoder takes.
        manifest = msgspec.convert(json.loads(text), Manifest)
    except (ValueError, FileNotFoundError) as error:
        if isinstance(error, StoreDamagedError):
            raise
        raise StoreDamagedError(f"{path}: {error}; what it kept cannot be read") from None
    if manifest.version != 1:
        raise StoreDamagedError(f"{path}: it is of version {manifest.version}; this tipstaff reads version 1")
    return manifest


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or below it, both without links."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def kept_in(repository: str | os.PathLike[str], state: Path | None = None) -> Iterator[tuple[Keep, Manifest]]:
    """Yield the keeps of a repository and of those inside it, the latest first; unreadable ones are left out."""
    root = root_of(repository)
    own = folder_of(root, state)
    folders = [own, *(folder for folder, other in repositories(state) if folder != own and is_below(other, root))]
    found = [keep for folder in folders for keep in keeps_in(folder)]
    for keep in sorted(found, key=lambda keep: (keep.time, keep.id), reverse=True):
        try:
            manifest = read_manifest(keep.folder)
        except (StoreDamagedError, OSError):
            continue
        yield keep, manifest


def kept(repository: str | os.PathLike[str] = ".") -> tuple[KeptCall, ...]:
    """Return the kept calls of a repository, the latest first.

    Parameters
    ----------
    repository
        A folder in it; repositories inside it count as well.
    """
    return tuple(kept_call(keep, manifest) for keep, manifest in kept_in(repository))


def kept_call(keep: Keep, manifest: Manifest) -> KeptCall:
    """Return the record of a keep."""
    files = sum(entry.kind != "folder" for entry in manifest.files)
    return KeptCall(keep.id, keep.time // 1_000_000, manifest.session, manifest.command, files, keep.bytes)


def keep_named(identifier: str | None, repository: str | os.PathLike[str], state: Path | None = None) -> Keep:
    """Return a keep by its identifier, wherever it is, or the latest of a repository where that is None.

    Raises
    ------
    SourceNotFoundError
        There is none.
    """
    if identifier is None:
        for keep, _ in kept_in(repository, state):
            return keep
        raise SourceNotFoundError(f"nothing was kept of {root_of(repository)}: there is nothing to undo")
    base = undo_folder(state)
    for folder in base.iterdir() if base.is_dir() else ():
        for keep in keeps_in(folder):
            if keep.id == identifier:
                return keep
    raise SourceNotFoundError(f"nothing is kept under {identifier!r}; `tipstaff undo --list` shows what is")
