"""Meaning, words and priors fused: the rules, scores and relevance of the specification."""

from __future__ import annotations

import random
from array import array
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.kernels.instruction_sets import ISAS
from tests.specifications import fused as specified
from tipstaff import StaticEmbedding
from tipstaff.guidance.retrieval.fused_index import RuleText, fused_index
from tipstaff.guidance.retrieval.task_vocabulary import query_lexicon
from tipstaff.kernels import _fused

RULES = (
    RuleText("Run the tests before every commit", "Run the tests before every commit", headings=("Testing",)),
    RuleText("Do Not: force-push to main", "force-push to main", "Do Not: ", ("Git",), "AGENTS.md", "git", intents=4),
    RuleText("Never create a PR without a changeset", "Never create a PR without a changeset", section="git"),
    RuleText("`src/` - handlers", "`src/` - handlers", headings=("Structure",), is_rule=False),
    RuleText("提交前运行测试", "提交前运行测试", headings=("测试",)),
    RuleText("Übersetzungen gehören in locales/", "Übersetzungen gehören in locales/", path="web/AGENTS.md"),
    RuleText("", ""),
)
TEXTS = (
    "",
    "Fix the failing HTTPServer test",
    "open a pull request",
    "don't don\u2019t push toMain",
    "修复测试 テストを追加して 説明して",
    "Привет мир",
    "how do I make lunch?",
    "\ud800 lone \udfff",
    "Straße naïve ＡＰＩ",
    "release notes for continuous integration",
    "word " * 900,
    "漢" * 4000,
)


@cache
def searches() -> tuple[Any, Any]:
    embedding = StaticEmbedding()
    blob = fused_index(RULES, embedding)
    return (
        _fused.FusedSearch(blob, query_lexicon(), embedding.table),
        specified.FusedSearch(blob, query_lexicon(), embedding.table),
    )


@pytest.mark.parametrize("text", TEXTS)
def test_the_terms_of_a_text(text: str) -> None:
    assert _fused.query_terms(query_lexicon(), text) == specified.query_terms(query_lexicon(), text)


@given(st.text(max_size=60))
@example("aB漢cD'x ABCd")
def test_the_terms_of_any_text(text: str) -> None:
    assert _fused.query_terms(query_lexicon(), text) == specified.query_terms(query_lexicon(), text)


def test_terms_include_what_means_the_same() -> None:
    lexicon = query_lexicon()
    same = ("open a pull request", "opening PRs", "a merge request is open")
    assert len({frozenset(_fused.query_terms(lexicon, text)) for text in same}) == 1
    assert _fused.query_terms(lexicon, "the tests") == _fused.query_terms(lexicon, "测试")
    assert _fused.query_terms(lexicon, "of the and") == []


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("text", TEXTS)
def test_the_same_rules(text: str, isa: str) -> None:
    native, readable = searches()
    rng = random.Random(len(text))
    for kinds, path in (("", ""), ("test unit mock", "web/src/basket.test")):
        mask = bytes(rng.randrange(2) for _ in RULES)
        bonus = array("f", [rng.random() / 10 for _ in RULES])
        for extras in ({}, {"row_mask": mask, "bonus": bonus, "query_intents": 4, "intent_boost": 0.25}):
            ours = native.find(text, kinds, path, k=5, isa=isa, **extras)
            theirs = readable.find(text, kinds, path, k=5, **extras)
            assert sorted(ours[0]) == sorted(theirs[0])
            assert ours[1] == pytest.approx(theirs[1], abs=1e-5)
            assert sorted(ours[2]) == pytest.approx(sorted(theirs[2]), abs=1e-5)
            assert ours[3] == pytest.approx(theirs[3], abs=1e-4)


def test_a_common_word_counts_less_than_a_rare_one() -> None:
    """Both are in one rule of three; what the table says of them decides."""
    embedding = StaticEmbedding()
    rules = [RuleText(text, text) for text in ("Keep two lines", "Keep nginx lines", "Keep the order")]
    search = _fused.FusedSearch(fused_index(rules, embedding), query_lexicon(), embedding.table)
    rows, scores, meanings, _ = search.find("two nginx", k=3)
    words = {row: score - meaning for row, score, meaning in zip(rows, scores, meanings, strict=True)}
    assert words[1] > 2 * words[0] > 2 * words[2] == 0


def test_what_decides() -> None:
    native, _ = searches()
    assert native.find("create a pull request", k=1)[0] == [2]
    assert native.find("push to the main branch by force", k=1)[0] == [1]
    assert native.find("what is for lunch?")[3] < native.floor < native.find("run the tests")[3]
    assert native.find("run the tests", row_mask=bytes(len(RULES)))[:3] == ([], [], [])
    assert native.find("run the tests", k=0)[0] == []
    raised = native.find("run the tests", bonus=array("f", [0, 0, 0, 9, 0, 0, 0]), k=1)
    assert raised[0] == [3]
    assert native.find("run the tests", query_intents=4, intent_boost=9.0, k=1)[0] == [1]


@pytest.mark.parametrize("module", [_fused, specified])
def test_what_is_not_an_index_is_refused(module: Any) -> None:
    embedding = StaticEmbedding()
    blob = fused_index(RULES, embedding)
    for broken in (b"", blob[:-1], b"X" + blob[1:], blob[:16] + b"\xff\xff\xff\x7f" + blob[20:]):
        with pytest.raises(ValueError, match="index: not a valid index of rules"):
            module.FusedSearch(broken, query_lexicon(), embedding.table)
    with pytest.raises(ValueError, match="lexicon"):
        module.FusedSearch(blob, b"no lexicon", embedding.table)
    search = module.FusedSearch(blob, query_lexicon(), embedding.table)
    assert len(search) == len(RULES)
    with pytest.raises(ValueError, match="k is -1"):
        search.find("x", k=-1)
    with pytest.raises(ValueError, match="row_mask: expected 7 bytes, got 2"):
        search.find("x", row_mask=b"ab")
    with pytest.raises(ValueError, match="bonus: expected 28 bytes, got 4"):
        search.find("x", bonus=array("f", [1.0]))


@given(st.binary(max_size=200), st.integers(0, 400))
def test_a_damaged_index_leads_nowhere_else(noise: bytes, at: int) -> None:
    embedding = StaticEmbedding()
    blob = bytearray(fused_index(RULES[:3], embedding))
    at = 88 + at * (len(blob) - 88 - len(noise)) // 400
    blob[at : at + len(noise)] = noise
    search = _fused.FusedSearch(bytes(blob), query_lexicon(), embedding.table)
    rows = search.find("run the tests before a pull request", k=9)[0]
    assert set(rows) <= {0, 1, 2}


def test_no_rules() -> None:
    embedding = StaticEmbedding()
    for module in (_fused, specified):
        search = module.FusedSearch(fused_index((), embedding), query_lexicon(), embedding.table)
        assert search.find("run the tests")[:3] == ([], [], [])
