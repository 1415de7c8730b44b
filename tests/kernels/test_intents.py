"""Reading tasks: letters and words give the same answer, and an invalid lexicon is refused."""

from __future__ import annotations

import random
import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tipstaff.guidance.intents.classify import LEXICON, classify_intent
from tipstaff.guidance.intents.task_words import words_beyond_ascii
from tipstaff.kernels import _intents
from tipstaff.kernels.formats.intent_table import (
    CONTROL,
    DETERMINER,
    MAX_IDENTS,
    NOUN,
    SIGN,
    VERB,
    IntentEntry,
    make_intent_table,
    read_intent_table,
)

DATA = LEXICON.read_bytes()
READER = _intents.TaskReader(DATA)
KNOWN = sorted(word for word in read_intent_table(DATA).words if word.isascii())
BETWEEN = st.sampled_from([" ", " ", " ", "", "-", "_", ".", ". ", ", ", ": ", "\n", "!", "?", ";", "/", "'s ", "\x1c"])


@st.composite
def tasks(draw: st.DrawFn) -> str:
    words = st.one_of(
        st.sampled_from(KNOWN),
        st.sampled_from(
            ["the", "and", "let", "us", "please", "fixLogin", "HTTPServer", "src/a.ts", ",", ":", "x" * 40]
        ),
        st.text("abcABC019 ,:.;!?\n\t'\"-_/\x00\x7f", max_size=8),
    )
    text = "".join(draw(words) + draw(BETWEEN) for _ in range(draw(st.integers(0, 12))))
    return draw(st.sampled_from([str, str, str.upper, str.title]))(text)


@given(tasks() | st.text(st.characters(max_codepoint=127)))
@example("")
@example("\n fix")
@example("Docs: describe the API")
@example("deployment pipeline tests")
@example("investigate and fix the crash")
def test_a_task_is_its_words(task: str) -> None:
    assert READER.read(task) == READER.read_words(words_beyond_ascii(task))


@given(st.text())
def test_beyond_ascii_the_words_are_asked_for(task: str) -> None:
    assert (READER.read(task) is None) == (not task.isascii())
    classify_intent(task)


@given(st.binary(max_size=200), st.data())
def test_damaged_lexicons_are_refused_or_read(junk: bytes, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(DATA) - 1))
    for damaged in (junk, DATA[:position], DATA + junk, DATA[:position] + junk + DATA[position + len(junk) :]):
        try:
            reader = _intents.TaskReader(damaged)
        except ValueError:
            continue
        assert reader.read("please fix the crash in the build, and document how to release it") is not None


def test_every_number_that_points_elsewhere_is_refused() -> None:
    small = make_intent_table(
        {
            ("fix",): IntentEntry(VERB, 1, 0, 1.0, 0, 1.0, 1.0),
            ("set", "up"): IntentEntry(SIGN, 2, 1, 1.0),
            ("test",): IntentEntry(NOUN, 3, 5, 1.0),
        },
        {"the": DETERMINER},
    )
    rng = random.Random(7)
    for _ in range(3_000):
        damaged = bytearray(small)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] = rng.choice((0, 1, 127, 128, 254, 255, rng.randrange(256)))
        try:
            reader = _intents.TaskReader(damaged)
        except ValueError:
            continue
        assert 0 <= reader.read("fix the test and set up the test")[0] <= 10  # type: ignore[index]


def test_a_lexicon_is_read_as_it_was_made() -> None:
    entries = {
        ("a",): IntentEntry(CONTROL, 0, 0, 0.5),
        ("set", "up", "a", "test"): IntentEntry(SIGN, 1, 5, 1.25),
        ("set", "up"): IntentEntry(VERB, 2, 1, 0.75, 1, 0.8, 0.9),
    }
    table = read_intent_table(make_intent_table(entries, {"the": DETERMINER}))
    assert table.flags == {"the": DETERMINER}
    assert table.words["a"] == (entries["a",], ())
    entry, phrases = table.words["set"]
    assert entry == IntentEntry(0, 0)
    assert phrases == (
        (3, ["up", "a", "test"], entries["set", "up", "a", "test"]),
        (1, ["up"], entries["set", "up"]),
    )
    assert set(table.words) == {"a", "set"}


@pytest.mark.parametrize(
    ("entries", "flags"),
    [
        ({("x" * 33,): IntentEntry(NOUN, 1)}, {}),
        ({("",): IntentEntry(NOUN, 1)}, {}),
        ({("a", "b", "c", "d", "e"): IntentEntry(NOUN, 1)}, {}),
        ({("a",): IntentEntry(NOUN, MAX_IDENTS)}, {}),
        ({(f"w{number}",): IntentEntry(NOUN, 1, 0, float(number)) for number in range(257)}, {}),
        ({}, {f"w{number}": 1 for number in range(40_000)}),
    ],
)
def test_what_has_no_room_is_refused(entries: dict[tuple[str, ...], IntentEntry], flags: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="too l"):
        make_intent_table(entries, flags)


def test_a_reader_is_shared_by_threads() -> None:
    task = "please fix the crash in the build, and document how to release it " * 200
    expected = READER.read(task)
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.extend(READER.read(task) for _ in range(50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 200


def test_long_words_are_unknown() -> None:
    reader = READER
    assert reader.read("fix" + "x" * 100) == (10, 0.0)
    assert reader.read_words([]) == (10, 0.0)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError):
        READER.read(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _intents.task_paths(None)  # type: ignore[arg-type]
