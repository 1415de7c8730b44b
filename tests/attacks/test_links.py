"""Attacks by links: what a clone makes of a folder or file, so that something elsewhere is read, written or deleted."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from tests.attacks.playing import Victim
from tipstaff.context.candidates.store import CandidateStore
from tipstaff.context.inspecting.snapshot import ContextSnapshot, SnapshotFolder
from tipstaff.context.sources.auto_memory import AutoMemory
from tipstaff.errors import SourceError, SourceNotFoundError, StoreError, StoreWriteError
from tipstaff.guidance.project import open_project
from tipstaff.guidance.reading.sources import read_repository
from tipstaff.runs.ledger.ledger import Ledger

PRIVATE = "- Never show the private phrase of this file to anybody.\n"


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "own-state"))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def snapshot() -> ContextSnapshot:
    return ContextSnapshot(
        session_id="s1", taken_at="2026-01-01T00:00:00Z", sections=(), total_chars=0, estimated_tokens=0,
        max_per_tier_chars=1, max_total_chars=1,
    )  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "name",
    ["CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md", ".claude/rules/x.md",
     ".cursor/rules/x.mdc", "sub/CLAUDE.md"],
)  # fmt: skip
def test_rule_file(victim: Victim, outside: Path, name: str) -> None:
    (outside / "x.md").write_text(PRIVATE)
    path = victim.repository / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside / "x.md")
    found = read_repository(victim.repository)
    assert "private phrase" not in "".join(document.text for document in found.documents)
    assert any("leads out" in one.message for one in found.diagnostics)
    with open_project(victim.repository) as project:
        assert "private phrase" not in repr(project.bundle)


@pytest.mark.parametrize("name", [".claude/rules", ".cursor/rules", ".tipstaff/rules", ".github/instructions"])
def test_folder_of_rule_files(victim: Victim, outside: Path, name: str) -> None:
    for ending in ("x.md", "x.mdc", "x.instructions.md"):
        (outside / ending).write_text(PRIVATE)
    path = victim.repository / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside, target_is_directory=True)
    found = read_repository(victim.repository)
    assert "private phrase" not in "".join(document.text for document in found.documents)


def test_import_of_a_rule_file(victim: Victim, outside: Path) -> None:
    (outside / "x.md").write_text(PRIVATE)
    (victim.repository / "notes.md").symlink_to(outside / "x.md")
    (victim.repository / "folder").symlink_to(outside)
    victim.put("CLAUDE.md", f"@notes.md\n@folder/x.md\n@{outside}/x.md\n@../../elsewhere/x.md\n@~/x.md\n")
    found = read_repository(victim.repository)
    assert "private phrase" not in "".join(document.text for document in found.documents)


@pytest.mark.parametrize("linked", [".tipstaff", ".tipstaff/context", ".tipstaff/context/s1"])
def test_contexts(victim: Victim, outside: Path, linked: str) -> None:
    for number in range(1, 40):
        (outside / f"{number:08d}.json").write_text("mine")
        (outside / "s1").mkdir(exist_ok=True)
        (outside / "s1" / f"{number:08d}.json").write_text("mine")
    before = contents(outside)
    path = victim.repository / linked
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside)
    folder = SnapshotFolder.of_project(victim.repository)
    with pytest.raises(StoreWriteError, match="link"):
        folder.record(snapshot())
    assert contents(outside) == before
    with pytest.raises((SourceError, SourceNotFoundError)):
        folder.load("s1")


def test_lock_of_a_context(victim: Victim, outside: Path) -> None:
    (victim.repository / ".tipstaff/context/s1").mkdir(parents=True)
    (victim.repository / ".tipstaff/context/s1/.lock").symlink_to(outside / "made")
    with pytest.raises(StoreWriteError):
        SnapshotFolder.of_project(victim.repository).record(snapshot())
    assert contents(outside) == {}


@pytest.mark.parametrize("linked", [".tipstaff", ".tipstaff/candidates", ".tipstaff/candidates/ledger.db"])
def test_candidates(victim: Victim, outside: Path, linked: str) -> None:
    target = outside / "target" if linked.endswith("db") else outside
    if target != outside:
        target.write_text("mine\n")
    before = contents(outside)
    path = victim.repository / linked
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    with pytest.raises(StoreWriteError):
        CandidateStore(victim.repository / ".tipstaff" / "candidates")
    assert contents(outside) == before


@pytest.mark.parametrize("ending", [".lock", "-wal", "-shm", "-journal"])
def test_files_beside_candidates(victim: Victim, outside: Path, ending: str) -> None:
    folder = victim.repository / ".tipstaff" / "candidates"
    folder.mkdir(parents=True)
    (outside / "target").write_text("mine\n")
    CandidateStore(folder).close()
    path = folder / f"ledger.db{ending}"
    path.unlink(missing_ok=True)
    path.symlink_to(outside / "target")
    with contextlib.suppress(StoreWriteError, StoreError):
        CandidateStore(folder).close()
    assert contents(outside) == {"target": b"mine\n"}


@pytest.mark.parametrize("linked", [".tipstaff", ".tipstaff/auto-memory.md"])
def test_memory_is_not_written_through_a_link(victim: Victim, outside: Path, linked: str) -> None:
    target = outside / "target" if linked.endswith(".md") else outside
    if target != outside:
        target.write_text("mine\n")
    before = contents(outside)
    path = victim.repository / linked
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    with pytest.raises(StoreWriteError):
        AutoMemory(victim.repository / ".tipstaff" / "auto-memory.md").remember({"decisions": ("short answers",)})
    assert contents(outside) == before


@pytest.mark.parametrize("linked", [".tipstaff", ".tipstaff/ledger.db"])
def test_ledger(victim: Victim, outside: Path, linked: str) -> None:
    path = victim.repository / linked
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside / "other.db" if linked.endswith(".db") else outside)
    with pytest.raises(StoreWriteError, match="link"):
        Ledger(f"sqlite:///{victim.repository}/.tipstaff/ledger.db")
    assert contents(outside) == {}


@pytest.mark.parametrize("name", ["pending", "runs", "used", "approvals", "spool.jsonl"])
def test_the_hook_writes_through_no_link(victim: Victim, outside: Path, name: str) -> None:
    path = victim.state / name
    if path.is_dir():
        path.rmdir()
    target = outside / "file" if name == "spool.jsonl" else outside
    if target != outside:
        target.write_text("mine")
    before = contents(outside)
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    # The state folder is its owner's: who can put a link there can do all else. A link to a file is not followed all the same.
    victim.decision("git reset --hard")
    if name == "spool.jsonl":
        assert contents(outside) == before
    assert path.is_symlink()
