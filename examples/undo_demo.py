"""An agent deletes three untracked files and a stash; `tipstaff undo` brings them back: what ``make demo`` runs.

Everything happens in a temporary folder: a repository, and a state folder beside it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

HOOK = Path(sysconfig.get_path("scripts")) / "tipstaff-hook"
SETUP = """
git init -q -b main . && git config user.name Demo && git config user.email demo@example.org
echo 'def total(prices): return sum(prices)' > prices.py && git add . && git commit -qm first
echo '# with a discount' >> prices.py && git stash push -q -m 'discount, half done'
echo 'ask Ines about rounding' > notes.md; echo 'day,orders' > orders.csv; echo 'KEY=value' > .env
"""
CALL = "rm notes.md orders.csv .env && git stash drop"


def main() -> int:
    """Tell the story; return 1 where it does not end well."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "shop")
        root.mkdir()
        environment = {**os.environ, "TIPSTAFF_STATE": str(Path(folder, "state"))}
        run = Shell(root, environment)
        run(SETUP)
        before = state(run)
        show("An agent's call:", CALL)
        event = {"hook_event_name": "PreToolUse", "session_id": "demo", "cwd": str(root), "tool_name": "Bash"}
        reply = run([str(HOOK)], json.dumps({**event, "tool_input": {"command": CALL}}))
        show("The hook looks, keeps what git does not have, and says:", said(reply))
        run(CALL)
        show("The files and the stash are gone:", state(run))
        show("tipstaff undo", run([sys.executable, "-m", "tipstaff.cli", "undo"]).replace(f"{root}/", ""))
        after = state(run)
        show("They are back:", after)
    return 0 if after == before else 1


class Shell:
    """Runs commands in a folder."""

    def __init__(self, root: Path, environment: dict[str, str]) -> None:
        self._root, self._environment = root, environment

    def __call__(self, command: str | list[str], given: str = "") -> str:
        """Return what a command, or a line of shell, prints."""
        words = ["sh", "-ec", command] if isinstance(command, str) else command
        done = subprocess.run(  # noqa: S603 - the words are ours
            words,
            cwd=self._root,
            env=self._environment,
            input=given,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return (done.stdout or done.stderr).strip()


def said(reply: str) -> str:
    """Return the decision of a hook's reply, and what it says."""
    if not reply:
        return "(nothing: the call runs)"
    found: dict[str, Any] = json.loads(reply)
    inner: dict[str, Any] = found.get("hookSpecificOutput", {})
    words = [inner.get("permissionDecision", ""), inner.get("permissionDecisionReason", "")]
    return "\n".join(filter(None, [*words, inner.get("additionalContext", ""), found.get("systemMessage", "")]))


def state(run: Shell) -> str:
    """Return what is in the folder, and the stashes."""
    return run("ls -A | grep -vx .git; cat notes.md orders.csv .env 2>/dev/null || true; git stash list")


def show(title: str, text: str) -> None:
    """Print a step of the story."""
    sys.stdout.write(f"\n{title}\n" + "".join(f"  | {line}\n" for line in text.splitlines()))


if __name__ == "__main__":
    sys.exit(main())
