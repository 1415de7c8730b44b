"""Starts a host where the kernel keeps the gate's own files as they are: read-only mounts in a namespace of its own.

State, program, and the account's registrations and start-up files are bound onto themselves read-only, and each folder
above them that this account could rename onto itself. Nobody below has a capability there, so that none of it is
unmounted; namespaces made below inherit the mounts locked. Files inside repositories stay with the hook, since git
replaces them; what runs outside of the namespace (cron, a container's daemon, a server of terminals) is outside.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.hosts import host_named, hosts_found
from tipstaff.hosts.host import hook_program
from tipstaff.store.keys import private_key
from tipstaff.store.state import make_private, repository_of

STATE_FILES: Final = ("key", "signer", "compiler")
STATE_FOLDERS: Final = ("approvals", "policy", "registrations", "taken-over")
"""What of the state only a person changes; the spool, pending calls and copies are written by the hook inside."""
STARTUP_FILES: Final = (
    ".profile", ".bash_profile", ".bash_login", ".bashrc", ".bash_logout", ".zshenv", ".zprofile", ".zshrc", ".zlogin",
    ".config/fish/config.fish", ".gitconfig", ".config/git/config", ".ssh/authorized_keys", ".ssh/config", ".ssh/rc",
    ".config/environment.d", ".config/autostart", ".pam_environment", ".xprofile", ".xsessionrc",
)  # fmt: skip
"""What the account's shells, sessions and git start with. Those that are missing are not made: some hide others."""

_NEWNS, _NEWUSER = 0x20000, 0x10000000
_RDONLY, _REMOUNT, _BIND, _REC, _SLAVE = 1, 32, 4096, 16384, 1 << 19
_KEPT_FLAGS: Final = {2: 2, 4: 4, 8: 8, 1 << 10: 1 << 10, 1 << 11: 1 << 11, 1 << 12: 1 << 21}
"""Of a file system's flags (nosuid, nodev, noexec, noatime, nodiratime, relatime) those of its mount."""
_CAPBSET_DROP, _SET_SECUREBITS, _CAP_AMBIENT, _AMBIENT_CLEAR_ALL = 24, 28, 47, 4
_NO_ROOT_LOCKED, _LAST_CAPABILITY, _CAPABILITIES_3 = 0b1100_0011, 63, 0x20080522
_DENIED: Final = (errno.EPERM, errno.EACCES)
_SANDBOX_EXEC: Final = Path("/usr/bin/sandbox-exec")


def guarded_places(home: Path, state: Path) -> tuple[Path, ...]:
    """Return what is kept as it is; registrations and parts of the state that are missing are made first.

    Parameters
    ----------
    home
        The account's.
    state
        The state folder.
    """
    private_key(state)
    for name in STATE_FOLDERS:
        make_private(state / name)
    program = hook_program().resolve()
    places = [state / name for name in (*STATE_FILES, *STATE_FOLDERS)]
    places += [program, Path(sys.prefix if _is_own_environment() else Path(__file__).parents[1])]
    for name in hosts_found(home):
        host = host_named(name)
        path = host.settings_file("user", home, home)
        if not path.exists() and not path.is_symlink() and host.own_file(program) is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(host.head()) + "\n")
        places += [path, *host.other_files(home, home)]
    places += [home / name for name in STARTUP_FILES]
    # What git keeps is git's to replace; the program alone is kept wherever it is.
    return tuple(
        dict.fromkeys(
            path
            for path in places
            if path.exists() and not path.is_symlink() and (path == program or repository_of(path.parent) is None)
        )
    )


def links_to_places(home: Path) -> tuple[Path, ...]:
    """Return the registrations and start-up files that are links: what they lead to is kept, they are not."""
    settings = [host_named(name).settings_file("user", home, home) for name in hosts_found(home)]
    return tuple(path for path in (*settings, *(home / name for name in STARTUP_FILES)) if path.is_symlink())


