from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.guidance.markdown_strategies import documents
from tipstaff.guidance.reading.markdown import Block, SourceText, parse, split_front_matter


def words(text: str) -> list[tuple[str, str]]:
    parsed = parse(text)
    return [(block.kind, parsed.source.slice(block.start, block.end)) for block in parsed.blocks]


def cpu_ms(work: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        work(text)
        best = min(best, time.process_time() - start)
    return best * 1e3


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_ending_reads_the_same(end: str) -> None:
    text = "# Rules\n\n- one\n  wrapped\n- two\n\n  more\n\nTail words\n".replace("\n", end)
    parsed = parse(text)
    seen = [(b.kind, text[slice(*parsed.source.span(b.start, b.end))].split()) for b in parsed.blocks]
    assert seen == [
        ("heading", ["Rules"]),
        ("item", ["one", "wrapped"]),
        ("item", ["two"]),
        ("paragraph", ["more"]),
        ("paragraph", ["Tail", "words"]),
    ]
    assert [parsed.source.line(b.start) for b in parsed.blocks] == [1, 3, 5, 7, 9]


def test_a_byte_order_mark_does_not_hide_the_first_heading() -> None:
    parsed = parse("\ufeff# Security\n- keep")
    assert [block.kind for block in parsed.blocks] == ["heading", "item"]
    assert parsed.source.span(parsed.blocks[0].start, parsed.blocks[0].end) == (3, 11)


def test_setext_headings_have_their_level() -> None:
    assert [(b.kind, b.level) for b in parse("One\n===\n\nTwo\n---\n").blocks] == [("heading", 1), ("heading", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "```\n- never\n```\n",
        "~~~sh\n# never\n~~~\n",
        "words\n\n    - never indented\n",
        "<pre>\n- never\n</pre>\n",
        "<script>\n- never\n</script>\n",
        "> ```\n> - never\n> ```\n",
    ],
)
def test_code_is_no_block(text: str) -> None:
    assert not any("never" in wording for _, wording in words(text))


def test_items_know_their_parents_levels_and_continuations() -> None:
    blocks = parse("- a\n  1. b\n\n     more b\n  2. c\n- d\n").blocks
    shape = [(b.kind, b.level, b.parent, b.children) for b in blocks]
    assert shape == [
        ("item", 1, -1, 2),
        ("item", 2, 0, 0),
        ("paragraph", 0, 1, 0),
        ("item", 2, 0, 0),
        ("item", 1, -1, 0),
    ]


@pytest.mark.parametrize("between", ["```\n  x\n  ```", "<!-- c -->", "# Head", "<b>\n  </b>\n"])
def test_words_after_code_or_html_in_a_tight_item_are_kept(between: str) -> None:
    wording = [text for _, text in words(f"- first\n  {between}\n  You must keep these\n- last")]
    assert any("You must keep these" in text for text in wording)


def test_table_rows_know_their_header() -> None:
    parsed = parse("| a | b |\n|---|---|\n| c | `d` |\n")
    header, row = parsed.blocks
    assert (header.header, row.header) == (-1, 0)
    assert [parsed.source.slice(*cell) for cell in row.cells] == ["c", "`d`"]


def test_words_inside_html_are_read_at_their_positions() -> None:
    text = "<important>\n\n- inside é\n\n</important>\n<details>\n  <summary>Sum</summary>\n  - deep\n</details>\n"
    parsed = parse(text)
    for block in parsed.blocks:
        low, high = parsed.source.span(block.start, block.end)
        assert text[low:high] == parsed.source.slice(block.start, block.end)
    assert [wording for kind, wording in words(text) if kind == "item"] == ["inside é", "deep"]


def test_comments_are_noted_and_are_no_words() -> None:
    assert words("<!-- never -->\n\ntext\n") == [("comment", "<!-- never -->"), ("paragraph", "text")]
    parsed = parse("- keep <!-- never --> it\n")
    assert [parsed.source.slice(*span) for span in parsed.comments] == ["<!-- never -->"]
    assert words("<!-- never closed\n- item\n")[0][0] == "comment"


@pytest.mark.parametrize(
    ("text", "front"),
    [
        ("---\npaths: a\n---\n- x", "paths: a\n"),
        ("---\n# note\npaths: a\n...\n- x", "# note\npaths: a\n"),
        ("---\n---\n", ""),
        ("---\r\npaths: a\r\n---\r\n", "paths: a \n"),
        ("\ufeff---\npaths: a\n---\n", "paths: a\n"),
        ("---\n- Never push\n---\n", None),
        ("---\n# Never push\n---\n", None),
        ("---\nYou must stop\n---\n", None),
        ("---\npaths: a\n", None),
        ("- a\n---\npaths: a\n---\n", None),
    ],
)
def test_only_keys_between_dashes_are_front_matter(text: str, front: str | None) -> None:
    assert parse(text).front_matter == front


def test_front_matter_is_bounded() -> None:
    assert split_front_matter("---\n" + "a: b\n" * 40_000 + "---\n") == (None, 0)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("ok\n\n```sh\nx\n", 4),
        ("```\nx\n```\n", -1),
        ("````\n```\n", 0),
        ("```\nx\n``` y\n", 0),
        ("~~~\nx\n```\n", 0),
        ("> ```\n> x\n> ```\n", -1),
        ("- ```\n  x\n  ```\n", -1),
        ("<pre>\n- x\n", 0),
        ("<pre>\n- x\n</pre>\n", -1),
    ],
)
def test_a_fence_that_is_never_closed_is_found(text: str, at: int) -> None:
    assert parse(text).unclosed_fence == at


