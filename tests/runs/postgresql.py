"""A throw-away PostgreSQL server in a folder of its own, reached through a socket there; none where none is installed."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

_INSTALLED = Path("/usr/lib/postgresql")


def programs() -> Path | None:
    """Return the folder of the newest server's programs, None where there is none (or it could not be started)."""
    found = sorted(_INSTALLED.glob("*/bin/initdb"), key=lambda path: float(path.parents[1].name))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None


def _account() -> str | None:
    """Return the account to start it under where this one is root, which it refuses."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    return None


@contextlib.contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """Yield a folder on a disk of its own, of a stated size; PermissionError where this account may not make one."""
    folder = Path(tempfile.mkdtemp(prefix="tipstaff-disk-", dir="/tmp"))
    try:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "none", folder], capture_output=True, check=False
        )
        if done.returncode != 0:
            raise PermissionError(done.stderr.decode("utf-8", "replace"))
        try:
            yield folder
        finally:
            subprocess.run(["umount", "-l", folder], check=True)
    finally:
        folder.rmdir()


@contextlib.contextmanager
def server(disk: Path | None = None) -> Iterator[str]:
    """Start a server and yield the URL of its database; its data are on `disk` where one is given."""
    where = programs()
    assert where is not None
    account = _account()
    # A socket's path has room for 107 bytes, so not in the tests' own folders.
    folder = Path(tempfile.mkdtemp(prefix="tipstaff-pg-", dir="/tmp"))
    as_user = [] if account is None else ["setpriv", f"--reuid={account}", "--clear-groups", "--"]
    if account is not None:
        shutil.chown(folder, account)
        if disk is not None:
            shutil.chown(disk, account)
    data = (disk or folder) / "data"

    def run(*command: str | Path) -> None:
        subprocess.run(
            [*as_user, *command], env=environment, cwd=folder, check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(folder)}
    options = f"-k {folder} -c listen_addresses= -c fsync=off -c max_connections=40"
    try:
        run(where / "initdb", "-D", data, "-U", "tipstaff", "-A", "trust", "-N", "-E", "UTF8")
        run(where / "pg_ctl", "-D", data, "-w", "-o", options, "-l", folder / "log", "start")
        yield f"postgresql://tipstaff@/postgres?host={folder}"
    finally:
        subprocess.run(
            [*as_user, where / "pg_ctl", "-D", data, "-m", "immediate", "stop"],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/tmp", check=False,
        )  # fmt: skip
        shutil.rmtree(folder, ignore_errors=True)
