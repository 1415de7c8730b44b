from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.guidance.reading.source_text import Shift, SourceText, dedented


def test_lines_and_columns_of_offsets() -> None:
    source = SourceText("one\r\ntwo\rthree\n")
    assert [source.line(offset) for offset in (0, 3, 4, 5, 8, 9, 14, 15)] == [1, 1, 1, 2, 2, 3, 3, 4]
    assert source.column(7) == 2
    assert source.slice(5, 8) == "two"


@pytest.mark.parametrize("text", ["", "\ufeff# ünder\n- x", "plain\n\n- rule\n", "日本\n\ud800 never\n"])
def test_a_location_is_its_lines_and_its_span(text: str) -> None:
    source = SourceText(text)
    size = len(source.data)
    for start in range(size + 1):
        for end in (start, size):
            line = source.line(start)
            last = source.line(end - 1) if end > start else line
            assert source.location(start, end) == (line, last, source.span(start, end))


@given(st.text(max_size=60))
def test_spans_are_those_of_the_text_as_it_was_given(text: str) -> None:
    source = SourceText(text)
    low, high = source.span(0, len(source.data))
    assert (low, high) == (int(text.startswith("\ufeff")), len(text))


def test_a_part_is_shifted() -> None:
    assert Shift(7)(3) == 10


def test_common_indentation_is_taken_off() -> None:
    moved, at = dedented("    a\n      b\n\n    c", 100, ())
    assert moved == "a\n  b\n\nc"
    assert [at(moved.index(letter)) for letter in "abc"] == [104, 112, 119]


def test_loose_lines_lose_all_of_it() -> None:
    assert dedented("  a\n      b", 0, {4})[0] == "a\nb"


@given(st.text(alphabet=" ab\né", max_size=40), st.integers(0, 50))
def test_every_byte_that_stays_is_found_in_the_source(words: str, start: int) -> None:
    source = b"\0" * start + words.encode()
    moved, at = dedented(words, start, ())
    for offset, byte in enumerate(moved.encode()):
        assert source[at(offset)] == byte
