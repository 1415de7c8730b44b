"""Threads with little stack, and a system that has no more threads: judging continues."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

_START: Final = """
import resource, sys, threading
from tipstaff import EnforcementGates
gates = EnforcementGates()
"""
# Each code has the one before it as its innermost command.
_NESTED: Final = (
    _START
    + """
import base64, json
coded = lambda text: base64.b64encode(text.encode()).decode()
node = shell = "rm -rf /"
powershell = "rm -Recurse /"
for _ in range(20):
    run = f"require('child_process').execSync(Buffer.from('{coded(node)}', 'base64').toString())"
    node = f'node -e "{run}"'
    shell = f"echo {coded(shell)} | base64 -d | bash"
for _ in range(6):
    powershell = "powershell -e " + base64.b64encode(powershell.encode("utf-16-le")).decode()
texts = [
    node, shell, powershell, "$(" * 60 + "rm -rf /" + ")" * 60, "{ " * 60 + "rm -rf /" + "; }" * 60, "eval " * 60 + "rm -rf /",
    "echo " + "${x:-" * 60 + "$(rm -rf /)" + "}" * 60, "python3 -c " + json.dumps("(" * 500 + "1" + ")" * 500),
    "powershell -c " + json.dumps("(" * 60 + "rm -Recurse /" + ")" * 60), "sudo " * 200 + "rm -rf /",
    "node -e " + json.dumps("f(() => " * 60 + "x" + ")" * 60), "psql -c " + json.dumps("select " + "(" * 900 + "1" + ")" * 900),
]
found = []
threading.stack_size(int(sys.argv[1]))
thread = threading.Thread(target=lambda: found.extend(gates.decisions(texts)))
thread.start()
thread.join()
print(" ".join(found))
"""
)
_NO_THREADS: Final = (
    _START
    + """
events = ["rm -rf /"] * 4096
gates.evaluate_batch(events[:64], threads=2)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (24 << 20), resource.RLIM_INFINITY))
try:
    codes = gates.decisions(events, threads=64)
except MemoryError:
    codes = ["block"] * 4096
print(set(codes))
"""
)


def run(source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", source, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("stack", [256 * 1024, 512 * 1024, 8 * 1024 * 1024])
def test_deep_code_does_not_run_out_of_a_small_stack(stack: int) -> None:
    done = run(_NESTED, str(stack))
    assert done.returncode == 0, done.stderr
    decisions = done.stdout.split()
    assert len(decisions) == 12
    # What is too deep to be read is not allowed: it is what it seems, or uncertain.
    assert "allow" not in decisions[:7], decisions


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of address space is Linux's")
def test_where_no_more_threads_start_those_that_did_continue() -> None:
    done = run(_NO_THREADS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "{'block'}"
