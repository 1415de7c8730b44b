"""Keeps the rules in a Claude Agent SDK session across its compactions.

The SDK's host compacts by itself; a hook before that writes down what was done, and the next prompt brings the
constitution and those facts back. Needs ``pip install claude-agent-sdk``; without it, importing this file works and
running it says what is missing.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tipstaff.context import Facts, estimate_tokens, extract_facts

try:
    import claude_agent_sdk as sdk
except ImportError:
    sdk = None

MISSING = "this example needs the Claude Agent SDK: pip install claude-agent-sdk"
MOST_TOKENS = 2_000
"""What the facts may take of the prompt."""

CONSTITUTION = "Never log a customer's payment data. Ask before a migration is run."


class Keeper:
    """What is brought back after a compaction."""

    def __init__(self) -> None:
        self.facts = Facts()
        self.compacted = False

    async def before_compaction(self, event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """Write down what the session did, from its transcript."""
        del tool_use_id, context
        self.facts = self.facts.merged(extract_facts(read_transcript(Path(event.get("transcript_path") or ""))))
        self.compacted = True
        return {}

    async def on_prompt(self, event: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """Bring the constitution and the facts back with the first prompt after a compaction."""
        del event, tool_use_id, context
        if not self.compacted:
            return {}
        self.compacted = False
        added = "\n".join((CONSTITUTION, *self.facts.within(MOST_TOKENS, estimate_tokens).items()))
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": added}}


def read_transcript(path: Path) -> list[dict[str, Any]]:
    """Return the messages of a session's transcript, one JSON object a line; other lines are passed over.

    A host may not have written one yet, or may have moved it: then there is nothing to read.
    """
    messages: list[dict[str, Any]] = []
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return messages
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        message = entry.get("message") if isinstance(entry, dict) else None
        if isinstance(message, dict) and isinstance(message.get("content"), str | list):
            messages.append({"role": message.get("role"), "content": message["content"]})
    return messages


async def run(prompt: str) -> None:
    """Run one session with the hooks."""
    if sdk is None:
        raise SystemExit(MISSING)
    keeper = Keeper()
    options = sdk.ClaudeAgentOptions(
        system_prompt=CONSTITUTION,
        hooks={
            "PreCompact": [sdk.HookMatcher(hooks=[keeper.before_compaction])],
            "UserPromptSubmit": [sdk.HookMatcher(hooks=[keeper.on_prompt])],
        },
    )
    async for message in sdk.query(prompt=prompt, options=options):
        sys.stdout.write(f"{message}\n")


def main() -> None:
    """Run the prompt of the command line."""
    if sdk is None:
        raise SystemExit(MISSING)
    asyncio.run(run(" ".join(sys.argv[1:]) or "What does this repository do?"))


if __name__ == "__main__":
    main()
