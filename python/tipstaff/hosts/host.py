"""What a host is: its settings files, our entries in them, and what it does with a reply."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import sysconfig
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, cast

from tipstaff.errors import SourceNotFoundError
from tipstaff.model import Record

Scope = Literal["local", "project", "user"]
SCOPES: Final[tuple[Scope, ...]] = ("local", "project", "user")
"""This repository, in a file that is not committed; this repository, in one that is; every repository of the user."""
Outcome = Literal["runs", "asks", "stopped"]
PROGRAM: Final = "tipstaff-hook"
TIMEOUT_S: Final = 10
"""How long a host waits for the hook, in seconds. The hook answers after 200 ms at the latest; the rest is for machines
that are slow to start a process, since every host lets a call pass when its hook times out."""

DOCTOR_SESSION: Final = "tipstaff-doctor"
"""The session of the calls by which the doctor tries a registration; statistics leave them out."""

_GUARD: Final = re.compile(
    rf"command -v {PROGRAM} >/dev/null 2>&1 \|\| (?:exit 0|\{{ echo '[^']*'; exit 0; \}}); exec (?={PROGRAM}\b)"
)
KINDS: Final = ("harmless", "destructive", "confirm", "secret", "malformed")


class HookRun(Record, frozen=True):
    """One run of a hook program, as a host sees it.

    Attributes
    ----------
    status
        Exit status; 127 where there was no such program, None where the host stopped waiting.
    stdout, stderr
        What was written.
    """

    status: int | None
    stdout: bytes = b""
    stderr: bytes = b""

    def document(self) -> dict[str, Any] | None:
        """Return standard output as one JSON object; None if it is not one."""
        try:
            found: Any = json.loads(self.stdout)
        except ValueError:
            return None
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None


class Effect(Record, frozen=True):
    """What a host does with a call after its hook has run.

    Attributes
    ----------
    outcome
        The call ``runs``, a person is asked (``asks``), or it is ``stopped``.
    why
        In one phrase.
    failed
        Whether the host counts the hook as failed.
    """

    outcome: Outcome
    why: str
    failed: bool = False


class Registered(Record, frozen=True):
    """One registration of the hook program in a settings file.

    Attributes
    ----------
    event
        As the host names it.
    words
        Program and arguments.
    line
        The command line as it is, where the host passes it to a shell; else empty.
    entry
        The entry as it is.
    at
        Its group and its number within that, as the host counts them.
    """

    event: str
    words: tuple[str, ...]
    line: str
    entry: dict[str, Any]
    at: tuple[int, int] = (0, 0)


class AgentHost(ABC):
    """One agent host."""

    name: str
    title: str
    events: tuple[str, ...]
    tool_event: str
    """The event before a tool call, by which the host's part in it can be tried out."""
    programs: tuple[str, ...] = ()
    """Its programs, by which it is found on this machine; else by the user's folder of it."""
    default_scope: Scope = "local"
    """Where it is registered unless the user says otherwise: ``user`` where projects are not trusted by default."""
    matcher_names: re.Pattern[str] | None = None
    """Matchers that are lists of whole names; None where each is a regular expression."""
    matcher_is_whole = False
    """Whether a regular expression must match the whole name of a tool."""
    matcher_is_trimmed = False
    """Whether blanks around the alternatives of a regular expression do not count."""
    command_tools: tuple[str, ...] = ()
    """The names of the tool that runs commands, as the matchers of tool events see them; none where they do not."""
    other_tools: tuple[str, ...] = ()
    """A tool that writes files, and one of a server, as the matchers of tool events see them."""
    root_keys: frozenset[str] | None = None
    """The keys that its settings may have; None for any."""
    handler_types: frozenset[str] = frozenset()
    """The types of entries, where one of another type makes it refuse the whole file."""
    default_type = ""
    """The type of an entry that names none; empty where each must."""
    reads_comments = False
    """Whether its settings may have comments."""
    reads_mark = False
    """Whether its settings may begin with a byte order mark."""

    @abstractmethod
    def settings_file(self, scope: Scope, root: Path, home: Path) -> Path:
        """Return the file that the hook is registered in; the local one is the project's where a host has no other."""

    def other_files(self, root: Path, home: Path) -> tuple[Path, ...]:
        """Return further files in which the host looks for hooks."""
        del root, home
        return ()

    def found(self, home: Path) -> str:
        """Return by what the host is known to be used here, empty where it is not: a program, or the user's folder."""
        for name in self.programs:
            if shutil.which(name):
                return f"{name} is on PATH"
        folder = self.user_folder(home)
        return f"{folder} exists" if folder.is_dir() else ""

    @abstractmethod
    def user_folder(self, home: Path) -> Path:
        """Return where the host keeps what is the user's."""

    @abstractmethod
    def entry(self, event: str, program: Path) -> dict[str, Any]:
        """Return what registers the hook in the list of an event.

        Parameters
        ----------
        event
            As the host names it.
        program
            The program's absolute path; its name alone for settings that are committed: the one on PATH is started
            then, and calls run where there is none.
        """

    def own_file(self, program: Path) -> bytes | None:
        """Return the whole settings file, where it is this package's alone; None where it is shared with others."""
        del program
        return None

    def read_file(self, path: Path) -> dict[str, Any] | None:
        """Return what a settings file holds, as `registered` takes it; None where there is none.

        Raises
        ------
        SourceError
            It cannot be read.
        """
        from tipstaff.hosts.installation import read_settings

        return read_settings(path, comments=self.reads_comments)

    def not_running(self, found: Sequence[tuple[Path, Registered]], root: Path, home: Path) -> Iterator[str]:
        """Yield why the host would silently not run registrations that it finds: nobody has trusted them.

        Parameters
        ----------
        found
            File and registration of each.
        root, home
            Folder of the project, and the user's.
        """
        del found, root, home
        yield from ()

    def switched_off(self, settings: Mapping[str, Any]) -> str:
        """Return by which setting a file switches the hook off, empty where it does not."""
        return "disableAllHooks is true: no hook runs" if settings.get("disableAllHooks") is True else ""

    def head(self) -> dict[str, Any]:
        """Return the members that a settings file must have beside its hooks."""
        return {}

    @abstractmethod
    def read_reply(self, registered: Registered, run: HookRun) -> Effect:
        """Say what the host does with the call after a run of the hook before it."""

    def tool_call(self, command: str, cwd: Path) -> dict[str, Any]:
        """Return the event that the host sends before a shell command runs."""
        return {
            "session_id": DOCTOR_SESSION,
            "transcript_path": None,
            "cwd": str(cwd),
            "hook_event_name": self.tool_event,
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": "tipstaff-doctor",
        }

    # -- our entries ---------------------------------------------------------------------------------------------------

    def is_ours(self, handler: Mapping[str, Any]) -> bool:
        """Return whether a handler starts the hook program."""
        return bool(words_of(handler)) and Path(words_of(handler)[0]).name in {PROGRAM, f"{PROGRAM}.exe"}

    def registered(self, settings: Mapping[str, Any]) -> Iterator[Registered]:
        """Yield the registrations of the hook program in settings."""
        hooks = settings.get("hooks")
        if not isinstance(hooks, Mapping):
            return
        for event, entries in cast("Mapping[str, Any]", hooks).items():
            for group, entry in enumerate(entries if isinstance(entries, list) else []):
                for number, handler in enumerate(handlers_of(entry)):
                    if self.is_ours(handler):
                        line = "" if takes_arguments(handler) else without_guard(line_of(handler))
                        yield Registered(event, words_of(handler), line, {**entry, **handler}, (group, number))


