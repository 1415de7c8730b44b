"""The focus scan: every instruction set finds the same in any text, in linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.kernels.instruction_sets import ISAS
from tipstaff.kernels import _focus

PIECES = (
    "fix", "the", "next", "step", "steps", "to", "plan", "Test", "review", "class", "def ", "Widget", "profile", "Makefile",
    "src", "main", "README", "md", "py", "Node.js", "example.org", "C:\\", "3.14", "load_config", "__init__", "RequestRouter",
    "HTTPServer", "Foo", "::", "bar", "maxRetries", "APIs", "JSON", "iPhone", "É", "tat", "файл", "漢字", "。", "\u00a0", "🚀", "\ud800",
    " ", " ", " ", "\n", "  ", ".", ".", ",", "/", "/", "\\", "-", "_", "(", ")", "()", "`", "`", "``", "```", '"', "'", ":", "#",
    "@", "*", "~", "<", ">", "<T>", "://", "https://", "42", "&", "$", "%", "+", "|", "=", "!", "?", "\t", "\x00", "\x7f", "\x1c",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=90).map("".join)
PROSE = "Then the quick brown fox (a plain one) jumps over it, and 'they' went on. What is next? Steps to go. "


def both(query: str, *history: str, **options: int) -> tuple[str, bool, tuple[str, ...], tuple[str, ...], int]:
    portable = _focus.focus_scan(query, history, isa="portable", **options)
    for isa in ISAS[1:]:
        assert _focus.focus_scan(query, history, isa=isa, **options) == portable, isa
    return portable


@given(TEXTS)
@example("the profile of a Makefile " + "and more words to fill a window of sixty four bytes or so, as it were ")
@example(" " * 63 + "a" * 200 + " fix")
@example("next \n steps\t to " + "x" * 70)
@example("class " + "Widget is defined here and used in many other places all over the world ")
def test_every_instruction_set_finds_the_same(text: str) -> None:
    both(text)


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), st.integers(0, 130))
def test_the_window_over_plain_words_changes_nothing(text: str, at: int) -> None:
    both(PROSE[:at] + text + PROSE * 2)


@given(TEXTS, TEXTS, st.integers(0, 16), st.integers(0, 16))
def test_the_rest_is_read_as_far_as_it_can_matter(text: str, rest: str, paths: int, symbols: int) -> None:
    full = " ".join([*(f"src/f{n}.py" for n in range(paths)), *(f"`name_{n}`" for n in range(symbols))])
    for options in ({"max_paths": paths, "max_symbols": symbols}, {}):
        both(f"{text} {full} {rest} continue the plan, fix and test {rest}", f"{rest} {full} {text}", **options)


def test_signals_are_found_after_the_last_name_that_counts() -> None:
    names = " ".join([*(f"src/f{n}.py" for n in range(6)), *(f"`name_{n}`" for n in range(8))])
    assert both(f"{names} {PROSE * 9} resume `other` then plan, fix and review")[4] == 15
    assert both(f"{PROSE * 9} load_config {names} src/late.py `late`")[3] == tuple(f"name_{n}" for n in range(8))


@given(st.text(max_size=300), st.lists(TEXTS, max_size=3))
def test_any_text_and_any_history(text: str, history: list[str]) -> None:
    both(text, *history)


@given(TEXTS, st.integers(0, 16), st.integers(0, 16))
def test_limits_hold(text: str, paths: int, symbols: int) -> None:
    found = both(text, max_paths=paths, max_symbols=symbols)
    assert len(found[2]) <= paths
    assert len(found[3]) <= symbols
    assert len(set(found[2])) == len(found[2])
    assert len(set(found[3])) == len(found[3])


@pytest.mark.parametrize("options", [{"max_paths": 17}, {"max_paths": -1}, {"max_symbols": 17}])
def test_limits_out_of_range_are_errors(options: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="expected 0 to 16 and 0 to 16"):
        _focus.focus_scan("x", **options)


def test_a_long_text_gives_the_same_as_its_pieces_would() -> None:
    text = (PROSE + "Fix `load_config` in src/agent/main.py and docs/a.md with RequestRouter.dispatch().\n") * 200
    assert both(text)[2:4] == (("src/agent/main.py", "docs/a.md"), ("load_config", "RequestRouter.dispatch"))


@pytest.mark.parametrize(
    "text",
    [
        "a" * 400_000,
        "a." * 200_000,
        "a/" * 200_000,
        "`" * 400_000,
        "`a" * 200_000,
        '"a ' * 130_000,
        "'a.b c" * 70_000,
        "_" * 400_000,
        "a:" * 200_000,
        "a::" * 130_000,
        "x://" * 100_000,
        "next " + " " * 400_000 + "step",
        "class " * 70_000,
        "aB" * 200_000,
        "漢" * 130_000,
        "(" * 400_000,
        "-" * 400_000,
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_d7_no_text_makes_it_slow(text: str) -> None:
    start = time.process_time()
    _focus.focus_scan(text, (text,))
    # Quadratic work on 400,000 characters would take minutes.
    assert time.process_time() - start < 10
