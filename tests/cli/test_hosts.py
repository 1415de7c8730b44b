"""``install``, ``uninstall``, ``doctor`` and ``approve``, as people run them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

from tests.hook.running import Bench, default_image, program
from tipstaff.cli import main
from tipstaff.gates.image.policy_file import policy_path, write_policy
from tipstaff.hosts import host_named
from tipstaff.hosts.codex import trust_hash, trust_key
from tipstaff.hosts.host import HookRun
from tipstaff.hosts.installation import read_settings

TIPSTAFF = [sys.executable, "-c", "import sys; from tipstaff.cli import main; sys.exit(main())"]
HOSTS = ("claude", "codex", "gemini", "cursor", "copilot", "qwen", "opencode")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, policy=False)


class Done(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def tipstaff(bench: Bench, *arguments: str, stdin: str = "", **more: str) -> Done:
    """Run a command in this process, in the bench's repository and environment, without a terminal."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, bench.environment(more), clear=True),
        mock.patch.object(sys, "stdin", io.StringIO(stdin)),
        contextlib.chdir(bench.repository),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = main(list(arguments))
    return Done(status, out.getvalue(), err.getvalue())


def settings(bench: Bench) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for folder, _, names in os.walk(bench.repository):
        for name in names:
            path = Path(folder, name)
            found[str(path.relative_to(bench.repository))] = path.read_bytes()
    return found


def test_a_dry_run_says_what_it_would_do_and_changes_nothing(bench: Bench) -> None:
    done = tipstaff(bench, "install", "--host", "all", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": add the hook in ") == len(HOSTS)
    assert (
        "Claude Code: add the hook in .claude/settings.local.json, for this repository on this machine" in done.stdout
    )
    done = tipstaff(bench, "install", "--host", "all", "--dry-run", "--json")
    assert all("+++ " in one["difference"] for one in json.loads(done.stdout)["settings"])
    assert settings(bench) == {}
    assert not bench.state.exists()


def test_install_twice_and_uninstall(bench: Bench) -> None:
    foreign = '{\n  "mine": 1\n}\n'
    (bench.home / ".gemini").mkdir()
    (bench.home / ".gemini" / "settings.json").write_text(foreign)
    before = settings(bench)
    first = json.loads(tipstaff(bench, "install", "--host", "all", "--json").stdout)
    assert Path(first["program"]).is_absolute()
    assert [one["changed"] for one in first["settings"]] == [True] * len(HOSTS)
    # Copilot and Gemini CLI do not run the hooks of folders that nobody has trusted.
    homes = {one["host"] for one in first["settings"] if Path(one["path"]).is_relative_to(bench.home)}
    assert homes == {"copilot", "gemini"}
    assert first["policies"] == []  # the built-in rules judge where a repository has none of its own
    installed = settings(bench)
    second = json.loads(tipstaff(bench, "install", "--host", "all", "--json").stdout)
    assert [one["changed"] for one in second["settings"]] == [False] * len(HOSTS)
    assert settings(bench) == installed
    done = tipstaff(bench, "uninstall", "--host", "all")
    assert done.returncode == 0
    assert settings(bench) == before
    assert (bench.home / ".gemini" / "settings.json").read_text() == foreign
    assert not (bench.home / ".copilot" / "hooks").exists()


def test_one_file_that_cannot_be_read_stops_the_whole(bench: Bench) -> None:
    (bench.repository / ".cursor").mkdir()
    (bench.repository / ".cursor" / "hooks.json").write_text("{ // mine\n}")
    before = settings(bench)
    done = tipstaff(bench, "install", "--host", "all")
    assert done.returncode == 3
    assert "hooks.json: line 1" in done.stderr
    assert settings(bench) == before


def test_user_settings(bench: Bench) -> None:
    assert tipstaff(bench, "install", "--host", "claude", "--user").returncode == 0
    assert "tipstaff-hook" in (bench.home / ".claude" / "settings.json").read_text()
    assert settings(bench) == {}
    assert tipstaff(bench, "uninstall", "--host", "claude", "--user").returncode == 0
    assert not (bench.home / ".claude").exists()


def test_doctor_without_anything(bench: Bench) -> None:
    done = tipstaff(bench, "doctor", "--json")
    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert report["well"] is False
    assert report["findings"][0]["problem"] == "there is no state folder"
    assert "the hook is not registered" in tipstaff(bench, "doctor").stdout


