"""Runs an agent's loop against a conversation written for it, with a session that keeps it within its window.

Each request holds what a small project's rules, memory and candidates say, the conversation is shortened where it has
to be, and a snapshot is recorded that `tipstaff context list` shows. Nothing is sent anywhere. The recorded
conversation stands for what a model and its tools would answer; the window is made small so that compaction is seen at
work. With a folder as its argument it leaves its project there, to be looked at with `tipstaff context`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from tipstaff.context import CandidateStore, ContextSession

SYSTEM = "You are a careful engineer of the orchard shop."
TOOLS = [
    {
        "name": "Read",
        "description": "Reads a file.",
        "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}},
    },
    {
        "name": "Edit",
        "description": "Edits a file.",
        "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}},
    },
]
WINDOW, OUTPUT = 7_000, 1_000


def recorded() -> list[list[dict[str, Any]]]:
    """Return the conversation, turn by turn."""
    turns: list[list[dict[str, Any]]] = []
    for number, part in enumerate(("orders", "basket", "prices", "mail", "stock", "login", "search", "export") * 2):
        name, path = f"call-{number}", f"shop/{part}.py"
        source = "".join(f"def {part}_{i}(row):\n    return row.total * {i}\n\n" for i in range(60))
        turns.append(
            [
                {
                    "role": "user",
                    "content": f"Turn {number + 1}: the totals in {path} are wrong after midnight. Fix it.",
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": f"I read {path} first."},
                        {"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": path}},
                    ],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": source}]},
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "tool_use",
                            "id": f"{name}-edit",
                            "name": "Edit",
                            "input": {"file_path": path, "old": "row.total", "new": "row.total_utc"},
                        }
                    ],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"{name}-edit", "content": "ok"}]},
                {"role": "assistant", "content": f"Fixed {path}: we decided to count in UTC because days differ."},
            ]
        )
    return turns


def project(root: Path) -> CandidateStore:
    """Write a small project's memory and rules, and return a store with a candidate that was promoted."""
    for name, text in {
        "AGENTS.md": "# The shop\n\n- [SHOP-1] Never log payment data (critical)\n- Keep all times in UTC.\n",
        ".tipstaff/SOUL.md": "You are careful, and say what you did not check.\n",
        ".tipstaff/rules/shop.md": "---\npaths: ['shop/*.py']\n---\n- Keep totals as integers of cents.\n",
        ".tipstaff/memory/MEMORY.md": "shop/orders.py was rewritten last week.\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    store = CandidateStore(root / ".tipstaff" / "memory")
    for session in ("monday", "tuesday"):
        store.upsert(
            {"content": "Run the tests of one part before all of them", "score": 0.9, "success_delta": 1,
             "source_ref": session, "kind": "WORKFLOW"}
        )  # fmt: skip
    store.evaluate_all()
    return store


def main(root: Path) -> None:
    """Show what each turn costs, and what is done about it."""
    history: list[dict[str, Any]] = []
    window = {"model_window": WINDOW, "max_output": OUTPUT, "protected_turns": 2}
    with project(root) as store, ContextSession(
        root, base=SYSTEM, session_id="loop", candidates=store, **window
    ) as session:  # fmt: skip
        for number, turn in enumerate(recorded(), 1):
            for message in turn:
                if message["role"] == "assistant":
                    # Here a host would send the request that was made, and give the answer that came.
                    call = session.record({"role": "assistant", "content": blocks(message["content"])})
                    if call.broken_by and call.number > 1:
                        show(f"turn {number:2}: {call.broken_by}, {call.saved_tokens} tokens taken out")
                else:
                    session.request([*history, message], TOOLS)
                history.append(message)
            tokens = session.course.calls[-1].tokens
            show(f"turn {number:2}: {tokens} of {WINDOW - OUTPUT} tokens")
        report = session.report
    for section in report.sections if report is not None else ():
        if section.included:
            boosts = " ".join(f"+{boost.applied} {boost.reason}" for boost in section.boosts)
            show(
                f"  {section.key:24} {section.final_chars:5} characters, priority {section.priority} {boosts}".rstrip()
            )
    for rule in report.rules if report is not None else ():
        show(f"  {rule.place:8} {rule.line}: {rule.reason}")
    shown = len(report.injected_candidate_ids) if report is not None else 0
    show(f"  {shown} candidate shown and in use")


def blocks(content: Any) -> list[dict[str, Any]]:
    """Return a message's content as blocks."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def show(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
