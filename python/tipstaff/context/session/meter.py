"""What a session's requests cost, in the provider's own tokens: estimated, and corrected by what it reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tipstaff.context.conversation.messages import Message
from tipstaff.context.tokens.counting import (
    TextCounter,
    estimate_message,
    estimate_system_prompt,
    estimate_tools,
    usage_tokens,
)

UNMEASURED: Final = 1.25
"""As long as a provider has reported nothing its requests count for this many times the estimate: an estimator of
another vocabulary may be off by so much, and a request over the window is refused."""

_LEAST, _MOST = 0.4, 4.0
_SPARE: Final = 0.015


class Meter:
    """Tokens of one session.

    Parameters
    ----------
    count
        Counter of texts.

    Attributes
    ----------
    count
        The counter.
    ratio
        What the provider measured over what was estimated; 1 before its first report.
    measured
        Whether it has reported anything.
    """

    def __init__(self, count: TextCounter) -> None:
        self.count = count
        self.ratio = 1.0
        self.measured = False
        self._tokens = 0
        self._estimate = 0
        self._fixed: dict[str, int] = {}

    def message(self, message: Message) -> int:
        """Return the estimate for a message."""
        return estimate_message(message, count=self.count)

    def fixed(self, system: str, tools: list[dict[str, Any]], tools_key: str) -> int:
        """Return the estimate for system prompt and tools."""
        if system not in self._fixed:
            self._fixed = {name: size for name, size in self._fixed.items() if name == tools_key}
            self._fixed[system] = estimate_system_prompt(system, count=self.count)
        if tools_key not in self._fixed:
            self._fixed[tools_key] = estimate_tools(tools, count=self.count)
        return self._fixed[system] + self._fixed[tools_key]

    def tokens(self, estimate: int) -> int:
        """Return what a request of this estimate takes, on the safe side."""
        if not self.measured:
            return int(estimate * UNMEASURED)
        return int(self._tokens + (estimate - self._estimate) * self.ratio + estimate * _SPARE)

    def likely(self, estimate: int) -> int:
        """Return what a request of this estimate takes."""
        return int(self._tokens + (estimate - self._estimate) * self.ratio) if self.measured else estimate

    def estimate_of(self, tokens: int) -> int:
        """Return the estimate of a request that takes so many tokens."""
        return int(tokens / UNMEASURED) if not self.measured else int(tokens / (self.ratio * (1 + _SPARE)))

    def counter(self) -> TextCounter:
        """Return a counter of texts in the provider's tokens, on the safe side."""
        count, factor = self.count, self.ratio * (1 + _SPARE) if self.measured else UNMEASURED

        def scaled(text: str) -> int:
            return round(count(text) * factor)

        return scaled

    def saved(self) -> tuple[float, bool, int, int]:
        """Return what `resume` takes."""
        return self.ratio, self.measured, self._tokens, self._estimate

    def resume(self, saved: tuple[float, bool, int, int]) -> None:
        """Become what was saved."""
        self.ratio, self.measured, self._tokens, self._estimate = saved

    def take(self, usage: Mapping[str, Any] | None, estimate: int) -> int | None:
        """Take a report of the request that was estimated so; return its tokens, None where there is none."""
        tokens = usage_tokens(usage) if usage else 0
        # A report of next to nothing is a server that does not count.
        if tokens <= 0 or estimate <= 0 or not _LEAST <= tokens / estimate <= _MOST:
            return None
        self.ratio = tokens / estimate
        self.measured, self._tokens, self._estimate = True, tokens, estimate
        return tokens
