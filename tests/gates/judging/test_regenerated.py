"""What a command line made itself it may take away again; nothing else."""

from __future__ import annotations

import pytest

from tipstaff import EnforcementGates, GateConfig, aggregate_decision
from tipstaff.gates.image.policy_image import compile_image
from tipstaff.gates.packs.reader import load_policy
from tipstaff.kernels import _gates

GATES = EnforcementGates(GateConfig())
SETTINGS = (1, 300, 0, 2, 3, 2, 0, 0, 0, 0, False)
URL = "https://x.example/a.git"

MADE = {
    "a clone": [
        f"git clone {URL} && make -C a && rm -rf a", f"git clone --depth 1 -b v2 {URL} b && cd b && make && cd .. && rm -rf b",
        f"sudo git clone {URL} b && sudo rm -rf b", "gh repo clone acme/tool && rm -rf tool", f"git clone {URL} /usr/src/b && rm -rf /usr/src/b",
        f"cd ~ && git clone {URL} && ./a/install && rm -rf a", f"git clone {URL} b && (cd b && make; true) && rm -rf b/",
        f"git clone {URL} b && mv b/bin/tool . && rm -rf b", f"git clone {URL} b && cd b && mv *.c src/ && cd .. && rm -rf b",
        f"git clone {URL} b && cd b && rm -rf .git && git init", f"(git clone {URL} b && rm -rf b)", f"true; git clone {URL} b && rm -rf b",
        f'bash -c "git clone {URL} b && rm -rf b"', f"git clone {URL} b \\\n  && make -C b \\\n  && rm -rf b",
        "git worktree add ../b main && cd ../b && make && rm -rf /home/dev/b",
    ],
    "what git does in a clone": [
        f"git clone {URL} && cd a && git reset --hard 3f2a1bc", f"git clone {URL} b && git -C b reset --hard v2", f"git clone {URL} b && cd b && git checkout -f v2 && git clean -fdx",
    ],
    "a folder that was not there": ["mkdir x && touch x/a && rm -rf x", "mkdir x y && rm -rf x y", "cargo new x && cd x && cargo test && cd .. && rm -rf x"],
    "what was fetched and unpacked": [
        "wget -O f https://x.example/f && sh -n f && rm -rf f", "curl -sSLo f https://x.example/f && rm -rf f",
        "tar xzf a-1.2.tar.gz && cd a-1.2 && make && cd .. && rm -rf a-1.2", "curl -LO https://x.example/a-b.zip && unzip -q a-b.zip && rm -rf a-b a-b.zip",
        "curl https://x.example/a-1.2.tar.gz | tar xz && cd a-1.2 && make && cd .. && rm -rf a-1.2",
        "mkdir x && wget -qO- https://x.example/a.tgz | tar xz -C x && make -C x && rm -rf x",
    ],
    "a name with a variable": [
        "V=1.2 && curl -LO https://x.example/a-$V.tgz && tar xf a-$V.tgz && rm -rf a-$V a-$V.tgz", 'mkdir "a-${V}" && rm -rf "a-${V}"',
    ],
    "lines that end where one fails": [
        f"set -ex; git clone {URL}; cd a; make; cd ..; rm -rf a", f"set -euo pipefail\n# build\ngit clone {URL}\ncd a\nmake | tee log\ncd ..\nrm -rf a",
    ],
}  # fmt: skip
NOT_MADE = {
    "it may have been there": [
        "mkdir -p x && rm -rf x", "mkdir --parents x && rm -rf x", "mkdir -vp x && rm -rf x", "git init x && rm -rf x", "tar xf src.tgz && rm -rf src",
        "curl -O https://x.example/src.tgz && tar xf src.tgz && rm -rf src", "wget https://x.example/src && rm -rf src", "python -m venv x && rm -rf x",
        "tar tf src.tar && rm -rf src", "tar xf acme.tar -C /srv && rm -rf acme", "unzip -l src.zip && rm -rf src",
        f"git clone --unheard-of {URL} x && rm -rf x", "git -C /srv clone U x && rm -rf x",
    ],
    "it may have failed": [
        "mkdir x; rm -rf x", "mkdir x || rm -rf x", "mkdir x & rm -rf x", "mkdir x | rm -rf x", "mkdir x | tee log && rm -rf x", "! mkdir x && rm -rf x",
        "mkdir x && false || rm -rf x", "true || mkdir x && rm -rf x", "(mkdir x || true) && rm -rf x", "{ mkdir x || true; } && rm -rf x",
        "if mkdir x; then :; fi && rm -rf x", "while mkdir x; do break; done && rm -rf x", "mkdir x && true; rm -rf x", "mkdir x && sleep 1 & rm -rf x",
        "true # mkdir x &&\nrm -rf x", "echo mkdir x && rm -rf x", "bash -c 'mkdir x || true' && rm -rf x", "f() { mkdir x && true; }; rm -rf x",
    ],
    "failing does not end the lines": [
        "set +e; mkdir x; rm -rf x", "set -e; set +e; mkdir x; rm -rf x", "set -e; mkdir x || true; rm -rf x", "set -e; false && mkdir x; rm -rf x",
        "set -e; mkdir x & rm -rf x", "set -e; mkdir x | cat; rm -rf x", "set -e; if false; then mkdir x; fi; rm -rf x", "(set -e; true); mkdir x; rm -rf x",
        "set -e | cat; mkdir x; rm -rf x", "set -e; mkdir y/x; false && cd y; rm -rf x", "{ set -e; mkdir x; rm -rf x; } || true", "set -u; mkdir x; rm -rf x",
    ],
    "another program makes it": [
        "mkdir() { :; }; mkdir x && rm -rf x", "alias mkdir=true\nmkdir x && rm -rf x", "PATH=/fake mkdir x && rm -rf x", "env PATH=/fake mkdir x && rm -rf x",
        "./mkdir x && rm -rf x", "ssh host 'mkdir x' && rm -rf x", "docker run --rm img mkdir x && rm -rf x", "sudo -i mkdir x && rm -rf x", "sudo -D /srv mkdir x && rm -rf x",
    ],
    "another folder": [
        "mkdir x && cd x && rm -rf ../y", "mkdir x && cd .. && rm -rf x", "mkdir x && cd $D && rm -rf x", "mkdir x && cd - && rm -rf x", "mkdir x && pushd /srv && rm -rf x",
        "mkdir x && rm -rf x/../src", "mkdir x && rm -rf x*", "mkdir x && rm -rf x src", "mkdir x && cd x && cd .. && rm -rf x src", "(cd y && git clone U x) && rm -rf x",
        "git clone U x && (cd y && rm -rf x)", "mkdir x && sudo -i rm -rf x", "mkdir x && sudo -D /srv rm -rf x", 'git clone U x && rm -rf "x "',
    ],
    "another name by then": [
        "mkdir $A && rm -rf $B", 'mkdir "$X" && rm -rf "$X"', "for i in a b; do mkdir a && rm -rf $i; done", "X=x && mkdir src-$X && X=y && rm -rf src-$X",
        "mkdir src-$X && read X && rm -rf src-$X", "mkdir src-$X && export X=y && rm -rf src-$X", 'mkdir src-$X && eval "X=y" && rm -rf src-$X', "mkdir src-$X && . ./env && rm -rf src-$X",
        "mkdir src-${X:-b} && rm -rf src-${X:=c}", "mkdir src-$X && cd sub && rm -rf src-$X",
    ],
    "something was put into it": [
        "mkdir x && mv src x && rm -rf x", "mkdir x && mv -t x src && rm -rf x", "mkdir x && mv --target-directory=x src && rm -rf x", "mkdir x && cd x && mv ../src . && cd .. && rm -rf x",
        "mkdir x && git mv src x/ && rm -rf x", "mkdir x && gio move src x && rm -rf x", "mkdir x && svn mv src x && rm -rf x", "mkdir x && ls | xargs -I{} mv {} x && rm -rf x", "mkdir x && find src -exec mv {} x/ \\; && rm -rf x",
        "mkdir x && rsync -a --remove-source-files src/ x/ && rm -rf x", "mkdir x && tar cf x/s.tar --remove-files src && rm -rf x", "mkdir x && zip -rm x/s.zip src && rm -rf x",
        "mkdir x && 7z a -sdel x/s.7z src && rm -rf x", "mkdir x && sudo mount --bind src x && rm -rf x", "mkdir x && sshfs host:/srv x && rm -rf x",
        "mkdir x && python -c \"import shutil; shutil.move('src','x')\" && rm -rf x", "git clone . x && mv src x/ && rm -rf x",
    ],
    "a link leads out of it": [
        "mkdir x && ln -s ../src x/l && rm -rf x/l/", "mkdir x && ln -s ../src x/l && rm -rf x/l/sub", "mkdir x && ln -s ../src x/l && cd x/l && rm -rf sub",
        f"git clone {URL} x && ln -s ../src x/l && rm -rf x/l/sub", f"git clone {URL} x && rm -rf x/src/sub", f"git clone {URL} x && rm -rf x/l/", "mkdir x && ln -s ../src x && rm -rf x/",
    ],
    "another repository": [
        "git clone U x && git reset --hard", "git clone U x && cd x && cd .. && git reset --hard", "git clone U x; cd x; git reset --hard", "mkdir x && cd x && git reset --hard",
        "git clone U x && cd x && git -C .. reset --hard", "git clone U x && cd x && git --work-tree=.. reset --hard", "git clone U x && cd x && git --git-dir=../.git reset --hard",
        "git clone U x && cd x && GIT_DIR=../.git git reset --hard", "git clone U x && cd x && export GIT_DIR=../.git && git reset --hard", "git clone U x && cd x/sub && git reset --hard",
        "git worktree add x && cd x && git reset --hard HEAD~3", "git clone U x && cd x && git push --force", "git clone U x && pushd y && git checkout -- .",
    ],
}  # fmt: skip


