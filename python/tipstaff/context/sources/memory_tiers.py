"""The eight tiers of memory, from who the agent is down to what it did today: `TIERS`, read again when files change."""

from __future__ import annotations

import datetime as dt
import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from tipstaff.context.prompt.sections import memory_key
from tipstaff.errors import ConfigError
from tipstaff.model import Record
from tipstaff.store.inside import leads_out
from tipstaff.store.shipped import is_shipped, is_taken_over
from tipstaff.store.untrusted import read_untrusted

Value = TypeVar("Value")

RACY_NS: Final = 2_000_000_000
"""A file changed so recently may change again without a later time stamp: it is read each time."""

Stamp = tuple[int, int, int, int, int]


class Watched(NamedTuple, Generic[Value]):
    """What a file holds: a value, an error in one sentence, or neither where there is no such file."""

    value: Value | None
    error: str | None
    stamp: Stamp | None


class WatchedFiles(Generic[Value]):
    """A cache of what was made from files, by times of modification and change, size and inode.

    A file over `max_bytes` is an error.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._known: dict[Path, Watched[Value]] = {}

    def read(self, path: Path, make: Callable[[str], Value]) -> Watched[Value]:
        """Return what `make` makes of a file's text; it is called again only after the file changed."""
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            self._known.pop(path, None)
            return Watched(None, None, None)
        except (OSError, ValueError) as error:
            return Watched(None, f"It cannot be read: {_reason(error)}.", None)
        if not stat.S_ISREG(status.st_mode):
            return Watched(None, "It is not a regular file.", None)
        stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)
        known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known
        now = time.time_ns()
        if status.st_size > self._max_bytes:
            return Watched(None, f"It has {status.st_size:,} bytes, more than the {self._max_bytes:,} allowed.", stamp)
        try:
            text = read_untrusted(path)[: self._max_bytes + 1].decode("utf-8-sig")
        except UnicodeDecodeError as error:
            found = Watched[Value](None, f"It is not UTF-8 at byte {error.start}; save it as UTF-8.", stamp)
        except OSError as error:
            return Watched(None, f"It cannot be read: {_reason(error)}.", None)
        else:
            found = Watched(make(text), None, stamp)
        if now - max(status.st_mtime_ns, status.st_ctime_ns) >= RACY_NS:
            self._known[path] = found
        else:
            self._known.pop(path, None)
        return found


def _reason(error: BaseException) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)


MAX_TIER_BYTES: Final = 1 << 20
MAX_MEMORY_LINES: Final = 200
MAX_JOURNAL_LINES: Final = 500
"""Of a Markdown memory the first lines are shown, of a journal the last: the newest are at its end."""

JOURNAL: Final = "{date}"
"""Stands for a day, ``2026-01-31``, instead of a journal."""

JOURNAL_DAYS: Final = 2


SHIPPED_NEVER: Final = frozenset({"Soul", "Auto-Memory", "Markdown Memory", "Daily Journal"})
"""Tiers that say what the agent is and remembers: a repository that brings such a file along writes its memory."""


class TierSource(Record, frozen=True, kw_only=True):
    """Where a tier is read from, and what is above it in the prompt.

    Attributes
    ----------
    priority, protected
        What is lowest is cut first; protected tiers are never cut.
    places, first_only
        Files in the order in which they are read: relative to the project, below the home with ``~home/``, below the
        user's home folder with ``~/``, or absolute; ``{date}`` stands for a day. Whether the first that holds text is
        taken alone.
    max_lines, keep_last
        How many lines of a file are shown, 0 for all, and whether these are the last ones.
    """

    tier: str
    priority: int
    protected: bool = False
    heading: str = ""
    introduction: str = ""
    places: tuple[str, ...] = ()
    first_only: bool = False
    max_lines: int = 0
    keep_last: bool = False


def _tier(tier: str, priority: int, heading: str, introduction: str, *places: str, **more: Any) -> TierSource:
    return TierSource(tier=tier, priority=priority, heading=heading, introduction=introduction, places=places, **more)


_SOUL: Final = ("~home/SOUL.md", ".tipstaff/SOUL.md")
_PROJECT: Final = ("TIPSTAFF.md", ".tipstaff/TIPSTAFF.md", "AGENTS.md", "CLAUDE.md")
_JOURNAL: Final = ".tipstaff/memory/journal/{date}.md"
TIERS: Final = (
    _tier("Soul", 100, "Soul (Core Identity)", "Who you are; it holds whatever else is said.", *_SOUL,
          protected=True, first_only=True),
    _tier("Managed Policy", 90, "Managed Policy", "The organisation's policy; it cannot be overridden.",
          "~home/managed-policy.md", protected=True),
    _tier("Workspace Memory", 80, "Project Instructions", "What holds in this project.", *_PROJECT),
    _tier("User Memory", 70, "User Instructions", "What this user wants in all projects.",
          "~home/TIPSTAFF.md", "~/.claude/CLAUDE.md"),
    _tier("Local Memory", 65, "Local Developer Instructions", "What holds on this machine only.",
          "TIPSTAFF.local.md", "CLAUDE.local.md"),
    _tier("Auto-Memory", 60, "Auto-Memory", "What was learned in earlier sessions.", ".tipstaff/auto-memory.md"),
    _tier("Markdown Memory", 55, "Persistent Memory", "Notes that you keep for this project.",
          ".tipstaff/memory/MEMORY.md", "MEMORY.md", max_lines=MAX_MEMORY_LINES),
    _tier("Daily Journal", 50, "Daily Journal", "What you did today and yesterday.", _JOURNAL,
          max_lines=MAX_JOURNAL_LINES, keep_last=True),
)  # fmt: skip
"""The tiers in the order in which they are in a prompt. The home is ``~/.tipstaff``."""


