"""Retention: links become copies, pins become packs; what is unfinished, too old or too much goes; what is wrong."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from tipstaff.errors import StoreDamagedError
from tipstaff.store.replacing import replaced_file
from tipstaff.undo import references
from tipstaff.undo.config import MB, UndoConfig
from tipstaff.undo.keeps import Keep, Manifest, folder_of, keeps_in, locked, read_manifest, repositories, undo_folder

SMALL_BYTES: Final = MB
"""Keeps up to this size have a pool of their own, so that large files do not push out last week's settings."""

_DAY_NS: Final = 86_400 * 10**9
_UNFINISHED_NS: Final = 3_600 * 10**9  # a keep takes seconds, and its process's number is used again
_PINNED_ELSEWHERE_NS: Final = _DAY_NS  # pins without a keep may belong to another state folder


def settle(folder: Path) -> None:
    """Right after the call: note what the references are now, and copy linked files whose name still stands."""
    manifest = read_manifest(folder)
    if manifest.git is not None and manifest.git.refs:
        with replaced_file(folder / "after") as file:
            file.write(json.dumps(references.values(manifest.git)).encode())
    _copy_links(folder, manifest)


def _copy_links(folder: Path, manifest: Manifest) -> None:
    """Copy linked files whose name still stands: in place of them a link would change as well."""
    for entry in manifest.files:
        if not entry.linked or entry.file is None:
            continue
        kept = folder / entry.file
        with contextlib.suppress(OSError):
            if os.path.samestat(os.lstat(entry.path), os.lstat(kept)):
                with replaced_file(kept) as file, kept.open("rb") as source:
                    shutil.copyfileobj(source, file)


def tidy(settings_of: Callable[[Path], UndoConfig] = lambda _: UndoConfig(), state: Path | None = None) -> list[str]:
    """Settle, pack pins, sweep leftovers and apply retention, in all repositories.

    Parameters
    ----------
    settings_of
        The settings of a repository, by its root. A repository's keeps fit its own; all together fit the largest.
    state
        The state folder.

    Returns
    -------
    list of str
        The identifiers of keeps that were forgotten.
    """
    base = undo_folder(state)
    if not base.is_dir():
        return []
    with locked(base):
        return _tidied(base, settings_of, state)


def _tidied(base: Path, settings_of: Callable[[Path], UndoConfig], state: Path | None) -> list[str]:
    roots = dict(repositories(state))
    settings: dict[Path, UndoConfig] = {}
    forgotten: list[str] = []
    for folder in sorted(one for one in base.iterdir() if one.is_dir()):
        root = roots.get(folder, "")
        _sweep(folder, root)
        settings[folder] = own = settings_of(Path(root)) if root else UndoConfig()
        keeps = keeps_in(folder)
        oldest = time.time_ns() - own.days * _DAY_NS
        forgotten += _forget_all([keep for keep in keeps if keep.time < oldest])
        forgotten += _fit([keep for keep in keeps if keep.time >= oldest], own)
        if root:
            _settle_pins(folder, root)
        if not any(folder.iterdir()):
            folder.rmdir()
    most = UndoConfig(
        total_mb=max((one.total_mb for one in settings.values()), default=0),
        small_mb=max((one.small_mb for one in settings.values()), default=0),
    )
    forgotten += _fit([keep for folder in settings for keep in keeps_in(folder)], most)
    (base / ".tidied").touch(mode=0o600)
    return forgotten


