from __future__ import annotations

import ctypes
import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.store.bundles import plain_bundle, unit_vectors
from tipstaff.errors import ConfigError, StoreWriteError
from tipstaff.model import GuidanceRule, PolicyBundle, RuleShard
from tipstaff.store.replacing import STALE_AFTER_S
from tipstaff.store.shards import open_store, write_store

ROOT = Path(__file__).resolve().parents[2]
DIMS = 16

# Writes the bundles of two words in turn, for ever or as often as given.
WRITER = """
import itertools, sys
from tests.store.bundles import plain_bundle, unit_vectors
from tipstaff.store.shards import write_store
path, words, times = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
bundles = [plain_bundle(40, word) for word in words]
vectors = unit_vectors(40, 16)
write_store(path, bundles[0], vectors, embedding_identity="e")
print("ready", flush=True)
for turn in itertools.count() if times < 0 else range(times):
    write_store(path, bundles[turn % len(bundles)], vectors, embedding_identity="e")
"""


def writer(path: Path, words: str, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), words, str(times)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def temporary(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix == ".tmp"]


def test_a_writer_killed_at_any_moment_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    path, chance = tmp_path / "s", random.Random(4)
    either = (plain_bundle(40, "one"), plain_bundle(40, "two"))
    for _ in range(6):
        with writer(path, "one,two", -1) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(chance.random() * 0.05)
            process.kill()
        assert process.returncode == -signal.SIGKILL
        with open_store(path) as store:
            store.verify()
            assert store.bundle() in either
    # Whatever the dead have left goes away, once it is old, with the next writing.
    old = time.time() - STALE_AFTER_S - 1
    for left in temporary(tmp_path):
        os.utime(left, (old, old))
    write_store(path, either[0], unit_vectors(40, DIMS), embedding_identity="e")
    assert [entry.name for entry in tmp_path.iterdir()] == ["s"]


def test_two_writers_at_once_never_tear_the_store(tmp_path: Path) -> None:
    path = tmp_path / "s"
    either = (plain_bundle(40, "one"), plain_bundle(40, "two"))
    seen: set[str] = set()
    with writer(path, "one", 150) as first, writer(path, "two", 150) as second:
        for process in (first, second):
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        while first.poll() is None or second.poll() is None:
            with open_store(path) as store:
                store.verify()
                bundle = store.bundle()
            assert bundle in either
            seen.add(bundle.constitution.text)
    assert (first.returncode, second.returncode) == (0, 0)
    assert seen
    assert temporary(tmp_path) == []


def test_a_full_disk_leaves_the_old_store(tmp_path: Path) -> None:
    path = tmp_path / "s"
    write_store(path, plain_bundle(3), unit_vectors(3, DIMS), embedding_identity="e")
    size = path.stat().st_size
    program = """
import resource, sys
from tests.store.bundles import plain_bundle, unit_vectors
from tipstaff.errors import StoreWriteError
from tipstaff.store.shards import write_store
bundle, vectors = plain_bundle(300), unit_vectors(300, 16)
limit, hard = int(sys.argv[2]), resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
try:
    write_store(sys.argv[1], bundle, vectors, embedding_identity="e")
except StoreWriteError as error:
    print(error.errno, error.filename == sys.argv[1], "unharmed" in str(error))
"""
    for limit in (0, 10, size, 4 * size):
        command = [sys.executable, "-W", "error", "-c", program, path, str(limit)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert (done.stdout, done.stderr) == (f"{errno.EFBIG} True True\n", "")
        assert open_store(path).bundle() == plain_bundle(3)
        assert [entry.name for entry in tmp_path.iterdir()] == ["s"]


def test_no_space_left_when_flushing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s"
    write_store(path, plain_bundle(3), unit_vectors(3, DIMS), embedding_identity="e")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreWriteError, match="No space left") as caught:
        write_store(path, plain_bundle(4), unit_vectors(4, DIMS), embedding_identity="e")
    assert caught.value.errno == errno.ENOSPC
    assert open_store(path).bundle() == plain_bundle(3)
    assert temporary(tmp_path) == []


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreWriteError, match="No such file or directory"):
        write_store(tmp_path / "none" / "s", plain_bundle(1), unit_vectors(1, DIMS), embedding_identity="e")


