"""Several threads that score the parts of many shards."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

MAX_THREADS: Final = 4
"""At most so many work on one task, the caller's among them."""

_Part = TypeVar("_Part")
_Found = TypeVar("_Found")


@lru_cache(maxsize=2)
def _pool(_process: int) -> ThreadPoolExecutor:
    """Return the threads of a process; a process made by fork has none of its parent's."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(MAX_THREADS - 1, thread_name_prefix="tipstaff-scoring")


def by_turns(score: Callable[[_Part], _Found], parts: Sequence[_Part]) -> list[_Found]:
    """Score all parts, each by whichever thread is free, the caller's among them.

    A thread that wakes late, or that somebody else's work holds up, takes fewer parts; nobody waits for one that
    has not begun.

    Parameters
    ----------
    score
        Scores one part; should release the interpreter's lock.
    parts
        Several times as many as processors.

    Returns
    -------
    list
        What was found in each part, in no order.
    """
    left = deque(parts)

    def work() -> list[_Found]:
        found: list[_Found] = []
        while True:
            try:
                part = left.popleft()
            except IndexError:
                return found
            found.append(score(part))

    helpers = min(os.cpu_count() or 1, MAX_THREADS, len(parts)) - 1
    if helpers <= 0:
        return work()
    threads = _pool(os.getpid())
    waiting = [threads.submit(work) for _ in range(helpers)]
    found = work()
    for one in waiting:
        if not one.cancel():
            found += one.result()
    return found
