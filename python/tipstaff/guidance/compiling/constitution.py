"""Packing the constitution: the rules that are always loaded, under a cap of lines."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from tipstaff.model import EVERYWHERE, Constitution, GuidanceRule

TITLE = "# Constitution"
_HEADINGS = {
    "security": "Security",
    "testing": "Testing",
    "performance": "Performance",
    "architecture": "Architecture",
    "debugging": "Debugging",
    "deployment": "Deployment",
    "general": "General",
}


def short_hash(text: str) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def rule_line(rule: GuidanceRule) -> str:
    """Return the line in which the model reads a constitution rule; a scoped rule says where it holds."""
    scope = "" if EVERYWHERE in rule.repo_scopes else f" (applies to {', '.join(rule.repo_scopes)})"
    return f"- [{rule.id}] {rule.text}{scope}"


def line_tokens(rule: GuidanceRule) -> int:
    """Return about how many tokens a constitution rule costs on every turn."""
    return len(rule_line(rule)) // 4 + 1


def pack(rules: Sequence[GuidanceRule], max_lines: int) -> Constitution:
    """Pack rules under a cap.

    Parameters
    ----------
    rules
        Constitution rules in force, by falling priority.
    max_lines
        The cap. Every line counts: title, blank line, domain headings, rules.

    Returns
    -------
    Constitution
        With domain headings, each once, where all rules fit with them; with the bare list where they fit without;
        else with as many rules by priority as fit, the ids of the others in `overflow`.
    """
    if not rules:
        text = f"{TITLE}\n" if max_lines > 0 else ""
        return Constitution((), text, short_hash(text), ())
    domains = list(dict.fromkeys(rule.domains[0] for rule in rules))
    # A heading with a single domain tells nothing.
    headings = len(domains) if len(domains) > 1 else 0
    lines: list[str] = []
    kept = len(rules)
    if 2 + headings + len(rules) <= max_lines and headings:
        lines = [TITLE, ""]
        for domain in domains:
            lines.append(f"## {_HEADINGS[domain]}")
            lines.extend(rule_line(rule) for rule in rules if rule.domains[0] == domain)
    else:
        head = [TITLE, ""] if max_lines > 2 else []
        kept = max(0, min(len(rules), max_lines - len(head)))
        lines = [*head, *(rule_line(rule) for rule in rules[:kept])] if kept else []
    text = "\n".join(lines)
    return Constitution(tuple(rules), text, short_hash(text), tuple(rule.id for rule in rules[kept:]))
