"""Many tenants in one store: the rules of several bundles, each tenant's to be seen by that tenant alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from tipstaff.errors import ConfigError
from tipstaff.model import Constitution, GuidanceRule, PolicyBundle, RuleManifest, RuleShard


def join_bundles(bundles: Mapping[str | None, PolicyBundle]) -> PolicyBundle:
    """Return one bundle of many tenants' rules, to be written to one store.

    ``ShardRetriever.retrieve(task, tenant="acme")`` gives the tenant's rules and the common ones, those of no other
    tenant; without a tenant, or for one that is unknown, the common ones alone.

    Parameters
    ----------
    bundles
        For each tenant its compiled bundle; under None the common rules. Ids need to be unique within a bundle only.

    Returns
    -------
    PolicyBundle
        `constitution` is the common one, `tenant_constitutions` has each tenant's after it. Manifest, diagnostics
        and relations are those of all bundles, in their order.

    Raises
    ------
    ConfigError
        If a name is empty or a bundle has tenants already.
    """
    shards: list[RuleShard] = []
    constitutions: dict[str, Constitution] = {}
    hashes: dict[str, str] = {}
    common = bundles[None].constitution if None in bundles else _constitution((), "", ())
    for tenant, bundle in bundles.items():
        if tenant is not None and not (isinstance(tenant, str) and tenant):  # pyright: ignore[reportUnnecessaryIsInstance]
            msg = f"a tenant is named {tenant!r}; it must be a text that is not empty, or None for the common rules"
            raise ConfigError(msg)
        if bundle.tenant_constitutions or any(rule.tenant is not None for rule in bundle.rules()):
            msg = f"the bundle of {tenant!r} has tenants already; join the bundles that it was made of"
            raise ConfigError(msg)
        if tenant is None:
            shards += bundle.shards
            hashes |= bundle.manifest.source_hashes
            continue
        shards += [RuleShard(_owned(shard.rule, tenant), shard.compact_text) for shard in bundle.shards]
        hashes |= {f"{tenant}:{source}": digest for source, digest in bundle.manifest.source_hashes.items()}
        own = bundle.constitution
        if own.rules or own.text:
            text = "\n".join(part for part in (common.text.rstrip("\n"), own.text) if part)
            rules = (*common.rules, *(_owned(rule, tenant) for rule in own.rules))
            constitutions[tenant] = _constitution(rules, text, (*common.overflow, *own.overflow))
    every = list(bundles.values())
    return PolicyBundle(
        constitution=common,
        shards=tuple(shards),
        manifest=RuleManifest(
            rules=tuple(entry for bundle in every for entry in bundle.manifest.rules),
            source_hashes=hashes,
            total_rules=sum(bundle.manifest.total_rules for bundle in every),
            constitution_rules=sum(bundle.manifest.constitution_rules for bundle in every),
            shard_rules=sum(bundle.manifest.shard_rules for bundle in every),
        ),
        diagnostics=tuple(one for bundle in every for one in bundle.diagnostics),
        relations=tuple(one for bundle in every for one in bundle.relations),
        tenant_constitutions=constitutions,
    )


def _owned(rule: GuidanceRule, tenant: str) -> GuidanceRule:
    return rule.replace(tenant=tenant)


def _constitution(rules: tuple[GuidanceRule, ...], text: str, overflow: tuple[str, ...]) -> Constitution:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Constitution(rules, text, digest, overflow)
