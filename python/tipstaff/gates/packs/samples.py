"""Asks every rule about its own samples: a pack that disagrees with itself does not load."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec

from tipstaff.gates.fields import fields_of
from tipstaff.gates.packs.model import DECISIONS, DIALECTS, PackRule, PackSampleError, Policy, Sample

if TYPE_CHECKING:
    from tipstaff.kernels._gates import Policy as NativePolicy

SHELLS: Final = {
    "bash": "shell", "sh": "shell", "zsh": "shell", "fish": "shell", "ksh": "shell", "dash": "shell", "shell": "shell",
    "powershell": "powershell", "pwsh": "powershell", "cmd": "cmd", "bat": "cmd", "sql": "sql", "python": "python",
    "node": "node", "javascript": "node", "redis": "redis", "mongo": "mongo", "perl": "perl", "ruby": "ruby",
    "php": "php", "awk": "awk", "patch": "patch", "make": "make", "crontab": "crontab",
}  # fmt: skip
"""Shells and languages by the dialect that reads them."""

SAMPLE_HOME: Final = "/home/dev"
SAMPLE_STATE: Final = "/home/dev/.local/state/tipstaff"
SAMPLE_PROGRAM: Final = "/opt/tipstaff/bin/tipstaff-hook"
_SETTINGS: Final = (1, 0xFFFFFFFF, 0, 2, 3, 2, 0, 0, 0, 0, False)


def dialect_number(shell: str) -> int | None:
    """Return the number of the dialect that reads a shell's code, or None for a shell that is not known."""
    name = SHELLS.get(shell.lower())
    return None if name is None else DIALECTS.index(name)


def check_samples(policy: Policy, image: bytes, rule_ids: Iterable[str] | None = None) -> None:
    """Hold every rule to its samples.

    Parameters
    ----------
    policy, image
        The packs, and the image compiled from them.
    rule_ids
        Rules to ask; all if None.

    Raises
    ------
    PackSampleError
        The first rule that disagrees with one of its samples.
    """
    for error in disagreements(policy, image, rule_ids):
        raise error


def disagreements(policy: Policy, image: bytes, rule_ids: Iterable[str] | None = None) -> list[PackSampleError]:
    """Return every disagreement between rules and their samples."""
    from tipstaff.kernels import _gates

    native = _gates.Policy(image)
    names: list[str] = [rule[0] for rule in native.rules]
    wanted = None if rule_ids is None else set(rule_ids)
    found: list[PackSampleError] = []
    for rule in policy.rules.values():
        if (wanted is None or rule.id in wanted) and rule.id not in policy.relaxed:
            found.extend(_of_rule(native, names, rule))
    return found


def _of_rule(native: NativePolicy, names: list[str], rule: PackRule) -> list[PackSampleError]:
    found: list[PackSampleError] = []
    for sample in rule.positives:
        decided = _decided(native, names, rule.id, sample)
        if decided is None or (sample.decision is not None and decided != sample.decision):
            wanted = sample.decision or "a match"
            found.append(PackSampleError(rule.id, sample.command, decided or "no match", wanted))
    for sample in rule.negatives:
        decided = _decided(native, names, rule.id, sample)
        if decided is not None:
            found.append(PackSampleError(rule.id, sample.command, decided, "no match"))
    return found


def _decided(native: NativePolicy, names: list[str], rule_id: str, sample: Sample) -> str | None:
    from tipstaff.kernels import _gates

    site = _gates.CallSite(sample.cwd, sample.cwd, SAMPLE_HOME, "", state=SAMPLE_STATE, program=SAMPLE_PROGRAM)
    if sample.shell == "tool":
        tool, _, params = sample.command.partition(" ")
        fields = [field.native() for field in fields_of(msgspec.json.decode(params or "{}"))]
        found = native.event(tool, fields, 0, site, _SETTINGS)
    else:
        dialect = dialect_number(sample.shell)
        assert dialect is not None, "the reader knows the shells"  # noqa: S101
        found = native.command(sample.command, dialect, site, _SETTINGS)
    worst = -1
    for finding in found:
        if finding[0] >= 0 and names[finding[0]] == rule_id:
            worst = max(worst, finding[1])
    return None if worst < 0 else DECISIONS[worst]
