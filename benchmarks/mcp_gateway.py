"""What the gateway adds to a call of a real MCP server: both are measured side by side, in one run.

``python -m benchmarks.mcp_gateway``: raw lines, so that no client's own time is in the figures.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CALLS = 1500
REPOSITORY = Path(__file__).resolve().parents[1]
_START = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}


class Server:
    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=REPOSITORY
        )
        self.ask("initialize", _START)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.ask("tools/list", {})

    def _write(self, message: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def ask(self, method: str, params: Any) -> Any:
        self._write({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)


def main() -> None:
    server = [sys.executable, "-m", "tests.serving.mcp_server"]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TIPSTAFF_STATE": f"{folder}/state"}
        gateway = [sys.executable, "-m", "tipstaff.cli", "mcp-gateway", "-C", folder, "--server", "t", "--", *server]
        sides = {"direct": Server(server, environment), "gateway": Server(gateway, environment)}
        times: dict[str, list[float]] = {name: [] for name in sides}
        for number in range(CALLS):
            for name, side in sides.items():
                began = time.perf_counter()
                side.ask("tools/call", {"name": "run", "arguments": {"command": f"git log -n {number}"}})
                times[name].append((time.perf_counter() - began) * 1000)
        for side in sides.values():
            side.close()
    cut = {name: statistics.quantiles(found[100:], n=100) for name, found in times.items()}
    added = {"p50": cut["gateway"][49] - cut["direct"][49], "p99": cut["gateway"][98] - cut["direct"][98]}
    print(json.dumps({name: {"p50": found[49], "p99": found[98]} for name, found in cut.items()} | {"added": added}))


if __name__ == "__main__":
    main()
