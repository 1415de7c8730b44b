from __future__ import annotations

from tools.write_query_lexicon import made_query_lexicon

from tipstaff.guidance.retrieval.task_vocabulary import FIELDS, SAME, kinds_of, query_lexicon, translations
from tipstaff.kernels import query_terms


def test_the_lexicon_in_the_package_is_what_the_words_give() -> None:
    assert query_lexicon() == made_query_lexicon(), "run: python -m tools.write_query_lexicon"


def test_every_word_of_one_meaning_is_one_term() -> None:
    for one, several in SAME.items():
        wanted = query_terms(query_lexicon(), one)
        assert len(wanted) == 1
        for word in several.split("; "):
            assert query_terms(query_lexicon(), word) == wanted, word


def test_fields_fit_into_the_words_of_the_lexicon() -> None:
    assert len(FIELDS) <= 32
    assert translations()["テス"] == "test"


def test_what_a_path_says() -> None:
    assert "pytest" in kinds_of("tests/test_basket.py")
    assert "changelog" in kinds_of("CHANGELOG.md")
    assert kinds_of("LICENSE") == ""
