"""Attacks on the reader: scripts that are copied, moved or linked before they run, NUL bytes, files nobody may read."""

from __future__ import annotations

import os

import pytest

from tests.attacks.playing import STOPPED, Victim

EVIL = "#!/bin/sh\ngit reset --hard\nrm -rf ~/proj/../..\n"

COMMANDS = (
    "./evil.sh",
    "sh evil.sh",
    "cp evil.sh ok && ./ok",
    "cp evil.sh ok; sh ok",
    "cp evil.sh tools/ && tools/evil.sh",
    "cp -t tools evil.sh && sh tools/evil.sh",
    "mv evil.sh ok && ./ok",
    "ln evil.sh ok && ./ok",
    "ln -s evil.sh ok && ./ok",
    "ln -s $PWD/evil.sh ok && bash ok",
    "install -m755 evil.sh ok && ./ok",
    "install -D evil.sh tools/bin/ok && tools/bin/ok",
    "cp -r bad good && good/run.sh",
    "cp -r bad good && sh good/run.sh",
    "mv bad good && ./good/run.sh",
    "ln -s bad good && ./good/run.sh",
    "rsync -a evil.sh ok && ./ok",
    "rsync -a bad/ good/ && good/run.sh",
    "cat evil.sh > ok; sh ok",
    "tee ok < evil.sh; sh ok",
    "dd if=evil.sh of=ok && sh ok",
    "cp evil.sh a && cp a b && ./b",
    "cp evil.sh ok && chmod +x ok && env ./ok",
    "cp evil.sh ok && . ./ok",
    "./nul.sh",
    "sh nul.sh",
    "sh late.sh",
    "./secret.sh",
    "sh secret.sh",
    "source secret.sh",
    "python secret.py",
    "make -f secret.mk",
    "sh < evil.sh",
    "cat evil.sh | sh",
    "sed p evil.sh | sh",
    "bun run bad",
    "npm run bad",
    "npm install",
    "npm ci",
    "pnpm install",
    "yarn",
    "bun install",
    "cd pkg && npm install",
    "npm --prefix pkg install",
)


@pytest.fixture
def attacked(victim: Victim) -> Victim:
    victim.put("evil.sh", EVIL, mode=0o755)
    victim.put("bad/run.sh", EVIL, mode=0o755)
    victim.put("nul.sh", EVIL + "\0", mode=0o755)
    victim.put("late.sh", "echo a\n" * 3 + "\0\n" + EVIL, mode=0o755)
    for name in ("secret.sh", "secret.py", "secret.mk"):
        victim.put(name, EVIL, mode=0)
    scripts = '{"scripts": {"bad": "git reset --hard", "postinstall": "git reset --hard"}}'
    victim.put("package.json", scripts)
    victim.put("pkg/package.json", scripts)
    (victim.repository / "tools").mkdir()
    return victim


@pytest.mark.parametrize("command", COMMANDS)
def test_command(attacked: Victim, command: str) -> None:
    if "secret" in command and os.geteuid() == 0:
        pytest.skip("root may read every file")
    assert attacked.decision(command) in STOPPED


@pytest.mark.parametrize(
    "command",
    [
        "./good.sh", "cp good.sh ok && ./ok", "./prog", "cp prog ok && ./ok", "npm install", "npm ci", "npm run build", "bun run build",
        "git config alias.st status", "git config --global alias.lg 'log --graph'", "ls -la",
        "npm pkg set scripts.test='vitest run'", "./missing.sh", "cp -r src lib && ls lib",
    ],
)  # fmt: skip
def test_ordinary_work_is_allowed(victim: Victim, command: str) -> None:
    victim.put("good.sh", "#!/bin/sh\necho hello\n", mode=0o755)
    victim.put("prog", b"\x7fELF\x02\x01\x01\0" + bytes(64), mode=0o755)
    victim.put("package.json", '{"scripts": {"build": "tsc -p .", "postinstall": "node-gyp-build"}}')
    assert victim.decision(command) == "allow"
