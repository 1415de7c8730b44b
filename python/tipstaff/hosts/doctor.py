"""Sends known events through the hook exactly as it is registered, and says what the host would do with the replies."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from tipstaff.errors import SourceError
from tipstaff.hosts.approvals import pending_calls
from tipstaff.hosts.entries import altered_entries, is_of_tools, refusal, unmatched
from tipstaff.hosts.host import KINDS, SCOPES, TIMEOUT_S, AgentHost, Effect, HookRun, Registered, hook_program
from tipstaff.hosts.registrations import lost_registrations
from tipstaff.model import Record
from tipstaff.store.untrusted import read_untrusted

RIGHT: Final = {
    "harmless": ("runs",),
    "destructive": ("stopped",),
    "confirm": ("asks", "stopped"),
    "secret": ("stopped",),
    "malformed": ("asks", "stopped"),
}
"""What may become of a call of each kind."""


_SHELL_SIGNS: Final = re.compile(r"[;&|<>$`\n(){}*?!#~]")


class Probe(Record, frozen=True):
    """What becomes of one known event.

    Attributes
    ----------
    kind
        ``harmless``, ``destructive``, ``confirm``, ``secret`` or ``malformed``.
    outcome, why
        What the host does, and why.
    right
        Whether that is as it should be.
    """

    kind: str
    outcome: str
    why: str
    right: bool


class HostReport(Record, frozen=True):
    """The state of the hook in one host.

    Attributes
    ----------
    host
        Its name.
    registrations
        File and event of each registration, in the order of the files.
    probes
        What becomes of known events; none where the hook is not registered before tool calls.
    without_program
        What the host would do with a call if the program were missing.
    problems
        What is wrong; nothing if all is well.
    notes
        What is worth knowing.
    """

    host: str
    registrations: tuple[str, ...]
    probes: tuple[Probe, ...]
    without_program: str
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()


def examine(host: AgentHost, root: Path, home: Path, state: Path, *, program: Path | None = None) -> HostReport:
    """Find the registrations of a host and try the one before tool calls.

    Parameters
    ----------
    host
        The host.
    root, home
        Folder of the project, and the user's.
    state
        The state folder: what trying leaves there is taken away.
    program
        This package's own program, the only one that is run; as it is installed if None.
    """
    program = hook_program() if program is None else program
    problems: list[str] = []
    found: list[tuple[Path, Registered]] = []
    files = [host.settings_file(scope, root, home) for scope in SCOPES]
    for path in dict.fromkeys((*files, *host.other_files(root, home))):
        try:
            settings = host.read_file(path)
        except (SourceError, PermissionError) as error:
            problems.append(str(error).removesuffix("; nothing was changed"))
            continue
        if settings is not None:
            if why := host.switched_off(settings):
                problems.append(f"{path}: {why}")
            if why := refusal(host, settings):
                problems.append(f"{path}: {why}")
            if not host.reads_mark and read_untrusted(path).startswith(codecs.BOM_UTF8):
                problems.append(f"{path}: {host.title} does not read a file with a byte order mark: remove it")
            found.extend((path, one) for one in host.registered(settings))
    before = [(path, one) for path, one in found if one.event == host.tool_event]
    events = {one.event for _, one in found}
    if found and (missing := [event for event in host.events if event not in events]):
        problems.append(f"not registered for {', '.join(missing)}: run `tipstaff install --host {host.name}` again")
    problems += host.not_running(found, root, home)
    if host.own_file(program) is None:
        problems += altered_entries(host, found, program)
    notes: list[str] = []
    for event in filter(is_of_tools, host.events if host.command_tools else ()):
        if unmatched(host, found, event, *host.command_tools):
            problems.append(f"no matcher of {event} takes in the tool that runs commands: they are not judged")
        elif left := [name for name in host.other_tools if unmatched(host, found, event, name)]:
            notes.append(f"no matcher of {event} takes in {' or '.join(left)}: such calls are not judged")
    problems += lost_registrations(host.name, root, state)
    if len(before) > 1:
        registering = " and ".join(str(path) for path, _ in before)
        problems.append(
            f"registered more than once ({registering}): the second one takes approvals that the first one used up"
        )
    probes: list[Probe] = []
    without = ""
    for path, one in before[:1]:
        if why := why_not_run(one, program):
            problems.append(f"{path}: {why}")
            continue
        waiting = {call.code for call in pending_calls(state)}
        probes = [_probe(host, one, kind, root, program) for kind in KINDS]
        for call in pending_calls(state):
            if call.code not in waiting:
                with contextlib.suppress(OSError):
                    (state / "pending" / call.code).unlink()
        problems += [f"{probe.kind} call: {probe.outcome}, {probe.why}" for probe in probes if not probe.right]
        without = host.read_reply(one, HookRun(127)).outcome
    return HostReport(
        host.name,
        tuple(f"{path}: {one.event}" for path, one in found),
        tuple(probes),
        without,
        tuple(problems),
        (*notes, *_notes(host, without)),
    )


def sample_events(host: AgentHost, cwd: Path) -> dict[str, bytes]:
    """Return the known events of a host, by their kind."""
    # Made here, so that no secret is in any file.
    key = "AKIA" + "".join("QZXWVNMKLPJHTRDS"[at * 7 % 16] for at in range(16))
    commands = {
        "harmless": "git status",
        "destructive": "rm -rf /",
        "confirm": "git push --force",
        "secret": f"export AWS_ACCESS_KEY_ID={key}",
    }
    events = {kind: json.dumps(host.tool_call(command, cwd)).encode() for kind, command in commands.items()}
    return {**events, "malformed": b'{"hook_event_name": '}


def why_not_run(registered: Registered, program: Path) -> str:
    """Return why a registration is not tried out, empty where it is.

    A settings file of the repository may name any program by the name of this one, and hand any line to a shell. What
    is run is this package's own program alone, by its own path, without a shell.

    Parameters
    ----------
    registered
        The registration.
    program
        This package's own program.
    """
    named = registered.words[0]
    try:
        same = Path(shutil.which(named) or named).samefile(program)
    except OSError:
        if Path(named).is_absolute():
            return f"there is no program {named}"
        return f"there is no program {named} on PATH: add {program.parent} to it, or register it with --local or --user"
    if not same:
        return f"it starts {named}, which is not this package's program ({program}); it was not run"
    if registered.line and _SHELL_SIGNS.search(registered.line):
        return "its command line has more than the program and its options; it was not run"
    rest = list(registered.words[1:])
    while rest:
        word = rest.pop(0)
        if word in {"--host", "--event"} and rest:
            rest.pop(0)
        elif word != "--unattended":
            return f"it passes {word!r}, which is not an option of the program; it was not run"
    return ""


def run_registered(registered: Registered, event: bytes, cwd: Path, program: Path) -> HookRun:
    """Run this package's own program with the options of a registration, never through a shell."""
    try:
        done = subprocess.run(  # noqa: S603 - this package's own program
            [os.fspath(program), *registered.words[1:]],
            input=event,
            capture_output=True,
            timeout=TIMEOUT_S,
            cwd=cwd,
            check=False,
        )
    except FileNotFoundError:
        return HookRun(127)
    except PermissionError:
        return HookRun(126)
    except subprocess.TimeoutExpired:
        return HookRun(None)
    return HookRun(done.returncode, done.stdout, done.stderr)


def _probe(host: AgentHost, registered: Registered, kind: str, cwd: Path, program: Path) -> Probe:
    run = run_registered(registered, sample_events(host, cwd)[kind], cwd, program)
    effect: Effect = host.read_reply(registered, run)
    right = effect.outcome in RIGHT[kind] and not (kind == "harmless" and effect.failed)
    return Probe(kind, effect.outcome, effect.why, right)


def _notes(host: AgentHost, without: str) -> tuple[str, ...]:
    notes: list[str] = []
    if without == "runs":
        notes.append("if the program were missing or did not answer, this host would let calls run")
    if host.name == "copilot":
        notes.append(
            "it also runs the hooks in a project's Claude Code settings; these stay silent where it has its own"
        )
    return tuple(notes)
