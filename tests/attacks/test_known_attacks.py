"""Attacks that were found by reviews, by kind: what is code by another name, hosts' own files, tools of servers, evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.attacks.playing import STOPPED, Victim

HOME = "rm -rf ~"
FILES = {
    "evil.sh": f"{HOME}\n",
    "evil.js": "require('child_process').execSync('rm -rf ~')\n",
    "evil.gitconfig": f"[core]\n\tfsmonitor = {HOME}\n[alias]\n\tst = !{HOME}\n",
}
STOPPED_COMMANDS = (
    # bash evaluates subscripts in quotes as well
    f"[[ -v 'a[$({HOME})]' ]]",
    f"test -v 'a[$({HOME})]'",
    f"let 'x=a[$({HOME})]'",
    f"read 'a[$({HOME})]' <<< x",
    # a variable that names code
    "BASH_ENV=./evil.sh bash -c true",
    # the registration, by words of git that nobody listed
    "git bundle create .claude/settings.json HEAD",
    "git interpret-trailers --in-place .claude/settings.json",
    # another root
    "bwrap --ro-bind /bin/true {hook} claude",
    # evidence
    "tipstaff ledger import x",
    "tipstaff ledger prune --before 2020-01-01",
    "tipstaff rules optimize --apply",
    # the disk
    "fallocate -l 1T big",
)
STOPPED_TOOLS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("mcp__x__run", {"program": "rm", "arguments": ["-rf", "{home}"]}),
    ("mcp__x__start", {"command": "rm", "args": ["-rf", "{home}"]}),
    ("mcp__x__run", {"args": ["-rf", "{home}"], "executable": "/bin/rm"}),
    ("Write", {"file_path": "{home}/.claude/shell-snapshots/snapshot-bash-1.sh", "content": "x"}),
    ("Write", {"file_path": "{home}/.claude/session-env/1/sessionstart-hook-0.sh", "content": "x"}),
    ("Write", {"file_path": "{repo}/.git/config.worktree", "content": "[core]\nfsmonitor=x\n"}),
    ("Write", {"file_path": "{repo}/.git/modules/x/config", "content": "[core]\nfsmonitor=x\n"}),
    ("Write", {"file_path": "{repo}/.git/modules/x/hooks/post-checkout", "content": "x"}),
)
PASSING = (
    "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
    "NODE_OPTIONS='-r dotenv/config' node app.js",
    "GIT_EDITOR=true git rebase --continue",
    "GIT_EDITOR=vim git commit",
    "GIT_CONFIG_GLOBAL=/dev/null git status",
    "git add .claude/settings.json",
    "git diff .claude/settings.json",
    "git log -p -- .claude/settings.json",
    "fallocate -l 1G swapfile",
    "tipstaff ledger list",
    "[[ -v HOME ]]",
)


def filled(victim: Victim, value: Any) -> Any:
    if isinstance(value, list):
        return [filled(victim, one) for one in value]
    return victim.filled(value) if isinstance(value, str) else value


@pytest.fixture
def attacked(victim: Victim) -> Victim:
    for name, text in FILES.items():
        victim.put(name, text, mode=0o755)
    return victim


def test_known_attacks_are_stopped(attacked: Victim) -> None:
    broken = [command for command in STOPPED_COMMANDS if attacked.decision(command) not in STOPPED]
    for tool, given in STOPPED_TOOLS:
        call = attacked.call(tool, {name: filled(attacked, value) for name, value in given.items()})
        if attacked.ask(call).decision() not in STOPPED:
            broken.append(f"{tool} {given}")
    assert broken == [], "\n".join(broken)


def test_what_is_like_them_passes(attacked: Victim) -> None:
    assert [command for command in PASSING if attacked.decision(command) in STOPPED] == []
