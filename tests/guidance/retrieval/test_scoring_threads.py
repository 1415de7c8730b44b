"""Parts of many shards, scored by turns."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tipstaff.guidance.retrieval.scoring_threads import MAX_THREADS, by_turns


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(), max_size=40))
def test_every_part_is_scored_once(parts: list[int]) -> None:
    assert sorted(by_turns(lambda part: part * 2, parts)) == sorted(part * 2 for part in parts)


def test_several_threads_share_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    together = threading.Barrier(3)

    def score(part: int) -> str:
        if part < 3:
            together.wait(timeout=60)  # nobody passes unless three threads are at work
        return threading.current_thread().name

    assert len(set(by_turns(score, range(9)))) == 3


def test_nobody_waits_for_a_thread_that_has_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: MAX_THREADS)
    held = threading.Event()
    begun = threading.Semaphore(0)

    def hold(part: int) -> int:
        begun.release()
        assert held.wait(timeout=60)
        return part

    caller = threading.Thread(target=lambda: by_turns(hold, range(MAX_THREADS)))
    caller.start()
    for _ in range(MAX_THREADS):
        assert begun.acquire(timeout=60)
    # All threads are held up: the caller here does everything alone.
    assert sorted(by_turns(lambda part: part, range(100))) == list(range(100))
    held.set()
    caller.join(timeout=60)
    assert not caller.is_alive()


@pytest.mark.parametrize("cpus", [1, 4])
def test_an_error_reaches_the_caller(monkeypatch: pytest.MonkeyPatch, cpus: int) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cpus)

    def score(part: int) -> int:
        if part == 7:
            msg = "part 7"
            raise ValueError(msg)
        return part

    with pytest.raises(ValueError, match="part 7"):
        by_turns(score, range(16))
    assert sorted(by_turns(score, range(7))) == list(range(7))
