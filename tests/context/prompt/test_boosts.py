"""Boosts: the table, its cap, whole words, and never past a protected section."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.budgets import MAX_FOCUS_BOOST
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.prompt.sections import boost_priority, find_word
from tipstaff.context.sources.memory_tiers import TIERS

FOCUS = RequestFocus.extract("continue with `RetryPlanner` in src/a.py")
NOTHING = RequestFocus.extract("what is the weather")
TEXT = "RetryPlanner lives in src/a.py"
KEYS = [
    *(f"memory:{tier.tier}" for tier in TIERS),
    "rules",
    "rules:tests",
    "candidates",
    "git",
    "base",
    "skills",
    "other",
]


@pytest.mark.parametrize(
    ("key", "content", "focus", "points"),
    [
        ("memory:User Memory", TEXT, FOCUS, {"symbol": 16}),
        ("memory:User Memory", "nothing", FOCUS, {}),
        ("memory:Auto-Memory", "nothing", NOTHING, {"learned": 8}),
        ("memory:Auto-Memory", TEXT, FOCUS, {"symbol": 16, "learned": 8}),
        ("memory:Markdown Memory", "see src/a.py", FOCUS, {"file": 10}),
        ("memory:Markdown Memory", "see src/b.py", FOCUS, {}),
        ("memory:Daily Journal", "nothing", FOCUS, {"continuation": 12}),
        ("memory:Daily Journal", "nothing", RequestFocus.extract("verify it"), {}),
        ("rules", "any", FOCUS, {"glob": 4}),
        ("rules:tests", "any", NOTHING, {}),
        ("candidates", TEXT, FOCUS, {"symbol": 6}),
        ("git", "any", FOCUS, {"continuation": 6}),
        ("git", "any", NOTHING, {}),
        ("task-focus", TEXT, FOCUS, {}),
        ("base", TEXT, FOCUS, {}),
    ],
)
def test_the_table(key: str, content: str, focus: RequestFocus, points: dict[str, int]) -> None:
    boosted = boost_priority(key, 40, content, focus)
    assert {boost.reason: boost.points for boost in boosted.boosts} == points
    assert boosted.priority == 40 + min(MAX_FOCUS_BOOST, sum(points.values()))
    assert sum(boost.applied for boost in boosted.boosts) == boosted.priority - boosted.base_priority


def test_rules_are_boosted_by_files_that_match() -> None:
    assert boost_priority("rules", 50, "", FOCUS, matching_files=()).priority == 50
    boosted = boost_priority("rules", 50, "", FOCUS, matching_files=["src/a.py"])
    assert boosted.priority == 54
    assert boosted.boosts[0].evidence == "src/a.py"


@given(st.sampled_from(KEYS), st.integers(0, 100), st.booleans())
def test_d8_no_boost_lifts_a_section_as_high_as_a_protected_one(key: str, base: int, protected: bool) -> None:
    boosted = boost_priority(key, base, TEXT, FOCUS, protected=protected)
    assert base <= boosted.priority <= base + MAX_FOCUS_BOOST
    if protected or base >= 90:
        assert boosted.priority == base
        assert boosted.boosts == ()
    else:
        assert boosted.priority < 90


def test_d8_workspace_memory_stays_below_the_policy() -> None:
    assert boost_priority("memory:Workspace Memory", 80, TEXT, FOCUS).priority == 89
    assert boost_priority("memory:Managed Policy", 90, TEXT, FOCUS, protected=True).priority == 90


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Map", "a bitmap", False),
        ("Map", "MapReduce", False),
        ("Map", "Map.Entry and more", True),
        ("Map", "use Map", True),
        ("map", "Map", False),
        ("load_config", "load_config()", True),
        ("load_config", "reload_config", False),
        ("Foo::bar", "call Foo::bar now", True),
        ("a.py", "data.py", False),
        ("a.py", "src/a.py", True),
        ("my-hook", "my-hook-two", False),
        ("État", "l'État, c'est", True),
        ("x.y(", "x.y(", True),
    ],
)
def test_d2_names_are_matched_as_whole_words(name: str, text: str, found: bool) -> None:
    assert (find_word((name,), text) == name) is found


def test_d1_a_sentence_of_plain_words_boosts_no_memory() -> None:
    focus = RequestFocus.extract("The cursor is lost. Please tell me The Answer")
    assert (
        boost_priority("memory:Daily Journal", 50, "The usual caveats; the other answer. Please.", focus).priority == 50
    )


def test_records_are_plain_data() -> None:
    assert json.loads(json.dumps(boost_priority("git", 40, "", FOCUS).to_dict())) == {
        "priority": 46,
        "base_priority": 40,
        "boosts": [{"reason": "continuation", "points": 6, "applied": 6, "evidence": "continue current execution"}],
    }
