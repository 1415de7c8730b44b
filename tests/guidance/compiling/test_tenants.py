"""Many tenants in one store: each sees its own rules and the common ones, never another's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.guidance.made_rules import bundle_of, rule
from tipstaff.errors import ConfigError
from tipstaff.guidance.compiling.tenants import join_bundles
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.guidance.retrieval.shard_index import index_of_bundle, index_of_store
from tipstaff.guidance.retrieval.vectors import shard_rows
from tipstaff.model import GuidanceRule, PolicyBundle
from tipstaff.store.shards import ShardStore, open_store, write_store

TENANTS = (None, "acme", "globex", "initech")
SUBJECTS = ("migrations", "tokens", "tests", "releases", "queries", "logs")
DAY = "2026-06-15"


def stored(bundle: PolicyBundle, path: Path, dims: int = 32) -> ShardStore:
    embedding = HashEmbedding(dims)
    rows = shard_rows(bundle.shards, embedding)
    vectors = memoryview(rows).cast("B").cast("f") if bundle.shards else memoryview(b"").cast("f")
    write_store(path, bundle, vectors, embedding_identity=embedding.identity, dims=dims)
    return open_store(path)


def owned(tenant: str | None, subjects: list[str]) -> PolicyBundle:
    return bundle_of(
        [rule(f"R{i}", f"Review {subject} twice") for i, subject in enumerate(subjects)],
        laws=[rule("LAW", f"Obey {tenant or 'everybody'}")],
    )


@given(
    st.dictionaries(st.sampled_from(TENANTS), st.lists(st.sampled_from(SUBJECTS), max_size=6), min_size=1),
    st.sampled_from((*TENANTS, "stranger", "")),
    st.booleans(),
    st.sampled_from([None, "src/a.py"]),
)
def test_nobody_sees_the_rules_of_another(
    subjects: dict[str | None, list[str]], asking: str | None, meaning: bool, scope: str | None
) -> None:
    bundles = {tenant: owned(tenant, found) for tenant, found in subjects.items()}
    retriever = ShardRetriever(join_bundles(bundles), StaticEmbedding() if meaning else HashEmbedding(32), today=DAY)
    result = retriever.retrieve("Review the migrations and tokens", tenant=asking, max_shards=50, repo_scope=scope)
    visible = {None, asking}
    assert {one.shard.rule.tenant for one in result.shards} <= visible
    assert {one.tenant for one in result.constitution.rules} <= visible
    for other in set(TENANTS[1:]) - visible:
        assert f"Obey {other}" not in result.policy_text
    if not meaning:  # no floor: all that may be seen is given
        expected = sum(len(found) for tenant, found in subjects.items() if tenant in visible)
        assert len(result.shards) + len(result.dropped) == expected
    assert ("Obey everybody" in result.policy_text) == (None in subjects)
    if asking:
        assert (f"Obey {asking}" in result.policy_text) == (asking in subjects)
    batch = retriever.retrieve_batch(["Review the migrations and tokens"], tenant=asking, max_shards=50)
    assert {one.shard.rule.tenant for one in batch[0].shards} <= visible


@pytest.mark.parametrize("n_tenants", [3, 255, 256, 300])
def test_a_store_of_any_number_of_tenants(n_tenants: int, tmp_path: Path) -> None:
    bundles: dict[str | None, PolicyBundle] = {f"t{i}": owned(f"t{i}", ["logs", "tests"]) for i in range(n_tenants)}
    bundles[None] = owned(None, ["releases"])
    joined = join_bundles(bundles)
    with stored(joined, tmp_path / "store") as store:
        assert store.bundle() == joined
        for index in (index_of_store(store), index_of_bundle(joined, HashEmbedding(32))):
            for tenant in ("t0", f"t{n_tenants - 1}"):
                mask = index.mask(None, DAY, tenant)
                assert mask is not None
                seen = [index.shard(row).rule.tenant for row, bit in enumerate(mask) if bit]
                assert seen == [tenant, tenant, None]
                assert index.constitution_of(tenant).text == "- [LAW] Obey everybody\n- [LAW] Obey " + tenant


def test_tenants_scopes_and_dates_filter_together() -> None:
    rules = [
        rule("A", "one", scope="src/**"),
        rule("B", "two", scope="web/**"),
        rule("C", "three", active_until="2026-01-01"),
    ]
    index = index_of_bundle(join_bundles({"x": bundle_of(rules), "y": bundle_of(rules)}), HashEmbedding(16))
    assert index.mask("src/a", DAY, "y") == bytes([0, 0, 0, 1, 0, 0])
    assert index.mask("src/a", "2025-01-01", "x") == bytes([1, 0, 1, 0, 0, 0])
    assert index.mask(None, DAY, None) == bytes(6)


def test_masks_of_strangers_take_no_room() -> None:
    index = index_of_bundle(join_bundles({"x": bundle_of([rule("A", "one")])}), HashEmbedding(16))
    for number in range(200):
        assert index.mask(None, DAY, f"stranger{number}") == b"\0"
    assert len(index.masks.known) == 1


def test_one_tenants_law_drops_no_rule_of_another() -> None:
    contradicted = [rule("R", "Always use tabs for indentation in Python files")]
    law = [rule("L", "Never use tabs for indentation in Python files", is_constitution=True)]
    joined = join_bundles({None: bundle_of(contradicted), "acme": bundle_of([], laws=law)})
    retriever = ShardRetriever(joined, HashEmbedding(32))
    task = "Use tabs for indentation in Python files"
    assert [one.shard.rule.id for one in retriever.retrieve(task).shards] == ["R"]
    result = retriever.retrieve(task, tenant="acme")
    assert [one.id for one in result.dropped] == ["R"]
    assert not result.shards


def test_a_rule_replaced_in_a_folder_is_its_own_tenants() -> None:
    def nested(text: str) -> PolicyBundle:
        inner = rule("A@web", text, folder="web", overrides="A")
        return bundle_of([rule("A", "Write logs to the file"), inner])

    joined = join_bundles({"x": nested("Write logs to the console"), "y": bundle_of([rule("A", "Write logs well")])})
    retriever = ShardRetriever(joined, HashEmbedding(32))
    ids = [one.shard.rule.id for one in retriever.retrieve("logs", tenant="y", repo_scope="web/a.ts").shards]
    assert ids == ["A"]
    ids = [one.shard.rule.id for one in retriever.retrieve("logs", tenant="x", repo_scope="web/a.ts").shards]
    assert ids == ["A@web"]


@pytest.mark.parametrize("name", ["", 3])
def test_names_must_be_texts(name: object) -> None:
    with pytest.raises(ConfigError, match="a tenant is named"):
        join_bundles({name: bundle_of([])})  # type: ignore[dict-item]


def test_what_is_joined_is_not_joined_again() -> None:
    joined = join_bundles({"x": bundle_of([rule("A", "one")])})
    with pytest.raises(ConfigError, match="has tenants already"):
        join_bundles({"y": joined})


def test_rules_of_a_joined_bundle_are_all_there() -> None:
    joined = join_bundles({None: owned(None, ["logs"]), "x": owned("x", ["logs", "tests"])})
    found: list[GuidanceRule] = list(joined.rules())
    assert sorted((one.tenant or "", one.id) for one in found) == [
        ("", "LAW"), ("", "R0"), ("x", "LAW"), ("x", "R0"), ("x", "R1"),
    ]  # fmt: skip
    assert joined.manifest.total_rules == len(found)


def test_tenants_are_kept_apart_where_signs_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tipstaff.guidance.retrieval.fused_index.SIGNS_FROM_SHARDS", 256)
    bundles = {f"t{i}": owned(f"t{i}", [f"{subject} {n}" for n in range(10) for subject in SUBJECTS]) for i in range(6)}
    retriever = ShardRetriever(join_bundles(bundles), StaticEmbedding())
    for tenant in bundles:
        found = retriever.retrieve("Review migrations 3", tenant=tenant, max_shards=20).shards
        assert len(found) == 20
        assert {one.shard.rule.tenant for one in found} == {tenant}
