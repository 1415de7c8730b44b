"""Registrations that a `git stash` would take away, hosts that ask twice, and programs that are typed into later."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.hook.running import Bench, default_image, program
from tipstaff.gates.config import GateConfig
from tipstaff.gates.image.layout import with_settings
from tipstaff.gates.image.policy_file import write_policy


def git(bench: Bench, *words: str) -> None:
    environment = {**bench.environment(), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    names = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", *names, *words], cwd=bench.repository, env=environment, check=True, capture_output=True)


@pytest.fixture
def repository(bench: Bench) -> Path:
    (bench.repository / ".git").rmdir()
    git(bench, "init", "-q", "-b", "main")
    (bench.repository / "a.txt").write_text("a\n")
    (bench.repository / "src").mkdir()
    (bench.repository / "src" / "b.txt").write_text("b\n")
    git(bench, "add", "-A")
    git(bench, "commit", "-qm", "first")
    return bench.repository


def register(repository: Path, name: str = ".claude/settings.json") -> Path:
    path = repository / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"command": str(program())}]}]}}))
    return path


def asked(bench: Bench, command: str, host: str = "claude") -> bool:
    answer = bench.run(bench.claude(command), "--host", host)
    if answer.decision() == "":
        return False
    assert "wiring.stash" in bench.spool()[-1]["rules"], answer
    assert "git stash push -- PATH" in answer.reply()["hookSpecificOutput"]["permissionDecisionReason"]
    return True


@pytest.mark.parametrize("name", [".claude/settings.json", ".github/hooks/tipstaff.json"])
def test_a_sparse_checkout_that_leaves_a_registration_out(bench: Bench, repository: Path, name: str) -> None:
    def rules(command: str) -> list[str]:
        bench.run(bench.claude(command), "--host", "claude")
        return bench.spool()[-1]["rules"] if bench.spool() else []

    assert "wiring.sparse" not in rules("git sparse-checkout set src")
    register(repository, name)
    assert "wiring.sparse" in rules("git sparse-checkout set --cone src")
    for command in (
        f"git sparse-checkout set src {name.split('/', maxsplit=1)[0]}",
        "git sparse-checkout list",
        "git sparse-checkout add src",
    ):
        assert "wiring.sparse" not in rules(command), command


@pytest.mark.parametrize(
    "name",
    [".claude/settings.json", ".codex/hooks.json", ".github/hooks/tipstaff.json", ".opencode/plugins/tipstaff.js"],
)
@pytest.mark.parametrize("version", ["2", "4"])
def test_a_stash_of_a_registration_that_is_not_committed(
    bench: Bench, repository: Path, name: str, version: str
) -> None:
    git(bench, "config", "index.version", version)
    git(bench, "update-index", "--index-version", version)
    assert not asked(bench, "git stash")
    path = register(repository, name)
    # Not followed by git: the plain stash leaves it.
    assert not asked(bench, "git stash")
    assert not asked(bench, "git add a.txt && git stash")
    for command in ("git add -A && git stash", "git add . ; git stash push -m x", f"git add {name}; git stash"):
        assert asked(bench, command), command
    assert asked(bench, "git stash -u")
    assert asked(bench, "git stash push --include-untracked -m 'wip'")
    git(bench, "add", name)
    assert asked(bench, "git stash")
    git(bench, "commit", "-qm", "hooks")
    assert not asked(bench, "git stash")
    assert not asked(bench, "git stash -u")
    # Work elsewhere changes nothing.
    (repository / "src" / "b.txt").write_text("changed\n")
    git(bench, "add", "src/b.txt")
    assert not asked(bench, "git stash")
    path.write_text(path.read_text() + "\n")
    for command in ("git stash", "git stash push -m x", "git -C . stash save wip", "git add a.txt && git stash -k", "git stash push -- .",
                    f"git stash push -- {name}", "git stash -- .claude .codex .github .opencode"):  # fmt: skip
        assert asked(bench, command), command
    for command in (
        "git stash list",
        "git stash pop",
        "git stash push -- a.txt src",
        "git stash push -- '*.py' 'src/*.json' ':(glob)src/**'",
        "git stash show -p",
        "git log --grep stash",
    ):
        assert not asked(bench, command), command
    for pattern in ("*", ":!a.txt", ":^a.txt", ":(exclude)a.txt", f"*{path.suffix}", f"**/{path.name}"):
        assert asked(bench, f"git stash push -- '{pattern}'"), pattern
    assert asked(bench, "git stash", "codex")


def test_a_registration_of_a_worktree(bench: Bench, repository: Path) -> None:
    git(bench, "worktree", "add", "-q", str(bench.home / "tree"))
    tree = bench.home / "tree"
    register(tree)
    event = bench.claude("git stash -u", cwd=str(tree))
    assert bench.run(event, "--host", "claude").decision() == "ask"
    subprocess.run(["git", "add", ".claude"], cwd=tree, check=True, env=bench.environment())
    assert bench.run({**event, "tool_input": {"command": "git stash"}}, "--host", "claude").decision() == "ask"


@pytest.mark.parametrize("damage", ["cut", "zeros", "empty", "gone"])
def test_an_index_that_cannot_be_read(bench: Bench, repository: Path, damage: str) -> None:
    register(repository)
    git(bench, "add", "-A")
    git(bench, "commit", "-qm", "hooks")
    index = repository / ".git" / "index"
    data = index.read_bytes()
    if damage == "gone":
        index.unlink()
    else:
        index.write_bytes({"cut": data[: len(data) // 2], "zeros": data[:12] + bytes(len(data)), "empty": b""}[damage])
    assert asked(bench, "git stash -u")


def test_a_large_index_is_read_in_time(bench: Bench, repository: Path) -> None:
    lines = "".join(f"100644 {'0' * 39}1 0\tfolder{at % 97}/some/deeper/file-{at}.txt\n" for at in range(60_000))
    subprocess.run(
        ["git", "update-index", "--index-info"],
        cwd=repository,
        input=lines,
        text=True,
        check=True,
        env=bench.environment(),
    )
    register(repository)
    # Copying what is lost has a time of its own.
    image = with_settings(default_image(), GateConfig(evidence="none").numbers()[:-1])
    write_policy(image, repository, state=bench.state)
    start = time.perf_counter()
    assert asked(bench, "git stash -u")
    assert bench.spool()[-1]["us"] < 150_000
    assert time.perf_counter() - start < 30


@pytest.mark.parametrize(
    "command",
    ["bash", "bash --norc", "bash -il", "sh", "zsh -f", "python3", "python3 -i -q", "node", "sudo -i", "sudo -s", "su -", "ssh build.example",
     "ssh -p 22 me@build.example", "psql -h localhost app", "sqlite3 app.db", "docker exec -it web bash", "cd src && bash", "deno repl",
     "script -q /dev/null", "bash < /dev/stdin", "python3 -i x.py", "rails c", "perl", "ruby", "php -a", "expect", "gdb ./x", "vim", "vim a.txt", "ed x",
     "python manage.py shell", "php artisan tinker", "tmux new -s work", "screen", "poetry shell", "nix develop", "fly ssh console -a app",
     "gcloud compute ssh vm --zone z", "adb shell", "docker attach web", "sftp build.example"],
)  # fmt: skip
def test_codex_types_into_nothing_unseen(bench: Bench, command: str) -> None:
    event = bench.claude(command, turn_id="t")
    assert bench.run(event, "--host", "codex").decision() == "deny"
    assert "wiring.typed-later" in bench.spool()[-1]["rules"]
    assert "wiring.typed-later" not in str(bench.run(bench.claude(command), "--host", "claude"))


@pytest.mark.parametrize(
    "command",
    ["bash build.sh", "bash -c 'ls'", "bash -lc 'make test'", "sh < build.sh", "echo 'ls' | bash", "python3 -m pytest -q", "python3 -V", "node -v",
     "node --version", "python3 <<'E'\nprint(1)\nE", "ssh build.example uptime", "ssh -N -L 1:2:3 build.example", "psql -c 'select 1'", "bash --version",
     "psql app -f schema.sql", "sqlite3 app.db 'select 1'", "sqlite3 app.db .tables", "deno test", "bun run build", "sudo -u dev ls", "python3 -c 'print(1)'", "python3 setup.py build",
     "script -qc 'make test' /dev/null", "script -q /dev/null make test", "rails db:migrate", "rails test", "perl x.pl", "perl -ne 'print' a.txt", "perl -v", "ruby -v",
     "ruby x.rb", "php -v", "php x.php", "php artisan migrate", "expect x.exp", "gdb -batch -ex bt ./x", "vim -es -c '%s/a/b/' -c wq a.txt", "nvim --headless +qa",
     "printf 'wq\\n' | ed x", "ed x <<'E'\nwq\nE", "python3 x.py -i", "python manage.py migrate", "vim --version", "emacs --batch -l x.el",
     # A program of the repository: what it does with its input is its own affair (the threat model says so).
     "./repl", "bin/console", "tmux new -d -s w 'npm run dev'", "tmux send-keys -t w ls", "screen -ls", "nix develop -c make", "fly ssh console -C ls",
     "gcloud compute ssh vm --command ls", "adb shell ls", "docker compose up -d", "sftp -b put.txt build.example"],
)  # fmt: skip
def test_codex_runs_what_is_given_whole(bench: Bench, command: str) -> None:
    bench.run(bench.claude(command, turn_id="t"), "--host", "codex")
    assert "wiring.typed-later" not in bench.spool()[-1]["rules"]


def copilot_as_claude(bench: Bench, event: str = "PreToolUse", **more: Any) -> dict[str, Any]:
    """What Copilot sends to a hook of Claude Code's settings, which it starts without its arguments."""
    return {
        "hook_event_name": event, "session_id": "s", "timestamp": "2026-11-23T08:45:37.983Z", "cwd": str(bench.repository),
        "tool_name": "Bash", "tool_input": {"command": "git reset --hard", "mode": "sync"}, **more,
    }  # fmt: skip


