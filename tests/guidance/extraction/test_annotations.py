from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.guidance.extraction.annotations import parse_annotations
from tipstaff.model import DOMAINS, INTENTS, RISK_CLASSES, TOOL_CLASSES


def test_every_annotation_is_read_and_removed() -> None:
    notes = parse_annotations(
        "Never log tokens (critical) [bash, edit] #security #testing @security scope:src/{api,web}/**,tests/** "
        "verify:secret-scan priority:90 from:2026-12-01 until:2027-01-15"
    )
    assert notes.text == "Never log tokens"
    assert notes.risk_class == "critical"
    assert notes.tool_classes == ("bash", "edit")
    assert notes.intents == ("security", "testing")
    assert notes.domains == ("security",)
    assert notes.scopes == ("src/{api,web}/**", "tests/**")
    assert notes.verifiers == ("secret-scan",)
    assert notes.priority == 90
    assert (notes.active_from, notes.active_until) == ("2026-12-01", "2027-01-15")
    assert notes.problems == ()


@pytest.mark.parametrize("risk", RISK_CLASSES)
@pytest.mark.parametrize("form", ["({})", "risk:{}", "risk: {}", "({}-risk)", "(risk:{})", "({} risk)"])
def test_forms_of_risk(risk: str, form: str) -> None:
    for shape in (form, form.upper()):
        notes = parse_annotations(f"Keep it {shape.format(risk)}")
        assert (notes.text, notes.risk_class) == ("Keep it", risk)


@pytest.mark.parametrize(
    "text",
    [
        "Follow the naming guide and allow only signed information", "Always show the workflow below", "Use @testing-library/react",
        "Read [read](docs/guide.md)", "Keep #feature-flags off", "Write to ops@security.example.com", "See https://x.test/a#security now",
        "Use `(critical)` and `#security`", "Label it with #security", "Treat critical bugs first", "Ask in #testing about it",
        "Set `priority:5` there", "The (high) road is long", "See issue #123", "Use scope:: in C++", "Mention @security-team",
        "Use `verify:x`", "packages/@acme/ui stays",
    ],
)  # fmt: skip
def test_a_rule_s_words_are_never_cut_out_of_it(text: str) -> None:
    notes = parse_annotations(text)
    if text != "The (high) road is long":
        assert notes.text == text
        assert (notes.risk_class, notes.tool_classes, notes.intents, notes.domains, notes.scopes, notes.priority) == (
            None, (), (), (), (), None,
        )  # fmt: skip
    else:
        assert notes.text in {text, "The road is long"}


@pytest.mark.parametrize(
    ("text", "left", "codes"),
    [
        ("Lint priority: 90", "Lint", []),
        ("Lint priority:999999999999", "Lint", ["TS301"]),
        ("Lint priority:-1", "Lint", ["TS301"]),
        (f"Lint priority:{'9' * 3_000}", "Lint", ["TS301"]),
        ("Lint priority:high", "Lint priority:high", ["TS302"]),
        ("Lint risk:dire", "Lint risk:dire", ["TS302"]),
        ("Lint from:2026-13-01", "Lint from:2026-13-01", ["TS304"]),
        ("Lint until:soon", "Lint until:soon", []),
        ("Lint from:2026-02-01 until:2026-01-01", "Lint", ["TS304"]),
        ("Lint verify:a verify:b", "Lint", []),
    ],
)
def test_what_is_wrong_is_reported(text: str, left: str, codes: list[str]) -> None:
    notes = parse_annotations(text)
    assert [code for code, _ in notes.problems] == codes
    assert notes.text in {left, "Lint"}


def test_a_text_too_long_for_annotations_says_that_they_are_not_read() -> None:
    long = "Always " + "lint " * 1_000
    assert parse_annotations(long).problems == ()
    assert parse_annotations(f"{long} until: then").problems == ()
    notes = parse_annotations(f"{long} scope:src/** priority:90")
    assert (notes.scopes, notes.priority) == ((), None)
    assert notes.problems == (("TS302", "scope:src/** is not read: the rule has 5,032 characters, more than 4,000."),)


_WORDS = st.sampled_from(
    ["Never", "push", "(critical)", "[bash]", "#security", "@testing", "scope:a/**", "verify:x", "priority:7", "`#docs`", "to", "and", "risk:low",
     "from:2026-01-01", "(high)", "lint,", "it.", "\n", "`", "a:b", "#nope", "e.g.", "é"]
)  # fmt: skip
_PLAIN = {"Never", "push", "to", "and", "lint,", "it.", "`#docs`", "a:b", "#nope", "e.g.", "é"}


@given(st.lists(_WORDS, max_size=10))
def test_plain_words_stay_in_their_order(words: list[str]) -> None:
    text = " ".join(words)
    left = parse_annotations(text).text
    kept = [word.rstrip(",.") for word in words if word in _PLAIN]
    at = 0
    for word in kept:
        at = left.find(word, at)
        assert at >= 0, (word, left)
        at += len(word)


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    notes = parse_annotations(text)
    assert notes.risk_class is None or notes.risk_class in RISK_CLASSES
    assert set(notes.tool_classes) <= set(TOOL_CLASSES)
    assert set(notes.intents) <= set(INTENTS)
    assert set(notes.domains) <= set(DOMAINS)


@pytest.mark.parametrize(
    "piece", ["scope:a ", "(critical) ", "`", "priority:", "#security ", "[bash,", "verify:a.", "from:2026-", "` `` "]
)
def test_time_grows_with_the_text_and_not_faster(piece: str) -> None:
    def cost(count: int) -> float:
        text = "never " + piece * count
        start = time.process_time()
        parse_annotations(text)
        return time.process_time() - start

    cost(10)
    assert cost(16_000) < 40 * max(cost(2_000), 0.002)


@pytest.mark.parametrize(
    "text",
    ["Scope: END-OF-LINE positions count", "Risk: high availability must be kept", "Priority: 1 customers come first"],
)
def test_a_key_with_a_space_that_opens_a_sentence_is_prose(text: str) -> None:
    found = parse_annotations(text)
    assert (found.text, found.risk_class, found.priority, found.scopes) == (text, None, None, ())
