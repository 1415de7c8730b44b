from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.guidance.wording.vocabulary import (
    DOMAIN_ORDER,
    INTENT_ORDER,
    infer,
    noun_forms,
    stem,
    verb_forms,
)

NONE = ("general",)

# What each class's words begin with.
INTENT_STEMS = {
    "security": "secur auth secret password token cve vuln encrypt",
    "testing": "test spec mock coverage assert tdd",
    "performance": "perf optim fast slow cach memory speed",
    "refactor": "refactor clean restructur simplif",
    "bug-fix": "bug fix error broken fail debug",
    "architecture": "architect design pattern structure boundar",
    "deployment": "deploy release publish ci cd",
    "docs": "doc readme comment jsdoc",
}
DOMAIN_STEMS = {
    "security": "secur auth secret password token cve vuln",
    "testing": "test spec mock coverage assert",
    "performance": "perf optim fast slow cach speed",
    "architecture": "architect design ddd domain boundar",
    "debugging": "bug fix error debug",
}


INFLECTED = """secure security auth authentication authorize authorise secret secrets password passwords token tokens cve
vulnerable vulnerability vulnerabilities encrypt encrypts encrypted encryption test tests tested testing spec specs
mock mocks mocked mocking coverage assert asserts assertion assertions tdd perf performance optimize optimise
optimized optimisation fast faster fastest slow slower slowly cache caches cached caching memory speed speeds
refactor refactors refactored refactoring clean cleans cleaner cleanup restructure restructured simplify simplifies
simplified simplification bug bugs fix fixes fixed fixing error errors broken fail fails failed failing failure debug
debugs debugging debugger architect architecture architectural design designs designed pattern patterns structure
structured boundary boundaries deploy deploys deployed deployment release releases released publish publishes
published ci cd doc docs document documents documented documentation readme comment comments commented jsdoc"""


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9_'’]+", text.lower())


@pytest.mark.parametrize(
    "text",
    [
        "specify the exact author",
        "decide on the latest contest",
        "breakfast docker",
        "prefix every fixture with its social place",
        "an authority on speculation",
        "attestation of the greatest secretary",
        "breakfast in the dock",
        "accident and decade",
        "tokenizer optimistic perfume",
        "",
    ],
)
def test_words_that_only_contain_a_stem_say_nothing(text: str) -> None:
    assert infer(words(text)) == (NONE, NONE)


@pytest.mark.parametrize(
    ("text", "intents", "domains"),
    [
        ("Never commit secrets or passwords", ("security",), ("security",)),
        ("Authorisation is checked for unauthenticated callers", ("security",), ("security",)),
        ("Encrypted at rest", ("security",), NONE),
        ("Write tests before the fix", ("testing", "bug-fix"), ("testing", "debugging")),
        ("Follow TDD", ("testing",), NONE),
        ("Mind the memory", ("performance",), NONE),
        ("Caches are optimised for speed", ("performance",), ("performance",)),
        ("Simplified and cleaned", ("refactor",), NONE),
        ("Failures keep it broken", ("bug-fix",), NONE),
        ("Patterns and structure", ("architecture",), NONE),
        ("Domain boundaries first", ("architecture",), ("architecture",)),
        ("Respect DDD", NONE, ("architecture",)),
        ("CI publishes each release", ("deployment",), NONE),
        ("Comments and docs stay current", ("docs",), NONE),
        ("Debug errors", ("bug-fix",), ("debugging",)),
        (
            "Design a fast, secure, tested release",
            ("security", "testing", "performance", "architecture", "deployment"),
            ("security", "testing", "performance", "architecture"),
        ),
        ("rename auth_token and the test's data", ("security", "testing"), ("security", "testing")),
    ],
)
def test_words_and_their_inflections_count(text: str, intents: tuple[str, ...], domains: tuple[str, ...]) -> None:
    assert infer(words(text)) == (intents, domains)


def test_a_generator_of_words_will_do() -> None:
    assert infer(word for word in ("fast", "tests")) == (("testing", "performance"), ("testing", "performance"))


@pytest.mark.parametrize(
    "word",
    INFLECTED.split(),
)
def test_an_inflected_word_means_what_its_stem_meant(word: str) -> None:
    def classes(table: dict[str, str], order: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name in order if word.startswith(tuple(table[name].split()))) or NONE

    assert infer([word]) == (classes(INTENT_STEMS, INTENT_ORDER), classes(DOMAIN_STEMS, DOMAIN_ORDER))


@given(st.lists(st.text()))
def test_any_words_have_classes_in_order(some: list[str]) -> None:
    intents, domains = infer(some)
    assert intents == NONE or list(intents) == [name for name in INTENT_ORDER if name in intents]
    assert domains == NONE or list(domains) == [name for name in DOMAIN_ORDER if name in domains]
    assert infer(reversed(some)) == (intents, domains)


@pytest.mark.parametrize(
    "family",
    [
        "commit commits committed committing",
        "test tests tested testing",
        "use uses used using",
        "validate validates validated validating",
        "cache caches cached caching",
        "patch patches patched patching",
        "fix fixes fixed fixing",
        "merge merges merged merging",
        "install installs installed installing",
        "control controls controlled controlling",
        "cancel cancels cancelled cancelling canceled",
        "code codes coded coding",
        "query queries queried querying",
        "log logs logged logging",
        "process processes processed processing",
        "note notes noted noting",
        "write writes writing written wrote",
        "create creates created creating",
        "prefer prefers preferred preferring",
        "pass passes passed passing",
        "open opens opened opening",
        "run runs running ran",
        "agree agrees agreeing",
        "key keys",
        "class classes",
        "index indexes indexed indexing",
        "database databases",
        "developer developers developer's developer’s",
    ],
)
def test_inflections_share_a_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(
    "pair",
    [
        "string str",
        "status statu",
        "need ne",
        "http https",
        "test tester",
        "us use",
        "not note",
        "cod code",
        "new news",
        "plan plant",
        "deploy deployment",
        "thing th",
        "secure security",
    ],
)
def test_other_words_do_not(pair: str) -> None:
    one, other = pair.split()
    assert stem(one) != stem(other)


@given(st.text())
def test_stem_takes_any_text_and_never_empties_a_word(word: str) -> None:
    found = stem(word)
    assert len(found) <= len(word) + 1
    assert found or word in {"", "'s", "’s"}


def test_the_stems_that_are_remembered_are_bounded() -> None:
    for number in range(20_000):
        stem(f"word{number}")
    assert stem.cache_info().currsize <= 8192


def test_forms() -> None:
    assert noun_forms("boundary") == ("boundary", "boundaries")
    assert noun_forms("key") == ("key", "keys")
    assert noun_forms("fix") == ("fix", "fixes")
    assert verb_forms("deploy") == ("deploy", "deploys", "deployed", "deploying")
    assert verb_forms("specify") == ("specify", "specifies", "specified", "specifying")
    assert set(verb_forms("optimise")) == set(verb_forms("optimize"))
    assert {"optimising", "optimized", "optimizes"} <= set(verb_forms("optimise"))
    assert "debugging" in verb_forms("debug")
