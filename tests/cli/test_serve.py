from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.context.requests import request
from tipstaff.cli import exits, main
from tipstaff.context.inspecting.snapshot import SnapshotFolder
from tipstaff.serving.inspection import call

# What a shell starts in the background ignores interrupts, and so does all that it starts: not here.
HEEDING = """import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from tipstaff.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_signalled(tmp_path: Path, end: signal.Signals) -> None:
    SnapshotFolder.of_project(tmp_path).record(request())
    program = [sys.executable, "-c", HEEDING, "context", "serve", "-C", str(tmp_path), "--json"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = []
        while not lines or lines[-1] != "}\n":
            lines.append(child.stdout.readline())
        started = json.loads("".join(lines))
        path = Path(started["socket"])
        assert path == tmp_path / ".tipstaff" / "run" / "tipstaff.sock"
        message = {"jsonrpc": "2.0", "id": 1, "method": "context.inspect", "params": {"sessionId": "s1"}}
        answer = json.loads(call(path, json.dumps(message).encode()))
        assert answer["result"]["sessionId"] == "s1"
        child.send_signal(end)
        try:
            assert child.wait(20) == exits.OK
        finally:
            child.kill()
    assert not path.exists()


def test_a_path_that_will_not_do_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["context", "serve", "--socket", str(tmp_path / ("x" * 120))]) == exits.USAGE
    assert "107 bytes" in capsys.readouterr().err
