"""The seeds' objects: a compiler and a retriever that keep a configuration which can be changed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tipstaff import (
    CompilerConfig,
    HashEmbedding,
    ShardRetriever,
    compile_guidance,
    compile_repository,
)
from tipstaff.errors import ConfigError
from tipstaff.guidance.guidance_compiler import GuidanceCompiler

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


@pytest.mark.parametrize("value", ["3", 2.0, None, True, [1]], ids=repr)
@pytest.mark.parametrize(
    ("name", "range_"),
    [
        ("max_constitution_lines", "a whole number, 0 or more"),
        ("default_priority", "a whole number, between 0 and 9999"),
    ],
)
def test_numbers_of_the_compiler_are_checked(name: str, range_: str, value: object) -> None:
    compiler = GuidanceCompiler()
    message = rf"^{name} is {re.escape(repr(value))}; it must be {range_}$"
    with pytest.raises(ConfigError, match=message):
        compiler.update_config(**{name: value})
    with pytest.raises(ConfigError, match=message):
        CompilerConfig(**{name: value})  # type: ignore[arg-type]
    assert compiler.config == CompilerConfig()


def test_a_day_of_the_compiler_is_a_text() -> None:
    with pytest.raises(ConfigError, match="today is 5; it must be an ISO date"):
        GuidanceCompiler().update_config(today=5)


@pytest.mark.parametrize("value", ["3", 2.0, True, [1]], ids=repr)
@pytest.mark.parametrize("name", ["max_shards", "max_tokens", "threads", "k"])
def test_numbers_of_the_retriever_are_checked(name: str, value: Any) -> None:
    retriever = ShardRetriever(compile_guidance(TEXT), HashEmbedding(64))
    ask: Callable[..., Any] = partial(retriever.retrieve_batch, ["Keep secrets"])
    if name == "k":
        ask = partial(ShardRetriever.rank, "Keep secrets", [TEXT])
    with pytest.raises(ConfigError, match=rf"^{name} is {re.escape(repr(value))}; it must be a whole number"):
        ask(**{name: value})
    if name in {"max_shards", "max_tokens"}:
        with pytest.raises(ConfigError, match=rf"^{name} is -1; it must be 0 or more$"):
            ask(**{name: -1})
        assert ask(**{name: np.int64(400)})[0].shards


@pytest.mark.parametrize(
    "boosts", [5, "abc", ("0.1", 0.2, 0.3), (0.1, 0.2), (0.1, 0.2, 2.0), (0.1, None, 0.3)], ids=repr
)
def test_boosts_of_the_retriever_are_checked(boosts: Any) -> None:
    retriever = ShardRetriever(compile_guidance(TEXT), HashEmbedding(64))
    before = retriever.boosts
    with pytest.raises(ConfigError, match="it must be three numbers from 0 to 1"):
        retriever.update_config(boosts=boosts)
    assert retriever.boosts == before
