from __future__ import annotations

import time

import pytest

from tipstaff.guidance.reading.constitution_headings import is_constitution_heading, plain_heading


@pytest.mark.parametrize(
    "heading",
    [
        "Safety", "Security", "Invariants", "Constitution", "Critical", "Non-negotiable", "Non negotiables", "nonnegotiable",
        "Always", "Must", "Never", "Required", "Mandatory", "SECURITY", "Security & Privacy", "Security: keys", "1. Security",
        "2.1 Security", "3) Safety rails", "IV. Security", "A. Security", "🔒 Security", "**Security**", "`Security`", "_Safety_",
        "Project Security", "API security requirements", "Critical rules", "Mandatory checks", "Required checks",
        "Team safety rules", "🚨 CRITICAL", "Must do", "Security #", "— Security", "Never do this",
    ],
)  # fmt: skip
def test_markers_open_a_constitution_section(heading: str) -> None:
    assert is_constitution_heading(heading)


@pytest.mark.parametrize(
    "heading",
    [
        "", "Notes", "Mustache templates", "Securityless demo", "Always-on pager notes", "Requirements", "Requirement list", "Nevermore",
        "Criticality", "Type-safety", "Insecurity", "Musts", "How security works here", "The critical path", "Build", "#",
        "Safetynet", "Constitutionals", "Critical commands", "Required environment variables", "🔑 Critical Files",
    ],
)  # fmt: skip
def test_words_that_only_begin_like_a_marker_do_not(heading: str) -> None:
    assert not is_constitution_heading(heading)


def test_a_heading_is_read_without_its_marks() -> None:
    assert plain_heading("  **Bold** `code`  __x__ ##") == "Bold code x"


@pytest.mark.parametrize("piece", ["1.", "- ", "security ", "required-", "I. ", "é", "never x "])
def test_a_long_heading_takes_linear_time(piece: str) -> None:
    def cost(count: int) -> float:
        text = piece * count + "x"
        start = time.process_time()
        is_constitution_heading(text)
        return time.process_time() - start

    cost(10)
    assert cost(40_000) < 40 * max(cost(5_000), 0.001)
