"""The text kernels: what they say of words, of opposites and of texts that are alike."""

from __future__ import annotations

import struct
from array import array
from itertools import accumulate, combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.instruction_sets import implementations
from tipstaff.guidance.wording.claims import claims, opposed
from tipstaff.guidance.wording.vocabulary import IRREGULAR_STEMS
from tipstaff.guidance.wording.word_roles import lexicon, word_roles
from tipstaff.kernels.formats import roles
from tipstaff.kernels.formats.lexicon import fnv, make_lexicon, read_lexicon
from tipstaff.kernels.formats.stems import regular_stem

SMALL = make_lexicon(
    {"never": 1, "don't": 2, "use": 4, "1.3": 8}, {"never": "", "don't": "", "use": "us", "1.3": "1.3"}
)
# Words of every role, ordinary ones in several forms, versions, and what may go wrong between them.
_PIECES = (
    *sorted(word_roles()),
    *sorted(IRREGULAR_STEMS),
    *"""tabs tokens token logging logged logs caches TLS 1.0 1.3 9000 9001 v1.2b 10.0.0.1 rock'n'roll tests' 'quoted' a''b
    merge merging merged stories tried agreed glass passes used cod's ünder 日本 x""".split(),
    *",;:.!?-*`",
    *(", ", ". ", "; ", " - ", " -- ", ": ", "., ", "*", "**", "\n", "\t", "\x1d", "_"),
)
_TEXTS = st.lists(st.sampled_from(_PIECES), max_size=30).map(" ".join) | st.lists(
    st.sampled_from(_PIECES), max_size=12
).map("".join)
# Few words, so that topics meet.
_RULES = st.lists(
    st.sampled_from(
        """never always use do not log tokens token secrets you may must need not optional instead of rather than over
        prefer if when required is without the commit files generated 9000 9001 , ; .""".split()
    ),
    max_size=12,
).map(" ".join)


def column(texts: list[str]) -> tuple[array[int], bytes]:
    encoded = [text.encode() for text in texts]
    return array("i", accumulate(map(len, encoded), initial=0)), b"".join(encoded)


def called(name: str, *args: object, **options: object) -> Any:
    return implementations(name)["native"](*args, **options)


@given(_TEXTS)
def test_a_text_means_the_same_to_both(text: str) -> None:
    value = called("word_values", lexicon(), text)
    assert called("read_words", lexicon(), *column([text]), 10_000) == [
        (value, called("read_words", SMALL, *column([text]), 0)[0][1])  # type: ignore[index]
    ]


@given(st.lists(_TEXTS, max_size=8), st.integers(0, 5))
def test_a_column_is_its_texts(texts: list[str], most: int) -> None:
    apart = [called("read_words", lexicon(), *column([text]), most)[0] for text in texts]  # type: ignore[index]
    assert called("read_words", lexicon(), *column(texts), most) == apart


@given(st.lists(_RULES | _TEXTS, max_size=12))
def test_opposites_are_those_of_claims(texts: list[str]) -> None:
    pairs, complete = called("opposed_texts", lexicon(), *column(texts))
    stated = [claims(text) for text in texts]
    expected = [(i, j) for i, j in combinations(range(len(texts)), 2) if opposed(stated[i], stated[j])]
    assert not complete or pairs == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Never use TLS 1.3!", "never use tls 1.3"),
        ("10.0.0.1 v1.3b 1.3b 1. 2", "10.0.0.1 v1 3b 1.3 b 1 2"),
        ("Don't 'quote' a''b tests' rock'n'roll", "don't quote a b tests rock'n'roll"),
        ("snake_case, kebab-case/path", "snake case kebab case path"),
        ("-- \t\n", ""),
        ("", ""),
    ],
)
def test_words(text: str, words: str) -> None:
    assert called("read_words", SMALL, *column([text]), 10) == [(called("word_values", SMALL, text), words.encode())]


def test_values_are_joined() -> None:
    assert called("word_values", SMALL, "Never use TLS 1.3") == 13
    assert called("word_values", SMALL, "Don't") == 2
    assert called("word_values", SMALL, "never's user' u'use") == 5  # parts of a word that is not listed
    assert called("word_values", SMALL, "Neverland " * 400) == 0
    assert called("word_values", SMALL, "x " * 400 + "use") == 4
    assert called("read_words", SMALL, *column(["never use"]), 1) == [(1, b"never use")]


def test_stems_are_those_of_the_rules() -> None:
    """Two texts of one word are alike if their stems are the same."""
    words = """commits committed committing use used using validate validated stories story ties tie passes pass boxes
    wishes buzzes status analysis glass running runs sing string bring cod coding merging merge merges cancelling cancel
    agreed agree need feed tried sky abc123 toolset controll x-ray""".split()
    found, complete = called("alike_texts", make_lexicon({}, {}), *column(words), 1.0, 1, 10_000)  # type: ignore[misc]
    expected = [
        (i, j)
        for i, one in enumerate(words)
        for j, other in enumerate(words)
        if i < j and regular_stem(one.split("-")[0]) == regular_stem(other.split("-")[0])
    ]
    assert complete
    assert found == expected
    assert len(found) > 10