def test_struck_out_means_all_of_it() -> None:
    assert [b.struck for b in parse("- ~~gone~~\n- ~~gone~~ stays\n- stays\n- ~~a~~ b ~~c~~\n").blocks] == [
        True,
        False,
        False,
        False,
    ]


@given(documents)
def test_ranges_are_in_the_text_and_every_block_comes_after_its_parent(text: str) -> None:
    parsed = parse(text)
    size = len(parsed.source.data)
    for index, block in enumerate(parsed.blocks):
        assert 0 <= block.start <= block.end <= size
        assert -1 <= block.parent < index
        low, high = parsed.source.span(block.start, block.end)
        assert (
            parsed.source.slice(block.start, block.end)
            == parsed.source.text[low - text.startswith("\ufeff") : high - text.startswith("\ufeff")]
        )


@given(st.text(alphabet=st.characters(), max_size=60))
def test_any_string_is_read(text: str) -> None:
    parse(text)
    parse(f"- {text}\n  {text}")


@pytest.mark.parametrize("text", ["- a \ud800 b", "\x00- a", "- a\x00b", "\udfff" * 9, "", "\ufeff", "\n" * 9])
def test_what_utf_8_cannot_hold_keeps_its_position(text: str) -> None:
    parsed = parse(text)
    for block in parsed.blocks:
        low, high = parsed.source.span(block.start, block.end)
        assert 0 <= low <= high <= len(text)


def test_offsets_become_lines_and_code_points() -> None:
    text = "é\n" + "日本" * 600 + "\nend"
    source = SourceText(text)
    for at in (0, 1, 2, 700, len(text) - 3, len(text)):
        low = len(text[:at].encode())
        assert source.span(low, low) == (at, at)
        assert source.line(low) == text[:at].count("\n") + 1


GROWING: dict[str, Callable[[int], str]] = {
    "quotes": lambda n: ">" * n + " never",
    "nested lists": lambda n: "- " * n + "never",
    "unclosed comments": lambda n: "<!-- é " * n,
    "comments in html": lambda n: "<div>\n" + "<b><!-- é -->" * n,
    "unclosed tags": lambda n: "<a " * n,
    "links": lambda n: "[a](" * n,
    "ticks": lambda n: "- `" * n,
    "emphasis": lambda n: "*a _b " * n,
    "one long line": lambda n: "never é " * n,
    "fences": lambda n: "```\n" * n,
    "footnotes": lambda n: "[^1]: " * n,
}


@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_the_text_and_not_faster(name: str) -> None:
    small, large = GROWING[name](1_500), GROWING[name](12_000)

    def work(text: str) -> None:
        parsed = parse(text)
        for block in parsed.blocks:
            parsed.source.span(block.start, block.end)

    assert cpu_ms(work, large) < 40 * max(cpu_ms(work, small), 1.0)


def test_a_block_is_small() -> None:
    assert Block("item", 0, 1).code == (0, 0)
