"""What all benchmarks share: the machine above the tables and in the JSON, the Node peer, its clock, the grouping.

A group is a question, a test is a contender, the parameter ``size`` is the size. Peers are pinned; the package that is
measured here is ours, so judge the set-up before the figures.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

# Every contender gets one thread. NumPy's libraries read this when they are loaded, which is later.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.peers.contender import TimedPeer
from benchmarks.peers.install import PeerUnavailableError
from benchmarks.peers.node import NodePeer

from benchmarks import machine


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in machine.header():
        terminalreporter.write_line(line)


class _Hooks:
    """Hooks of pytest-benchmark, registered only where it is installed and active."""

    @staticmethod
    def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:
        machine_info["tipstaff"] = machine.describe()

    @staticmethod
    def pytest_benchmark_group_stats(
        config: pytest.Config, benchmarks: list[Any], group_by: str
    ) -> list[tuple[str | None, list[Any]]] | None:
        """Group as asked, also where a benchmark lacks the parameter that is grouped by: it has one size only."""
        keys = group_by.split(",")
        if keys[0] != "group" or not all(key.startswith("param:") for key in keys[1:]):
            return None
        groups: dict[str | None, list[Any]] = defaultdict(list)
        for bench in benchmarks:
            params = bench["params"] or {}
            names = [key.removeprefix("param:") for key in keys[1:]]
            parts = [bench["group"] or bench["fullname"].split("::")[0]]
            parts += [f"{name}={params[name]}" for name in names if name in params]
            groups[" ".join(parts)].append(bench)
        for members in groups.values():
            members.sort(key=lambda bench: bench["median"])
        return sorted(groups.items(), key=lambda pair: pair[0] or "")


def pytest_configure(config: pytest.Config) -> None:
    if config.pluginmanager.hasplugin("benchmark"):
        config.pluginmanager.register(_Hooks(), "tipstaff-benchmark-hooks")


@pytest.fixture(scope="session")
def node_peer() -> Iterator[TimedPeer]:
    try:
        peer = NodePeer()
    except PeerUnavailableError as error:
        pytest.skip(f"the Node peer is left out: {error}")
    with peer:
        yield TimedPeer(peer)
