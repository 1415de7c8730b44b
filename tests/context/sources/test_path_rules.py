"""Path rules: real globs, and one bad rule never breaks the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tipstaff.context.sources.path_rules import PathRules, format_rules

FILES = {
    "tests.md": "---\npaths:\n  - \"*.spec.py\"\n  - '**/test_*.py'\n---\n# Tests\n\nbody line\n",
    "api.md": "---\npaths: [\"src/api/**\", 'lib/*.rs']\n---\napi body",
    "nofm.md": "# no front matter\n\n---\npaths: x\n---\n",
    "empty.md": "---\npaths:\n---\nx",
    "brace.md": '---\ndescription: d\npaths:\n- "**/*.{js,ts}"\n- src/[abc]?.c\n---\nbraces',
    "inline.md": '---\npaths: ["x/*.{a,b}"]\n---\nbc',
    "scalar.md": "---\npaths: src/**/*.go\n---\nscalar",
    "unquoted.md": "---\npaths: **/*.zig, a/**\n---\nunquoted",
    "crlf.md": '---\r\npaths:\r\n  - "*.cfg"\r\n---\r\ncrlf body\r\n',
    "deep/er.md": "---\npaths: deep/**\n---\ndeep body",
    "readme.txt": "---\npaths:\n - '**'\n---\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / ".tipstaff" / "rules" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return tmp_path


def names(rules: PathRules, *paths: str) -> list[str]:
    return [match.rule.name for match in rules.match(paths)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("x.spec.py", ["tests"]),
        ("dir/x.spec.py", []),
        ("test_a.py", ["tests"]),
        ("pkg/deep/test_a.py", ["tests"]),
        (".hidden/test_b.py", ["tests"]),
        ("src/api/v1/users.py", ["api"]),
        ("lib/a.rs", ["api"]),
        ("lib/x/a.rs", []),
        ("index.js", ["brace"]),
        ("web/app.ts", ["brace"]),
        ("web/app.tsx", []),
        ("src/bz.c", ["brace"]),
        ("src/dd.c", []),
        ("x/q.b", ["inline"]),
        ("src/main.go", ["scalar"]),
        ("src/x/main.go", ["scalar"]),
        ("z.zig", ["unquoted"]),
        ("app.cfg", ["crlf"]),
        ("etc/app.cfg", []),
        ("deep/x", ["deep/er"]),
        ("X.SPEC.PY", []),
        ("", []),
        ("  ", []),
    ],
)
def test_d20_globs_are_real_globs(project: Path, path: str, expected: list[str]) -> None:
    rules = PathRules(project)
    assert names(rules, path) == expected
    assert rules.problems == ()


@pytest.mark.parametrize("bad", ["[z-a]", "{" * 20 + "}" * 20, "a{1..9999}", "{unclosed"])
def test_d20_a_glob_that_cannot_be_used_breaks_nothing(project: Path, bad: str) -> None:
    (project / ".tipstaff/rules/bad.md").write_text(f"---\npaths:\n  - '{bad}'\n  - good/**\n---\nx", encoding="utf-8")
    rules = PathRules(project)
    assert names(rules, "good/a.py", "test_a.py") == ["bad", "tests"]
    assert [problem.path for problem in rules.problems] == [".tipstaff/rules/bad.md"]
    assert "cannot be used" in rules.problems[0].message


@pytest.mark.parametrize(
    "content",
    [
        b"---\npaths: [\n---\nx",
        b'---\n- "unterminated\n---\nq',
        b"---\npaths:\n  a: 1\n---\n",
        b"---\npaths: \xff\n---\n",
    ],
)
def test_d20_a_file_that_cannot_be_read_breaks_nothing(project: Path, content: bytes) -> None:
    (project / ".tipstaff/rules/bad.md").write_bytes(content)
    rules = PathRules(project)
    assert names(rules, "test_a.py") == ["tests"]
    assert [problem.path for problem in rules.problems] == [".tipstaff/rules/bad.md"]


def test_d20_the_order_does_not_depend_on_the_folder(project: Path) -> None:
    loaded = [rule.name for rule in PathRules(project).load()]
    assert loaded == sorted(loaded)


def test_d20_files_are_read_again_only_when_they_change(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = PathRules(project)
    for path in project.rglob("*.md"):
        os.utime(path, ns=(1_000_000_000, 1_000_000_000))
    monkeypatch.setattr("tipstaff.context.sources.watched.RACY_NS", -(10**18))
    first = rules.load()
    read: list[Path] = []
    plain = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or plain(path))
    assert rules.load() == first
    assert read == []
    changed = project / ".tipstaff/rules/api.md"
    changed.write_text("---\npaths: other/**\n---\nnew body", encoding="utf-8")
    assert names(rules, "other/x", "src/api/a") == ["api"]
    assert read == [changed]


def test_rules_of_both_folders_count_and_absolute_paths_too(project: Path) -> None:
    other = project / ".claude" / "rules" / "claude.md"
    other.parent.mkdir(parents=True)
    other.write_text("---\npaths: src/**\n---\nfrom claude", encoding="utf-8")
    found = PathRules(project).match([str(project / "src/api/a.py"), "./src/api/a.py"])
    assert [(match.rule.path, match.files) for match in found] == [
        (".tipstaff/rules/api.md", ("src/api/a.py",)),
        (".claude/rules/claude.md", ("src/api/a.py",)),
    ]


def test_the_section_names_rules_and_their_globs(project: Path) -> None:
    matches = PathRules(project).match(["src/api/a.py", "lib/b.rs", "test_x.py"])
    assert format_rules(matches) == (
        "\n\n# Path-Based Rules\n\nThese rules apply to the files of this request.\n"
        "\n## api\n\nApplies to: src/api/**, lib/*.rs\n\napi body\n"
        "\n## tests\n\nApplies to: *.spec.py, **/test_*.py\n\n# Tests\n\nbody line\n"
    )
    assert format_rules(()) == ""


def test_a_project_without_rules_has_none(tmp_path: Path) -> None:
    assert PathRules(tmp_path).match(["a.py"]) == ()
