"""Undo: what was kept of a call comes back, and what stands there now is kept first, so that an undo can be undone.

The order: plan, keep what is in the way, take that away, move back, folders, files (a temporary name, contents,
metadata, fsync, rename), folders' times from the deepest up, references, stashes, the index. A file that equals what
was kept is left alone. Every path is opened folder by folder, so that a link in it is never followed.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from tipstaff.errors import StoreDamagedError, StoreWriteError
from tipstaff.model import Record
from tipstaff.undo import references
from tipstaff.undo.keeps import Entry, Keep, Manifest, is_below, keep_named, locked, read_manifest, undo_folder
from tipstaff.undo.retention import settle

_Result = TypeVar("_Result")

_TEMPORARY: Final = ".tipstaff-undo"
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE: Final = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_LINK: Final = "a folder on the way is a link or a file now"
_UNLIMITED: Final = {"bytes": 1 << 50, "files": 1 << 30, "walk": 1 << 30, "free": 64 << 20, "milliseconds": 600_000}
"""Whoever undoes wants it whole: only a full disk stops it."""

_CHUNK: Final = 1 << 20
_BATCH: Final = 1_000
_FLUSHED_ONE_BY_ONE: Final = 16


class NotRestored(Record, frozen=True):
    """A file, reference or stash that did not come back, and why."""

    path: str
    reason: str


class UndoReport(Record, frozen=True):
    """What an undo did, or would do.

    Attributes
    ----------
    restored
        Paths, names of references, ``stash MESSAGE`` and ``index``, in the order in which they came back.
    kept_aside
        The identifier of the keep that undoes this undo, empty where nothing was changed.
    failed
        What did not come back.
    """

    restored: tuple[str, ...]
    kept_aside: str
    failed: tuple[NotRestored, ...]


def undo(
    id: str | None = None,  # noqa: A002 - the public name
    *,
    repository: str | os.PathLike[str] = ".",
    files: Iterable[str | os.PathLike[str]] = (),
    dry_run: bool = False,
) -> UndoReport:
    """Give back what was kept of a call. Nothing is overwritten that is not kept as well.

    Parameters
    ----------
    id
        Of the keep, as `tipstaff.undo.kept` has it; the latest of the repository where None.
    repository
        A folder of the repository.
    files
        Only these files and folders, relative to `repository`, and nothing of git.
    dry_run
        Only say what would come back.

    Raises
    ------
    SourceNotFoundError
        There is no such keep.
    StoreDamagedError
        It cannot be read.
    StoreWriteError
        What stands there now cannot be kept (the disk is full); nothing was changed.
    """
    base = undo_folder()
    keep = keep_named(id, repository)
    # Links on the way to a file count as they are, one that is the file itself stays one.
    near = Path(os.path.abspath(repository))  # noqa: PTH100 - by its words
    wanted = [os.path.join(os.path.realpath((near / one).parent), (near / one).name) for one in files]  # noqa: PTH118
    with locked(base), references.Objects() as objects:
        restoration = _Restoration(keep, read_manifest(keep.folder), wanted, objects)
        return restoration.preview() if dry_run else restoration.run(base.parent)


class _Restoration:
    """One keep coming back."""

    def __init__(self, keep: Keep, manifest: Manifest, wanted: list[str], objects: references.Objects) -> None:
        self._keep, self._manifest, self._objects = keep, manifest, objects
        self._wanted = wanted
        self._numbers = {entry.path: number for number, entry in enumerate(manifest.files)}
        self._git = None if wanted else manifest.git
        self._done: list[str] = []
        self._failed: list[NotRestored] = []
        self._plan()

    # -- what is to be done --------------------------------------------------------------------------------------------

    def _plan(self) -> None:
        entries = [entry for entry in self._manifest.files if self._is_wanted(entry.path)]
        self._moves = self._moves_back()
        away = {target for _, target in self._moves}
        self._folders = {entry.path: entry for entry in entries if entry.kind == "folder"}
        self._files: dict[str, Entry] = {}
        self._here: dict[str, os.stat_result | None] = {}
        self._in_the_way: dict[str, str] = {source: "delete" for source, _ in self._moves if _lstat(source)}
        for entry in entries:
            try:
                self._plan_one(entry, away)
            except (OSError, StoreDamagedError) as error:
                self._fail(entry.path, error)
        for source in away & self._in_the_way.keys():
            del self._in_the_way[source]
        made = self._manifest.absent
        self._absent = [one for one in made if one.startswith("/") and self._is_wanted(one) and _lstat(one)]
        self._absent_references = [one for one in made if not self._wanted and not one.startswith("/")]

    def _plan_one(self, entry: Entry, away: set[str]) -> None:
        """Find whether an entry comes back, and what it takes the place of."""
        here = self._here[entry.path] = _lstat(entry.path)
        for above, about in _not_there_above(entry.path):
            if about is None:
                continue
            if above == self._manifest.root or not is_below(above, self._manifest.root):
                raise OSError(errno.ELOOP, _LINK)
            self._in_the_way[above] = "delete"
        if entry.kind == "folder":
            if here is not None and not stat.S_ISDIR(here.st_mode):
                self._in_the_way[entry.path] = "delete"
        elif entry.path in away or here is None:
            self._files[entry.path] = entry
        elif not self._stands(entry, here):
            self._files[entry.path] = entry
            self._in_the_way[entry.path] = "write" if _is_the_same_file(entry, here) else "delete"

    def _is_wanted(self, path: str) -> bool:
        return not self._wanted or any(is_below(path, one) for one in self._wanted)

    def _moves_back(self) -> list[tuple[str, str]]:
        """Return the moves whose target still has the files of its source, the last first."""
        found: list[tuple[str, str]] = []
        for source, target, was in reversed(self._manifest.moves):
            if not (self._is_wanted(source) or self._is_wanted(target)):
                continue
            now = set(_listing(target))
            if now and now.issuperset(was):
                found.append((source, target))
            elif not set(_listing(source)).issuperset(was):
                self._fail(source, f"it was moved to {target}, which has changed since")
        return found

    def _stands(self, entry: Entry, here: os.stat_result) -> bool:
        """Return whether what stands there is what was kept."""
        if stat.S_IFMT(here.st_mode) != stat.S_IFMT(entry.mode):
            return False
        if stat.S_ISLNK(here.st_mode):
            return _at(entry.path, lambda name, folder: os.readlink(name, dir_fd=folder)) == entry.link
        if not stat.S_ISREG(here.st_mode):
            return True
        is_dressed = (here.st_mtime_ns, here.st_mode) == (entry.mtime, entry.mode)
        return is_dressed and here.st_size == entry.size and self._has_its_contents(entry)

    def _has_its_contents(self, entry: Entry) -> bool:
        now = _at(entry.path, lambda name, folder: os.open(name, _READ, dir_fd=folder))
        with os.fdopen(now, "rb") as file:
            if entry.file is None:
                return file.read() == self._contents(entry)
            with (self._keep.folder / entry.file).open("rb") as kept:
                while chunk := file.read(_CHUNK):
                    if kept.read(len(chunk)) != chunk:
                        return False
                return not kept.read(1)

    # -- doing it ------------------------------------------------------------------------------------------------------

    def preview(self) -> UndoReport:
        """Return what would come back."""
        note, names = self._git, list[str]()
        if note is not None:
            names = list(references.changed_references(note))
            names += [f"stash {message}" for _, message in references.missing_stashes(note)]
            names += ["index"] if references.is_index_changed(note, self._keep.folder / "index") else []
        moved = [source for source, _ in self._moves]
        return UndoReport((*moved, *self._files, *self._absent, *names), "", tuple(self._failed))

    def run(self, state: Path) -> UndoReport:
        """Keep what is in the way, then give everything back."""
        later = self._keep_aside(state)
        for path in sorted(self._absent, reverse=True):
            self._try(path, _remove_made)
        sources = {source for source, _ in self._moves}
        for path, kind in self._in_the_way.items():
            here = _lstat(path)
            # A file takes the place of another by its rename alone.
            by_rename = path in self._files and path not in sources and not (here and stat.S_ISDIR(here.st_mode))
            if here is None or kind != "delete" or by_rename:
                continue
            try:
                _at(path, _remove)
            except OSError as error:
                self._fail(path, error)
        for source, target in self._moves:
            self._try(source, partial(_move, target), make=True)
        for path in self._folders:
            if _lstat(path) is None:
                self._try(path, lambda name, folder: os.mkdir(name, 0o700, dir_fd=folder), make=True)
        files = list(self._files.items())
        for start in range(0, len(files), _BATCH):
            self._put(files[start : start + _BATCH])
        for path in sorted(self._folders, key=lambda path: -path.count("/")):
            with contextlib.suppress(OSError):  # one behind a link, which its files have said
                folder = _at(path, lambda name, folder: os.open(name, _READ_FOLDER, dir_fd=folder))
                _dress(self._folders[path], folder, flush=False)
        self._restore_git()
        if later is not None:
            settle(later)
        return UndoReport(tuple(self._done), later.name if later else "", tuple(self._failed))

    def _keep_aside(self, state: Path) -> Path | None:
        """Keep what the undo takes away, and note what it makes, so that undoing it takes that away again."""
        from tipstaff.kernels import _undo

        root, note = self._manifest.root, self._git
        effects: list[tuple[str, ...]] = [(kind, path) for path, kind in self._in_the_way.items()]
        effects += [("delete", path) for path in self._absent]
        away = {target for _, target in self._moves}
        comes = dict.fromkeys((*self._folders, *self._files, *(source for source, _ in self._moves)))
        above = dict.fromkeys(one for path in comes for one, _ in _not_there_above(path)[::-1])
        made = [path for path in (*above, *comes) if path in away or _lstat(path) is None]
        made = [path for path in dict.fromkeys(made) if path not in {source for source, _ in self._moves}]
        gone = [line.split(" ")[0] for line in self._absent_references]
        effects += [("git", "stash") if name == "stash" else ("git", "ref", name) for name in dict.fromkeys(gone)]
        if note is not None and Path(root, ".git").exists():
            changed, stashes = references.changed_references(note), references.missing_stashes(note)
            made += [f"{name} {note.refs[name]}" for name, now in changed.items() if not now]
            made += [f"stash {commit}" for commit, _ in stashes]
            effects += [("git", "ref", name) for name in changed]
            effects += [("git", "index")] if references.is_index_changed(note, self._keep.folder / "index") else []
        if not effects and not made and not self._moves:
            return None
        near = next(one for one in (Path(root), *Path(root).parents) if one.is_dir())
        folder, why, *_ = _undo.keep(
            effects, os.fspath(near), os.fspath(state), command=f"undo {self._keep.id}", root=root, limits=_UNLIMITED,
            absent=made, moves=[(target, source) for source, target in self._moves],
        )  # fmt: skip
        if why is not None:
            what = f"what stands there now cannot be kept: {why}; nothing was changed"
            raise StoreWriteError(errno.ENOSPC, what, root)
        return Path(folder) if folder else None

    def _attempt(self, path: str, action: Callable[[str, int], object], *, make: bool = False) -> bool:
        try:
            _at(path, action, make=make)
        except (OSError, StoreDamagedError) as error:
            self._fail(path, error)
            return False
        return True

    def _try(self, path: str, action: Callable[[str, int], object], *, make: bool = False) -> None:
        if self._attempt(path, action, make=make):
            self._done.append(path)

    def _fail(self, path: str, why: Exception | str) -> None:
        reason = (why.strerror or str(why)) if isinstance(why, OSError) else str(why)
        self._failed.append(NotRestored(path, reason))

    def _restore_git(self) -> None:
        note = self._git
        if Path(self._manifest.root, ".git").exists():
            references.remove_made(self._manifest.root, self._absent_references)
        if note is None or not Path(note.root, ".git").exists():
            return
        after: dict[str, str] = {}
        with contextlib.suppress(OSError, ValueError):
            after = json.loads((self._keep.folder / "after").read_bytes())
        done, failed = references.restore_references(note, after)
        self._done += done
        self._failed += [NotRestored(*one) for one in failed]
        if references.is_index_changed(note, self._keep.folder / "index"):
            if why := references.restore_index(note, self._keep.folder / "index"):
                self._failed.append(NotRestored("index", why))
            else:
                self._done.append("index")

    # -- one file ------------------------------------------------------------------------------------------------------

    def _contents(self, entry: Entry) -> bytes:
        """Return what was kept of a small file, or what git has."""
        if entry.object is not None:
            data = self._objects.contents(entry)
            if data is None:
                raise StoreDamagedError("git no longer has it")
            return data
        with (self._keep.folder / "keep").open("rb") as file:
            data = os.pread(file.fileno(), entry.size, entry.at)
        if zlib.crc32(data) != entry.crc:
            raise StoreDamagedError("what was kept of it is altered")
        return data

    def _put(self, files: list[tuple[str, Entry]]) -> None:
        """Write files under temporary names, flush them, and put them in their places."""
        flush = len(files) <= _FLUSHED_ONE_BY_ONE
        ready = [path for path, entry in files if self._attempt(path, partial(self._write, entry, flush), make=True)]
        if not flush:
            for above in {os.lstat(path).st_dev: path for path in {path.rpartition("/")[0] for path in ready}}.values():
                _sync_file_system(above)
        for path in ready:
            self._try(path, partial(_rename, self._temporary(path), self._here[path]))
            if self._files[path].torn:
                self._fail(path, "it came back, as it was read while somebody wrote to it: a part may be newer")

    def _temporary(self, path: str) -> str:
        """Return the temporary name of a file, the same in each undo of this keep."""
        return f"{_TEMPORARY}-{self._numbers[path]}"

    def _write(self, entry: Entry, flush: bool, name: str, folder: int) -> None:
        """Write a file under its temporary name."""
        temporary = self._temporary(entry.path)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)  # of an undo that was killed
        kind = stat.S_IFMT(entry.mode)
        here = _stat_in(name, folder)
        if kind == stat.S_IFLNK:
            os.symlink(entry.link or "", temporary, dir_fd=folder)
            os.utime(temporary, ns=(entry.mtime, entry.mtime), dir_fd=folder, follow_symlinks=False)
        elif kind == stat.S_IFIFO:
            os.mkfifo(temporary, stat.S_IMODE(entry.mode), dir_fd=folder)
        elif self._other_names_have_it(entry):
            os.link(self._keep.folder / (entry.same or ""), temporary, dst_dir_fd=folder, follow_symlinks=False)
        else:
            data = self._contents(entry) if entry.file is None else self._keep.folder / entry.file
            if here is not None and _is_the_same_file(entry, here):  # its other names get it back as well
                file = os.open(name, _WRITE | os.O_TRUNC, dir_fd=folder)
            else:
                file = os.open(temporary, _WRITE | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
            if isinstance(data, bytes):
                with os.fdopen(file, "wb", closefd=False) as stream:
                    stream.write(data)
            else:
                copy_extents(data, file)
            _dress(entry, file, flush=flush)

    def _other_names_have_it(self, entry: Entry) -> bool:
        """Return whether the link that was kept of a file with several names still holds what it held then."""
        if entry.same is None:
            return False
        try:
            descriptor = os.open(self._keep.folder / entry.same, _READ)
        except OSError:
            return False
        with os.fdopen(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            if (about.st_size, about.st_mtime_ns, about.st_mode) != (entry.size, entry.mtime, entry.mode):
                return False
            return about.st_nlink > 1 and (entry.file is not None or file.read() == self._contents(entry))


def copy_extents(source: Path, target: int) -> None:
    """Copy a file into an open one, sharing its blocks where the file system can, and leaving its holes."""
    with source.open("rb") as file:
        at, size = 0, os.fstat(file.fileno()).st_size
        os.ftruncate(target, size)
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:  # a hole up to the end
                return
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            while at < end:
                try:
                    count = os.copy_file_range(file.fileno(), target, end - at, at, at)
                except (OSError, AttributeError):
                    count = os.pwrite(target, os.pread(file.fileno(), min(end - at, _CHUNK), at), at)
                if not count:
                    return
                at += count


def _sync_file_system(folder: str) -> None:
    """Flush the file system of a folder: of many files, each flush alone takes milliseconds."""
    import ctypes

    descriptor = _open_folder(folder)
    try:
        readable = os.open(".", _READ_FOLDER, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = readable
        if ctypes.CDLL(None).syncfs(descriptor) != 0:
            os.sync()
    except AttributeError:  # another system than Linux
        os.sync()
    finally:
        os.close(descriptor)


def _dress(entry: Entry, descriptor: int, *, flush: bool) -> None:
    """Give an open file or folder its owner, attributes, mode and times, and close it."""
    try:
        about, mode = os.fstat(descriptor), stat.S_IMODE(entry.mode)
        if (about.st_uid, about.st_gid) != (entry.uid, entry.gid):
            try:
                os.fchown(descriptor, entry.uid, entry.gid)
            except PermissionError:
                mode &= ~(stat.S_ISUID | stat.S_ISGID)  # not with another owner's
        for name, value in entry.xattrs.items() if hasattr(os, "setxattr") else ():
            with contextlib.suppress(OSError):  # of the system's, which only it may set
                os.setxattr(descriptor, name, bytes.fromhex(value))
        os.fchmod(descriptor, mode)
        os.utime(descriptor, ns=(entry.mtime, entry.mtime))
        if flush:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


# -- paths without links -----------------------------------------------------------------------------------------------


def _open_folder(path: str, *, make: bool = False) -> int:
    """Open a folder, each part of its path from the one before."""
    here = os.open("/", _FOLDER)
    try:
        for name in filter(None, path.split("/")):
            try:
                below = os.open(name, _FOLDER, dir_fd=here)
            except FileNotFoundError:
                if not make:
                    raise
                os.mkdir(name, 0o777, dir_fd=here)
                below = os.open(name, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
    except BaseException as error:
        os.close(here)
        if isinstance(error, OSError) and error.errno in {errno.ENOTDIR, errno.ELOOP}:
            raise OSError(errno.ELOOP, _LINK) from None
        raise
    return here


def _at(path: str, action: Callable[[str, int], _Result], *, make: bool = False) -> _Result:
    """Return what an action returns for a name in its opened folder."""
    above, _, name = path.rpartition("/")
    folder = _open_folder(above, make=make)
    try:
        return action(name, folder)
    finally:
        os.close(folder)


def _stat_in(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _lstat(path: str) -> os.stat_result | None:
    """Return what stands at a path, None where nothing does, or where a folder on the way is none or a link."""
    try:
        return _at(path, _stat_in)
    except OSError:
        return None


def _not_there_above(path: str) -> list[tuple[str, os.stat_result | None]]:
    """Return the folders of a path that are none now, the nearest first, and what stands there instead."""
    found: list[tuple[str, os.stat_result | None]] = []
    while path := path.rpartition("/")[0]:
        about = _lstat(path)
        if about is not None and stat.S_ISDIR(about.st_mode):
            break
        found.append((path, about))
    return found


def _is_the_same_file(entry: Entry, here: os.stat_result) -> bool:
    """Return whether a file with several names is still the one that was kept."""
    is_linked = entry.nlink > 1 and here.st_nlink > 1 and stat.S_ISREG(here.st_mode)
    return is_linked and (here.st_ino, here.st_dev) == (entry.ino, entry.dev)


def _listing(path: str) -> list[tuple[str, int, int]]:
    """Return (path relative to it, size, mtime in ns) of a file, or of all files below a folder."""
    here = _lstat(path)
    if here is None:
        return []
    if not stat.S_ISDIR(here.st_mode):
        return [("", here.st_size, here.st_mtime_ns)]
    found: list[tuple[str, int, int]] = []
    for folder, folders, names in os.walk(path):
        for name in (*names, *(one for one in folders if Path(folder, one).is_symlink())):
            about = os.lstat(one := f"{folder}/{name}")
            found.append((one[len(path) + 1 :], about.st_size, about.st_mtime_ns))
    return sorted(found)


def _remove(name: str, folder: int) -> None:
    about = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(about.st_mode):
        shutil.rmtree(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)


def _remove_made(name: str, folder: int) -> None:
    """Remove what an undo made; a folder stays where something else is in it by now."""
    about = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if not stat.S_ISDIR(about.st_mode):
        os.unlink(name, dir_fd=folder)
        return
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=folder)


def _rename(temporary: str, planned: os.stat_result | None, name: str, folder: int) -> None:
    """Give a file its name, unless something else has it by now than what was kept."""
    if _stat_in(temporary, folder) is None:
        return  # it was written in place
    now = _stat_in(name, folder)
    if now is not None and (
        planned is None or not os.path.samestat(now, planned) or now.st_mtime_ns != planned.st_mtime_ns
    ):
        os.unlink(temporary, dir_fd=folder)
        raise OSError(errno.EBUSY, "it was written meanwhile; undo again")
    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _move(source: str, name: str, folder: int) -> None:
    above, _, last = source.rpartition("/")
    origin = _open_folder(above)
    try:
        os.rename(last, name, src_dir_fd=origin, dst_dir_fd=folder)
    finally:
        os.close(origin)
