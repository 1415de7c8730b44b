from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from tipstaff.errors import StoreWriteError
from tipstaff.store.replacing import STALE_AFTER_S, replaced_file


def failing(code: int) -> Callable[..., NoReturn]:
    def fail(*_: object, **__: object) -> NoReturn:
        raise OSError(code, os.strerror(code))

    return fail


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_the_content_replaces_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_text("old")
    with replaced_file(target) as file:
        file.write(b"new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert names(tmp_path) == ["f"]


def test_only_the_owner_may_read(tmp_path: Path) -> None:
    with replaced_file(tmp_path / "f") as file:
        file.write(b"new")
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), StoreWriteError("no")])
def test_an_error_inside_passes_and_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    (tmp_path / "f").write_text("old")

    def write_half() -> None:
        with replaced_file(tmp_path / "f") as file:
            file.write(b"half")
            raise error

    with pytest.raises(type(error)) as caught:
        write_half()
    assert caught.value is error
    assert (tmp_path / "f").read_text() == "old"
    assert names(tmp_path) == ["f"]


@pytest.mark.parametrize(
    ("call", "code"), [("os.fsync", errno.ENOSPC), ("os.fsync", errno.EIO), ("pathlib.Path.replace", errno.EACCES)]
)
def test_a_failing_call_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    (tmp_path / "f").write_text("old")
    monkeypatch.setattr(call, failing(code))
    with pytest.raises(StoreWriteError, match=os.strerror(code)) as caught, replaced_file(tmp_path / "f") as file:
        file.write(b"new")
    assert caught.value.errno == code
    assert caught.value.filename == str(tmp_path / "f")
    assert isinstance(caught.value.__cause__, OSError)
    assert (tmp_path / "f").read_text() == "old"
    assert names(tmp_path) == ["f"]


def test_a_directory_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Who may write anywhere gets no such error from the file system, so it comes from the call.
    monkeypatch.setattr("tempfile.mkstemp", failing(errno.EROFS))
    with pytest.raises(StoreWriteError, match="Read-only"), replaced_file(tmp_path / "f"):
        pytest.fail("the block ran")
    assert names(tmp_path) == []


@pytest.mark.parametrize(("bad_path", "code"), [("none/f", errno.ENOENT), ("file/f", errno.ENOTDIR)])
def test_a_directory_that_is_a_file(tmp_path: Path, bad_path: str, code: int) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreWriteError, match=bad_path) as caught, replaced_file(tmp_path / bad_path):
        pytest.fail("the block ran")
    assert caught.value.errno == code


def test_a_target_that_is_a_directory(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    with pytest.raises(StoreWriteError, match="Is a directory"), replaced_file(tmp_path / "f") as file:
        file.write(b"new")
    assert names(tmp_path) == ["f"]


def test_a_directory_that_cannot_be_flushed_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flush = os.fsync

    def only_files(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not here")
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    with replaced_file(tmp_path / "f") as file:
        file.write(b"new")
    assert (tmp_path / "f").read_text() == "new"


def test_file_and_directory_are_flushed_around_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    flush = os.fsync

    def record(descriptor: int) -> None:
        kind = "directory" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        calls.append(f"{kind}, {'new' if (tmp_path / 'f').exists() else 'nothing'} in place")
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    with replaced_file(tmp_path / "f") as file:
        file.write(b"new")
    assert calls == ["file, nothing in place", "directory, new in place"]


def test_what_dead_writers_left_is_removed_once_it_is_old(tmp_path: Path) -> None:
    old = time.time() - STALE_AFTER_S - 60
    left = tmp_path / ".f.abcd_123.tmp"
    others = [
        tmp_path / name for name in (".g.abcd_123.tmp", "f.abcd_123.tmp", ".f.notours.old.tmp", ".f.ABCD_123.tmp")
    ]
    young = tmp_path / ".f.zzzzzzzz.tmp"
    for path in (left, *others, young):
        path.touch()
        if path != young:
            os.utime(path, (old, old))
    with replaced_file(tmp_path / "f") as file:
        file.write(b"new")
    assert names(tmp_path) == sorted(["f", young.name, *(path.name for path in others)])


def test_our_temporary_files_have_the_names_that_are_removed(tmp_path: Path) -> None:
    old = time.time() - STALE_AFTER_S - 60
    with replaced_file(tmp_path / "f"):
        (own,) = tmp_path.iterdir()
        os.utime(own, (old, old))
        # As if this writer had died here: another takes the name away.
        with replaced_file(tmp_path / "f") as file:
            file.write(b"other")
        assert names(tmp_path) == ["f"]
        own.touch()
