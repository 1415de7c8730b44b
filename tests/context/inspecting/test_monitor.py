from __future__ import annotations

import pytest

from tipstaff.context.inspecting.monitor import ContextMonitor, pressure_of
from tipstaff.errors import ConfigError


@pytest.mark.parametrize(
    ("tokens", "level"),
    [
        (0, "low"),
        (699, "low"),
        (700, "medium"),
        (849, "medium"),
        (850, "high"),
        (949, "high"),
        (950, "critical"),
        (2000, "critical"),
    ],
)
def test_pressure(tokens: int, level: str) -> None:
    assert pressure_of(tokens, 1000) == level
    monitor = ContextMonitor(1000)
    monitor.record_usage(tokens)
    assert monitor.pressure_level == monitor.state.pressure_level == level


def test_an_unknown_window_has_no_pressure() -> None:
    monitor = ContextMonitor(0)
    monitor.record_usage(10**9)
    assert monitor.pressure_level == "low"
    assert monitor.state.usage is None


def test_thresholds_can_be_set() -> None:
    monitor = ContextMonitor(100, thresholds=(0.1, 0.2, 0.3))
    monitor.record_usage(25)
    assert monitor.pressure_level == "high"


@pytest.mark.parametrize("thresholds", [(0.7, 0.7, 0.9), (0.9, 0.8, 0.95), (0.0, 0.5, 0.9)])
def test_thresholds_must_rise(thresholds: tuple[float, float, float]) -> None:
    with pytest.raises(ConfigError, match="rising"):
        ContextMonitor(1, thresholds=thresholds)
    with pytest.raises(ConfigError, match="0 or more"):
        ContextMonitor(-1)


def test_turns() -> None:
    monitor = ContextMonitor(1000)
    monitor.record_turn_complete(300, 20, 280)
    monitor.record_turn_complete(100, 10, None)
    monitor.record_turn_complete(-5, -5, 0)
    state = monitor.state
    assert (state.turn_count, state.total_input_tokens, state.total_output_tokens) == (3, 400, 30)
    assert monitor.current_context_tokens == monitor.peak_context_tokens == 280
    assert state.usage == 0.28


def test_compactions() -> None:
    monitor = ContextMonitor(1000)
    assert monitor.state.average_saved_tokens == 0
    monitor.record_compaction(900, 500, "PRUNED")
    monitor.record_compaction(800, 101, "\x1bSummarized\n")
    monitor.record_compaction(100, 200)
    monitor.record_compaction(-7, -9, "odd")
    state = monitor.state
    assert (monitor.compaction_count, state.pruned_count, state.summarized_count) == (4, 1, 1)
    assert (monitor.saved_tokens, state.last_saved_tokens, state.average_saved_tokens) == (1099, 0, 274)
    assert (monitor.peak_context_tokens, monitor.current_context_tokens, state.last_phase) == (900, 0, "odd")


def test_trend_and_samples() -> None:
    monitor = ContextMonitor(100_000)
    assert monitor.state.trend == "unknown"
    trends = []
    for tokens in (1_000, 1_000, 3_000, 5_001, 3_000, -4):
        monitor.record_usage(tokens)
        trends.append(monitor.state.trend)
    assert trends == ["unknown", "unknown", "stable", "rising", "falling", "falling"]
    assert monitor.state.samples == (1_000, 3_000, 5_001, 3_000, 0)
    for tokens in range(100):
        monitor.record_usage(tokens)
    assert monitor.state.samples == tuple(range(68, 100))
