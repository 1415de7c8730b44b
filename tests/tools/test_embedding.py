"""What makes and judges the table of the static embedding: sentences, pieces and figures are what they claim to be."""

from __future__ import annotations

import math
from importlib.resources import files

import numpy as np
import pytest
from tools.embedding.extraction import changes, documents
from tools.embedding.measures import interval, judge
from tools.embedding.selection import phrases, without_overlap
from tools.embedding.sources import read_sources
from tools.embedding.wordpieces import Encoder, build, split_words

from tipstaff.kernels import wordpiece_split


def test_figures_are_those_worked_out_by_hand() -> None:
    # Grades 2 and 1 at places 0 and 3 of the ranking; ideal is 2, 1, 1.
    ndcg, at_five, at_ten, reciprocal = judge([7, 1, 2, 8, 3, 4, 9], {7: 2, 8: 1, 9: 1})
    assert ndcg == pytest.approx((3 + 1 / math.log2(5)) / (3 + 1 / math.log2(3) + 1 / 2))
    assert (at_five, at_ten, reciprocal) == pytest.approx((2 / 3, 1, 1))
    assert judge([1, 2, 3], {2: 1}) == pytest.approx((1 / math.log2(3), 1, 1, 0.5))
    assert judge([], {2: 1}) == (0, 0, 0, 0)
    assert judge(list(range(20)), dict.fromkeys(range(20), 1))[1:] == (1, 1, 1)
    mean, low, high = interval(np.array([0.0, 1.0] * 50))
    assert mean == 0.5
    assert 0.39 < low < 0.45
    assert 0.55 < high < 0.61


def test_sentences_of_documentation() -> None:
    page = (
        "<html><head><title>No title of ours</title></head><body><nav>The menu is not a sentence of prose</nav>"
        "<p>You should never store a password in plain text. Use the <a href='x'>vault</a> for it instead of a file.</p>"
        "<pre>this_is_code(and, must, not, be, taken)</pre><li>Short one.</li></body></html>"
    )
    assert list(documents("doc/index.html", page)) == [
        "You should never store a password in plain text.",
        "Use the vault for it instead of a file.",
    ]
    text = "Title\n=====\n\n- Run :ref:`the tests <t>` before you push to the branch\n\n```\ncode must not be in the text at all\n```\n"
    assert list(documents("a.rst", text)) == ["Run the tests before you push to the branch"]
    manual = ".TH X 1\n.SH NAME\nThe program reads\n.B every\nfile that is in the folder.\n"
    assert list(documents("x.1", manual)) == ["The program reads every file that is in the folder."]


def test_items_of_changelogs() -> None:
    log = (
        "2.0 (2024-01-01)\n\n* Fix a crash on empty input (#123)\n* Merge branch main\n* Bump version to 3\n"
        "* Make the cache\n  safe for threads (Jane Doe)\n* Stop using the\n"
    )
    assert list(changes(log)) == ["Fix a crash on empty input", "Make the cache safe for threads"]


def test_nothing_of_the_evaluation_is_used() -> None:
    held = ["Always run all of the tests before you push"]
    texts = [
        "run all of the tests before you commit it",
        "always run tests",
        "Always run ALL of the tests before you push!",
    ]
    assert without_overlap(texts, held) == ["always run tests"]


def test_phrases_neither_start_nor_end_in_stop_words() -> None:
    found = phrases(["the unit tests of the parser", "unit tests for speed"])
    assert found[:2] == ["tests", "unit"]
    assert "unit tests" in found
    assert "tests of" not in found


def test_pieces_come_from_merging_common_neighbours() -> None:
    texts = ["lower lowest low"] * 40 + ["test tests testing"] * 60
    pieces = build(texts)
    assert pieces == sorted(set(pieces)) == build(list(reversed(texts)))
    assert {"test", "low", "a", "##a", "0", "##9"} <= set(pieces)
    encoder = Encoder(pieces)
    assert [pieces[i] for i in encoder.encode("Test lowTest")] == ["test", "low", "test"]


@pytest.mark.parametrize(
    "text",
    ["Fix the HTTPServer's getUserById2 APIs", "don't x-ray 3.14 naïvely", "a_b__c XMLHttpRequest IOError xqzv", ""],
)
def test_training_and_use_cut_texts_alike(text: str) -> None:
    table = (files("tipstaff") / "data" / "static_embedding.bin").read_bytes()
    ascii_text = text.encode("ascii", "ignore").decode()
    known = set(wordpiece_split(table, ascii_text))
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    pieces = sorted({*known, *letters, *(f"##{letter}" for letter in letters)})
    encoder = Encoder(pieces)
    assert [pieces[i] for i in encoder.encode(ascii_text)] == wordpiece_split(table, ascii_text)
    assert "".join(split_words(ascii_text)) == "".join(c for c in ascii_text.lower() if c in letters)


def test_sources_are_few_pinned_and_permissive() -> None:
    sources = read_sources()
    assert 30 <= len(sources) <= 59
    assert len({(one.kind, one.name) for one in sources}) == len(sources)
    allowed = {"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "PSF-2.0", "PostgreSQL"}
    for one in sources:
        assert one.kind in {"deb", "sdist"}
        assert one.version
        assert len(bytes.fromhex(one.sha256)) == 32
        assert set(one.licence.replace(" OR ", " AND ").split(" AND ")) <= allowed
