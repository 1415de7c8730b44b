"""What is kept before a call: whole or not there, within its limits, by nothing that the repository configures."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

from tests.undo.test_facts import git
from tipstaff.kernels._undo import keep

EVERYTHING = [("delete", "d"), ("git", "stash"), ("git", "index"), ("git", "head"), ("git", "reflogs"), ("inside",)]
PROGRAM = f"""
import sys
from tipstaff.kernels._undo import keep
print("ready", flush=True)
while keep({EVERYTHING!r}, sys.argv[1], sys.argv[2])[1] is None: pass
"""


def repository(root: Path, files: int = 50) -> Path:
    """Make a repository with a stash, a changed file and a folder of untracked ones."""
    (root / "d").mkdir(parents=True)
    git(root, "init", "-q")
    for text in ("1", "2"):
        (root / "t").write_text(text)
        git(root, "add", "t")
        git(root, *(("commit", "-qm", "x") if text == "1" else ("stash", "-q")))
    for number in range(files):
        (root / f"d/{number}").write_text(f"{number}\n" * 100)
    (root / "d/large").write_bytes(os.urandom(700_000))
    return root


def read(folder: Path) -> dict[str, Any]:
    """Return a keep's manifest after everything in it was checked."""
    data = (folder / "keep").read_bytes()
    magic, size, sum_, own = struct.unpack("<8sQII", data[-24:])
    text = data[-24 - size : -24]
    assert magic == b"tipkeep1"
    assert zlib.crc32(data[-24:-4]) == own
    assert zlib.crc32(text) == sum_
    manifest: dict[str, Any] = json.loads(text)
    for entry in manifest["files"]:
        path = Path(entry["path"])
        if "at" in entry:
            kept = data[entry["at"] : entry["at"] + entry["size"]]
            assert (zlib.crc32(kept), kept) == (entry["crc"], path.read_bytes()), entry
        elif "file" in entry:
            assert (folder / entry["file"]).read_bytes() == path.read_bytes(), entry
    return manifest


def kept_in(state: Path) -> tuple[list[Path], list[Path]]:
    """Return the keeps that are whole, and those that were begun."""
    found = list((state / "undo").glob("*/*")) if (state / "undo").is_dir() else []
    return [one for one in found if one.name[0] != "."], [one for one in found if one.name[0] == "."]


