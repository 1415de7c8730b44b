"""Files that came with a repository, and those of them that a person has taken over."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from tipstaff.store.git import run_git
from tipstaff.store.replacing import replaced_file
from tipstaff.store.signing import is_signed, sign
from tipstaff.store.state import fnv64, make_private, repository_of, state_folder
from tipstaff.store.untrusted import read_untrusted, read_untrusted_text


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
    listed = run_git(Path(root), "ls-files", "-z", "--", path)
    # Where git cannot answer, what is in the folder may be anybody's.
    return bool(listed) if listed is not None else (Path(root) / ".git").exists() and _has_index(Path(root))


def _has_index(root: Path) -> bool:
    return (root / ".git" / "index").exists()


def is_taken_over(root: Path, path: Path) -> bool:
    """Return whether a person has taken a file over as it is now."""
    state = state_folder()
    try:
        answer = read_untrusted_text(_answer_file(root, path, state), encoding="ascii").strip()
        return is_signed(state, _signed_text(root, path), answer)
    except OSError:
        return False


def take_over(root: Path, path: Path) -> None:
    """Record that a file is accepted as it is now; only when a person confirmed it."""
    state = state_folder()
    answer = _answer_file(root, path, state)
    make_private(answer.parent)
    signature = sign(state, _signed_text(root, path))
    with replaced_file(answer) as file:
        file.write(signature.encode())


def _answer_file(root: Path, path: Path, state: Path) -> Path:
    return state / "taken-over" / f"{fnv64(os.fsencode(os.path.realpath(root / path))):016x}"


def _signed_text(root: Path, path: Path) -> str:
    content = hashlib.sha256(read_untrusted(root / path)).hexdigest()
    return f"tipstaff-taken-over-1 {os.path.realpath(root / path)} {content}"
