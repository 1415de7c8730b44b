from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.guidance.made_rules import bundle_of, rule
from tipstaff.errors import ConfigError
from tipstaff.globs import scope_applies
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.retrieval import shard_index
from tipstaff.guidance.retrieval.fused_index import intent_mask, search_blob
from tipstaff.guidance.retrieval.shard_index import (
    MAX_MASKS,
    ShardIndex,
    current_day,
    index_of_bundle,
    index_of_store,
    iso_day,
)
from tipstaff.guidance.retrieval.vectors import shard_rows, unit_rows
from tipstaff.model import INTENT_BITS, GuidanceRule
from tipstaff.store.shards import ShardStore, open_store, write_store

DAY = "2026-06-15"


def index_of(rules: list[GuidanceRule]) -> ShardIndex:
    return index_of_bundle(bundle_of(rules), HashEmbedding(16))


def stored(rules: list[GuidanceRule], folder: Path) -> ShardStore:
    bundle, embedding = bundle_of(rules), HashEmbedding(16)
    write_store(
        folder / "store",
        bundle,
        memoryview(embedding.embed_rows([shard.compact_text for shard in bundle.shards])).cast("f"),
        embedding_identity=embedding.identity,
        dims=16,
        search=search_blob(bundle.shards, embedding),
    )
    return open_store(folder / "store")


def kept(index: ShardIndex, repo_scope: str | None = None, today: str = DAY) -> list[int]:
    mask = index.masks.mask(repo_scope, today)
    return list(range(index.n_shards)) if mask is None else [row for row, bit in enumerate(mask) if bit]


def test_without_a_scope_and_dates_no_mask_is_needed() -> None:
    index = index_of([rule("A", "one"), rule("B", "two", scope="src/**")])
    assert index.masks.mask(None, DAY) is None
    assert index.masks.mask("", DAY) is None
    assert index.masks.mask("src/a.py", DAY) is None


def test_scopes_are_a_hard_filter() -> None:
    index = index_of([rule("A", "one"), rule("B", "two", scope="src/**"), rule("C", "three", scope=("web/**", "*.md"))])
    assert kept(index, "src/a.py") == [0, 1]
    assert kept(index, "docs/readme.md") == [0, 2]
    assert kept(index, "web/**/*.ts") == [0, 2]
    assert kept(index, "api") == [0]


@pytest.mark.parametrize(("day", "expected"), [("2026-05-31", [0, 2]), ("2026-06-01", [0, 1, 2]), (DAY, [0, 1, 2]), ("2026-06-30", [0, 1, 2]), ("2026-07-01", [0, 1])])  # fmt: skip
def test_dates_are_inclusive_and_a_hard_filter(day: str, expected: list[int]) -> None:
    rules = [
        rule("A", "one"),
        rule("B", "two", active_from="2026-06-01"),
        rule("C", "three", active_until="2026-06-30"),
    ]
    assert kept(index_of(rules), None, day) == expected


def test_dates_and_scopes_filter_together(tmp_path: Path) -> None:
    rules = [
        rule("A", "one", scope="src/**", active_from="2027-01-01"),
        rule("B", "two", scope="src/**"),
        rule("C", "three", scope="web/**", active_until="2026-01-01"),
        rule("D", "four", active_from="2026-01-01", active_until="2026-12-31"),
    ]
    with stored(rules, tmp_path) as store:
        for index in (index_of(rules), index_of_store(store)):
            assert kept(index, "src/x") == [1, 3]
            assert kept(index, "src/x", "2027-06-01") == [0, 1]
            assert kept(index, None, "2025-01-01") == [1, 2]
            assert kept(index, "src/x") == [1, 3]


@pytest.mark.parametrize("distinct", [3, 256, 257, 400])
def test_any_number_of_distinct_scopes(distinct: int, tmp_path: Path) -> None:
    rules = [rule(f"R{i}", f"text {i}", scope=f"part{i % distinct}/**") for i in range(401)]
    wanted = [i for i in range(401) if scope_applies(rules[i].repo_scopes, f"part{distinct - 1}/a")]
    assert wanted
    with stored(rules, tmp_path) as store:
        for index in (index_of(rules), index_of_store(store)):
            assert kept(index, f"part{distinct - 1}/a") == wanted