def test_hosts_are_found_by_their_programs_and_folders(bench: Bench) -> None:
    done = tipstaff(bench, "install", PATH="/nowhere")
    assert done.returncode == 3
    assert "no agent host is found here; name one: --host claude|" in done.stderr
    (bench.home / ".codex").mkdir()
    programs = bench.home / "bin"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\n")
    (programs / "claude").chmod(0o755)
    done = tipstaff(bench, "install", "--json", PATH=str(programs))
    assert [one["host"] for one in json.loads(done.stdout)["settings"]] == ["claude", "codex"]


def test_what_is_not_registered_is_said(bench: Bench) -> None:
    assert tipstaff(bench, "uninstall").stdout == "the hook is not registered here; nothing was changed\n"


def lines_of(value: object) -> Iterator[str]:
    """Yield the command lines in settings."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in {"command", "bash"} and isinstance(inner, str) and "tipstaff-hook" in inner:
                yield inner
            yield from lines_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from lines_of(inner)


def test_a_committed_registration_names_the_program_and_harms_nobody_who_lacks_it(bench: Bench) -> None:
    installed = json.loads(tipstaff(bench, "install", "--host", "all", "--project", "--json").stdout)
    event = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}})
    for one in installed["settings"]:
        text = Path(one["path"]).read_text()
        assert Path(one["path"]).is_relative_to(bench.repository)
        assert installed["program"] not in text
        if one["host"] == "opencode":
            assert "const OPTIONAL = true" in text
            continue
        host = host_named(one["host"])
        found = list(lines_of(json.loads(text)))
        assert len(found) == len(host.events)
        for registered, line in zip(host.registered(json.loads(text)), found, strict=True):
            for path, missing in (("/usr/bin:/bin", True), (f"{program().parent}:/usr/bin:/bin", False)):
                done = subprocess.run(
                    ["sh", "-c", line], input=event.encode(), capture_output=True, check=False, cwd=bench.repository,
                    env=bench.environment({"PATH": path}),
                )  # fmt: skip
                run = HookRun(done.returncode, done.stdout, done.stderr)
                if missing:
                    assert host.read_reply(registered, run).outcome == "runs", (one["host"], line, run)
                    assert done.returncode == 0
                elif registered.event == host.tool_event and one["host"] in {"claude", "qwen", "codex"}:
                    assert host.read_reply(registered, run).outcome == "stopped", (one["host"], line, run)
    register_by_path = f"{program().parent}:{os.environ['PATH']}"
    report = json.loads(tipstaff(bench, "doctor", "--host", "cursor", "--json", PATH=register_by_path).stdout)["hosts"][
        0
    ]
    assert {probe["kind"]: probe["outcome"] for probe in report["probes"]}["destructive"] == "stopped"
    tipstaff(bench, "uninstall")
    assert settings(bench) == {}


def test_local_settings_are_out_of_git(bench: Bench) -> None:
    subprocess.run(["git", "init", "-q", str(bench.repository)], check=True)
    (bench.repository / ".gemini").mkdir()
    (bench.repository / ".gemini" / "settings.json").write_text("{}")
    subprocess.run(["git", "-C", str(bench.repository), "add", ".gemini"], check=True)
    for host in ("claude", "codex"):
        assert tipstaff(bench, "install", "--host", host).returncode == 0
    shown = subprocess.run(
        ["git", "-C", str(bench.repository), "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == ["A", ".gemini/settings.json"]
    done = tipstaff(bench, "install", "--host", "gemini", "--local")
    assert done.returncode == 2
    assert "git tracks it, so it is not local; use --project or --user" in done.stderr
    exclude = bench.repository / ".git" / "info" / "exclude"
    assert "/.codex/hooks.json*" in exclude.read_text()
    tipstaff(bench, "uninstall")
    assert ".codex" not in exclude.read_text()


def test_init_says_what_it_does_and_shows_that_it_works(bench: Bench) -> None:
    rules = "## API\n- Paginate every list\n- Return errors as problem documents\n- Name endpoints in the plural\n"
    (bench.repository / "CLAUDE.md").write_text(rules)
    refused = tipstaff(bench, "init", "--host", "claude")
    assert refused.returncode == 2
    assert "--yes does it without asking" in refused.stderr
    assert not (bench.repository / ".claude").exists()
    done = tipstaff(bench, "init", "--host", "claude", "--yes")
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (
        "has 1 rule file: CLAUDE.md.", "Claude Code: add the hook in .claude/settings.local.json", "`tipstaff uninstall` undoes it",
        "It works", "Rules that would be loaded for", "Paginate every list", "A command that would be stopped: rm -rf ..",
    ):  # fmt: skip
        assert words in done.stdout
    again = json.loads(tipstaff(bench, "init", "--host", "claude", "--yes", "--json").stdout)
    assert (again["well"], again["problems"], again["settings"][0]["changed"]) == (True, [], False)
    assert len(again["rules"]) == 3
    assert tipstaff(bench, "uninstall").returncode == 0
    assert sorted(path.name for path in bench.repository.iterdir()) == [".git", "CLAUDE.md"]


def test_init_shows_rules_that_always_hold_where_there_are_no_others(bench: Bench) -> None:
    (bench.repository / "AGENTS.md").write_text("# Rules\n\n- Never push to main without review.\n")
    done = tipstaff(bench, "init", "--host", "claude", "--yes")
    assert "Rules that are always loaded:" in done.stdout, done.stdout + done.stderr
    assert "Never push to main without review." in done.stdout


def test_doctor_reports_settings_that_it_cannot_read(bench: Bench) -> None:
    (bench.repository / ".claude").mkdir()
    (bench.repository / ".claude" / "settings.json").write_text('{"hooks": {')
    done = tipstaff(bench, "doctor", "--host", "claude")
    assert done.returncode == 1
    assert "not valid JSON" in done.stdout
    assert "nothing was changed" not in done.stdout


def register(bench: Bench, host: str = "all") -> None:
    """Install, with the program that these tests are about."""
    done = tipstaff(bench, "install", "--host", host, "--json")
    assert done.returncode == 0, done.stderr
    installed = json.loads(done.stdout)["program"]
    for one in json.loads(done.stdout)["settings"]:
        path = Path(one["path"])
        path.write_text(path.read_text().replace(installed, str(program())))


def trust_codex(bench: Bench) -> None:
    """Say yes to the project and each hook, as a person does in Codex."""
    codex = host_named("codex")
    path = bench.repository / ".codex" / "hooks.json"
    settings = read_settings(path)
    assert settings is not None
    lines = [f"[projects.{json.dumps(str(bench.repository))}]", 'trust_level = "trusted"']
    for one in codex.registered(settings):
        lines += [f"[hooks.state.{json.dumps(trust_key(path, one))}]", f'trusted_hash = "{trust_hash(one)}"']
    (bench.home / ".codex").mkdir(exist_ok=True)
    (bench.home / ".codex" / "config.toml").write_text("\n".join(lines))


def test_doctor_finds_hooks_that_nobody_trusts(bench: Bench) -> None:
    register(bench)
    done = tipstaff(bench, "doctor", "--host", "codex")
    assert done.returncode == 1
    assert "it is not trusted there; open Codex in this folder and trust it in /hooks" in done.stdout
    for host in ("copilot", "gemini"):
        assert tipstaff(bench, "doctor", "--host", host).returncode == 0
        assert tipstaff(bench, "uninstall", "--host", host).returncode == 0
        assert tipstaff(bench, "install", "--host", host, "--project").returncode == 0
        done = tipstaff(bench, "doctor", "--host", host)
        assert done.returncode == 1
        assert f"`tipstaff install --host {host} --user` registers it for every folder" in done.stdout


def test_a_lost_registration_is_noticed(bench: Bench) -> None:
    register(bench)
    (bench.repository / ".claude" / "settings.local.json").unlink()
    done = tipstaff(bench, "doctor", "--host", "claude")
    assert done.returncode == 1
    assert "no longer is: run `tipstaff install --host claude` again" in done.stdout
    started = bench.run(bench.claude("", hook_event_name="SessionStart", source="startup"), "--host", "codex").reply()
    context = started["hookSpecificOutput"]["additionalContext"]
    assert "no longer is: claude (" in context
    assert started["systemMessage"] in context
    # Taken away by a person, it is not missed.
    (bench.repository / ".claude" / "settings.local.json").write_text("{}")
    assert tipstaff(bench, "uninstall", "--host", "all").returncode == 0
    assert "no longer is" not in tipstaff(bench, "doctor").stdout


def test_doctor_finds_all_well(bench: Bench) -> None:
    register(bench)
    trust_codex(bench)
    done = tipstaff(bench, "doctor", "--json")
    report = json.loads(done.stdout)
    assert report["well"], report
    assert done.returncode == 0
    outcomes = {one["host"]: {probe["kind"]: probe["outcome"] for probe in one["probes"]} for one in report["hosts"]}
    for host in HOSTS:
        assert outcomes[host]["harmless"] == "runs"
        assert outcomes[host]["destructive"] == "stopped"
        assert outcomes[host]["secret"] == "stopped"
        assert outcomes[host]["malformed"] in {"asks", "stopped"}
    assert outcomes["codex"]["confirm"] == "stopped"
    assert outcomes["claude"]["confirm"] == "asks"
    without = {one["host"]: one["without_program"] for one in report["hosts"]}
    assert without == {"claude": "runs", "codex": "runs", "gemini": "runs", "cursor": "stopped", "copilot": "stopped",
                       "qwen": "runs", "opencode": "stopped"}  # fmt: skip
    # What was tried leaves no call that waits.
    assert not list((bench.state / "pending").iterdir())


def test_doctor_finds_a_missing_program(bench: Bench) -> None:
    register(bench, "claude")
    path = bench.repository / ".claude" / "settings.local.json"
    path.write_text(path.read_text().replace(str(program()), "/nowhere/tipstaff-hook"))
    report = json.loads(tipstaff(bench, "doctor", "--host", "claude", "--json").stdout)["hosts"][0]
    assert any("there is no program" in problem for problem in report["problems"])
    assert report["probes"] == []  # nothing else that is registered is started


def test_doctor_finds_two_registrations(bench: Bench) -> None:
    register(bench, "claude")
    assert tipstaff(bench, "install", "--host", "claude", "--user").returncode == 0
    done = tipstaff(bench, "doctor", "--host", "claude")
    assert done.returncode == 1
    assert "more than once" in done.stdout


@pytest.mark.parametrize("how", ["stale", "damaged", "mode", "gone", "settings", "disabled", "event"])
def test_doctor_finds_what_is_wrong(bench: Bench, how: str) -> None:
    packs = bench.repository / ".tipstaff" / "packs"
    packs.mkdir(parents=True)
    register(bench, "claude")
    default, path = policy_path(bench.repository, bench.state), bench.repository / ".claude" / "settings.local.json"
    if how == "stale":
        (packs / "new.toml").write_text('[pack]\nid = "new"\ntitle = "new"\n')
    elif how == "damaged":
        default.write_bytes(default.read_bytes()[:-1] + b"x")
    elif how == "mode":
        default.chmod(0o666)
    elif how == "gone":
        default.unlink()
    elif how == "settings":
        path.write_text("{,}")
    elif how == "disabled":
        path.write_text(json.dumps({**json.loads(path.read_text()), "disableAllHooks": True}))
    else:
        data = json.loads(path.read_text())
        del data["hooks"]["PostToolUse"]
        path.write_text(json.dumps(data))
    done = tipstaff(bench, "doctor", "--host", "claude")
    assert done.returncode == 1
    reasons = {"stale": "older than", "damaged": "damaged", "mode": "can be changed by others", "gone": "no compiled policy",
            "settings": "not valid JSON", "disabled": "disableAllHooks", "event": "not registered for PostToolUse"}  # fmt: skip
    assert reasons[how] in done.stdout


@pytest.mark.parametrize(
    ("host", "event", "matcher", "right"),
    [
        ("claude", "PreToolUse", "Edit|Write", False),
        ("claude", "PreToolUse", "Bash|Edit", True),
        ("claude", "PreToolUse", ".*", True),
        ("gemini", "BeforeTool", "write_file", False),
        ("gemini", "BeforeTool", "run_shell.*", True),
    ],
)
def test_doctor_finds_a_matcher_that_leaves_commands_out(
    bench: Bench, host: str, event: str, matcher: str, right: bool
) -> None:
    assert tipstaff(bench, "install", "--host", host).returncode == 0
    path = host_named(host).settings_file(host_named(host).default_scope, bench.repository, bench.home)
    data = json.loads(path.read_text())
    data["hooks"][event][0]["matcher"] = matcher
    path.write_text(json.dumps(data))
    done = tipstaff(bench, "doctor", "--host", host)
    assert ("takes in the tool that runs commands" not in done.stdout) == right, done.stdout
    assert (done.returncode == 0) == right, done.stdout


@pytest.mark.parametrize("config", [{"enabled": False}, {"disabled": ["tipstaff"]}])
@pytest.mark.parametrize("project", [False, True])
def test_doctor_finds_that_gemini_switches_hooks_off(bench: Bench, config: dict[str, object], project: bool) -> None:
    assert tipstaff(bench, "install", "--host", "gemini", "--user").returncode == 0
    path = (bench.repository if project else bench.home) / ".gemini" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    settings = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**settings, "hooksConfig": config}))
    done = tipstaff(bench, "doctor", "--host", "gemini")
    assert done.returncode == 1
    assert "hooksConfig" in done.stdout


def test_compile_compiles_the_policy_where_a_repository_has_its_own(bench: Bench) -> None:
    (bench.repository / "CLAUDE.md").write_text("# Rules\n- Never push to main.\n")
    assert json.loads(tipstaff(bench, "compile", "--json").stdout)["policy"] is None
    (bench.repository / ".tipstaff").mkdir(exist_ok=True)
    (bench.repository / ".tipstaff" / "gates.toml").write_text('secrets = false\nuncertain = "warn"\n')
    policy = json.loads(tipstaff(bench, "compile", "--json").stdout)["policy"]
    assert Path(policy).is_file()
    assert bench.run(bench.claude("git status"), "--host", "claude").stdout == b""
    (bench.repository / ".tipstaff" / "gates.toml").write_text("secret = false\n")
    done = tipstaff(bench, "compile")
    assert done.returncode == 2
    assert "'secret' is not a setting" in done.stderr


# -- approve -------------------------------------------------------------------------------------------------------------


def waiting(bench: Bench) -> str:
    """Return the code of a call that waits, under the shipped policy."""
    write_policy(default_image(), bench.repository, state=bench.state)
    assert bench.run(bench.claude("git reset --hard"), "--host", "claude").decision() == "ask"
    return str(bench.pending()[0]["code"])


def in_terminal(bench: Bench, *arguments: str, typed: str) -> tuple[int, str]:
    """Run a command in a terminal of its own, and type."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(bench.repository)
        os.execve(sys.executable, [*TIPSTAFF, *arguments], {**bench.environment(), "TERM": "dumb"})
    output = b""
    asked = False
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 1)
        if not ready:
            continue
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        output += part
        if not asked and b"last four letters" in output:
            asked = True
            os.write(terminal, typed.encode() + b"\n")
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), output.decode()


