"""Packing the constitution: the rules that are always loaded, under a cap of lines."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from tipstaff.guidance.compiling.compiler_config import CompilerConfig
from tipstaff.guidance.compiling.precedence import nearer_wins
from tipstaff.guidance.compiling.statements import CONFLICT, POSSIBLE
from tipstaff.model import EVERYWHERE, Constitution, GuidanceRule, Relation

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


NOTE_CHARS: Final = 80
"""How much of the other rule a note of a conflict quotes."""
_DEFAULTS: Final = CompilerConfig()


def notes_of(rules: Sequence[GuidanceRule], relations: Iterable[Relation]) -> dict[str, str]:
    """Return by id the note to the model on a rule that perhaps cannot be followed together with another.

    Neither is left out: which one is right is for the author to say.
    """
    by_id = {rule.id: rule for rule in rules}
    notes: dict[str, str] = {}
    for relation in relations:
        if relation.kind not in (CONFLICT, POSSIBLE):
            continue
        left, right = by_id[relation.left], by_id[relation.right]
        if nearer_wins(left, right):
            continue
        verb = "conflicts" if relation.kind == CONFLICT else "may conflict"
        for rule, other in ((left, right), (right, left)):
            words = other.text if len(other.text) <= NOTE_CHARS else f"{other.text[: NOTE_CHARS - 1].rstrip()}…"
            notes.setdefault(rule.id, f' ({verb} with [{other.id}] "{words}"; ask which applies)')
    return notes


# Rules of a file share a handful of combinations.
@lru_cache(maxsize=1_024)
def _tags(risk: str, domains: tuple[str, ...], intents: tuple[str, ...], tool_classes: tuple[str, ...]) -> str:
    tags = dict.fromkeys((risk, *domains, *intents, *tool_classes))
    tags.pop("all", None)
    return f" @{' @'.join(tags)}"


def compact_text(rule: GuidanceRule, config: CompilerConfig | None = None) -> str:
    """Return the one line in which the model reads a shard.

    ``[ID] text @risk @domains @intents @tools``, each tag once, then where it holds, what verifies it and a priority
    of its own: a model that does not see where a rule applies, applies it everywhere.
    """
    text = f"[{rule.id}] {rule.text}{_tags(rule.risk_class, rule.domains, rule.intents, rule.tool_classes)}"
    if EVERYWHERE not in rule.repo_scopes:
        text += " scope:" + " scope:".join(rule.repo_scopes)
    if rule.verifiers:
        text += " verify:" + " verify:".join(rule.verifiers)
    default = _DEFAULTS.default_priority if config is None else config.default_priority
    if rule.priority != default and not rule.is_constitution:
        text += f" priority:{rule.priority}"
    return text