def test_masks_are_remembered_and_the_memory_is_bounded() -> None:
    index = index_of([rule("A", "one"), rule("B", "two", scope="src/**")])
    first = index.masks.mask("web/a", DAY)
    assert index.masks.mask("web/a", "2030-01-01") is first
    for number in range(500):
        assert kept(index, f"web/{number}") == [0]
    assert len(index.masks.known) <= MAX_MASKS


@pytest.mark.parametrize("from_store", [False, True])
def test_rules_that_replace_others_are_known(from_store: bool, tmp_path: Path) -> None:
    rules = [
        rule("A", "one"),
        rule("A@web", "two", folder="web", overrides="A"),
        rule("B", "three"),
        rule("A@api", "four", folder="api", overrides="A"),
    ]
    with stored(rules, tmp_path) as store:
        index = index_of_store(store) if from_store else index_of(rules)
        assert index.overriding == {"A": [1, 3]}


def test_an_unknown_risk_class_is_named() -> None:
    with pytest.raises(ConfigError, match=r"rule A: risk class is 'severe'; it must be one of info, low"):
        index_of([rule("A", "one", risk_class="severe")])


def test_unit_rows_are_checked_and_brought_to_length_one() -> None:
    rows = unit_rows([[3.0, 4.0], [0.0, 0.0]], 2, 2)
    assert rows.dtype == np.float32
    assert rows.tolist() == [[np.float32(0.6), np.float32(0.8)], [0.0, 0.0]]
    unit = np.array([[1.0, 0.0]], dtype=np.float32)
    assert unit_rows(unit, 1, 2) is unit
    assert unit_rows(np.empty((0, 2)), 0, 2).shape == (0, 2)
    with pytest.raises(ValueError, match=r"shape \(1, 3\); it must be \(1, 2\)"):
        unit_rows(np.ones((1, 3)), 1, 2)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="not finite"):
            unit_rows([[bad, 1.0]], 1, 2)


class Doubled(HashEmbedding):
    """An embedding derived from the default one."""

    __slots__ = ()

    def embed_batch(self, texts: Any) -> Any:
        return super().embed_batch([text + text for text in texts])


def test_what_a_derived_embedding_says_counts() -> None:
    shards = bundle_of([rule("A", "one")]).shards
    expected = HashEmbedding(16).embed_batch([shards[0].compact_text * 2])
    assert np.array_equal(np.asarray(shard_rows(shards, Doubled(16))), expected)
    assert bytes(shard_rows(shards, HashEmbedding(16))) == HashEmbedding(16).embed(shards[0].compact_text).tobytes()


def test_intents_that_nobody_knows_count_for_nothing() -> None:
    assert intent_mask(("bug-fix", "gardening", "docs")) == INTENT_BITS["bug-fix"] | INTENT_BITS["docs"]
    assert intent_mask(()) == 0


def test_today_is_the_day_in_greenwich(monkeypatch: pytest.MonkeyPatch) -> None:
    before = dt.datetime.now(tz=dt.UTC).date().isoformat()
    assert before <= current_day() <= dt.datetime.now(tz=dt.UTC).date().isoformat()
    for moment, expected in ((0.0, "1970-01-01"), (1_709_251_199.9, "2024-02-29"), (1_709_251_200.0, "2024-03-01")):
        monkeypatch.setattr(shard_index.time, "time", lambda moment=moment: moment)
        assert current_day() == expected


@pytest.mark.parametrize(
    "day", ["", "tomorrow", "2026-13-01", "2026-6-1", "20260601", "2026-06-01T00:00", dt.date(2026, 6, 1)]
)
def test_a_day_is_an_iso_date(day: Any) -> None:
    assert iso_day("2026-06-01") == "2026-06-01"
    with pytest.raises(ConfigError, match="must be an ISO date"):
        iso_day(day)
