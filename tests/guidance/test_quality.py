from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.guidance.quality import MAX_RULE_CHARS, is_long, is_vague

VAGUE = [
    "Write clean code",
    "Write clean code.",
    "**Write clean code**",
    "Follow best practices",
    "Always follow industry best practices and standards.",
    "Be careful",
    "Be careful with changes.",
    "Make it good",
    "Keep it simple",
    "You MUST always write high-quality code.",
    "ALWAYS write clean, readable and maintainable code!",
    "Use common sense and good judgement",
    "Handle errors gracefully",
    "Implement proper validation",
    "Use appropriate variable names",
    "Write good tests",
    "Ensure proper error handling where necessary",
    "Write clean Python code",
    "Avoid over-engineering",
    "Don't overcomplicate things",
]

CHECKABLE = [
    "",
    "!!!",
    "Write clean code: at most 40 lines per function",
    "Run `make lint` before every commit",
    "Keep functions small",
    "Prefer composition over inheritance",
    "Prefer simple solutions over clever caching",
    "Follow the conventions in docs/style.md",
    "Follow PEP 8",
    "Every change must have tests",
    "Never force push",
    "Use CSS variables for dynamic theming",
    "Always sign release tags",
    "Follow existing patterns",
    "Be careful with the --force flag",
    "Be careful when you rename migrations",
    "Write good commit messages",
    "Handle errors with Result",
    "Handle CORS appropriately",
    "Use proper TypeScript types",
    "No secrets in code",
    "Two approvals per pull request",
    "Do not use any",
    "Schreibe sauberen Code",
    "コードをきれいに書く",
    "Use consistent naming",
]


@pytest.mark.parametrize("text", VAGUE)
def test_names_nothing_to_check(text: str) -> None:
    assert is_vague(text)


@pytest.mark.parametrize("text", CHECKABLE)
def test_names_something_to_check(text: str) -> None:
    assert not is_vague(text)


@pytest.mark.parametrize("text", VAGUE)
@pytest.mark.parametrize("detail", ["`make lint`", "within 30 lines", "in src/api", "like TokenStore", "for invoices"])
def test_one_checkable_detail_is_enough(text: str, detail: str) -> None:
    assert not is_vague(f"{text.strip('*.!')} {detail}")


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    assert isinstance(is_vague(text), bool)


def test_long_rules() -> None:
    assert not is_long("x" * MAX_RULE_CHARS)
    assert is_long("x" * (MAX_RULE_CHARS + 1))
