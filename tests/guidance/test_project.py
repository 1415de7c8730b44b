from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tipstaff import CompilerConfig, compile_repository, open_project
from tipstaff.errors import SourceNotFoundError, StoreWriteError
from tipstaff.guidance import project as module
from tipstaff.guidance.embeddings import HashEmbedding
from tipstaff.guidance.project import STORE_FOLDER, STORE_NAME, Project
from tipstaff.guidance.retriever import ShardRetriever
from tipstaff.store import fingerprints
from tipstaff.store.shards import open_store

FILES = {
    "CLAUDE.md": "# Shop\n## Security\n- [SEC-001] Never log passwords\n## Rules\n- [R-001] Always squash commits\n- Name branches after the ticket they belong to\n@docs/style.md\n",
    "docs/style.md": "- [STY-001] Keep lines under a hundred characters\n",
    "web/CLAUDE.md": "- [WEB-001] Never squash commits\n",
    "web/src/app.ts": "export {}\n",
    ".claude/rules/tests.md": "---\npaths: tests/**\n---\n- [TST-001] Review snapshots\n",
    ".cursor/rules/ui.mdc": "---\nglobs: web/**\n---\n- [CUR-001] Prefer server components\n",
    "node_modules/pkg/CLAUDE.md": "- [MOD-001] Not ours\n",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return write(tmp_path / "repo", FILES)


def store_of(repo: Path) -> Path:
    return repo / STORE_FOLDER / STORE_NAME


def ids(project: Project) -> set[str]:
    return {rule.id for rule in project.bundle.rules()}


def reopened(repo: Path, **options: Any) -> tuple[bool, str]:
    with open_project(repo, **options) as project:
        # Whatever it says, what it serves is what a compilation now would give.
        fresh = compile_repository(repo, config=options.get("config"))
        assert [shard.rule.text for shard in project.bundle.shards] == [shard.rule.text for shard in fresh.shards]
        assert project.bundle.constitution == fresh.constitution
        return project.rebuilt, project.reason


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
        assert len(project.retriever().retrieve("Fix the commits").shards) == 2
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


# -- stores that cannot be used ---------------------------------------------------------------------------------------


def test_a_store_of_another_embedding_is_built_again(repo: Path) -> None:
    open_project(repo, embedding=HashEmbedding()).close()
    rebuilt, reason = reopened(repo, embedding=HashEmbedding(64))
    assert rebuilt
    assert "'hash-384' with 384 dimensions, asked for are 'hash-64' with 64" in reason
    assert reopened(repo, embedding=HashEmbedding(64)) == (False, "")


@pytest.mark.parametrize("place", [0, 8, 40, 64, 2_000, -1, -200])
def test_a_damaged_store_is_built_again(repo: Path, place: int) -> None:
    open_project(repo).close()
    data = bytearray(store_of(repo).read_bytes())
    data[place] ^= 0x10
    store_of(repo).write_bytes(data)
    rebuilt, reason = reopened(repo)
    assert rebuilt
    assert "damaged" in reason or "version" in reason
    assert str(store_of(repo)) in reason
    assert reopened(repo) == (False, "")


@pytest.mark.parametrize("content", [b"", b"x", b"# not a store\n" * 100, b"\0" * 4096])
def test_what_is_no_store_is_built_again(repo: Path, content: bytes) -> None:
    store_of(repo).parent.mkdir(parents=True)
    store_of(repo).write_bytes(content)
    rebuilt, reason = reopened(repo)
    assert rebuilt
    assert "damaged" in reason
    assert reopened(repo) == (False, "")


def test_a_store_of_another_schema_is_built_again(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr("tipstaff.store.container.SCHEMA_VERSION", 77)
        open_project(repo).close()
    rebuilt, reason = reopened(repo)
    assert rebuilt
    assert "schema version 77" in reason


def test_a_pipe_in_place_of_the_store_does_not_hang(repo: Path) -> None:
    store_of(repo).parent.mkdir(parents=True)
    os.mkfifo(store_of(repo))
    assert "not a regular file" in reopened(repo)[1]
    assert reopened(repo) == (False, "")


def test_damage_that_shows_late_is_repaired_in_memory(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of a large store not every byte is looked at when it is opened.
    monkeypatch.setattr("tipstaff.store.shards.CHECK_ALL_BYTES", 0)
    open_project(repo).close()
    data = store_of(repo).read_bytes()
    with open_store(store_of(repo)) as store:
        offset, length, _ = store._container.directory.segments["id.2"]  # type: ignore[union-attr]
    store_of(repo).write_bytes(data[:offset] + b"\xff" * length + data[offset + length :])
    for use in (Project.retriever, lambda project: project.bundle):
        with open_project(repo) as project:
            assert not project.rebuilt
            use(project)
            assert project.rebuilt
            assert not project.is_stored
            assert "damaged" in project.reason
            assert len(project.retriever().retrieve("Fix the commits").shards) == 2
            assert "R-001" in ids(project)


# -- places that cannot be written ------------------------------------------------------------------------------------


def in_memory(repo: Path, message: str, **options: Any) -> None:
    with open_project(repo, **options) as project:
        assert project.rebuilt
        assert not project.is_stored
        assert "it is kept in memory only" in project.reason
        assert message in project.reason
        assert len(project.retriever().retrieve("Fix the commits").shards) == 2
        assert "R-001" in ids(project)


def test_a_folder_that_cannot_be_made(repo: Path) -> None:
    (repo / ".tipstaff").write_text("mine\n", encoding="utf-8")
    in_memory(repo, "the folder cannot be made: Not a directory")
    assert (repo / ".tipstaff").read_text(encoding="utf-8") == "mine\n"


def test_a_folder_in_place_of_the_store(repo: Path) -> None:
    (store_of(repo) / "mine").mkdir(parents=True)
    in_memory(repo, "could not be written")
    assert (store_of(repo) / "mine").is_dir()
    assert [path.name for path in store_of(repo).parent.iterdir()] == [STORE_NAME]


def test_a_file_in_place_of_the_folder(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine\n", encoding="utf-8")
    in_memory(repo, "cannot be made", store=tmp_path / "file" / "store")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine\n"


@pytest.mark.parametrize("call", ["is_dir", "mkdir", "write_text"])
def test_a_folder_that_may_not_be_touched(repo: Path, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = getattr(Path, call)

    def refuse(self: Path, *arguments: Any, **options: Any) -> Any:
        if ".tipstaff" in self.parts:
            raise PermissionError(13, "Permission denied", str(self))
        return real(self, *arguments, **options)

    monkeypatch.setattr(Path, call, refuse)
    in_memory(repo, "Permission denied")


def test_a_store_that_cannot_be_written_leaves_the_former_one(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_project(repo).close()
    before = store_of(repo).read_bytes()
    (repo / "AGENTS.md").write_text("- [AGT-001] Ask first\n", encoding="utf-8")

    def full(*_: Any, **__: Any) -> None:
        raise StoreWriteError(28, "could not be written: No space left on device", "store")

    with monkeypatch.context() as patched:
        patched.setattr(module, "write_store", full)
        in_memory(repo, "No space left on device")
        with open_project(repo) as project:
            assert "AGT-001" in ids(project)
    assert store_of(repo).read_bytes() == before
    assert reopened(repo) == (True, "a rule file changed")


def test_a_full_disk_leaves_the_former_store(repo: Path) -> None:
    open_project(repo).close()
    before = store_of(repo).read_bytes()
    (repo / "AGENTS.md").write_text("- [AGT-001] Ask first\n", encoding="utf-8")
    done = python(
        """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))
        with open_project(sys.argv[1]) as project:
            print(project.is_stored, "File too large" in project.reason, project.bundle.rule("AGT-001") is not None)
        """,
        repo,
    )
    assert done.stdout.split() == ["False", "True", "True"], done.stderr
    assert store_of(repo).read_bytes() == before
    assert sorted(path.name for path in store_of(repo).parent.iterdir()) == [".gitignore", STORE_NAME]


def test_nothing_is_written_where_nothing_is_to_be(repo: Path) -> None:
    with open_project(repo, write=False) as project:
        assert (project.rebuilt, project.is_stored, project.reason) == (True, False, "there was no store yet")
        assert len(project.retriever().retrieve("Fix the commits").shards) == 2
    assert not (repo / ".tipstaff").exists()
    open_project(repo).close()
    before = (store_of(repo).stat().st_mtime_ns, store_of(repo).read_bytes())
    with open_project(repo, write=False) as project:
        assert (project.rebuilt, project.is_stored, project.reason) == (False, True, "")
    (repo / "AGENTS.md").write_text("- [AGT-001] Ask first\n", encoding="utf-8")
    with open_project(repo, write=False) as project:
        assert (project.rebuilt, project.is_stored, project.reason) == (True, False, "a rule file changed")
        assert "AGT-001" in ids(project)
        assert project.diagnostics == project.bundle.diagnostics
    assert (store_of(repo).stat().st_mtime_ns, store_of(repo).read_bytes()) == before


# -- places -----------------------------------------------------------------------------------------------------------


def test_a_folder_that_does_not_exist_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    for name in ("nowhere", "nowhere/below", "file"):
        for write_it in (True, False):
            with pytest.raises(SourceNotFoundError, match="give the root of a repository"):
                open_project(tmp_path / name, write=write_it)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_store_keeps_itself_out_of_git_and_to_its_owner(repo: Path) -> None:
    open_project(repo).close()
    assert (repo / STORE_FOLDER / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert stat.S_IMODE(store_of(repo).stat().st_mode) == 0o600


def test_a_store_elsewhere(repo: Path, tmp_path: Path) -> None:
    place = tmp_path / "a" / "b" / "rules.store"
    with open_project(repo, store=str(place)) as project:
        assert project.store_path == place
    assert [path.name for path in place.parent.iterdir()] == ["rules.store"]
    assert not (repo / ".tipstaff").exists()
    assert reopened(repo, store=place) == (False, "")


def test_a_relative_folder(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    open_project(".").close()
    assert reopened(repo) == (False, "")


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
    assert len(project.retriever().retrieve("Fix the commits").shards) == 2


def test_there_is_one_retriever(repo: Path) -> None:
    with open_project(repo) as project, ThreadPoolExecutor(8) as pool:
        assert len({id(one) for one in pool.map(lambda _: project.retriever(), range(32))}) == 1


# -- many at once -----------------------------------------------------------------------------------------------------

HEAD = """
import sys
from pathlib import Path
from tipstaff import open_project
from tipstaff.guidance import project as module
"""


def python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HEAD + textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_process_killed_while_it_writes_leaves_the_former_store(repo: Path) -> None:
    open_project(repo).close()
    before = store_of(repo).read_bytes()
    (repo / "AGENTS.md").write_text("- [AGT-001] Ask first\n", encoding="utf-8")
    done = python(
        """
        import os, signal
        from tipstaff.store import replacing
        replacing.os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
        open_project(sys.argv[1])
        """,
        repo,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert store_of(repo).read_bytes() == before
    leftovers = [path for path in store_of(repo).parent.iterdir() if path.suffix == ".tmp"]
    assert len(leftovers) == 1
    assert reopened(repo) == (True, "a rule file changed")
    assert reopened(repo) == (False, "")
    # What the killed one left goes with the first writer after it is old.
    os.utime(leftovers[0], (1, 1))
    assert reopened(repo, force=True)[0] is True
    assert not leftovers[0].exists()


def test_processes_that_open_at_once_all_get_the_rules(repo: Path) -> None:
    code = HEAD + textwrap.dedent(
        """
        for _ in range(5):
            with open_project(sys.argv[1], force=True) as project:
                assert project.is_stored, project.reason
                assert len(project.retriever().retrieve("Fix the commits").shards) == 2
        print("done")
        """
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(repo)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for process in running:
        out, err = process.communicate(timeout=120)
        assert (out, err) == ("done\n", "")
    assert reopened(repo) == (False, "")
    assert sorted(path.name for path in store_of(repo).parent.iterdir()) == [".gitignore", STORE_NAME]


def test_threads_that_open_while_rules_change_never_see_half_of_them(repo: Path) -> None:
    texts = [f"- [R-{number:03d}] Rule number {number}\n- [S-{number:03d}] Its twin {number}\n" for number in range(8)]
    target = repo / "CLAUDE.md"
    target.write_text(texts[0], encoding="utf-8")

    def open_often(_: int) -> None:
        for _ in range(6):
            with open_project(repo) as project:
                found = {name[2:] for name in ids(project) if name[:2] in {"R-", "S-"}}
                assert len(found) == 1
                assert {f"R-{next(iter(found))}", f"S-{next(iter(found))}"} <= ids(project)

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(open_often, number) for number in range(4)]
        for text in texts:
            fresh = repo / "next"
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(target)
            time.sleep(0.02)
        for job in jobs:
            job.result(timeout=120)
    assert reopened(repo)[0] in {True, False}
    with open_project(repo) as project:
        assert "R-007" in ids(project)
