"""Bundles and vectors to write: made by hypothesis, or plain ones of a given size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from tipstaff.model import (
    INTENTS,
    RISK_CLASSES,
    Constitution,
    Diagnostic,
    GuidanceRule,
    ManifestEntry,
    PolicyBundle,
    Relation,
    RuleManifest,
    RuleShard,
    Severity,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

INT32 = st.integers(-(2**31), 2**31 - 1)
TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
"""Any text that UTF-8 can hold: empty, NUL, every plane."""

TEXTS = st.lists(TEXT, max_size=3).map(tuple)
OPTIONAL = st.none() | TEXT

RULES = st.builds(
    GuidanceRule,
    id=TEXT,
    text=TEXT,
    risk_class=st.sampled_from(RISK_CLASSES),
    tool_classes=TEXTS,
    intents=st.lists(st.sampled_from(INTENTS), max_size=3).map(tuple) | TEXTS,
    repo_scopes=TEXTS,
    domains=TEXTS,
    priority=INT32,
    source=TEXT,
    is_constitution=st.booleans(),
    verifier=OPTIONAL,
    path=TEXT,
    line=INT32,
    end_line=INT32,
    span=st.tuples(INT32, INT32),
    heading=TEXT,
    host=TEXT,
    file_scope=TEXTS,
    active_from=OPTIONAL,
    active_until=OPTIONAL,
    former_id=OPTIONAL,
    overrides=OPTIONAL,
    depth=INT32,
    verifiers=TEXTS,
)
CONSTITUTIONS = st.builds(
    Constitution, st.lists(RULES, max_size=2).map(tuple), TEXT, TEXT, st.lists(TEXT, max_size=2).map(tuple)
)
MANIFESTS = st.builds(
    RuleManifest,
    rules=st.lists(
        st.builds(
            ManifestEntry, id=TEXT, triggers=TEXTS, verifier=OPTIONAL, risk_class=TEXT, priority=INT32, source=TEXT
        ),
        max_size=2,
    ).map(tuple),
    source_hashes=st.dictionaries(TEXT, TEXT, max_size=2),
    total_rules=INT32,
    constitution_rules=INT32,
    shard_rules=INT32,
)
DIAGNOSTICS = st.builds(
    Diagnostic,
    code=TEXT,
    message=TEXT,
    line=INT32,
    source=TEXT,
    fix=TEXT,
    severity=st.sampled_from(Severity),
    rule_id=OPTIONAL,
    span=st.tuples(INT32, INT32),
)
RELATIONS = st.builds(Relation, kind=TEXT, left=TEXT, right=TEXT, similarity=st.floats(0, 1))
BUNDLES = st.builds(
    PolicyBundle,
    constitution=CONSTITUTIONS,
    shards=st.lists(st.builds(RuleShard, RULES, TEXT), max_size=9).map(tuple),
    manifest=MANIFESTS,
    diagnostics=st.lists(DIAGNOSTICS, max_size=2).map(tuple),
    relations=st.lists(RELATIONS, max_size=2).map(tuple),
)


def plain_bundle(n_shards: int, word: str = "rule") -> PolicyBundle:
    """Return a bundle of `n_shards` shards whose texts hold `word`."""
    rules = tuple(
        GuidanceRule(
            id=f"R-{index:05d}",
            text=f"{word} {index}: état, 規則 and 🚦",
            risk_class=RISK_CLASSES[index % len(RISK_CLASSES)],
            intents=(INTENTS[index % len(INTENTS)],),
            repo_scopes=(f"src/part{index % 7}/**",) if index % 3 else ("**/*",),
            priority=index % 100,
            path=f"docs/part{index % 7}/CLAUDE.md",
            line=index + 1,
            end_line=index + 1,
            span=(index * 10, index * 10 + 9),
            heading=f"Section {index % 5}",
            active_from="2025-01-01" if index % 4 == 0 else None,
        )
        for index in range(n_shards)
    )
    return PolicyBundle(
        constitution=Constitution(rules[:2], f"always: {word}", "0123456789abcdef"),
        shards=tuple(RuleShard(rule, f"- {rule.text}") for rule in rules),
        manifest=RuleManifest(
            rules=(), source_hashes={"root": "00"}, total_rules=n_shards, constitution_rules=0, shard_rules=n_shards
        ),
        diagnostics=(Diagnostic(code="TS201", message=word, line=3, source="root"),),
        relations=(Relation(kind="duplicate", left="R-00000", right="R-00001", similarity=0.75),),
    )


def unit_vectors(n_shards: int, dims: int, seed: int = 7) -> NDArray[np.float32]:
    """Return float32 (n_shards, dims), unit rows."""
    rows = np.random.default_rng(seed).standard_normal((n_shards, dims)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True) if n_shards else rows
