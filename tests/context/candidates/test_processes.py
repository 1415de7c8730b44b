"""Several processes on one store, killed and not killed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.context.candidates.kill_runs import run_once
from tipstaff.context.candidates.store import CandidateStore


@pytest.mark.parametrize("seed", range(1000, 1006))
def test_kill_nine_loses_nothing_that_was_acknowledged(tmp_path: Path, seed: int) -> None:
    outcome = run_once(tmp_path, seed)
    assert outcome.kept >= outcome.acknowledged


WRITE = """
import sys
from tipstaff.context.candidates.store import CandidateStore
store = CandidateStore(sys.argv[1], sync=False)
for number in range(60):
    store.upsert({"content": f"own{sys.argv[2]}words{number}", "source_ref": sys.argv[2]})
    store.upsert({"content": "what all of them say", "source_ref": sys.argv[2], "success_delta": 1})
"""


def test_writers_at_the_same_time_lose_no_update(tmp_path: Path) -> None:
    children = [subprocess.Popen([sys.executable, "-c", WRITE, str(tmp_path), str(number)]) for number in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    with CandidateStore(tmp_path) as store:
        found = store.candidates()
        assert store.incidents == ()
    shared = [candidate for candidate in found if candidate.content == "what all of them say"]
    assert len(shared) == 1
    assert shared[0].evidence_count == shared[0].success_count == 180
    assert set(shared[0].source_refs) == {"0", "1", "2"}
    assert len(found) == 181


def test_threads_share_one_store(tmp_path: Path) -> None:
    store = CandidateStore(tmp_path, sync=False)

    def work(number: int) -> None:
        for i in range(50):
            store.upsert({"content": f"thread{number}item{i}"})
            store.upsert({"content": "said by every thread"})
            assert store.candidates()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.candidates()) == 201
    assert max(found.evidence_count for found in store.candidates()) == 200
    assert store.verify() == ()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_takes_locks_of_its_own(tmp_path: Path) -> None:
    store = CandidateStore(tmp_path, sync=False)
    store.upsert({"content": "before the fork"})
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for number in range(40):
                store.upsert({"content": f"child{number} of{number} it"})
            status = 0
        finally:
            os._exit(status)
    for number in range(40):
        store.upsert({"content": f"parent{number} says{number} it"})
    assert os.waitpid(child, 0)[1] == 0
    assert len(store.candidates()) == 81
    assert store.verify() == ()
