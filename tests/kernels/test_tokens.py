"""Token features: every instruction set counts the same, and guards see every change."""

from __future__ import annotations

import copy
import random
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernels.instruction_sets import call_all, implementations
from tipstaff.kernels import _tokens

PARTS = (
    "word/ /  /Camel/HTTP/12/3456789/\n/\r\n/\t\t/----/::/);/rhythm/Русский/ї/ґ/あい/カナ/漢字/한글/😀/é/—/ш\u0301/À/λ/\ud800/ /\0"
).split("/")
TEXTS = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(PARTS), max_size=300).map("".join),
)
FEATURES = (
    "letters letters2 letters3 letters4 letters8 letter_after_space letter_after_mark capitals capitals2 camel "
    "digits digits2 digits4 spaces spaces2 spaces3 mark_after_space space_after_letter newlines newlines2 "
    "newline_after_mark tabs tabs2 marks marks2 marks3 repeats3 closing consonants4 "
    "latin other2 cyrillic cyrillic3 cyrillic5 cyrillic7 cyrillic9 cyrillic_after_space cyrillic_capital "
    "cyrillic_rare punctuation3 hiragana kana_mixed katakana full_width other3 astral han_e4 han_e5 han hangul_ea "
    "hangul han_pairs hangul_pairs hangul_after_space kana_pairs"
).split()
"""In the order of ``TokenFeature`` in ``tokens/features.hpp``."""


def counts(text: str) -> dict[str, int]:
    found = {which: list(values) for which, values in call_all("token_features", text).items()}
    first = found["portable"]
    assert len(first) == len(FEATURES) == 55
    for which, values in found.items():
        differing = [(name, a, b) for name, a, b in zip(FEATURES, first, values, strict=True) if a != b]
        assert not differing, (which, differing)
    return dict(zip(FEATURES, first, strict=True))


@given(TEXTS)
def test_every_instruction_set_counts_the_same(text: str) -> None:
    counts(text)
    units = call_all("utf16_units", text)
    assert set(units.values()) == {len(text.encode("utf-16-le", "surrogatepass")) // 2}


def test_they_do_wherever_a_block_or_a_group_ends() -> None:
    chance = random.Random(4)
    text = "".join(chance.choice(PARTS) for _ in range(900))
    for start in range(0, 140, 3):
        for end in (start + 63, start + 64, start + 65, start + 511, start + 512, start + 513, start + 1100):
            counts(text[start:end])


def test_what_is_counted() -> None:
    found = counts("The HTTPServer rhythm  is 12345 ok.\n\n\tfoo_bar(x)) ====")
    assert found["letters"] == 30
    assert found["capitals"] == 6
    assert found["camel"] == 0  # HTTPServer has a capital after a capital, none after a small letter
    assert counts("getName")["camel"] == 1
    assert found["digits"] == 5
    assert found["digits4"] == 2
    assert found["spaces2"] == 1
    assert found["newlines2"] == 1
    assert found["newline_after_mark"] == 1
    assert found["tabs"] == 1
    assert found["closing"] == 2
    assert found["repeats3"] == 2  # the third and the fourth of "===="
    assert found["consonants4"] == 5  # the last two of HTTPS, the last three of rhythm
    assert counts("Привіт")["cyrillic"] == 6
    assert counts("Привіт")["cyrillic_rare"] == 1
    assert counts("Привіт")["cyrillic_capital"] == 1
    mixed = counts("漢字かな カナ한글 한글😀")
    assert (mixed["han_pairs"], mixed["hangul_pairs"], mixed["hangul_after_space"], mixed["astral"]) == (1, 2, 1, 1)


def test_nothing_is_counted_in_an_empty_text() -> None:
    assert set(counts("").values()) == {0}


@given(TEXTS, st.lists(st.floats(-9, 9), min_size=55, max_size=55))
def test_weighing_gives_the_same_bits(text: str, weights: list[float]) -> None:
    import array

    values = call_all("weigh_tokens", text, array.array("d", weights))
    assert len({value.hex() for value in values.values()}) == 1


@pytest.mark.parametrize("which", implementations("weigh_tokens"))
def test_weights_must_be_as_many_as_features(which: str) -> None:
    with pytest.raises(ValueError, match="weights: expected 55 float64, got 3"):
        implementations("weigh_tokens")[which]("x", memoryview(bytes(24)))


# -- guards ------------------------------------------------------------------------------------------------------------


def conversation() -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "t", "name": "n",
                                                                        "input": {"deep": [{"x": 1}, ["y"]]}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": ({"k": "in a tuple"},)}]},
        {"role": "user", "content": "last"},
    ]  # fmt: skip


