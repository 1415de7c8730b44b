"""A request to look at: sections of every kind, one cut, two of one key."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tipstaff.context.candidates.injection import CandidateSection
from tipstaff.context.inspecting.snapshot import ContextSnapshot, LiveFigures, take_snapshot
from tipstaff.context.prompt.assembly import ContextAssemblyPlan
from tipstaff.context.prompt.sections import PriorityBoost, SystemPromptBudget

FOCUS = SimpleNamespace(
    query_summary="fix the streaming bug",
    active_file_paths=("src/loop.py", "src/a.py", "src/b.py", "src/c.py"),
    active_symbols=("StreamingLoop",),
    plan_signals=("code change requested",),
)
LINES = ('- "prefer fast search" (confidence 0.90, evidence 2)', '- "run tests" (confidence 0.80, evidence 2)')
CANDIDATES = CandidateSection(
    text="## Learned Strategies\n\n" + "\n".join(LINES) + "\n",
    candidate_ids=("cand-1", "cand-2"),
    left_out=(),
    tokens=30,
    lines=LINES,
)


def request(session_id: str = "s1", *, extra: str = "", **options: Any) -> ContextSnapshot:
    """Return a snapshot."""
    plan = (
        ContextAssemblyPlan()
        .add_section("memory:Soul", "Be exact. " * 10, 100, True)
        .add_section("base", "You are an agent. " * 20, 95, True)
        .add_section(
            "memory:Workspace Memory",
            "Workspace facts. " * 200 + extra,
            80,
            base_priority=70,
            boosts=(PriorityBoost("symbol", 16, 10, "StreamingLoop"),),
        )
        .add_section("memory:Auto-Memory", "Learned. " * 10, 60)
        .add_section("rules", "First rules.", 88)
        .add_section("rules", "Second \x1b[31mrules\x07.", 88)
        .add_section("git", "", 40)
        .add_section("candidates", CANDIDATES.text, 54)
    )
    return take_snapshot(
        plan.build(SystemPromptBudget(2_000, 50_000)),
        **{
            "session_id": session_id,
            "context_window": 128_000,
            "max_output": 8_000,
            "focus": FOCUS,
            "candidates": CANDIDATES,
            "tool_tokens": 4_000,
            "message_tokens": 60_000,
            "messages": [{"role": "user", "content": "hello"}] * 12,
            "live": LiveFigures(current_context_tokens=112_000, peak_context_tokens=112_000),
            **options,
        },
    )
