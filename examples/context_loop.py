"""Runs an agent's loop against a conversation written for it: assemble, estimate, prune, compact, as a host would.

For each request the system prompt is put together from a small project's memory, rules and candidates, the conversation
is pruned, and a snapshot is recorded that `tipstaff context list` shows. Nothing is sent anywhere. The recorded
conversation stands for what a model and its tools would answer; the window is made small so that pruning and compaction
are seen at work. With a folder as its argument it leaves its project there, to be looked at with `tipstaff context`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from tipstaff.context import (
    CandidateStore,
    CompactionConfig,
    ContextMonitor,
    RequestAssembler,
    TokenEstimator,
    check_budget,
    compact,
)

SYSTEM = "You are a careful engineer of the orchard shop."
CONSTITUTION = "Never log a customer's payment data. Ask before a migration is run."
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
CONFIG = CompactionConfig(context_window_tokens=6_000, max_output_tokens=1_000, protected_turns=2)


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
        "AGENTS.md": "The shop is in shop/, one file a part. All times are kept in UTC.\n",
        ".tipstaff/SOUL.md": "You are careful, and say what you did not check.\n",
        ".tipstaff/rules/shop.md": "---\npaths: ['shop/*.py']\n---\nTotals are integers of cents.\n",
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
    estimator = TokenEstimator("claude")
    monitor = ContextMonitor(CONFIG.context_window_tokens)
    with project(root) as store:
        requests = RequestAssembler(
            root, base=SYSTEM, config=CONFIG, tools=TOOLS, session_id="loop", candidates=store, monitor=monitor
        )
        for number, turn in enumerate(recorded(), 1):
            query = str(turn[0]["content"])
            for message in turn:
                history.append(message)
                if message["role"] != "user":
                    continue
                request = requests.assemble(query, history)
                if not request.pruned.fits:
                    prompt = request.system_prompt
                    done = compact(history, prompt, config=CONFIG, tools=TOOLS, pinned=(CONSTITUTION,))
                    before, after = done.original_tokens, done.compacted_tokens
                    show(f"turn {number:2}: compacted ({done.phase}): {before} -> {after} tokens")
                    monitor.record_compaction(before, after, done.phase)
                    history = list(done.messages)
                    request = requests.assemble(query, history)
                # Here a host would send request.system_prompt, TOOLS and request.messages.
            rule, fitted = (
                check_budget(
                    request.system_prompt,
                    TOOLS,
                    list(request.messages),
                    context_window=CONFIG.context_window_tokens,
                    max_output=CONFIG.max_output_tokens,
                    **counted,
                )
                for counted in ({}, {"count": estimator})
            )
            monitor.record_turn_complete(
                input_tokens=fitted.total_estimated, output_tokens=0, context_tokens=fitted.total_estimated
            )
            pruned = request.pruned
            parts = f", {len(pruned.parts)} parts pruned of {pruned.original_tokens} tokens" if pruned.applied else ""
            show(
                f"turn {number:2}: {rule.total_estimated} of {rule.available_tokens} tokens by the rule, "
                f"{fitted.total_estimated} by the fitted estimator{parts}"
            )
    for section in request.prompt.sections:
        if section.included:
            boosts = " ".join(f"+{boost.applied} {boost.reason}" for boost in section.boosts)
            show(
                f"  {section.key:24} {section.final_chars:5} characters, priority {section.priority} {boosts}".rstrip()
            )
    shown = ", ".join(request.candidate_ids) and "one candidate shown and in use"
    show(f"  stable beginning: {request.prompt.stable_chars} characters; {shown}; pressure {monitor.pressure_level}")


def show(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