def one_rule(**fields: object) -> PolicyBundle:
    rule = GuidanceRule(id="R", text="t").replace(**fields)
    return plain_bundle(0).replace(shards=(RuleShard(rule, "- t"),))


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"text": "\ud800"}, "surrogate"),
        ({"heading": "\udfff"}, "surrogate"),
        ({"intents": ("\ud800",)}, "surrogate"),
        ({"priority": 2**31}, "int|large|convert"),
        ({"line": 2**70}, "64|large|convert"),
    ],
)
def test_a_value_that_cannot_be_stored(tmp_path: Path, fields: dict[str, object], what: str) -> None:
    write_store(tmp_path / "s", one_rule(), unit_vectors(1, DIMS), embedding_identity="e")
    with pytest.raises(StoreWriteError, match=what):
        write_store(tmp_path / "s", one_rule(**fields), unit_vectors(1, DIMS), embedding_identity="e")
    assert open_store(tmp_path / "s").bundle() == one_rule()


def test_a_surrogate_in_the_other_parts(tmp_path: Path) -> None:
    bundle = plain_bundle(1)
    bad = bundle.replace(constitution=bundle.constitution.replace(text="\ud800"))
    with pytest.raises(StoreWriteError, match="surrogate"):
        write_store(tmp_path / "s", bad, unit_vectors(1, DIMS), embedding_identity="e")
    with pytest.raises(StoreWriteError, match="surrogate"):
        write_store(tmp_path / "s", bundle, unit_vectors(1, DIMS), embedding_identity="e", metadata={"k": "\ud800"})
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_risk_class(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="rule R: risk class 'dire' is not one of info, low"):
        write_store(tmp_path / "s", one_rule(risk_class="dire"), unit_vectors(1, DIMS), embedding_identity="e")


@pytest.mark.parametrize(
    "vectors",
    [
        unit_vectors(4, DIMS),
        unit_vectors(3, DIMS).astype(np.float64),
        unit_vectors(DIMS, 3).T,
        unit_vectors(3, DIMS).reshape(3, 4, 4),
        np.zeros((3, 0), np.float32),
        np.zeros(47, np.float32),
        np.zeros((), np.float32),
        b"\0" * 12,
        [1.0, 2.0, 3.0],
    ],
)
def test_vectors_that_do_not_fit(tmp_path: Path, vectors: object) -> None:
    with pytest.raises(ConfigError, match="vectors must"):
        write_store(tmp_path / "s", plain_bundle(3), vectors, embedding_identity="e")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [np.ravel, lambda rows: (ctypes.c_float * rows.size)(*rows.ravel().tolist())])
def test_flat_vectors(tmp_path: Path, make: Callable[[Any], object]) -> None:
    vectors = unit_vectors(3, DIMS)
    write_store(tmp_path / "s", plain_bundle(3), make(vectors), embedding_identity="e")
    with open_store(tmp_path / "s") as store:
        assert np.array_equal(np.asarray(store.vectors), vectors)


def test_dims_that_contradict_the_vectors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"shape \(3, 8\)"):
        write_store(tmp_path / "s", plain_bundle(3), unit_vectors(3, DIMS), embedding_identity="e", dims=8)


def test_a_row_that_is_not_finite(tmp_path: Path) -> None:
    vectors = unit_vectors(3, DIMS)
    vectors[1, 0] = np.nan
    with pytest.raises(StoreWriteError, match="row 1 is not finite"):
        write_store(tmp_path / "s", plain_bundle(3), vectors, embedding_identity="e")
