"""What a session says of what is so now, once its conversation was shortened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tipstaff.context import ContextSession

TITLE = "What is so now"


class Loop:
    """One long turn: calls of a shell and their results."""

    def __init__(self, root: Path) -> None:
        self.session = ContextSession(
            root, model_window=12_000, max_output=1_000, git=None, memory=None, snapshots=None
        )
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": "Build the release."}]

    def call(self, command: str, output: str) -> str:
        request = self.session.request(self.messages)
        number = f"t{len(self.messages)}"
        content = [
            {"type": "text", "text": "Next."},
            {"type": "tool_use", "id": number, "name": "bash", "input": {"command": command}},
        ]
        self.session.record({"role": "assistant", "content": content})
        result = {"type": "tool_result", "tool_use_id": number, "content": output}
        self.messages += [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}]
        return json.dumps(request["messages"])

    def shortened(self) -> None:
        number = 0
        while not self.session.course.compactions:
            number += 1
            self.call(f"cat file_{number}.txt", f"line {number} of words\n" * 60)


@pytest.mark.parametrize(
    ("output", "given"),
    [("Process running with session ID 4242", True), ("<exited with exit code 0>", False)],
)
def test_what_is_left_running_is_said_within_the_turn(tmp_path: Path, output: str, given: bool) -> None:
    loop = Loop(tmp_path)
    loop.shortened()
    loop.call("make watch-everything", output)
    requests = [loop.call(f"cat more_{number}.txt", f"word {number} of many\n" * 40) for number in range(6)]
    assert (TITLE in requests[-1]) is given
    assert requests[-1].count(TITLE) <= 1, "what is the same is not said again"
    if given:
        assert "still running as 4242" in requests[-1].split(TITLE)[1]