EDITS: dict[str, tuple[Callable[[list[dict[str, Any]]], object], int]] = {
    "a text replaced": (lambda m: m[0].update(content="other"), 0),
    "a key added": (lambda m: m[0].update(name="x"), 0),
    "a key removed": (lambda m: m[3].pop("role"), 3),
    "a block appended": (lambda m: m[1]["content"].append({"type": "text", "text": "b"}), 1),
    "a block removed": (lambda m: m[1]["content"].pop(0), 1),
    "blocks swapped": (lambda m: m[1]["content"].reverse(), 1),
    "a block's text": (lambda m: m[1]["content"][0].update(text="b"), 1),
    "deep in an input": (lambda m: m[1]["content"][1]["input"]["deep"][0].update(x=2), 1),
    "a deep list": (lambda m: m[1]["content"][1]["input"]["deep"][1].append("z"), 1),
    "inside a tuple": (lambda m: m[2]["content"][0]["content"][0].update(k="changed"), 2),
    "a message replaced by an equal one": (lambda m: m.__setitem__(1, copy.deepcopy(m[1])), 1),
    "a message inserted": (lambda m: m.insert(2, {"role": "user", "content": "new"}), 2),
    "a message removed": (lambda m: m.pop(1), 1),
    "the last one removed": (lambda m: m.pop(), 3),
    "cleared": (lambda m: m.clear(), 0),
    "two at once": (lambda m: (m[2].update(x=1), m[1].update(x=1)), 1),
}


def test_a_guard_sees_an_edit_at_any_position_of_a_long_conversation() -> None:
    messages = [message for _ in range(12) for message in conversation()]
    guard = _tokens.MessageGuard()
    guard.record(messages, 0)
    for index, message in enumerate(messages):
        message["note"] = index
        assert guard.unchanged(messages) == index
        guard.record(messages, index)
        if isinstance(message["content"], list):
            message["content"][-1] = dict(message["content"][-1])
            assert guard.unchanged(messages) == index
            message["content"].insert(1, {"type": "text", "text": "between"})
            assert guard.unchanged(messages) == index
            guard.record(messages, index)
            message["content"][1] = {"type": "text", "text": "between"}
            assert guard.unchanged(messages) == index
            guard.record(messages, index)
    assert guard.unchanged(messages) == len(messages)


@pytest.mark.parametrize("name", EDITS)
def test_a_guard_sees_every_edit_in_place(name: str) -> None:
    edit, first = EDITS[name]
    messages, guard = conversation(), _tokens.MessageGuard()
    assert guard.unchanged(messages) == 0
    guard.record(messages, 0)
    assert guard.unchanged(messages) == len(guard) == 4
    edit(messages)
    assert guard.unchanged(messages) == first
    guard.record(messages, first)
    assert guard.unchanged(messages) == len(messages) == len(guard)


def test_a_guard_takes_up_what_is_appended() -> None:
    messages, guard = conversation(), _tokens.MessageGuard()
    guard.record(messages, 0)
    messages.append({"role": "user", "content": "more"})
    assert guard.unchanged(messages) == 4
    guard.record(messages, 4)
    assert guard.unchanged(messages) == 5
    assert guard.unchanged(tuple(messages)) == 5


@pytest.mark.parametrize("odd", [OrderedDict(a=1), {1, 2}, object(), bytearray(b"x"), type("S", (str,), {})("s")])
def test_what_cannot_be_watched_counts_as_changed(odd: object) -> None:
    messages, guard = [{"role": "user", "content": "a"}, {"role": "user", "content": [odd]}], _tokens.MessageGuard()
    guard.record(messages, 0)
    assert guard.unchanged(messages) == 1
    guard.record(messages, 1)
    assert guard.unchanged(messages) == 1
    messages[1] = {"role": "user", "content": "b"}
    guard.record(messages, 1)
    assert guard.unchanged(messages) == 2


def test_a_guard_bears_any_depth_and_any_misuse() -> None:
    deep: dict[str, Any] = {}
    inner = deep
    for _ in range(5000):
        inner["x"] = {}
        inner = inner["x"]
    guard = _tokens.MessageGuard()
    guard.record([deep], 0)
    assert guard.unchanged([deep]) == 0
    with pytest.raises(ValueError, match="start: expected 0 to 1, got 2"):
        guard.record([deep], 2)
    with pytest.raises(TypeError, match="expected a list or a tuple, got str"):
        guard.unchanged("messages")
    while deep:
        deep = deep["x"]


def test_a_guard_lets_go_of_what_it_kept() -> None:
    text = "".join(["a text of ", "its own"])
    before = sys.getrefcount(text)
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]} for _ in range(10)]
    guard = _tokens.MessageGuard()
    for _ in range(5):
        guard.record(messages, 0)
        guard.record(messages, 7)
    guard.record([], 0)
    messages.clear()
    assert sys.getrefcount(text) == before
    guard.record([{"role": "user", "content": text}], 0)
    assert sys.getrefcount(text) > before
    del guard
    assert sys.getrefcount(text) == before
