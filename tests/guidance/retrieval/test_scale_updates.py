"""Updates: rules that did not change are neither embedded nor quantised again, and answers stay exact."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.guidance.made_rules import bundle_of, rule
from tipstaff import open_project
from tipstaff.guidance import project_update as reuse
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.project_update import shard_columns
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.model import PolicyBundle
from tipstaff.store.shards import ShardStore, open_store, write_store


class Counting:
    """Counts the texts that it turns into vectors."""

    dimensions = 24
    identity = "counting-24"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, text: str) -> Any:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Sequence[str]) -> Any:
        self.seen += texts
        rows = [np.random.default_rng(list(text.encode())).normal(size=24) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], dtype=np.float32).reshape(-1, 24)


def written(path: Path, bundle: PolicyBundle, columns: reuse.Columns, identity: str, dims: int) -> ShardStore:
    vectors = memoryview(columns.vectors).cast("B").cast("f")
    write_store(path, bundle, vectors, embedding_identity=identity, dims=dims, quantized=columns.quantized)
    return open_store(path)


def test_only_what_changed_is_embedded(tmp_path: Path) -> None:
    source = tmp_path / "CLAUDE.md"
    rules = [f"- Check part {i} of the build before its release." for i in range(60)]
    source.write_text("# Rules\n\n" + "\n".join(rules) + "\n", encoding="utf-8")
    embedding = Counting()
    with open_project(tmp_path, embedding=embedding) as project:
        assert project.is_stored
        assert len(embedding.seen) == 60
    embedding.seen.clear()
    rules[7] = "- Write the release notes of part 7 by hand."
    del rules[30]
    rules.insert(3, "- Ask the owner of a table before it is dropped.")
    source.write_text("# Rules\n\n" + "\n".join(rules) + "\n", encoding="utf-8")
    with open_project(tmp_path, embedding=embedding) as project:
        assert project.rebuilt
        assert len(embedding.seen) == 2
        assert all("release notes" in text or "owner of a table" in text for text in embedding.seen)
        fresh = ShardRetriever(project.bundle, Counting())
        for task in ("Drop a table", "Check part 12", "Write release notes"):
            assert project.retriever().retrieve(task).shards == fresh.retrieve(task).shards
    embedding.seen.clear()
    with open_project(tmp_path, embedding=embedding, force=True) as project:
        assert project.rebuilt
        assert not embedding.seen


def test_another_embedding_takes_nothing_over(tmp_path: Path) -> None:
    bundle = bundle_of([rule("A", "one"), rule("B", "two")])
    embedding = Counting()
    with written(tmp_path / "s", bundle, shard_columns(bundle.shards, embedding), embedding.identity, 24) as former:
        other = HashEmbedding(24)
        assert shard_columns(bundle.shards, other, former, bundle.shards).n_embedded == 2
        assert shard_columns(bundle.shards, embedding, former, bundle.shards).n_embedded == 0


@pytest.mark.parametrize("kept", [0, 1, 140, 200, 299])
def test_an_updated_store_answers_as_a_new_one(kept: int, tmp_path: Path) -> None:
    embedding = HashEmbedding(40)
    before = bundle_of([rule(f"R{i}", f"Former rule {i * i}") for i in range(300)])
    rules = [shard.rule for shard in before.shards[300 - kept :]] + [rule(f"N{i}", f"New one {i}") for i in range(301)]
    if kept > 150:  # where at least half is kept, so is the centre
        rules = rules[: kept + 20]
    after = bundle_of(reversed(rules))
    columns = shard_columns(before.shards, embedding)
    with written(tmp_path / "a", before, columns, embedding.identity, 40) as former:
        updated = shard_columns(after.shards, embedding, former, before.shards)
        assert updated.n_embedded == len(after.shards) - kept
        assert (updated.quantized is not None) == (kept > 150)
        with written(tmp_path / "b", after, updated, embedding.identity, 40) as store:
            whole = ShardRetriever(after, embedding)
            mapped = ShardRetriever(store, embedding)
            store.verify()
            for task in ("Former rule 4", "New one 7", "anything else"):
                assert mapped.retrieve(task, max_shards=9).shards == whole.retrieve(task, max_shards=9).shards


def test_a_damaged_former_store_gives_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = bundle_of([rule(f"R{i}", f"Rule {i}") for i in range(5)])
    embedding = Counting()
    path = tmp_path / "s"
    written(path, bundle, shard_columns(bundle.shards, embedding), embedding.identity, 24).close()
    content = bytearray(path.read_bytes())
    monkeypatch.setattr("tipstaff.store.shards.CHECK_ALL_BYTES", 0)
    with open_store(path) as store:
        offset = store._directory.parts["vectors"][0]
    content[offset + 9] ^= 64
    path.write_bytes(content)
    with open_store(path) as former:
        assert shard_columns(bundle.shards, embedding, former, bundle.shards).n_embedded == 5
