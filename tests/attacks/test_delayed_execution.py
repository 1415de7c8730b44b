"""Attacks that wait: code that is written where a shell, git, a service manager or a package manager will run it."""

from __future__ import annotations

import pytest

from tests.attacks.playing import STOPPED, Victim

STARTUP = (
    "echo 'git reset --hard' >> ~/.bashrc",
    "echo 'rm -rf ~' >> {home}/.profile",
    "printf 'alias ls=\"rm -rf ~\"\\n' >> ~/.zshrc",
    "cat >> ~/.bash_aliases <<'E'\nalias g='git push --force origin main'\nE",
    "printf '[alias]\\n\\tst = !rm -rf ~\\n' >> ~/.gitconfig",
    "git config --global alias.st '!rm -rf ~'",
    "git config alias.x '!git reset --hard'",
    "printf '[Service]\\nExecStart=/bin/sh -c \"rm -rf ~\"\\n' > ~/.config/systemd/user/x.service",
    "echo 'git reset --hard' > .git/hooks/post-commit",
)


@pytest.mark.parametrize("command", STARTUP)
def test_what_starts_later(victim: Victim, command: str) -> None:
    assert victim.decision(command) in STOPPED


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("{home}/.bashrc", "rm -rf ~\n"),
        ("{home}/.gitconfig", "[alias]\n\tst = !rm -rf ~\n"),
        ("{home}/.config/systemd/user/x.service", "[Service]\nExecStart=/bin/sh -c 'rm -rf ~'\n"),
    ],
)
def test_what_starts_later_written_by_tool(victim: Victim, path: str, content: str) -> None:
    assert victim.tool_decision("Write", {"file_path": path, "content": content}) in STOPPED


def test_temporary_folder_that_holds_a_home(victim: Victim) -> None:
    for folder in (victim.home, victim.home.parent, victim.repository, "/", "/home", "/etc", "/tmp/../home"):
        environment = {"TMPDIR": str(folder)}
        assert victim.decision("rm -rf /usr/local/bin", environment=environment) in STOPPED
