from __future__ import annotations

import pytest

from tipstaff.guidance.compiling.statements import (
    CONFLICT,
    CONTRADICTION,
    POSSIBLE,
    excludes,
    opposition,
    statement,
    statement_text,
)
from tipstaff.model import GuidanceRule


def rule(text: str, labels: str = "", *headings: str) -> GuidanceRule:
    return GuidanceRule(id="R", text=labels + text, own_start=len(labels), headings=headings)


def kind(one: GuidanceRule, other: GuidanceRule) -> str | None:
    found, turned = opposition(statement(one), statement(other)), opposition(statement(other), statement(one))
    assert found == turned
    return None if found is None else found[0]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (rule("Run the full test suite before committing"), rule("Do not run the full test suite"), CONTRADICTION),
        (rule("Always run `make lint` before you push"), rule("Never run `make lint`"), CONTRADICTION),
        (rule("Use `require()` for imports", "Do not: "), rule("Use `require()` for imports"), CONTRADICTION),
        (rule("You may commit generated files"), rule("Never commit generated files"), CONTRADICTION),
        (rule("Never disable TLS"), rule("Disable TLS when testing"), CONFLICT),
        (rule("Never log tokens", "", "Security"), rule("Log tokens on failure", "", "Payments"), CONFLICT),
        (rule("Avoid default exports"), rule("Use default exports for pages"), POSSIBLE),
        (rule("Run the slow tests"), rule("Do not run the slow tests", "", "Apple silicon"), POSSIBLE),
        (rule("Run the slow tests", "", "Linux"), rule("Do not run the slow tests", "", "Windows"), None),
        (rule("Commit generated files"), rule("Never commit large generated files"), None),
        (rule("Run the tests"), rule("Do not run the tests before committing"), None),
        (rule("Preserve compatibility", "Agents must: "), rule("Reformat existing code", "Agents must not: "), None),
        (rule("Error handling", "Do test: "), rule("JavaScript operators", "Don't test: "), None),
        (rule("Pass `--no-build` to the script"), rule("Build the script"), None),
        (rule("**Limits**: Always check the limits", "Common pitfalls to avoid: "), rule("Check the limits"), None),
        (rule("Never use `any` type"), rule("Button type"), None),
        (rule("❌ Use default exports"), rule("✅ Use named exports"), None),
        (rule("👎 Indent with tabs"), rule("👍 Indent with spaces"), None),
        (rule("**Bad:** Import whole folders"), rule("Good: Import single files"), None),
        (rule("❌ Use default exports"), rule("Use default exports"), CONTRADICTION),
        (rule("❌ Compare with `a == b`"), rule("✅ Compare with `a === b`"), None),
        (rule("❌ Never use default exports"), rule("Use default exports"), CONTRADICTION),
    ],
    ids=lambda one: one.text[:30] if isinstance(one, GuidanceRule) else str(one),
)
def test_how_rules_oppose_each_other(one: GuidanceRule, other: GuidanceRule, expected: str | None) -> None:
    assert kind(one, other) == expected


def test_only_a_contradiction_excludes_unless_it_is_of_the_constitution() -> None:
    ban, case = statement(rule("Never disable TLS")), statement(rule("Disable TLS when testing"))
    assert not excludes(ban, case)
    assert excludes(ban, case, law=True)
    assert excludes(ban, statement(rule("Disable TLS")))


def test_labels_turn_words_round_and_code_is_one_word() -> None:
    assert statement_text(rule("slow networks", "Don't test: ")).split() == ["never", "test", "slow", "networks"]
    assert statement_text(rule("Pass `--no-build` or --no-verify")).split() == ["Pass", "nobuild", "or", "noverify"]
    assert "codeany" in statement_text(rule("Use `any`"))
    assert statement(rule("Log", "In tests: ", "Payments")).context == {"payment"}
