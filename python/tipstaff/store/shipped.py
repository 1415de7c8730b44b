"""Files that came with a repository, and those of them that a person has taken over."""

from __future__ import annotations

import hashlib
import hmac
import os
import subprocess
from functools import lru_cache
from pathlib import Path

from tipstaff.store.git import git_command, git_environment
from tipstaff.store.keys import private_key
from tipstaff.store.replacing import replaced_file
from tipstaff.store.state import fnv64, make_private, repository_of, state_folder


def is_shipped(root: Path, path: Path) -> bool:
    """Return whether git tracks a file: whoever clones the repository gets it."""
    repository = repository_of(Path(os.path.realpath(root)))
    if repository is None:
        return False
    try:
        index = (repository / ".git" / "index").stat()
    except OSError:
        # A work tree of another repository keeps its index elsewhere.
        return _is_tracked(str(root), str(path), 0, 0)
    return _is_tracked(str(root), str(path), index.st_mtime_ns, index.st_ino)


@lru_cache(maxsize=256)
def _is_tracked(root: str, path: str, written_ns: int, inode: int) -> bool:
    del written_ns, inode  # they are there to ask again when the index has changed
    try:
        done = subprocess.run(  # noqa: S603 - the words are ours, and no shell reads them
            git_command(Path(root), "ls-files", "-z", "--", path),
            capture_output=True, check=False, timeout=10, stdin=subprocess.DEVNULL, env=git_environment(),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return True
    # Where git cannot answer, what is in the folder may be anybody's.
    return bool(done.stdout) if done.returncode == 0 else (Path(root) / ".git").exists() and _has_index(Path(root))


def _has_index(root: Path) -> bool:
    return (root / ".git" / "index").exists()


def is_taken_over(root: Path, path: Path) -> bool:
    """Return whether a person has taken a file over as it is now."""
    state = state_folder()
    try:
        answer = _answer_file(root, path, state).read_text(encoding="ascii").strip()
        return (state / "key").is_file() and hmac.compare_digest(answer, _signature(root, path, state))
    except OSError:
        return False


def take_over(root: Path, path: Path) -> None:
    """Record that a file is accepted as it is now; only when a person confirmed it."""
    state = state_folder()
    answer = _answer_file(root, path, state)
    make_private(answer.parent)
    with replaced_file(answer) as file:
        file.write(_signature(root, path, state).encode())


def _answer_file(root: Path, path: Path, state: Path) -> Path:
    return state / "taken-over" / f"{fnv64(os.fsencode(os.path.realpath(root / path))):016x}"


def _signature(root: Path, path: Path, state: Path) -> str:
    content = hashlib.sha256((root / path).read_bytes()).hexdigest()
    text = f"tipstaff-taken-over-1 {os.path.realpath(root / path)} {content}"
    return hmac.new(private_key(state), text.encode(errors="surrogateescape"), "sha256").hexdigest()