class MemoryTier(Record, frozen=True, kw_only=True):
    """One tier as it is now.

    `content` is what enters the prompt (heading, introduction, text) and begins with a blank line; `files` are where
    its text was read from.
    """

    tier: str
    priority: int
    protected: bool
    content: str
    text: str
    files: tuple[str, ...]

    @property
    def key(self) -> str:
        """The key of its section, such as ``memory:soul`` or ``memory:auto-memory``."""
        return memory_key(self.tier)


class TierProblem(Record, frozen=True):
    """A file of a tier that could not be read."""

    tier: str
    path: str
    message: str


class MemoryTiers:
    """The tiers of a project, read again when their files change.

    Parameters
    ----------
    root
        The project's folder.
    home
        The user's folder for this package; the default is ``~/.tipstaff``.
    sources
        The tiers in the order of the prompt.
    places
        Other places for some tiers, by their names.

    Raises
    ------
    ConfigError
        If `places` names a tier that is not among `sources`.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        home: str | os.PathLike[str] | None = None,
        sources: Iterable[TierSource] = TIERS,
        places: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._root = Path(root)
        self._home = Path.home() / ".tipstaff" if home is None else Path(home)
        changed = dict(places or {})
        known = tuple(sources)
        unknown = sorted(set(changed) - {source.tier for source in known})
        if unknown:
            msg = f"places: there is no tier {unknown[0]!r}; the tiers are {', '.join(source.tier for source in known)}"
            raise ConfigError(msg)
        self._sources = tuple(
            source.replace(places=tuple(changed[source.tier])) if source.tier in changed else source for source in known
        )
        self._files: WatchedFiles[str] = WatchedFiles(MAX_TIER_BYTES)
        self._made: dict[str, tuple[tuple[str, ...], tuple[str, ...], MemoryTier]] = {}
        self._problems: tuple[TierProblem, ...] = ()

    @property
    def problems(self) -> tuple[TierProblem, ...]:
        """What could not be read when :meth:`load` last ran."""
        return self._problems

    def load(
        self, *, today: dt.date | None = None, without: Callable[[Path], bool] | None = None
    ) -> tuple[MemoryTier, ...]:
        """Return the tiers that hold text, in order, with the journal of a day.

        Files are passed over of which `without` says so. Files that are not there or blank are passed over; those that
        cannot be read are reported in :attr:`problems`. As long as nothing changes the same records are returned, with
        the same strings.
        """
        day = dt.date.today() if today is None else today
        problems: list[TierProblem] = []
        found: list[MemoryTier] = []
        for source in self._sources:
            names: list[str] = []
            texts: list[str] = []
            for path in self._paths(source, day):
                if without is not None and path.exists() and without(path):
                    continue
                if why := self._distrusted(source, path):
                    problems.append(TierProblem(source.tier, str(path), why))
                    continue
                read = self._files.read(path, str)
                if read.error is not None:
                    problems.append(TierProblem(source.tier, str(path), read.error))
                # CLAUDE.md is often a link to AGENTS.md or a copy of it.
                if not read.value or read.value.isspace() or read.value in texts:
                    continue
                names.append(str(path))
                texts.append(read.value)
                if source.first_only:
                    break
            if texts:
                found.append(self._tier(source, tuple(names), tuple(texts)))
        self._problems = tuple(problems)
        return tuple(found)

    def _distrusted(self, source: TierSource, path: Path) -> str:
        """Return why a file is not read although it is there, empty where it may be."""
        if not path.is_relative_to(self._root) or path.is_relative_to(self._home):
            return ""
        if not path.exists():
            return ""
        if leads_out(path, self._root):
            return "a link out of the project; it is not read"
        if source.tier in SHIPPED_NEVER and is_shipped(self._root, path) and not is_taken_over(self._root, path):
            return "it came with the repository, and nobody has accepted it: `tipstaff memory accept` shows it"
        return ""

    def _paths(self, source: TierSource, day: dt.date) -> list[Path]:
        paths: list[Path] = []
        for pattern in source.places:
            days = range(JOURNAL_DAYS) if JOURNAL in pattern else range(1)
            for back in days:
                name = pattern.replace(JOURNAL, (day - dt.timedelta(days=back)).isoformat())
                if name.startswith("~home/"):
                    paths.append(self._home / name.removeprefix("~home/"))
                elif name.startswith("~/"):
                    paths.append(Path.home() / name.removeprefix("~/"))
                else:
                    paths.append(self._root / name)
        return paths

    def _tier(self, source: TierSource, names: tuple[str, ...], texts: tuple[str, ...]) -> MemoryTier:
        made = self._made.get(source.tier)
        if made is not None and made[0] == names and made[1] == texts:
            return made[2]
        text = "\n\n".join(_lines(source, text.strip()) for text in texts)
        tier = MemoryTier(
            tier=source.tier,
            priority=source.priority,
            protected=source.protected,
            content="\n\n"
            + "\n\n".join(filter(None, (f"# {source.heading or source.tier}", source.introduction, text))),
            text=text,
            files=names,
        )
        self._made[source.tier] = (names, texts, tier)
        return tier


def _lines(source: TierSource, text: str) -> str:
    """Return as many lines of a file as its tier shows, and say where there are more."""
    lines = text.split("\n")
    if not source.max_lines or len(lines) <= source.max_lines:
        return text
    which = "last" if source.keep_last else "first"
    note = f"<!-- [TRUNCATED] {len(lines)} lines, showing the {which} {source.max_lines} -->"
    if source.keep_last:
        return "\n".join([note, *lines[-source.max_lines :]])
    return "\n".join([*lines[: source.max_lines], note])
