"""A session's request as a window in regions: every token in one of them, pairs of calls and results together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tipstaff.context.session.session import ContextSession

TOOLS = [{"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}]


def session(root: Path, **options: Any) -> ContextSession:
    return ContextSession(root, base="You are an agent.", git=None, snapshots=None, memory=None, **options)


def exchange(number: int, size: int) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": f"c{number}", "name": "read", "input": {"path": f"f{number}.py"}}
    result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"line {number}\n" * size}
    return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def test_every_part_of_a_request_is_in_one_region(tmp_path: Path) -> None:
    agent = session(tmp_path, model_window=50_000, max_output=6_400)
    messages = [{"role": "user", "content": "Read them."}, *exchange(1, 200), *exchange(2, 300)]
    agent.request(messages, TOOLS, sections={"rules": "Never guess. " * 20})
    window = agent.window()
    held = window.region_tokens()
    assert (window.limit, window.headroom, window.iteration) == (50_000, 6_400, 3)
    assert all(held[region] > 0 for region in ("system_prompt", "hydrated_context", "recent_history", "tool_results"))
    assert held["tool_results"] > held["recent_history"]
    assert window.total == sum(held.values())
    total = window.total
    gone = window.evict(total - 1)
    assert len(gone) == 2  # the oldest result with its call
    left = [entry.links for entry in window.entries() if entry.links]
    assert left == [frozenset({"c2"}), frozenset({"c2"})]
    agent.record({"role": "assistant", "content": "Done."})
    assert total == pytest.approx(agent.course.calls[-1].tokens, rel=0.01)


def test_results_expire_with_the_iterations_of_the_session(tmp_path: Path) -> None:
    agent = session(tmp_path, model_window=100_000)
    messages = [{"role": "user", "content": "Read them."}]
    for number in range(8):
        messages += exchange(number, 20)
    agent.request(messages, TOOLS)
    window = agent.window()
    window.gc()
    expected = {f"c{number}" for number in range(4, 8)}
    assert {link for entry in window.entries() for link in entry.links} == expected


def test_what_a_compaction_left_is_compacted_history(tmp_path: Path) -> None:
    agent = session(tmp_path, model_window=12_000, max_output=2_000, protected_turns=1)
    assert not agent.window().should_compact
    messages: list[dict[str, Any]] = []
    highest = 0.0
    for number in range(40):
        messages += [{"role": "user", "content": f"Decision {number}: we keep the cents. " * 12}]
        agent.request(messages, TOOLS)
        highest = max(highest, float(agent.window().utilization))
        messages.append({"role": "assistant", "content": f"Understood, I keep decision {number}. " * 12})
        agent.record({"role": "assistant", "content": messages[-1]["content"]})
    assert agent.window().region_tokens()["compacted_history"] > 0
    assert highest <= 1
