from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tipstaff.guidance.reading.offsets import Shift, dedented


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
