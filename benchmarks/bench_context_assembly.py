"""How long do focus and assembly take? The bars are judged in ``bars_context_assembly``."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.bars_context_assembly import PROMPT_CHARS, PROSE, QUERY, TIER_CHARS, TIERS, assembled, tiers

from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.prompt.sections import SystemPromptBudget
from tipstaff.context.prompt.truncation import truncate


@pytest.mark.benchmark(group="focus of a request")
@pytest.mark.parametrize("text", [QUERY, PROSE], ids=["150", "14000"])
def test_focus(benchmark: Any, text: str) -> None:
    assert benchmark(RequestFocus.extract, text).query_summary


@pytest.mark.benchmark(group="focus of a request")
@pytest.mark.parametrize("text", [QUERY, PROSE], ids=["150", "14000"])
def test_split(benchmark: Any, text: str) -> None:
    """Python's own split into words: the yardstick."""
    assert benchmark(text.split)


@pytest.mark.benchmark(group="8 tiers of 100 KB into 300 KB")
@pytest.mark.parametrize("cap", [PROMPT_CHARS // TIERS, TIER_CHARS], ids=["all cut", "lowest left out"])
def test_assembly(benchmark: Any, cap: int) -> None:
    texts = tiers()
    prompt = benchmark(assembled, texts, SystemPromptBudget(cap, PROMPT_CHARS))
    assert prompt.truncated_section_keys


@pytest.mark.benchmark(group="8 tiers of 100 KB into 300 KB")
def test_copy(benchmark: Any) -> None:
    parts = [text[: PROMPT_CHARS // TIERS] for text in tiers()]
    assert len(benchmark("".join, parts)) == PROMPT_CHARS


@pytest.mark.benchmark(group="truncate 100 KB to 20,000 characters")
def test_truncate(benchmark: Any) -> None:
    text = tiers()[0]
    assert len(benchmark(truncate, text, 20_000)) <= 20_000
