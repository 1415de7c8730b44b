"""How long does a whole process take, from its start to its end?

``python -m benchmarks.bars`` takes the contenders in turns and judges what they take more than Python alone.
"""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import processes

ROUNDS = 21


@pytest.mark.benchmark(group="start a process and wait for its end")
@pytest.mark.parametrize("command", processes.COMMANDS)
def test_process(benchmark: Any, command: str) -> None:
    assert benchmark.pedantic(processes.measure, (command,), rounds=ROUNDS, warmup_rounds=2).processor > 0
