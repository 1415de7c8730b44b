from __future__ import annotations

import pytest

from tipstaff.guidance.compiling import conflicts
from tipstaff.guidance.compiling.conflicts import relate
from tipstaff.model import GuidanceRule


def related(*texts: str, scopes: tuple[tuple[str, ...], ...] = ()) -> list[tuple[str, str, str]]:
    rules = [
        GuidanceRule(id=str(number), text=text, **({"repo_scopes": scopes[number]} if scopes else {}))  # type: ignore[arg-type]
        for number, text in enumerate(texts)
    ]
    found, complete = relate(rules)
    assert complete
    return [(one.kind, one.left, one.right) for one in found]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Commits must be squashed before merging", "Commits must not be squashed before merging"),
        ("Always use tabs for indentation", "Never use tabs for indentation"),
        ("Do not run `npm test`; CI does it", "Always run `npm test` before pushing"),
        ("You may commit generated files", "Never commit generated files"),
    ],
)
def test_contradictions(left: str, right: str) -> None:
    assert related(left, right) == [("contradiction", "0", "1")]
    assert related(right, left) == [("contradiction", "0", "1")]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Never use TLS 1.0", "Always use TLS 1.3"),
        ("Never push to main", "Always run the tests"),
        ("Never log tokens", "Never print secrets"),
        ("Never", "Always"),
        ("Must", "Must not"),
    ],
)
def test_rules_that_live_together(left: str, right: str) -> None:
    assert related(left, right, "Sort the tables of prices") == []


def test_rules_that_never_meet_do_not_contradict() -> None:
    texts = ("Always use tabs for indentation", "Never use tabs for indentation")
    assert related(*texts, scopes=(("src/**",), ("web/**",))) == []
    assert related(*texts, scopes=(("src/**",), ("**/*.ts",))) != []


def test_duplicates_and_near_duplicates() -> None:
    assert related("Always sign release tags!", "always sign release tags") == [("duplicate", "0", "1")]
    assert related("Always sign release tags with the team key", "Sign the release tags with the team key") == [
        ("near-duplicate", "0", "1")
    ]
    assert related("Never open port 9000", "Never open port 9001") == []
    assert related("Always sign the tags of releases", "Never sign the tags of releases")[0][0] == "contradiction"


def test_no_rules_and_one_rule_are_related_to_nothing() -> None:
    assert related() == []
    assert related("Never push") == []


def test_a_search_that_is_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conflicts, "_LEAST_WORK", 0)
    monkeypatch.setattr(conflicts, "_WORK_PER_RULE", 0)
    rules = [GuidanceRule(id=str(n), text=f"Never open the {n} door of house {n}") for n in range(5)]
    assert relate(rules)[1] is False
