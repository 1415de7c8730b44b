"""What is proven to read alone does: run for real, it writes nothing, sends nothing, runs nothing of the repository.

``proof_cases.txt`` has the commands. That those which are proven do as they are proven to is seen by strace, where it is
installed; elsewhere that part of the test is left out.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.undo.test_facts import git
from tipstaff.gates.judging.engine import EnforcementGates

CASES = [
    (line[0], line[2:])
    for line in (Path(__file__).parent / "proof_cases.txt").read_text().splitlines()
    if line[:2] in {"+ ", "- ", "~ "}
]
CANARY = "canary-" + "value-of-a-secret"
CALLS = "execve,open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,symlink,symlinkat,chmod,fchmodat,truncate,utimensat,connect,sendto,mknod,mknodat,setxattr"
_OPENED_TO_WRITE = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
_PATHS = re.compile(r'"([^"]*)"')


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with secrets in it and around it, and programs that nobody should start."""
    home, root = tmp_path / "home", tmp_path / "home/work/repository"
    texts = {
        "README.md": "# foo\nhttps://example.org v1\n", ".gitignore": ".env\nsecrets/\n*.sqlite\nnode_modules/\n", "data.csv": "name,n\na,1\nb,2\n",
        "src/app.py": "import os\n\n\ndef main():\n    return 'foo'\n", "src/util.py": "import sys\n# TODO foo\n", "src/words.txt": "a\na\nb\n",
        "tests/test_app.py": "def test_main(): pass\n", "docs/guide.md": "## Guide\nfoo\n", "package.json": '{"name": "x", "scripts": {"test": "x"}}\n',
        "Makefile": "all:\n\ttouch made\n",
    }  # fmt: skip
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "one")
    git(root, "tag", "v1")
    git(root, "checkout", "-qb", "side")
    (root / "src/util.py").write_text("import re\n")
    git(root, "commit", "-qam", "fix two")
    git(root, "checkout", "-q", "main")
    (root / "src/app.py").write_text("import os\n\n\ndef main():\n    return 'foo bar'\n")
    git(root, "commit", "-qam", "three")
    (root / "README.md").write_text("# foo\nstashed\n")
    git(root, "stash", "-q")
    untracked = {
        ".env": f"API_KEY={CANARY}\n", "secrets/api.key": CANARY, "notes.md": "notes\n", "logs/app.log": "x ERROR y\n", "README.md": "# foo\nchanged\n",
        "script.sh": "touch made\n", "script.awk": 'BEGIN { system("touch made") }\n', "script.sed": "w made\n", "ls": "#!/bin/sh\ntouch made\n",
        "bin/rg": "#!/bin/sh\ntouch made\n", "convert": "#!/bin/sh\ntouch made\n", "x": "#!/bin/sh\ntouch made\n", "list.txt": f"{home}/.netrc\n",
        "--pre=x": "", "config/note": "", "--files0-from=x": "",
    }  # fmt: skip
    for name, text in untracked.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
        (root / name).chmod(0o755)
    (root / "link-to-secret").symlink_to(".env")
    (root / "link-out").symlink_to(home)
    os.mkfifo(root / "pipe")
    (root.parent / "outside.txt").write_text(CANARY)
    for name in (".netrc", ".bash_history", ".ssh/id_rsa"):
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_text(CANARY)
    (root.parent / "other").mkdir()
    git(root.parent / "other", "init", "-q")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("API_KEY", CANARY)
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    return root


def test_what_is_proven(world: Path) -> None:
    gates = EnforcementGates()
    proven = {text: gates.is_proven("Bash", {"command": text}, cwd=str(world)) for _, text in CASES}
    assert [text for sign, text in CASES if sign != "+" and proven[text]] == []
    read = [text for sign, text in CASES if sign == "+"]
    assert len(read) >= 300
    unproven = [text for text in read if not proven[text]]
    assert len(unproven) <= len(read) // 20, unproven
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed: what the proven commands do was not looked at")
    for number, text in enumerate(text for text in read if proven[text]):
        assert faults(text, world, world.parents[2] / f"trace-{number}") == [], text


def faults(command: str, root: Path, trace: Path) -> list[str]:
    """Return what a command does that nothing proven may do."""
    before = snapshot(root)
    done = subprocess.run(
        ["strace", "-f", "-qq", "-s", "4096", "-e", f"trace={CALLS}", "-o", trace, "bash", "-c", command],
        cwd=root, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=10,
    )  # fmt: skip
    found = []
    for line in trace.read_text(errors="replace").splitlines():
        call = line.split(None, 1)[1] if line[:1].isdigit() else line
        name, paths = call.partition("(")[0], _PATHS.findall(call)
        if call[:3] in {"---", "+++"} or "= -1 " in call or "resumed" in call.partition("(")[0]:
            continue
        if name == "execve":
            where = os.path.realpath(root / paths[0])
            if not where.startswith(("/usr/", "/bin/")):
                found.append(call)
        elif name in {"connect", "sendto"}:
            if "AF_INET" in call:
                found.append(call)
        elif name in {"open", "openat", "openat2"}:
            # git writes what it saw of the files into its index again.
            if (
                _OPENED_TO_WRITE.search(call) and not paths[0].endswith(("/dev/null", "/dev/tty", "/.git/index.lock"))
            ) or any(one in paths[0] for one in (".netrc", ".bash_history", "outside.txt", "id_rsa")):
                found.append(call)
        elif not (paths and all(one.endswith((".git/index.lock", ".git/index")) for one in paths)):
            found.append(call)
    if CANARY.encode() in done.stdout + done.stderr:
        found.append("a secret is shown")
    if snapshot(root) != before:
        found.append("a file was changed")
    return found


def snapshot(root: Path) -> dict[str, tuple[int, int, int]]:
    """Return mode, size and time of each file but git's index."""
    return {
        path: (about.st_mode, about.st_size, about.st_mtime_ns)
        for folder, _, names in os.walk(root)
        for name in names
        if (path := f"{folder}/{name}") and not path.endswith(".git/index")
        for about in [os.lstat(path)]
    }