def test_a_person_approves_in_a_terminal(bench: Bench) -> None:
    code = waiting(bench)
    status, output = in_terminal(bench, "approve", code, typed=code[-4:].lower())
    assert status == 0, output
    assert "git reset --hard" in output
    assert str(bench.repository) in output
    assert "git.reset-hard" in output
    _, _, expiry, *_ = (bench.state / "approvals" / code).read_text().split()
    assert 540 < int(expiry) - time.time() <= 600, "ten minutes"
    assert b"A person allowed" in bench.run(bench.claude("git reset --hard"), "--host", "claude").stdout
    assert (bench.state / "key").stat().st_mode & 0o777 == 0o600


def test_a_person_refuses(bench: Bench) -> None:
    code = waiting(bench)
    assert in_terminal(bench, "approve", code, "--deny", typed=code[-4:])[0] == 0
    assert b"A person has refused" in bench.run(bench.claude("git reset --hard"), "--host", "claude").stdout


@pytest.mark.parametrize("typed", ["", "no", "AAAA", "yes"])
def test_other_letters_do_nothing(bench: Bench, typed: str) -> None:
    code = waiting(bench)
    status, output = in_terminal(bench, "approve", code, typed=typed)
    assert status == 1
    assert "nothing was done" in output
    assert not (bench.state / "approvals").exists()


