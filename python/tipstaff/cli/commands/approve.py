"""``tipstaff approve``."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tipstaff.cli import exits
from tipstaff.cli.options import is_below, repository_if_named
from tipstaff.cli.output import Painter, counted, plain, write, write_pages
from tipstaff.cli.person import check_person, confirmed
from tipstaff.errors import ConfigError

if TYPE_CHECKING:
    from tipstaff.hosts.approvals import PendingCall

_OFFER: Final = re.compile(r" *(A person must allow|Or a person allows)[^`]*`tipstaff approve.*", re.DOTALL)
_TIME: Final = re.compile(r"(\d{1,5})([smh])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600}


@click.command("approve")
@click.argument("code", required=False)
@repository_if_named("Only calls in this repository.")
@click.option(
    "--for", "time_text", default="10m", show_default=True, help="How long the approval is valid: 90s, 10m or 2h."
)
@click.option("--deny", is_flag=True, help="Refuse the call instead; the agent sees that a person did.")
def command(code: str | None, repository: Path | None, time_text: str, deny: bool) -> int:
    """Allow one call that waits for a person, once; without a code, list the calls that wait.

    Only a person may do this, in a terminal of their own: it refuses when an agent or a script runs it.
    """
    from tipstaff.hosts.approvals import answer, pending_call, pending_calls
    from tipstaff.store.state import state_folder

    state = state_folder()
    paint = Painter()
    if code is None:
        calls = [call for call in pending_calls(state) if repository is None or is_below(call.cwd, repository)]
        write(*([line for call in calls for line in _lines(call, paint)] or ["no call waits for a person"]))
        return exits.OK
    check_person()
    seconds = _seconds(time_text)
    call = pending_call(code.upper(), state)
    write_pages(_lines(call, paint))
    what = f"To {'refuse' if deny else 'allow'} exactly this"
    if not confirmed(what, call.code[-4:], "its code's last four letters", state):
        write("nothing was done")
        return exits.FINDINGS
    answer(call, state, seconds=seconds, refused=deny)
    write(f"refused for {time_text}" if deny else f"allowed once, within {time_text}: have the agent try it again")
    return exits.OK


def _seconds(text: str) -> int:
    found = _TIME.fullmatch(text)
    if found is None:
        raise ConfigError(f"invalid duration {text!r}; use 90s, 10m or 2h")
    return int(found[1]) * _SECONDS[found[2]]


def _lines(call: PendingCall, paint: Painter) -> list[str]:
    minutes = (int(time.time()) - call.asked) // 60
    asked = "just now" if minutes < 1 else f"{counted(minutes, 'minute')} ago"
    lines = [
        f"{paint(call.code, bold=True)}  {plain(call.tool or 'command')} of {plain(call.host)}, {asked}",
        f"  in       {plain(call.cwd)}",
    ]
    for number, found in enumerate(call.findings):
        lines.append(
            f"  {'because' if number == 0 else '':<8} {plain(found.get('reason', ''))} [{plain(found.get('rule', ''))}]"
        )
    if not call.findings:
        lines.append(f"  because  {plain(_OFFER.sub('', call.reason))}")
    for name, value in call.fields.items():
        rows = _rows(value)
        lines += [f"  {plain(name):<8} {plain(rows[0])}", *(f"           {plain(row)}" for row in rows[1:])]
    for script in call.scripts:
        about = f"{script.get('bytes', 0):,} bytes, sha256 {str(script.get('sha256', ''))[:16]}"
        lines.append(
            f"  runs     {plain(str(script.get('path', '')))} ({about}): as it is now, asked again if it changes"
        )
    return lines


def _rows(value: Any) -> list[str]:
    """Return a parameter of any type, in full and as it is: what may run is not masked."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return text.splitlines() or [""]
