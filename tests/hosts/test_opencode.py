"""The plugin for opencode: a file of this package's own, which stops what the hook does not let run."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.hook.running import Bench, program
from tipstaff.errors import SourceError
from tipstaff.hosts import host_named
from tipstaff.hosts.doctor import examine
from tipstaff.hosts.host import HookRun
from tipstaff.hosts.installation import COPY_SUFFIX, apply_install, apply_uninstall, plan_install, plan_uninstall

HOST = host_named("opencode")
DRIVER = """
import { Tipstaff } from "%s"
const hooks = await Tipstaff({ directory: process.cwd() })
const [name, input, output] = JSON.parse(process.argv[2])
try { await hooks[name](input, output); console.log(JSON.stringify({ output })) }
catch (error) { console.log(JSON.stringify({ error: error.message })) }
"""


def test_install_and_uninstall(tmp_path: Path) -> None:
    path = HOST.settings_file("project", tmp_path, tmp_path)
    for moved in ("/old/tipstaff-hook", "/new/tipstaff-hook"):
        change = plan_install(HOST, "project", tmp_path, tmp_path, Path(moved))
        apply_install(change)
        assert not plan_install(HOST, "project", tmp_path, tmp_path, Path(moved)).changes
        settings = HOST.read_file(path)
        assert settings is not None
        assert {one.words for one in HOST.registered(settings)} == {(moved, "--host", "opencode")}
    assert not path.with_name(path.name + COPY_SUFFIX).exists()
    apply_uninstall(plan_uninstall(HOST, "project", tmp_path, tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_plugin_of_others_is_left_alone(tmp_path: Path) -> None:
    path = HOST.settings_file("project", tmp_path, tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = async () => ({})\n")
    for plan in (lambda: plan_install(HOST, "project", tmp_path, tmp_path, Path("/x/tipstaff-hook")),
                 lambda: plan_uninstall(HOST, "project", tmp_path, tmp_path)):  # fmt: skip
        with pytest.raises(SourceError, match="not the plugin"):
            plan()
    assert path.read_text().startswith("export const Mine")


def test_a_changed_plugin_is_reported(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in bench.environment().items():  # what is registered is run with the environment of this process
        monkeypatch.setenv(name, value)
    apply_install(plan_install(HOST, "project", bench.repository, bench.home, program()))
    path = HOST.settings_file("project", bench.repository, bench.home)
    assert examine(HOST, bench.repository, bench.home, bench.state, program=program()).problems == ()
    path.write_text(path.read_text().replace("throw new Error(said.", "console.log(said."))
    (problem,) = examine(HOST, bench.repository, bench.home, bench.state, program=program()).problems
    assert "not as this version writes it" in problem


def test_replies() -> None:
    (one,) = [one for one in HOST.registered({"program": ["/x/tipstaff-hook"]}) if one.event == HOST.tool_event]
    ask = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}
    assert HOST.read_reply(one, HookRun(0)).outcome == "runs"
    for run in (HookRun(0, json.dumps(ask).encode()), HookRun(1), HookRun(127), HookRun(None), HookRun(0, b"x")):
        assert HOST.read_reply(one, run).outcome == "stopped"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no JavaScript program to run the plugin with")
def test_the_plugin_stops_and_masks(bench: Bench) -> None:
    apply_install(plan_install(HOST, "project", bench.repository, bench.home, program()))
    plugin = bench.repository / "plugin.mjs"
    shutil.copy(HOST.settings_file("project", bench.repository, bench.home), plugin)
    driver = bench.repository / "driver.mjs"
    driver.write_text(DRIVER % plugin)

    def ran(hook: str, given: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
        call = json.dumps([hook, {"sessionID": "s", "callID": "c", **given}, output])
        done = subprocess.run(
            ["node", driver, call], capture_output=True, text=True, check=True, cwd=bench.repository,
            env=bench.environment(), timeout=60,
        )  # fmt: skip
        reply: dict[str, Any] = json.loads(done.stdout)
        return reply

    before = "tool.execute.before"
    assert "error" not in ran(before, {"tool": "bash"}, {"args": {"command": "git status"}})
    assert "filesystem" in ran(before, {"tool": "bash"}, {"args": {"command": "rm -rf /"}})["error"]
    assert (
        "A person must allow this first"
        in ran(before, {"tool": "bash"}, {"args": {"command": "git reset --hard"}})["error"]
    )
    secret = "AKIA" + "".join("QZXWVNMKLPJHTRDS"[at * 7 % 16] for at in range(16))
    assert (
        "secret"
        in ran(before, {"tool": "write"}, {"args": {"filePath": "x.py", "content": f'k = "{secret}"'}})["error"]
    )
    shown = ran(
        "tool.execute.after",
        {"tool": "bash"},
        {"title": "t", "output": f"key {secret}", "metadata": {"output": secret}},
    )
    assert secret not in json.dumps(shown)
    assert shown["output"]["output"].startswith("key ")
    assert [(line["host"], line["event"]) for line in bench.spool()][-1] == ("opencode", "PostToolUse")
    program_line = plugin.read_text().replace(str(program()), "/nowhere/tipstaff-hook")
    plugin.write_text(program_line)
    assert "did not answer" in ran(before, {"tool": "bash"}, {"args": {"command": "git status"}})["error"]
