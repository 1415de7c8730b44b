"""Joining pieces: native and plain give the same text, and one that equals any other text of its characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.kernels import _text
from tipstaff.kernels.plain import text as plain_text

TEXTS = st.text(st.sampled_from("ab é漢🚀\ud800\x00"), max_size=12)


@st.composite
def pieces(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    for text in draw(st.lists(TEXTS, max_size=6)):
        start = draw(st.integers(0, len(text)))
        found.append((text, start, draw(st.integers(start, len(text)))))
    return found


@given(pieces())
def test_native_and_plain_give_the_same(ranges: list[tuple[str, int, int]]) -> None:
    joined = _text.join_pieces(ranges)
    expected = plain_text.join_pieces(ranges)
    assert joined == expected
    assert hash(joined) == hash(expected)
    assert joined.isascii() == expected.isascii()
    assert joined.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass") == joined


@pytest.mark.parametrize("function", [_text.join_pieces, plain_text.join_pieces])
@pytest.mark.parametrize("piece", [("abc", -1, 2), ("abc", 2, 1), ("abc", 0, 4)])
def test_ranges_outside_the_text_are_errors(function: object, piece: tuple[str, int, int]) -> None:
    with pytest.raises(ValueError, match="is outside a text of 3 characters"):
        function([piece])  # type: ignore[operator]
