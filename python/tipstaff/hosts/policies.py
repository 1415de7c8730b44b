"""Compiles policies into the state folder, and says how those stand that are there."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, Final

from tipstaff.errors import ConfigError
from tipstaff.gates.config import GateConfig
from tipstaff.gates.image.policy_file import (
    HEAD,
    MAGIC,
    PACKS_FOLDER,
    SETTINGS_FILE,
    VERSION,
    policy_path,
    write_policy,
)
from tipstaff.model import Record
from tipstaff.store.state import fast_sum, source_line

_KEYS: Final = frozenset(GateConfig.__struct_fields__)


class PolicyFinding(Record, frozen=True):
    """What is wrong with the state folder or a policy in it.

    Attributes
    ----------
    path
        Of what.
    problem
        What is wrong.
    fix
        What a person does about it.
    """

    path: str
    problem: str
    fix: str


def gate_settings(repository: Path | None) -> GateConfig:
    """Return the settings that a repository keeps in ``.tipstaff/gates.toml``; the defaults where it keeps none.

    Raises
    ------
    ConfigError
        Naming the file and what is wrong in it.
    """
    path = None if repository is None else repository / SETTINGS_FILE
    if path is None or not path.is_file():
        return GateConfig()
    try:
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from None
    if unknown := sorted(data.keys() - _KEYS):
        raise ConfigError(f"{path}: {unknown[0]!r} is no setting; there are {', '.join(sorted(_KEYS))}")
    if "allowed_tools" in data and isinstance(data["allowed_tools"], list):
        data["allowed_tools"] = tuple(data["allowed_tools"])
    try:
        return GateConfig(**data)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def has_own_policy(repository: Path, state: Path) -> bool:
    """Return whether a repository has packs or settings of its own, or a compiled policy already."""
    own = (repository / PACKS_FOLDER, repository / SETTINGS_FILE, policy_path(repository, state))
    return any(path.exists() for path in own)


def compile_policy(repository: Path | None, state: Path) -> Path:
    """Compile the policy of a repository, or the default one, into the state folder; return its path.

    Raises
    ------
    PackError, ConfigError
        A pack or a setting is not usable; a former policy is unharmed.
    StoreWriteError
        It cannot be written.
    """
    from tipstaff.gates.image.policy import build_image, repository_packs

    extra = [] if repository is None else repository_packs(repository)
    image = build_image(extra, config=gate_settings(repository))
    return write_policy(image, repository, state=state)


def check_policy(repository: Path | None, state: Path) -> PolicyFinding | None:
    """Return what is wrong with a policy, as the hook would see it; None where nothing is."""
    path = policy_path(repository, state)
    fix = "a person runs `tipstaff install`" if repository is None else "a person runs `tipstaff compile`"
    try:
        about = path.lstat()
        data = path.read_bytes()
    except FileNotFoundError:
        return PolicyFinding(str(path), "there is no compiled policy", fix)
    except OSError as error:
        return PolicyFinding(str(path), f"it cannot be read: {error.strerror}", fix)
    for one in (about, path.parent.stat()):
        if one.st_uid not in {0, os.geteuid()} or one.st_mode & 0o022 or path.is_symlink():
            return PolicyFinding(str(path), "it is not the owner's alone: the hook does not take it", fix)
    head = HEAD.unpack_from(data) if len(data) >= HEAD.size else None
    if head is None or head[:2] != (MAGIC, VERSION) or head[3] != len(data) or fast_sum(data[HEAD.size :]) != head[-1]:
        return PolicyFinding(str(path), "it is damaged, or of another version", fix)
    for line in data[head[6] : head[6] + head[7]].splitlines(keepends=True):
        source = Path(os.fsdecode(line.split(b" ", 2)[2].rstrip(b"\n")))
        if line != source_line(source):
            return PolicyFinding(str(path), f"it is older than {source}", fix)
    return None


def check_state(state: Path) -> list[PolicyFinding]:
    """Return what is wrong with the state folder and what lies in it."""
    if not state.is_dir():
        return [PolicyFinding(str(state), "there is no state folder", "a person runs `tipstaff install`")]
    found: list[PolicyFinding] = []
    for path, mode in ((state, 0o077), (state / "policy", 0o022), (state / "approvals", 0o022), (state / "key", 0o077),
                       (state / "spool.jsonl", 0o022)):  # fmt: skip
        if not path.exists():
            continue
        about = path.lstat()
        if about.st_uid != os.geteuid():
            found.append(
                PolicyFinding(str(path), "it belongs to somebody else", "a person removes it, and installs again")
            )
        elif about.st_mode & mode and not path.is_symlink():
            found.append(PolicyFinding(str(path), "others may read or write it", f"chmod go-rwx {path}"))
    if not os.access(state, os.W_OK):
        found.append(
            PolicyFinding(str(state), "it cannot be written", "without it no approval counts and nothing is recorded")
        )
    return found
