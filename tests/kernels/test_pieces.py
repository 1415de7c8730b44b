"""Joining pieces gives the text that joining slices does, equal to any other text of its characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.kernels import _text

TEXTS = st.text(st.sampled_from("ab é漢🚀\ud800\x00"), max_size=12)


@st.composite
def pieces(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for text in draw(st.lists(TEXTS, max_size=6)):
        start = draw(st.integers(0, len(text)))
        found.append((text, start, draw(st.integers(start, len(text)))))
    return found


@given(pieces())
def test_it_is_the_text_of_the_slices(ranges: list[tuple[str, int, int]]) -> None:
    joined = _text.join_pieces(ranges)
    expected = "".join(text[start:end] for text, start, end in ranges)
    assert joined == expected
    assert hash(joined) == hash(expected)
    assert joined.isascii() == expected.isascii()
    assert joined.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass") == joined


@pytest.mark.parametrize("piece", [("abc", -1, 2), ("abc", 2, 1), ("abc", 0, 4)])
def test_ranges_outside_the_text_are_errors(piece: tuple[str, int, int]) -> None:
    with pytest.raises(ValueError, match="is outside a text of 3 characters"):
        _text.join_pieces([piece])
