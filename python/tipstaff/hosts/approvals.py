"""Calls that wait for a person, and the person's answers; the layout is that of ``hook/approvals.hpp``."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import time
from pathlib import Path
from typing import Any, Final

from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.model import Record
from tipstaff.store.appending import append_line
from tipstaff.store.replacing import replaced_file
from tipstaff.store.signing import sign, unseal
from tipstaff.store.state import make_private
from tipstaff.store.untrusted import read_untrusted

CODE: Final = re.compile(r"[ABCDEFGHJKLMNPQRSTUVWXYZ2-9]{8}")
LONGEST_S: Final = 24 * 3600
PENDING_KEPT_S: Final = 7 * 24 * 3600
_SUBJECT: Final = re.compile(r"[0-9a-f]{64}")


class PendingCall(Record, frozen=True):
    """A call that a host did not make because a person has to say so.

    Attributes
    ----------
    code, subject
        Its code, and the SHA-256 of what it would do.
    asked
        When, in seconds since 1970.
    host, tool, cwd, reason
        What it is; secrets are masked.
    fields
        Every parameter, as it would run, in full and of whatever type; sealed in the file.
    findings
        Rule and reason of each finding, the worst first.
    scripts
        Path, bytes and SHA-256 of files that were read to judge it, or that such scripts import: they are part of what
        is allowed, whole.
    """

    code: str
    subject: str
    asked: int
    host: str
    tool: str
    cwd: str
    reason: str
    fields: dict[str, Any]
    findings: tuple[dict[str, str], ...] = ()
    scripts: tuple[dict[str, Any], ...] = ()


def pending_calls(state: Path) -> list[PendingCall]:
    """Return the calls that wait, the latest first; those that have waited for a week are taken away."""
    found: list[PendingCall] = []
    oldest = time.time() - PENDING_KEPT_S
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for path in sorted((state / "pending").iterdir()):
            if path.lstat().st_mtime < oldest:
                path.unlink(missing_ok=True)
            elif CODE.fullmatch(path.name):
                with contextlib.suppress(ConfigError):
                    found.append(_read(path, state))
    return sorted(found, key=lambda call: -call.asked)


def pending_call(code: str, state: Path) -> PendingCall:
    """Return the call of a code.

    Raises
    ------
    ConfigError
        The code is invalid, or its file is damaged.
    SourceNotFoundError
        No call waits under it.
    """
    if not CODE.fullmatch(code):
        raise ConfigError(
            f"{code!r} is not an approval code: codes are eight capital letters and digits, as the hook printed them"
        )
    path = state / "pending" / code
    if not path.is_file():
        raise SourceNotFoundError(f"no call waits under {code}; `tipstaff approve` lists those that do")
    return _read(path, state)


def _read(path: Path, state: Path) -> PendingCall:
    try:
        data: Any = json.loads(read_untrusted(path))
        if "sealed" in data:
            data["fields"] = json.loads(unseal(state, data["sealed"]))
        data = {**data, "findings": tuple(data["findings"]), "scripts": tuple(data["scripts"])}
        if not isinstance(data["fields"], dict):
            data["fields"] = {"input": data["fields"]}
        call = PendingCall(**{name: data[name] for name in PendingCall.__struct_fields__})
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path}: it is damaged: {error}; have the agent try the call again") from None
    if call.code != path.name or not _SUBJECT.fullmatch(call.subject):
        raise ConfigError(f"{path}: it is not what the hook wrote; have the agent try the call again")
    return call


def answer(call: PendingCall, state: Path, *, seconds: int, refused: bool = False) -> Path:
    """Sign a person's answer to a call, and put it where the hook looks for it.

    Parameters
    ----------
    call
        What waits.
    state
        The state folder.
    seconds
        How long the answer counts.
    refused
        Whether it is a refusal.

    Returns
    -------
    Path
        The answer's file.

    Raises
    ------
    ConfigError
        The time is not between a second and a day; or a person has a key of their own, and has not unlocked it here.
    StoreWriteError
        It cannot be written.
    """
    if not 0 < seconds <= LONGEST_S:
        raise ConfigError("an approval is valid for between one second and one day")
    now = int(time.time())
    kind = "tipstaff-refusal-1" if refused else "tipstaff-approval-1"
    # Of two answers in one second the second counts as well.
    approval = f"{kind} {call.code} {now + seconds} {call.subject} {secrets.token_hex(8)}"
    signed = sign(state, approval)
    path = state / "approvals" / call.code
    make_private(path.parent)
    with replaced_file(path) as file:
        file.write(f"{approval} {signed}\n".encode())
    with contextlib.suppress(OSError):
        (state / "pending" / call.code).unlink()
    _record_in_ledger(call, state, now, "refused" if refused else "approved")
    return path


def _record_in_ledger(call: PendingCall, state: Path, now: int, decision: str) -> None:
    event = {
        "v": 1, "at": now, "host": call.host, "event": "Approval", "session": "", "agent": "", "cwd": call.cwd,
        "tool": call.tool, "decision": decision, "approved": call.code, "subject": call.subject, "rules": [],
    }  # fmt: skip
    line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
    with contextlib.suppress(OSError):  # a full disk costs the record, never the answer
        append_line(state / "spool.jsonl", line)
