"""Writes keeps as the native half does, slowly, by asking git for every class."""

# ruff: noqa: PTH
from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import struct
import subprocess
import time
import zlib
from pathlib import Path

PACKED = 256 << 10
REGENERATED = ("node_modules/", "cache/")


def git(root, *words, data=None, env=None):
    command = ["git", "-C", root, "--literal-pathspecs", "-c", "core.hooksPath=/dev/null", *words]
    done = subprocess.run(command, input=data, capture_output=True, env={**os.environ, **(env or {})}, check=False)
    return None if done.returncode else done.stdout


def text(root, *words):
    return (git(root, *words) or b"").decode("utf-8", "surrogateescape").strip()


def root_above(path):
    return next((os.fspath(one) for one in (Path(path), *Path(path).parents) if (one / ".git").exists()), None)


def listing(path):
    if not os.path.isdir(path) or os.path.islink(path):
        about = os.lstat(path)
        return [["", about.st_size, about.st_mtime_ns]]
    found = []
    for folder, _, names in os.walk(path):
        for name in names:
            about = os.lstat(one := os.path.join(folder, name))
            found.append([os.path.relpath(one, path), about.st_size, about.st_mtime_ns])
    return sorted(found)


class Writer:
    def __init__(self, cwd, root):
        self.cwd, self.root, self.given = cwd, root or root_above(cwd), root is not None
        self.files, self.seen, self.moves, self.gone, self.git, self.pinned, self.counts = [], {}, [], [], None, [], {}
        self.tracked: dict[str, dict[str, str]] = {}

    def place(self, path):
        path = os.path.join(self.cwd, path).rstrip("/")
        return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))

    def class_of(self, path, about):
        root = root_above(os.path.dirname(path))
        if "/.git/" in f"{path}/":
            return "repository", root
        if root is None:
            if self.given:
                return "untracked", None
            raise ValueError(f"{path} is in no repository")
        if root not in self.tracked:
            rows = [
                row.split("\t", 1) for row in os.fsdecode(git(root, "ls-files", "-s", "-z") or b"").split("\0") if row
            ]
            self.tracked[root] = {name: f"{meta} {name}" for meta, name in rows}
        name = os.path.relpath(path, root)
        if name not in self.tracked[root]:
            return ("ignored" if git(root, "check-ignore", "-q", "--", name) is not None else "untracked"), root
        mode, oid, _ = self.tracked[root][name].split(" ", 3)[:3]
        if stat.S_ISREG(about.st_mode) and mode[:2] == "10" and bool(about.st_mode & 0o100) == (mode == "100755"):
            data = Path(path).read_bytes()
            if hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() == oid:
                return (
                    "unchanged" if text(root, "rev-parse", "-q", "--verify", f"HEAD:{name}") == oid else "staged"
                ), root
        return "changed", root

    def add(self, path, how, only=None):
        try:
            about = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return
        if path in self.seen:
            return
        if stat.S_ISDIR(about.st_mode):
            if how == "delete":
                self.note(path, about, "folder")
                for name in sorted(os.listdir(path)):
                    self.add(os.path.join(path, name), how, only)
            return
        kind, root = self.class_of(path, about)
        if only and kind not in only:
            return
        if kind == "ignored" and os.path.relpath(path, root).startswith(REGENERATED):
            kind = "regenerated"
        if kind == "unchanged" and any(f"{root}/.git/".startswith(f"{one}/") for one in self.gone):
            kind = "repository"
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind == "regenerated":
            return
        entry = self.note(path, about, kind)
        if kind == "unchanged":
            entry["object"], entry["repository"] = text(root, "rev-parse", f":{os.path.relpath(path, root)}"), root
        elif stat.S_ISLNK(about.st_mode):
            entry["link"] = os.readlink(path)
        elif stat.S_ISREG(about.st_mode):
            entry["how"] = how

    def note(self, path, about, kind):
        entry = {"path": path, "class": kind, "mode": about.st_mode, "uid": about.st_uid, "gid": about.st_gid}
        entry |= {"mtime": about.st_mtime_ns, "size": about.st_size, "ino": about.st_ino, "dev": about.st_dev}
        entry |= {"nlink": about.st_nlink, "birth": 0}
        names = os.listxattr(path, follow_symlinks=False)
        if names:
            entry["xattrs"] = {name: os.getxattr(path, name, follow_symlinks=False).hex() for name in names}
        self.files.append(entry)
        self.seen[path] = entry
        return entry

    def effect(self, kind, *arguments):
        if kind == "delete":
            self.gone.append(path := self.place(arguments[0]))
            self.add(path, "delete")
        elif kind == "write":
            self.add(os.path.realpath(os.path.join(self.cwd, arguments[0])), "write")
        elif kind == "replace":
            self.add(self.place(arguments[0]), "replace")
        elif kind == "move":
            source, target = map(self.place, arguments)
            if os.path.isdir(target):
                target = os.path.join(os.path.realpath(target), os.path.basename(source))
            if os.path.lexists(source):
                self.moves.append([source, target, listing(source)])
                self.add(target, "replace")
        else:
            self.repository(*arguments)

    def in_the_way(self, root, name):
        """Git replaces links and files that stand where a folder of its own has to be."""
        for above in Path(name).parents:
            if os.path.lexists(path := os.path.join(root, above)) and (not os.path.isdir(path) or os.path.islink(path)):
                self.add(path, "replace")

    def repository(self, kind, *arguments):
        root = root_above(self.cwd)
        if root is None:
            return
        if self.git is None:
            folder = os.path.realpath(os.path.join(root, text(root, "rev-parse", "--git-dir")))
            common = os.path.realpath(os.path.join(root, text(root, "rev-parse", "--git-common-dir")))
            head = text(root, "symbolic-ref", "-q", "HEAD")
            self.git = {
                "root": root,
                "dir": folder,
                "common": common,
                "head": head,
                "refs": {},
                "stashes": [],
                "index": False,
            }
        note = self.git
        if kind == "worktree":
            for name in os.fsdecode(git(root, "ls-files", "-z") or b"").split("\0"):
                if name and (not arguments or name == arguments[0] or name.startswith(f"{arguments[0]}/")):
                    self.in_the_way(root, name)
                    self.add(os.path.join(root, name), "replace", {"changed", "staged"})
        elif kind in {"untracked", "ignored"}:
            words = ["--exclude-standard"] if kind == "untracked" else []
            for name in os.fsdecode(git(root, "ls-files", "-o", "--directory", "-z", *words) or b"").split("\0"):
                if name:
                    self.add(os.path.join(root, name).rstrip("/"), "delete")
        elif kind == "incoming":
            names = git(root, "diff-index", "--cached", "--name-only", "--no-renames", "-z", arguments[0])
            for name in os.fsdecode(names or b"").split("\0"):
                if name:
                    self.in_the_way(root, name)
                    self.add(os.path.join(root, name), "replace")
        elif kind in {"ref", "head"}:
            for name in arguments or ("HEAD", note["head"]):
                if name and (oid := text(root, "rev-parse", "-q", "--verify", name)):
                    note["refs"][name] = oid
        elif kind == "index":
            note["index"] = True
            if oid := text(root, "rev-parse", "-q", "--verify", "HEAD"):
                note["refs"]["HEAD"] = oid
        elif kind == "stash":
            lines = text(root, "log", "-g", "--format=%H %gs", "refs/stash").splitlines()
            note["stashes"] += [one.split(" ", 1) for one in (lines[arguments[0] :][:1] if arguments else lines)]
        elif kind == "reflogs":
            for path in Path(note["common"], "logs").rglob("*"):
                for line in path.read_text(errors="replace").splitlines() if path.is_file() else ():
                    self.pinned += [word for word in line.split(" ", 2)[:2] if word.strip("0")]


