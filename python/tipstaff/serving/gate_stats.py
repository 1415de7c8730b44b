"""What the gates asked about most, from the hook's spool: for ``tipstaff gate stats``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from tipstaff.hosts.host import DOCTOR_SESSION
from tipstaff.store.untrusted import read_untrusted

SPOOL: Final = "spool.jsonl"
_INGESTED: Final = "spool-[0-9]*.jsonl"
_DECISIONS: Final = ("warn", "require-confirmation", "block")
_SETTINGS: Final = ".tipstaff/gates.toml"
_OWN_PACK: Final = ".tipstaff/packs/own.toml"
_HEADS: Final = {_SETTINGS: ('because = "..."', "\n"), _OWN_PACK: ('[pack]\nid = "own"', "\n\n")}
"""What such a file begins with, and what is between its settings."""
_GATE_SETTINGS: Final = {
    "secrets": "secrets = false  # the whole gate; a line with `tipstaff:allow` is not scanned",
    "diff-size": "diff_size_threshold = 900",
    "tool-allowlist": 'allowed_tools = ["..."]  # all that may be called',
}
_BEFORE: Final = frozenset({"pretooluse", "beforetool", "beforeshellexecution", "beforemcpexecution"})
_AFTER: Final = frozenset({"posttooluse", "aftertool", "posttoolusefailure"})
_SHELL: Final = frozenset({"Shell", ""})  # Cursor names none before a command


def spool_records(state: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a state folder's spool, and of those that a ledger took in and that are still kept.

    Lines that are torn or of another kind are left out, and so is what the doctor tried.
    """
    for path in (*sorted(state.glob(_INGESTED)), state / SPOOL):
        try:
            data = read_untrusted(path, most=1 << 30)
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
        harmless, by `tipstaff approve` or in the host: it was asked about, and then it ran. ``setting`` is what would
        quiet the rule. A call that was asked about for no rule counts under what was wrong with the policy.
    """
    counts: dict[str, dict[str, Any]] = {}
    sessions: dict[str, set[str]] = {}
    asked: dict[tuple[str, ...], list[str]] = {}
    for record in records:
        event, decision = str(record.get("event", "")).lower(), record.get("decision")
        tool = str(record.get("tool", ""))
        call = (*(str(record.get(name, "")) for name in ("host", "session", "agent")), "" if tool in _SHELL else tool)
        if event in _AFTER:  # the last call of this tool ran
            for rule in asked.pop(call, ()):
                counts[rule]["approved"] += 1
        rules = list(dict.fromkeys(str(name) for name in record["rules"]))
        if not rules and record.get("policy") and decision in {"require-confirmation", "block"}:
            rules = [str(record["policy"])]
        for rule in rules:
            entry = counts.setdefault(rule, {"rule": rule, **dict.fromkeys(_DECISIONS, 0), "approved": 0})
            if "approved" in record:
                entry["approved"] += 1
            elif decision in _DECISIONS:
                entry[str(decision)] += 1
            sessions.setdefault(rule, set()).add(str(record.get("session", "")))
        if event in _BEFORE:
            asked[call] = rules if decision == "require-confirmation" else []
    for rule, entry in counts.items():
        entry["sessions"] = len(sessions[rule])
        entry["setting"] = dict(zip(("file", "text"), setting_for(rule), strict=True))
    active = [entry for entry in counts.values() if entry["approved"] or any(entry[name] for name in _DECISIONS)]
    return sorted(
        active, key=lambda entry: (-entry["approved"], -sum(entry[name] for name in _DECISIONS), entry["rule"])
    )


def setting_for(rule: str) -> tuple[str, str]:
    """Return the file of a repository and the lines in it by which it asks less about a rule or a gate.

    Without a file no setting does it, and the text says what would.
    """
    if rule in _GATE_SETTINGS:
        return _SETTINGS, _GATE_SETTINGS[rule]
    if " " in rule:
        return (
            "",
            "`tipstaff install --host NAME`, and `tipstaff compile` where a repository has packs or settings",
        )
    if rule.startswith("wiring."):
        return "", "a repository cannot weaken it"
    return _OWN_PACK, f'[[rule]]\nid = "{rule}"\nenabled = false\nbecause = "..."'


def stats_lines(counts: list[dict[str, Any]], *, most: int = 20) -> list[str]:
    """Return the counts as lines of text."""
    if not counts:
        return ["The spool has no call that the gates asked about."]
    lines = [f"{'allowed':>8}{'asked':>8}{'blocked':>8}{'warned':>8}{'sessions':>10}  rule"]
    for entry in counts[:most]:
        asked, blocked, warned = entry["require-confirmation"], entry["block"], entry["warn"]
        lines.append(f"{entry['approved']:>8}{asked:>8}{blocked:>8}{warned:>8}{entry['sessions']:>10}  {entry['rule']}")
    harmless = [entry for entry in counts[:most] if entry["approved"] >= 2 and " " not in entry["rule"]]
    for entry in harmless:
        if entry["block"]:
            lines += ["", f"{entry['rule']} was allowed repeatedly, and has blocked calls: no setting is proposed."]
        elif not entry["setting"]["file"]:
            lines += ["", f"{entry['rule']} was allowed repeatedly: {entry['setting']['text']}."]
    quiet = [entry["setting"] for entry in harmless if entry["setting"]["file"] and not entry["block"]]
    for file, (head, between) in _HEADS.items():
        if texts := [setting["text"] for setting in quiet if setting["file"] == file]:
            lines += ["", f"Allowed repeatedly. This in {file} allows it, once it says why:", ""]
            lines += between.join([head, *texts]).split("\n")
    if quiet:
        lines += ["", "It is in force once a person has run `tipstaff compile` in a terminal and allowed it."]
    for entry in (one for one in counts if " " in one["rule"]):
        lines += ["", f"Calls were asked about because {entry['rule']}: a person runs {entry['setting']['text']}."]
    return lines
