"""Listing, choosing files, dry runs, refusals, retention and pins of keeps; and ``tipstaff undo`` over them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.undo.operations import ENVIRONMENT, copy_repository, git, lost, run, snapshot
from tipstaff.cli import main
from tipstaff.errors import SourceNotFoundError, StoreDamagedError, StoreWriteError
from tipstaff.kernels import _undo
from tipstaff.undo import UndoConfig, kept, tidy, undo
from tipstaff.undo.keeps import folder_of, keep_named, keeps_in, read_manifest
from tipstaff.undo.retention import faults, forget, settle

DAY_NS = 86_400 * 10**9


@pytest.fixture
def root(model: Path, tmp_path: Path, state: Path) -> Path:
    return copy_repository(model, tmp_path / "work" / "repository")


@pytest.fixture
def keep(root: Path, state: Path) -> Callable[..., str]:
    def one(command: str, *effects: tuple, session: str = "s1", runs: bool = True) -> str:
        folder, why, *_ = _undo.keep(effects, str(root), str(state), command=command, session=session)
        assert why is None
        if runs:
            run(command, root)
        settle(Path(folder))
        return Path(folder).name

    return one


def rename(state: Path, root: Path, identifier: str, *, age_ns: int = 0, size: int | None = None) -> str:
    """Make a keep look older or larger: both are in its name."""
    moment, process, taken = map(int, identifier.split("-"))
    name = f"{moment - age_ns}-{process}-{taken if size is None else size}"
    folder = folder_of(str(root), state)
    (folder / identifier).rename(folder / name)
    return name


def test_what_is_kept_is_listed(root: Path, keep: Callable[..., str]) -> None:
    first = keep("rm notes.md", ("delete", "notes.md"))
    second = keep("rm -rf src", ("delete", "src"), session="s2")
    found = kept(root / "docs")
    assert [(one.id, one.session_id, one.command, one.files) for one in found] == [
        (second, "s2", "rm -rf src", 3),
        (first, "s1", "rm notes.md", 1),
    ]
    assert 0 <= time.time() - found[0].time / 1000 < 60
    assert kept(root / "inner") == ()
    assert kept(root.parent) == found  # of repositories inside a folder too


def test_a_branch_comes_back_with_its_settings_and_its_reflog(root: Path, keep: Callable[..., str]) -> None:
    git(root, "branch", "topic/one")
    git(root, "branch", "-f", "topic/one", "HEAD")
    for key, setting in (("remote", "origin"), ("merge", "refs/heads/one"), ("merge", 'with "quotes" # and \\')):
        git(root, "config", "--add", f"branch.topic/one.{key}", setting)
    log = (root / ".git/logs/refs/heads/topic/one").read_bytes()
    keep("git branch -q -D topic/one", ("git", "ref", "refs/heads/topic/one"))
    words = ("config", "--local", "--get-regexp", "^branch")
    assert "topic" not in git(root, *words)
    git(root, "config", "other.setting", "later")
    report = undo(repository=root)
    assert not report.failed
    assert git(root, *words).splitlines()[-3:] == [
        "branch.topic/one.remote origin", "branch.topic/one.merge refs/heads/one", 'branch.topic/one.merge with "quotes" # and \\',
    ]  # fmt: skip
    assert git(root, "config", "other.setting").strip() == "later"
    assert (root / ".git/logs/refs/heads/topic/one").read_bytes().startswith(log)
    undo(report.kept_aside, repository=root)
    assert "topic" not in git(root, *words) + git(root, "branch", "-a")


def test_only_some_files_come_back(root: Path, keep: Callable[..., str]) -> None:
    keep("rm -rf docs src notes.md", ("delete", "docs"), ("delete", "src"), ("delete", "notes.md"))
    report = undo(repository=root, files=["notes.md", "src/m1.py"], dry_run=True)
    assert report.restored == (f"{root}/src/m1.py", f"{root}/notes.md")
    assert not (root / "notes.md").exists()
    assert undo(repository=root, files=["notes.md", "src/m1.py"]).restored == report.restored
    assert (root / "notes.md").exists()
    assert sorted(one.name for one in (root / "src").iterdir()) == ["m1.py"]
    assert not (root / "docs").exists()


def test_a_link_on_the_way_is_not_followed(root: Path, tmp_path: Path, keep: Callable[..., str]) -> None:
    keep("rm uploads/u.bin", ("delete", "uploads/u.bin"))
    (root / "uploads").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (root / "uploads").symlink_to(tmp_path / "elsewhere")
    report = undo(repository=root)
    assert report.failed == ()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (root / "uploads" / "u.bin").read_text() == "up\n"
    undo(report.kept_aside)
    assert (root / "uploads").readlink() == tmp_path / "elsewhere"
    root.rename(tmp_path / "moved")
    root.symlink_to(tmp_path / "moved")
    report = undo(repository=root, id=kept(root.parent)[-1].id)
    assert {"link" in one.reason for one in report.failed} == {True}


def test_a_reference_that_moved_on_stays(root: Path, keep: Callable[..., str]) -> None:
    former = git(root, "rev-parse", "main").strip()
    keep("git reset -q --hard HEAD~1", ("git", "head"), ("git", "worktree"), ("git", "index"))
    run("git commit -q --allow-empty -m later", root)
    report = undo(repository=root)
    failed = {one.path: one.reason for one in report.failed}
    assert former in failed["refs/heads/main"]
    assert "HEAD" in failed["index"]


def test_an_index_that_git_works_on_stays(root: Path, keep: Callable[..., str]) -> None:
    keep("git reset -q", ("git", "index"))
    (root / ".git" / "index.lock").touch()
    assert [one.path for one in undo(repository=root).failed] == ["index"]
    (root / ".git" / "index.lock").unlink()
    assert undo(repository=root).failed == ()


def test_a_whole_repository_comes_back(root: Path, keep: Callable[..., str]) -> None:
    before = snapshot(root)
    keep("rm -rf .git src", ("delete", ".git"), ("delete", "src"))
    assert undo(repository=root).failed == ()
    assert lost(before, snapshot(root)) == []


def test_a_work_tree_beside_the_repository(root: Path, state: Path) -> None:
    run(
        "git worktree add -q ../beside work && cd ../beside && echo 1 > new.txt && echo 2 >> w.txt && git add w.txt",
        root,
    )
    beside = root.parent / "beside"
    before = snapshot(beside)
    effects = [("delete", "new.txt"), ("git", "worktree"), ("git", "index"), ("git", "head")]
    folder, why, *_ = _undo.keep(effects, str(beside), str(state))
    assert why is None
    run("rm new.txt; git reset -q --hard HEAD~1", beside)
    settle(Path(folder))
    assert undo(repository=beside).failed == ()
    assert lost(before, snapshot(beside)) == []


def test_an_undo_that_died_is_finished_by_the_next(
    root: Path, keep: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(root)
    one = keep("rm -rf docs src notes.md", ("delete", "docs"), ("delete", "src"), ("delete", "notes.md"))
    for name in ("mkdir", "fchmod", "rename"):
        with monkeypatch.context() as dies:
            dies.setattr(os, name, lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                undo(one, repository=root)
    assert undo(one, repository=root).failed == ()
    after = snapshot(root)
    assert lost(before, after) == []
    assert after.files.keys() == before.files.keys()


def test_contents_through_filters(root: Path, keep: Callable[..., str]) -> None:
    (root / ".gitattributes").write_text("*.txt text eol=crlf\n")
    (root / "lines.txt").write_bytes(b"a\r\nb\r\n")
    run("git add . && git commit -qm lines && git status", root)
    keep("rm lines.txt", ("delete", "lines.txt"))
    undo(repository=root)
    assert (root / "lines.txt").read_bytes() == b"a\r\nb\r\n"


def test_what_is_damaged_is_refused(root: Path, state: Path, keep: Callable[..., str]) -> None:
    one = keep("rm notes.md", ("delete", "notes.md"))
    path = keep_named(one, root).folder / "keep"
    whole = path.read_bytes()
    path.write_bytes(b"x" + whole[1:])
    assert [failed.reason for failed in undo(repository=root).failed] == ["what was kept of it is altered"]
    for torn in (whole[:-1], whole[:-30] + b"x" + whole[-29:], b""):
        path.write_bytes(torn)
        with pytest.raises(StoreDamagedError):
            undo(one, repository=root)
        assert [fix for _, _, fix in faults(root, state)] == [f"tipstaff undo --forget {one}"]
    with pytest.raises(SourceNotFoundError, match="undo --list"):
        undo("1-2-3", repository=root)


def test_nothing_is_changed_where_what_is_there_cannot_be_kept(
    root: Path, keep: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep("rm notes.md", ("delete", "notes.md"))
    monkeypatch.setattr(_undo, "keep", lambda *_, **__: (None, "the disk is nearly full", "", 0, 0))
    with pytest.raises(StoreWriteError, match="nothing was changed"):
        undo(repository=root)
    assert not (root / "notes.md").exists()


def test_the_oldest_go_first_in_pools_of_their_own(root: Path, state: Path, keep: Callable[..., str]) -> None:
    small = [
        rename(state, root, keep("true", ("write", "notes.md"), session=f"s{n}", runs=False), size=1 << 19)
        for n in range(4)
    ]
    large = [
        rename(state, root, keep("true", ("write", "notes.md"), session=f"s{n}", runs=False), size=3 << 20)
        for n in range(4)
    ]
    old = rename(state, root, keep("true", ("write", "notes.md"), runs=False), age_ns=15 * DAY_NS)
    settings = UndoConfig(total_mb=8, small_mb=1)
    assert set(tidy(lambda _: settings, state)) == {old, *small[:2], *large[:2]}
    assert tidy(lambda _: settings, state) == []
    of_one = rename(state, root, keep("true", ("write", "notes.md"), session="s3", runs=False), size=2 << 20)
    assert tidy(lambda _: settings, state) == [large[3]]  # more than half of the pool were of session s3
    assert {one.id for one in kept(root)} == {*small[2:], large[2], of_one}


def test_pins_become_a_pack_that_no_push_carries(
    root: Path, state: Path, tmp_path: Path, keep: Callable[..., str]
) -> None:
    before = snapshot(root)
    one = keep("git stash clear; git branch -q -D work", ("git", "stash"), ("git", "ref", "refs/heads/work"))
    assert f"refs/tipstaff/{one}/" in git(root, "for-each-ref")
    tidy(state=state)
    assert "refs/tipstaff" not in git(root, "for-each-ref")
    run(f"git init -q --bare {tmp_path}/mirror && git push -q --mirror {tmp_path}/mirror", root)
    assert "tipstaff" not in git(tmp_path / "mirror", "for-each-ref")
    run("git reflog expire --expire=now --all && git gc -q --prune=now --aggressive && git repack -qad", root)
    undo(one, repository=root)
    assert lost(before, snapshot(root)) == []
    run("git fsck --full", root)
    marks = list((root / ".git" / "objects" / "pack").glob("*.keep"))
    assert len(marks) == 1
    for found in kept(root):
        forget(keep_named(found.id, root))
    assert not any(mark.exists() for mark in marks)
    assert lost(before, snapshot(root)) == []  # what came back is git's own again


def test_what_died_is_swept(root: Path, state: Path, keep: Callable[..., str]) -> None:
    one = keep("git branch -q -D work", ("git", "ref", "refs/heads/work"))
    folder = folder_of(str(root), state)
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    dead = f"{time.time_ns()}-{child.pid}-0"
    (folder / one).rename(folder / f".{dead}")
    git(root, "update-ref", f"refs/tipstaff/{dead}/0", "main")
    git(root, "update-ref", f"refs/tipstaff/{time.time_ns()}-1-0/0", "main")  # of another state folder
    assert [problem for _, problem, _ in faults(root, state)] == ["a keep that was never finished"]
    keep("rm notes.md", ("delete", "notes.md"))
    tidy(state=state)
    assert keeps_in(folder, unfinished=True) == []
    assert dead not in git(root, "for-each-ref")
    assert "refs/tipstaff/" in git(root, "for-each-ref")


def test_wrong_permissions_are_reported(root: Path, state: Path, keep: Callable[..., str]) -> None:
    keep("rm big.bin", ("delete", "big.bin"))
    assert faults(root, state) == []
    (state / "undo").chmod(0o755)
    assert [path for path, _, _ in faults(root, state)] == [str(state / "undo")]


def test_a_linked_file_that_still_stands_becomes_a_copy(root: Path, state: Path, keep: Callable[..., str]) -> None:
    before = (root / "big.bin").read_bytes()
    one = keep("true", ("delete", "big.bin"))
    with (root / "big.bin").open("r+b") as file:
        file.write(b"other")
    tidy(state=state)
    undo(one, repository=root)
    assert (root / "big.bin").read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_is_reported(root: Path, keep: Callable[..., str]) -> None:
    keep("rm uploads/u.bin", ("delete", "uploads/u.bin"))
    (root / "uploads").chmod(0o500)
    assert [one.reason for one in undo(repository=root).failed] == ["Permission denied"]


def test_the_command(
    root: Path,
    state: Path,
    keep: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def said(*words: str) -> tuple[int, str, str]:
        code = main(["undo", *words])
        out, err = capsys.readouterr()
        return code, out, err

    monkeypatch.chdir(root)
    assert said()[::2] == (3, f"tipstaff: error: nothing was kept of {root}: there is nothing to undo\n")
    assert said("--list") == (0, "nothing is kept of this repository\n", "")
    before = snapshot(root)
    one = keep(
        "rm -rf notes.md uploads; git stash drop", ("delete", "notes.md"), ("delete", "uploads"), ("git", "stash", 0)
    )
    code, out, _ = said("--list")
    assert code == 0
    assert one in out
    assert "2 files" in out
    assert "before   rm -rf notes.md uploads; git stash drop" in out
    assert json.loads(said("--list", "--json")[1])[0]["id"] == one
    assert "would come back" in said("--dry-run")[1]
    assert (said("--files")[0], said("a", "b")[0], said("--forget")[0]) == (2, 2, 2)
    monkeypatch.chdir(root / "docs")
    assert said("--files", "../uploads")[0] == 0
    assert (root / "uploads" / "u.bin").exists()
    code, out, _ = said(one)
    assert code == 0
    assert f"{root}/notes.md" in out
    assert "stash" in out
    assert lost(before, snapshot(root)) == []
    report = json.loads(said(one, "--json")[1])
    assert (report["restored"], report["kept_aside"], report["failed"]) == ([], "", [])
    code, out, _ = said()  # the latest is the undo itself
    assert code == 0
    assert not (root / "notes.md").exists()
    code, _, err = said("--forget", one)
    assert code == 2
    assert "a person" in err


def test_a_person_forgets(
    root: Path,
    state: Path,
    keep: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = keep("rm .env", ("delete", ".env"))
    monkeypatch.setattr("tipstaff.cli.commands.undo.check_person", lambda: None)
    for typed, code, left in (("no", 1, 1), ("forget", 0, 0), ("forget", 3, 0)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{typed}\n"))
        assert main(["undo", "-C", str(root), "--forget", one]) == code
        assert len(kept(root)) == left
    assert "git's to clean up" in capsys.readouterr().out
    assert [path for path in (state / "undo").rglob("*") if path.is_file() and path.name != ".lock"] == []


def test_the_doctor_tidies_and_looks(
    root: Path, keep: Callable[..., str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = keep("git branch -q -D work", ("git", "ref", "refs/heads/work"))
    monkeypatch.setenv("HOME", str(root.parent))
    (keep_named(one, root).folder / "keep").chmod(0o644)
    main(["doctor", "-C", str(root), "--json"])
    problems = [found["problem"] for found in json.loads(capsys.readouterr().out)["findings"]]
    assert "others may read or write what was kept" in problems
    assert "refs/tipstaff" not in git(root, "for-each-ref")


def test_a_repository_keeps_less_where_a_person_allowed_it(root: Path, state: Path) -> None:
    from tipstaff.gates.image.repository_policy import accept_weakenings, policy_of, settings_of

    path = root / ".tipstaff" / "gates.toml"
    path.parent.mkdir()
    path.write_text('because = "a small disk"\n[undo]\nmode = "ask"\ndays = 2\ntotal_mb = 4096\n')
    assert settings_of(root, state).undo == UndoConfig(mode="ask", total_mb=4096)
    (found,) = policy_of(root, state=state).weakenings
    assert (found.name, found.former, found.now) == ("undo.days", "14", "2")
    accept_weakenings(root, state, [found.digest])
    assert settings_of(root, state).undo == UndoConfig(mode="ask", days=2, total_mb=4096)
    for wrong, why in (
        ("[undo]\nhours = 1", "'hours'"),
        ("[undo]\ndays = -1", "days"),
        ("undo = 1", "table"),
        ('[undo]\nmode = "no"', "keep, ask"),
    ):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=why):
            policy_of(root, state=state)
        assert settings_of(root, state).undo == UndoConfig()


def test_the_environment_of_a_hook_of_git_names_no_other_repository(
    root: Path, keep: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep("git branch -q -D work", ("git", "ref", "refs/heads/work"))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert undo(repository=root).restored == ("refs/heads/work",)
    assert ENVIRONMENT["LC_ALL"] == "C"
    assert read_manifest(keep_named(None, root).folder).absent[0].startswith("refs/heads/work ")