def _fit(keeps: list[Keep], own: UndoConfig) -> list[str]:
    """Forget the oldest keeps of each pool until the rest fit, and of a session that has more than half of a pool."""
    forgotten: list[str] = []
    for limit, pool in (
        (own.small_mb * MB, [keep for keep in keeps if keep.bytes <= SMALL_BYTES]),
        (own.total_mb * MB, [keep for keep in keeps if keep.bytes > SMALL_BYTES]),
    ):
        by_age = sorted(pool, key=lambda keep: keep.time)
        if sum(keep.bytes for keep in by_age) > limit // 2:
            sessions: dict[str, list[Keep]] = {}
            for keep in by_age:
                sessions.setdefault(_session(keep), []).append(keep)
            for session, of_session in sessions.items():
                if session:
                    forgotten += (gone := _forget_all(_over(of_session, limit // 2)))
                    by_age = [keep for keep in by_age if keep.id not in gone]
        forgotten += _forget_all(_over(by_age, limit))
    return forgotten


def _over(by_age: list[Keep], limit: int) -> list[Keep]:
    """Return the oldest of some keeps, without which the rest fit."""
    total, over = sum(keep.bytes for keep in by_age), list[Keep]()
    for keep in by_age:
        if total <= limit:
            break
        over.append(keep)
        total -= keep.bytes
    return over


def _session(keep: Keep) -> str:
    try:
        return read_manifest(keep.folder).session
    except (StoreDamagedError, OSError):
        return ""


def _forget_all(keeps: Iterable[Keep]) -> list[str]:
    gone = list(keeps)
    for keep in gone:
        forget(keep)
    return [keep.id for keep in gone]


def forget(keep: Keep) -> None:
    """Throw a keep away, with its pins. Commits that only it held are git's to clean up then."""
    note = None
    with contextlib.suppress(StoreDamagedError, OSError):
        note = read_manifest(keep.folder).git
    if note is not None and note.pins:
        references.drop_pins(note.root, [name for name, _ in references.pins(note.root).get(keep.id, ())])
    unfinished = keep.folder.with_name(f".{keep.id}")
    keep.folder.rename(unfinished)  # what dies within this is swept
    shutil.rmtree(unfinished, ignore_errors=True)
    if note is not None:
        living = [one.id for folder in keep.folder.parents[1].iterdir() for one in keeps_in(folder)]
        references.release_packs(Path(note.common), keep.id, living)


def _sweep(folder: Path, root: str) -> None:
    """Remove what keeps that died have left: their folder, and the pins that they had made."""
    here = references.pins(root) if root else {}
    for keep in keeps_in(folder, unfinished=True):
        if not _is_gone(keep):
            continue
        with contextlib.suppress(StoreDamagedError, OSError):
            if not root and (note := read_manifest(keep.folder).git) is not None:
                root, here = note.root, references.pins(note.root)
        references.drop_pins(root, [name for name, _ in here.get(keep.id, ())])
        shutil.rmtree(keep.folder, ignore_errors=True)


def _is_gone(keep: Keep) -> bool:
    if time.time_ns() - keep.time > _UNFINISHED_NS:
        return True
    try:
        os.kill(keep.process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def _settle_pins(folder: Path, root: str) -> None:
    keeps = {keep.id: keep for keep in keeps_in(folder)}
    for keep in keeps.values():
        with contextlib.suppress(StoreDamagedError, OSError):
            _copy_links(keep.folder, read_manifest(keep.folder))
    if not (Path(root) / ".git").exists() or not (here := references.pins(root)):
        return
    references.pack_pins(root, [one for one in here if one in keeps])
    oldest = time.time_ns() - _PINNED_ELSEWHERE_NS
    orphans = [
        one
        for one in here
        if one not in keeps and one.partition("-")[0].isdigit() and int(one.partition("-")[0]) < oldest
    ]
    references.drop_pins(root, [name for one in orphans for name, _ in here[one]])


def faults(root: Path | None, state: Path | None = None) -> list[tuple[str, str, str]]:
    """Return (path, problem, fix) of what is wrong with the folder of keeps, and with the pins of a repository."""
    base = undo_folder(state)
    found: list[tuple[str, str, str]] = []
    if not base.is_dir():
        return found
    taken = sum(keep.bytes for folder in base.iterdir() for keep in keeps_in(folder))
    if taken > 2 * (most := (UndoConfig().total_mb + UndoConfig().small_mb) * MB):
        found.append(
            (str(base), f"it holds {taken // MB:,} MB, more than {most // MB:,}", "`tipstaff undo --list` tidies")
        )
    for path in (base, *(one for one in base.rglob("*") if not one.name.startswith("same"))):
        about = path.lstat()
        if about.st_uid != os.geteuid() and not _is_content(path):
            found.append((str(path), "it is owned by another user", "a person removes it"))
        elif about.st_mode & 0o077 and not stat.S_ISLNK(about.st_mode) and not _is_content(path):
            found.append((str(path), "others may read or write what was kept", f"chmod -R go-rwx {base}"))
    for folder in (one for one in base.iterdir() if one.is_dir()):
        found += [
            (
                str(keep.folder),
                "a keep that was never finished",
                "`tipstaff undo --list` sweeps it once its process is gone",
            )
            for keep in keeps_in(folder, unfinished=True)
        ]
        for keep in keeps_in(folder):
            try:
                read_manifest(keep.folder)
            except (StoreDamagedError, OSError) as error:
                found.append((str(keep.folder), str(error), f"tipstaff undo --forget {keep.id}"))
    if root is not None and (leaked := references.pins(str(root))):
        ids = {keep.id for keep in keeps_in(folder_of(os.path.realpath(root), state))}
        problem = f"{len(leaked)} keeps are pinned by references, which `push --mirror` would push"
        if leaked.keys() & ids:
            found.append((str(root), problem, "`tipstaff undo --list` packs them"))
    return found


def _is_content(path: Path) -> bool:
    """Return whether a file of a keep may be a link to a person's own file, with that file's mode."""
    return path.name.isdecimal()