def decision(command: str) -> str:
    return aggregate_decision(GATES.evaluate_command(command, cwd="/home/dev/proj"))


@pytest.mark.parametrize("cause", MADE)
def test_what_the_line_made_goes_without_a_question(cause: str) -> None:
    assert {command: decision(command) for command in MADE[cause] if decision(command) not in {"allow", "warn"}} == {}


@pytest.mark.parametrize("cause", NOT_MADE)
def test_all_else_is_asked_about(cause: str) -> None:
    assert [command for command in NOT_MADE[cause] if decision(command) not in {"require-confirmation", "block"}] == []


def test_the_gate_itself_and_whole_folders_stay_guarded() -> None:
    assert decision("mkdir .claude && touch .claude/settings.json && rm -rf .claude") == "block"
    assert decision("mkdir / && rm -rf /") == "block"
    assert decision("mkdir /home/dev && rm -rf /home/dev") == "block"


def test_both_readers_know_what_was_made() -> None:
    native = _gates.Policy(compile_image(load_policy()))
    site = _gates.CallSite("/home/dev/proj", "/home/dev/proj", "/home/dev", "/tmp")
    for command in (command for group in (MADE, NOT_MADE) for commands in group.values() for command in commands):
        explained, _, _ = native.explain(command, 0, site, SETTINGS)
        assert native.command(command, 0, site, SETTINGS) == explained, command
