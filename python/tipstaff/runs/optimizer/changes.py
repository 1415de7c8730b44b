"""A change of one rule, and the rules as they would be with it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.model import Constitution, GuidanceRule, PolicyBundle, Record, RuleShard

KINDS: Final = ("modify", "add", "promote", "demote", "remove")


class Change(Record, frozen=True, kw_only=True):
    """A change of one rule.

    Attributes
    ----------
    kind
        ``modify`` (other words), ``add``, ``promote`` (from a local file into the root file), ``demote`` (the way
        back), ``remove``.
    rule_id
        The rule as runs name it.
    before, after
        Its text; `before` is empty for ``add``, `after` for ``remove``.
    rationale
        The evidence for it.
    """

    kind: str
    rule_id: str
    before: str
    after: str
    rationale: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(f"kind is {self.kind!r}; it must be one of {', '.join(KINDS)}")
        if self.kind in {"modify", "add"} and (not self.after.strip() or self.after == self.before):
            raise ConfigError(f"{self.rule_id}: a change to {self.kind} needs another text than the one there is")
        if "\n" in self.after:
            raise ConfigError(f"{self.rule_id}: a rule is one line of text")

    @property
    def id(self) -> str:
        """Identifies the change by what it does: equal changes have equal ids."""
        text = "\0".join((self.kind, self.rule_id, self.before, self.after))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def with_changes(bundle: PolicyBundle, changes: Iterable[Change]) -> PolicyBundle:
    """Return a bundle as it would be with some changes; rules keep their ids, so runs of both arms name them alike."""
    for change in changes:
        bundle = _with_change(bundle, change)
    return bundle


def _with_change(bundle: PolicyBundle, change: Change) -> PolicyBundle:
    if change.kind == "add":
        rule = GuidanceRule(id=change.rule_id, text=change.after)
        return bundle.replace(shards=(*bundle.shards, RuleShard(rule, f"[{rule.id}] {rule.text} @medium")))
    if change.kind not in {"modify", "remove"}:
        return bundle  # the same words from another file
    shards: list[RuleShard] = []
    for shard in bundle.shards:
        if shard.rule.id != change.rule_id:
            shards.append(shard)
        elif change.kind == "modify":
            compact = shard.compact_text.replace(shard.rule.text, change.after, 1)
            shards.append(RuleShard(shard.rule.replace(text=change.after), compact))
    return bundle.replace(shards=tuple(shards), constitution=_constitution(bundle.constitution, change))


def _constitution(constitution: Constitution, change: Change) -> Constitution:
    rule = next((one for one in constitution.rules if one.id == change.rule_id), None)
    if rule is None:
        return constitution
    if change.kind == "remove":
        lines = [line for line in constitution.text.split("\n") if rule.text not in line]
        rules, text = tuple(one for one in constitution.rules if one is not rule), "\n".join(lines)
    else:
        rules = tuple(one.replace(text=change.after) if one is rule else one for one in constitution.rules)
        text = constitution.text.replace(rule.text, change.after, 1)
    return constitution.replace(rules=rules, text=text, hash=hashlib.sha256(text.encode()).hexdigest()[:16])
