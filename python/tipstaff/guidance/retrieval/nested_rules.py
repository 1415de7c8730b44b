"""What is always loaded in the folder that somebody works in: the constitution of the root, and that of the folder."""

from __future__ import annotations

from collections.abc import Sequence

from tipstaff.globs import matches_any
from tipstaff.guidance.compiling.compiler import in_force
from tipstaff.guidance.compiling.constitution import rule_line, short_hash
from tipstaff.guidance.retrieval.tenant_views import SECTION, View
from tipstaff.model import Constitution, GuidanceRule, RetrievedShard


def nested_rules(
    view: View, shards: Sequence[RetrievedShard], repo_scope: str | None, today: str
) -> tuple[GuidanceRule, ...]:
    """Return the constitution rules of the folders that somebody works in that are not among some shards."""
    nested = view.constitution.nested
    if not nested or not repo_scope:
        return ()
    known = {one.shard.rule.id for one in shards}
    return tuple(
        rule
        for rule in nested
        if rule.id not in known and matches_any(rule.repo_scopes, repo_scope) and in_force(rule, today)
    )


def constitution_at(view: View, shards: Sequence[RetrievedShard], repo_scope: str | None, today: str) -> Constitution:
    """Return what is always loaded where somebody works."""
    nested = nested_rules(view, shards, repo_scope, today)
    if not nested:
        return view.constitution
    whole = view.constitution
    text = "\n".join((whole.text.rstrip("\n"), *map(rule_line, nested)))
    return whole.replace(rules=(*whole.rules, *nested), text=text, hash=short_hash(text))


def text_at(view: View, shards: Sequence[RetrievedShard], repo_scope: str | None, today: str) -> str:
    """Return what the model reads."""
    nested = nested_rules(view, shards, repo_scope, today)
    head, opening = view.head, view.opening
    if nested:
        more = "\n".join(map(rule_line, nested))
        head = f"{head}\n{more}" if head else more
        opening = f"{head}\n\n{SECTION}\n\n"
    return opening + "\n".join([f"- {one.shard.compact_text}" for one in shards]) if shards else head
