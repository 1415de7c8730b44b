from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.guidance.extraction.grammar import (
    IMPERATIVES,
    MODAL,
    count_words,
    has_modal,
    has_negation,
    is_demanding_heading,
    opens_with_imperative,
    refers_back,
    says_something,
    sentences,
    starts_with_pronoun,
)


@pytest.mark.parametrize(
    "text",
    [
        "You MUST stop", "never", "Don't do it", "Don’t do it", "do\nnot do it", "do  not", "cannot", "make\n  sure", "read-only",
        "It is not allowed", "you have to", "needs to", "nunca", "müssen", "nie wolno", "нельзя", "必须", "禁止提交", "しないで",
        "하지마", "하지 마", "darf\nnicht",
    ],
)  # fmt: skip
def test_modals_are_known(text: str) -> None:
    assert has_modal(text)


@pytest.mark.parametrize(
    "text", ["", "mustard", "evermore", "nevertheless", "doors not", "shoulder", "run the tests", "lonely"]
)
def test_words_that_only_hold_a_modal_are_no_modals(text: str) -> None:
    assert not has_modal(text)


_PIECES = st.sampled_from(
    "must do not ' don t dont can may allowed is are to have ought only - _ . , \n x 9 ` * sure make nie".split(" ")
)


@given(st.lists(st.tuples(_PIECES, st.sampled_from(["", " ", "\n", "  "])), max_size=8))
def test_the_quick_look_for_modals_agrees_with_the_expression(pieces: list[tuple[str, str]]) -> None:
    text = "".join(word + gap for word, gap in pieces)
    # A word beside an underscore or a digit is part of a name to the expression; the quick look may see it as a word.
    if not any(char in text for char in "_9"):
        assert has_modal(text) == (MODAL.search(text) is not None)
    elif MODAL.search(text) is not None:
        assert has_modal(text)


@given(
    st.sampled_from(["", "**", "If ", "with ", "Although ", "*Since "]),
    st.sampled_from(
        "It These those This That They them its such otherwise both instead Except Exception Exceptions note ausnahmen "
        "excepciones eccezioni uitzonderingen nothing commits item".split(" ")
    ),
    st.sampled_from([".", ": ", " must be done", " of these is kept", " applies", "emize"]),
)
def test_the_quick_look_for_references_back_agrees_with_the_expressions(before: str, word: str, after: str) -> None:
    text = f"{before}{word}{after}"
    if starts_with_pronoun(text):
        assert refers_back(text)
    assert refers_back(f"→ {text}") == refers_back(f"→ {text} é")


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("**These** are kept", True), ("Instead, rebase", True), ("Instead of a merge, rebase", False), ("Exception: tests", True),
        ("Keep it short and use these", False), ("上述规则除外", True), ("Exception handling is local", False),
    ],
)  # fmt: skip
def test_what_refers_back(text: str, back: bool) -> None:
    assert refers_back(text) is back


def test_small_questions() -> None:
    assert has_negation("without tests")
    assert not has_negation("note it")
    assert opens_with_imperative("- **Use** pnpm")
    assert not opens_with_imperative("The cache")
    assert not opens_with_imperative("")
    assert starts_with_pronoun("**It** must")
    assert not starts_with_pronoun("Items must")
    assert count_words("don't stop, it's 9.1") == 5
    assert says_something("You must never push")
    assert not says_something("You must:")
    assert all(word == word.lower() for word in IMPERATIVES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Never push. Always test.", ["Never push.", "Always test."]),
        ("Use e.g. Docker. Never podman.", ["Use e.g. Docker.", "Never podman."]),
        ("Pin 3.11. it stays", ["Pin 3.11. it stays"]),
        ('Stop! "Never" say so.', ["Stop!", '"Never" say so.']),
        ("Keep it\nNever push", ["Keep it", "Never push"]),
        ("Keep it\n> Never push", ["Keep it\n>", "Never push"]),
        ("禁止提交。必须测试。", ["禁止提交。", "必须测试。"]),
        ("one\n\ntwo", ["one\n\ntwo"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[low:high] for low, high in sentences(text)] == expected


@given(st.text(alphabet="aN. \n!>*e.g。`-", max_size=40))
def test_sentences_leave_out_nothing_but_white_space(text: str) -> None:
    ranges = sentences(text)
    assert ranges == sorted(ranges)
    at = 0
    for low, high in ranges:
        assert not text[at:low].strip()
        assert text[low:high] == text[low:high].strip() != ""
        at = high
    assert not text[at:].strip()


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("You must never push to main", True), ("Never mock our own runtime", True), ("Tests must pass", True),
        ("Parse failures must be non-fatal", True), ("Do not put logic in widgets.", True),
        ("Avoid use of web storage", True), ("`bots.yml` cannot test its own change", True),
        ("Never", False), ("Don't use", False), ("Must read", False), ("Always-on pager notes", False),
        ("Rules you must follow", False), ("Code that must not be touched", False), ("When you must stop", False),
        ("Never generate hardcoded values for:", False), ("SQL queries (must be read-only)", False),
        ("Required page structure", False), ("Never " + "x " * 500, False),
    ],
)  # fmt: skip
def test_headings_that_are_rules(title: str, expected: bool) -> None:
    assert is_demanding_heading(title) is expected
