"""Serves JSON-RPC on a Unix socket that only its owner may use: one message a line, plain threads.

One thread watches the connections that are silent and a fixed number of workers reads from those that send. A worker
stays with a connection for a moment after its last message, because handing it to another thread costs more than
answering. Threads are not made for each connection for the same reason. However many are silent, none waits for them.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import queue
import resource
import selectors
import socket
import stat
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Final, Self

from tipstaff.context.inspecting.json_rpc import INVALID_REQUEST, Dispatcher
from tipstaff.errors import ConfigError
from tipstaff.store.replacing import write_error

MAX_MESSAGE_BYTES: Final = 1 << 20
IDLE_S: Final = 300.0
"""A connection that is silent for this long is closed."""

_LONGEST_PATH_BYTES: Final = 107
_PATIENCE_S: Final = 0.05
_MOST_OPEN: Final = 1024
"""Beyond so many connections, or half of the descriptors that the process may have, the longest silent are closed."""
_ROOM: Final = 16
"""How many silent connections are closed where no descriptor is left: what answers needs some too."""
_NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_TOO_LONG: Final = (
    b'{"jsonrpc":"2.0","error":{"code":%d,"message":"Invalid Request","data":"a message of more than %d bytes"},'
    b'"id":null}\n' % (INVALID_REQUEST, MAX_MESSAGE_BYTES)
)


class _Connection:
    """A connection with what it has sent of an unfinished line."""

    def __init__(self, peer: socket.socket) -> None:
        self.peer = peer
        self.pending = bytearray()
        self.heard_at = time.monotonic()


class SocketServer:
    """Answers on a socket until it is closed.

    Parameters
    ----------
    path
        Of the socket. Its folder is made, for the owner alone, if it is not there. A socket that a dead server left is
        replaced; one that a living server holds is not.
    dispatcher
        Answers messages.
    workers
        How many threads answer.

    Raises
    ------
    ConfigError
        If the path is too long for a socket, is no socket, is being served already, or others may write to its folder.
    StoreWriteError
        If the socket cannot be made.
    """

    def __init__(self, path: str | os.PathLike[str], dispatcher: Dispatcher, *, workers: int = 4) -> None:
        self.path = Path(path)
        self._dispatcher = dispatcher
        self._waiting: queue.SimpleQueue[_Connection | None] = queue.SimpleQueue()
        self._silent: queue.SimpleQueue[_Connection] = queue.SimpleQueue()
        self._open: set[_Connection] = set()
        self._guard = threading.Lock()
        self._closing = False
        if len(os.fsencode(self.path)) > _LONGEST_PATH_BYTES:
            msg = f"{self.path}: the path of a socket has at most {_LONGEST_PATH_BYTES} bytes"
            raise ConfigError(msg)
        if workers < 1:
            msg = f"workers: expected 1 or more, got {workers}"
            raise ConfigError(msg)
        self._lock = self._hold()
        try:
            self._listener = self._listen()
        except BaseException:
            os.close(self._lock)
            raise
        self._bell, self._rung = socket.socketpair()
        self._bell.setblocking(False)
        names = [("accept", self._watch), *((f"worker-{number}", self._work) for number in range(workers))]
        self._threads = [
            threading.Thread(target=target, name=f"tipstaff-{name}", daemon=True) for name, target in names
        ]
        for thread in self._threads:
            thread.start()

    def wait(self) -> None:
        """Return when the server is closed, by another thread or an interrupt."""
        while not self._closing:
            self._threads[0].join(0.5)

    def close(self) -> None:
        """End every connection and remove the socket."""
        with self._guard:
            if self._closing:
                return
            self._closing = True
            connections = list(self._open)
        self._ring()
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.peer.shutdown(socket.SHUT_RDWR)
        for _ in self._threads[1:]:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join(5.0)
        for end in (self._listener, self._bell, self._rung):
            end.close()
        for connection in list(self._open):
            self._drop(connection)
        with contextlib.suppress(OSError):
            self.path.unlink()
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _hold(self) -> int:
        folder = self.path.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = folder.stat()
            # In a folder like /tmp the sticky bit keeps others from replacing the socket.
            if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
                msg = f"{folder}: others may write to this folder and could replace the socket; choose another"
                raise ConfigError(msg)
            lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise write_error(self.path, error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            msg = f"{self.path}: another server answers here already"
            raise ConfigError(msg) from None
        return lock

    def _listen(self) -> socket.socket:
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISSOCK(self.path.lstat().st_mode):
                msg = f"{self.path}: not a socket; choose another path"
                raise ConfigError(msg)
            self.path.unlink()  # whoever made it is dead: the lock is ours
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # Before bind, so that there is no moment in which others could connect; the umask of a process with
            # threads is not to be touched.
            os.fchmod(listener.fileno(), 0o600)
            listener.bind(os.fspath(self.path))
            self.path.chmod(0o600)
            listener.listen(_MOST_OPEN)
            listener.setblocking(False)
        except OSError as error:
            listener.close()
            raise write_error(self.path, error) from error
        return listener

    def _watch(self) -> None:
        """Accept connections, and hand those that have something to say to the workers."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._rung, selectors.EVENT_READ)
            checked = 0.0
            while not self._closing:
                for key, _ in selector.select(IDLE_S / 10):
                    if key.fileobj is self._listener:
                        self._accept(selector)
                    elif key.fileobj is self._rung:
                        self._rung.recv(4096)
                    else:
                        selector.unregister(key.fileobj)
                        self._waiting.put(key.data)
                with contextlib.suppress(queue.Empty):
                    while True:
                        silent = self._silent.get_nowait()
                        selector.register(silent.peer, selectors.EVENT_READ, silent)
                surplus = len(self._open) - _most_open()
                if surplus > 0 or time.monotonic() - checked >= IDLE_S / 10:
                    checked = time.monotonic()
                    self._drop_idle(selector, checked, surplus)

    def _accept(self, selector: selectors.BaseSelector) -> None:
        most = _most_open()
        while len(self._open) <= most:  # beyond, room is made before the next one
            try:
                peer, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                # A waiting client gets a descriptor when a silent connection is closed; without one, others may close.
                if error.errno not in _NO_ROOM or not self._drop_idle(selector, time.monotonic(), _ROOM):
                    time.sleep(_PATIENCE_S)
                return
            if not _is_owner(peer):
                peer.close()
                continue
            connection = _Connection(peer)
            with self._guard:
                self._open.add(connection)
            selector.register(peer, selectors.EVENT_READ, connection)

    def _drop_idle(self, selector: selectors.BaseSelector, now: float, surplus: int) -> int:
        """Close so many that have been silent for longest, and all that were for too long; return how many."""
        silent = [key.data for key in selector.get_map().values() if isinstance(key.data, _Connection)]
        silent.sort(key=lambda connection: connection.heard_at)
        for number, connection in enumerate(silent):
            if number >= surplus and now - connection.heard_at <= IDLE_S:
                return number
            selector.unregister(connection.peer)
            self._drop(connection)
        return len(silent)

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # the buffer is full of rings already
            self._bell.send(b"\0")

    def _work(self) -> None:
        while not self._closing:
            connection = self._waiting.get()
            if connection is None:
                return
            try:
                keep = self._serve(connection)
            except OSError:
                keep = False
            if keep and not self._closing:
                self._silent.put(connection)
                self._ring()
            else:
                self._drop(connection)

    def _serve(self, connection: _Connection) -> bool:
        """Answer until the connection ends or falls silent; return whether it is to be kept."""
        peer, pending = connection.peer, connection.pending
        peer.settimeout(_PATIENCE_S)
        while True:
            try:
                data = peer.recv(65536)
            except TimeoutError:
                return True
            if not data:
                # The last line of a client that has said all need not end with a newline.
                if pending.strip() and (answer := self._dispatcher.answer(bytes(pending))) is not None:
                    peer.settimeout(10.0)
                    peer.sendall(answer + b"\n")
                return False
            connection.heard_at = time.monotonic()
            searched = len(pending)
            pending += data
            # Only the new bytes can hold the end of a line: a message that comes in small parts takes linear time.
            while (end := pending.find(b"\n", searched)) >= 0:
                line = bytes(pending[:end])
                del pending[: end + 1]
                searched = 0
                if line.strip():
                    answer = self._dispatcher.answer(line)
                    if answer is not None:
                        peer.settimeout(10.0)
                        peer.sendall(answer + b"\n")
                        peer.settimeout(_PATIENCE_S)
            if len(pending) > MAX_MESSAGE_BYTES:
                peer.sendall(_TOO_LONG)
                return False

    def _drop(self, connection: _Connection) -> None:
        with self._guard:
            self._open.discard(connection)
        with contextlib.suppress(OSError):
            connection.peer.close()


def _most_open() -> int:
    """Return how many connections may be open: what answers them needs descriptors as well."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_OPEN if soft == resource.RLIM_INFINITY else min(_MOST_OPEN, max(1, soft // 2))


def _is_owner(peer: socket.socket) -> bool:
    if not sys.platform.startswith("linux"):
        return True
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", credentials)[1] == os.geteuid())


def call(path: str | os.PathLike[str], message: bytes, *, timeout_s: float = 10.0) -> bytes:
    """Send one message to a server and return its answer, each without its newline."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(timeout_s)
        peer.connect(os.fspath(path))
        peer.sendall(message + b"\n")
        with peer.makefile("rb") as answers:
            return answers.readline().rstrip(b"\n")
