"""Keys, signed lines, and the head file that remembers how far the log went.

A line is ``{"mac":"<64 hex>","entry":{...}}`` with the HMAC-SHA256 of the entry's bytes as they are there. Every
entry holds the log's name, its own number and the beginning of the signature before it: a deleted, repeated or moved
entry shows. What a chain cannot show is that its end is gone, so the head file holds the number and signature of the
last entry. Whoever puts back older copies of both files together is not seen by them; `CandidateStore.anchor` is for
keeping elsewhere.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Final, NamedTuple

from tipstaff.errors import StoreDamagedError
from tipstaff.store.replacing import replaced_file, write_error

KEY_BYTES: Final = 32
_ENTRY_DOMAIN: Final = b"tipstaff candidate entry 1\n"
_HEAD_DOMAIN: Final = b"tipstaff candidate head 1\n"
_OPENING: Final = b'{"mac":"'
_MIDDLE: Final = b'","entry":'
_MAC_END: Final = len(_OPENING) + 64
_ENTRY_START: Final = _MAC_END + len(_MIDDLE)
PREVIOUS_CHARS: Final = 32
_SLOT_BYTES: Final = 256


def load_key(path: Path, *, may_create: bool) -> bytes:
    """Read the key, or make one where nothing was signed yet.

    Raises
    ------
    StoreDamagedError
        If it is missing or short although entries exist: another key would make all of them worthless.
    StoreWriteError
        If it cannot be written.
    """
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        key = b""
    except OSError as error:
        msg = f"{path}: the key cannot be read: {error.strerror}"
        raise StoreDamagedError(msg) from error
    if len(key) == KEY_BYTES:
        return key
    if not may_create:
        state = f"has {len(key)} bytes, not {KEY_BYTES}" if key else "is missing or empty"
        msg = f"{path}: the key {state}, and there are entries signed with it; restore it (nothing was changed)"
        raise StoreDamagedError(msg)
    key = secrets.token_bytes(KEY_BYTES)
    with replaced_file(path) as file:
        file.write(key)
    return key


def entry_mac(key: bytes, entry: bytes) -> str:
    """Return the signature of an entry's bytes."""
    return hmac.digest(key, _ENTRY_DOMAIN + entry, "sha256").hex()


def signed_line(entry: bytes, mac: str) -> bytes:
    """Return the line that holds an entry and its signature."""
    return b"".join((_OPENING, mac.encode(), _MIDDLE, entry, b"}\n"))


def checked_entry(key: bytes, line: bytes) -> tuple[bytes, str] | None:
    """Return (entry's bytes, signature) of a line without its newline, None where it does not verify."""
    if line[: len(_OPENING)] != _OPENING or line[_MAC_END:_ENTRY_START] != _MIDDLE or line[-1:] != b"}":
        return None
    entry = line[_ENTRY_START:-1]
    mac = entry_mac(key, entry)
    return (entry, mac) if hmac.compare_digest(mac.encode(), line[len(_OPENING) : _MAC_END]) else None


class Head(NamedTuple):
    """The last entry that is known to have been written."""

    log: str
    number: int
    mac: str

    @property
    def text(self) -> str:
        """The head as one word, for keeping elsewhere."""
        return f"{self.log}:{self.number}:{self.mac}"


class HeadFile:
    """Remembers the last entry in two places that take turns, so that a torn write leaves the other."""

    def __init__(self, path: Path, key: bytes) -> None:
        self._path = path
        self._key = key
        self._slot = 0
        self._descriptor = -1

    def read(self) -> tuple[Head | None, bool]:
        """Return the newest head that verifies, and whether there is anything that does not."""
        try:
            data = self._path.read_bytes()
        except OSError:
            return None, False
        heads: list[tuple[Head, int]] = []
        strange = False
        for slot in (0, 1):
            record = data[slot * _SLOT_BYTES : (slot + 1) * _SLOT_BYTES].strip(b"\0\n ")
            head = self._parsed(record)
            if head is not None:
                heads.append((head, slot))
            elif record:
                strange = True
        if not heads:
            return None, strange
        newest, slot = max(heads, key=lambda pair: pair[0].number)
        self._slot = 1 - slot
        return newest, strange

    def write(self, head: Head) -> None:
        """Remember a head; not flushed, because a head older than the log does no harm.

        Raises
        ------
        StoreWriteError
            If it cannot be written.
        """
        text = head.text.encode()
        mac = hmac.digest(self._key, _HEAD_DOMAIN + text, "sha256").hex().encode()
        record = b"%s:%s" % (text, mac)
        try:
            if self._descriptor < 0:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            os.pwrite(self._descriptor, record.ljust(_SLOT_BYTES - 1) + b"\n", self._slot * _SLOT_BYTES)
        except OSError as error:
            raise write_error(self._path, error) from error
        self._slot = 1 - self._slot

    def close(self) -> None:
        """Close the file; the next write opens it again."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1

    def _parsed(self, record: bytes) -> Head | None:
        text, _, mac = record.rpartition(b":")
        expected = hmac.digest(self._key, _HEAD_DOMAIN + text, "sha256").hex().encode()
        if not hmac.compare_digest(mac, expected):
            return None
        log, number, last = text.decode().split(":")
        return Head(log, int(number), last)
