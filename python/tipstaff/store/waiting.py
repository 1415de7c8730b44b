"""Calls that were judged in Python and wait for a person, beside those of the hook.

The layout of the files is that of ``hook/approvals.hpp``; a person answers by ``tipstaff approve``, as for the hook's.
Nothing here can answer: what an agent's process does is to ask, and to take an answer that a person signed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from tipstaff.store.replacing import replaced_file
from tipstaff.store.signing import is_signed, seal
from tipstaff.store.state import make_private
from tipstaff.store.untrusted import read_untrusted

_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_MOST_FILES: Final = 16
_MOST_BYTES: Final = 8_000_000
_MOST_PENDING: Final = 200
_ANSWERS: Final = {"tipstaff-approval-1": "allowed", "tipstaff-refusal-1": "refused"}


def subject_of(tool: str, cwd: str, params: bytes, files: Iterable[tuple[str, str]]) -> str:
    """Return the SHA-256 of what a call would do: its tool, folder, parameters and the files that it names."""
    whole = hashlib.sha256()
    parts: list[str | bytes] = ["tipstaff-python-call-1", tool, cwd, params]
    for part in (*parts, *(text for file in files for text in file)):
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        whole.update(len(data).to_bytes(8, "little") + data)
    return whole.hexdigest()


def code_of(subject: str) -> str:
    """Return the code under which a call waits."""
    bits = int(subject[:16], 16)
    return "".join(_LETTERS[bits >> 5 * place & 31] for place in range(8))


def digests_of(paths: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return path and SHA-256 of the regular files among paths; of a very large one, its size and time instead."""
    found: list[tuple[str, str]] = []
    for path in sorted(set(paths))[:_MOST_FILES]:
        with contextlib.suppress(OSError, ValueError):
            about = Path(path).stat()
            if stat.S_ISREG(about.st_mode):
                large = about.st_size > _MOST_BYTES
                known = f"{about.st_size} {about.st_mtime_ns}".encode() if large else read_untrusted(Path(path))
                found.append((path, hashlib.sha256(known).hexdigest()))
    return tuple(found)


def leave(state: Path, call: Mapping[str, Any]) -> None:
    """Leave a call, as it would run, for a person to look at; it has what `hosts.approvals.PendingCall` has.

    Raises
    ------
    OSError
        It cannot be written.
    """
    folder = state / "pending"
    rest = {name: value for name, value in call.items() if name != "fields"}
    make_private(folder)
    with replaced_file(folder / call["code"]) as file:
        file.write(msgspec.json.encode({**rest, "sealed": seal(state, msgspec.json.encode(call["fields"]))}) + b"\n")
    for path in sorted(folder.iterdir(), key=lambda one: one.lstat().st_mtime)[:-_MOST_PENDING]:
        path.unlink(missing_ok=True)


def take_answer(state: Path, subject: str) -> str:
    """Return what a person answered to exactly this call, ``allowed`` or ``refused``; empty where nothing counts.

    Permission is used up by that: of two that take it at once, one gets it. A refusal counts until it expires.
    """
    code = code_of(subject)
    path = state / "approvals" / code
    try:
        line = _private_text(path)
    except (OSError, ValueError):
        return ""
    record, _, signature = line.decode("ascii", "replace").rstrip("\r\n").rpartition(" ")
    words = record.split(" ")
    if len(words) != 5:
        return ""
    kind, for_code, until, for_subject, _nonce = words
    if not is_signed(state, record, signature):
        return ""
    if for_code != code or for_subject != subject or kind not in _ANSWERS or time.time() > int(until):
        return ""
    if _ANSWERS[kind] == "allowed":
        used = state / "used" / signature[:32]
        try:
            make_private(used.parent)
            file = os.open(used, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            return ""
        with os.fdopen(file, "w", encoding="ascii") as mark:
            mark.write(f"{int(time.time())} {0:016x} {0:016x}\n")
    return _ANSWERS[kind]


def _private_text(path: Path) -> bytes:
    """Return a small file that only its owner can have written."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(file, "rb") as opened:
        about = os.fstat(opened.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o077:
            raise ValueError(path)
        return opened.read(4096)
