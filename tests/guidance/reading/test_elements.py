from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.guidance.extraction.extraction import extract
from tipstaff.guidance.reading.elements import as_markdown, own_elements
from tipstaff.guidance.reading.markdown import parse


def texts(text: str) -> list[str]:
    return [one.text for one in extract(parse(text), "root")[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<never>\n- Push to main\n</never>\n\n- Sort imports\n", ["never: Push to main", "Sort imports"]),
        ("<do_not>\n\n- Push to main\n\n</do_not>\n", ["do not: Push to main"]),
        ("<FORBIDDEN>\n# Git\n- Push to main\n</FORBIDDEN>\n", ["FORBIDDEN: Push to main"]),
        ("# Build\n- Use `make`\n\n<testing>\n# Tests\n- Use fakes\n</testing>\n", ["Build: Use `make`", "Tests: Use fakes"]),
        ("<role>\n# Duties\n- Read the code\n</role>\n<notes>\n- Sort imports\n</notes>\n",
         ["Read the code", "Sort imports"]),
        ("- Sort imports\n</rules>\n", ["Sort imports </rules>"]),
        ("<rules>\n- Sort imports\n</rules>\n", ["Sort imports"]),
        ("<rules>\n<rule>Use tabs</rule>\n<rule>No globals</rule>\n</rules>\n", ["Use tabs", "No globals"]),
        ("<steps>\n1. Read <file>\n</steps>\n", ["Read <file>"]),
        ("```xml\n<never>\n```\n\n- Sort imports\n\n```xml\n</never>\n```\n", ["Sort imports"]),
        ("<!-- <never> -->\n- Sort imports\n<!-- </never> -->\n", ["Sort imports"]),
        ("<never>\n\n- Sort imports\n", ["Sort imports"]),
        ("<details>\n<summary>Never <b>touch</b></summary>\n\n- The billing tables\n\n</details>\n\n- Sort imports\n",
         ["Never touch: The billing tables", "Sort imports"]),
        ("<details><summary>Do not touch</summary>\n\n- `vendor/`\n\n</details>\n", ["Do not touch: `vendor/`"]),
        ("<ul>\n    <li>Use <b>tabs</b></li> <li>Never <em>log</em> keys\n</ul>\n", ["Use tabs", "Never log keys"]),
        ("<h2>Do not</h2>\n<ul><li>Deploy on Fridays</li></ul>\n", ["Do not: Deploy on Fridays"]),
        ("<h2>Regeln für Prüfer</h2>\n<p>Ü</p>\n        <p>You must lint.</p>\n", ["You must lint."]),
        ("- Use `List<T>` and <name> types\n", ["Use `List<T>` and <name> types"]),
    ],
)  # fmt: skip
def test_what_elements_say_of_the_words_within(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_elements_are_found_with_their_names_and_ends() -> None:
    data = b"<a_b>\n<x>\n</a_b>\n<Tabs>\n</Tabs>\n<div>\n</div>\n"
    (found,), tags = own_elements(data, [])
    assert (found.name, data[found.start : found.end], data[found.until :][:6]) == ("a b", b"<a_b>", b"</a_b>")
    assert [data[start:end] for start, end in tags] == [b"<a_b>", b"</a_b>", b"<Tabs>", b"</Tabs>", b"<div>", b"</div>"]


PIECES = ["<li>", "</li>", "<h2>", "<x y='ü'>", "</x>", "<!--", "-->", "é", " ", "\n", "a", "<", ">"]


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_markdown_for_html_has_the_same_width(raw: str) -> None:
    words, hidden = as_markdown(raw)
    assert len(words.encode()) == len(raw.encode())
    assert all(raw[start] == "<" and 0 <= start < end <= len(raw) for start, end in hidden)


@pytest.mark.parametrize("piece", ["<a>\n", "</a>\n", "<a>\n</a>\n", "<a>\n<b>\n</a>\n", "<details><summary>\n", "a<b"])
def test_many_tags_take_linear_time(piece: str) -> None:
    def took(count: int) -> float:
        text = piece * count + "</"
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            own_elements(text.encode(), [])
            as_markdown(text)
            best = min(best, time.perf_counter() - start)
        return best

    start = time.perf_counter()
    as_markdown("<" + "a" * 300_000)
    assert time.perf_counter() - start < 20  # a quadratic reading takes minutes
    assert took(20_000) < 60 * took(1_000) + 0.02
