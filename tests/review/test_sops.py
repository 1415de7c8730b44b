"""SOPs: documents, ids, severities, folders with broken files, lint, and matching."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.review.repositories import commit, make
from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.review import match_sops
from tipstaff.review.assembly.reviewer import change_sops
from tipstaff.review.config import read_config
from tipstaff.review.repository import changed_files
from tipstaff.review.sops.documents import SopError, parse_sop, severity_of, sop_id
from tipstaff.review.sops.folder import read_sops
from tipstaff.review.sops.linting import CODES, lint_sops

SEED = """---
category: sop
applies_to: "*.go"
severity: error
---

# Error Handling

All errors must include context about what operation failed.

## Requirements
1. Wrap errors with `fmt.Errorf("operation: %w", err)`
2. Include relevant identifiers

## Notes
- not a requirement
"""


def test_the_specification_s_example() -> None:
    sop = parse_sop(SEED, ".semspec/sources/docs/sops/error-handling.md", ".semspec/sources/docs/sops")
    assert (sop.id, sop.title, sop.severity, sop.scope, sop.category) == (
        "source.doc.sops.error-handling",
        "Error Handling",
        "error",
        "code",
        "sop",
    )
    assert sop.applies_to == ("*.go",)
    assert sop.summary == "All errors must include context about what operation failed."
    assert sop.requirements == ('Wrap errors with `fmt.Errorf("operation: %w", err)`', "Include relevant identifiers")
    assert "## Notes" in sop.rendered()


@pytest.mark.parametrize(
    ("front", "globs"),
    [
        ("applies_to: *.go", ("*.go",)),
        ("applies_to: **/*.go", ("**/*.go",)),
        ("applies_to: ['*.go', 'a/b']", ("*.go", "a/b")),
        ("applies_to:\n  - *.go\n  - api/**", ("*.go", "api/**")),
        ("severity: info", ()),
    ],
)
def test_globs_as_people_write_them(front: str, globs: tuple[str, ...]) -> None:
    assert parse_sop(f"---\n{front}\n---\n# X\n", "x.md").applies_to == globs


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("You MUST.", "error"),
        ("It SHALL, or MAY.", "error"),
        ("You SHOULD; it must be", "warning"),
        ("you must", "error"),
        ("consider it", "info"),
        ("plain words", "info"),
        ("mustard", "info"),
    ],
)
def test_severity_from_words(body: str, severity: str) -> None:
    assert severity_of(body) == severity
    assert parse_sop(body, "x.md").severity == severity


def test_words_in_code_decide_nothing() -> None:
    assert severity_of("Text.\n\n```\nyou MUST\n```\n`must` and you may.\n") == "info"
    assert severity_of("~~~\nMUST\n~~~\nYou should.\n") == "warning"


@pytest.mark.parametrize(
    "text",
    [
        "\n\n---\napplies_to: '*.go'\n---\n# X\n",
        "<!-- kept by\nus -->\n---\napplies_to: '*.go'\n---\n# X\n",
        "+++\napplies_to = '*.go'\n+++\n# X\n",
    ],
)
def test_front_matter_as_it_is_written(text: str) -> None:
    assert parse_sop(text, "x.md").applies_to == ("*.go",)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("---\napplies_to: '*.{ts,tsx'\n---\n", 2, "unclosed"),
        ("---\nseverity: info\nseverity: error\n---\n", 3, "occurs twice"),
        ("\n---\nseverity: info\nseverity: error\n---\n", 4, "occurs twice"),
        ("+++\nseverity = \n+++\n", 1, "not valid TOML"),
        ("\n+++\nseverity = 'info'\n", 2, "not closed"),
    ],
)
def test_front_matter_that_would_be_misread_is_refused(text: str, line: int, words: str) -> None:
    with pytest.raises(SopError, match=words) as caught:
        parse_sop(text, "x.md")
    assert caught.value.diagnostics[0].line == line


def test_a_change_does_not_free_itself_from_its_sops(tmp_path: Path) -> None:
    strict = "---\napplies_to: '*.py'\nseverity: error\n---\n# S\nYou must.\n"
    folder = make(tmp_path, {"a.py": "x = 1\n", ".tipstaff/sops/s.md": strict, "docs/own/t.md": strict})
    commit(folder)
    config = folder / ".tipstaff/config.toml"

    def expected() -> dict[str, str]:
        sops = change_sops(folder, changed_files(folder), None, read_config(folder).review)
        return {sop.id: sop.severity for sop in sops.applicable(["a.py"])}

    before = expected()
    assert before == {"source.doc.sops.s": "error"}
    for text in (strict.replace("error", "info"), strict.replace("error", "errorr"), strict.replace("*.py", "*.go")):
        (folder / ".tipstaff/sops/s.md").write_text(text, encoding="utf-8")
        assert expected() == before
    (folder / ".tipstaff/sops/s.md").unlink()
    assert expected() == before
    config.write_text('[review]\nsops = ["docs/own"]\n', encoding="utf-8")
    assert expected() == {"source.doc.sops.s": "error", "source.doc.sops.t": "error"}
    commit(folder)
    config.write_text("[review]\nsops = []\n", encoding="utf-8")
    assert expected() == {"source.doc.sops.t": "error"}


@given(st.text(max_size=40), st.text(max_size=40))
def test_an_id_comes_from_the_path_alone(name: str, body: str) -> None:
    path = f"sops/{name}.md"
    first = sop_id(path, "sops")
    assert first == sop_id(path, "sops")
    assert set(first) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    try:
        assert parse_sop(body, path, "sops").id == first
    except SopError:
        assert body.lstrip("\ufeff").startswith("---")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("---\nseverity: eror\n---\n", 2, "severity is 'eror'"),
        ("---\ncategory: sop\naplies_to: x\n---\n", 3, "unknown key 'aplies_to'"),
        ("---\nseverity: [\n---\n", 3, "not valid YAML"),
        ("---\n- a\n---\n", 2, "not a mapping"),
        ("---\nseverity: error\n", 1, "not closed"),
        ("---\napplies_to: 5\n---\n", 2, "applies_to"),
        ("---\napplies_to: 'a['\n---\n", 2, "cannot be used"),
        ("---\nrequirements: 5\n---\n", 2, "requirements must be a list"),
        ("---\nscope: everywhere\n---\n", 2, "scope is"),
    ],
)
def test_what_cannot_be_meant_is_an_error_with_file_and_line(text: str, line: int, words: str) -> None:
    with pytest.raises(SopError, match=r"^sops/x\.md:\d+: ") as caught:
        parse_sop(text, "sops/x.md")
    first = caught.value.diagnostics[0]
    assert (first.line, first.source) == (line, "sops/x.md")
    assert words in first.message


def test_one_broken_file_is_reported_and_the_rest_is_matched(tmp_path: Path) -> None:
    folder = make(
        tmp_path,
        {
            ".tipstaff/sops/errors.md": SEED,
            ".tipstaff/sops/deep/er/all.md": "# Everything\nYou should.\n",
            ".tipstaff/sops/broken.md": "---\nseverity: [\n---\n",
            ".tipstaff/sops/spec.md": "---\ncategory: spec\napplies_to: '*.go'\n---\n# Wire\n",
            ".tipstaff/sops/readme.txt": "not an SOP",
        },
    )
    (folder / ".tipstaff/sops/latin.md").write_bytes(b"# x\n\xe9\n")
    (folder / ".tipstaff/sops/outside.md").symlink_to("/etc/hosts")
    found = read_sops(folder)
    assert [sop.id for sop in found.applicable(["a/b.go"])] == [
        "source.doc.sops.deep.er.all",
        "source.doc.sops.errors",
    ]
    assert {(one.source.rpartition("/")[2], one.code, one.line) for one in found.diagnostics} == {
        ("broken.md", "SOP102", 3),
        ("latin.md", "SOP109", 2),
        ("outside.md", "SOP109", 0),
    }
    with pytest.raises(ConfigError, match="inside the repository"):
        read_sops(folder, ["../x"])
    with pytest.raises(SourceNotFoundError):
        read_sops(folder, ["nowhere"])


def test_lint_finds_each_code(tmp_path: Path) -> None:
    big = "You must. " * 900
    folder = make(
        tmp_path,
        {
            "a.go": "package a\n",
            ".tipstaff/sops/a.md": "---\nseverity: error\n",
            ".tipstaff/sops/b.md": "---\nx: [\n---\n",
            ".tipstaff/sops/c.md": "---\nowner: me\napplies_to: '*.zig'\n---\n",
            ".tipstaff/sops/d.md": "---\nseverity: bad\n---\nx\n",
            ".tipstaff/sops/e.md": "---\napplies_to: 'x['\n---\nx\n",
            ".tipstaff/sops/f.md": "---\nkeywords: 5\n---\nx\n",
            ".tipstaff/sops/G h.md": "x\n",
            ".tipstaff/sops/g-h.md": "x\n",
            ".tipstaff/sops/huge.md": "# H\n" + big * 2,
            ".tipstaff/sops/large1.md": "---\napplies_to: '*.go'\n---\n# L\n" + big,
            ".tipstaff/sops/large2.md": "---\napplies_to: '*.go'\n---\n# L\n" + big,
        },
    )
    (folder / ".tipstaff/sops/latin.md").write_bytes(b"\xe9")
    assert {one.code for one in lint_sops(folder)} == set(CODES)


sop_strategy = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["a", "b", "c", "d.chunk.1", "e"]),
        "severity": st.sampled_from(["error", "warning", "info"]),
    },
    optional={
        "applies_to": st.sampled_from(["*.py", "**", "a/**", ["*.go", "b/"], [], None]),
        "category": st.sampled_from(["sop", "spec"]),
        "scope": st.sampled_from(["plan", "code", "all"]),
    },
)


@given(
    sops=st.lists(sop_strategy, max_size=6),
    files=st.lists(st.sampled_from(["a/x.py", "b/y.go", "z.rs"]), max_size=3),
    severity=st.sampled_from(["error", "warning", "info"]),
)
def test_severity_never_changes_what_applies(sops: list[dict[str, object]], files: list[str], severity: str) -> None:
    found = match_sops(sops, files)
    assert found == match_sops([{**sop, "severity": severity} for sop in sops], files)
    assert list(found) == sorted(set(found))
    assert set(match_sops(sops, files, scope="code")) <= set(found)


def test_sops_that_cannot_be_meant() -> None:
    with pytest.raises(ConfigError, match="scope"):
        match_sops([], [], scope="nowhere")
    with pytest.raises(ConfigError, match="no id"):
        match_sops([{"applies_to": "*"}], [])
    with pytest.raises(ConfigError, match="applies_to"):
        match_sops([{"id": "a", "applies_to": 5}], ["x"])
