from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.guidance.made_repository import FILES, ids, reopened, store_of, write
from tipstaff import open_project
from tipstaff.errors import SourceNotFoundError, StoreWriteError
from tipstaff.guidance import project as module
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.project import STORE_FOLDER, STORE_NAME, Project
from tipstaff.store.provenance import note_written
from tipstaff.store.shards import open_store


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return write(tmp_path / "repo", FILES)


# -- stores that cannot be used ---------------------------------------------------------------------------------------


def test_a_store_of_another_embedding_is_built_again(repo: Path) -> None:
    open_project(repo, embedding=HashEmbedding()).close()
    rebuilt, reason = reopened(repo, embedding=HashEmbedding(64))
    assert rebuilt
    assert "'hash-384' with 384 dimensions, asked for are 'hash-64' with 64" in reason
    assert reopened(repo, embedding=HashEmbedding(64)) == (False, "")


@pytest.mark.parametrize("position", [0, 8, 40, 64, 2_000, -1, -200])
def test_a_damaged_store_is_built_again(repo: Path, position: int) -> None:
    open_project(repo).close()
    data = bytearray(store_of(repo).read_bytes())
    data[position] ^= 0x10
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
    note_written(store_of(repo))
    rebuilt, reason = reopened(repo)
    assert rebuilt
    assert "damaged" in reason
    assert reopened(repo) == (False, "")


def test_a_store_of_another_schema_is_built_again(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr("tipstaff.store.shards.SCHEMA_VERSION", 77)
        open_project(repo).close()
    rebuilt, reason = reopened(repo)
    assert rebuilt
    assert "schema version 77" in reason


def test_a_pipe_in_place_of_the_store_does_not_hang(repo: Path) -> None:
    store_of(repo).parent.mkdir(parents=True)
    os.mkfifo(store_of(repo))
    note_written(store_of(repo))
    assert "not a regular file" in reopened(repo)[1]
    assert reopened(repo) == (False, "")


def test_damage_that_shows_late_is_repaired_in_memory(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of a large store not every byte is looked at when it is opened.
    monkeypatch.setattr("tipstaff.store.shards.CHECK_ALL_BYTES", 0)
    open_project(repo).close()
    data = store_of(repo).read_bytes()
    with open_store(store_of(repo)) as store:
        offset, length, _ = store._directory.parts["shards"]
    store_of(repo).write_bytes(data[:offset] + b"\xff" * length + data[offset + length :])
    note_written(store_of(repo))
    for use in (Project.retriever, lambda project: project.bundle):
        with open_project(repo) as project:
            assert not project.rebuilt
            use(project)
            assert project.rebuilt
            assert not project.is_stored
            assert "damaged" in project.reason
            assert len(project.retriever().retrieve("Fix the commits", max_shards=2).shards) == 2
            assert "R-001" in ids(project)


# -- places that cannot be written ------------------------------------------------------------------------------------


def in_memory(repo: Path, message: str, **options: Any) -> None:
    with open_project(repo, **options) as project:
        assert project.rebuilt
        assert not project.is_stored
        assert "it is kept in memory only" in project.reason
        assert message in project.reason
        assert len(project.retriever().retrieve("Fix the commits", max_shards=2).shards) == 2
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
        assert len(project.retriever().retrieve("Fix the commits", max_shards=2).shards) == 2
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
    store_path = tmp_path / "a" / "b" / "rules.store"
    with open_project(repo, store=str(store_path)) as project:
        assert project.store_path == store_path
    assert [path.name for path in store_path.parent.iterdir()] == ["rules.store"]
    assert not (repo / ".tipstaff").exists()
    assert reopened(repo, store=store_path) == (False, "")


def test_a_relative_folder(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    open_project(".").close()
    assert reopened(repo) == (False, "")


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
                assert len(project.retriever().retrieve("Fix the commits", max_shards=2).shards) == 2
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
