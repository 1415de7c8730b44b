"""Results of the gates: what was found in a call, in the words that hosts and people are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from tipstaff.gates.config import GateConfig
from tipstaff.gates.fields import Field, keys_of
from tipstaff.gates.judging.findings import NativeFinding, findings_of
from tipstaff.gates.judging.losses import Weighed
from tipstaff.gates.results import DECISIONS, GATE_NAMES, GateResult
from tipstaff.model import GuidanceRule

if TYPE_CHECKING:
    from tipstaff.gates.image.policy import LoadedPolicy
    from tipstaff.gates.secrets.scanner import Scanner


@dataclass(frozen=True)
class Answers:
    """Makes results of findings.

    Attributes
    ----------
    config, policy
        By which the calls are judged.
    scanner
        Of secrets; None for the package's own.
    rules
        Guidance rules in force, each with its words: a result names those that are about what was found.
    """

    config: GateConfig
    policy: LoadedPolicy
    scanner: Scanner | None
    rules: tuple[tuple[GuidanceRule, frozenset[str]], ...] = ()

    def with_rules(self, rules: Iterable[GuidanceRule]) -> Self:
        """Return the same with other guidance rules in force."""
        from tipstaff.gates.judging.related_rules import words_of

        return replace(self, rules=tuple((rule, words_of(rule.text)) for rule in rules))

    def of_tool(
        self,
        tool: str,
        params: Any,
        fields: Sequence[Field],
        native: Sequence[tuple[Any, ...]],
        *,
        cwd: str | None = None,
        clean: bool = False,
        weighed: Weighed | None = None,
    ) -> list[GateResult]:
        """Return the results of a tool call that works in the folder `cwd`; `clean`: no text of it holds a secret."""
        texts: list[tuple[str, str]] = []
        kept: list[Field] = []
        if self.config.secrets and not clean:
            from tipstaff.gates.judging.secret_gate import without_former

            kept = [without_former(tool, field) for field in fields]
            texts.extend((field.path, field.text) for field in kept)
            texts.extend(("", name) for name in keys_of(params) if len(name) >= 8)
        found = [NativeFinding(*one) for one in native]
        size = [finding for finding in found if finding.gate == GATE_NAMES.index("diff-size")]
        return [
            *self.of_name(tool),
            *self.of_findings([finding for finding in found if finding.gate == 0], fields, weighed=weighed),
            *(self._counted_size(tool, finding) for finding in size),
            *self.of_secrets(texts, pairs=kept, cwd=cwd),
        ]

    def of_findings(
        self, native: Sequence[tuple[Any, ...]], fields: Sequence[Field], *, clean: bool = False,
        weighed: Weighed | None = None,
    ) -> list[GateResult]:  # fmt: skip
        """Return the destructive gate's result over texts, in which no secret is where they are `clean`."""
        if not native and weighed is None:
            return []
        found = [one for one in map(NativeFinding._make, native) if one.gate == 0]
        # A repository's own rules of secrets say nothing of what the package's would mask.
        findings, relaxed = findings_of(found, self.policy, fields, masked=not clean or self.scanner is not None)
        if weighed is not None and weighed.finding is not None:
            findings.append(weighed.finding)
            findings.sort(key=lambda finding: -DECISIONS.index(finding.decision))
        if not findings and not relaxed and weighed is None:
            return []
        metadata: dict[str, Any] = {"findings": [finding.to_dict() for finding in findings]}
        if weighed is not None:
            metadata["facts"] = list(weighed.facts)
            if weighed.kept:
                metadata["kept"] = weighed.kept
        if relaxed:
            metadata["relaxed"] = relaxed
        if not findings:
            reason = "A rule of the repository allows it." if relaxed else "Nothing is lost."
            return [GateResult("allow", GATE_NAMES[0], reason, (), "", metadata)]
        worst = findings[0]
        more = "" if len(findings) == 1 else f" ({len(findings) - 1} more)"
        safer = " ".join(dict.fromkeys(finding.safer for finding in findings if finding.safer))
        return [
            GateResult(
                worst.decision,
                GATE_NAMES[0],
                f"{worst.rule_id or 'policy'}: {worst.reason}{more}",
                self._related(GATE_NAMES[0], [(finding.rule_id, finding.text) for finding in findings]),
                safer,
                metadata,
            )
        ]

    def of_name(self, tool: str) -> list[GateResult]:
        """Return the allowlist's result for a tool."""
        from tipstaff.gates.judging.allowlist import is_allowed

        config = self.config
        if not config.tool_allowlist or is_allowed(tool, config.allowed_tools):
            return []
        return [
            GateResult(
                "block",
                GATE_NAMES[1],
                f"The tool {tool!r} is not on the allowlist.",
                self._related(GATE_NAMES[1], []),
                f"Use one of: {', '.join(config.allowed_tools)}.",
                {"tool": tool, "allowed_tools": list(config.allowed_tools)},
            )
        ]

    def of_reported_size(self, path: str, diff_lines: float) -> list[GateResult]:
        """Return the result of an edit whose changed lines the host counted."""
        from tipstaff.gates.judging.diff_size import reported_lines

        threshold = self.config.diff_size_threshold
        lines = reported_lines(diff_lines)
        if lines is not None and lines <= threshold:
            return []
        message = "The number of changed lines is unknown" if lines is None else f"It changes {lines:g} lines"
        metadata = {"path": path, "diff_lines": lines, "threshold": threshold}
        return [self._size(f"{message}; the threshold is {threshold:g}.", metadata)]

    def _counted_size(self, tool: str, finding: NativeFinding) -> GateResult:
        config, lines = self.config, finding.classes
        metadata: dict[str, Any] = {"tool": tool, "diff_lines": lines, "threshold": config.diff_size_threshold}
        if finding.uncertain:
            metadata["run_threshold"] = config.run_diff_threshold
            return self._size(
                f"The edits of this run together change more than {config.run_diff_threshold:g} lines.", metadata
            )
        return self._size(f"It changes {lines} lines; the threshold is {config.diff_size_threshold:g}.", metadata)

    def _size(self, reason: str, metadata: dict[str, Any]) -> GateResult:
        return GateResult(
            "warn",
            GATE_NAMES[2],
            reason,
            self._related(GATE_NAMES[2], []),
            "Split the change into smaller ones.",
            metadata,
        )

    def of_secrets(
        self, texts: Sequence[tuple[str, str]], pairs: Sequence[Field] = (), *, cwd: str | None = None
    ) -> list[GateResult]:
        """Return the secrets gate's result over pairs of a field's path and its text."""
        if not self.config.secrets:
            return []
        from tipstaff.gates.judging.secret_gate import find_secrets

        found = find_secrets(texts, pairs, scanner=self.scanner, cwd=cwd)
        if not found:
            return []
        count = len(found)
        worst = max((item["decision"] for item in found), key=DECISIONS.index)
        return [
            GateResult(
                worst,
                GATE_NAMES[3],
                f"{count} secret{'s' if count > 1 else ''} in what would be run or written: "
                f"{', '.join(sorted({item['rule_id'] for item in found}))}.",
                self._related(GATE_NAMES[3], []),
                "Keep it in the environment or a secret store, and name it there.",
                {"secret_count": count, "findings": found},
            )
        ]

    def _related(self, gate: str, found: Sequence[tuple[str, str]]) -> tuple[str, ...]:
        if not self.rules:
            return ()
        from tipstaff.gates.judging.related_rules import related_rules

        return related_rules(gate, found, self.rules)
