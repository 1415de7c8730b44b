"""What the native engine found, as findings of a result: with rules, reasons and texts that show no secret."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tipstaff.gates.fields import Field
from tipstaff.gates.packs.model import PATH_CLASSES
from tipstaff.gates.results import DECISIONS, Finding
from tipstaff.gates.secrets.scanner import redact

if TYPE_CHECKING:
    from tipstaff.gates.image.policy import LoadedPolicy


class NativeFinding(NamedTuple):
    """What the native engine found, in its own numbers: `rule` is -1 where none decided.

    `decision` and `gate` are indices of `DECISIONS` and `GATE_NAMES`; `classes` are bits of path classes, or changed
    lines where the gate counts these.
    """

    rule: int
    decision: int
    gate: int
    start: int
    end: int
    focus_start: int
    focus_end: int
    classes: int
    field: int
    uncertain: bool


_UNKNOWN: Final = {
    "uncertain.program": "which program it starts",
    "uncertain.environment-program": "which program it starts",
    "uncertain.code": "the text that it runs as code",
    "uncertain.remote-code": "the code that it fetches and runs",
    "uncertain.limits": "what lies beyond the limits of the parser",
    "uncertain.syntax": "how the text ends",
    "uncertain.encoding": "what the bytes mean",
}


def findings_of(
    found: Sequence[NativeFinding], policy: LoadedPolicy, fields: Sequence[Field], *, masked: bool = True
) -> tuple[list[Finding], list[dict[str, str]]]:
    """Return the findings, the worst first, and which rules of the repository made something milder.

    Parameters
    ----------
    found
        What the destructive gate found.
    policy
        The policy that was asked.
    fields
        The texts of the call, in the order that the engine got them.
    masked
        False where the texts are known to hold no secret.
    """
    findings: list[Finding] = []
    relaxed: list[dict[str, str]] = []
    shown: dict[int, str] = {}
    for entry in found:
        rule = policy.rules[entry.rule] if entry.rule >= 0 else None
        field = fields[entry.field] if entry.field < len(fields) else Field("", "", "", -1)
        if rule is not None and rule.because is not None:
            relaxed.append(
                {"rule": rule.id, "because": rule.because, "former": rule.former, "now": DECISIONS[entry.decision]}
            )
        if entry.decision == 0:
            continue
        if entry.field not in shown:
            shown[entry.field] = redact(field.text, wary=True) if masked else field.text
        findings.append(_finding(entry, rule, field, shown[entry.field]))
    if len(findings) > 1:
        findings.sort(key=lambda finding: (-DECISIONS.index(finding.decision), finding.start))
    return findings, relaxed


def _finding(entry: NativeFinding, rule: Any, field: Field, masked: str) -> Finding:
    unknown = _UNKNOWN.get(rule.id if rule else "", "what it does") if entry.uncertain else ""
    return Finding(
        rule_id=rule.id if rule else "",
        decision=DECISIONS[entry.decision],
        start=entry.start,
        end=entry.end,
        focus=(entry.focus_start, entry.focus_end),
        text=masked[entry.start : entry.end][:200],
        reason=rule.reason if rule else "What it would do is only known when it runs.",
        safer=rule.safer if rule else "",
        unknown=unknown or _unknown_path(entry.classes),
        severity=rule.severity if rule else "high",
        path_classes=_named(entry.classes),
        field=field.path,
    )


@lru_cache(maxsize=1024)
def _named(classes: int) -> tuple[str, ...]:
    return tuple(name for name, bit in PATH_CLASSES.items() if classes & bit)


def _unknown_path(classes: int) -> str:
    return "which path it is about" if classes & PATH_CLASSES["unknown"] else ""
