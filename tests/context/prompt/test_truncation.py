"""Truncation: never longer than allowed, says what is true, wastes little, and cuts where a reader would."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tipstaff.context.conversation.graphemes import is_boundary
from tipstaff.context.prompt.truncation import MIN_SHOWN_CHARS, cut, enclosures, truncate

SHOWN = re.compile(r"<!-- \[TRUNCATED\] Original: (\d+) chars, showing first (\d+)(?: \+ last (\d+))? chars -->")
FAMILY = "👩\u200d👩\u200d👧\u200d👦"
CLUSTERS = (
    FAMILY,
    "e\u0301",
    "🇩🇪",
    "👍🏽",
    "❤\ufe0f",
    "각",
    "\u1100\u1161\u11a8",
    "नि",
    "क्ष",
    "\r\n",
    "🏴\U000e0067\U000e007f",
)
PIECES = (
    "word", "another", " ", " ", " ", "\n", "\n", "\n\n", "```", "```\n", "```py\n", "\n```\n", "~~~\n", "````\n", "> ```\n",
    "- ```js\n", "<!-- ", " -->", "<!--", "`x`", "# Heading\n\n", "\n## Part\n", "漢字。", "\t", "1. item\n", "\ud83d", "\ude00",
    *CLUSTERS,
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=220).map("".join) | st.text(max_size=600)
ALLOWANCES = st.integers(0, 900)
PROSE = " ".join(f"word{number}" for number in range(20_000))
PARAGRAPHS = "\n\n".join(
    f"Paragraph {number} says something about {number * 7}.\nIt has a second line." for number in range(3_000)
)


def shown(result: str) -> tuple[int, int, int]:
    """Return original length, head and tail as the one marker says."""
    found = SHOWN.search(result)
    assert found, result
    return int(found[1]), int(found[2]), int(found[3] or 0)


# -- properties --------------------------------------------------------------------------------------------------------


@given(TEXTS, ALLOWANCES)
def test_never_longer_than_allowed(text: str, allowance: int) -> None:
    assert len(truncate(text, allowance)) <= allowance


@given(TEXTS, ALLOWANCES)
def test_what_fits_is_untouched_and_cutting_again_changes_nothing(text: str, allowance: int) -> None:
    once = truncate(text, allowance)
    assert truncate(once, allowance) == once
    assert truncate(text, len(text)) == text
    assert truncate(text, len(text) + 1) == text


@given(TEXTS, ALLOWANCES)
def test_the_cuts_are_truthful_and_between_graphemes(text: str, allowance: int) -> None:
    done = cut(text, allowance)
    if done.text == text:
        assert (done.head_chars, done.tail_chars) == (len(text), 0)
        return
    assert is_boundary(text, done.head_chars)
    assert is_boundary(text, len(text) - done.tail_chars)
    assert done.text.startswith(text[: done.head_chars])
    assert done.head_chars + done.tail_chars < len(text)
    if done.head_chars:
        original, head, tail = next(
            (int(found[1]), int(found[2]), int(found[3] or 0))
            for found in SHOWN.finditer(done.text, max(done.head_chars - 1, 0))
        )
        assert (original, head, tail) == (len(text), done.head_chars, done.tail_chars)
        assert text[len(text) - tail :] in done.text[head:]
    else:
        assert not done.tail_chars or shown(done.text)[1] == 0


@given(TEXTS, ALLOWANCES)
@example("```\n" + "code\n" * 60, 200)
@example("a\n" * 60 + "```py\n" + "code\n" * 80 + "```\n" + "b\n" * 30, 260)
@example("~~~\n" + "`" * 300 + "\n" + "x " * 200, 300)
def test_fences_and_comments_are_closed(text: str, allowance: int) -> None:
    result = truncate(text, allowance)
    if result != text:
        assert all(block.closing < block.end for block in enclosures(result)), result
        # The marker is a comment of its own: nothing before it has swallowed it.
        marker = SHOWN.search(result)
        assert marker is None or any(block.start == marker.start() for block in enclosures(result))


@given(TEXTS, st.integers(160, 900), st.integers(0, 400))
def test_a_larger_allowance_shows_no_shorter_beginning_and_hardly_less_in_all(
    text: str, allowance: int, more: int
) -> None:
    if "`" in text or "~" in text or "<" in text or "#" in text:
        return
    small, large = cut(text, allowance), cut(text, allowance + more)
    longest = max((len(cluster) for cluster in re.split(r"(?<=[a-z。])", text)), default=0)
    if small.head_chars and large.head_chars:
        assert large.head_chars >= small.head_chars
    slack = (allowance + more) // 50 + 40 + 20 + longest
    assert large.head_chars + large.tail_chars >= small.head_chars + small.tail_chars - slack


@pytest.mark.parametrize("allowance", [400, 1_000, 5_000, 20_000])
@pytest.mark.parametrize("text", [PROSE, PARAGRAPHS], ids=["prose", "paragraphs"])
def test_the_larger_text_is_shown_where_more_is_allowed(text: str, allowance: int) -> None:
    shares = [cut(text, allowance + step) for step in range(0, 300, 7)]
    heads = [one.head_chars for one in shares]
    assert heads == sorted(heads)
    for one in shares:
        whole = one.head_chars + one.tail_chars
        assert 0.68 < one.head_chars / whole < 0.80


# -- places ------------------------------------------------------------------------------------------------------------


def test_cuts_fall_between_paragraphs_where_one_ends_nearby() -> None:
    done = cut(PARAGRAPHS, 8_000)
    assert PARAGRAPHS[done.head_chars :].startswith("\n\n")
    assert PARAGRAPHS[len(PARAGRAPHS) - done.tail_chars - 1] == "\n"


def test_cuts_fall_between_lines_else_words() -> None:
    lines = "\n".join(f"line {number} of many" for number in range(500))
    done = cut(lines, 1_000)
    assert lines[done.head_chars] == "\n"
    done = cut(PROSE, 1_000)
    assert PROSE[done.head_chars] == " "
    assert PROSE[len(PROSE) - done.tail_chars - 1] == " "


def test_a_heading_does_not_end_the_beginning() -> None:
    text = "x" * 640 + "\n\n## Heading\n\n" + "y " * 400
    for allowance in range(850, 1_100, 10):
        done = cut(text, allowance)
        assert not text[: done.head_chars].rstrip().endswith("## Heading")


def test_indentation_at_the_start_of_the_end_is_kept() -> None:
    text = "\n".join("    indented = 1" for _ in range(500))
    done = cut(text, 1_000)
    assert text[len(text) - done.tail_chars :].startswith("    indented")


def test_a_fence_is_closed_and_opened_again_as_it_was() -> None:
    text = "Intro.\n\n```python\n" + "value = compute(1)\n" * 400 + "```\n"
    result = truncate(text, 1_000)
    before, after = SHOWN.split(result)[0], SHOWN.split(result)[-1]
    assert before.rstrip().endswith("\n```")
    assert after.lstrip().startswith("```python\nvalue = compute(1)\n")
    assert result.endswith("```\n")
    quoted = "> ~~~~\n" + "> code\n" * 400 + "> ~~~~\n"
    result = truncate(quoted, 1_000)
    assert result.count("> ~~~~") == 4


def test_a_comment_that_is_cut_does_not_swallow_the_marker() -> None:
    text = "<!-- " + "note " * 400 + "-->\n" + "rest " * 30
    result = truncate(text, 600)
    assert result.index("-->") < result.index("[TRUNCATED]")


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_d13_no_cluster_is_torn(cluster: str) -> None:
    text = cluster * 400
    for allowance in range(100, 400):
        done = cut(text, allowance)
        assert done.head_chars % len(cluster) == 0
        assert done.tail_chars % len(cluster) == 0


def test_d13_a_pair_of_lone_surrogates_stays_together() -> None:
    text = "\ud83d\ude00" * 300
    for allowance in range(160, 300):
        done = cut(text, allowance)
        assert done.head_chars % 2 == 0
        assert done.tail_chars % 2 == 0


# -- what upstream gets wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowance", [500, 1_000, 5_000, 20_000, 60_000])
@pytest.mark.parametrize("text", [PROSE, PARAGRAPHS], ids=["prose", "paragraphs"])
def test_d14_the_allowance_is_used(text: str, allowance: int) -> None:
    wasted = allowance - len(truncate(text, allowance))
    assert wasted <= max(40, allowance // 50) + 8


@pytest.mark.parametrize("allowance", range(1, 400))
def test_d15_the_marker_says_what_is_shown(allowance: int) -> None:
    done = cut(PROSE, allowance)
    assert done.text
    if SHOWN.search(done.text):
        assert shown(done.text) == (len(PROSE), done.head_chars, done.tail_chars)
    else:
        assert done.head_chars == done.tail_chars == 0
        assert "…" in done.text or "TRUNCATED" in done.text


def test_d15_at_100_characters_the_marker_is_true() -> None:
    done = cut("a " * 600, 100)
    original, head, tail = shown(done.text)
    assert original == 1_200
    assert done.text == ("a " * 600)[:head] + done.text[head:]
    assert done.text.count("a ") + 1 >= head // 2
    assert tail == 0


def test_d16_a_text_that_only_talks_of_truncation_was_not_truncated() -> None:
    text = "We write [TRUNCATED] where a text was cut."
    done = cut(text, 100)
    assert done.text == text
    assert done.head_chars == len(text)


@pytest.mark.parametrize("allowance", range(200))
def test_d17_nothing_or_enough_is_shown(allowance: int) -> None:
    done = cut(PROSE, allowance)
    assert done.head_chars == 0 or done.head_chars + done.tail_chars >= MIN_SHOWN_CHARS


@pytest.mark.parametrize("allowance", [-5, 0])
def test_no_allowance_shows_nothing(allowance: int) -> None:
    assert truncate("text", allowance) == ""
    assert truncate("", allowance) == ""


@pytest.mark.parametrize(
    "text",
    [
        "`" * 400_000,
        "``` " * 100_000,
        "```a\n" * 80_000,
        "\n```x`" * 60_000,
        "<!--" * 100_000,
        "a\u0301" * 200_000,
        "\u0301" * 400_000,
        "🇩🇪" * 100_000,
        " " * 400_000,
        "\n" * 400_000,
        "~~~\n" + "```\n" * 100_000,
        "x" * 400_000,
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_no_text_makes_it_slow(text: str) -> None:
    start = time.process_time()
    assert len(truncate(text, 20_000)) <= 20_000
    # A quadratic pass over 400,000 characters would take minutes.
    assert time.process_time() - start < 20
