"""Where damaged bytes are set aside: copied out of the log, so that nobody loses what they may still want to read."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path

from tipstaff.context.candidates.records import Incident


def set_aside(path: Path, damaged: list[tuple[bytes, Incident]]) -> bool:
    """Append damaged lines, and what else was found, each once; return whether they are safe there.

    Parameters
    ----------
    path
        JSON Lines, readable for its owner only: ``kind``, ``detail``, ``found_at`` and the line's bytes as ``text``
        or ``base64``.
    damaged
        Lines as found, with what was wrong.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return False
    try:
        known = path.read_bytes()
        lines: list[bytes] = [] if not known or known.endswith(b"\n") else [b"\n"]
        for raw, incident in damaged:
            digest = hashlib.sha256(
                raw + incident.kind.encode() + (b"" if raw else incident.detail.encode())
            ).hexdigest()
            if digest.encode() in known:
                continue
            try:
                body = {"text": raw.decode()}
            except UnicodeDecodeError:
                body = {"base64": base64.b64encode(raw).decode()}
            found_at = datetime.now(UTC).isoformat(timespec="seconds")
            record = {"digest": digest, "found_at": found_at, "kind": incident.kind, "detail": incident.detail, **body}
            lines.append(json.dumps(record).encode() + b"\n")
        if lines:
            _write_all(descriptor, b"".join(lines))
            os.fsync(descriptor)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