def below(path: Path, folder: Path) -> bool:
    """Return whether a path is a folder or is in it, links followed."""
    return path.resolve().is_relative_to(folder.resolve())


def handlers_of(entry: Any) -> list[dict[str, Any]]:
    """Return the handlers of an entry: those of a group, or the entry itself."""
    if not isinstance(entry, dict):
        return []
    group = cast("dict[str, Any]", entry)
    inner = group.get("hooks")
    if not isinstance(inner, list):
        return [group]
    return [one for one in inner if isinstance(one, dict)]


def takes_arguments(handler: Mapping[str, Any]) -> bool:
    """Return whether a handler is started without a shell."""
    return "args" in handler or "exec" in handler


def line_of(handler: Mapping[str, Any]) -> str:
    """Return the command line of a handler, empty where there is none."""
    for key in ("command", "bash", "exec"):
        value = handler.get(key)
        if isinstance(value, str):
            return value
    return ""


def words_of(handler: Mapping[str, Any]) -> tuple[str, ...]:
    """Return program and arguments of a handler, none where it is not a command."""
    line = line_of(handler)
    if takes_arguments(handler):
        arguments: Any = handler.get("args", [])
        if not line or not isinstance(arguments, list):
            return ()
        return (line, *(str(word) for word in arguments))
    try:
        return tuple(shlex.split(without_guard(line)))
    except ValueError:
        return ()


