"""Where snapshots are kept: the newest requests of each session, readable for their owner alone."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Generator
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote, unquote

import msgspec

from tipstaff.context.inspecting.snapshot import ContextSnapshot, writable
from tipstaff.errors import SourceError, SourceNotFoundError
from tipstaff.store.inside import leads_out, refuse_links_out
from tipstaff.store.replacing import replaced_file, write_error

KEPT_REQUESTS: Final = 16
_MAX_SESSION_CHARS: Final = 60


class SnapshotFolder:
    """The snapshots of several sessions, each with its newest requests, readable for their owner alone.

    Parameters
    ----------
    path
        ``.tipstaff/context`` of a project. Made, for its owner alone, when the first snapshot is recorded.
    kept
        How many requests of a session are kept.
    """

    def __init__(self, path: str | os.PathLike[str], *, kept: int = KEPT_REQUESTS) -> None:
        self.path = Path(path)
        self._kept = max(2, kept)
        self._root: Path | None = None

    @classmethod
    def of_project(cls, root: str | os.PathLike[str]) -> Self:
        """Return the folder of a project."""
        found = cls(Path(root) / ".tipstaff" / "context")
        found._root = Path(root)
        return found

    def record(self, snapshot: ContextSnapshot) -> ContextSnapshot:
        """Write a snapshot and return it with its number; the oldest beyond those that are kept go.

        Raises
        ------
        StoreWriteError
            If it cannot be written, or a link leads it elsewhere.
        """
        folder = self.made(snapshot.session_id)
        with _alone(folder):
            numbers = self.numbers(snapshot.session_id)
            numbered = snapshot.replace(request_number=(numbers[-1] if numbers else 0) + 1)
            # A snapshot is made for each request, and worth less than the request's time.
            with replaced_file(folder / f"{numbered.request_number:08d}.json", durable=False) as file:
                file.write(msgspec.json.encode(numbered))
            old = [folder / f"{number:08d}.json" for number in numbers[: -(self._kept - 1)]]
            # Nobody else writes here now: other temporary files are of writers that died.
            for left in (*old, *folder.glob(".*.json.*.tmp")):
                with contextlib.suppress(OSError):
                    left.unlink()
        return numbered

    def made(self, session_id: str) -> Path:
        """Return a session's folder, made for its owner alone where it was not there.

        Raises
        ------
        StoreWriteError
            If it cannot be made, or a link leads it elsewhere.
        """
        folder = self.folder_of(session_id)
        refuse_links_out(self.path, self._root)
        refuse_links_out(folder, self.path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="ascii")
        except OSError as error:
            raise write_error(folder, error) from error
        return folder

    def sessions(self, pattern: str = "*.json") -> tuple[str, ...]:
        """Return the ids of all sessions with such files (requests by default), the one with the newest last."""
        found: list[tuple[float, str]] = []
        with contextlib.suppress(OSError):
            for entry in self.path.iterdir():
                newest = max((file.stat().st_mtime_ns for file in entry.glob(pattern)), default=None)
                if newest is not None:
                    found.append((newest, unquote(entry.name)))
        return tuple(name for _, name in sorted(found))

    def numbers(self, session_id: str) -> tuple[int, ...]:
        """Return the numbers of a session's requests, in order."""
        names = (file.stem for file in self.folder_of(session_id).glob("*.json"))
        return tuple(sorted(int(name) for name in names if name.isascii() and name.isdigit()))

    def load(self, session_id: str | None = None, number: int | None = None) -> ContextSnapshot:
        """Return a request of a session: by default the newest one of the session that was active last.

        Raises
        ------
        SourceNotFoundError
            If there is none.
        SourceError
            If its file cannot be read.
        """
        if session_id is None:
            sessions = self.sessions()
            if not sessions:
                raise SourceNotFoundError(2, "no request has been recorded here yet", str(self.path))
            session_id = sessions[-1]
        numbers = self.numbers(session_id)
        if not numbers:
            raise SourceNotFoundError(2, f"no request of session {session_id!r} has been recorded", str(self.path))
        chosen = numbers[-1] if number is None else number
        if chosen not in numbers:
            kept = ", ".join(map(str, numbers))
            raise SourceNotFoundError(2, f"request {chosen} is not kept; kept are {kept}", str(self.path))
        file = self.folder_of(session_id) / f"{chosen:08d}.json"
        if leads_out(file, self.path):
            raise SourceError(f"{file}: a link leads it out of the folder of snapshots; it is not read")
        try:
            return msgspec.json.decode(file.read_bytes(), type=ContextSnapshot)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            msg = f"{file}: not a snapshot that this version reads: {error}"
            raise SourceError(msg) from error
        except OSError as error:
            msg = f"{file}: cannot be read: {error.strerror}"
            raise SourceError(msg) from error

    def folder_of(self, session_id: str) -> Path:
        """Return where a session's files are, or would be."""
        name = quote(writable(session_id), safe="")
        if not name or len(name) > _MAX_SESSION_CHARS or name.strip(".") == "":
            import hashlib

            # No usable name of a folder: a digest of it is one.
            name = "id-" + hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self.path / name


@contextlib.contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Keep other threads and processes from giving the same number."""
    try:
        descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise write_error(folder / ".lock", error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
