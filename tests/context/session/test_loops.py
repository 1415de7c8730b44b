"""Sessions with the real SDKs against a local provider that refuses what the providers refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.context.session.loops import RUNS, run_anthropic, sent_text
from tests.context.session.scripts import CONSTRAINTS, FACTS, TOOLS, script
from tests.context.session.servers import Provider, served
from tipstaff.context import ContextSession, MemoryTiers, WindowOverflowError

WINDOW, OUTPUT, TURNS = 32_000, 4_000, 40


def session(root: Path, api: Any, **options: Any) -> ContextSession:
    given = {"model_window": WINDOW, "max_output": OUTPUT, "base": "You are careful. " * 40, "snapshots": None}
    return ContextSession(root, api=api, **(given | options))


@pytest.mark.parametrize("usage", [True, False])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("api", sorted(RUNS))
def test_a_session_breaks_no_rule_and_stays_within_its_window(
    api: str, whole: bool, usage: bool, tmp_path: Path
) -> None:
    (tmp_path / "AGENTS.md").write_text("All times are UTC.\n", encoding="utf-8")
    rules = tmp_path / ".tipstaff" / "rules"
    rules.mkdir(parents=True)
    (rules / "part.md").write_text(
        "---\npaths: ['src/app/part1/**']\n---\n- Keep part one special.\n", encoding="utf-8"
    )
    provider = Provider(WINDOW, OUTPUT, usage=usage)
    found = session(tmp_path, api)
    with served(provider) as url:
        RUNS[api](found, provider, url, script(3, TURNS, huge=usage), whole=whole)
    log = provider.log
    assert log.problems == []
    assert log.too_long == 0
    assert found.course.compactions >= 1
    assert log.share >= 0.93  # in a window of 32k each call adds more of the whole; 60k and 300 turns give 0.97
    assert log.cost <= 0.2
    text = sent_text(provider)
    assert [fact for fact in (*FACTS, *CONSTRAINTS) if fact not in text] == []
    reported = [call.tokens for call in found.course.calls if call.measured]
    assert reported == (log.tokens if usage else [])
    # A later session finds what was learned.
    memory = {tier.tier: tier.text for tier in MemoryTiers(tmp_path, home=tmp_path).load()}
    assert CONSTRAINTS[0] in memory["Auto-Memory"]


@pytest.mark.parametrize("api", sorted(RUNS))
def test_three_hundred_turns(api: str, tmp_path: Path) -> None:
    provider = Provider(WINDOW, OUTPUT)
    found = session(tmp_path, api)
    with served(provider) as url:
        RUNS[api](found, provider, url, script(8, 300, rounds=(0, 0, 1)))
    assert len(provider.log.tokens) > 380
    assert provider.log.problems == []
    assert provider.log.too_long == 0
    assert provider.log.share >= 0.95
    assert provider.log.cost <= 0.17
    assert [fact for fact in (*FACTS, *CONSTRAINTS) if fact not in sent_text(provider)] == []


def test_ten_compactions_lose_no_constraint(tmp_path: Path) -> None:
    provider = Provider(WINDOW, OUTPUT)
    found = session(tmp_path, "anthropic", memory=None)
    with served(provider) as url:
        run_anthropic(found, provider, url, script(5, 110))
    assert found.course.compactions >= 10
    assert provider.log.problems == []
    assert [fact for fact in (*FACTS, *CONSTRAINTS) if fact not in sent_text(provider)] == []


def test_what_cannot_fit_is_named(tmp_path: Path) -> None:
    found = session(tmp_path, "anthropic")
    with pytest.raises(WindowOverflowError, match=r"message 1 .user: 'word word") as caught:
        found.request([{"role": "user", "content": "word " * 60_000}], TOOLS)
    assert caught.value.excess_tokens > 0
    assert caught.value.parts[0].tokens > WINDOW - OUTPUT
    # The caller drops it and continues.
    assert found.request([{"role": "user", "content": "a shorter one"}], TOOLS)["messages"][0]["role"] == "user"


def test_a_result_larger_than_the_window_is_cut_and_says_so(tmp_path: Path) -> None:
    found = session(tmp_path, "anthropic")
    found.request([{"role": "user", "content": "read it"}], TOOLS)
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a"}}
    found.record({"content": [call], "usage": None})
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "line of the file\n" * 20_000}
    sent = found.request([{"role": "user", "content": [result]}], TOOLS)["messages"][-1]["content"][0]
    assert "did not fit into the window" in sent["content"]
    assert len(sent["content"]) < 4 * WINDOW
