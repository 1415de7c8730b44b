"""Runs an agent's loop against a conversation written for it: estimate, prune, compact, as a host would.

Nothing is sent anywhere. The recorded conversation stands for what a model and its tools would answer; the window is
made small so that pruning and compaction are seen at work.
"""

from __future__ import annotations

import sys
from typing import Any

from tipstaff.context import (
    CompactionConfig,
    TokenEstimator,
    check_budget,
    compact,
    prune_for_request,
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


def main() -> None:
    """Show what each turn costs, and what is done about it."""
    history: list[dict[str, Any]] = []
    previous = None
    estimator = TokenEstimator("claude")
    for number, turn in enumerate(recorded(), 1):
        for message in turn:
            history.append(message)
            if message["role"] != "user":
                continue
            request = prune_for_request(history, SYSTEM, TOOLS, config=CONFIG, previous=previous)
            previous = request if request.applied else None
            if not request.fits:
                done = compact(history, SYSTEM, config=CONFIG, tools=TOOLS, pinned=(CONSTITUTION,))
                before, after = done.original_tokens, done.compacted_tokens
                show(f"turn {number:2}: compacted ({done.phase}): {before} -> {after} tokens")
                history, previous = list(done.messages), None
                request = prune_for_request(history, SYSTEM, TOOLS, config=CONFIG)
            # Here a host would send request.messages.
        check = check_budget(
            SYSTEM,
            TOOLS,
            list(request.messages),
            context_window=CONFIG.context_window_tokens,
            max_output=CONFIG.max_output_tokens,
        )
        fitted = check_budget(
            SYSTEM,
            TOOLS,
            list(request.messages),
            context_window=CONFIG.context_window_tokens,
            max_output=CONFIG.max_output_tokens,
            count=estimator,
        )
        pruned = f", {len(request.parts)} parts pruned of {request.original_tokens} tokens" if request.applied else ""
        show(
            f"turn {number:2}: {check.total_estimated} of {check.available_tokens} tokens by the rule, "
            f"{fitted.total_estimated} by the fitted estimator{pruned}"
        )


def show(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