def command_line(program: Path, arguments: Sequence[str], *, without: str = "") -> str:
    """Return a command line for hosts that pass it to a shell.

    Parameters
    ----------
    program
        Its absolute path, or its name alone: then it is looked up on PATH, and the line succeeds where it is missing.
    arguments
        Its options.
    without
        What the line prints where the program is missing.
    """
    line = shlex.join([str(program), *arguments])
    if program.is_absolute():
        return line
    otherwise = f"{{ echo {shlex.quote(without)}; exit 0; }}" if without else "exit 0"
    return f"command -v {program} >/dev/null 2>&1 || {otherwise}; exec {line}"


def without_guard(line: str) -> str:
    """Return a command line without what `command_line` puts before a program that may be missing."""
    return _GUARD.sub("", line)


def machine_file(linux: str, macos: str, windows: str) -> Path:
    """Return where the settings of a machine's owner are, by the vendor's documentation."""
    return Path({"darwin": macos, "win32": windows}.get(sys.platform, linux))


def home_folder(variable: str, home: Path, name: str) -> Path:
    """Return a host's folder of the user: where a variable of its own says, else below the home folder."""
    override = os.environ.get(variable, "")
    return Path(override) if override else home / name


def reply_of(run: HookRun, failure: str) -> dict[str, Any] | Effect:
    """Return a hook's reply, or the effect without one: the call runs.

    Parameters
    ----------
    run
        How it ended.
    failure
        What an exit status other than 0 is to the host: ``"does not block"``.
    """
    if run.status != 0:
        return Effect("runs", did_not_run(run) or f"exit status {run.status} {failure}", failed=True)
    if not run.stdout.strip():
        return Effect("runs", "the hook printed nothing")
    reply = run.document()
    return Effect("runs", "the hook's output is not one JSON object", failed=True) if reply is None else reply


def did_not_run(run: HookRun) -> str:
    """Return why there is no reply to read, empty where there is one."""
    if run.status is None:
        return "the host stopped waiting for the hook"
    if run.status == 127:
        return "no such program"
    return ""


def hook_program() -> Path:
    """Return the absolute path of ``tipstaff-hook``, as it was installed with this package.

    Raises
    ------
    SourceNotFoundError
        If it is not there: this system had no compiler for it, or the package is damaged.
    """
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    for folder in folders:
        path = Path(folder) / PROGRAM
        if path.is_file() and os.access(path, os.X_OK):
            return path
    found = shutil.which(PROGRAM)
    if found is None:
        message = f"{Path(folders[0]) / PROGRAM}: the hook program is not installed; install tipstaff again"
        raise SourceNotFoundError(message)
    return Path(found).absolute()
