"""When a conversation is shortened so that its request stays within the model's window, and what is cut after that.

Requests are counted by estimates, corrected by what the provider reports.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tipstaff.context.conversation.messages import Message, text_of
from tipstaff.context.session.view import View
from tipstaff.context.shortening.preamble import CompactionConfig
from tipstaff.context.shortening.pruning import Reference, shortened_results
from tipstaff.context.tokens.counting import (
    TextCounter,
    estimate_message,
    estimate_system_prompt,
    estimate_tools,
    usage_tokens,
)
from tipstaff.errors import TipstaffError
from tipstaff.model import Record

if TYPE_CHECKING:
    from tipstaff.context.session.state import SessionState

UNMEASURED: Final = 1.25
"""As long as a provider has reported nothing its requests count for this many times the estimate: an estimator of
another vocabulary may be off by so much, and a request over the window is refused."""

_LEAST, _MOST = 0.4, 4.0
_SPARE: Final = 0.015


class Meter:
    """Tokens of one session.

    `ratio` is what the provider measured over what was estimated, 1 before its first report.
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


_LARGEST_PARTS: Final = 4


class OversizedPart(Record, frozen=True):
    """One part of a request that does not fit, such as ``system prompt``, ``tools`` or ``message 12 (user: "...")``."""

    what: str
    tokens: int


class WindowOverflowError(TipstaffError, ValueError):
    """A request does not fit although everything that may be left out is.

    `parts` are the largest ones, the largest first: what to drop or to shorten.
    """

    def __init__(self, needed: int, available: int, parts: tuple[OversizedPart, ...]) -> None:
        self.needed_tokens = needed
        self.available_tokens = available
        self.excess_tokens = needed - available
        self.parts = parts
        named = "; ".join(f"{part.what}: {part.tokens:,}" for part in parts)
        super().__init__(
            f"the request takes {needed:,} tokens, {self.excess_tokens:,} more than the {available:,} that the window "
            f"has beside the answer; drop or shorten the largest parts: {named}"
        )


def shorten_results(view: View, meter: Meter, estimate: int, target: int, reference: Reference | None) -> None:
    """Shorten the largest results of a view until its request, estimated so, takes `target` tokens of the provider."""
    excess = estimate - meter.estimate_of(target)
    shorter = shortened_results(view.messages, excess, count=meter.count, reference=reference)
    for index, (message, found) in enumerate(zip(view.messages.copy(), shorter, strict=True)):
        if found is not message:
            # Notes of the shape belong to the message as it was.
            view.replace(index, {"role": found["role"], "content": found["content"]})


def overflow_of(view: View, meter: Meter, system: int, tools: int, available: int) -> WindowOverflowError:
    """Return the error for a request that does not fit, with estimates of the system prompt and of the tools."""
    ratio = meter.ratio
    parts = [OversizedPart("system prompt", int(system * ratio)), OversizedPart("tools", int(tools * ratio))]
    for origin, message, cost in zip(view.origins, view.messages, view.costs, strict=True):
        excerpt = " ".join(text_of(message.get("content")).split())[:60]
        parts.append(OversizedPart(f"message {origin + 1} ({message.get('role')}: {excerpt!r})", int(cost * ratio)))
    parts.sort(key=lambda part: -part.tokens)
    needed = max(meter.likely(system + tools + view.tokens), available + 1)
    return WindowOverflowError(needed, available, tuple(parts[:_LARGEST_PARTS]))


_RETRY_SHARE: Final = 0.03
_RESULT_SHARES: Final = (1.0, 0.5, 0.25)
_UNMEASURED: Final = 1.1


_WINDOW: Final = re.compile(
    r"> ?(\d[\d,_]{3,}) ?(?:tokens|maximum)|(?:maximum|limit|at most|allowed|window)\D{0,60}?(\d[\d,_]{3,})",
    re.IGNORECASE,
)
_TAKEN: Final = re.compile(
    r"(\d[\d,_]{3,})(?: tokens)? ?>|(?:resulted in|requested|has|contains|is|length of|counts? of)"
    r"\D{0,30}?(\d[\d,_]{3,}) ?(?:input )?tokens",
    re.IGNORECASE,
)
_SUM: Final = re.compile(r"(\d[\d,_]{3,}) ?\+ ?(\d[\d,_]{2,}) ?> ?(\d[\d,_]{3,})")
_SMALLER: Final = 0.85


def window_in(words: str, likely: int, config: CompactionConfig) -> tuple[int, int]:
    """Return the window that a provider's refusal names, and what it says that the request took; 0 for the latter.

    `likely` is what the request took by estimate. A window that is no smaller than the session assumes is not
    believed.
    """
    if (match := _SUM.search(words)) is not None:
        taken, _, window = (int(re.sub(r"\D", "", one)) for one in match.groups())
    else:
        window = next(iter(_numbers(_WINDOW, words)), 0)
        taken = next((one for one in _numbers(_TAKEN, words) if one != window), 0)
    if not _LEAST_WINDOW <= window < config.context_window_tokens:
        # It counts otherwise than was estimated, or does not say: less than was sent is certain.
        known = window == config.context_window_tokens and taken > 0
        window = window if known else max(_LEAST_WINDOW, int(min(likely, config.context_window_tokens) * _SMALLER))
    return window, taken


def _numbers(pattern: re.Pattern[str], words: str) -> list[int]:
    return [int(re.sub(r"\D", "", one)) for match in pattern.finditer(words) for one in match.groups() if one]


_LEAST_WINDOW: Final = 2_000


class WindowFitter:
    """Keeps the requests of a session within the model's window; changes the view of its state.

    `count_request` returns the tokens of a call's arguments as the provider counts them.
    """

    def __init__(
        self,
        config: CompactionConfig,
        meter: Meter,
        state: SessionState,
        count_request: Callable[[Mapping[str, Any]], int] | None,
        reference: Reference | None,
    ) -> None:
        self.config = config
        self._meter = meter
        self._state = state
        self._count_request = count_request
        self._reference = reference

    def is_due(self, arguments: Callable[[], Mapping[str, Any]]) -> bool:
        """Return whether the next request, with these arguments, is so near the window's end that it is shortened."""
        available, trigger = self.config.effective_window_tokens, self.config.trigger_tokens
        needed = self._meter.tokens(self._state.estimate())
        if needed <= trigger:
            return False
        if needed <= available and needed <= self._state.stuck_at + int(available * _RETRY_SHARE):
            return False
        if self._count_request is not None:
            measured = self._count_request(arguments())
            self._meter.take({"input_tokens": measured}, self._state.estimate())
            return self._meter.tokens(self._state.estimate()) > trigger
        return True

    def cut_results(self, before: int) -> None:
        """Shorten the largest results where a shortened conversation, estimated so `before`, still does not fit.

        Raises `WindowOverflowError` if that is not enough.
        """
        state, meter, available = self._state, self._meter, self.config.effective_window_tokens
        for share in _RESULT_SHARES:
            if meter.tokens(state.estimate()) <= available:
                break
            shorten_results(state.view, meter, state.estimate(), int(available * share), self._reference)
        estimate = state.estimate()
        needed = meter.tokens(estimate)
        state.stuck_at = needed if needed > self.config.trigger_tokens else 0
        state.saved += max(0, before - estimate)
        if needed > available and meter.likely(estimate) * (1.0 if meter.measured else _UNMEASURED) > available:
            system = meter.fixed(state.system or "", [], "")
            raise overflow_of(state.view, meter, system, state.fixed_tokens() - system, available)
