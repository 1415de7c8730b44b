"""Whether a person is there: at a terminal of their own, and no agent between them and this command."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from tipstaff.errors import ConfigError

AGENT_MARKS: Final = (
    "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "GEMINI_CLI",
    "CURSOR_AGENT", "COPILOT_AGENT", "QWEN_CODE", "OPENCODE",
)  # fmt: skip
"""What hosts set in the environment of the commands that their agents run."""

_MOST_ANCESTORS: Final = 64


def why_no_person() -> str:
    """Return why nobody can be asked here, empty where a person can."""
    if marks := [name for name in AGENT_MARKS if os.environ.get(name)]:
        return f"this is the terminal of an agent ({marks[0]} is set): a person answers in a terminal of their own"
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return "a person must answer, in a terminal: standard input or output is not a terminal"
    if (mark := _mark_above()) is not None:
        return f"an agent started this command ({mark} is set above it): a person answers in a terminal of their own"
    return ""


def check_person() -> None:
    """Raise where nobody can be asked.

    Raises
    ------
    ConfigError
        There is an agent's mark, or no terminal.
    """
    if why := why_no_person():
        raise ConfigError(why)


def confirmed(what: str, word: str, named: str, state: Path) -> bool:
    """Return whether a person confirms what is signed next, by their passphrase; by a word where they have none.

    Parameters
    ----------
    what
        What is confirmed: ``To allow exactly this``.
    word, named
        The word, and how it is asked for.
    state
        The state folder.

    Raises
    ------
    ConfigError
        It is another passphrase.
    """
    import click

    from tipstaff.store.signing import has_signer, unlock

    check_person()
    if not has_signer(state):
        answer: str = click.prompt(f"{what}, type {named}", default="", show_default=False)
        return answer.strip().lower() == word.lower()
    passphrase: str = click.prompt(f"{what}, type your passphrase", default="", show_default=False, hide_input=True)
    if passphrase:
        unlock(state, passphrase)
    return bool(passphrase)


def _mark_above() -> str | None:
    """Return an agent's mark in the environment of a process above this one in its session, None where there is none.

    Whoever clears the environment of a command (``env -i``) does not clear that of the shell which starts it.
    """
    session = os.getsid(0) if hasattr(os, "getsid") else 0
    process = os.getppid()
    for _ in range(_MOST_ANCESTORS):
        try:
            fields = (
                Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            )
            if int(fields[3]) != session:
                return None
            entries = Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
        except (OSError, ValueError, IndexError):
            return None
        names = {entry.partition(b"=")[0].decode("ascii", "replace") for entry in entries if entry.partition(b"=")[2]}
        if found := [mark for mark in AGENT_MARKS if mark in names]:
            return found[0]
        process = int(fields[1])
    return None
