from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.guidance.made_repository import FILES, ids, reopened, store_of, write
from tipstaff import CompilerConfig, compile_repository, open_project
from tipstaff.guidance import project as module
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.project import Project
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.store import fingerprints


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return write(tmp_path / "repo", FILES)


# -- when it compiles -------------------------------------------------------------------------------------------------


def test_the_first_opening_compiles_and_the_second_does_not(repo: Path) -> None:
    with open_project(repo) as project:
        assert (project.rebuilt, project.reason, project.is_stored) == (True, "there was no store yet", True)
        assert project.store_path == store_of(repo)
        first = project.bundle
    assert {rule.id for rule in first.rules()} >= {"SEC-001", "R-001", "STY-001", "WEB-001", "TST-001", "CUR-001"}
    with open_project(repo) as project:
        assert (project.rebuilt, project.reason, project.is_stored) == (False, "", True)
        assert project.bundle == first
        assert project.diagnostics == first.diagnostics


def test_an_unchanged_repository_is_neither_read_nor_compiled(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_project(repo).close()

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError

    for name in ("read_repository", "compile_documents", "write_store", "fingerprint_sources"):
        monkeypatch.setattr(module, name, never)
    with open_project(str(repo)) as project:
        found = project.retriever().retrieve("Fix the commits").shards
        assert {"R-001", "WEB-001"} <= {one.shard.rule.id for one in found}
        assert project.retriever().constitution.rules[0].id == "SEC-001"


CHANGES: dict[str, Callable[[Path], object]] = {
    "a rule file": lambda repo: (repo / "CLAUDE.md").write_text(FILES["CLAUDE.md"] + "- More\n"),
    "one letter": lambda repo: (repo / "CLAUDE.md").write_text(FILES["CLAUDE.md"].replace("squash", "squish")),
    "a nested file": lambda repo: (repo / "web/CLAUDE.md").write_text("- [WEB-001] Always rebase\n"),
    "an imported file": lambda repo: (repo / "docs/style.md").write_text("- [STY-002] Keep lines short\n"),
    "front matter": lambda repo: (repo / ".claude/rules/tests.md").write_text("---\npaths: spec/**\n---\n- [TST-001] Review snapshots\n"),
    "a new root file": lambda repo: (repo / "AGENTS.md").write_text("- [AGT-001] Ask first\n"),
    "a new local file": lambda repo: (repo / "CLAUDE.local.md").write_text("- [LOC-001] Use my port\n"),
    "a new file in a deep folder": lambda repo: (repo / "web/src/AGENTS.md").write_text("- [AGT-001] Ask first\n"),
    "a new file in a new folder": lambda repo: write(repo, {"api/v1/CLAUDE.md": "- [API-001] Version everything\n"}),
    "a new rule beside others": lambda repo: (repo / ".claude/rules/more.md").write_text("- [MOR-001] More\n"),
    "a new folder of rules": lambda repo: write(repo, {".claude/rules/team/x.md": "- [MOR-001] More\n"}),
    "a new host": lambda repo: write(repo, {".github/copilot-instructions.md": "- [COP-001] Be brief\n"}),
    "cursor's single file": lambda repo: (repo / ".cursorrules").write_text("- [CUR-002] Be brief\n"),
    "a removed file": lambda repo: (repo / "web/CLAUDE.md").unlink(),
    "a removed import": lambda repo: (repo / "docs/style.md").unlink(),
    "a removed folder": lambda repo: [(repo / ".cursor/rules/ui.mdc").unlink(), (repo / ".cursor/rules").rmdir()],
    "a moved file": lambda repo: [(repo / "api").mkdir(), (repo / "web/CLAUDE.md").rename(repo / "api/CLAUDE.md")],
    "a link to a file": lambda repo: (repo / "GEMINI.md").symlink_to("web/CLAUDE.md"),
    "a file turned into a folder": lambda repo: [(repo / "web/CLAUDE.md").unlink(), (repo / "web/CLAUDE.md").mkdir()],
    "other bytes": lambda repo: (repo / "web/CLAUDE.md").write_bytes(b"\xff\xfe broken"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("settled", [False, True], ids=["at once", "long after"])
def test_a_change_is_seen(repo: Path, change: str, settled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if settled:  # as if the folders had been scanned long after their last change
        monkeypatch.setattr(fingerprints, "RACY_NS", -(10**12))
    open_project(repo).close()
    assert reopened(repo) == (False, "")
    time.sleep(0.02)  # beyond the tick of the file system's clock
    CHANGES[change](repo)
    assert reopened(repo) == (True, "a rule file changed")
    assert reopened(repo) == (False, "")


def test_a_change_that_keeps_size_and_time_is_seen(repo: Path) -> None:
    path = repo / "CLAUDE.md"
    before = path.stat()
    open_project(repo).close()
    path.write_text(FILES["CLAUDE.md"].replace("Always squash", "Rarely squash"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert reopened(repo)[0] is True


@pytest.mark.parametrize("target", ["@docs/later.md", "@./notes/later.txt", "@later.mdx"])
def test_an_import_that_appears_later_is_seen(repo: Path, target: str) -> None:
    (repo / "CLAUDE.md").write_text(f"- [R-001] Use tabs\n\n{target}\n", encoding="utf-8")
    open_project(repo).close()
    assert reopened(repo) == (False, "")
    write(repo, {target.removeprefix("@"): "- [LTR-001] Never be early\n"})
    assert reopened(repo)[0] is True
    with open_project(repo) as project:
        assert "LTR-001" in ids(project)


NO_CHANGES: dict[str, Callable[[Path], object]] = {
    "source code": lambda repo: write(repo, {"web/src/app.ts": "changed\n", "new.py": "x = 1\n"}),
    "a skipped folder": lambda repo: write(repo, {"node_modules/pkg/AGENTS.md": "- x\n", "dist/CLAUDE.md": "- x\n"}),
    "a hidden folder": lambda repo: write(repo, {".git/CLAUDE.md": "- x\n"}),
    "the same bytes again": lambda repo: (repo / "CLAUDE.md").write_text(FILES["CLAUDE.md"]),
}


@pytest.mark.parametrize("change", NO_CHANGES)
def test_what_is_no_rule_does_not_compile(repo: Path, change: str) -> None:
    open_project(repo).close()
    NO_CHANGES[change](repo)
    assert reopened(repo) == (False, "")


@pytest.mark.parametrize(
    "config",
    [
        CompilerConfig(default_priority=51),
        CompilerConfig(max_constitution_lines=3),
        CompilerConfig(default_risk_class="low"),
        CompilerConfig(auto_generate_ids=False),
    ],
)
def test_another_configuration_compiles(repo: Path, config: CompilerConfig) -> None:
    open_project(repo).close()
    assert reopened(repo, config=config) == (True, "the configuration or the program changed")
    assert reopened(repo, config=config) == (False, "")
    assert reopened(repo, config=CompilerConfig())[0] is True


def test_another_version_of_the_program_compiles(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_project(repo).close()
    monkeypatch.setattr(module, "__version__", "99.0.0")
    assert reopened(repo) == (True, "the configuration or the program changed")


def test_it_compiles_where_it_is_asked_to(repo: Path) -> None:
    open_project(repo).close()
    assert reopened(repo, force=True) == (True, "it was asked for")
    assert reopened(repo) == (False, "")


# -- dates ------------------------------------------------------------------------------------------------------------

DATED = """## Security
- [SEC-001] Never log passwords
- [SEC-002] Always freeze deploys from:2026-12-20 until:2027-01-05
## Rules
- [R-001] Use the old gateway until:2026-06-30
- [R-002] Use the new gateway from:2026-09-01
"""


def on(repo: Path, day: str, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, str, set[str], set[str]]:
    monkeypatch.setattr(module, "current_day", lambda: day)
    with open_project(repo) as project:
        result = project.retriever().retrieve("Fix the gateway", today=day)
        laws = {rule.id for rule in result.constitution.rules if f"[{rule.id}]" in result.constitution.text}
        return project.rebuilt, project.reason, laws, {found.shard.rule.id for found in result.shards}


def test_the_day_on_which_rules_change_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = write(tmp_path, {"CLAUDE.md": DATED})
    turned = "a rule came into force or went out of it"
    assert on(repo, "2026-06-29", monkeypatch)[2:] == ({"SEC-001"}, {"R-001"})
    assert on(repo, "2026-06-29", monkeypatch)[0] is False
    assert on(repo, "2026-07-01", monkeypatch)[1:] == (turned, {"SEC-001"}, set())
    assert on(repo, "2026-08-31", monkeypatch)[2:] == ({"SEC-001"}, set())
    assert on(repo, "2026-09-01", monkeypatch)[1:] == (turned, {"SEC-001"}, {"R-002"})
    # A constitution rule that was out of force when the store was written.
    assert on(repo, "2026-12-20", monkeypatch)[1:] == (turned, {"SEC-001", "SEC-002"}, {"R-002"})
    assert on(repo, "2027-01-05", monkeypatch)[0] is False
    assert on(repo, "2027-01-06", monkeypatch)[1:] == (turned, {"SEC-001"}, {"R-002"})
    # The clock was set back.
    assert on(repo, "2026-12-24", monkeypatch)[1:3] == (turned, {"SEC-001", "SEC-002"})


def test_without_dates_no_day_compiles(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert on(repo, "2026-01-01", monkeypatch)[0] is True
    assert on(repo, "2036-01-01", monkeypatch)[0] is False


def test_the_configured_day_counts_for_retrieval_too(tmp_path: Path) -> None:
    repo = write(tmp_path, {"CLAUDE.md": DATED})
    for day, expected in (("2026-06-30", {"R-001"}), ("2026-10-01", {"R-002"})):
        with open_project(repo, config=CompilerConfig(today=day), embedding=HashEmbedding()) as project:
            found = project.retriever().retrieve("Fix").shards
            assert {one.shard.rule.id for one in found} == expected


# -- ids --------------------------------------------------------------------------------------------------------------


def generated(project: Project) -> str:
    (found,) = (rule.id for rule in project.bundle.rules() if "ticket" in rule.text)
    assert found.startswith("AUTO-")
    return found


def test_ids_live_on_when_words_change(repo: Path) -> None:
    with open_project(repo) as project:
        first = generated(project)
    for words in (
        "Name branches after the ticket that they belong to",
        "Name all branches after the ticket that they belong to",
    ):
        (repo / "CLAUDE.md").write_text(f"# Shop\n- Another rule above it\n- {words}\n", encoding="utf-8")
        with open_project(repo) as project:
            assert project.rebuilt
            assert generated(project) == first


@pytest.mark.parametrize(
    "options",
    [{"embedding": HashEmbedding(64)}, {"embedding": HashEmbedding(), "config": CompilerConfig(default_priority=51)}],
)
def test_ids_live_on_when_the_store_is_of_another_kind(repo: Path, options: dict[str, Any]) -> None:
    with open_project(repo, embedding=HashEmbedding()) as project:
        first = generated(project)
    text = FILES["CLAUDE.md"].replace("ticket they", "ticket that they")
    (repo / "CLAUDE.md").write_text(text, encoding="utf-8")
    with open_project(repo, **options) as project:
        assert project.rebuilt
        assert generated(project) == first


class Letters:
    identity = "letters"
    dimensions = 26

    def embed(self, text: str) -> Any:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Any) -> Any:
        counts = [[float(text.lower().count(chr(97 + i))) for i in range(26)] for text in texts]
        return np.array(counts, dtype=np.float64).reshape(-1, 26)


@pytest.mark.parametrize("files", [{}, {"CLAUDE.md": "## Security\n- [SEC-001] Never log passwords\n"}, FILES])
@pytest.mark.parametrize("embedding", [None, HashEmbedding(16), Letters()])
def test_any_embedding_and_any_number_of_rules(tmp_path: Path, files: dict[str, str], embedding: Any) -> None:
    write(tmp_path, files)
    for rebuilt in (True, False):
        with open_project(tmp_path, embedding=embedding) as project:
            assert (project.rebuilt, project.is_stored) == (rebuilt, True)
            stored = project.retriever().retrieve("Fix the commits", repo_scope="web/src/app.ts")
    direct = ShardRetriever(compile_repository(tmp_path), embedding).retrieve(
        "Fix the commits", repo_scope="web/src/app.ts"
    )
    assert stored.replace(latency_ms=0.0) == direct.replace(latency_ms=0.0)


def test_the_nearest_file_wins_in_its_folder(repo: Path) -> None:
    with open_project(repo) as project:
        retrieve = project.retriever().retrieve
        inside = retrieve("Squash commits", repo_scope="web/src/app.ts", max_shards=9)
        outside = retrieve("Squash commits", repo_scope="api/a.py", max_shards=9)
    assert {found.shard.rule.id for found in inside.shards} >= {"WEB-001"}
    assert [(one.id, one.kept) for one in inside.dropped] == [("R-001", "WEB-001")]
    assert "R-001" in {found.shard.rule.id for found in outside.shards}
    assert outside.dropped == ()


# -- closing ----------------------------------------------------------------------------------------------------------


def test_a_closed_project_says_so(repo: Path) -> None:
    open_project(repo).close()
    project = open_project(repo)
    project.close()
    project.close()
    assert project.is_stored
    for use in (lambda: project.bundle, project.retriever, lambda: project.diagnostics):
        with pytest.raises(ValueError, match="the project is closed"):
            use()
    with open_project(repo) as project:
        bundle = project.bundle
    assert project.bundle is bundle
    found = project.retriever().retrieve("Fix the commits").shards
    assert {"R-001", "WEB-001"} <= {one.shard.rule.id for one in found}


def test_there_is_one_retriever(repo: Path) -> None:
    with open_project(repo) as project, ThreadPoolExecutor(8) as pool:
        assert len({id(one) for one in pool.map(lambda _: project.retriever(), range(32))}) == 1
