"""What ``tipstaff install`` registered for a repository, kept in the state folder so that a loss is noticed.

``hook/registrations.hpp`` reads the same files when a session starts.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tipstaff.hosts.host import PROGRAM
from tipstaff.store.keys import private_key
from tipstaff.store.replacing import replaced_file
from tipstaff.store.state import fnv64, make_private
from tipstaff.store.untrusted import read_untrusted_text


def recorded_registrations(root: Path, state: Path) -> dict[str, str]:
    """Return settings file to host of what was registered for a repository."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError, ValueError):
        for line in read_untrusted_text(_record(root, state)).splitlines():
            host, _, path = line.partition(" ")
            found[path] = host
    return found


def record_registration(root: Path, state: Path, host: str, path: str, *, registered: bool) -> None:
    """Note that a host was registered in a file for a repository, or that it is no longer.

    Raises
    ------
    StoreWriteError
        It cannot be written.
    """
    kept = recorded_registrations(root, state)
    wanted = {**kept, path: host} if registered else {one: name for one, name in kept.items() if one != path}
    if wanted == kept or "\n" in path:
        return
    record = _record(root, state)
    private_key(state)  # the hook seals by it what waits for a person
    make_private(record.parent)
    with replaced_file(record) as file:
        file.write("".join(f"{name} {one}\n" for one, name in wanted.items()).encode())


def lost_registrations(host: str, root: Path, state: Path) -> list[str]:
    """Return what is wrong with the registrations of a host that were made and are no more."""
    lost: list[str] = []
    for path, name in recorded_registrations(root, state).items():
        try:
            there = PROGRAM in read_untrusted_text(Path(path), errors="replace")
        except OSError:
            there = False
        if name == host and not there:
            lost.append(f"it was registered in {path} and no longer is: run `tipstaff install --host {host}` again, "
                        "and commit the file if it is the project's")  # fmt: skip
    return lost


def _record(root: Path, state: Path) -> Path:
    return state / "registrations" / f"{fnv64(os.fsencode(root)):016x}"