def test_copilot_is_answered_once(bench: Bench) -> None:
    there = {"COPILOT_CLI": "1"}
    alone = bench.run(copilot_as_claude(bench), environment=there)
    assert alone.reply()["permissionDecision"] == "ask"
    count = len(bench.spool())
    for path in (bench.home / ".copilot/hooks/tipstaff.json", bench.repository / ".github/hooks/tipstaff.json"):
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"hooks": {"preToolUse": [{"bash": f"{program()} --host copilot"}]}}))
        for event in ("PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit"):
            assert bench.run(copilot_as_claude(bench, event), environment=there) == (0, b"", b"")
        # Its own registration is answered, and so is anybody else.
        own = {
            "sessionId": "s",
            "cwd": str(bench.repository),
            "toolName": "bash",
            "toolArgs": {"command": "git reset --hard"},
        }
        assert bench.run(own, "--host", "copilot", environment=there).decision() == "ask"
        assert bench.run(copilot_as_claude(bench), "--host", "copilot", environment=there).decision() == "ask"
        assert bench.run(copilot_as_claude(bench)).decision() == "ask"
        path.unlink()
    assert len(bench.spool()) == count + 6
    (bench.home / ".copilot/hooks/tipstaff.json").write_text("{}")
    assert bench.run(copilot_as_claude(bench), environment=there).decision() == "ask"


def test_copilots_output_is_masked_in_claudes_words_too(bench: Bench) -> None:
    from tests.hook.running import aws_key

    event = copilot_as_claude(
        bench, "PostToolUse", tool_result={"result_type": "success", "text_result_for_llm": f"k {aws_key()}"}
    )
    reply = bench.run(event, environment={"COPILOT_CLI": "1"}).reply()
    assert reply["modifiedResult"]["textResultForLlm"] == "k AKIA" + "*" * 16
