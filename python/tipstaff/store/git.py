"""Asking git about a repository without running anything that anybody's configuration names.

Git reads no configuration of the repository, its submodules, the account or the machine: it is given a folder in the
place of ``.git`` that has links to the repository's objects, references and index, and a configuration of our own, with
those few settings copied in that say how names and contents are compared.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Final

from tipstaff.store.state import repository_of
from tipstaff.store.untrusted import read_untrusted, read_untrusted_text

_OURS: Final = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.quotePath=false", "maintenance.auto=false", "gc.auto=0",
    "protocol.allow=never", "log.showSignature=false", "credential.helper=",
)  # fmt: skip
_COPIED: Final = re.compile(
    r"core\.(?:repositoryformatversion|filemode|ignorecase|symlinks|precomposeunicode|autocrlf|eol|sparsecheckout"
    r"|sparsecheckoutcone|bare)|extensions\.(?:objectformat|compatobjectformat|refstorage)|index\.version"
    r"|branch\.[\w./-]+\.(?:remote|merge)|remote\.[\w./-]+\.fetch"
)
_PLAIN: Final = re.compile(r"[\w./:*+-]{0,256}")
_SHARED: Final = ("objects", "refs", "packed-refs", "reftable", "shallow", "logs")
_SHARED_INFO: Final = ("exclude", "attributes", "grafts")
_DATA: Final = ("GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
"""What a hook of git gives to those it starts: places of contents, no programs."""
_OPTIONS: Final = {
    "diff": ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty"),
    "status": ("--ignore-submodules=dirty",),
    "show": ("--no-ext-diff", "--no-textconv", "--no-show-signature"),
    "log": ("--no-show-signature",),
}
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SECONDS: Final = 10.0
_MAX_CONFIG_BYTES: Final = 1 << 20


def git_command(root: Path, *words: str, git: str = "", filters: bool = False) -> list[str]:
    """Return a git command for a folder that starts no other program.

    Parameters
    ----------
    root
        A folder of the work tree.
    words
        The subcommand and its arguments.
    git
        The program; that of the PATH if empty.
    filters
        Whether the person's own filters run, and references are written: git reads its configuration then, but for
        hooks and monitors.
    """
    program = git or git_program(root)
    own = [word for setting in _OURS for word in ("-c", setting)]
    words = (words[0], *_OPTIONS.get(words[0], ()), *words[1:])
    if filters:
        return [program, "-C", os.fspath(root), "--no-pager", *own, *words]
    tree = repository_of(Path(os.path.abspath(root)))  # noqa: PTH100 - by its words
    if tree is None:  # no git finds another one above
        return [program, "-C", os.fspath(root), f"--git-dir={os.devnull}", *words]
    place = _place_of(tree)
    return [program, "-C", os.fspath(root), f"--git-dir={place}", f"--work-tree={tree}", "--no-pager", *own, *words]


def git_environment() -> dict[str, str]:
    """Return the environment for it: no configuration, no programs named by variables, no prompts, nothing fetched."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _DATA}
    return {
        **kept, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C",
        "GIT_PAGER": "cat", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0",
    }  # fmt: skip


def run_git(root: Path, *words: str, data: bytes = b"", timeout: float = _SECONDS) -> bytes | None:
    """Return what a git command prints; None where there is no git, it fails, or takes too long."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(  # noqa: S603 - the words are ours, and no shell reads them
            git_command(root, *words), input=data, env=git_environment(),
            capture_output=True, check=False, timeout=timeout,
        )  # fmt: skip
        return None if done.returncode else done.stdout
    return None


def git_program(root: Path) -> str:
    """Return git by its absolute path: none of the repository that it is asked about, whatever PATH says."""
    return _git_of(os.environ.get("PATH", os.defpath), os.path.realpath(repository_of(root.absolute()) or root))


@lru_cache(maxsize=64)
def _git_of(path: str, root: str) -> str:
    folders = [one for one in path.split(os.pathsep) if os.path.isabs(one)]  # noqa: PTH117
    outside = [one for one in folders if not Path(os.path.realpath(one)).is_relative_to(root)]
    return shutil.which("git", path=os.pathsep.join(outside) or os.devnull) or "/nonexistent/git"


def git_folders(tree: Path) -> tuple[Path, Path] | None:
    """Return git's folder of a work tree, and the one that several work trees share; None where there is none."""
    store = tree / ".git"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if store.is_file():
            store = tree / read_untrusted_text(store)[:4096].removeprefix("gitdir:").strip()
        shared = store / "commondir"
        common = store / read_untrusted_text(shared)[:4096].strip() if shared.is_file() else store
        return store, common
    return None


