from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.budgets import MAX_SOURCE_BYTES
from tipstaff.errors import SourceNotFoundError
from tipstaff.guidance.compiling.compiler import compile_documents
from tipstaff.guidance.reading.documents import Repository
from tipstaff.guidance.reading.sources import read_repository
from tipstaff.model import EVERYWHERE, Severity


def lay_out(root: Path, files: dict[str, str]) -> Repository:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return read_repository(root)


def codes(repository: Repository) -> list[tuple[str, str]]:
    return [(one.code, one.source) for one in repository.diagnostics]


def scopes(repository: Repository) -> dict[str, tuple[str, ...]]:
    return {one.path: one.scopes for one in repository.documents}


def test_every_host_s_files_are_found_in_the_order_of_their_reach(tmp_path: Path) -> None:
    names = (
        ".claude/CLAUDE.md", ".claude/rules/deep/er.md", "CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursor/rules/a.mdc", ".cursorrules",
        ".github/copilot-instructions.md", ".github/instructions/py.instructions.md", "api/AGENTS.md", "web/CLAUDE.md",
        "web/.cursor/rules/b.mdc", "api/v1/AGENTS.md", "CLAUDE.local.md",
    )  # fmt: skip
    ignored = (
        "README.md",
        ".claude/agents/x.md",
        ".github/x.md",
        "node_modules/a/CLAUDE.md",
        ".git/CLAUDE.md",
        ".claude/worktrees/w/CLAUDE.md",
    )
    repository = lay_out(tmp_path, {name: f"- {name}\n" for name in (*names, *ignored)})
    assert [one.path for one in repository.documents] == list(names)
    assert [one.host for one in repository.documents] == [
        "claude", "claude", "claude", "agents", "gemini", "cursor", "cursor", "copilot", "copilot", "agents", "claude", "cursor", "agents",
        "claude",
    ]  # fmt: skip
    assert [one.depth for one in repository.documents] == [0] * 9 + [1, 1, 1, 2, 0]
    assert repository.documents[-1].source == "local"
    assert repository.diagnostics == ()


def test_scopes_of_files(tmp_path: Path) -> None:
    found = scopes(
        lay_out(
            tmp_path,
            {
                "CLAUDE.md": "- a\n",
                "web/AGENTS.md": "- b\n",
                ".claude/rules/c.md": "---\npaths: *.md, src/**, !src/x\n---\n- c\n",
                ".cursor/rules/d.mdc": "---\nglobs: *.ts\nalwaysApply: false\n---\n- d\n",
                ".cursor/rules/e.mdc": "---\nglobs: *.ts\nalwaysApply: true\n---\n- e\n",
                ".github/instructions/f.instructions.md": "---\napplyTo: '**'\n---\n- f\n",
                "web/.claude/rules/g.md": '---\npaths: ["*.md", "!x", "./y/**"]\n---\n- g\n',
                "web/.cursor/rules/h.mdc": "---\nglobs: *.ts,!x,!*.d.ts,src/*.js,**,a/,/b\n---\n- h\n",
                "web/.cursor/rules/i.mdc": "- i\n",
            },
        )
    )
    assert found == {
        "CLAUDE.md": (EVERYWHERE,),
        "web/AGENTS.md": ("web/**",),
        ".claude/rules/c.md": ("/*.md", "src/**", "!src/x"),
        ".cursor/rules/d.mdc": ("*.ts",),
        ".cursor/rules/e.mdc": (EVERYWHERE,),
        ".github/instructions/f.instructions.md": (EVERYWHERE,),
        "web/.claude/rules/g.md": ("web/*.md", "!web/x", "web/y/**"),
        "web/.cursor/rules/h.mdc": (
            "web/**/*.ts",
            "!web/**/x",
            "!web/**/*.d.ts",
            "web/src/*.js",
            "web/**",
            "web/a/",
            "web/b",
        ),
        "web/.cursor/rules/i.mdc": ("web/**",),
    }


def test_imports_are_read_at_their_positions(tmp_path: Path) -> None:
    repository = lay_out(
        tmp_path,
        {
            "CLAUDE.md": "Read @docs/a.md and `@docs/code.md`.\n\n```\n@docs/code.md\n```\n\n## Security\n- See @./docs/b.md.\n\n@someone, see a@b.md",
            "docs/a.md": "- a\n\n@c.md\n",
            "docs/b.md": "- b\n\n### Sub\n@d.txt\n",
            "docs/c.md": "- c\n",
            "docs/d.txt": "- d\n",
            "docs/code.md": "- code\n",
            "b.md": "- not imported\n",
        },
    )
    assert [(one.path, one.imported_by, one.in_constitution) for one in repository.documents] == [
        ("CLAUDE.md", None, False),
        ("docs/a.md", "CLAUDE.md", False),
        ("docs/c.md", "docs/a.md", False),
        ("docs/b.md", "CLAUDE.md", True),
        ("docs/d.txt", "docs/b.md", True),
    ]
    assert repository.diagnostics == ()
    bundle = compile_documents(repository.documents)
    assert {rule.text: rule.is_constitution for rule in bundle.rules()} | {} == {
        "a": False, "c": False, "See @./docs/b.md.": True, "b": True, "d": True,
    }  # fmt: skip


