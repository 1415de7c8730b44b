"""Verdicts and explanations as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tipstaff.cli.output import Painter, plain

if TYPE_CHECKING:
    from tipstaff.gates.judging.explanation import Explanation
    from tipstaff.gates.results import GateResult

_LONGEST = 100


def result_lines(result: GateResult, paint: Painter, colours: Mapping[str, str]) -> Iterator[str]:
    """Yield a result: its gate, each finding with its text, the reason, the safer way."""
    yield ""
    yield f"{paint(result.gate_name, bold=True)}: {paint(result.decision, colours[result.decision], bold=True)}"
    findings: list[dict[str, Any]] = result.metadata.get("findings", [])
    for found in findings:
        rule = paint(plain(found["rule_id"] or "policy"), "cyan")
        if "reason" not in found:
            yield f"  {rule} {plain(found['redacted'])} at {found['start']}-{found['end']}"
            continue
        decided = paint(found["decision"], colours[found["decision"]])
        yield f"  {decided} {rule} at {found['start']}-{found['end']}: {_short(found['text'])}"
        yield f"    {plain(found['reason'])}"
        if found["path_classes"]:
            yield f"    path: {', '.join(found['path_classes'])}"
        if found["unknown"]:
            yield f"    not known: {found['unknown']}"
        if found["safer"]:
            yield f"    safer: {plain(found['safer'])}"
    if not findings:
        yield f"  {plain(result.reason)}"
    if result.remediation and not any("reason" in found for found in findings):
        yield f"    safer: {plain(result.remediation)}"
    relaxed: list[dict[str, str]] = result.metadata.get("relaxed", [])
    for rule_data in relaxed:
        yield f"  relaxed from {rule_data['former']}: {rule_data['rule']}, because {plain(rule_data['because'])}"
    if result.triggered_rules:
        yield f"  related rules: {', '.join(plain(rule) for rule in result.triggered_rules)}"


def explanation_lines(explanation: Explanation, paint: Painter) -> Iterator[str]:
    """Yield the tree, the commands with their words, and the rules that were tried."""
    text = explanation.command
    yield ""
    yield paint("Parsed as", bold=True)
    for node in explanation.nodes:
        kind = paint(node.kind, "green" if node.is_code else "yellow")
        tongue = "" if node.dialect == "shell" else f" ({node.dialect})"
        data = "" if node.is_code else paint(" data", dim=True)
        what = _short(text[node.start : node.end])
        yield f"  {'  ' * node.depth}{kind}{tongue}{data} {node.start}-{node.end}: {what}"
    yield ""
    yield paint("Commands that would run", bold=True)
    for number, command in enumerate(explanation.commands):
        words = " ".join(_word(word.text) for word in command.words)
        via = f" via {', '.join(command.via)}" if command.via else ""
        yield f"  [{number}] {paint(plain(command.program), 'cyan')} {_short(words)}{paint(via, dim=True)}"
        for tried in explanation.tried:
            if tried.command == number:
                outcome = paint(f"matched: {tried.decision}", "red") if tried.held else paint("no match", dim=True)
                yield f"      {tried.rule_id}: {outcome}"
    others = [tried for tried in explanation.tried if tried.command < 0]
    if others:
        yield "  outside the commands"
        for tried in others:
            outcome = f"matched: {tried.decision}" if tried.held else "no match"
            yield f"      {tried.rule_id}: {outcome}"
    for question, start, end in explanation.open_questions:
        yield f"  not known: {question} at {start}-{end}"


def _word(text: str) -> str:
    return f"'{text}'" if not text or any(char.isspace() for char in text) else text


def _short(text: str) -> str:
    shown = plain(text.replace("\n", "\\n"))
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
