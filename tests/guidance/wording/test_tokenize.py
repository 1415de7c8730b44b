from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tipstaff.guidance.wording.tokenize import plain_clauses, plain_words, tokens, words
from tipstaff.guidance.wording.word_roles import column, lexicon
from tipstaff.kernels import read_words
from tipstaff.kernels.formats.clauses import COMMA, STOP

_PIECES = (
    *"Never use TLS 1.3 v1.3b don’t don't 'quoted' a''b é Ünder 日本 Ⅷ ١٢ don’t".split(),
    *"—–…→“”‘’✅*`,;:.!?-_ \n\t",
    *(", ", ". ", " - ", " -- "),
)
_TEXTS = st.lists(st.sampled_from(_PIECES), max_size=20).map("".join) | st.text(max_size=40)
_WORD = re.compile(r"\d+(?:\.\d+)+|[^\W_]+(?:'[^\W_]+)*")
_KERNELS_WORD = re.compile(r"[0-9]+(?:\.[0-9]+)+|[^\W_]+(?:'[^\W_]+)*")


@given(_TEXTS)
def test_both_ways_of_splitting_agree(text: str) -> None:
    assert words(text) == _WORD.findall(text.lower().replace("’", "'"))


@given(_TEXTS)
@example("1.3١٢")
@example("١٢.1.3")
@example("1١.3")
def test_the_kernels_read_the_same_words(text: str) -> None:
    [(_, read)] = read_words(lexicon(), *column([text], plain_words), 0)
    # They alone know no number with a point but of ASCII's digits.
    assert read.decode("utf-8", "surrogatepass").split(" ") == (_KERNELS_WORD.findall(" ".join(words(text))) or [""])


@given(_TEXTS)
def test_what_the_kernels_are_given_has_the_same_clauses(text: str) -> None:
    assert [one.replace(".", "") for one in tokens(plain_clauses(text))] == [
        one.replace(".", "") for one in tokens(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use tabs, never spaces.", ["use", "tabs", COMMA, "never", "spaces", STOP]),
        ("At 12:30, see a.b", ["at", "12", "30", COMMA, "see", "a", "b"]),
        ("**Never**: x - y -- z", ["never", STOP, "x", STOP, "y", STOP, "z"]),
        ("x—y, e.g., z", ["x", STOP, "y", COMMA, "e", "g", STOP, COMMA, "z"]),
        ("必须写测试。不要跳过", ["必须写测试", STOP, "不要跳过"]),
    ],
)
def test_clauses_end_at_marks(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_a_column_holds_any_text() -> None:
    offsets, data = column(["plain", "don’t", "日本 und ünder", "\ud800", ""], plain_words)
    assert offsets.tolist() == [0, 5, 10, 27, 27, 27]
    assert data.decode() == "plaindon't日本 und ünder"
    assert column([], plain_words) == (offsets[:1], b"")
