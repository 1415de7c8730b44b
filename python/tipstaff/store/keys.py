"""The owner's secret key, in the state folder: what approvals and the ledger are signed with."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import Final

from tipstaff.errors import ConfigError, StoreWriteError
from tipstaff.store.replacing import write_error
from tipstaff.store.state import make_private

KEY_BYTES: Final = 32


def private_key(state: Path) -> bytes:
    """Return the key of a state folder; it is made where there is none.

    Raises
    ------
    ConfigError
        Somebody else may read the key, or it is too short.
    StoreWriteError
        It cannot be made or read.
    """
    path = state / "key"
    try:
        make_private(state)
        if not path.exists():
            # A name of its own first: of two that make the key at once, one is linked.
            scratch = state / f".key-{os.getpid()}-{secrets.token_hex(4)}"
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
        raise ConfigError(f"{path}: only its owner may read it (mode 600); remove it, and try again")
    return key
