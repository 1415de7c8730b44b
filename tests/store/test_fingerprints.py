from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.errors import StoreDamagedError
from tipstaff.store import fingerprints
from tipstaff.store.fingerprints import RACY_NS, Fingerprint, fingerprint_sources, is_unchanged

FILES = ("CLAUDE.md", "sub/AGENTS.md")
FOLDERS = (".", "sub")
LATER_NS = 10 * RACY_NS
"""So much after the folders' last change a scan trusts their times."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "sub").mkdir(parents=True)
    (root / "CLAUDE.md").write_text("# Rules\n")
    (root / "sub" / "AGENTS.md").write_text("# More\n")
    for folder in (root, root / "sub"):
        # So that any change moves the time, however coarse the clock.
        os.utime(folder, (1_600_000_000, 1_600_000_000))
    return root


def replace_file(root: Path) -> None:
    (root / "CLAUDE.md").write_text("# RULES\n")


def replace_file_and_keep_its_time(root: Path) -> None:
    status = (root / "CLAUDE.md").stat()
    (root / "CLAUDE.md").write_text("# RULES\n")
    os.utime(root / "CLAUDE.md", ns=(status.st_atime_ns, status.st_mtime_ns))


def lengthen_file(root: Path) -> None:
    with (root / "CLAUDE.md").open("a") as file:
        file.write("- more\n")


def empty_file(root: Path) -> None:
    (root / "CLAUDE.md").write_text("")


def remove_file(root: Path) -> None:
    (root / "CLAUDE.md").unlink()


def make_file_a_folder(root: Path) -> None:
    (root / "CLAUDE.md").unlink()
    (root / "CLAUDE.md").mkdir()


def make_file_a_pipe(root: Path) -> None:
    (root / "CLAUDE.md").unlink()
    os.mkfifo(root / "CLAUDE.md")


def add_file(root: Path) -> None:
    (root / "sub" / "GEMINI.md").touch()


def add_folder(root: Path) -> None:
    (root / "sub" / "deeper").mkdir()


def rename_file(root: Path) -> None:
    (root / "sub" / "AGENTS.md").rename(root / "sub" / "agents.md")


def remove_folder(root: Path) -> None:
    shutil.rmtree(root / "sub")


def make_folder_a_file(root: Path) -> None:
    shutil.rmtree(root / "sub")
    (root / "sub").touch()


def make_root_vanish(root: Path) -> None:
    shutil.rmtree(root)


CHANGES = (
    replace_file,
    replace_file_and_keep_its_time,
    lengthen_file,
    empty_file,
    remove_file,
    make_file_a_folder,
    make_file_a_pipe,
    add_file,
    add_folder,
    rename_file,
    remove_folder,
    make_folder_a_file,
    make_root_vanish,
)


def test_nothing_happened(root: Path) -> None:
    fingerprint = fingerprint_sources(root, FILES, FOLDERS, salt="1")
    assert is_unchanged(fingerprint, root, salt="1")
    assert is_unchanged(fingerprint, str(root), salt="1")
    assert is_unchanged(Fingerprint.from_bytes(fingerprint.to_bytes()), root, salt="1")


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("later_ns", [0, LATER_NS])
def test_a_change_is_seen(root: Path, change: Callable[[Path], None], later_ns: int) -> None:
    fingerprint = fingerprint_sources(root, FILES, FOLDERS, now_ns=time.time_ns() + later_ns)
    assert is_unchanged(fingerprint, root)
    change(root)
    assert not is_unchanged(fingerprint, root)


@pytest.mark.parametrize("change", [add_file, add_folder, rename_file])
def test_a_change_in_the_same_tick_of_the_clock_is_seen(
    root: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = max(folder.stat().st_ctime_ns for folder in (root, root / "sub"))
    monkeypatch.setattr(fingerprints, "_status", lambda _: (1, 2, changed, changed))
    monkeypatch.setattr(fingerprints, "_statuses", lambda _, paths: [(1, 2, changed, changed)] * len(paths))
    trusting = fingerprint_sources(root, FILES, FOLDERS, now_ns=changed + RACY_NS)
    careful = fingerprint_sources(root, FILES, FOLDERS, now_ns=changed + RACY_NS - 1)
    change(root)
    (root / "sub" / "AGENTS.md").write_text("# More\n")
    assert is_unchanged(trusting, root), "the clock must hide this change, or the test shows nothing"
    assert not is_unchanged(careful, root)


def test_setting_the_time_of_a_folder_back_hides_nothing(root: Path) -> None:
    status = (root / "sub").stat()
    fingerprint = fingerprint_sources(root, FILES, FOLDERS, now_ns=time.time_ns() + LATER_NS)
    time.sleep(0.05)  # several ticks of the clock, as the time of change is to differ
    add_file(root)
    os.utime(root / "sub", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not is_unchanged(fingerprint, root)


def test_an_old_time_stamp_is_trusted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fingerprint = fingerprint_sources(root, FILES, FOLDERS, now_ns=time.time_ns() + LATER_NS)
    monkeypatch.setattr(fingerprints, "_entries", lambda *_: pytest.fail("the folder was read"))
    assert is_unchanged(fingerprint, root)


def test_a_newer_time_stamp_with_the_same_names_is_no_change(root: Path) -> None:
    before = root.stat().st_mtime_ns
    fingerprint = fingerprint_sources(root, FILES, FOLDERS, now_ns=time.time_ns() + LATER_NS)
    # As editors save: to another name, then renamed.
    (root / "new").write_text((root / "CLAUDE.md").read_text())
    (root / "new").rename(root / "CLAUDE.md")
    assert root.stat().st_mtime_ns > before
    assert is_unchanged(fingerprint, root)


def test_a_folder_that_changed_after_the_scan_began_counts_as_changed(root: Path) -> None:
    began = time.time_ns() - 5 * 10**9  # the fixture has changed the folders since
    assert not is_unchanged(fingerprint_sources(root, FILES, FOLDERS, now_ns=began), root)
    assert is_unchanged(fingerprint_sources(root, FILES, []), root)


def test_a_time_stamp_from_the_future_is_not_trusted_and_no_change(root: Path) -> None:
    future = time.time_ns() + 3600 * 10**9
    os.utime(root, ns=(future, future))
    fingerprint = fingerprint_sources(root, FILES, FOLDERS)
    assert is_unchanged(fingerprint, root)
    (root / "new").touch()
    os.utime(root, ns=(future, future))
    assert not is_unchanged(fingerprint, root)


def test_the_salt_counts(root: Path) -> None:
    fingerprint = fingerprint_sources(root, FILES, FOLDERS, salt="0.1.0 defaults")
    assert not is_unchanged(fingerprint, root, salt="0.2.0 defaults")
    assert not is_unchanged(fingerprint, root)


def test_what_was_missing_counts_when_it_appears(root: Path) -> None:
    fingerprint = fingerprint_sources(root, [*FILES, "later.md"], [*FOLDERS, "later"])
    assert is_unchanged(fingerprint, root)
    (root / "later.md").touch()
    assert not is_unchanged(fingerprint, root)
    (root / "later.md").unlink()
    (root / "later").mkdir()
    assert not is_unchanged(fingerprint, root)
    fingerprint = fingerprint_sources(root, ["later.md"], [])
    assert is_unchanged(fingerprint, root)
    (root / "later.md").touch()
    assert not is_unchanged(fingerprint, root)


def test_only_relevant_entries_count(root: Path) -> None:
    def rules(_folder: str, name: str, kind: str) -> bool:
        return kind == "d" or name.endswith(".md")

    fingerprint = fingerprint_sources(root, FILES, FOLDERS, relevant=rules)
    (root / "sub" / "main.py").touch()
    (root / "sub" / "linked").symlink_to("main.py")
    assert is_unchanged(fingerprint, root, relevant=rules)
    (root / "sub" / "new").mkdir()
    assert not is_unchanged(fingerprint, root, relevant=rules)
    (root / "sub" / "new").rmdir()
    assert is_unchanged(fingerprint, root, relevant=rules)
    add_file(root)
    assert not is_unchanged(fingerprint, root, relevant=rules)


def test_a_link_to_a_folder(root: Path, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "AGENTS.md").touch()
    link = root / "link"
    link.symlink_to(tmp_path / "one")
    fingerprint = fingerprint_sources(root, [], ["link"])
    assert is_unchanged(fingerprint, root)
    link.unlink()
    link.symlink_to(tmp_path / "two")
    assert not is_unchanged(fingerprint, root)
    link.unlink()
    assert not is_unchanged(fingerprint, root)
    link.symlink_to("link")
    assert not is_unchanged(fingerprint, root)


def test_a_link_to_a_rule_file(root: Path, tmp_path: Path) -> None:
    (tmp_path / "shared.md").write_text("a")
    (root / "linked.md").symlink_to(tmp_path / "shared.md")
    fingerprint = fingerprint_sources(root, ["linked.md"], [])
    assert is_unchanged(fingerprint, root)
    (tmp_path / "shared.md").write_text("b")
    assert not is_unchanged(fingerprint, root)


def test_names_that_are_no_text(root: Path) -> None:
    name = os.fsdecode(b"\xff\xfe.md")
    (root / name).write_text("a")
    fingerprint = Fingerprint.from_bytes(fingerprint_sources(root, [name], ["."]).to_bytes())
    assert is_unchanged(fingerprint, root)
    assert is_unchanged(fingerprint_sources(root, [name], ["."], relevant=lambda *_: True), root)
    (root / name).write_text("b")
    assert not is_unchanged(fingerprint, root)


def test_a_path_with_nul_is_a_path_to_nothing(root: Path) -> None:
    assert is_unchanged(fingerprint_sources(root, ["a\0b"], ["c\0d"]), root)


def test_names_and_kinds_do_not_run_into_each_other(root: Path) -> None:
    sub = root / "sub"
    shutil.rmtree(sub)
    digests = []
    for names in (["ab"], ["a", "b"], ["a"], []):
        sub.mkdir()
        for name in names:
            (sub / name).touch()
        digests.append(fingerprint_sources(root, [], ["sub"]).directories[0].entries)
        shutil.rmtree(sub)
    assert len(set(digests)) == 4


@given(st.binary(max_size=60).filter(lambda data: not data.startswith(b"\x94")))
def test_bytes_that_are_no_fingerprint(data: bytes) -> None:
    with pytest.raises(StoreDamagedError, match="compile again"):
        Fingerprint.from_bytes(data)