@pytest.mark.parametrize(
    ("left", "right", "opposed"),
    [
        ("Always use tabs for indentation", "Never use tabs for indentation", True),
        ("You may commit generated files", "Never commit generated files", True),
        ("Signed commits are not required", "Signed commits are required", True),
        ("Never log errors with secrets", "Always log errors", False),
        ("Never use TLS 1.0", "Always use TLS 1.3", False),
        ("Prefer tabs over spaces", "Always use spaces", True),
        ("Use tabs instead of spaces", "Use spaces", True),
        ("Never run the slow tests when caches are not warm", "Run the slow tests when caches are warm", False),
        ("Fix, e.g., tabs", "Never fix tabs", False),
    ],
)
def test_opposites(left: str, right: str, *, opposed: bool) -> None:
    for texts in ([left, right], [right, left]):
        assert called("opposed_texts", lexicon(), *column(texts)) == ([(0, 1)] if opposed else [], True)


def test_a_limit_of_work_stops_the_search() -> None:
    texts = column([f"Never open the {n} door of house {n}" for n in range(5)] + ["Open the 3 door of the moon"])
    assert called("opposed_texts", lexicon(), *texts) == ([(3, 5)], True)
    assert called("opposed_texts", lexicon(), *texts, work_limit=0) == ([], False)


def test_equal_texts_do_not_take_quadratic_work() -> None:
    texts = column(["Never push to main", "Always push to main"] * 10_000)
    assert not implementations("opposed_texts")["native"](lexicon(), *texts, work_limit=100_000)[1]
    found, complete = implementations("alike_texts")["native"](lexicon(), *texts, 0.9, 8, 1_000)
    assert (len(found), complete) == (1_000, False)


def test_numbers_count_thrice() -> None:
    texts = column(["open port 9000 of the shop", "open port 9001 of the shop", "open port of the shop now"])
    assert called("alike_texts", lexicon(), *texts, 0.4, 8, 10) == ([(0, 2), (1, 2)], True)


def test_what_a_lexicon_holds() -> None:
    values = {f"word{n}": n << 40 for n in range(1_000)}
    made = make_lexicon(values, {**{word: word[:-1] for word in values}, "other": "stem"})
    read = read_lexicon(made)
    assert len(read) == 1_001
    assert read[b"other"] == (0, fnv(b"stem"))
    assert all(read[word.encode()] == (value, fnv(word[:-1].encode())) for word, value in values.items())
    assert called("word_values", made, " ".join(values)) == 1023 << 40
    assert fnv(b"") == 0xCBF29CE484222325
    assert fnv(b"foobar") == 0x85944171F73967E8  # of the function's authors


def test_words_that_fit_no_lexicon_are_refused() -> None:
    with pytest.raises(ValueError, match="25 bytes"):
        make_lexicon({}, {"w" * 25: "w"})
    with pytest.raises(ValueError, match="without a stem: never"):
        make_lexicon({"never": 1}, {})


def test_bad_input_is_refused() -> None:
    names = {"read_words": (3,), "opposed_texts": (), "alike_texts": (0.5, 8, 10)}
    kernels = {name: implementations(name)["native"] for name in (*names, "word_values")}
    sound = struct.pack("<8sQ", b"TLX1\r\n\x1a\n", 1) + bytes(40)
    assert kernels["word_values"](sound, "any words") == 0
    for broken in (b"", b"TLX2" + sound[4:], sound[:-1], sound + b"x", sound[:8] + struct.pack("<Q", 3) + bytes(120)):
        with pytest.raises(ValueError, match="lexicon: not a valid lexicon"):
            kernels["word_values"](broken, "any words")
    for name, rest in names.items():
        with pytest.raises(ValueError, match="lexicon: not a valid lexicon"):
            kernels[name](b"", *column(["x"]), *rest)
        for wrong in ([0, 5], [0, 2, 1], [-1, 2]):
            with pytest.raises(ValueError, match="are out of order"):
                kernels[name](lexicon(), array("i", wrong), b"abc", *rest)
        with pytest.raises(ValueError, match="got none"):
            kernels[name](lexicon(), b"", b"", *rest)
        assert not kernels[name](lexicon(), *column([]), *rest)[0:1] or kernels[name](
            lexicon(), *column([]), *rest
        ) == (
            [],
            True,
        )
    for threshold, most, word in ((0.0, 1, "threshold"), (1.1, 1, "threshold"), (0.5, -1, "max_pairs")):
        with pytest.raises(ValueError, match=word):
            kernels["alike_texts"](lexicon(), *column(["x"]), threshold, 8, most)


def test_a_table_without_an_empty_slot_ends_every_search() -> None:
    slot = struct.pack("<24sQQ", b"full", 1, 2)
    full = struct.pack("<8sQ", b"TLX1\r\n\x1a\n", 2) + slot * 2
    assert called("word_values", full, "Full of words") == 1


def test_roles_have_a_bit_each() -> None:
    shifts = {"PAIR_FIRST", "PAIR_SECOND", "REVERSING_PAIRS", "FREE"}
    bits = [value for name, value in vars(roles).items() if name.isupper() and isinstance(value, int)]
    assert sum(bits) - sum(getattr(roles, name) for name in shifts) == 2**27 - 1
    assert roles.PAIR_FIRST + len(roles.PAIRS) <= roles.PAIR_SECOND <= roles.FREE - len(roles.PAIRS)