def test_imports_reach_five_files_deep(tmp_path: Path) -> None:
    files = {"CLAUDE.md": "@1.md\n", **{f"{n}.md": f"- rule {n}\n\n@{n + 1}.md\n" for n in range(1, 8)}}
    repository = lay_out(tmp_path, files)
    assert [one.path for one in repository.documents] == ["CLAUDE.md", *(f"{n}.md" for n in range(1, 6))]
    assert codes(repository) == [("TS105", "5.md")]


def test_cycles_missing_and_outside_imports_are_reported(tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("- out\n")
    root = tmp_path / "repo"
    repository = lay_out(
        root,
        {
            "CLAUDE.md": "@a.md\n@gone.md\n@./also-gone\n@../outside.md\n@~/mine.md\n@/etc/rules.md\n@types/node\n@"
            + "x" * 300
            + ".md\n",
            "a.md": "- a\n\n@b.md @a.md\n",
            "b.md": "- b\n\n@CLAUDE.md\n",
        },
    )
    reported = [(one.code, one.source, one.line) for one in repository.diagnostics]
    assert reported == [
        ("TS104", "b.md", 3),
        ("TS104", "a.md", 3),
        ("TS103", "CLAUDE.md", 2),
        ("TS103", "CLAUDE.md", 3),
        ("TS110", "CLAUDE.md", 4),
        ("TS110", "CLAUDE.md", 5),
        ("TS110", "CLAUDE.md", 6),
        ("TS103", "CLAUDE.md", 8),
    ]
    assert "CLAUDE.md -> a.md -> b.md -> CLAUDE.md" in repository.diagnostics[0].message
    assert repository.awaited[:2] == ("gone.md", "also-gone")


def test_a_link_is_read_once_and_noted(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("- Always lint\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    (tmp_path / "GEMINI.md").hardlink_to(tmp_path / "AGENTS.md")
    repository = read_repository(tmp_path)
    assert [one.path for one in repository.documents] == ["AGENTS.md"]
    assert repository.aliases == (("CLAUDE.md", "AGENTS.md"), ("GEMINI.md", "AGENTS.md"))
    assert repository.also_loaded == (("agents", "AGENTS.md"), ("gemini", "AGENTS.md"))
    assert repository.diagnostics == ()
    assert set(repository.files) == {"CLAUDE.md", "AGENTS.md", "GEMINI.md"}


def test_a_copy_is_one_finding(tmp_path: Path) -> None:
    text = "- Always lint\n- Never push\n"
    repository = lay_out(
        tmp_path,
        {
            "CLAUDE.md": text,
            "AGENTS.md": text,
            "web/AGENTS.md": text,
            "a/GEMINI.md": "- Own\n",
            "b/GEMINI.md": "- Own\n",
        },
    )
    assert codes(repository) == [("TS501", "AGENTS.md"), ("TS501", "web/AGENTS.md")]
    assert [one.copy_of for one in repository.documents] == [None, "CLAUDE.md", None, None, None]
    assert repository.diagnostics[0].span == (0, len(text))
    assert repository.aliases == (("AGENTS.md", "CLAUDE.md"),)
    # Each host loads its own copy.
    assert {one.severity for one in repository.diagnostics} == {Severity.INFO}
    bundle = compile_documents(repository.documents, diagnostics=repository.diagnostics)
    # Each folder's files speak for that folder, in the same words or not.
    own = ["CLAUDE.md", "CLAUDE.md", "a/GEMINI.md", "b/GEMINI.md", "web/AGENTS.md", "web/AGENTS.md"]
    assert sorted(rule.path for rule in bundle.rules()) == own


def test_an_imported_file_is_not_read_a_second_time(tmp_path: Path) -> None:
    repository = lay_out(tmp_path, {"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": "- Always lint\n"})
    assert [(one.path, one.imported_by) for one in repository.documents] == [
        ("CLAUDE.md", None),
        ("AGENTS.md", "CLAUDE.md"),
    ]
    assert repository.diagnostics == ()
    assert repository.aliases == ()


def test_what_is_not_a_file_is_reported(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "CLAUDE.md")
    (tmp_path / "AGENTS.md").mkdir()
    (tmp_path / "GEMINI.md").symlink_to("nowhere")
    (tmp_path / ".cursorrules").symlink_to(".")
    repository = read_repository(tmp_path)
    assert sorted(codes(repository)) == [
        (("TS111"), name) for name in (".cursorrules", "AGENTS.md", "CLAUDE.md", "GEMINI.md")
    ]
    assert repository.documents == ()


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"- ok\n- caf\xe9\n", "TS101", 2),
        (b"\xff\xfe-\x00", "TS101", 1),
        (b"", "TS109", 1),
        (b"\xef\xbb\xbf \r\n", "TS109", 1),
        (b"---\nglobs: [a\n---\n- Never push\n", "TS106", 1),
        (b"---\npaths: [7]\n---\n- x\n", "TS107", 1),
    ],
)
def test_bad_bytes_are_reported(tmp_path: Path, data: bytes, code: str, line: int) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(data)
    (found,) = read_repository(tmp_path).diagnostics
    assert (found.code, found.line) == (code, line)


