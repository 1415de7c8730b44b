from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.guidance.reading.documents import document_from_text
from tipstaff.guidance.reading.imports import imports_of, may_import
from tipstaff.guidance.reading.sources import read_repository


def found(text: str) -> list[tuple[str, int, bool]]:
    return [tuple(one) for one in imports_of(document_from_text(text, "CLAUDE.md", source="root"))]


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("See @docs/a.md.", ["docs/a.md"]), ("@./a.md and @../b.md", ["./a.md", "../b.md"]), ("(@~/.claude/x.md)", ["~/.claude/x.md"]),
        ("mail a@b.md", []), ("`@a.md`", []), ("``@a.md ` @b.md``", []), ("` @a.md", ["a.md"]), ("```\n@a.md\n```", []),
        ("| a | b |\n|---|---|\n| @a.md | @b.md |", ["a.md", "b.md"]), ("@@a.md", []),
    ],
)  # fmt: skip
def test_what_is_named_outside_of_code(text: str, targets: list[str]) -> None:
    assert [target for target, _, _ in found(text)] == targets


def test_lines_and_sections_are_known() -> None:
    text = "@a.md\n\n## Security\n- one\n  @b.md\n  @c.md\n\n### Keys\n@d.md\n\n## Notes\n@e.md\n"
    assert found(text) == [
        ("a.md", 1, False), ("b.md", 5, True), ("c.md", 6, True), ("d.md", 9, True), ("e.md", 12, False),
    ]  # fmt: skip


@given(st.text(alphabet="@./~\\ab-`\n#é ", max_size=60))
def test_imports_are_words_of_their_lines(text: str) -> None:
    lines = text.split("\n")
    for target, line, _ in found(text):
        assert may_import(text)
        assert f"@{target}" in lines[line - 1]


def test_names_with_marks_and_blanks(tmp_path: Path) -> None:
    names = ["style(v2).md", "a+b.md", "x[1].md", "my file.md", "it's.md", "r&d.md", "plain.md", "literal.md"]
    (tmp_path / "docs").mkdir()
    for name in names:
        (tmp_path / "docs" / name).write_text(f"- Use {name}\n")
    (tmp_path / "CLAUDE.md").write_text(
        "- Read @docs/style(v2).md, @docs/a+b.md and @docs/x[1].md (see @docs/plain.md).\n"
        "- @docs/my\\ file.md @docs/it's.md @docs/r&d.md \\@docs/literal.md\n"
    )
    repository = read_repository(tmp_path)
    assert {one.path for one in repository.documents} == {"CLAUDE.md", *(f"docs/{name}" for name in names[:-1])}
    assert repository.diagnostics == ()
