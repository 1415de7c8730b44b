"""What the gates asked about most, from the hook's spool: for ``tipstaff gate --stats``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from tipstaff.hosts.host import DOCTOR_SESSION

SPOOL: Final = "spool.jsonl"
_INGESTED: Final = "spool-[0-9]*.jsonl"
_DECISIONS: Final = ("warn", "require-confirmation", "block")
_GATE_SETTINGS: Final = {
    "secrets": "secrets = false in the policy switches the whole gate off; a line with `tipstaff:allow` is not scanned",
    "diff-size": "diff_size_threshold in the policy raises the number of lines",
    "tool-allowlist": "allowed_tools in the policy names the tool",
}


def spool_records(state: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a state folder's spool, and of those that a ledger took in and that are still kept.

    Lines that are torn or of another kind are left out, and so is what the doctor tried.
    """
    for path in (*sorted(state.glob(_INGESTED)), state / SPOOL):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            continue
        for line in data.split(b"\n"):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if not isinstance(record, dict) or record.get("session") == DOCTOR_SESSION:
                continue
            if isinstance(record.get("rules"), list):
                yield record


def rule_counts(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return for each rule how often it spoke, and how often a person allowed that, most often allowed first.

    Parameters
    ----------
    records
        Records of the spool.

    Returns
    -------
    list of dict
        ``rule, warn, require-confirmation, block, approved, sessions, setting``. A call that a person allowed counts as
        harmless; ``setting`` is what would quiet the rule.
    """
    counts: dict[str, dict[str, Any]] = {}
    sessions: dict[str, set[str]] = {}
    for record in records:
        for rule in dict.fromkeys(str(name) for name in record["rules"]):
            entry = counts.setdefault(rule, {"rule": rule, **dict.fromkeys(_DECISIONS, 0), "approved": 0})
            if "approved" in record:
                entry["approved"] += 1
            elif record.get("decision") in _DECISIONS:
                entry[str(record["decision"])] += 1
            sessions.setdefault(rule, set()).add(str(record.get("session", "")))
    for rule, entry in counts.items():
        entry["sessions"] = len(sessions[rule])
        entry["setting"] = setting_for(rule)
    active = [entry for entry in counts.values() if entry["approved"] or any(entry[name] for name in _DECISIONS)]
    return sorted(
        active, key=lambda entry: (-entry["approved"], -sum(entry[name] for name in _DECISIONS), entry["rule"])
    )


def setting_for(rule: str) -> str:
    """Return the settings by which a repository asks less about a rule or a gate."""
    if rule in _GATE_SETTINGS:
        return _GATE_SETTINGS[rule]
    return f'in .tipstaff/packs/own.toml: [[rule]] id = "{rule}", enabled = false, because = "..."'


def stats_lines(counts: list[dict[str, Any]], *, most: int = 20) -> list[str]:
    """Return the counts as lines of text."""
    if not counts:
        return ["The spool has no call that the gates asked about."]
    lines = [f"{'allowed':>8}{'asked':>8}{'blocked':>8}{'warned':>8}{'sessions':>10}  rule"]
    for entry in counts[:most]:
        asked, blocked, warned = entry["require-confirmation"], entry["block"], entry["warn"]
        lines.append(f"{entry['approved']:>8}{asked:>8}{blocked:>8}{warned:>8}{entry['sessions']:>10}  {entry['rule']}")
    harmless = [entry for entry in counts[:most] if entry["approved"] >= 2 and not entry["block"]]
    if harmless:
        lines += ["", "Allowed repeatedly; settings that would allow it without asking:"]
        lines += [f"  {entry['rule']}: {entry['setting']}" for entry in harmless]
    return lines