def head_commit(folder: Path) -> str:
    """Return the commit that HEAD of a folder's repository is at, empty where there is none; read from its files."""
    root = repository_of(folder.absolute())
    folders = None if root is None else git_folders(root)
    if folders is None:
        return ""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        head = read_untrusted_text(folders[0] / "HEAD").strip()
        if _COMMIT.fullmatch(head):
            return head
        for place in folders:
            found = place / head.removeprefix("ref: ")
            if found.is_file() and _COMMIT.fullmatch(text := read_untrusted_text(found).strip()):
                return text
    # Packed references and other ways to keep them.
    return (run_git(folder, "rev-parse", "--verify", "-q", "HEAD") or b"").decode("ascii", "replace").strip()


# -- git's folder without its configuration ----------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _places(process: int) -> Path:
    del process  # a child that was forked makes its own
    import tempfile

    folder = Path(tempfile.mkdtemp(prefix="tipstaff-git-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _place_of(tree: Path) -> Path:
    """Return a folder that git takes for that of a work tree; made once in a process, and brought up to date."""
    folders = git_folders(tree)
    place = _places(os.getpid()) / f"{hash(os.fspath(tree)) & 0xFFFFFFFFFFFFFFFF:016x}"
    if folders is None:
        return place
    store, common = folders[0].absolute(), folders[1].absolute()
    with contextlib.suppress(OSError):
        (place / "info").mkdir(parents=True, exist_ok=True)
        head = read_untrusted(store / "HEAD")[:4096]
        for name in (*_SHARED, "index", *(one.name for one in store.glob("sharedindex.*"))):
            _link(place / name, (store if "index" in name else common) / name)
        for name in _SHARED_INFO:
            _link(place / "info" / name, common / "info" / name)
        _link(place / "info" / "sparse-checkout", store / "info" / "sparse-checkout")
        _replace(place / "HEAD", head)
        program = git_program(tree)
        settings = _copied(program, common / "config") | _copied(program, store / "config.worktree")
        settings |= _of_the_account(program, os.environ.get("HOME", ""))
        text = "".join(f"{_section(name)}\n\t{name.rpartition('.')[2]} = {value}\n" for name, value in settings.items())
        _replace(place / "config", text.encode("utf-8", "surrogateescape"))
    return place


def _section(name: str) -> str:
    section, _, rest = name.partition(".")
    below = rest.rpartition(".")[0]
    return f'[{section} "{below}"]' if below else f"[{section}]"


def _link(link: Path, to: Path) -> None:
    with contextlib.suppress(FileExistsError):
        link.symlink_to(to)


def _replace(path: Path, data: bytes) -> None:
    with contextlib.suppress(OSError):
        if read_untrusted(path) == data:
            return
    scratch = path.with_name(f"{path.name}.{os.getpid()}")
    scratch.write_bytes(data)
    scratch.replace(path)


def _copied(program: str, config: Path) -> dict[str, str]:
    """Return the settings of a configuration that say how names and contents are compared; listing it runs nothing."""
    try:
        about = config.stat()
    except OSError:
        return {}
    if about.st_size > _MAX_CONFIG_BYTES:
        return {}
    listed = _listed(program, ("--file", os.fspath(config), "--no-includes"), about.st_mtime_ns, about.st_ino)
    return {name: value for name, value in listed.items() if _COPIED.fullmatch(name) and _PLAIN.fullmatch(value)}


def _of_the_account(program: str, home: str) -> dict[str, str]:
    """Return which files the account has git ignore: what it lists would be other files without."""
    listed = _listed(program, ("--global", "--includes"), 0, hash(home))
    value = listed.get("core.excludesfile", "")
    default = Path(os.environ.get("XDG_CONFIG_HOME") or Path(home, ".config"), "git", "ignore")
    path = os.path.expanduser(value) if value else os.fspath(default)  # noqa: PTH111
    return {"core.excludesFile": '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'} if "\n" not in path else {}


@lru_cache(maxsize=64)
def _listed(program: str, words: tuple[str, ...], written_ns: int, inode: int) -> dict[str, str]:
    del written_ns, inode  # asked again when the file has changed
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603 - as above
            [program, "config", *words, "--list", "-z"],
            capture_output=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL, env=environment, cwd=os.sep,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return {}
    entries = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    return {name: value for name, _, value in (entry.partition("\n") for entry in entries) if name}
