from __future__ import annotations

import re

import pytest

from tipstaff.guidance.extraction.grammar import has_modal, has_negation
from tipstaff.guidance.extraction.polarity import decides, is_negative_heading
from tipstaff.guidance.wording import word_forms
from tipstaff.guidance.wording.word_forms import LEAVE, MODALS, NEGATIVE, either, forms

TABLES = {name: value for name, value in vars(word_forms).items() if name.isupper() and name[0] != "_"}


def test_forms_of_stems_and_of_words() -> None:
    assert forms("rot/e/er prohibid-/o/a rot") == "rot rote roter prohibido prohibida"


def test_no_text_outside_the_words_matches() -> None:
    assert either("nie niemals nunca") == "n(?:ie(?:mals)?|unca)"
    assert either("a.b") == r"a\.b"


@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_expression_of_a_table_matches_its_words_alone(name: str) -> None:
    words = TABLES[name].split()
    expression = re.compile(either(TABLES[name]))
    assert len(words) > 5
    for word in words:
        assert word == word.strip("-/")
        assert expression.fullmatch(word)
        assert (word[:-1] in words) == (expression.fullmatch(word[:-1]) is not None)


def test_modals_make_a_rule_of_a_sentence() -> None:
    for word in (*MODALS.split(), "verbotenem", "untersagtes"):
        assert has_modal(f"Kod a {word} b."), word
        assert has_modal(f"Kod „a“ {word} b."), word
    assert not has_modal("Kod a escalations b.")


def test_bans_negate_and_forbid_what_is_below_them() -> None:
    for word in NEGATIVE.split():
        assert has_negation(f"a {word} b"), word
        assert is_negative_heading(word.capitalize()), word


def test_what_needs_leave_decides_what_is_below_it() -> None:
    for word in (*LEAVE.split(), "Genehmigungen", "ESCALATIONS"):
        assert decides(f"{word} x"), word
