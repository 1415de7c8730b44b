from __future__ import annotations

import pytest

from tipstaff.guidance.compiling.identity import content_id
from tipstaff.guidance.compiling.rule_maker import CONSTITUTION_BOOST, RuleMaker
from tipstaff.guidance.extraction.annotations import parse_annotations
from tipstaff.guidance.extraction.candidate import Candidate
from tipstaff.guidance.reading.documents import Document, document_from_text
from tipstaff.guidance.wording.vocabulary import class_mask
from tipstaff.model import GuidanceRule


def made(document: Document, raw: str, *, rule_id: str | None = None, law: bool = False) -> GuidanceRule:
    notes = parse_annotations(raw)
    candidate = Candidate(notes.text, rule_id, notes, 2, 2 + len(raw), [(0, 1)], "Heading", law)
    maker = RuleMaker(document, risk_class="low", priority=40)
    return maker.rule(candidate, class_mask(notes.text.lower().split()), notes.text.lower().encode())


def test_what_is_not_written_is_inferred_or_a_default() -> None:
    raw = "never log tokens\nafter a release"
    rule = made(document_from_text(f"- {raw}\n", "root"), raw)
    assert rule.id == content_id("never log tokens after a release")
    assert (rule.risk_class, rule.priority, rule.tool_classes) == ("low", 40, ("all",))
    assert (rule.intents, rule.domains) == (("security", "deployment"), ("security",))
    assert (rule.line, rule.end_line, rule.span, rule.context_spans) == (1, 2, (2, 34), ((0, 1),))
    assert (rule.heading, rule.repo_scopes, rule.verifier) == ("Heading", ("**/*",), None)


def test_what_is_written_binds() -> None:
    raw = "keep it tidy (high) #testing [bash] verify:lint priority:7 scope:src/**"
    rule = made(document_from_text(f"- {raw}\n", "root"), raw, rule_id="TID-001", law=True)
    assert (rule.id, rule.risk_class, rule.tool_classes) == ("TID-001", "high", ("bash",))
    assert (rule.intents, rule.domains) == (("testing",), ("testing",))  # a tag speaks for the other kind too
    assert (rule.priority, rule.verifier, rule.repo_scopes) == (7 + CONSTITUTION_BOOST, "lint", ("src/**",))


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("src/**", "web/src/**"),
        ("web/src/**", "web/src/**"),
        ("!gen/**", "!web/gen/**"),
        ("./a", "web/a"),
        ("/a", "/a"),
        ("**/*", "**/*"),
    ],
)
def test_scopes_of_a_nested_file_are_read_from_its_folder(scope: str, expected: str) -> None:
    text = f"- never touch it scope:{scope}\n"
    root = document_from_text(text, "web/CLAUDE.md")
    nested = Document(
        path=root.path, text=text, parsed=root.parsed, size_bytes=len(text), host="claude", folder="web", depth=1
    )
    assert made(nested, text[2:-1]).repo_scopes == (expected,)
