"""When a conversation is shortened so that its request stays within the model's window, and what is cut after that."""

from __future__ import annotations

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
        self._config = config
        self._meter = meter
        self._state = state
        self._count_request = count_request
        self._reference = reference

    def is_due(self, arguments: Callable[[], Mapping[str, Any]]) -> bool:
        """Return whether the next request, with these arguments, is so near the window's end that it is shortened."""
        available, trigger = self._config.effective_window_tokens, self._config.trigger_tokens
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
        state, meter, available = self._state, self._meter, self._config.effective_window_tokens
        for share in _RESULT_SHARES:
            if meter.tokens(state.estimate()) <= available:
                break
            shorten_results(state.view, meter, state.estimate(), int(available * share), self._reference)
        estimate = state.estimate()
        needed = meter.tokens(estimate)
        state.stuck_at = needed if needed > self._config.trigger_tokens else 0
        state.saved += max(0, before - estimate)
        if needed > available and meter.likely(estimate) * (1.0 if meter.measured else _UNMEASURED) > available:
            system = meter.fixed(state.system or "", [], "")
            raise overflow_of(state.view, meter, system, state.fixed_tokens() - system, available)
