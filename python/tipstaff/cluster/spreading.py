"""A function over many parts, on processes of this machine or on Ray; the answers come in the order of the parts."""

from __future__ import annotations

import hashlib
import importlib
import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Final, Self, TypeVar

from tipstaff.errors import ClusterError, ConfigError, MissingExtraError
from tipstaff.processors import usable_processors

P = TypeVar("P")
R = TypeVar("R")
Progress = Callable[[int, int], None]

RETRIES: Final = 3
"""How often a part is tried again whose process or node died; an exception of the function is not tried again."""
_AHEAD: Final = 2  # parts in flight for each process

_functions: dict[str, Callable[[Any], Any]] = {}
"""In a worker: what was sent, by its digest, so that a policy is opened once and not for each part."""


class Cluster(ABC):
    """Where bulk work runs.

    Attributes
    ----------
    seconds
        How long each part of the last `map` took in its process, by its number.
    """

    processes: int

    def __init__(self) -> None:
        self.seconds: dict[int, float] = {}

    def map(self, function: Callable[[P], R], parts: Sequence[P], *, progress: Progress | None = None) -> Iterator[R]:
        """Yield what a function returns for each part, in the order of the parts, whatever the order of their ends.

        Parameters
        ----------
        function
            Can be pickled; it is sent once to each process and must depend on nothing but its part.
        parts
            Can be pickled.
        progress
            Called with the number of parts done and their number.

        Raises
        ------
        ClusterError
            The process or node of a part died more than `RETRIES` times.
        Exception
            Whatever the function raised; what still runs is cancelled.
        """
        self.seconds = {}
        done: dict[int, R] = {}
        given = 0
        for number, (answer, seconds) in self._run(pickle.dumps(function), parts):
            done[number], self.seconds[number] = answer, seconds
            if progress is not None:
                progress(len(self.seconds), len(parts))
            while given in done:
                yield done.pop(given)
                given += 1

    def stragglers(self) -> dict[int, float]:
        """Return the parts of the last `map` that took more than twice the median, and their seconds."""
        times = sorted(self.seconds.values())
        limit = 2 * times[len(times) // 2] if times else 0.0
        return {number: one for number, one in sorted(self.seconds.items()) if one > limit}

    @abstractmethod
    def _run(self, function: bytes, parts: Sequence[Any]) -> Iterator[tuple[int, tuple[Any, float]]]:
        """Yield number, answer and seconds of each part as it ends."""

    def close(self) -> None:  # noqa: B027 - not every cluster holds something
        """End its processes."""

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """End its processes."""
        self.close()


def open_cluster(address: str) -> Cluster:
    """Return a cluster by its address.

    Parameters
    ----------
    address
        ``local`` or ``local:4`` (processes of this machine); ``ray`` (a running cluster of this machine, or one of its
        own), ``ray://HOST:PORT`` or ``ray:HOST:PORT``.

    Raises
    ------
    ConfigError
        It is no address.
    MissingExtraError
        Ray is not installed.
    ClusterError
        Ray does not answer.
    """
    kind, _, rest = address.partition(":")
    if kind == "local" and (not rest or (rest.isascii() and rest.isdigit() and int(rest) > 0)):
        return LocalCluster(int(rest) if rest else usable_processors())
    if kind == "ray":
        return RayCluster(address if rest.startswith("//") else rest)
    raise ConfigError(f"{address!r} is no cluster; use local, local:4, ray, ray:HOST:PORT or ray://HOST:PORT")


class LocalCluster(Cluster):
    """Processes of this machine."""

    def __init__(self, processes: int) -> None:
        super().__init__()
        self.processes = processes
        self._pool: ProcessPoolExecutor | None = None

    def _run(self, function: bytes, parts: Sequence[Any]) -> Iterator[tuple[int, tuple[Any, float]]]:
        digest = hashlib.sha256(function).hexdigest()
        waiting = list(range(len(parts)))[::-1]
        tries: dict[int, int] = {}
        running: dict[Future[Any], int] = {}
        try:
            while waiting or running:
                try:
                    while waiting and len(running) < _AHEAD * self.processes:
                        running[self._started().submit(_call, digest, function, parts[waiting[-1]])] = waiting[-1]
                        waiting.pop()
                    ended, _ = wait(running, return_when=FIRST_COMPLETED)
                    for one in ended:
                        answer = one.result()
                        yield running.pop(one), answer
                except BrokenProcessPool:
                    # Nobody knows whose process died: what was in flight is done again.
                    self.close()
                    lost = sorted(running.values(), reverse=True)
                    running.clear()
                    for number in lost:
                        tries[number] = tries.get(number, 0) + 1
                    if any(tries[number] > RETRIES for number in lost):
                        raise ClusterError(f"processes died {RETRIES + 1} times in parts {lost[::-1]}") from None
                    waiting += lost
        finally:
            if running:
                self.close()

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            import multiprocessing

            # Forking copies locks of threads in the middle of what they do.
            self._pool = ProcessPoolExecutor(self.processes, mp_context=multiprocessing.get_context("spawn"))
        return self._pool

    def close(self) -> None:
        """End the processes, also those that are at work."""
        pool, self._pool = self._pool, None
        if pool is not None:
            workers = list((getattr(pool, "_processes", None) or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.terminate()


class RayCluster(Cluster):
    """Ray: a task for each part; Ray itself runs a part again whose node died.

    Files are named, not sent: every node has to read them under the same names.
    """

    def __init__(self, address: str) -> None:
        super().__init__()
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise MissingExtraError(f'Ray cannot be imported ({error}): pip install "tipstaff[ray]"') from error
        self._own = not self._ray.is_initialized()
        if self._own:
            try:
                self._ray.init(address or None, log_to_driver=False, configure_logging=False)
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise ClusterError(f"Ray does not answer at {address or 'this machine'}: {error}") from error
        self.processes = max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def _run(self, function: bytes, parts: Sequence[Any]) -> Iterator[tuple[int, tuple[Any, float]]]:
        sent = self._ray.put(function)
        digest = hashlib.sha256(function).hexdigest()
        task = self._ray.remote(_call).options(max_retries=RETRIES, num_cpus=1)
        waiting = list(range(len(parts)))[::-1]
        running: dict[Any, int] = {}
        try:
            while waiting or running:
                while waiting and len(running) < _AHEAD * self.processes:
                    number = waiting.pop()
                    running[task.remote(digest, sent, parts[number])] = number
                ended, _ = self._ray.wait(list(running), num_returns=1)
                for one in ended:
                    try:
                        answer = self._ray.get(one)
                    except self._ray.exceptions.RayTaskError as error:
                        raise error.cause from error
                    except self._ray.exceptions.RayError as error:
                        raise ClusterError(f"part {running[one]}: {error}") from error
                    yield running.pop(one), answer
        finally:
            for one in running:
                self._ray.cancel(one, force=True)

    def close(self) -> None:
        """Leave the cluster; one that was started for this ends."""
        if self._own:
            self._ray.shutdown()


def _call(digest: str, function: bytes, part: Any) -> tuple[Any, float]:
    began = time.perf_counter()
    called = _functions.get(digest)
    if called is None:
        _functions.clear()
        called = _functions[digest] = pickle.loads(function)  # noqa: S301 - from our own driver
    return called(part), time.perf_counter() - began
