"""When a session's conversation is shortened, and what is cut where that was not enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tipstaff.context.session.apis import wire_of
from tipstaff.context.session.fitting import Meter, WindowFitter, WindowOverflowError
from tipstaff.context.session.state import SessionState
from tipstaff.context.shortening.preamble import CompactionConfig
from tipstaff.context.tokens.estimator import TokenEstimator

CONFIG = CompactionConfig(10_000, 1_000)


def fitter(
    *messages: Mapping[str, Any], count_request: Callable[[Mapping[str, Any]], int] | None = None
) -> tuple[WindowFitter, SessionState]:
    """Return a fitter for a session that begins with these messages, and the session's state."""
    wire = wire_of("anthropic")
    meter = Meter(TokenEstimator(wire.vocabulary))
    state = SessionState(wire, meter)
    state.take(messages)
    return WindowFitter(CONFIG, meter, state, count_request, None), state


def user(words: int) -> dict[str, Any]:
    return {"role": "user", "content": "several words " * words}


def with_result(words: int) -> list[dict[str, Any]]:
    """Return a conversation with one result of a tool."""
    return [
        user(1),
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c", "content": "one more line\n" * words}],
        },
    ]


def test_it_is_due_near_the_windows_end() -> None:
    assert not fitter(user(100))[0].is_due(dict)
    assert fitter(user(8_000))[0].is_due(dict)


def test_the_provider_is_asked_only_near_the_end_and_believed() -> None:
    asked: list[Mapping[str, Any]] = []

    def count(arguments: Mapping[str, Any]) -> int:
        asked.append(arguments)
        return 4_000

    assert not fitter(user(100), count_request=count)[0].is_due(dict)
    assert asked == []
    assert not fitter(user(4_600), count_request=count)[0].is_due(lambda: {"max_tokens": 1})
    assert asked == [{"max_tokens": 1}]


def test_what_could_not_be_shortened_is_tried_again_only_after_it_grew() -> None:
    fit, state = fitter(user(3_200))
    assert fit.is_due(dict)
    fit.cut_results(state.estimate())
    assert state.stuck_at > CONFIG.trigger_tokens
    assert not fit.is_due(dict)
    state.answered({"role": "assistant", "content": "more words " * 300})
    assert fit.is_due(dict)


def test_results_are_cut_until_the_request_fits() -> None:
    fit, state = fitter(*with_result(8_000))
    before = state.estimate()
    fit.cut_results(before)
    assert state.estimate() < CONFIG.effective_window_tokens
    assert state.saved == before - state.estimate()
    assert "characters left out" in str(state.view.messages[-1])
    assert "characters left out" not in str(state.log[-1])


def test_what_may_not_be_cut_is_an_error() -> None:
    fit, state = fitter(user(20_000))
    with pytest.raises(WindowOverflowError, match="drop or shorten the largest parts: message 1"):
        fit.cut_results(state.estimate())
