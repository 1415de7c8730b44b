"""Attacks by what a repository brings along: settings, git configuration and modules that want to be run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from tests.attacks.playing import Victim
from tests.hook.running import program


def trap(folder: Path, name: str = "trap.sh") -> tuple[Path, Path]:
    """Return a program that leaves a mark when it is run, and the mark."""
    mark = folder / "it-was-run"
    path = folder / name
    path.write_text(f"#!/bin/sh\necho run >> {mark}\ncat\n")
    path.chmod(0o755)
    return path, mark


def registered(victim: Victim, handler: dict[str, object]) -> None:
    hooks = {event: [{"hooks": [handler]}] for event in ("PreToolUse", "PostToolUse", "SessionStart")}
    victim.put(".claude/settings.json", json.dumps({"hooks": hooks}))


@pytest.mark.parametrize(
    "handler",
    [
        {"type": "command", "command": "{trap}", "args": ["--host", "claude"]},
        {"type": "command", "command": "{trap} --host claude"},
        {"type": "command", "command": "{hook} --host claude; {trap}"},
        {"type": "command", "command": "{hook} --host claude $({trap})"},
        {"type": "command", "command": "{hook} --host claude\n{trap}"},
        {"type": "command", "command": "{hook}", "args": ["{trap}"]},
    ],
)
def test_doctor_runs_this_package_alone(victim: Victim, handler: dict[str, object]) -> None:
    path, mark = trap(victim.repository, "tipstaff-hook")
    text = json.dumps(handler).replace("{trap}", str(path)).replace("{hook}", str(program()))
    registered(victim, json.loads(text))
    answer = victim.tipstaff("doctor", "--host", "claude")
    assert answer.status == 1
    assert not mark.exists()


def test_git_configuration_of_a_repository_is_not_run(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    environment = {**os.environ, "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=x", "-c", "user.email=x@y", *words],
            cwd=root,
            check=True,
            capture_output=True,
            env=environment,
        )

    git("init", "-q")
    (root / "a.txt").write_text("one\n")
    git("add", "a.txt")
    git("commit", "-qm", "one")
    path, mark = trap(tmp_path)
    (root / ".gitattributes").write_text("*.txt filter=evil diff=evil\n")
    for name in (
        "core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command", "filter.evil.clean",
        "filter.evil.smudge", "filter.evil.process", "gpg.program", "core.editor", "core.sshCommand", "pager.status",
    ):  # fmt: skip
        git("config", name, str(path))
    git("config", "log.showSignature", "true")
    mark.unlink(missing_ok=True)
    (root / "a.txt").write_text("two\n")
    os.utime(root / "a.txt")
    command = [sys.executable, "-P", "-m", "tipstaff.cli"]
    for words in (("scan",), ("scan", "--staged"), ("compile",), ("lint",)):
        subprocess.run([*command, *words], cwd=root, capture_output=True, env=environment, check=False)
    from tipstaff.context.sources.git_state import GitState

    assert "a.txt" in GitState(root, timeout=20).section()
    assert not mark.exists()


ASKED: tuple[tuple[str, ...], ...] = (
    ("scan", "--staged"), ("lint",), ("check", "--changed", "--list"), ("review", "assemble", "--diff", "HEAD", "--task", "x"),
    ("retrieve", "x"),
)  # fmt: skip


@pytest.mark.parametrize(
    "attack", ["equals sign", "submodule", "promisor", "program of the folder", "environment", "include"]
)
def test_git_runs_nothing_that_is_configured(tmp_path: Path, attack: str) -> None:
    root, other = tmp_path / "repo", tmp_path / "other"
    path, mark = trap(tmp_path)
    environment = {**os.environ, "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", "GIT_ALLOW_PROTOCOL": "file"}

    def git(where: Path, *words: str) -> None:
        own = ["-c", "user.name=x", "-c", "user.email=x@y", "-c", "protocol.file.allow=always"]
        subprocess.run(["git", "-C", str(where), *own, *words], check=True, capture_output=True, env=environment)

    for folder in (other, root):
        folder.mkdir()
        git(folder, "init", "-q")
        (folder / "a.txt").write_text("one\n")
        (folder / "AGENTS.md").write_text("# Rules\n- Never push to main.\n")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "one")
    (root / ".gitattributes").write_text("*.txt filter=a=b diff=a=b\n")
    more: dict[str, str] = {}
    if attack == "equals sign":
        with (root / ".git" / "config").open("a") as config:
            config.write(f'[filter "a=b"]\n\tclean = {path}\n\trequired\n[diff "a=b"]\n\ttextconv = {path}\n')
    elif attack == "submodule":
        git(root, "submodule", "-q", "add", str(other), "sub")
        (root / ".git" / "modules" / "sub" / "info" / "attributes").write_text("* filter=evil\n")
        for name in ("filter.evil.clean", "core.fsmonitor", "diff.external"):
            git(root / "sub", "config", name, str(path))
        (root / "sub" / "a.txt").write_text("two\n")
    elif attack == "promisor":
        git(root, "config", "extensions.partialClone", "origin")
        git(root, "config", "remote.origin.url", str(other))
        git(root, "config", "remote.origin.promisor", "true")
        git(root, "config", "remote.origin.uploadpack", str(path))
        (root / "b.txt").write_text("gone\n")
        git(root, "add", "b.txt")
        git(root, "commit", "-qm", "b")
        for found in (root / ".git" / "objects").glob("??/*"):
            if b"gone" in zlib.decompress(found.read_bytes()):
                found.unlink()
        (root / "b.txt").write_text("other\n")
    elif attack == "program of the folder":
        (root / "git").write_text(f"#!/bin/sh\necho run >> {mark}\n")
        (root / "git").chmod(0o755)
        more["PATH"] = f".:{root}:{os.environ['PATH']}"
    elif attack == "environment":
        (tmp_path / "evil").write_text(f"[core]\n\tfsmonitor = {path}\n\tpager = {path}\n")
        more |= {"GIT_CONFIG_GLOBAL": str(tmp_path / "evil"), "GIT_EXTERNAL_DIFF": str(path), "GIT_CONFIG_COUNT": "1",
                 "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": str(path)}  # fmt: skip
    else:
        (tmp_path / "evil").write_text(f"[core]\n\tfsmonitor = {path}\n[diff]\n\texternal = {path}\n")
        git(root, "config", "include.path", str(tmp_path / "evil"))
        git(root, "config", "extensions.worktreeConfig", "true")
        (root / ".git" / "config.worktree").write_text(f"[core]\n\tfsmonitor = {path}\n")
    mark.unlink(missing_ok=True)
    (root / "a.txt").write_text("two\n")
    for words in ASKED:
        subprocess.run(
            [sys.executable, "-P", "-m", "tipstaff.cli", *words], cwd=root, capture_output=True, check=False, timeout=120,
            stdin=subprocess.DEVNULL, env={**environment, **more},
        )  # fmt: skip
        assert not mark.exists(), words
    from tipstaff.context.sources.git_state import GitState

    assert "a.txt" in GitState(root, timeout=20).section()
    assert not mark.exists()


def test_modules_of_the_folder_are_not_imported(victim: Victim) -> None:
    for name in ("click.py", "json.py", "msgspec.py", "tomllib.py", "shlex.py"):
        victim.put(name, "open('it-was-run', 'w').write('x')\nraise SystemExit(3)\n")
    done = subprocess.run(
        [sys.executable, "-m", "tipstaff.cli", "gate", "git status"], cwd=victim.repository, capture_output=True,
        env=victim.environment(), check=False,
    )  # fmt: skip
    assert not (victim.repository / "it-was-run").exists(), done.stderr
    assert done.returncode == 0, done.stderr
