"""The most similar of many texts: against the definition, over histories."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.kernels import WordSets

WORDS = st.sampled_from(
    ["a", "B", "b", "alpha", "ALPHA", "x_1", "日本", "naïve", "𝔘nicode", "a_word_of_many_letters", "!!", "-"]
)
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
MARKS = st.integers(-3, 3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), TEXTS, MARKS),
        st.tuples(st.just("find"), TEXTS, MARKS, MARKS),
        st.tuples(st.just("find_or_add"), TEXTS, MARKS, MARKS, MARKS),
        st.tuples(st.just("set_mark"), st.integers(0, 30), MARKS),
        st.tuples(st.just("remove"), st.integers(0, 30)),
    ),
    max_size=90,
)


def words(text: str) -> set[str]:
    return set(re.findall("[a-z0-9_\x80-\U0010ffff]+", "".join(c.lower() if c.isascii() else c for c in text)))


def best(
    sets: list[tuple[set[str], int] | None], text: str, low: int, high: int, threshold: float
) -> tuple[int, float]:
    found = (-1, 0.0)
    for number, known in enumerate(sets):
        if known is None or not known[0] or not low <= known[1] <= high:
            continue
        similarity = len(words(text) & known[0]) / len(words(text) | known[0])
        if similarity >= threshold and similarity > found[1]:
            found = (number, similarity)
    return found


@given(steps=STEPS, threshold=st.sampled_from([0.3, 0.5, 2 / 3, 1.0]))
def test_histories(steps: list[tuple[Any, ...]], threshold: float) -> None:
    index = WordSets(threshold)
    sets: list[tuple[set[str], int] | None] = []
    for name, *arguments in steps:
        if name in {"set_mark", "remove"}:
            number = arguments[0]
            if number >= len(sets):
                with pytest.raises(IndexError, match=f"got {number}"):
                    getattr(index, name)(*arguments)
                continue
            known = sets[number]
            if name == "remove":
                sets[number] = None
            elif known is None:
                continue
            else:
                sets[number] = (known[0], arguments[1])
            getattr(index, name)(*arguments)
            continue
        found = getattr(index, name)(*arguments)
        if name == "add":
            assert found == len(sets)
            sets.append((words(arguments[0]), arguments[1]))
            continue
        expected = best(sets, arguments[0], *arguments[-2:], threshold)
        if name == "find_or_add" and expected[0] < 0:
            expected = (len(sets), 0.0)
            sets.append((words(arguments[0]), arguments[1]))
        assert found == expected
    assert len(index) == len(sets)


def test_many_texts_with_common_and_rare_words() -> None:
    # Enough of them that the order of words is made again several times.
    index = WordSets(0.5)
    texts = [f"the rule {i % 7} says check part{i % 31} before step{i}" for i in range(700)]
    for number, text in enumerate(texts):
        assert index.add(text, number) == number
    for number in (0, 63, 64, 191, 192, 448, 699):
        assert index.find(texts[number]) == (number, 1.0)
        assert index.find(texts[number], number + 1, 10_000)[0] != number


def test_a_word_asked_for_and_not_taken_in_is_forgotten() -> None:
    index = WordSets(0.5)
    index.add("one two")
    for number in range(1000):
        assert index.find(f"new{number} words{number}") == (-1, 0.0)
    assert index.find_or_add("one two three") == (0, 2 / 3)
    assert index.find("three") == (-1, 0.0)
    assert index.add("three") == 1
    assert index.find("three") == (1, 1.0)


def test_bad_input_is_refused() -> None:
    for threshold in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(ValueError, match="threshold"):
            WordSets(threshold)
    index: Any = WordSets(0.5)
    with pytest.raises(TypeError, match="expected str, got bytes"):
        index.add(b"x")
    with pytest.raises(UnicodeEncodeError):
        index.add("\ud800")
    with pytest.raises(ValueError, match="at most 131070 bytes, got 131071"):
        index.add("x" * 131_071)
    assert index.add("x" * 131_070) == 0
    with pytest.raises(IndexError, match="got -1"):
        index.remove(-1)
