"""Batches over Flight give what the same calls give in this process; nobody without the token is answered."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import flight

from tests.runs.test_replay import secret, tool_calls
from tipstaff.cluster.flight import MOST_ROWS, BatchServer, exchange
from tipstaff.errors import ConfigError
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.gates.results import aggregate_decision
from tipstaff.guidance.project import compile_repository
from tipstaff.guidance.retrieval.retriever import ShardRetriever

ORCHARD = Path(__file__).parents[2] / "examples" / "orchard"


@pytest.fixture(scope="module")
def server() -> Iterator[BatchServer]:
    retriever = ShardRetriever(compile_repository(ORCHARD))
    with BatchServer("grpc://127.0.0.1:0", gates=EnforcementGates(), retriever=retriever) as found:
        yield found


def address(server: BatchServer) -> str:
    return f"grpc://127.0.0.1:{server.port}"


def test_verdicts(server: BatchServer) -> None:
    gates = EnforcementGates()
    commands = ["ls", "rm -rf ~", "git reset --hard", "", "größer"]
    table = pa.record_batch({"command": commands, "cwd": ["/srv/a"] * 5})
    found = list(exchange(address(server), "verdicts", [table, table.slice(1, 2)], token=server.token))
    wanted = [aggregate_decision(gates.evaluate_command(one, cwd="/srv/a")) for one in commands]
    assert [one.column("decision").to_pylist() for one in found] == [wanted, wanted[1:3]]
    assert [bool(rules) for rules in found[0].column("rules").to_pylist()] == [one != "allow" for one in wanted]
    calls = tool_calls()
    batch = pa.record_batch(
        {"tool": [tool for tool, _ in calls], "params": [json.dumps(params) for _, params in calls]}
    )
    (answer,) = exchange(address(server), "verdicts", [batch], token=server.token)
    assert answer.column("decision").to_pylist() == [aggregate_decision(gates.evaluate_tool_use(*one)) for one in calls]


def test_rules_and_secrets(server: BatchServer) -> None:
    tasks = ["Fix the delivery day around midnight", "zzz"]
    (answer,) = exchange(address(server), "rules", [pa.record_batch({"task": tasks})], token=server.token)
    retriever = ShardRetriever(compile_repository(ORCHARD))
    wanted = [[one.shard.rule.id for one in retriever.retrieve(task).shards] for task in tasks]
    assert answer.column("rules").to_pylist() == wanted
    token = secret()
    (answer,) = exchange(
        address(server), "secrets", [pa.record_batch({"text": [f"TOKEN={token}", "y"]})], token=server.token
    )
    (found,), none = answer.column("found").to_pylist()
    assert none == []
    assert (found["start"], found["end"]) == (6, 6 + len(token))


@pytest.mark.parametrize(
    ("name", "batch", "token", "wrong"),
    [
        ("verdicts", pa.record_batch({"command": ["ls"]}), "guessed", "authorization"),
        ("verdicts", pa.record_batch({"text": ["ls"]}), None, "a column tool is missing"),
        ("verdicts", pa.record_batch({"tool": ["Bash"], "params": ["{"]}), None, "Expecting"),
        ("rm", pa.record_batch({"command": ["ls"]}), None, "is none of"),
        ("secrets", pa.record_batch({"text": [""] * (MOST_ROWS + 1)}), None, "send at most"),
    ],
)
def test_what_is_refused(server: BatchServer, name: str, batch: pa.RecordBatch, token: str | None, wrong: str) -> None:
    with pytest.raises(pa.ArrowException, match=wrong):
        list(exchange(address(server), name, [batch], token=token or server.token))


def test_only_tls_leaves_this_machine(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="certificate"):
        BatchServer("grpc://0.0.0.0:0", gates=EnforcementGates())
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    files = [str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")]
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
    ]
    subprocess.run([*make, "-keyout", files[0], "-out", files[1], *subject], check=True, capture_output=True)
    key, certificate = (Path(one).read_bytes() for one in files)
    with BatchServer("grpc+tls://127.0.0.1:0", gates=EnforcementGates(), certificate=certificate, key=key) as server:
        batch = pa.record_batch({"command": ["rm -rf ~"]})
        where = f"grpc+tls://localhost:{server.port}"
        (answer,) = exchange(where, "verdicts", [batch], token=server.token, certificate=certificate)
        assert answer.column("decision").to_pylist() == ["block"]
        with pytest.raises((flight.FlightUnavailableError, pa.ArrowException)):
            list(exchange(f"grpc://localhost:{server.port}", "verdicts", [batch], token=server.token))
