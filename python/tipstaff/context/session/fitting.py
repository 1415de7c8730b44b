"""When a conversation is shortened so that its request stays within the model's window, and what is cut after that."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tipstaff.context.session.meter import Meter
from tipstaff.context.session.overflow import overflow_of, shorten_results
from tipstaff.context.session.state import SessionState
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.stubs import Reference

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

    Parameters
    ----------
    words
        Of the refusal.
    likely
        What the request took by estimate.
    config
        Of the session: a window that is no smaller than it assumes is not believed.
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
    """Keeps the requests of a session within the model's window.

    Parameters
    ----------
    config
        The window, and from which size on the conversation is shortened.
    meter
        Counts; takes what `count_request` returns.
    state
        Of the session; its view is changed.
    count_request
        Returns the tokens of a call's arguments, as the provider counts them; None for estimates alone.
    reference
        Says where the whole of a shortened result is kept.
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

        Raises
        ------
        WindowOverflowError
            If that is not enough.
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
