"""Results by the content of what they depend on.

Only passes are kept: a failure is what someone is working on, and its cause may lie outside the repository. A result
depends on the check itself, the program that its command names, and the contents of the files that its triggers and
inputs match.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import time
from pathlib import Path
from typing import Final

import msgspec
import xxhash

from tipstaff.review.cache_folder import CACHE_FOLDER, write_cache
from tipstaff.review.checks.model import Check
from tipstaff.review.globs import any_matcher
from tipstaff.review.running.inventory import Inventory
from tipstaff.review.running.results import CheckResult

RESULTS_NAME: Final = "checks.msgpack"
VERSION: Final = 2
MAX_RESULTS: Final = 400
MAX_STATES: Final = 3

_ENVIRONMENT: Final = ("PATH", "VIRTUAL_ENV", "GOFLAGS", "RUSTFLAGS", "NODE_OPTIONS", "JAVA_HOME", "PYTHONPATH")


class Kept(msgspec.Struct, frozen=True):
    """A result and when it was kept, in seconds since 1970."""

    result: CheckResult
    at: float


class Content(msgspec.Struct, frozen=True):
    """What a cache file holds.

    Attributes
    ----------
    results
        By key.
    digests
        For the latest settled states of the repository, the digests of sets of inputs.
    """

    results: dict[str, Kept]
    digests: dict[str, dict[str, bytes]]


class ResultCache:
    """Passed results of one repository.

    Parameters
    ----------
    inventory
        The repository's files.
    """

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._path = inventory.root / CACHE_FOLDER / RESULTS_NAME
        content = _read(self._path)
        self._kept = content.results
        self._digests = content.digests
        self._changed = False

    def key(self, check: Check) -> str:
        """Return what a check's result depends on, as hexadecimal digits."""
        words = _words(check.command)
        folder = self._inventory.root / check.working_dir
        total = xxhash.xxh3_128(msgspec.msgpack.encode((VERSION, check, _identity(words, folder))))
        total.update(msgspec.msgpack.encode([os.environ.get(name, "") for name in _ENVIRONMENT]))
        total.update(self._digest(check))
        return total.hexdigest()

    def find(self, key: str) -> CheckResult | None:
        """Return the result that was kept under a key."""
        kept = self._kept.get(key)
        return None if kept is None else kept.result.replace(cached=True)

    def keep(self, key: str, result: CheckResult) -> None:
        """Keep a result."""
        self._kept[key] = Kept(result, time.time())
        self._changed = True

    def save(self) -> None:
        """Write what is kept, the latest results only; does nothing where that is not possible."""
        if not self._changed:
            return
        # Another run may have kept results meanwhile: they stay unless ours are newer.
        merged = {**_read(self._path).results, **self._kept}
        latest = sorted(merged.items(), key=lambda item: item[1].at)[-MAX_RESULTS:]
        content = Content(dict(latest), dict(list(self._digests.items())[-MAX_STATES:]))
        with contextlib.suppress(OSError):
            write_cache(self._inventory.root, RESULTS_NAME, msgspec.msgpack.encode(content))

    def _digest(self, check: Check) -> bytes:
        about = check.working_dir, check.triggers, check.inputs, check.outputs
        at = xxhash.xxh3_64_hexdigest(msgspec.msgpack.encode(about))
        known = self._digests.get(self._inventory.state)
        if known is not None and at in known:
            return known[at]
        found = self._inventory.digest(inputs_of(check, self._inventory.files))
        if self._inventory.settled:
            self._digests.setdefault(self._inventory.state, {})[at] = found
            self._changed = True
        return found


def inputs_of(check: Check, files: list[str]) -> list[str]:
    """Return the files that a check's result depends on, relative to the repository."""
    prefix = f"{check.working_dir}/" if check.working_dir else ""
    globs = tuple(dict.fromkeys((*(check.triggers or ("**",)), *check.inputs)))
    everything = "**" in globs
    match, written = any_matcher(globs), any_matcher(_below(check.outputs))
    start = len(prefix)
    return [
        path
        for path in files
        if path.startswith(prefix) and (everything or match(path[start:])) and not written(path[start:])
    ]


def _below(outputs: tuple[str, ...]) -> tuple[str, ...]:
    """Return globs of outputs in which a folder without slashes before it is one at any depth."""
    return tuple(f"**/{glob}" if glob.endswith("/") and "/" not in glob[:-1] else glob for glob in outputs)


def is_triggered(check: Check, changed: tuple[str, ...]) -> bool:
    """Return whether any of the changed files triggers a check."""
    prefix = f"{check.working_dir}/" if check.working_dir else ""
    below = [path[len(prefix) :] for path in changed if path.startswith(prefix)]
    return bool(below) and (not check.triggers or any(map(any_matcher(check.triggers), below)))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _identity(words: list[str], folder: Path) -> tuple[str, int, int]:
    """Return the program that a command names first: path, size and mtime in ns."""
    for word in words:
        if "=" in word.partition("/")[0]:
            continue
        path = str(folder / word) if "/" in word else shutil.which(word)
        with contextlib.suppress(OSError):
            if path is not None:
                about = Path(path).stat()
                return path, about.st_size, about.st_mtime_ns
        break
    return "", 0, 0


def _read(path: Path) -> Content:
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=Content)
    except (OSError, msgspec.MsgspecError, ValueError):
        return Content({}, {})
