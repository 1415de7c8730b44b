"""The chain of a ledger: what each entry's code covers, the sealed head, and the anchor that is kept elsewhere.

The code of entry ``n`` is ``HMAC-SHA256(key, code of n-1 || covered text of n)``. The covered text holds every column
of the row (number, id, kind, time, task, session, body), so an edit, a deletion, an insertion or a change of order
breaks the chain at that entry. The head (number and code of the last entry, and of the last entry that retention
removed) is sealed with the same key; cutting entries off the end contradicts it. What a key holder or a restored
backup can still do, an anchor finds: the head's text, kept outside the database.

Source: ADR-G005; the links go over whole bodies.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from pathlib import Path
from typing import Final, NamedTuple

from tipstaff.errors import ConfigError, SourceError, SourceNotFoundError
from tipstaff.model import Record
from tipstaff.runs.events import RunEvent, canonical_json
from tipstaff.store.keys import private_key
from tipstaff.store.state import state_folder

CODE_BYTES: Final = 32
GENESIS: Final = bytes(CODE_BYTES)
"""What the first entry is chained to."""

MIN_KEY_BYTES: Final = 16
_ANCHOR: Final = re.compile(r"tipstaff-ledger-1:([0-9]{1,18}):([0-9a-f]{64})")


class Entry(NamedTuple):
    """An entry without its number and code, in the order of the columns."""

    event_id: str
    kind: str
    at: int
    task_id: str
    session_id: str
    body: str


def entry_of(event: RunEvent) -> Entry:
    """Return the entry of a run."""
    body = canonical_json(event).decode()
    return Entry(event.event_id, "run", event.timestamp, event.task_id, event.session_id or "", body)


class Head(NamedTuple):
    """Where the chain ends, and where it begins since retention removed what came before."""

    seq: int = 0
    code: bytes = GENESIS
    base_seq: int = 0
    base_code: bytes = GENESIS


class VerifyReport(Record, frozen=True):
    """What verification found.

    Attributes
    ----------
    ok
        Whether every entry, the head and the anchor agree.
    checked
        Entries whose code was right, from the first one kept.
    first_bad
        Number of the first entry that is wrong or missing; None where everything is right, or the fault is in no entry.
    reason
        What is wrong; where nothing is, what could not be compared, else empty.
    """

    ok: bool
    checked: int
    first_bad: int | None = None
    reason: str = ""


def ledger_key(key: bytes | None) -> bytes:
    """Return the key of a ledger's codes: derived from the one given, or from the one in the state folder.

    Raises
    ------
    ConfigError
        The key given is shorter than 16 bytes; others may read the one in the state folder.
    StoreWriteError
        There is none, and none can be made.
    """
    if key is None:
        key = private_key(state_folder())
    elif len(key) < MIN_KEY_BYTES:
        raise ConfigError(f"the key has {len(key)} bytes; use {MIN_KEY_BYTES} or more random ones")
    # The state folder's key signs approvals too; neither signature can pass for the other.
    return hmac.digest(key, b"tipstaff-ledger-1", "sha256")


def key_name(key: bytes) -> str:
    """Return a name of a derived key that says nothing about it; a ledger remembers the name of its key."""
    return hmac.digest(key, b"name", "sha256").hex()[:16]


def covered(seq: int, event_id: str, kind: str, at: int, task_id: str, session_id: str, body: str) -> bytes:
    """Return what an entry's code covers. No column but the last may hold a line feed, so no two rows have one text."""
    return f"{seq}\n{event_id}\n{kind}\n{at}\n{task_id}\n{session_id}\n{body}".encode()


def code_of(key: bytes, former: bytes, text: bytes) -> bytes:
    """Return the code of an entry that follows on one with the code `former`."""
    return hmac.digest(key, former + text, "sha256")


def seal_of(key: bytes, head: Head) -> bytes:
    """Return the seal of a head."""
    return hmac.digest(key, b"head %d %d " % (head.seq, head.base_seq) + head.code + head.base_code, "sha256")


def anchor_of(head: Head) -> str:
    """Return the text that proves later that the ledger reached this head."""
    return f"tipstaff-ledger-1:{head.seq}:{head.code.hex()}"


def read_anchor(text: str) -> tuple[int, bytes]:
    """Return the number and the code of an anchor.

    Raises
    ------
    ConfigError
        It is not an anchor.
    """
    match = _ANCHOR.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"not an anchor: {text[:80]!r}; expected tipstaff-ledger-1:NUMBER:64 hexadecimal digits")
    return int(match[1]), bytes.fromhex(match[2])


def key_file(path: str | Path) -> bytes:
    """Read a key from a file, as bytes.

    Raises
    ------
    SourceNotFoundError
        There is no such file.
    SourceError
        It cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise SourceNotFoundError(f"{path}: there is no such key file") from error
    except OSError as error:
        raise SourceError(f"{path}: the key cannot be read: {error.strerror}") from error


def body_digest(data: bytes) -> str:
    """Return the digest that identifies a piece of foreign text (a line of a spool)."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()
