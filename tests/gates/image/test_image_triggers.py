"""Triggers are necessary conditions: whatever a glob matches has its signs, and a rule that holds has its trigger met."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tipstaff.gates.image.triggers import (
    CARRIED,
    FOLLOWED,
    PAIR_SIGNS,
    READS_PIPE,
    Trigger,
    byte_class,
    glob_edges,
    glob_letters,
    glob_signs,
    is_plain,
    pair_letters,
    subcommand_words,
    trigger_of,
)
from tipstaff.gates.packs.model import MARKS, Condition, PackRule

BOUNDARY = 31


def signs_of(word: str) -> set[int]:
    """The signs of a word, as the native side finds them; its twin for tests."""
    classes = [byte_class(byte) for byte in word.encode()]
    first = [*classes, BOUNDARY, BOUNDARY, BOUNDARY][:3]
    last = [BOUNDARY, BOUNDARY, BOUNDARY, *classes][-3:]

    def triple(three: list[int]) -> int:
        return ((three[0] << 10 | three[1] << 5 | three[2]) * 40503 & 0xFFFF) >> 4

    pairs = zip([BOUNDARY, *classes], [*classes, BOUNDARY], strict=True)
    return {triple(first), 4096 + triple(last), *(PAIR_SIGNS + (left << 5 | right) for left, right in pairs)}


def expression(glob: str) -> str:
    found = ""
    at = 0
    while at < len(glob):
        letter = glob[at]
        if letter == "\\" and at + 1 < len(glob):
            at += 1
            found += re.escape(glob[at])
        else:
            found += ".*" if letter == "*" else "." if letter == "?" else re.escape(letter)
        at += 1
    return found


def rule(*base: Condition, any_of: tuple[tuple[Condition, ...], ...] = ()) -> PackRule:
    return PackRule(
        "a.b", "a", "", ("x",), base, any_of, (), "block", None, (), None, "", "", "high", 0, (), (), None, "allow"
    )  # fmt: skip


@given(st.text("ab-./0*?\\\xe9", max_size=7), st.lists(st.text("abAB-./0*?\\\xe9", max_size=6), max_size=30))
def test_what_a_glob_matches_has_its_signs(glob: str, words: list[str]) -> None:
    signs = glob_signs(glob)
    for word in [*words, glob, glob.replace("*", "ab").replace("?", "b").replace("\\", "")]:
        if signs is not None and re.fullmatch(expression(glob), word, re.IGNORECASE | re.ASCII | re.DOTALL):
            assert set(signs) <= signs_of(word)


@given(st.text("ab-./0*?\\\xe9", max_size=7), st.lists(st.text("abAB-./0*?\\\xe9", max_size=6), max_size=30))
def test_what_a_glob_matches_has_its_edges_and_letters(glob: str, words: list[str]) -> None:
    first, last = glob_edges(glob)
    signs = glob_signs(glob)
    assert (first is not None or last is not None) == (signs is not None and signs[0] < PAIR_SIGNS)
    for word in [*words, glob, glob.replace("*", "ab").replace("?", "b").replace("\\", "")]:
        if re.fullmatch(expression(glob), word, re.IGNORECASE | re.ASCII | re.DOTALL):
            classes = [byte_class(byte) for byte in word.encode()]
            assert first in {None, (*classes, BOUNDARY, BOUNDARY)[:2]}
            assert last in {None, tuple(reversed([BOUNDARY, BOUNDARY, *classes]))[:2]}
            assert glob_letters(glob) & ~sum(1 << one for one in set(classes)) == 0


def test_letters_of_pairs() -> None:
    assert pair_letters((PAIR_SIGNS + (1 << 5 | 2), PAIR_SIGNS + (2 << 5 | 31))) == 1 << 1 | 1 << 2 | 1 << 31


def test_most_globs_have_signs_and_open_ones_have_none() -> None:
    assert glob_signs("*") is glob_signs("?*") is glob_signs("*?*") is None
    for glob in ("rm", "/", "", "~/*", "*.py", "*drop table*", "+?*:main"):
        assert glob_signs(glob) is not None


def test_alternatives_add_up_and_the_best_condition_of_a_group_is_taken() -> None:
    flags = Condition("flags_any", options=("--force",))
    words = Condition("words_any", globs=("main",))
    both = trigger_of(rule(Condition("count", least=1), any_of=((words, flags), (flags,))), None)
    assert both is not None
    assert both.present == {"--force"}
    assert both.signs
    least = Trigger(signs=frozenset({glob_signs("main") or (0, 0)}), firsts=frozenset({(12, 0)}))
    assert trigger_of(rule(flags, words), None) == least


def test_what_nothing_simple_tells_has_no_trigger() -> None:
    assert trigger_of(rule(), None) is None
    assert trigger_of(rule(Condition("words_any", globs=("main", "*"))), None) is None
    assert trigger_of(rule(any_of=((Condition("words_any", globs=("main",)),), (Condition("count"),))), None) is None


def test_a_first_word_picks_out_its_rules() -> None:
    reset = Condition("subcommand", sequences=(("reset",), ("stash", "drop")))
    assert subcommand_words(rule(reset)) == {"reset", "stash"}
    assert trigger_of(rule(reset), "push") == trigger_of(rule(reset), None) == Trigger()
    assert trigger_of(rule(reset), "reset") is None
    stash = trigger_of(rule(reset), "stash")
    assert stash is not None
    assert stash.signs == {glob_signs("drop")}
    for word in ("re*", "-x", ""):
        assert not is_plain(word)


def test_a_first_word_that_no_argument_may_be_rules_it_out() -> None:
    words = Condition("words_any", globs=("-D",))
    but = Condition("args_none", globs=("log", "re*"))
    assert subcommand_words(rule(words, but)) == {"log"}
    assert trigger_of(rule(words, but), "log") == Trigger()
    assert trigger_of(rule(words, but), "rebase") == trigger_of(rule(words), None)
    both = rule(any_of=((words, but), (words,)))
    assert trigger_of(both, "log") == trigger_of(rule(words), "log")
    # Behind a subcommand the first operand is no argument.
    after_word = rule(Condition("subcommand", sequences=(("log",),)), words, but)
    assert trigger_of(after_word, "log") == trigger_of(rule(words), None)
    assert subcommand_words(rule(Condition("subcommand", sequences=(("a",),)), but)) == {"a"}


def test_a_sign_at_the_beginning_is_looked_for_with_what_follows_it() -> None:
    signs = glob_signs("+*:main")
    assert signs is not None
    assert signs[0] == PAIR_SIGNS + (BOUNDARY << 5 | 30)
    assert signs[1] > PAIR_SIGNS
    assert glob_edges("+*:main") == (None, None)
    assert (glob_signs("+main") or (0, 0))[0] < PAIR_SIGNS


def test_how_a_command_runs_is_a_fact() -> None:
    piped = Condition("reads_from", globs=("curl",))
    inside = Condition("inside", globs=("ssh",))
    trigger = trigger_of(rule(any_of=((piped,), (inside,))), None)
    assert trigger == Trigger(facts=READS_PIPE | CARRIED)


def test_what_only_notes_that_a_file_was_run_matters_where_calls_are_followed() -> None:
    notes = replace(rule(Condition("count", least=1)), decision="mark", marks=MARKS["runs-file"])
    assert trigger_of(notes, None) == Trigger(facts=FOLLOWED)
    assert trigger_of(replace(notes, marks=MARKS["sends"]), None) is None
    assert trigger_of(replace(notes, decision="warn"), None) is None
    assert trigger_of(replace(notes, because="it is ours"), None) is None
