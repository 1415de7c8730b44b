"""What undo asks of git: contents, references, stashes, the index, and the pins of commits that would be dropped.

Only plumbing that compares no contents, so that nothing which a repository configures is run; its filters alone, where
a file was not its object itself.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Final, Self

from tipstaff.store.git import git_command, git_environment
from tipstaff.store.replacing import replaced_file
from tipstaff.undo.keeps import Entry, Git

PINS: Final = "refs/tipstaff/"
KEEP_MARK: Final = "tipstaff undo"
"""How the ``.keep`` file of a pack of pins begins; the identifiers of the keeps follow."""

_EMPTY_PACK_BYTES: Final = 12 + 32


def git(
    root: str, *words: str, data: bytes = b"", stdin: IO[bytes] | None = None, stdout: IO[bytes] | None = None
) -> bytes | None:
    """Return what a git command prints, None where it fails. Hooks, monitors and helpers are off."""
    try:
        done = subprocess.run(  # noqa: S603 - the words are ours, and no shell reads them
            git_command(Path(root), *words, filters=True),
            input=data if stdin is None else None,
            stdin=stdin,
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
            env=_environment(),
        )
    except OSError:
        return None
    return None if done.returncode else done.stdout or b""


def text_of(root: str, *words: str) -> str:
    """Return what a git command prints as text, empty where it fails."""
    return os.fsdecode(git(root, *words) or b"").strip()


def _environment() -> dict[str, str]:
    # The repository is the one that is named, whatever hook of git this runs in; the person's own filters may run.
    ours = {"GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "GIT_NO_LAZY_FETCH"}
    return {name: value for name, value in git_environment().items() if name in ours or not name.startswith("GIT_")}


class Objects:
    """Contents of objects, by one git for each repository."""

    def __init__(self) -> None:
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            process.communicate()

    def contents(self, entry: Entry) -> bytes | None:
        """Return the contents of an unchanged file, None where git has them no longer.

        They are the object's, and through the person's filters where that has another size, as a checkout does.
        """
        data = self._object(entry.repository, entry.object or "")
        if data is None or len(data) == entry.size:
            return data
        path = os.path.relpath(entry.path, entry.repository)
        filtered = git(entry.repository, "cat-file", "--filters", f"--path={path}", entry.object or "")
        return data if filtered is None else filtered

    def _object(self, root: str, name: str) -> bytes | None:
        process = self._running.get(root)
        if process is None:
            process = subprocess.Popen(  # noqa: S603 - as above
                git_command(Path(root), "cat-file", "--batch", filters=True),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment(),
            )  # fmt: skip
            self._running[root] = process
        assert process.stdin is not None  # noqa: S101 - they are pipes
        assert process.stdout is not None  # noqa: S101
        try:
            process.stdin.write(f"{name}\n".encode())
            process.stdin.flush()
        except BrokenPipeError:
            return None
        head = process.stdout.readline().split()
        if len(head) != 3:  # missing, or git ended
            return None
        data = process.stdout.read(int(head[2]))
        process.stdout.read(1)
        return data


# -- references, stashes, index ----------------------------------------------------------------------------------------


def value(root: str, name: str) -> str:
    """Return the object that a reference names, empty where it is gone."""
    return text_of(root, "rev-parse", "-q", "--verify", name)


def values(note: Git) -> dict[str, str]:
    """Return what the references of a keep are now."""
    return {name: value(note.root, name) for name in note.refs}


def stashes(root: str) -> list[str]:
    """Return the commits of the stashes, the newest first."""
    return text_of(root, "log", "-g", "--format=%H", "refs/stash").split()


def changed_references(note: Git) -> dict[str, str]:
    """Return what references of a keep are now that are not what they were, empty for those that are gone.

    HEAD is one where it was and is detached; else its branch goes back, and HEAD stays where a person went.
    """
    found = {name: now for name, former in note.refs.items() if (now := value(note.root, name)) != former}
    if "HEAD" in found and (note.head or text_of(note.root, "symbolic-ref", "-q", "HEAD")):
        del found["HEAD"]
    return found


def is_index_changed(note: Git, copy: Path) -> bool:
    """Return whether the index is another one than a keep's copy."""
    if not note.index:
        return False
    try:
        return Path(note.dir, "index").read_bytes() != copy.read_bytes()
    except OSError:
        return True


def missing_stashes(note: Git) -> list[tuple[str, str]]:
    """Return (commit, message) of the stashes of a keep that are gone, the oldest first."""
    if not note.stashes:
        return []
    there = set(stashes(note.root))
    return [(commit, message) for commit, message in reversed(note.stashes) if commit not in there]


