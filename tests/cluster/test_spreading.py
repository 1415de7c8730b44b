"""Work over parts gives what one process gives, whatever dies; on Ray where it is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.runs.test_replay import calls, secret
from tipstaff.cli.app import run
from tipstaff.cluster.spreading import Cluster, LocalCluster, open_cluster
from tipstaff.errors import ClusterError, ConfigError
from tipstaff.gates.config import GateConfig
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.runs import replay
from tipstaff.runs.replaying import comparing

HAS_RAY = importlib.util.find_spec("ray") is not None


@pytest.fixture(
    scope="module", params=["local:2", pytest.param("ray", marks=pytest.mark.skipif(not HAS_RAY, reason="needs Ray"))]
)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with open_cluster(request.param) as found:
        yield found


class Square(NamedTuple):
    """Squares its part; the process that meets `dies` for the first time ends."""

    marks: Path
    dies: int = -1
    raises: int = -1

    def __call__(self, part: int) -> int:
        if part == self.raises:
            raise ValueError(f"no square of {part}")
        if part == self.dies:
            tried = len(list(self.marks.iterdir()))
            (self.marks / str(tried)).touch()
            if tried < 2:
                os.kill(os.getpid(), signal.SIGKILL)
        return part * part


def test_answers_come_in_order_and_a_dead_process_costs_its_parts_alone(cluster: Cluster, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    found = cluster.map(Square(tmp_path, dies=7), range(20), progress=lambda *done: seen.append(done))
    assert list(found) == [one * one for one in range(20)]
    assert len(list(tmp_path.iterdir())) >= 3
    assert seen == [(one, 20) for one in range(1, 21)]
    assert set(cluster.stragglers()) <= set(range(20))


def test_what_the_function_raises_ends_the_work(cluster: Cluster, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no square of 3"):
        list(cluster.map(Square(tmp_path, raises=3), range(50)))
    assert list(cluster.map(Square(tmp_path), [4])) == [16]


def test_a_part_that_kills_each_process_is_given_up(tmp_path: Path) -> None:
    with LocalCluster(1) as cluster, pytest.raises(ClusterError, match=r"died 4 times in parts \[0, 1\]"):
        list(cluster.map(_die, [0, 1]))


def _die(part: int) -> None:
    if part == 0:
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("address", ["", "local:0", "local:x", "dask", "local:-1"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(ConfigError, match="is no cluster"):
        open_cluster(address)


def test_a_spread_replay_is_the_report_of_one_process(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pa.concat_tables([calls()] * 30)
    for number in range(3):
        pq.write_table(table.slice(number * 100, 130), tmp_path / f"{number}.parquet", row_group_size=17)
    after = GateConfig(destructive_ops=False)
    whole = replay(tmp_path, before=None, after=after)
    assert whole.changed
    for rows in (1, 40, 10_000):
        monkeypatch.setattr(comparing, "PART_ROWS", rows)
        assert replay(tmp_path, before=None, after=after, spread=cluster.map) == whole


def test_gates_judge_alike_in_another_process(cluster: Cluster, tmp_path: Path) -> None:
    rule = {
        "id": "own.deploy", "programs": ["deploy"], "decision": "block", "severity": "high",
        "reason": "It deploys.", "safer": "Ask first.", "positives": ["deploy x"], "negatives": ["ls"],
    }  # fmt: skip
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in rule.items())
    (tmp_path / "own.toml").write_text(f'[pack]\nid = "own"\n[[rule]]\n{lines}')
    made = EnforcementGates(GateConfig(secrets=False), packs=[tmp_path / "own.toml"])
    gates = made.offline(home="/home/user", temporary="/tmp")
    assert gates.evaluate_command("deploy x")
    commands = ["git reset --hard", "rm -rf ~", "ls", "deploy x"]
    assert list(cluster.map(gates.evaluate_command, commands)) == [gates.evaluate_command(one) for one in commands]


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(calls(), tmp_path / "calls.parquet")
    (tmp_path / "a.env").write_text(f"KEY={secret()}\n")
    answers = []
    for more in ([], ["--cluster", "local:2"]):
        assert (
            run(
                [
                    "replay",
                    str(tmp_path / "calls.parquet"),
                    "--after",
                    str(tmp_path),
                    "-C",
                    str(tmp_path),
                    "--json",
                    *more,
                ]
            )
            == 0
        )
        assert run(["scan", str(tmp_path / "a.env"), "--json", *more]) == 1
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]
