"""``tipstaff approve``."""

from __future__ import annotations

import os
import re
import sys
import time
from typing import TYPE_CHECKING, Final

import click

from tipstaff.cli import exits
from tipstaff.cli.output import Painter, plain, write
from tipstaff.errors import ConfigError

if TYPE_CHECKING:
    from tipstaff.hosts.approvals import PendingCall

AGENT_MARKS: Final = ("CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "CURSOR_AGENT", "COPILOT_AGENT")
"""What hosts set in the environment of the commands that their agents run."""

_TIME: Final = re.compile(r"(\d{1,5})([smh])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}


@click.command("approve")
@click.argument("code", required=False)
@click.option("--for", "time_text", default="10m", show_default=True, help="How long the answer counts: 90s, 10m, 2h.")
@click.option("--deny", is_flag=True, help="Refuse the call instead: the agent is told that a person did.")
def command(code: str | None, time_text: str, deny: bool) -> int:
    """Allow one call that waits for a person, once; without a code, list the calls that wait.

    Only a person may do this, in a terminal of their own: it refuses where it is run by an agent or a script.
    """
    from tipstaff.hosts.approvals import answer, pending_call, pending_calls
    from tipstaff.store.state import state_folder

    state = state_folder()
    paint = Painter()
    if code is None:
        calls = pending_calls(state)
        write(*([line for call in calls for line in _lines(call, paint)] or ["no call waits for a person"]))
        return exits.OK
    _check_person()
    seconds = _seconds(time_text)
    call = pending_call(code.upper(), state)
    write(*_lines(call, paint))
    what = "refuse" if deny else "allow"
    word = click.prompt(f"To {what} exactly this, type its code's last four letters", default="", show_default=False)
    if word.strip().upper() != call.code[-4:]:
        write("nothing was done")
        return exits.FINDINGS
    answer(call, state, seconds=seconds, refused=deny)
    write(f"refused for {time_text}" if deny else f"allowed once, within {time_text}: have the agent try it again")
    return exits.OK


def _check_person() -> None:
    if marks := [name for name in AGENT_MARKS if os.environ.get(name)]:
        raise ConfigError(
            f"this is the terminal of an agent ({marks[0]} is set): a person approves in a terminal of their own"
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("a person must approve, in a terminal: standard input or output is none")


def _seconds(text: str) -> int:
    found = _TIME.fullmatch(text)
    if found is None:
        raise ConfigError(f"--for {text!r} is no time: 90s, 10m or 2h")
    return int(found[1]) * _SECONDS[found[2]]


def _lines(call: PendingCall, paint: Painter) -> list[str]:
    minutes = max(0, int(time.time()) - call.asked) // 60
    lines = [
        f"{paint(call.code, bold=True)}  {plain(call.tool or 'command')} of {plain(call.host)}, {minutes} minutes ago",
        f"  in       {plain(call.cwd)}",
    ]
    for name, text in call.fields.items():
        rows = _masked(text).splitlines() or [""]
        lines += [f"  {plain(name):<8} {plain(rows[0])}", *(f"           {plain(row)}" for row in rows[1:])]
    return [*lines, f"  because  {plain(_masked(call.reason))}"]


def _masked(text: str) -> str:
    from tipstaff.gates.secrets.scanner import redact

    return redact(text, wary=True)
