"""The key that the owner's own answers are signed with; it lies in the state folder, where no call may reach it."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path
from typing import Final

from tipstaff.errors import ConfigError, StoreWriteError
from tipstaff.store.replacing import write_error
from tipstaff.store.state import make_private

KEY_BYTES: Final = 32


def read_key(state: Path, *, make: bool = True) -> bytes | None:
    """Return the key; it is made where there is none.

    Parameters
    ----------
    state
        The state folder.
    make
        Whether it is made; without, None where there is none.

    Raises
    ------
    ConfigError
        Somebody else may read the key.
    StoreWriteError
        It cannot be made.
    """
    path = state / "key"
    if not make and not path.exists():
        return None
    try:
        make_private(state)
        # A name of its own first: of two that make the key at once, one is linked.
        scratch = state / f".key-{os.getpid()}-{secrets.token_hex(4)}"
        if not path.exists():
            with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(os.urandom(KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(scratch, path)
            scratch.unlink()
        about = path.stat(follow_symlinks=False)
        key = path.read_bytes()
    except OSError as error:
        raise error if isinstance(error, StoreWriteError) else write_error(path, error) from error
    if about.st_uid != os.geteuid() or about.st_mode & 0o077 or len(key) < KEY_BYTES or path.is_symlink():
        raise ConfigError(f"{path}: it must be its owner's alone (mode 600); remove it, and approve again")
    return key


def signature(key: bytes, text: str) -> str:
    """Return the HMAC-SHA256 of a text, in hexadecimal digits."""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
