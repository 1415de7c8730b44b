"""Whole processes of the hook program against an empty one, against Python, and against hooks under Node."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from benchmarks.judging import Row
from benchmarks.peers.install import SAFETY_NET, PeerUnavailableError, install, node_program

from benchmarks import inputs

HOOK: Final = Path(os.environ.get("TIPSTAFF_HOOK") or Path(sysconfig.get_path("scripts"), "tipstaff-hook"))
PEERS: Final = Path(__file__).with_name("peers")
_COMMAND: Final = "git commit -m 'Explain rm -rf' && npm test -- --watch=false"
ROUNDS: Final = 301
SLOW_ROUNDS: Final = 15


@contextmanager
def _bench() -> Iterator[Path]:
    """A folder with the programs that are needed, a repository of 500 rules, and a compiled policy."""
    from tipstaff.gates.image.policy import default_image
    from tipstaff.gates.image.policy_file import write_policy
    from tipstaff.guidance.hook.image import write_hook_image

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        compiler = shutil.which("cc") or shutil.which("gcc") or "c++"
        subprocess.run([compiler, "-O2", "-o", folder / "spawn", PEERS / "spawn.c"], check=True)
        (folder / "empty.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
        subprocess.run([compiler, "-O2", "-static", "-o", folder / "empty", folder / "empty.c"], check=True)
        repository = folder / "repository"
        (repository / ".git").mkdir(parents=True)
        event = {"session_id": "s-1", "cwd": str(repository), "permission_mode": "default"}
        tool = {"tool_name": "Bash", "tool_input": {"command": _COMMAND}, "hook_event_name": "PreToolUse"}
        (folder / "tool.json").write_text(json.dumps(event | tool), encoding="utf-8")
        prompt = {"hook_event_name": "UserPromptSubmit", "prompt": inputs.tasks(1)[0]}
        (folder / "prompt.json").write_text(json.dumps(event | prompt), encoding="utf-8")
        state = folder / "state"
        write_policy(bytes(default_image()), repository, state=state)
        write_hook_image(inputs.bundle(500), repository, state=state)
        yield folder


def _spawned(folder: Path, rounds: int, *programs: tuple[str, list[str]]) -> list[float]:
    """Return the median microseconds of each program: (name of its input, its command line)."""
    arguments: list[str] = []
    for name, command in programs:
        arguments += ["--"] * bool(arguments) + [str(folder / name), *command]
    environment = os.environ | {"TIPSTAFF_STATE": str(folder / "state")}
    run = subprocess.run(
        [str(folder / "spawn"), str(rounds), *arguments], check=True, capture_output=True, text=True, env=environment
    )
    return [statistics.median(map(int, line.split())) / 1e3 for line in run.stdout.splitlines()]


def _answers(folder: Path) -> None:
    """See that the hook judges and retrieves, before anybody times it."""
    environment = os.environ | {"TIPSTAFF_STATE": str(folder / "state")}
    for name, wanted in (("tool.json", ""), ("prompt.json", "Rules of this repository for this task")):
        with (folder / name).open("rb") as event:
            done = subprocess.run(
                [HOOK, "--host", "claude"], stdin=event, capture_output=True, check=True, env=environment
            )
        if wanted not in done.stdout.decode() or (not wanted and done.stdout):
            msg = f"the hook answered {name} with {done.stdout[:300]!r}{done.stderr[:300]!r}"
            raise RuntimeError(msg)


@cache
def hook() -> tuple[Row, ...]:
    """Measure the hook program as a host starts it."""
    with _bench() as folder:
        _answers(folder)
        ours = [str(HOOK), "--host", "claude"]
        empty, tool, prompt = _spawned(
            folder, ROUNDS, ("tool.json", [str(folder / "empty")]), ("tool.json", ours), ("prompt.json", ours)
        )
        interpreter, again = _spawned(folder, 31, ("tool.json", [sys.executable, "-c", "pass"]), ("tool.json", ours))
        rows = [
            Row("hook on a tool call, times an empty static program", "HOOK_VS_EMPTY", [tool / empty], True,
                f"{tool:.0f} us, empty {empty:.0f} us"),
            Row("hook on a tool call, times faster than python -c pass", "HOOK_VS_PYTHON", [interpreter / again], False,
                f"python {interpreter / 1e3:.1f} ms"),
            Row("hook on a prompt over 500 rules, times an empty static program", "HOOK_PROMPT_VS_EMPTY",
                [prompt / empty], True, f"{prompt:.0f} us"),
        ]  # fmt: skip
        for name, command in (("cc-safety-net", _safety_net), ("the reference's gates", _reference)):
            title = f"hook on a tool call, times faster than {name} under Node"
            try:
                theirs, own = _spawned(folder, SLOW_ROUNDS, ("tool.json", command()), ("tool.json", ours))
            except PeerUnavailableError as error:
                rows.append(Row(title, "HOOK_VS_NODE", [], False, str(error)))
            else:
                rows.append(Row(title, "HOOK_VS_NODE", [theirs / own], False, f"{theirs / 1e3:.0f} ms"))
    return tuple(rows)


def _safety_net() -> list[str]:
    folder = install(*SAFETY_NET)
    return [node_program(), str(folder / "dist" / "bin" / "cc-safety-net.js"), "hook", "--coding-cli"]


def _reference() -> list[str]:
    return [node_program(), str(PEERS / "gates_hook.mjs"), str(install())]


if __name__ == "__main__":
    for row in hook():
        print(row)
