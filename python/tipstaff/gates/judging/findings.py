"""What the native engine found, as findings of a result: with rules, reasons and texts that show no secret."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from tipstaff.gates.fields import Field
from tipstaff.gates.packs.model import PATH_CLASSES
from tipstaff.gates.results import DECISIONS, Finding
from tipstaff.gates.secrets.scanner import redact

if TYPE_CHECKING:
    from tipstaff.gates.image.policy import LoadedPolicy

NativeFinding = tuple[int, int, int, int, int, int, int, int, int, bool]
"""Rule (-1: none), decision, gate, span, focus, path classes or lines, field, and whether it is uncertain."""

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
        rule = policy.rules[entry[0]] if entry[0] >= 0 else None
        field = fields[entry[8]] if entry[8] < len(fields) else Field("", "", "", -1)
        if rule is not None and rule.because is not None:
            relaxed.append(
                {"rule": rule.id, "because": rule.because, "former": rule.former, "now": DECISIONS[entry[1]]}
            )
        if entry[1] == 0:
            continue
        if entry[8] not in shown:
            shown[entry[8]] = redact(field.text, wary=True) if masked else field.text
        findings.append(_finding(entry, rule, field, shown[entry[8]]))
    if len(findings) > 1:
        findings.sort(key=lambda finding: (-DECISIONS.index(finding.decision), finding.start))
    return findings, relaxed


def _finding(entry: NativeFinding, rule: Any, field: Field, masked: str) -> Finding:
    start, end = entry[3], entry[4]
    return Finding(
        rule_id=rule.id if rule else "",
        decision=DECISIONS[entry[1]],
        start=start,
        end=end,
        focus=(entry[5], entry[6]),
        text=masked[start:end][:200],
        reason=rule.reason if rule else "What it would do is only known when it runs.",
        safer=rule.safer if rule else "",
        unknown=_UNKNOWN.get(rule.id if rule else "", "what it does") if entry[9] else _unknown_path(entry[7]),
        severity=rule.severity if rule else "high",
        path_classes=_named(entry[7]),
        field=field.path,
    )


@lru_cache(maxsize=1024)
def _named(classes: int) -> tuple[str, ...]:
    return tuple(name for name, bit in PATH_CLASSES.items() if classes & bit)


def _unknown_path(classes: int) -> str:
    return "which path it is about" if classes & PATH_CLASSES["unknown"] else ""
