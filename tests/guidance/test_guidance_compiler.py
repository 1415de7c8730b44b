"""The seeds' objects: a compiler and a retriever that keep a configuration which can be changed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tipstaff import (
    CompilerConfig,
    GuidanceCompiler,
    HashEmbedding,
    ShardRetriever,
    compile_guidance,
    compile_repository,
)
from tipstaff.errors import ConfigError

TEXT = "- [R-001] Never commit secrets (critical) #security\n- [R-002] Write tests for the parser #testing until:2030-01-01\n"


def test_it_compiles_as_the_function_does_and_says_when() -> None:
    before = time.time_ns() // 1_000_000
    bundle = GuidanceCompiler().compile(TEXT)
    assert before <= bundle.manifest.compiled_at <= time.time_ns() // 1_000_000
    plain = compile_guidance(TEXT)
    assert plain.manifest.compiled_at == 0
    assert bundle.replace(manifest=bundle.manifest.replace(compiled_at=0)) == plain


def test_settings_hold_from_the_next_compilation_on() -> None:
    compiler = GuidanceCompiler(CompilerConfig(default_priority=10))
    assert {shard.rule.priority for shard in compiler.compile(TEXT).shards} == {10}
    assert compiler.update_config(default_priority=20).default_risk_class == "medium"
    assert {shard.rule.priority for shard in compiler.compile(TEXT).shards} == {20}
    for wrong in ({"colour": 1}, {"default_risk_class": "purple"}):
        with pytest.raises(ConfigError):
            compiler.update_config(**wrong)
    assert compiler.config.default_priority == 20


def test_shards_carry_their_vectors_where_asked() -> None:
    embedding = HashEmbedding(16)
    bundle = GuidanceCompiler(embedding=embedding).compile(TEXT)
    for shard in bundle.shards:
        assert shard.embedding == tuple(embedding.embed(shard.compact_text).tolist())
        assert len(shard.to_dict()["embedding"]) == 16
    assert {shard.embedding for shard in compile_guidance(TEXT).shards} == {None}
    assert GuidanceCompiler(embedding=embedding).compile("").shards == ()


def test_a_retriever_s_settings_can_be_changed() -> None:
    retriever = ShardRetriever(compile_guidance(TEXT), HashEmbedding(64), today="2026-01-01")
    first = {one.shard.rule.id: one.similarity for one in retriever.retrieve("Keep secrets safe").shards}
    assert first.keys() == {"R-001", "R-002"}
    retriever.update_config(boosts=(0.0, 0.0, 0.0))
    second = {one.shard.rule.id: one.similarity for one in retriever.retrieve("Keep secrets safe").shards}
    assert second["R-001"] < first["R-001"]
    retriever.update_config(today="2031-01-01")
    assert {one.shard.rule.id for one in retriever.retrieve("Keep secrets safe").shards} == {"R-001"}
    for wrong in ({"boosts": (2.0, 0.0, 0.0)}, {"today": "soon"}, {"max": 1}):
        with pytest.raises(ConfigError):
            retriever.update_config(**wrong)
    assert retriever.boosts == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("options", [{"max_shards": -1}, {"max_tokens": -1}])
def test_less_than_no_shards_is_an_error(options: dict[str, int]) -> None:
    retriever = ShardRetriever(compile_guidance(TEXT), HashEmbedding(16))
    with pytest.raises(ConfigError, match="must be 0 or more"):
        retriever.retrieve("Keep secrets safe", **options)  # type: ignore[arg-type]


def test_of_equal_rules_that_of_the_file_that_most_hosts_read_is_kept(tmp_path: Path) -> None:
    words = "## Tests\n- Run the slow tests before a release\n"
    (tmp_path / "CLAUDE.md").write_text(words)
    (tmp_path / "AGENTS.md").write_text(f"{words}- Name them after the module\n")
    bundle = compile_repository(tmp_path)
    assert [(rule.path, rule.line) for rule in bundle.rules()] == [("AGENTS.md", 2), ("AGENTS.md", 3)]
    assert [(one.code, one.source) for one in bundle.diagnostics if one.code == "TS501"] == [("TS501", "CLAUDE.md")]
