from __future__ import annotations

import pytest

from tipstaff.guidance.extraction.sentences import describes, directs, has_strong_modal, is_imperative, rules_out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Please sort the imports", True),
        ("**Imports**: sort them by name", True),
        ("When you add a door, a gate or a window, mark it on the plan", True),
        ("Vor dem Einchecken, run the formatter", True),
        ("The imports are sorted", False),
    ],
)
def test_a_command_is_found_after_what_leads_in(words: str, expected: bool) -> None:
    assert is_imperative(words) is expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [("It must be sorted", True), ("Only the owner", False), ("A token is required", False), ("Never sort", True)],
)
def test_an_only_or_a_required_demands_nothing_alone(words: str, expected: bool) -> None:
    assert has_strong_modal(words) is expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("See `docs/plan.md` for more details.", True),
        ("The shared folder holds types only.", True),
        ("Deletion is allowed for the owner only.", False),
        ("Keep types only.", False),
    ],
)
def test_a_sentence_that_points_elsewhere_describes(sentence: str, expected: bool) -> None:
    assert describes(sentence) is expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [("No validation in the controllers.", True), ("No doors exist in this plan.", False), ("No need to sort.", False)],
)
def test_what_is_not_to_be_there_is_ruled_out_without_a_verb(words: str, expected: bool) -> None:
    assert rules_out(words) is expected


def test_a_verb_and_code_alone_direct_nothing_unless_they_say_exclusively() -> None:
    assert not directs("Use `pnpm`.")
    assert directs("Use `pnpm` exclusively.")
