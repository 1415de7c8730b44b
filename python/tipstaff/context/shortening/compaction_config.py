"""When a conversation is pruned or compacted, and down to what."""

from __future__ import annotations

from tipstaff.errors import ConfigError
from tipstaff.model import Record


class CompactionConfig(Record, frozen=True):
    """When a conversation is pruned or compacted, and down to what.

    Attributes
    ----------
    context_window_tokens, max_output_tokens
        The model's window, and what of it is kept for the answer.
    system_prompt_tokens
        What of the window is set apart for the system prompt; the prompt is then not counted a second time.
    compaction_threshold, prune_target
        Shares of the effective window: what sets it off, and what is aimed at.
    protected_turns
        As many of the user's last turns are kept.

    Raises
    ------
    ConfigError
        If a value lies outside its range.
    """

    context_window_tokens: int = 200_000
    max_output_tokens: int = 16_384
    system_prompt_tokens: int = 0
    compaction_threshold: float = 0.85
    prune_target: float = 0.60
    protected_turns: int = 5

    def __post_init__(self) -> None:
        for name in ("context_window_tokens", "max_output_tokens", "system_prompt_tokens", "protected_turns"):
            value: object = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                msg = f"{name}: expected a whole number, 0 or more, got {value!r}"
                raise ConfigError(msg)
        if self.context_window_tokens == 0 or self.max_output_tokens >= self.context_window_tokens:
            msg = (
                f"max_output_tokens: expected less than the window of {self.context_window_tokens} tokens, "
                f"got {self.max_output_tokens}"
            )
            raise ConfigError(msg)
        if not 0 < self.compaction_threshold <= 1:
            msg = f"compaction_threshold: expected a share above 0, at most 1, got {self.compaction_threshold!r}"
            raise ConfigError(msg)
        if not 0 < self.prune_target < self.compaction_threshold:
            msg = f"prune_target: expected a share above 0, below the threshold, got {self.prune_target!r}"
            raise ConfigError(msg)

    @property
    def effective_window_tokens(self) -> int:
        """What is left of the window for tools and messages, and for a prompt nothing was set apart for."""
        return max(0, self.context_window_tokens - self.max_output_tokens - self.system_prompt_tokens)

    @property
    def trigger_tokens(self) -> int:
        """Pruning and compaction begin above this."""
        return int(self.effective_window_tokens * self.compaction_threshold)

    @property
    def prune_target_tokens(self) -> int:
        """They end at or below this."""
        return int(self.effective_window_tokens * self.prune_target)
