"""Compiles policies into the state folder, and reports the state of those that exist."""

from __future__ import annotations

import os
from pathlib import Path

from tipstaff.gates.image.policy_file import HEAD, MAGIC, VERSION, built_in_edition, policy_path, write_policy
from tipstaff.gates.image.repository_policy import RepositoryPolicy, policy_of
from tipstaff.guidance.hook.image import hook_image_fault, hook_image_path
from tipstaff.model import Record
from tipstaff.store.state import fast_sum, source_line
from tipstaff.store.untrusted import read_untrusted


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


def compile_policy(repository: Path, state: Path) -> RepositoryPolicy:
    """Compile the policy of a repository into the state folder; return what was compiled.

    Weakenings count where a person has allowed them; whoever else compiles a policy makes none weaker.

    Raises
    ------
    PackError, ConfigError
        A pack or a setting is not usable; a former policy is unharmed.
    StoreWriteError
        It cannot be written.
    """
    policy = policy_of(repository, state=state)
    write_policy(policy.image, repository, state=state)
    return policy


def check_policy(repository: Path, state: Path) -> PolicyFinding | None:
    """Return what is wrong with a policy, as the hook would see it; None where nothing is."""
    path = policy_path(repository, state)
    fix = "a person runs `tipstaff compile`"
    try:
        about = path.lstat()
        data = read_untrusted(path)
    except FileNotFoundError:
        return PolicyFinding(str(path), "there is no compiled policy", fix)
    except OSError as error:
        return PolicyFinding(str(path), f"it cannot be read: {error.strerror}", fix)
    for one in (about, path.parent.stat()):
        if one.st_uid not in {0, os.geteuid()} or one.st_mode & 0o022 or path.is_symlink():
            return PolicyFinding(str(path), "it can be changed by others: the hook does not use it", fix)
    head = HEAD.unpack_from(data) if len(data) >= HEAD.size else None
    if head is not None and head[0] == MAGIC and (head[1] != VERSION or head[10] != built_in_edition()):
        return PolicyFinding(str(path), "it was compiled by another version of tipstaff, with its rules", fix)
    if head is None or head[0] != MAGIC or head[3] != len(data) or fast_sum(data[HEAD.size :]) != head[-1]:
        return PolicyFinding(str(path), "it is damaged", fix)
    for line in data[head[6] : head[6] + head[7]].splitlines(keepends=True):
        source = Path(os.fsdecode(line.split(b" ", 2)[2].rstrip(b"\n")))
        if line != source_line(source):
            return PolicyFinding(str(path), f"it is older than {source}", fix)
    return None


def check_rules(repository: Path, state: Path) -> PolicyFinding | None:
    """Return what is wrong with the compiled rules that the hook gives to models; None where there are none."""
    path = hook_image_path(repository, state)
    try:
        data = read_untrusted(path)
    except OSError:
        return None
    what = hook_image_fault(data)
    return PolicyFinding(str(path), what, "a person runs `tipstaff compile`") if what else None


def check_state(state: Path) -> list[PolicyFinding]:
    """Return what is wrong with the state folder and what is in it."""
    if state.exists() and not state.is_dir():
        return [PolicyFinding(str(state), "it is not a folder", "a person removes it, and installs again")]
    if not state.is_dir():
        return [PolicyFinding(str(state), "there is no state folder", "a person runs `tipstaff install --host NAME`")]
    found: list[PolicyFinding] = []
    for path, mode in ((state, 0o077), (state / "policy", 0o022), (state / "approvals", 0o022), (state / "key", 0o077),
                       (state / "spool.jsonl", 0o022)):  # fmt: skip
        if not path.exists():
            continue
        about = path.lstat()
        if about.st_uid != os.geteuid():
            found.append(
                PolicyFinding(str(path), "it is owned by another user", "a person removes it, and installs again")
            )
        elif about.st_mode & mode and not path.is_symlink():
            found.append(PolicyFinding(str(path), "others may read or write it", f"chmod go-rwx {path}"))
    if not os.access(state, os.W_OK):
        found.append(
            PolicyFinding(str(state), "it cannot be written", "without it no approval is valid and nothing is recorded")
        )
    return found