def test_the_words_of_front_matter_that_cannot_be_read_are_not_lost(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("---\nnote: [x\n- Never push\n---\n- Always lint\n")
    bundle = compile_documents(read_repository(tmp_path).documents)
    assert [rule.text for rule in bundle.rules()] == ["Never push", "Always lint"]


@pytest.mark.parametrize("opening", ["```", "~~~", "<!--", "<pre>", "<never>"])
def test_what_invalid_front_matter_opens_does_not_hide_the_rules_below_it(tmp_path: Path, opening: str) -> None:
    (tmp_path / "CLAUDE.md").write_text(f"---\nnote: [x\n- Never push\n\n{opening}\n---\n- Always lint\n")
    bundle = compile_documents(read_repository(tmp_path).documents)
    assert [rule.text for rule in bundle.rules()] == ["Never push", "Always lint"]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "CLAUDE.md").open("wb") as stream:
        stream.truncate(50 * 1024 * 1024)
    repository = read_repository(tmp_path)
    assert codes(repository) == [("TS102", "CLAUDE.md")]
    assert repository.documents == ()


def test_a_long_line_is_read(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("- never " + "x" * (10 * 1024 * 1024) + "\n")
    assert MAX_SOURCE_BYTES > 10 * 1024 * 1024
    assert len(read_repository(tmp_path).documents) == 1


def test_an_empty_repository_has_nothing_and_no_finding(tmp_path: Path) -> None:
    repository = read_repository(tmp_path)
    assert (repository.documents, repository.diagnostics, repository.files) == ((), (), ())
    assert compile_documents(repository.documents).rules() == ()


def test_a_missing_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError, match="not a folder"):
        read_repository(tmp_path / "none")


@given(data=st.binary(max_size=60), imported=st.binary(max_size=30))
def test_no_bytes_make_it_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes, imported: bytes) -> None:
    root = tmp_path_factory.mktemp("repository")
    (root / "CLAUDE.md").write_bytes(b"@a.md\n" + data)
    (root / "a.md").write_bytes(imported)
    (root / "AGENTS.md").write_bytes(b"---\n" + imported + b"\n---\n" + data)
    read_repository(root)


