"""The Node peer as a contender of pytest-benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.peers.node import NodePeer, Timing


class PeerClock:
    """A clock that shows how long Node has worked: pytest-benchmark then records Node's own times, not the pipe's."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


CLOCK = PeerClock()


class TimedPeer:
    """The peer as a contender: `run` records a benchmark by Node's clock and returns the last result."""

    def __init__(self, peer: NodePeer) -> None:
        self.peer = peer

    def run(self, benchmark: Any, operation: str, *, rounds: int, warm: int, **values: Any) -> Timing:
        self.peer.prepare(operation, **values)
        self.peer.time(operation, times=1, warm=warm)
        benchmark.extra_info["peer"] = self.peer.name
        # Timed in one request: a pause at the pipe between two calls would let the processor's caches go cold.
        timing = self.peer.time(operation, times=rounds)
        remaining = iter(timing.seconds)

        def replay() -> None:
            CLOCK.seconds += next(remaining)

        benchmark.pedantic(replay, rounds=rounds)
        return timing
