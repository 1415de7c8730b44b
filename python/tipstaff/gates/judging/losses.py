"""What a call would lose: looked at in its repository, and kept there before it is let through."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tipstaff.gates.fields import Field
from tipstaff.gates.results import DECISIONS, Finding

if TYPE_CHECKING:
    from tipstaff.kernels._gates import Losses

_EVIDENCE = 4
"""The native engine's number of the findings about losses."""


class Weighed(NamedTuple):
    """What is known of a call's losses.

    Attributes
    ----------
    facts
        In words, one sentence each.
    kept
        What ``tipstaff undo`` takes; empty where nothing was kept.
    finding
        What that comes to; None where nothing is lost.
    """

    facts: tuple[str, ...]
    kept: str
    finding: Finding | None


def weighed(
    losses: Losses,
    native: Sequence[tuple[int, ...]],
    tool: str,
    fields: Sequence[Field],
    *,
    cwd: str,
    state: str | None,
) -> Weighed | None:
    """Return what a call would lose, and keep it; None where that is nothing.

    Parameters
    ----------
    losses, native
        What the native engine found.
    tool, fields
        The call; it is written down with what is kept, secrets masked.
    cwd
        Where it would run.
    state
        The state folder; None where nothing is to be kept.
    """
    now = time.time_ns()
    facts, asked = losses.facts(now), [one for one in native if one[2] == _EVIDENCE]
    if not facts and not asked and not losses.wants_keeping:
        return None
    is_blocked = any(one[1] == DECISIONS.index("block") for one in native)
    failed = any(bool(one[-1]) for one in asked)
    if state is not None and losses.wants_keeping and not is_blocked:
        failed = not losses.keep(state, _command(tool, fields), "", cwd) or failed
    if asked or failed:
        reason = (losses.why() if failed else losses.lost(now)) + "."
        return Weighed(facts, losses.kept, _finding("require-confirmation", reason))
    if not losses.loses or is_blocked:
        return Weighed(facts, losses.kept, None) if facts or losses.kept else None
    how = "kept as it was" if losses.kept else "kept first"
    reason = f"{losses.lost(now)}; {how}: `tipstaff undo` brings it back."
    return Weighed(facts, losses.kept, _finding("warn", reason))


def _finding(decision: str, reason: str) -> Finding:
    return Finding(rule_id="evidence", decision=decision, start=0, end=0, focus=(0, 0), text="", reason=reason)


def _command(tool: str, fields: Sequence[Field]) -> str:
    from tipstaff.gates.secrets.scanner import redact

    text = next((one.text for one in fields if one.text), "")
    return redact(f"{tool} {text}" if tool else text, wary=True)[:3840]