def restore_references(note: Git, after: dict[str, str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Give references back that are gone or have the value that they had after the call, and stashes that are gone.

    Parameters
    ----------
    note
        What was noted of the repository.
    after
        The references after the call; for those that it has not, the reflog decides.

    Returns
    -------
    tuple
        What was restored, and (name, reason) of what was not.
    """
    root, done, failed = note.root, list[str](), list[tuple[str, str]]()
    for name, now in changed_references(note).items():
        former = note.refs[name]
        # What was done since may have been undone: it has the value that the call gave it again.
        steps = text_of(root, "log", "-g", "-100", "--format=%H", name).split()
        came = (now, former) in itertools.pairwise(steps)
        if now and after.get(name) != now and not came and steps != [now]:
            failed.append((name, f"it was moved on since; it was {former}"))
        elif (
            git(root, "update-ref", "--no-deref", "-m", "tipstaff undo", name, former, now or "0" * len(former)) is None
        ):
            failed.append((name, f"git does not set it; it was {former}"))
        else:
            done.append(name)
            if not now:
                _restore_branch(note, name)
    for commit, message in missing_stashes(note):
        if git(root, "stash", "store", "-m", message, commit) is None:
            failed.append((f"stash {message}", f"git does not store it; it is commit {commit}"))
        else:
            done.append(f"stash {message}")
    return done, failed


def _restore_branch(note: Git, name: str) -> None:
    """Give a branch that went its settings and its reflog back."""
    branch, log = name.removeprefix("refs/heads/"), Path(note.common, "logs", name)
    if (section := note.sections.get(name)) and not text_of(
        note.root, "config", "--local", "--name-only", "--get-regexp", rf"^branch\.{re.escape(branch)}\."
    ):
        with tempfile.NamedTemporaryFile() as file:
            file.write(os.fsencode(f"[section]\n{section}"))
            file.flush()
            listed = os.fsdecode(git(note.root, "config", "--file", file.name, "--list", "-z") or b"")
        for key, _, setting in (one.partition("\n") for one in listed.split("\0") if one):
            git(note.root, "config", "--local", "--add", f"branch.{branch}{key.removeprefix('section')}", setting)
    if text := note.logs.get(name):
        with contextlib.suppress(OSError):
            later = log.read_bytes() if log.exists() else b""
            log.parent.mkdir(parents=True, exist_ok=True)
            with replaced_file(log) as file:
                file.write(os.fsencode(text) + later)


def restore_index(note: Git, copy: Path) -> str:
    """Give the index back through its lock; return why it was left, empty where it was not."""
    head = note.refs.get("HEAD", "")
    if head and value(note.root, "HEAD") != head:
        return "HEAD is another commit now: the index belongs to it"
    target, lock = Path(note.dir, "index"), Path(note.dir, "index.lock")
    try:
        descriptor = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644)
    except FileExistsError:
        return "git works on it now, or a git that was killed left index.lock"
    except OSError as error:
        return error.strerror or str(error)
    try:
        with os.fdopen(descriptor, "wb") as file, copy.open("rb") as source:
            shutil.copyfileobj(source, file)
            file.flush()
            os.fsync(file.fileno())
            # Git compares a file that changed when the index did, by its time.
            os.utime(file.fileno(), ns=(copy.stat().st_mtime_ns, copy.stat().st_mtime_ns))
        lock.replace(target)
    except OSError as error:
        lock.unlink(missing_ok=True)
        return error.strerror or str(error)
    return ""


def remove_made(root: str, made: Iterable[str]) -> None:
    """Remove what an undo gave back: ``refs/... OBJECT`` while it has that value, ``stash OBJECT``."""
    for line in made:
        name, _, known = line.rpartition(" ")
        if name != "stash":
            git(root, "update-ref", "-d", name, known)
            if name.startswith("refs/heads/"):
                git(root, "config", "--local", "--remove-section", f"branch.{name.removeprefix('refs/heads/')}")
        elif known in (there := stashes(root)):
            git(root, "stash", "drop", "-q", f"stash@{{{there.index(known)}}}")


# -- pins --------------------------------------------------------------------------------------------------------------


def pins(root: str) -> dict[str, list[tuple[str, str]]]:
    """Return (reference, object) of the pins in a repository, by the identifier of their keep."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in text_of(root, "for-each-ref", "--format=%(refname) %(objectname)", PINS.rstrip("/")).splitlines():
        name, _, commit = line.partition(" ")
        found.setdefault(name.removeprefix(PINS).partition("/")[0], []).append((name, commit))
    return found


def drop_pins(root: str, names: Sequence[str]) -> None:
    """Remove references of pins."""
    if names:
        git(root, "update-ref", "--stdin", data="".join(f"delete {name}\n" for name in names).encode())


def pack_pins(root: str, identifiers: Iterable[str]) -> bool:
    """Turn the pins of keeps into a pack that git does not clean up, and drop the references; return whether all went.

    References are pushed by ``push --mirror``, a pack is not. It holds what no branch, tag or remote reaches.
    """
    here = pins(root)
    packed = {one: here[one] for one in identifiers if one in here}
    if not packed:
        return True
    objects = dict.fromkeys(commit for refs in packed.values() for _, commit in refs)
    wanted = "\n".join([*objects, "--not", *_reached(root)]) + "\n"
    with tempfile.TemporaryFile() as pack:
        if git(root, "pack-objects", "--revs", "--stdout", "-q", data=wanted.encode(), stdout=pack) is None:
            return False
        if pack.seek(0, os.SEEK_END) > _EMPTY_PACK_BYTES:
            pack.seek(0)
            mark = f"--keep={KEEP_MARK} {' '.join(packed)}"
            if git(root, "index-pack", "--stdin", mark, stdin=pack) is None:
                return False
    drop_pins(root, [name for refs in packed.values() for name, _ in refs])
    return True


def _reached(root: str) -> list[str]:
    # Not by pins, which go, nor by the stash or a detached HEAD, which move without a keep.
    names = text_of(root, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/tags", "refs/remotes").split()
    return list(dict.fromkeys(names))


def release_packs(common: Path, forgotten: str, living: Iterable[str]) -> None:
    """Let git clean up packs with the pins of a keep that no other keep needs; the packs themselves are git's."""
    known = set(living)
    for path in (common / "objects" / "pack").glob("*.keep"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            words = path.read_text("utf-8")[:1_000_000].split()
            if words[:2] == KEEP_MARK.split() and forgotten in words and not known & set(words[2:]):
                path.unlink()