def enter(places: Iterable[Path]) -> None:
    """Move this process, which must have one thread, to where the places are read-only, for good.

    Raises
    ------
    ConfigError
        The system refuses namespaces; nothing has changed then but, perhaps, this process's own namespace.
    """
    if sys.platform != "linux":
        raise ConfigError("user and mount namespaces are Linux's")
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _NEWUSER | _NEWNS)
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    except OSError as error:
        raise _refused(error.errno or 0) from None
    _call("mount", b"none", b"/", None, _REC | _SLAVE, None)
    kept = sorted({path.resolve() for path in places})
    above = {one for path in kept for one in path.parents if one != one.parent and os.access(one.parent, os.W_OK)}
    for path in sorted(above | set(kept)):
        name = os.fsencode(path)
        _call("mount", name, name, None, _BIND | _REC, None)
    for path in kept:
        name, flags = os.fsencode(path), os.statvfs(path).f_flag
        same = sum(mount for flag, mount in _KEPT_FLAGS.items() if flags & flag)
        _call("mount", None, name, None, _REMOUNT | _BIND | _RDONLY | same, None)
    with contextlib.suppress(OSError):
        os.chdir(os.getcwd())  # noqa: PTH109 - the same folder, through the mounts that now lie over it
    _call("prctl", _CAP_AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0)
    _call("prctl", _SET_SECUREBITS, _NO_ROOT_LOCKED, 0, 0, 0)
    for capability in range(_LAST_CAPABILITY + 1):
        if _libc().prctl(_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # past the last one that this kernel has
    _call("capset", (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)())


def run(command: Sequence[str], home: Path, state: Path) -> None:
    """Replace this process with a command for which the places are read-only.

    Raises
    ------
    ConfigError
        The system has no such mechanism, or refuses it.
    SourceNotFoundError
        There is no such program.
    """
    places, words = guarded_places(home, state), list(command)
    if sys.platform == "darwin":
        words = [str(_SANDBOX_EXEC), "-p", sandbox_profile(places), *words]
    else:
        enter(places)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # a folder that is open leads around the mounts
    try:
        os.execvp(words[0], words)  # noqa: S606 - what the person typed, without a shell
    except OSError as error:
        raise SourceNotFoundError(f"{words[0]}: {os.strerror(error.errno or errno.ENOENT)}") from None


def sandbox_profile(places: Iterable[Path]) -> str:
    """Return the profile for ``sandbox-exec`` of macOS, by its documentation: all is allowed but to write there."""
    kept = {path.resolve() for path in places}
    above = {one for path in kept for one in path.parents if one != one.parent and os.access(one.parent, os.W_OK)}
    rules = [f"(subpath {json.dumps(str(path))})" for path in sorted(kept)]
    moved = [f"(literal {json.dumps(str(path))})" for path in sorted(above)]
    denied = f"(deny file-write* {' '.join(rules)})" + (f"(deny file-write-unlink {' '.join(moved)})" if moved else "")
    return f"(version 1)(allow default){denied}"


def is_guarded(state: Path) -> bool:
    """Return whether the state that a person changes is read-only for this process."""
    try:
        return bool(os.statvfs(state / "approvals").f_flag & os.ST_RDONLY)
    except OSError:
        return False


def mechanism(state: Path) -> str:
    """Return by what the kernel guards files here, and whether it does so now; why it does not where it cannot."""
    if sys.platform == "darwin":
        name = "sandbox-exec" if _SANDBOX_EXEC.exists() else ""
        return f"{name}; start hosts by `tipstaff guard -- COMMAND`" if name else "none: there is no sandbox-exec"
    if is_guarded(state):
        return "user and mount namespace, in force for this process"
    # In another process: trying it is for good.
    tried = subprocess.run(  # noqa: S603 - this module
        [sys.executable, "-I", "-m", __name__], capture_output=True, text=True, check=False
    )
    if tried.returncode == 0:
        return "user and mount namespace; start hosts by `tipstaff guard -- COMMAND`"
    return f"none: {tried.stdout.strip() or 'namespaces cannot be tried here'}"


def _is_own_environment() -> bool:
    """Return whether the package is in an environment of its own, and not in a repository's."""
    prefix = Path(sys.prefix)
    return sys.prefix != sys.base_prefix and Path(__file__).is_relative_to(prefix) and repository_of(prefix) is None


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *words: object) -> None:
    if getattr(_libc(), name)(*words) != 0:
        raise _refused(ctypes.get_errno(), name)


def _refused(code: int, what: str = "user namespaces") -> ConfigError:
    rule = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    hint = f"; programs need a profile for them here ({rule.name})" if rule.exists() and code in _DENIED else ""
    return ConfigError(f"the system refuses {what}: {os.strerror(code)}{hint}")


if __name__ == "__main__":
    try:
        enter(())
    except ConfigError as error:
        sys.stdout.write(f"{error}\n")
        sys.exit(1)
