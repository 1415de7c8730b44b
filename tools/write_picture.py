"""Draws the picture at the top of README from what the hook really answers: ``python -m tools.write_picture``.

The agent's part is written down here; each line of tipstaff is taken out of the hook's reply to that event.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
PICTURE: Final = REPOSITORY / "docs" / "first-minute.svg"
PROMPT: Final = "Fix the delivery day that is wrong around midnight"
EDIT: Final = 'today = datetime.now(ZoneInfo("Europe/Paris")).date()'
COMMAND: Final = 'cd .. && rm -rf "$BUILD_DIR"/*'
SHOWN_RULES: Final = 2
_RULE: Final = re.compile(r"^- \[([\w-]+)\] ([^@]+?) @.*\(meaning [\d.]+; ([^)]+)\)$", re.MULTILINE)
_REASON: Final = re.compile(r"^(?P<why>.*?\.) \[(?P<rule>[\w.-]+)\] in `.*?`\. Safer: (?P<safer>[^;.]+)")
_COLOURS: Final = {
    "person": "#9ecbff",
    "agent": "#d2a8ff",
    "tipstaff": "#7ee787",
    "block": "#ff7b72",
    "text": "#c9d1d9",
    "dim": "#8b949e",
}
_LINE: Final = 24
_WIDTH: Final = 880


def hook_replies() -> tuple[str, str]:
    """Return what the hook hands to the model with the prompt, and why it stops the command."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "orchard"
        shutil.copytree(REPOSITORY / "examples" / "orchard", repository)
        (repository / ".git").mkdir()
        environment = {**os.environ, "TIPSTAFF_STATE": f"{folder}/state", "HOME": folder, "NO_COLOR": "1"}
        words = [sys.executable, "-m", "tipstaff.cli", "install", "--host", "claude", "-C", str(repository)]
        subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL, cwd=repository)

        def answer(**event: Any) -> dict[str, Any]:
            from tipstaff.hosts.host import hook_program

            document = {"session_id": "s", "transcript_path": None, "cwd": str(repository), **event}
            done = subprocess.run(
                [str(hook_program()), "--host", "claude"],
                input=json.dumps(document), capture_output=True, text=True, env=environment, check=True,
            )  # fmt: skip
            found: dict[str, Any] = json.loads(done.stdout)["hookSpecificOutput"]
            return found

        rules = answer(hook_event_name="UserPromptSubmit", prompt=PROMPT)["additionalContext"]
        call = answer(hook_event_name="PreToolUse", tool_name="Bash", tool_input={"command": COMMAND})
        assert call["permissionDecision"] == "deny", call
        return rules, call["permissionDecisionReason"]


def lines(rules: str, reason: str) -> list[list[tuple[str, str]]]:
    """Return the lines of the picture: texts, each with the name of its colour."""
    found = [match.groups() for match in _RULE.finditer(rules)]
    shown = [one for one in found if one[0].startswith(("ORD", "TST"))][:SHOWN_RULES]
    why = _REASON.match(reason)
    if len(shown) < SHOWN_RULES or why is None:
        raise ValueError(f"the hook answers in other words: {rules[:200]!r}, {reason!r}")
    return [
        [("you       ", "person"), (PROMPT, "text")],
        [("tipstaff  ", "tipstaff"), ("hands the rules for this task to the agent", "dim")],
        *(
            [("          ", "dim"), (f"{name} {text}", "tipstaff"), (f"  {place}", "dim")]
            for name, text, place in shown
        ),
        [("agent     ", "agent"), ("edits api/orders.py   ", "dim"), (EDIT, "text")],
        [],
        [("agent     ", "agent"), ("runs   ", "dim"), (COMMAND, "text")],
        [("tipstaff  ", "block"), ("blocks it before it runs", "block")],
        [("          ", "dim"), (why["why"], "text")],
        [("          ", "dim"), (f"Safer: {why['safer'].strip()}.", "text"), (f"  {why['rule']}", "dim")],
    ]


def svg(drawn: list[list[tuple[str, str]]]) -> str:
    """Return the picture."""
    height = _LINE * len(drawn) + 36
    rows: list[str] = []
    for number, row in enumerate(drawn):
        spans = "".join(f'<tspan fill="{_COLOURS[colour]}">{escape(text)}</tspan>' for text, colour in row)
        rows.append(f'<text x="20" y="{34 + number * _LINE}" xml:space="preserve">{spans}</text>')
    style = "font-family=\"ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\""
    frame = f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="#0d1117"/>'
    title = "<title>A rule that is followed, and a command that is blocked before it runs</title>"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" {style}>'
    return "\n".join([head, title, frame, *rows, "</svg>", ""])


def main() -> None:
    """Write the picture."""
    PICTURE.write_text(svg(lines(*hook_replies())), encoding="utf-8")


if __name__ == "__main__":
    main()