def test_nobody_approves_without_a_terminal(bench: Bench) -> None:
    code = waiting(bench)
    done = tipstaff(bench, "approve", code, stdin=f"{code[-4:]}\n")
    assert done.returncode == 2
    assert "in a terminal" in done.stderr
    assert not (bench.state / "approvals").exists()


@pytest.mark.parametrize("mark", ["CLAUDECODE", "GEMINI_CLI", "CURSOR_AGENT", "CODEX_SANDBOX"])
def test_no_agent_approves(bench: Bench, mark: str) -> None:
    done = tipstaff(bench, "approve", waiting(bench), **{mark: "1"})
    assert done.returncode == 2
    assert "terminal of an agent" in done.stderr


def test_without_a_code_what_waits_is_listed(bench: Bench) -> None:
    assert "no call waits" in tipstaff(bench, "approve").stdout
    code = waiting(bench)
    done = tipstaff(bench, "approve")
    assert done.returncode == 0
    assert code in done.stdout
    assert "git reset --hard" in done.stdout


@pytest.mark.parametrize("for_", ["0s", "1d", "10", "x", "25h", "-1m"])
def test_invalid_times(bench: Bench, for_: str) -> None:
    code = waiting(bench)
    status, output = in_terminal(bench, "approve", code, "--for", for_, typed=code[-4:])
    assert status == 2, output
    assert not (bench.state / "approvals" / code).exists()
