"""What gates answer: results, the findings after them, and the one decision that they come to."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.model import Record

DECISIONS: Final = ("allow", "warn", "require-confirmation", "block")
"""Decisions by rising severity."""

GATE_NAMES: Final = ("destructive-ops", "tool-allowlist", "diff-size", "secrets")
"""Gates by the number that the native engine gives them."""

_FIRST_PAUSE_S: Final = 0.05
_LONGEST_PAUSE_S: Final = 1.0
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
        weaker and that would have spoken here), ``facts`` (what is known of the files that it is about) and ``kept``
        (what ``tipstaff undo`` takes). No secret is in it in clear.
    """

    decision: str
    gate_name: str
    reason: str
    triggered_rules: tuple[str, ...] = ()
    remediation: str = ""
    metadata: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class Verdict(Record, frozen=True, kw_only=True):
    """What all gates come to for one call.

    Attributes
    ----------
    decision
        ``allow``, ``warn``, ``require-confirmation`` or ``block``.
    message
        For the model: why, and the safer way; empty where nothing was found. No secret is in it.
    reason_for_person
        For the person who is asked: what the call would do, and which part of it is meant; secrets masked.
    findings
        Everything that was found, the worst first.
    safer
        The safer way; empty where there is none.
    proven
        Whether the call is proven to read alone: see `tipstaff.EnforcementGates.is_proven`.
    facts
        What is known of the files, places and branches that the call is about, in words.
    kept
        What ``tipstaff undo`` takes to bring back what the call would lose; empty where nothing was kept.
    call_id
        Names this verdict, in the ledger too where it was recorded.
    code, subject
        Under which code the call waits for a person in `tipstaff approve`, and the SHA-256 of what it would do; empty
        where it does not wait.
    files
        Path and SHA-256 of the files that a waiting call names: what is in them is part of what a person allows.
    """

    decision: str
    message: str
    reason_for_person: str
    findings: tuple[Finding, ...]
    safer: str
    proven: bool
    facts: tuple[str, ...]
    call_id: str
    kept: str = ""
    code: str = ""
    subject: str = ""
    files: tuple[tuple[str, str], ...] = ()

    async def approval(self, timeout: float = 600.0) -> bool:
        """Wait for a person's answer to the call; the event loop goes on meanwhile.

        Parameters
        ----------
        timeout
            Seconds to wait at most; 0 looks once.

        Returns
        -------
        bool
            Whether the call may be made, once: a person allowed exactly it, or nobody had to be asked. False for a call
            that is blocked, that a person refused, whose files changed since, or that nobody answered in time: whatever
            fails counts as no.
        """
        if not self.code:
            return self.decision in {"allow", "warn"}
        import asyncio

        ends = time.monotonic() + timeout
        pause = _FIRST_PAUSE_S
        while not (answer := self.answer()):
            left = ends - time.monotonic()
            if left <= 0:
                return False
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_PAUSE_S)
        return answer == "allowed"

    def answer(self) -> str:
        """Return a person's answer so far, ``allowed`` or ``refused``, empty for none; permission counts once."""
        from tipstaff.store.state import state_folder
        from tipstaff.store.waiting import digests_of, take_answer

        found = take_answer(state_folder(), self.subject) if self.code else ""
        if found == "allowed" and digests_of(path for path, _ in self.files) != self.files:
            return "refused"
        return found


def verdict_of(results: Sequence[GateResult], proves: Callable[[], bool] = bool) -> Verdict:
    """Return what results come to, with a new id; `proves` is asked where nothing was found."""
    findings = sorted(
        (finding for result in results for finding in _findings_of(result)), key=lambda one: -_RANK[one.decision]
    )
    safer = " ".join(dict.fromkeys(one.remediation for one in results if one.remediation and one.decision != "allow"))
    reasons = list(dict.fromkeys(one.reason for one in results if one.decision != "allow"))
    classes = dict.fromkeys(name for one in findings for name in one.path_classes if name != "unknown")
    return Verdict(
        decision=aggregate_decision(results),
        message=" ".join([*reasons, *([f"Safer: {safer}"] if safer else [])]),
        reason_for_person="\n".join(
            f"{one.reason}{f' ({one.text})' if one.text else ''}{f' Not known: {one.unknown}.' if one.unknown else ''}"
            for one in findings
        ),
        findings=tuple(findings),
        safer=safer,
        proven=not results and proves(),
        facts=(*facts_of(results), *(f"it is about a path of class {name}" for name in classes)),
        call_id=uuid.uuid4().hex,
        kept=kept_of(results),
    )


def facts_of(results: Iterable[GateResult]) -> tuple[str, ...]:
    """Return what results know of the files that a call is about, in words."""
    return tuple(dict.fromkeys(str(fact) for one in results for fact in one.metadata.get("facts", ())))


def kept_of(results: Iterable[GateResult]) -> str:
    """Return what ``tipstaff undo`` takes to bring back what a call would lose; empty where nothing was kept."""
    return next((str(one.metadata["kept"]) for one in results if "kept" in one.metadata), "")


def _findings_of(result: GateResult) -> Iterator[Finding]:
    """Yield the findings of a result; of a gate that looks at the call as a whole, one about it."""
    found = result.metadata.get("findings")
    if found is None:
        if result.decision != "allow":
            yield Finding(
                rule_id=result.gate_name, decision=result.decision, start=0, end=0, focus=(0, 0), text="",
                reason=result.reason, safer=result.remediation,
            )  # fmt: skip
        return
    for one in found:
        if "redacted" in one:  # a secret: its own text is never shown
            yield Finding(
                rule_id=one["rule_id"], decision=one["decision"], start=one["start"], end=one["end"],
                focus=(one["start"], one["end"]), text=one["redacted"], reason=result.reason, safer=result.remediation,
                severity=one["severity"], field=one["field"],
            )  # fmt: skip
        else:
            yield msgspec.convert(one, Finding)


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
