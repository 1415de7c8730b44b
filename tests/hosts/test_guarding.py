"""Guarded hosts, played: what is started there tries to change the gate's files, and git and other work go on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.hook.running import Bench, program
from tipstaff.hosts import host_named
from tipstaff.hosts.guarding import guarded_places, links_to_places, mechanism, sandbox_profile

TIPSTAFF = (sys.executable, "-c", "import sys; from tipstaff.cli import main; sys.exit(main())")

SETTINGS = "home/.claude/settings.json"
ATTACKS = (
    f"echo x >> {SETTINGS}",
    f"echo x > {SETTINGS}.new && mv {SETTINGS}.new {SETTINGS}",
    f"rm -f {SETTINGS}",
    f"chmod 777 {SETTINGS}",
    f"touch {SETTINGS}",
    f"truncate -s 0 {SETTINGS}",
    f"ln -f {SETTINGS} other && echo x >> other",
    f"ln -s $PWD/{SETTINGS} other; echo x >> other",
    "mv home/.claude home/.claude.old",
    "rm -rf home/.claude",
    "mv home home.old",
    "cd home/.claude && echo x >> settings.json",
    f"umount {SETTINGS}",
    f"mount -o remount,bind,rw {SETTINGS}",
    f"umount -l home/.claude && echo x >> {SETTINGS}",
    f"unshare -Urm sh -c 'umount {SETTINGS}; mount -o remount,bind,rw {SETTINGS}; echo x >> {SETTINGS}'",
    "unshare -Urm sh -c 'mkdir -p m && mount --rbind home m && echo x >> m/.claude/settings.json'",
    f"echo x >> /proc/$OUTSIDE/root/$PWD/{SETTINGS}",
    f"echo x >> /proc/$OUTSIDE/cwd/{SETTINGS}",
    "nsenter -t $OUTSIDE -m -U true",
    f"echo x >> /proc/self/fd/$FOLDER/{SETTINGS}",
    "echo x > state/approvals/ABCDEFGH",
    "echo x > state/key",
    "rm -rf state/policy",
    "mv state state.old",
    "echo x > state/policy/default.policy",
    "echo x >> home/.bashrc",
    "cp /bin/true $HOOK",
    "mv $HOOK $HOOK.old",
)  # fmt: skip
WORK = (
    (
        "git init -q work && cd work && git config user.name a && git config user.email a@example.invalid && echo a > a "
        "&& git add a && git commit -qm a && git checkout -q -b b && git mv a c && git commit -qam c && git checkout -q - "
        '&& git worktree add -q ../tree b && git stash list && test -z "$(git status --porcelain)"'
    ),
    "echo '{}' > home/.claude/state.json && mkdir home/.claude/projects && mv home/.claude/state.json home/.claude/projects",
    "touch state/spool.jsonl && mkdir -p state/pending && echo x > state/pending/x",
    "mkdir home/.cache home/project && cd home && mv project moved && ln -s moved link",
    'command -v node >/dev/null || exit 0; cd home && node -e \'require("fs").writeFileSync("n", "1")\' && test -s n',
)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    # The account's own program, which may be replaced.
    programs = tmp_path / "bin"
    programs.mkdir()
    shutil.copy(program(), programs / "tipstaff-hook")
    (bench.home / ".claude").mkdir()
    (bench.home / ".bashrc").write_text("# mine\n")
    if (why := mechanism(bench.state)).startswith("none"):
        pytest.skip(why)
    return bench


def guarded(bench: Bench, command: Sequence[str], **more: str) -> subprocess.CompletedProcess[str]:
    """Start a command in the bench's folder, as its account."""
    code = (
        "import os, pathlib, sys; from tipstaff.hosts import guarding\n"
        "guarding.hook_program = lambda: pathlib.Path(os.environ['HOOK'])\n"
        "guarding.run(sys.argv[1:], pathlib.Path(os.environ['HOME']), pathlib.Path(os.environ['TIPSTAFF_STATE']))"
    )
    environment = bench.environment({"HOOK": str(bench.home.parent / "bin" / "tipstaff-hook"), **more})
    folder = os.open(bench.home.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return subprocess.run(
            [sys.executable, "-c", code, *command], cwd=bench.home.parent, env={**environment, "FOLDER": str(folder)},
            text=True, capture_output=True, check=False, timeout=60, pass_fds=(folder,),
        )  # fmt: skip
    finally:
        os.close(folder)


def kept(bench: Bench) -> dict[str, tuple[bytes, int]]:
    root = bench.home.parent
    files = [root / SETTINGS, bench.home / ".bashrc", root / "bin" / "tipstaff-hook", bench.state / "key"]
    files += sorted(path for name in ("approvals", "policy") for path in (bench.state / name).rglob("*"))
    return {str(path): (path.read_bytes(), path.stat().st_mode) for path in files if path.exists()}


def test_attacks_change_nothing(bench: Bench) -> None:
    guarded_places(bench.home, bench.state)
    before = kept(bench)
    broken: list[str] = []
    with subprocess.Popen(["sleep", "60"], cwd=bench.home.parent) as outside:
        try:
            script = "\n".join(f"(\n{attack}\n) && echo done: {number}" for number, attack in enumerate(ATTACKS))
            done = guarded(bench, ("sh", "-c", f"{script}\necho all"), OUTSIDE=str(outside.pid))
            assert done.stdout.endswith("all\n"), done.stderr
            for attack in ATTACKS if kept(bench) != before else ():  # which it was
                guarded(bench, ("sh", "-c", attack), OUTSIDE=str(outside.pid))
                if kept(bench) != before:
                    broken.append(attack)
        finally:
            outside.kill()
    assert broken == []


@pytest.mark.parametrize("command", WORK)
def test_work_goes_on(bench: Bench, command: str) -> None:
    done = guarded(bench, ("sh", "-c", command))
    assert done.returncode == 0, done.stderr


def test_missing_registrations_are_made_valid_and_links_are_named(bench: Bench) -> None:
    (bench.home / ".cursor").mkdir()
    (bench.home / ".codex").mkdir()
    (bench.home / "dotfiles").mkdir()
    linked = bench.home / ".codex" / "hooks.json"
    linked.symlink_to(bench.home / "dotfiles" / "hooks.json")
    places = guarded_places(bench.home, bench.state)
    for name in ("claude", "cursor"):
        host = host_named(name)
        path = host.settings_file("user", bench.home, bench.home)
        assert path in places
        assert json.loads(path.read_text()) == host.head()
    assert linked not in places
    assert links_to_places(bench.home) == (linked,)
    assert not (bench.home / ".bash_profile").exists()  # it would hide .profile


def test_what_git_keeps_is_left_to_git(bench: Bench) -> None:
    (bench.home / ".git").mkdir()
    assert all(not path.is_relative_to(bench.home) for path in guarded_places(bench.home, bench.state))


def test_the_hook_sees_it(bench: Bench) -> None:
    write = {"file_path": str(bench.home.parent / SETTINGS), "content": "{}"}
    event = json.dumps(bench.claude("", tool_name="Write", tool_input=write))
    assert bench.run(event.encode(), "--host", "claude").decision() == "deny"
    answer = guarded(bench, ("sh", "-c", f'printf %s "$EVENT" | "{program()}" --host claude'), EVENT=event)
    assert answer.returncode == 0, answer.stderr
    assert bench.spool()[-1]["decision"] == "warn", answer.stdout
    assert bench.spool()[-1]["rules"] == ["wiring.read-only"]
    # Of two files one is not kept: what is said of that one counts.
    both = json.dumps(bench.claude(f"tee {bench.home.parent / SETTINGS} .claude/settings.json < x"))
    answer = guarded(bench, ("sh", "-c", f'printf %s "$EVENT" | "{program()}" --host claude'), EVENT=both)
    assert bench.spool()[-1]["decision"] == "block"


def test_time_and_programs_that_are_missing(bench: Bench) -> None:
    code = "import sys, time; from tipstaff.hosts.guarding import enter, guarded_places; from pathlib import Path\n"
    code += "places = guarded_places(Path.home(), Path(sys.argv[1])); start = time.perf_counter(); enter(places)\n"
    code += "print(time.perf_counter() - start)"
    times: list[float] = []
    deadline = time.monotonic() + 20
    while not times or (min(times) > 0.005 and time.monotonic() < deadline):
        done = subprocess.run(
            [sys.executable, "-c", code, str(bench.state)],
            env=bench.environment(), text=True, capture_output=True, check=True, cwd=bench.home,
        )  # fmt: skip
        times.append(float(done.stdout))
    assert min(times) <= 0.005
    done = subprocess.run(
        [*TIPSTAFF, "guard", "--", "no-such-program"],
        env=bench.environment(),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert "no-such-program" in done.stderr


def test_profile_of_macos(tmp_path: Path) -> None:
    kept = tmp_path / 'a "b"' / "settings.json"
    kept.parent.mkdir()
    kept.write_text("{}")
    profile = sandbox_profile([kept])
    assert profile.startswith("(version 1)(allow default)(deny file-write* (subpath ")
    assert json.dumps(str(kept.resolve())) in profile
    assert f"(literal {json.dumps(str(kept.parent.resolve()))})" in profile
