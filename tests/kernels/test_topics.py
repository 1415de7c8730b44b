"""Words that tasks have in common with topics: those that guidance reads of a task."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tipstaff.guidance.wording.claims import task_words, topic_words
from tipstaff.guidance.wording.vocabulary import IRREGULAR_STEMS
from tipstaff.guidance.wording.word_roles import FUNCTION_WORDS, lexicon
from tipstaff.kernels import _intents
from tipstaff.kernels.formats import roles
from tipstaff.kernels.formats.lexicon import fnv

READER = _intents.TopicWords(lexicon(), roles.FUNCTION)
_PIECES = (
    *sorted(FUNCTION_WORDS),
    *sorted(IRREGULAR_STEMS),
    *"""tests test tested testing Token tokens TLS 1.0 1.3 v1.2b 10.0.0.1 rock'n'roll let's users' user's 'quoted' a''b x
    merge merging cod's _private snake_case camelCase antidisestablishmentarianisms""".split(),
    *(", ", ". ", " ", " ", " ", "-", "'", "\n", "\x1d", "\x00"),
)
TEXTS = st.lists(st.sampled_from(_PIECES), max_size=80).map(" ".join) | st.lists(
    st.sampled_from(_PIECES), max_size=12
).map("".join)


def hashes(stems: list[str] | frozenset[str]) -> bytes:
    return _intents.stem_hashes(stems)


def shared(task: str, topics: list[bytes], most: int = 4) -> list[str] | None:
    return READER.shared(task, topics, most)


@given(TEXTS | st.text(st.characters(max_codepoint=127)), st.lists(TEXTS, max_size=4), st.integers(-1, 70))
@example("write tests, test writing: tested", ["Tests are written"], 4)
@example("x" * 2_000, ["x" * 1_000], 4)
@example("a " * 70 + "tests", ["tests"], 4)
@example("b " * 500 + "tests", ["tests"], 4)
def test_they_are_those_that_guidance_reads(task: str, rules: list[str], most: int) -> None:
    topics = [topic_words(rule) for rule in rules]
    expected = [
        ", ".join([f"'{word}'" for stem, word in task_words(task).items() if stem in topic][: max(most, 0)])
        for topic in topics
    ]
    assert shared(task, [hashes(topic) for topic in topics], most) == expected


def test_the_last_word_of_a_stem_is_at_the_position_of_the_first() -> None:
    topic = hashes(["test", "databas"])
    assert shared("test the Database: testing", [topic, b"", topic], 2) == [
        "'testing', 'database'",
        "",
        "'testing', 'database'",
    ]


@given(
    TEXTS,
    st.lists(
        st.tuples(TEXTS, st.floats(0, 2, width=32), st.sampled_from(["", "; high risk (+0.01)", "; é"])), max_size=4
    ),
)
@example("tests", [("tests", 0.005, ""), ("logs", 0.995, "; é"), ("", 1.0, "")])
def test_reasons_say_what_is_shared(task: str, found: list[tuple[str, float, str]]) -> None:
    topics = [hashes(topic_words(rule)) for rule, _, _ in found]
    cosines, shown = [cosine for _, cosine, _ in found], [more for _, _, more in found]
    words = shared(task, topics)
    assert words is not None
    assert READER.reasons(task, topics, cosines, shown) == [
        f"meaning {int(cosine * 100 + 0.5) / 100:.2f}{more}" + (f"; shares {words[i]}" if words[i] else "")
        for i, (_, cosine, more) in enumerate(found)
    ]


@given(st.text())
def test_beyond_ascii_nobody_answers(text: str) -> None:
    assert (shared(text, [hashes(["test"])]) is None) == (not text.isascii())
    assert (READER.reasons(text, [], [], []) is None) == (not text.isascii())


@given(st.lists(st.text()))
def test_stems_have_the_hashes_of_the_lexicon(stems: list[str]) -> None:
    expected = b"".join(fnv(stem.encode("utf-8", "surrogatepass")).to_bytes(8, "little") for stem in stems)
    assert hashes(stems) == expected


def test_what_is_no_lexicon_and_no_topic_is_refused() -> None:
    with pytest.raises(ValueError, match="lexicon: not a valid lexicon"):
        _intents.TopicWords(b"TLX1", 1)
    reader: Any = READER
    with pytest.raises(ValueError, match="hashes of 8 bytes each, got 7 bytes"):
        reader.shared("tests", [bytes(7)])
    with pytest.raises(TypeError):
        reader.shared("tests", [None])
    with pytest.raises(TypeError):
        reader.reasons("tests", [b""], [0.5], [None])
    for cosine in (-0.1, 2.1, float("nan")):
        with pytest.raises(ValueError, match="meanings: expected 0 to 2"):
            reader.reasons("tests", [b""], [cosine], [""])
    with pytest.raises(ValueError, match="1 topics need as many meanings and texts, got 0 and 2"):
        reader.reasons("tests", [b""], [], ["", ""])
