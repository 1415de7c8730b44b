"""A request that fails was never made: the session continues as one that never saw it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tipstaff.context import ContextSession, MessageError, WindowOverflowError

PROMPT = {"role": "user", "content": "fix `total` in shop/orders.py"}
ANSWER: dict[str, Any] = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
WAITING = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "Edit", "input": {"path": "a.py"}}]}
EDIT, BASH = (
    {"name": name, "description": f"The tool {name}.", "input_schema": {"type": "object", "properties": {}}}
    for name in ("Edit", "Bash")
)
REFUSED: tuple[tuple[type[Exception], list[dict[str, Any]]], ...] = (
    (MessageError, [PROMPT, ANSWER, PROMPT, WAITING]),
    (WindowOverflowError, [PROMPT, ANSWER, {"role": "user", "content": "several words " * 40_000}]),
)


def session(root: Path) -> ContextSession:
    return ContextSession(root, api="anthropic", model_window=16_000, max_output=2_000, git=None, snapshots=None)


@pytest.fixture(params=REFUSED, ids=["open call", "overflow"])
def refuse(request: pytest.FixtureRequest) -> Callable[[ContextSession], None]:
    """Make a request with other tools that the session refuses."""
    error, messages = request.param

    def fail(found: ContextSession) -> None:
        with pytest.raises(error):
            found.request(messages, [EDIT, BASH], sections={"rules": "Other rules."})

    return fail


def names(arguments: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in arguments.get("tools", ())]


def test_the_tools_of_a_refused_request_are_not_kept(tmp_path: Path, refuse: Callable[[ContextSession], None]) -> None:
    refused, other = session(tmp_path), session(tmp_path)
    for found in (refused, other):
        assert names(found.request([PROMPT], [EDIT])) == ["Edit"]
        found.record(ANSWER)
    refuse(refused)
    following = [PROMPT, ANSWER, {"role": "user", "content": "and the tests"}]
    expected = other.request(following, [EDIT])
    assert refused.request(following, [EDIT]) == expected
    assert names(expected) == ["Edit"]
    for found in (refused, other):
        found.record(ANSWER)
    # The prefix that the provider has cached is still the one that was sent.
    assert refused.course.calls == other.course.calls


def test_the_tools_of_a_refused_first_request_are_not_kept(
    tmp_path: Path, refuse: Callable[[ContextSession], None]
) -> None:
    found = session(tmp_path)
    refuse(found)
    assert found.request([PROMPT]) == session(tmp_path).request([PROMPT])


def test_tools_that_were_refused_once_are_taken_when_they_come_again(
    tmp_path: Path, refuse: Callable[[ContextSession], None]
) -> None:
    found = session(tmp_path)
    found.request([PROMPT], [EDIT])
    found.record(ANSWER)
    refuse(found)
    assert names(found.request([PROMPT, ANSWER, PROMPT], [EDIT, BASH])) == ["Edit", "Bash"]
