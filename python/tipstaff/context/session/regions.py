"""A session's next request as a window in regions: how full each is, and what would leave it first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tipstaff.context.conversation.messages import blocks_of
from tipstaff.context.session.apis.wire import delivery_of
from tipstaff.context.session.meter import Meter
from tipstaff.context.session.view import View
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.preamble import read_preamble
from tipstaff.context.shortening.window import ContextWindow


def filled_window(config: CompactionConfig, meter: Meter, fixed_tokens: int, view: View) -> ContextWindow:
    """Return a window that holds a request.

    Parameters
    ----------
    config
        Window, headroom for the answer, threshold.
    meter
        Estimates are scaled by what the provider measured.
    fixed_tokens
        Estimate for the system prompt and the tools.
    view
        The conversation as it is sent. What a compaction left is compacted history, context that the session added is
        hydrated context, a message of nothing but results belongs to the results; each answer begins an iteration.
    """
    window = ContextWindow(config.context_window_tokens, config.max_output_tokens, config.compaction_threshold)
    window.add("system_prompt", tokens=round(fixed_tokens * meter.ratio))
    carried = read_preamble(view.messages).size
    for index, (message, cost) in enumerate(zip(view.messages, view.costs, strict=True)):
        if message.get("role") == "assistant" and index:
            window.advance()
        left, blocks = cost, blocks_of(message)
        added = [block for block in blocks if delivery_of(block)]
        if added:
            context: dict[str, Any] = {"role": "user", "content": added}
            tokens = min(left, meter.message(context))
            window.add("hydrated_context", context, tokens=round(tokens * meter.ratio))
            left -= tokens
            blocks = [block for block in blocks if not delivery_of(block)]
        if blocks:
            sent: Mapping[str, Any] = {**message, "content": blocks} if added else message
            results = all(block.get("type") == "tool_result" for block in blocks)
            region = "compacted_history" if index < carried else "tool_results" if results else "recent_history"
            window.add(region, sent, tokens=round(left * meter.ratio))
    return window
