from __future__ import annotations

import importlib
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tipstaff.guidance.wording.cues import CuedPattern, cue, cues

MODULES = (
    "extraction.grammar",
    "extraction.kinds",
    "extraction.sentences",
    "extraction.polarity",
    "compiling.statements",
    "compiling.stakes",
)
PATTERNS = {
    f"{name}.{variable}": value
    for name in MODULES
    for variable, value in vars(importlib.import_module(f"tipstaff.guidance.{name}")).items()
    if isinstance(value, CuedPattern)
}


def test_patterns_are_found() -> None:
    assert len(PATTERNS) >= 12


@pytest.mark.parametrize("name", sorted(PATTERNS))
@given(data=st.data(), around=st.sampled_from(["{}", "x {} 9", "({})", "“{}”", "a—{}, b", "**{}**"]))
def test_no_match_is_missed(name: str, data: st.DataObject, around: str) -> None:
    """Whatever an expression matches has the words that it was said to need."""
    cued = PATTERNS[name]
    source = cued.pattern.pattern
    ascii_alone = st.characters(max_codepoint=127, exclude_characters="_")
    text = around.format(
        data.draw(st.from_regex(re.compile(source, re.IGNORECASE), fullmatch=True, alphabet=ascii_alone))
    )
    assume(not re.search(r"\w'\w+'\w", text))  # one word with two apostrophes, in which "don't" is not a cue
    if cued.pattern.search(text):
        assert cued.may_match(text)
        assert cued.search(text) is not None


def test_one_word_of_each_list() -> None:
    both = CuedPattern("red fish", "red crimson", "fish")
    assert both.search("A RED fish!") is not None
    assert both.may_match("crimson, fish")
    assert not both.may_match("red herring")
    assert not both.may_match("redfish")
    assert both.search("red and fish") is None  # the words alone are no match


def test_other_scripts_are_always_searched() -> None:
    cued = CuedPattern("don['’]t|不要", "don't")
    assert cues("不要") == -1
    assert cued.search("不要") is not None
    assert cued.search("Ä") is None
    assert cued.search("“Don’t” — ever") is not None
    assert not cued.may_match("“Do” — always ✅")
    assert not cued.may_match("")


def test_a_list_that_is_given_later_counts_at_once() -> None:
    assert cues("quokka") == 0
    given = cue("quokka wombat")
    assert cues("a quokka") == cues("Wombat") == given != 0
