from __future__ import annotations

import pytest

from tipstaff.guidance.wording.claims import FORBID, LIFT, PERMIT, REQUIRE, claims, opposed, same_topic, topic_of
from tipstaff.guidance.wording.vocabulary import MASKS, stem
from tipstaff.guidance.wording.word_roles import FUNCTION_WORDS, IMPERATIVES, lexicon, not_demanding, word_roles
from tipstaff.kernels.formats import roles
from tipstaff.kernels.formats.lexicon import fnv, read_lexicon


@pytest.mark.parametrize(
    ("text", "polarities"),
    [
        ("Always sign tags", [REQUIRE]),
        ("Never use TLS 1.0; always use TLS 1.3", [FORBID, REQUIRE]),
        ("You may skip reviews", [PERMIT]),
        ("Reviews are not required", [LIFT]),
        ("Never merge without review", [REQUIRE]),
        ("Use tabs instead of spaces", [REQUIRE, FORBID]),
        ("Prefer tabs over spaces", [REQUIRE, FORBID]),
        ("Never: hardcode secrets", [FORBID]),
        ("If caches are not warm, run the tests", [REQUIRE]),
        ("a. b. c. d. e. f", [REQUIRE] * 4),
        ("Must", []),
    ],
)
def test_polarities(text: str, polarities: list[int]) -> None:
    assert [claim.polarity for claim in claims(text)] == polarities


def test_a_claim_is_about_stems() -> None:
    [claim] = claims("When the caches are not warm, you must not run slow tests")
    assert claim.topic == {"cach", "warm", "run", "slow", "test"}
    assert claim.explicit
    assert claim.directive
    assert claim.negative_condition
    assert topic_of(["never", "run", "tests"]) == {"run", "test"}


def test_opposed_rules() -> None:
    left, right = claims("Always use tabs for indentation"), claims("Never use tabs for indentation")
    assert opposed(left, right) == same_topic(left[0], right[0]) == 1.0
    assert opposed(left, left) == 0.0


def test_the_lexicon_holds_every_word_that_guidance_knows() -> None:
    entries = read_lexicon(lexicon())
    known = word_roles()
    assert known.keys() | MASKS.keys() <= {word.decode() for word in entries}
    for word, role in known.items():
        value, stemmed = entries[word.encode()]
        assert value & role == role
        assert value >> roles.FREE & 0x1FFF == MASKS.get(word, 0)
        assert stemmed == fnv(stem(word).encode())


def test_words_have_the_roles_that_they_are_listed_with() -> None:
    known = word_roles()
    assert all(known[word] & roles.FUNCTION for word in FUNCTION_WORDS)
    assert all(known[word] & roles.IMPERATIVE for word in IMPERATIVES)
    assert not known["agents"] & roles.GRAMMAR  # whom a rule speaks to; else a word like others
    assert known["jamais"] & roles.CONTENT
    assert {"never", "may", "instead"} <= not_demanding()
    assert "always" not in not_demanding()
