"""``tipstaff explain``."""

from __future__ import annotations

import datetime as dt
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

from tipstaff.cli.output import Painter, plain, report_unread, write, write_json
from tipstaff.cli.repository_root import root_of, root_option
from tipstaff.errors import SourceNotFoundError
from tipstaff.model import EVERYWHERE, Diagnostic, GuidanceRule, PolicyBundle


@click.command("explain")
@click.argument("rule_id", metavar="RULE-ID")
@click.option("--dir", "directory", type=click.Path(path_type=Path), help="The repository's folder.")
@root_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(*, rule_id: str, directory: Path | None, root: Path | None, as_json: bool) -> None:
    """Show where a rule comes from, when it is loaded, and how it relates to other rules."""
    from tipstaff.guidance.project import open_project

    directory = root_of(directory, root)
    # From the store where it is current: a rule that was edited keeps the id that `retrieve` shows.
    with open_project(directory, write=False, as_root=True) as project:
        bundle = project.bundle
    report_unread(bundle.diagnostics, "warning")
    rule = bundle.rule(rule_id)
    if rule is None:
        msg = _unknown(bundle, rule_id, directory)
        raise SourceNotFoundError(msg)
    explanation = explain(bundle, rule)
    if as_json:
        write_json(explanation)
    else:
        write(*_lines(rule, explanation, Painter()))


def explain(bundle: PolicyBundle, rule: GuidanceRule) -> dict[str, Any]:
    """Return everything that is known about a rule, as JSON-ready data."""
    from tipstaff.guidance.compiling.election import reasons

    related: dict[str, list[str]] = {"duplicate": [], "near-duplicate": [], "contradiction": [], "conflict": []}
    for relation in bundle.relations:
        if rule.id in {relation.left, relation.right}:
            other = relation.right if relation.left == rule.id else relation.left
            related.setdefault(relation.kind, []).append(other)
    return {
        "rule": rule.to_dict(),
        "loaded": _loaded(bundle, rule),
        "constitution_reasons": list(reasons(rule)),
        "duplicates": related["duplicate"],
        "repeated_in": [
            f"{found.source}:{found.line}"
            for found in bundle.diagnostics
            if found.rule_id == rule.id
            and found.code == "TS501"
            and (found.source, found.line) != (rule.path, rule.line)
        ],
        "near_duplicates": related["near-duplicate"],
        "contradicts": [*related["contradiction"], *related["conflict"]],
        "may_conflict_with": related.get("possible-conflict", []),
        "overrides": rule.overrides,
        "overridden_by": [other.id for other in bundle.rules() if other.overrides == rule.id],
        "former_id": rule.former_id,
        "diagnostics": [found.to_dict() for found in bundle.diagnostics if _concerns(found, rule.id)],
    }


def _concerns(found: Diagnostic, rule_id: str) -> bool:
    """Whether a finding is about a rule; of two with the same id, the earlier was given another: ``SEC-001~1``."""
    return found.rule_id == rule_id or (found.code == "TS306" and found.rule_id == rule_id.rpartition("~")[0])


def _loaded(bundle: PolicyBundle, rule: GuidanceRule) -> str:
    """Return ``always``, ``by-task``, or ``never`` for a rule that is not in force today."""
    from tipstaff.guidance.compiling.compiler import in_force

    if not in_force(rule, dt.datetime.now(tz=dt.UTC).date().isoformat()):
        return "never"
    if rule.is_constitution and rule.id not in bundle.constitution.overflow:
        return "always"
    return "by-task"


def _unknown(bundle: PolicyBundle, rule_id: str, directory: Path) -> str:
    rules = bundle.rules()
    renamed = [rule.id for rule in rules if rule.former_id and rule.former_id.casefold() == rule_id.casefold()]
    if renamed:
        return f"{rule_id}: the rule is now {renamed[0]}"
    ids = {rule.id.casefold(): rule.id for rule in rules}
    near = [ids[found] for found in get_close_matches(rule_id.casefold(), list(ids), n=3, cutoff=0.5)]
    if not ids:
        return f"{rule_id}: {directory} has no rules"
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(ids.values())[:8])}"
    return f"{rule_id}: no rule of {directory} has this id; {hint}"


def _lines(rule: GuidanceRule, explanation: dict[str, Any], paint: Painter) -> list[str]:
    location = f"{rule.path}:{rule.line}" if rule.line else rule.path
    lines = [paint(rule.id, bold=True), f"  {plain(rule.text)}", ""]
    facts = [
        ("from", f"{location}, a file of {rule.host}" + (f', under "{rule.heading}"' if rule.heading else "")),
        ("loaded", _when(rule, explanation["loaded"])),
        ("because", "; ".join(explanation["constitution_reasons"]) if rule.is_constitution else ""),
        ("emphasis", "; ".join(explanation["constitution_reasons"]) if not rule.is_constitution else ""),
        ("in force", _period(rule)),
        ("scopes", ", ".join(rule.repo_scopes) if rule.repo_scopes != (EVERYWHERE,) else ""),
        ("intents", ", ".join(rule.intents)),
        ("domains", ", ".join(rule.domains)),
        ("tools", ", ".join(rule.tool_classes) if rule.tool_classes != ("all",) else ""),
        ("risk", f"{rule.risk_class}, priority {rule.priority}"),
        ("verified by", ", ".join(rule.verifiers or ((rule.verifier,) if rule.verifier else ()))),
        ("duplicates", ", ".join(explanation["duplicates"])),
        ("repeated in", ", ".join(explanation["repeated_in"])),
        ("nearly says", ", ".join(explanation["near_duplicates"])),
        ("contradicts", ", ".join(explanation["contradicts"])),
        ("may conflict", ", ".join(explanation["may_conflict_with"])),
        ("overrides", rule.overrides or ""),
        ("overridden by", ", ".join(explanation["overridden_by"])),
        ("by its words" if _kept_its_id(rule) else "formerly", rule.former_id or ""),
    ]
    lines += [f"  {name:<14} {plain(text)}" for name, text in facts if text]
    for found in explanation["diagnostics"]:
        elsewhere = (found["source"], found["line"]) != (rule.path, rule.line)
        at = plain(f"{found['source']}:{found['line']}: ") if elsewhere else ""
        lines.append(f"  {found['severity']:<14} {found['code']} {at}{plain(found['message'])}")
    return lines


def _kept_its_id(rule: GuidanceRule) -> bool:
    """Whether a rule that was edited bears the id of its earlier words, and `former_id` is what they would give now."""
    from tipstaff.guidance.compiling.identity import content_id, salt_of

    return rule.is_generated_id and rule.former_id == content_id(rule.text, salt_of(rule.file_scope))


def _when(rule: GuidanceRule, loaded: str) -> str:
    if loaded == "always":
        return "always: it is part of the constitution"
    if loaded == "never":
        return "never: it is not in force today"
    where = "" if rule.repo_scopes == (EVERYWHERE,) else f" in {', '.join(rule.repo_scopes)}"
    full = "; it does not fit into the constitution" if rule.is_constitution else ""
    return f"when a task{where} calls for it{full}"


def _period(rule: GuidanceRule) -> str:
    parts = [
        f"from {rule.active_from}" if rule.active_from else "",
        f"until {rule.active_until}" if rule.active_until else "",
    ]
    return " ".join(part for part in parts if part)