@given(st.text(alphabet="@./~\\ab-`\n\x00é", max_size=40))
def test_no_import_makes_it_raise(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    root = tmp_path_factory.mktemp("repository")
    (root / "CLAUDE.md").write_text(text, encoding="utf-8", newline="")
    read_repository(root)


def test_a_link_names_the_file_that_it_leads_to(tmp_path: Path) -> None:
    lay_out(tmp_path, {"docs/agents/rules.md": "- Always lint\n", "web/AGENTS.md": "- Never push\n"})
    (tmp_path / "CLAUDE.md").symlink_to("docs/agents/rules.md")
    (tmp_path / "web/CLAUDE.md").symlink_to("AGENTS.md")
    repository = read_repository(tmp_path)
    found = {rule.text: (rule.path, rule.repo_scopes) for rule in compile_documents(repository.documents).rules()}
    assert found == {
        "Always lint": ("docs/agents/rules.md", ("**/*",)),
        "Never push": ("web/AGENTS.md", ("web/**",)),
    }
    assert ("agents", "web/AGENTS.md") in repository.also_loaded
    assert set(repository.files) == {"CLAUDE.md", "docs/agents/rules.md", "web/CLAUDE.md", "web/AGENTS.md"}


def test_a_link_out_of_the_repository_is_refused_wherever_it_is(tmp_path: Path) -> None:
    root, outside = tmp_path / "repo", tmp_path / "other"
    lay_out(outside, {"rules.md": "- Never tell\n", "more/x.md": "- Never tell\n"})
    lay_out(root, {"AGENTS.md": "@docs/x.md\n", "docs/a.md": "- a\n", ".claude/CLAUDE.md": "- b\n"})
    (root / "CLAUDE.md").symlink_to("../other/rules.md")
    (root / ".claude/rules").symlink_to(outside / "more")
    (root / "docs/x.md").symlink_to(outside / "rules.md")
    repository = read_repository(root)
    refused = sorted(path for code, path in codes(repository) if code == "TS110")
    assert refused == [".claude/rules", "AGENTS.md", "CLAUDE.md"]
    assert all("tell" not in document.text for document in repository.documents)


def test_an_import_counts_for_both_hosts_and_in_files_of_both(tmp_path: Path) -> None:
    files = {"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": "- Sort keys\n@docs/style.md\n", "docs/style.md": "- Use tabs\n"}
    repository = lay_out(tmp_path, files)
    rules = compile_documents(repository.documents).rules()
    assert {(rule.path, rule.text) for rule in rules} == {("AGENTS.md", "Sort keys"), ("docs/style.md", "Use tabs")}
    assert ("agents", "AGENTS.md") in repository.also_loaded
    alone = lay_out(
        tmp_path / "alone", {"AGENTS.md": "- Sort keys\n@docs/style.md\n@gone.md\n", "docs/style.md": "- Use tabs\n"}
    )
    assert [one.path for one in alone.documents] == ["AGENTS.md", "docs/style.md"]
    # Codex imports nothing: a path that is missing there is a note, and no error.
    assert [(one.code, one.severity) for one in alone.diagnostics] == [("TS103", Severity.INFO)]


def test_an_override_is_read_instead_of_its_sibling(tmp_path: Path) -> None:
    files = {
        "AGENTS.md": "- a\n",
        "web/AGENTS.md": "- b\n",
        "web/AGENTS.override.md": "- c\n",
        "api/AGENTS.md": "- d\n",
    }
    repository = lay_out(tmp_path, {**files, "api/AGENTS.override.md": "\n"})
    assert {one.path for one in repository.documents if one.text.strip()} == {
        "AGENTS.md", "web/AGENTS.override.md", "api/AGENTS.md",
    }  # fmt: skip
    assert ("TS504", "web/AGENTS.md") in codes(repository)
    assert "web/AGENTS.md" in repository.files


def test_a_person_s_own_files_are_local_and_read_where_they_are_asked_for(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "repo"
    lay_out(home, {".claude/CLAUDE.md": "- You can log tokens\n- Answer briefly\n"})
    lay_out(root, {"CLAUDE.md": "## Security\n- Never log tokens\n"})
    assert [one.path for one in read_repository(root).documents] == ["CLAUDE.md"]
    repository = read_repository(root, home=home)
    assert [(one.path, one.source) for one in repository.documents] == [
        ("CLAUDE.md", "root"),
        ("~/.claude/CLAUDE.md", "local"),
    ]
    assert str(home / ".claude/CLAUDE.md") in repository.files
    assert str(home / ".codex/AGENTS.md") in repository.awaited
    bundle = compile_documents(repository.documents)
    assert [rule.text for rule in bundle.rules()] == ["Never log tokens", "Answer briefly"]
    assert [one.code for one in bundle.diagnostics] == ["TS402"]


def test_front_matter_that_no_host_reads_is_said_and_makes_no_rule(tmp_path: Path) -> None:
    heads = {
        "comment": "<!-- generated -->\n---\npaths: web/**\n---\n",
        "blank": "\n---\npaths: web/**\n---\n",
        "open": "---\npaths: web/**\n# Go\n",
        "key": "---\napplyTo: web/**\n---\n",
        "misspelt": "---\npath: web/**\n---\n",
    }
    for name, head in heads.items():
        text = f"{head}\n- Use React {name}\n"
        repository = lay_out(tmp_path / name, {".claude/rules/a.md": text})
        assert [one.code for one in repository.diagnostics] == ["TS107"], name
        (rule,) = compile_documents(repository.documents).rules()
        assert rule.text.endswith(f"Use React {name}")
        assert rule.repo_scopes == (EVERYWHERE,)


def test_an_agents_file_has_no_front_matter(tmp_path: Path) -> None:
    repository = lay_out(tmp_path, {"AGENTS.md": "---\npaths: web/**\n---\n- Use React\n"})
    assert [one.code for one in repository.diagnostics] == ["TS107"]
    (rule,) = compile_documents(repository.documents).rules()
    assert EVERYWHERE in rule.repo_scopes
