"""The real agent programs, against a model server of these tests. Asked for by naming a folder::

    npm install --prefix FOLDER @anthropic-ai/claude-code @openai/codex @google/gemini-cli @qwen-code/qwen-code opencode-ai
    TIPSTAFF_AGENT_PROGRAMS=FOLDER python -m pytest tests/runs/test_headless_programs.py

They need nothing but the loopback, and a Node that is new enough for them on PATH.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runs.model_server import Turn, model_server
from tipstaff.runs.headless.executors import Executor
from tipstaff.runs.headless.runner import CaseResult, run_suite
from tipstaff.runs.headless.suites import suite_of

FOLDER = os.environ.get("TIPSTAFF_AGENT_PROGRAMS")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="TIPSTAFF_AGENT_PROGRAMS names no folder of agent programs")

OPTIONS: dict[str, dict[str, Any]] = {
    "claude": {"model": "claude-sonnet-4-5", "allowed_tools": ("Bash", "Write")},
    "codex": {"permission": "all"},
    "gemini": {"model": "gemini-2.5-pro", "permission": "all"},
    "qwen": {"model": "claude-sonnet-4-5", "permission": "all", "args": ("--auth-type", "anthropic")},
    "opencode": {"model": "anthropic/claude-sonnet-4-5"},
}
LIST = "git log --oneline"
PATCH = "*** Begin Patch\n*** Add File: b.py\n+y = 2\n*** End Patch\n"
SHELL = {
    "claude": "Bash", "codex": "exec_command", "gemini": "run_shell_command", "qwen": "run_shell_command",
    "opencode": "bash",
}  # fmt: skip


def shell(name: str, command: str) -> Turn:
    args = {"cmd": command} if name == "codex" else {"command": command, "description": "Run it"}
    if name == "qwen":
        args["is_background"] = False
    return {"name": SHELL[name], "args": args}


def write(name: str) -> Turn:
    if name == "codex":
        return {"name": "apply_patch", "args": PATCH}
    # These take absolute paths alone; where the clone is, the script cannot know.
    if name in {"qwen", "opencode"}:
        return shell(name, "printf 'y = 2\\n' > b.py")
    return {"name": "Write" if name == "claude" else "write_file", "args": {"file_path": "b.py", "content": "y = 2\n"}}


def environment(name: str, home: Path, url: str) -> dict[str, str]:
    own = {"PATH": f"{FOLDER}/node_modules/.bin{os.pathsep}{os.environ['PATH']}", "HOME": str(home), "NO_COLOR": "1"}
    if name == "claude":
        return own | {
            "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-none", "IS_SANDBOX": "1", "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
        }  # fmt: skip
    if name == "codex":
        (home / ".codex").mkdir(parents=True)
        (home / ".codex" / "config.toml").write_text(
            'model = "gpt-5.5"\nmodel_provider = "own"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n'
            f'[model_providers.own]\nname = "own"\nbase_url = "{url}/v1"\nenv_key = "OWN_KEY"\nwire_api = "responses"\n'
            "request_max_retries = 0\nstream_max_retries = 0\n"
        )
        return own | {"OWN_KEY": "none"}
    if name == "qwen":
        (home / ".qwen").mkdir(parents=True)
        (home / ".qwen" / "settings.json").write_text(
            json.dumps({"privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}})
        )
        return own | {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "ANTHROPIC_MODEL": "claude-sonnet-4-5"}
    if name == "opencode":
        provider = {"anthropic": {"options": {"baseURL": f"{url}/v1", "apiKey": "none"}}}
        config = {
            "autoupdate": False,
            "share": "disabled",
            "provider": provider,
            "small_model": "anthropic/claude-sonnet-4-5",
        }
        return own | {"OPENCODE_CONFIG_CONTENT": json.dumps(config)}
    (home / ".gemini").mkdir(parents=True)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }  # fmt: skip
    (home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    return own | {
        "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "none", "GEMINI_TELEMETRY_ENABLED": "false",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }  # fmt: skip


def run(name: str, folder: Path, script: list[Turn], **case: Any) -> CaseResult:
    root, home = folder / "repository", folder / "home"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    git = ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    home.mkdir()
    suite = suite_of(
        {
            "name": "real",
            "executor": name,
            "cases": [{"id": "a", "prompt": "Do it; don't stop.", "timeout_s": 120} | case],
        }
    )
    with model_server(script) as url:
        executor = Executor(name, **OPTIONS[name])
        (result,) = run_suite(suite, root, executor=executor, env=environment(name, home, url)).results
    assert not (root / "b.py").exists(), "agents work in copies"
    return result


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_a_program_works_through_its_tools(name: str, tmp_path: Path) -> None:
    assertions = [{"output-matches": "^ALL DONE$"}, {"files-touched": "b.py"}, {"files-not-touched": "a.py"}, "no-forbidden-commands",
                  {"tests-pass": "grep -q 'y = 2' b.py && echo '1 passed in 0.1s'"}]  # fmt: skip
    result = run(name, tmp_path, [shell(name, LIST), write(name), "ALL DONE"], assertions=assertions)
    assert (result.errors, result.failures) == ((), ())
    assert result.output == "ALL DONE"
    tools = result.event.tools_used
    assert len(tools) == 2
    assert LIST in tools[0]
    assert result.event.files_touched == ("b.py",)
    assert (result.event.tokens.input, result.event.tokens.output, result.event.tokens.cache_read) == (300, 30, 21)
    assert result.event.session_id


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_what_a_program_ran_is_judged(name: str, tmp_path: Path) -> None:
    script = [shell(name, "git push --force origin main"), "ALL DONE"]
    result = run(name, tmp_path, script, assertions=["no-forbidden-commands"])
    assert result.errors == ()
    assert "git.push-force" in result.failures[0]


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_a_model_that_refuses_is_a_failure(name: str, tmp_path: Path) -> None:
    result = run(name, tmp_path, [400])
    assert not result.passed
    assert result.errors


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_nothing_that_a_program_started_outlives_it(name: str, tmp_path: Path) -> None:
    # Some wait for it until their time is over, some let it run beside them and end.
    mark = f"outlives-{name}-{os.getpid()}"
    command = f"{sys.executable} -c 'import time; time.sleep(90)' {mark}"
    result = run(name, tmp_path, [shell(name, command), "ALL DONE"], timeout_s=20)
    assert result.errors == () or "timed out after 20 s" in result.errors[0]
    assert result.seconds < 60
    found = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True).stdout
    assert mark not in found
