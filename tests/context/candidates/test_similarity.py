from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.shared_data import shared_path
from tipstaff.context.candidates.texts import has_words, jaccard, spaced_words, words
from tipstaff.kernels import WordSets

VECTORS = shared_path("vectors", "context", "jaccard.json")


@pytest.mark.skipif(VECTORS is None, reason="no labelled cases beside this checkout")
def test_labelled_cases() -> None:
    assert VECTORS is not None
    cases = [case for case in json.loads(VECTORS.read_text(encoding="utf-8"))["cases"] if case["binding"]]
    assert len(cases) > 20
    for case in cases:
        given_, expected = case["input"], case["expected"]
        if given_["kind"] == "text":
            assert jaccard(given_["left"], given_["right"]) == expected["jaccard"], case["id"]
        else:
            sides: list[Any] = [
                SimpleNamespace(**{**given_[side], "tags": tuple(given_[side]["tags"])}) for side in "ab"
            ]
            left, right = sides
            assert jaccard(left.content, right.content) == expected["content_jaccard"], case["id"]
            assert jaccard(" ".join(left.tags), " ".join(right.tags)) == expected["tags_jaccard"], case["id"]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("prefer fast search", "Prefer FAST search!", 1.0),
        ("a b", "b c", 1 / 3),
        ("snake_case name", "snake case name", 1 / 4),
        ("", "x", 0.0),
        (None, "x", 0.0),
        (" \n", "x", 0.0),
        ("!!!", "???", 1.0),
        ("!!!", "x", 0.0),
        ("café au lait", "cafe au lait", 0.5),
        ("café", "cafe\N{COMBINING ACUTE ACCENT}", 1.0),
        ("naïve", "na ve", 0.0),
        ("ΣΑΣ", "σας", 1.0),
        ("привет мир", "ПРИВЕТ, МИР", 1.0),
        ("हिन्दी भाषा", "हिन्दी लिपि", 1 / 3),
        ("שלום עולם", "שלום, עולם!", 1.0),
        ("日本語 テスト", "中文 测试", 0.0),
        ("最初に検索する", "全然違う内容です", 0.0),
        ("最初に検索する", "最初に検索した", 0.5),
        ("ทดสอบ", "ทดสอบ", 1.0),
    ],
)
def test_words_of_any_script(left: str | None, right: str | None, expected: float) -> None:
    assert jaccard(left, right) == expected
    assert jaccard(right, left) == expected


def test_a_half_surrogate_pair_ends_a_word() -> None:
    assert words("one\ud800two") == {"one", "two"}


@given(st.text(max_size=40), st.text(max_size=40))
def test_it_is_a_similarity(left: str, right: str) -> None:
    value = jaccard(left, right)
    assert 0.0 <= value <= 1.0
    assert value == jaccard(right, left)
    if left.strip():
        assert jaccard(left, left) == 1.0


@given(st.lists(st.text(max_size=25), max_size=12), st.text(max_size=25))
def test_the_index_agrees(texts: list[str], asked: str) -> None:
    index = WordSets(0.5)
    for text in texts:
        index.add(spaced_words(text))
    best, expected = 0.0, -1
    for number, text in enumerate(texts):
        if words(text) and words(asked) and (found := jaccard(text, asked)) >= 0.5 and found > best:
            best, expected = found, number
    assert index.find(spaced_words(asked)) == (expected, best)
    assert has_words(spaced_words(asked)) == bool(words(asked))
