"""A repository with work in it, operations that destroy some of that, and what each does, in the words of a keep."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import NamedTuple

ENVIRONMENT = {
    "PATH": os.environ["PATH"], "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": "/dev/null",
}  # fmt: skip
SETUP = r"""
git init -q -b main . ; git config gc.auto 0
mkdir -p src docs node_modules/x cache uploads
for i in 1 2 3; do echo "m$i" > src/m$i.py; done; echo text > docs/a.md; chmod +x src/m3.py
printf '.env\n*.db\nnode_modules/\ncache/\nuploads/\n' > .gitignore
git add . ; git commit -qm one; echo two >> docs/a.md; git commit -qam two
git checkout -q -b other; echo "VALUE=other" > .env; git add -f .env; echo o > o.txt; git add o.txt; git commit -qm environment; git checkout -q main
git checkout -q -b work; echo w > w.txt; git add w.txt; git commit -qm work; git checkout -q main
echo stash1 >> src/m2.py; git stash -q; echo stash2 >> src/m2.py; git stash -q
echo changed >> src/m1.py; echo staged >> docs/a.md; git add docs/a.md; echo more >> docs/a.md
echo n1 > notes.md; echo n2 > 'no tes.txt'; chmod 600 notes.md; ln -s notes.md link; mkfifo fifo; printf x > "$(printf 'caf\351.txt')"
echo VALUE=mine > .env; echo up > uploads/u.bin; echo x > node_modules/x/i.js; echo c > cache/c; echo rows > rows.db
echo hard > hard.md; ln hard.md hard2.md; truncate -s 3M sparse; printf x | dd of=sparse bs=1 seek=2000000 conv=notrunc 2>/dev/null
head -c 700000 /dev/urandom > big.bin; touch -d '2020-01-01' notes.md big.bin; mkdir -p empty deep/er; chmod 750 empty
git init -q inner; cd inner; echo i > i.txt; git add . ; git commit -qm i; echo j > j.txt; cd ..
git status > /dev/null
"""

D, W, R, M, G = "delete", "write", "replace", "move", "git"
RESET = ((G, "incoming", "HEAD"), (G, "worktree"), (G, "index"), (G, "head"))
SWITCH = ((G, "incoming", "other"), (G, "index"), (G, "worktree"))


class Operation(NamedTuple):
    """A command and its effects; `heads`: whether HEAD stays on its branch, so that all of git comes back."""

    command: str
    effects: tuple[tuple, ...]
    heads: bool = True


def deletes(command, *paths):
    return Operation(command, tuple((D, path) for path in paths))


def writes(command, *paths, how=W):
    return Operation(command, tuple((how, path) for path in paths))


def moves(command, source, target):
    return Operation(command, ((M, source, target),))


def of_git(command, *effects, heads=True):
    return Operation(
        command,
        tuple((G, *one) if isinstance(one[0], str) and one[0] not in {D, W, R, G} else one for one in effects),
        heads,
    )


OPERATIONS = (
    deletes("rm notes.md", "notes.md"),
    deletes("rm -rf inner", "inner"),
    deletes("rm -rf src", "src"),
    deletes("rm -rf docs src notes.md", "docs", "src", "notes.md"),
    deletes("rm .env rows.db", ".env", "rows.db"),
    deletes("rm -rf uploads cache node_modules", "uploads", "cache", "node_modules"),
    deletes("rm big.bin sparse", "big.bin", "sparse"),
    deletes("rm link", "link"),
    deletes("rm fifo", "fifo"),
    deletes("rm hard.md", "hard.md"),
    deletes("rm hard.md hard2.md", "hard.md", "hard2.md"),
    deletes("rm -rf empty deep", "empty", "deep"),
    deletes("rm caf*", os.fsdecode(b"caf\xe9.txt")),
    deletes("rm -f 'no tes.txt'", "no tes.txt"),
    deletes("find . -maxdepth 2 -name '*.md' -delete", "docs/a.md", "notes.md", "hard.md", "hard2.md"),
    Operation("gzip -f notes.md", ((D, "notes.md"), (R, "notes.md.gz"))),
    deletes("rm -f notes.md && mkdir notes.md && echo k > notes.md/k", "notes.md"),
    deletes("rm -rf deep && echo f > deep", "deep"),
    deletes("rm -rf docs && ln -s src docs", "docs"),
    deletes("tar cf t.tar docs && rm -rf docs && tar xf t.tar && echo z > docs/a.md", "docs"),
    deletes("rm -rf src && git checkout -q -- src", "src"),
    writes("echo x > notes.md", "notes.md"),
    writes("echo x > link", "link"),
    writes("echo x > hard.md", "hard.md"),
    writes("echo x > .env", ".env"),
    writes("echo x > src/m1.py", "src/m1.py"),
    writes("echo x > src/m2.py", "src/m2.py"),
    writes(": > big.bin", "big.bin"),
    writes("echo x | tee notes.md src/m1.py", "notes.md", "src/m1.py"),
    writes("dd if=/dev/zero of=big.bin bs=1000 count=3 conv=notrunc", "big.bin"),
    writes("truncate -s 1 sparse", "sparse"),
    writes("echo y >> notes.md", "notes.md"),
    writes("sort -ro notes.md notes.md docs/a.md", "notes.md"),
    writes("cp -T docs/a.md notes.md", "notes.md"),
    writes("cp -fT docs/a.md .env", ".env"),
    writes("cp -r docs/. uploads/", "uploads/a.md"),
    writes("python3 -c \"open('notes.md','w').write('p')\"", "notes.md"),
    writes("[ -f notes.md ] && chmod 644 notes.md && touch notes.md; echo q > notes.md", "notes.md"),
    Operation("shred -u notes.md", ((W, "notes.md"), (D, "notes.md"))),
    writes("sed -i s/n/q/ notes.md", "notes.md", how=R),
    writes("sed -i s/c/d/ src/*.py", "src/m1.py", "src/m2.py", "src/m3.py", how=R),
    writes("sed -i s/n/q/ link", "link", how=R),
    writes("perl -pi -e s/n/q/ notes.md", "notes.md", how=R),
    writes("sed -i s/h/q/ hard.md", "hard.md", how=R),
    writes("install -T -m 644 docs/a.md notes.md", "notes.md", how=R),
    writes("ln -sfT docs/a.md notes.md", "notes.md", how=R),
    moves("mv notes.md src/m1.py", "notes.md", "src/m1.py"),
    moves("mv notes.md new.md", "notes.md", "new.md"),
    moves("mv notes.md docs", "notes.md", "docs"),
    moves("mv src lib", "src", "lib"),
    moves("mv .env .env.old", ".env", ".env.old"),
    moves("mv notes.md link", "notes.md", "link"),
    of_git("git checkout -- src/m1.py", ("worktree", "src/m1.py")),
    of_git("git checkout .", ("worktree",), ("index",)),
    of_git("git restore --staged --worktree docs", ("incoming", "HEAD"), ("worktree", "docs"), ("index",)),
    Operation("git reset -q --hard", RESET),
    Operation("git reset -q --hard HEAD~1", ((G, "incoming", "HEAD~1"), *RESET)),
    of_git("git reset -q", ("index",)),
    of_git("git clean -qfd", ("untracked",)),
    of_git("git clean -qffdx", ("ignored", 2)),
    of_git("git stash drop -q", ("stash", 0)),
    of_git("git stash clear", ("stash",)),
    of_git("git branch -q -D work", ("ref", "refs/heads/work")),
    of_git("git branch -q -f work main", ("ref", "refs/heads/work")),
    of_git("git rm -rqf --cached src", ("index",)),
    of_git("git rm -qf docs/a.md src/m1.py", ("worktree",), ("index",), (D, "src/m1.py"), (D, "docs/a.md")),
    Operation("git commit -q --amend -am amended", RESET),
    Operation("git checkout -q other", SWITCH, heads=False),
    Operation("git checkout -q --force other", SWITCH, heads=False),
    Operation("git stash -q && git rebase -q other", ((G, "incoming", "other"), *RESET, (G, "stash")), heads=False),
    of_git("git stash pop -q; git checkout -q -f -- .", ("stash", 0), ("worktree",), ("index",), (R, "src/m2.py")),
    of_git("git fetch -q . other:refs/remotes/o/x; git update-ref -d refs/remotes/o/x", ("ref", "refs/remotes/o/x")),
    of_git("git update-ref -d refs/heads/work && git reflog expire --expire=now --all && git gc -q --prune=now",
           ("ref", "refs/heads/work"), ("reflogs",), ("stash",), ("index",)),
    of_git("git stash clear && git reflog expire --expire=now --all && git gc -q --prune=now", ("stash",), ("reflogs",)),
)  # fmt: skip


class Snapshot(NamedTuple):
    """What stands in a repository: files with all that belongs to them, and what git has."""

    files: dict[str, tuple]
    git: dict[str, str]


def make_repository(base: Path) -> Path:
    """Make the model that every operation begins with."""
    base.mkdir(parents=True)
    subprocess.run(["sh", "-ec", SETUP], cwd=base, env=ENVIRONMENT, check=True)
    os.setxattr(base / "notes.md", "user.k", b"v")
    return base


def copy_repository(model: Path, to: Path) -> Path:
    to.parent.mkdir(parents=True)
    subprocess.run(["cp", "-a", model, to], check=True)
    subprocess.run(["git", "-C", to, "status"], env=ENVIRONMENT, capture_output=True, check=True)
    return to


def run(command: str, root: Path, *, seconds: float | None = None) -> None:
    """Run a command; kill it, and what it started, after some time."""
    process = subprocess.Popen(
        ["sh", "-c", command], cwd=root, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()


def snapshot(root: Path) -> Snapshot:
    files: dict[str, tuple] = {}
    for folder, folders, names in os.walk(root):
        if folder == os.fspath(root):
            folders[:] = [name for name in folders if name not in {".git", "node_modules", "cache"}]
        for name in (*folders, *names):
            path = f"{folder}/{name}"
            about, key = os.lstat(path), os.path.relpath(path, root)
            if stat.S_ISLNK(about.st_mode):
                files[key] = ("link", os.fspath(Path(path).readlink()))
            elif stat.S_ISREG(about.st_mode):
                extra = tuple((one, os.getxattr(path, one)) for one in os.listxattr(path))
                is_git = "/.git/" in path[len(os.fspath(root)) :]
                files[key] = (
                    "file",
                    about.st_mode,
                    Path(path).read_bytes(),
                    extra,
                    None if is_git else about.st_mtime_ns,
                )
            else:
                files[key] = (about.st_mode,)
    return Snapshot(files, {name: git(root, *words) for name, words in GIT_STATE.items()})


GIT_STATE = {
    "stash": ("stash", "list", "--format=%H"),
    "index": ("ls-files", "-s"),
    "refs": ("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"),
}


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", root, *words], env=ENVIRONMENT, capture_output=True, check=False)
    return os.fsdecode(done.stdout)


def names(root: Path) -> dict[str, set[str]]:
    """Return which paths share a file."""
    shared: dict[tuple[int, int], set[str]] = {}
    for path in root.iterdir():
        about = path.lstat()
        if stat.S_ISREG(about.st_mode) and about.st_nlink > 1:
            shared.setdefault((about.st_dev, about.st_ino), set()).add(path.name)
    return {"+".join(sorted(one)): one for one in shared.values() if len(one) > 1}


def lost(before: Snapshot, after: Snapshot, *, with_git: bool = True) -> list[str]:
    """Return what of an earlier state is not there; what a call made stays, so more may be."""
    found = [path for path, was in before.files.items() if after.files.get(path) != was]
    if with_git:
        found += [name for name in ("stash", "index") if before.git[name] != after.git[name]]
        found += sorted(set(before.git["refs"].splitlines()) - set(after.git["refs"].splitlines()))
    return found


def with_times_of(before: Snapshot, after: Snapshot) -> tuple[Snapshot, int]:
    """Return the later state with the times of files that hold the same, and how many those are."""
    files, count = dict(after.files), 0
    for path, now in after.files.items():
        was = before.files.get(path)
        if was is not None and was != now and was[0] == "file" == now[0] and was[:-1] == now[:-1]:
            files[path], count = was, count + 1
    return Snapshot(files, after.git), count


def remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
