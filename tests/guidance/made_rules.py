"""Rules and bundles put together by hand, without the compiler."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tipstaff.guidance.compiling.constitution import compact_text
from tipstaff.model import Constitution, GuidanceRule, PolicyBundle, RuleManifest, RuleShard


def rule(rule_id: str, text: str, **fields: Any) -> GuidanceRule:
    """Return a rule; `scope` is short for `repo_scopes`, `folder` for what a nested file's folder sets."""
    scope = fields.pop("scope", None)
    folder = fields.pop("folder", None)
    if folder is not None:
        fields |= {
            "path": f"{folder}/CLAUDE.md",
            "depth": folder.count("/") + 1,
            "repo_scopes": (f"{folder}/**",),
            "file_scope": (f"{folder}/**",),
        }
    if scope is not None:
        fields["repo_scopes"] = (scope,) if isinstance(scope, str) else tuple(scope)
    return GuidanceRule(id=rule_id, text=text, **fields)


def bundle_of(
    rules: Iterable[GuidanceRule], laws: Iterable[GuidanceRule] = (), overflow: Iterable[str] = ()
) -> PolicyBundle:
    """Return a bundle of shards and constitution rules; those of `overflow` are both."""
    laws, overflow = tuple(laws), tuple(overflow)
    shards = (*(law for law in laws if law.id in overflow), *rules)
    text = "\n".join(f"- [{law.id}] {law.text}" for law in laws if law.id not in overflow)
    return PolicyBundle(
        constitution=Constitution(laws, text, "0123456789abcdef", overflow),
        shards=tuple(RuleShard(one, compact_text(one)) for one in shards),
        manifest=RuleManifest(
            rules=(),
            source_hashes={},
            total_rules=len({one.id for one in (*laws, *shards)}),
            constitution_rules=len(laws),
            shard_rules=len(shards),
        ),
    )