def test_a_kill_leaves_no_half_keep(tmp_path: Path) -> None:
    root = repository(tmp_path / "r")
    drawn, whole, begun = random.Random(1), 0, 0
    for number in range(16):
        state = tmp_path / f"s{number}"
        process = subprocess.Popen([sys.executable, "-c", PROGRAM, root, state], stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(drawn.random() * 0.2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        done, half = kept_in(state)
        for folder in done:
            manifest = read(folder)
            assert git(root, "rev-parse", manifest["git"]["pins"] + "0")
        whole, begun = whole + len(done), begun + len(half)
    assert min(whole, begun) > 0, (whole, begun)


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    root = repository(tmp_path / "r")
    program = (
        "import resource, signal, sys\nfrom tipstaff.kernels._undo import keep\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))\n"
        f"print(keep({EVERYTHING!r}, sys.argv[1], sys.argv[2])[1])"
    )
    for most in (0, 30, 5_000):
        done = subprocess.run(
            [sys.executable, "-c", program, root, tmp_path / "s", str(most)], check=True, capture_output=True, text=True
        )
        assert done.stdout.strip() not in {"", "None"}, (most, done)
        assert kept_in(tmp_path / "s") == ([], []), most
        assert not git(root, "for-each-ref", "refs/tipstaff"), most
    shutil.rmtree(tmp_path / "s")
    os.mkfifo(root / "pipe")  # a keep that waits would never end
    folder, why, *_ = keep(EVERYTHING, root, tmp_path / "s")
    assert why is None
    assert folder is not None
    assert read(Path(folder))["counts"]["untracked"] == 52


def test_limits_and_what_cannot_be_kept(tmp_path: Path) -> None:
    root = repository(tmp_path / "r")
    (tmp_path / "loose").write_text("1")
    (root / "out").symlink_to(tmp_path / "loose")
    rows: list[tuple[list[tuple[str, ...]], dict[str, int], str]] = [
        ([("delete", "d")], {"bytes": 100_000}, "more than is kept"),
        ([("delete", "d")], {"files": 10}, "more files than are kept"),
        ([("delete", "d")], {"walk": 10}, "more files than are looked at"),
        ([("delete", "d")], {"free": 1 << 62}, "nearly full"),
        ([("write", "out")], {}, "in no repository"),
        ([("delete", "../loose")], {}, "in no repository"),
        ([("move", "../loose", "x")], {}, "no repository"),
    ]
    for effects, limits, wanted in rows:
        folder, why, *_ = keep(effects, root, tmp_path / "s", limits=limits)
        assert (folder, wanted in str(why)) == (None, True), (effects, limits, why)
        assert kept_in(tmp_path / "s")[0] == []
    assert keep([("delete", "nothing"), ("replace", "d"), ("delete", "out/x")], root, tmp_path / "s")[:2] == (
        None,
        None,
    )


def test_what_is_kept_of_git(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", 1)
    git(root, "branch", "side")
    git(root, "tag", "v1")
    git(root, "pack-refs", "--all")
    folder, why, *_ = keep(
        [("git", "ref", "refs/heads/side"), ("git", "ref", "refs/tags/"), ("git", "stash"), ("git", "index")],
        root,
        tmp_path / "s",
        command="git branch -D side",
    )
    assert why is None
    assert folder is not None
    kept = read(Path(folder))
    head = git(root, "rev-parse", "HEAD")[0].strip()
    assert kept["git"]["refs"] | {"refs/heads/side": head, "refs/tags/v1": head} == kept["git"]["refs"]
    assert [text for _, text in kept["git"]["stashes"]] == [
        git(root, "log", "-g", "--format=%gs", "refs/stash")[0].strip()
    ]
    for number, name in enumerate(kept["git"]["pinned"]):
        assert git(root, "rev-parse", f"{kept['git']['pins']}{number}")[0].strip() == name
    assert (Path(folder) / "index").read_bytes()[:4] == b"DIRC"
    # What may change is kept once, until it does.
    first = keep([("inside",)], root, tmp_path / "s")[0]
    assert keep([("inside",)], root, tmp_path / "s")[0] == first is not None
    (root / "d/0").write_text("other")
    assert keep([("inside",)], root, tmp_path / "s")[0] != first


def test_nothing_runs_that_the_repository_configures(tmp_path: Path) -> None:
    root, ran = repository(tmp_path / "r", 2), tmp_path / "ran"
    hooks = root / ".hooks"
    hooks.mkdir()
    for name in (
        "reference-transaction",
        "post-index-change",
        "pre-commit",
        "post-checkout",
        "fsmonitor-watchman",
        "program",
    ):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\ncat\n")
        (hooks / name).chmod(0o755)
    (root / ".gitattributes").write_text("* filter=evil diff=evil\n")
    keys = "filter.evil.clean filter.evil.smudge filter.evil.process diff.evil.textconv diff.evil.command diff.external"
    keys += " core.pager core.fsmonitor core.editor core.askPass core.sshCommand gpg.program credential.helper"
    for key in keys.split():
        git(root, "config", key, str(hooks / "program"))
    git(root, "config", "core.hooksPath", str(hooks))
    git(root, "config", "alias.write-tree", f"!echo alias >> {ran}")
    (root / "t").write_text("changed")
    shutil.rmtree(ran, ignore_errors=True)
    effects = [
        ("delete", "t"),
        ("git", "incoming", "stash@{0}"),
        ("git", "worktree"),
        ("git", "untracked"),
        *EVERYTHING,
    ]
    folder, why, *_ = keep(effects, root, tmp_path / "s")
    assert why is None
    assert folder is not None
    assert read(Path(folder))["counts"]["changed"] == 1
    assert not ran.exists(), ran.read_text()
