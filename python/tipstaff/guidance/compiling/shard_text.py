"""What the model reads of a rule that is retrieved: one line, and a note where another rule may oppose it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from tipstaff.guidance.compiling.compiler_config import CompilerConfig
from tipstaff.guidance.compiling.precedence import nearer_wins
from tipstaff.guidance.compiling.statements import CONFLICT, POSSIBLE
from tipstaff.model import EVERYWHERE, GuidanceRule, Relation

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