def keep(effects, cwd, state, *, command="", session="", root="", limits=None, absent=(), moves=()):
    """Return (folder or None, why it was refused or None), and what the native one says more."""
    writer = Writer(cwd, root or None)
    try:
        for one in effects:
            writer.effect(*one)
    except ValueError as error:
        return None, str(error), "", 0, 0
    return _written(writer, state, command, session, absent, moves), None, "", 0, 0


def _written(writer, state, command, session, absent, moves):
    note, moment = writer.git, time.time_ns()
    if note is not None:
        writer.pinned += [*note["refs"].values(), *(one[0] for one in note["stashes"])]
    large = [
        one
        for one in writer.files
        if "how" in one and (one["size"] > PACKED or os.lstat(one["path"]).st_blocks * 512 < one["size"])
    ]
    takes = sum(one["size"] for one in writer.files if "how" in one)
    if not (writer.files or writer.pinned or absent or moves or writer.moves or (note and note["index"])):
        return None
    name = f"{moment}-{os.getpid()}-{takes}"
    base = Path(state, "undo", hashlib.sha1(os.fsencode(writer.root)).hexdigest()[:16])
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    half = base / f".{name}"
    half.mkdir(mode=0o700)
    with open(os.open(half / "keep", os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        for number, entry in enumerate(one for one in writer.files if "how" in one):
            if entry["nlink"] > 1:
                entry["same"] = f"same{number}"
                os.link(entry["path"], half / entry["same"], follow_symlinks=False)
            if entry in large:
                entry["file"] = str(number)
                if entry["how"] == "delete" and entry["nlink"] == 1:
                    os.link(entry["path"], half / entry["file"], follow_symlinks=False)
                    entry["linked"] = True
                else:
                    shutil.copyfile(entry["path"], half / entry["file"])
                    (half / entry["file"]).chmod(0o600)
            else:
                data = Path(entry["path"]).read_bytes()
                entry["at"], entry["crc"], entry["size"] = file.tell(), zlib.crc32(data), len(data)
                file.write(data)
        if note is not None:
            note["pins"], note["pinned"] = "", []
            if note["index"]:
                shutil.copy2(os.path.join(note["dir"], "index"), half / "index")
                tree = git(note["root"], "write-tree", env={"GIT_INDEX_FILE": os.fspath(half / "index")})
                staged = (git(note["root"], "ls-files", "-s", "-z") or b"").split(b"\0")
                writer.pinned += [tree.decode().strip()] if tree else [one.split()[1].decode() for one in staged if one]
            if pinned := list(dict.fromkeys(writer.pinned)):
                note["pins"], note["pinned"] = f"refs/tipstaff/{name}/", pinned
        head = {"version": 1, "command": command, "session": session, "time": moment, "root": writer.root}
        head |= {
            "moves": [*writer.moves, *([*one, listing(one[0])] for one in moves)],
            "absent": list(absent),
            "counts": writer.counts,
        }
        body = json.dumps({**head, "git": note, "files": writer.files}).encode()
        trailer = struct.pack("<8sQI", b"tipkeep1", len(body), zlib.crc32(body))
        file.write(body + trailer + struct.pack("<I", zlib.crc32(trailer)))
    if note is not None and note["pins"]:
        lines = "".join(f"create {note['pins']}{number} {oid}\n" for number, oid in enumerate(note["pinned"]))
        if git(note["root"], "update-ref", "--stdin", data=lines.encode()) is None:
            raise ValueError("what git would drop cannot be pinned")
    half.rename(base / name)
    return os.fspath(base / name)
