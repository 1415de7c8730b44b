"""Where a text may be cut between what a reader takes for characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.context.conversation.graphemes import ceil_boundary, floor_boundary, is_boundary

# Each is one cluster by the rules of Unicode, with its rule's number.
CLUSTERS = {
    "GB3": "\r\n",
    "GB6": "\u1100\uac00",
    "GB7": "\uac00\u1161",
    "GB8": "\uac01\u11a8",
    "GB9 mark": "e\u0301\u0323",
    "GB9 joiner": "a\u200c",
    "GB9 selector": "❤\ufe0f",
    "GB9 tone": "👍🏽",
    "GB9 tags": "🏴\U000e0067\U000e0062\U000e007f",
    "GB9 voiced": "ｶﾞ",
    "GB9a": "नि",
    "GB9a Thai": "กำ",
    "GB9b": "\u0600١",
    "GB9c": "क्ष",
    "GB11": "👩\u200d👩\u200d👧",
    "GB12": "🇩🇪",
    "keycap": "1\ufe0f\u20e3",
    "surrogates": "\ud83d\ude00",
}


@pytest.mark.parametrize("cluster", CLUSTERS.values(), ids=CLUSTERS)
def test_a_cluster_is_not_cut(cluster: str) -> None:
    text = f"a{cluster}b" if cluster[0] != "\u0600" else f"a{cluster}"
    inside = range(2, 1 + len(cluster))
    assert not [at for at in inside if is_boundary(text, at)]
    assert is_boundary(text, 1)
    assert is_boundary(text, 1 + len(cluster))
    for at in inside:
        assert floor_boundary(text, at) == 1
        assert ceil_boundary(text, at) == 1 + len(cluster)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("ab", 1),
        ("\n\r", 1),
        ("a\n", 1),
        ("\n\u0301", 1),
        ("🇩🇪🇫🇷", 2),
        ("漢字", 1),
        ("🚀🚀", 1),
        ("\u11a8\u1161", 1),
        ("\u200ba", 1),
        ("각각", 1),
    ],
)
def test_there_is_a_boundary(text: str, at: int) -> None:
    assert is_boundary(text, at)


@given(st.text(max_size=40), st.integers(-5, 50))
def test_the_nearest_boundaries_are_boundaries_and_within(text: str, at: int) -> None:
    low, high = floor_boundary(text, at), ceil_boundary(text, at)
    assert 0 <= low <= min(max(at, 0), len(text)) <= high <= len(text)
    assert is_boundary(text, low)
    assert is_boundary(text, high)
