"""What gates answer: results, the findings after them, and the one decision that they come to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.model import Record

DECISIONS: Final = ("allow", "warn", "require-confirmation", "block")
"""Decisions by rising severity."""

GATE_NAMES: Final = ("destructive-ops", "tool-allowlist", "diff-size", "secrets")
"""Gates by the number that the native engine gives them."""

_RANK: Final = {decision: rank for rank, decision in enumerate(DECISIONS)}


class UnknownDecisionError(ConfigError):
    """A result carries a decision that does not exist; it is never taken for ``allow``."""


class Finding(Record, frozen=True, kw_only=True):
    """One thing that a gate found.

    Attributes
    ----------
    rule_id
        The rule, ``git.reset-hard``; empty where the policy on what cannot be known decided without one.
    decision
        What it comes to alone.
    start, end
        Half-open span in the text that was given, in code points: the command that it is about.
    focus
        The span of the word that decided, within the same text; the whole span where none did.
    text
        The text of that span, secrets masked.
    reason
        Why, in one sentence.
    safer
        The safer way; empty where there is none.
    unknown
        What could not be known, where that decided; else empty.
    severity
        ``low``, ``medium``, ``high`` or ``critical``.
    path_classes
        Classes of the path that decided, where one did: ``root``, ``home``, ``unknown`` ...
    field
        For a tool call, the field of its parameters that the spans are about.
    """

    rule_id: str
    decision: str
    start: int
    end: int
    focus: tuple[int, int]
    text: str
    reason: str
    safer: str = ""
    unknown: str = ""
    severity: str = "medium"
    path_classes: tuple[str, ...] = ()
    field: str = ""


class GateResult(Record, frozen=True):
    """The answer of one gate for one event.

    Attributes
    ----------
    decision
        ``allow``, ``warn``, ``require-confirmation`` or ``block``.
    gate_name
        ``destructive-ops``, ``tool-allowlist``, ``diff-size`` or ``secrets``.
    reason
        The reason of the most severe finding, in one sentence.
    triggered_rules
        Ids of active guidance rules that are about what was found.
    remediation
        The safer way; empty where there is none.
    metadata
        JSON-ready details: ``findings`` (every one, most severe first), ``relaxed`` (rules that a repository made
        weaker and that would have spoken here). No secret is in it in clear.
    """

    decision: str
    gate_name: str
    reason: str
    triggered_rules: tuple[str, ...] = ()
    remediation: str = ""
    metadata: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


def aggregate_decision(results: Iterable[GateResult]) -> str:
    """Return the most restrictive decision of results; ``allow`` for none.

    Parameters
    ----------
    results
        Results of any gates.

    Raises
    ------
    UnknownDecisionError
        If a result's decision is none of the four: an unknown decision must not count as ``allow``.
    """
    worst = 0
    for result in results:
        rank = _RANK.get(result.decision)
        if rank is None:
            raise UnknownDecisionError(
                f"{result.gate_name}: decision {result.decision!r} does not exist; there are {', '.join(DECISIONS)}"
            )
        worst = max(worst, rank)
    return DECISIONS[worst]
