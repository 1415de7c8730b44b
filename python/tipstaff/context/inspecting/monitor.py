"""How full the window is, from turn to turn: occupation, peak, compactions and what they saved."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final, Literal

from tipstaff.errors import ConfigError
from tipstaff.model import Record

Pressure = Literal["low", "medium", "high", "critical"]
Trend = Literal["unknown", "stable", "rising", "falling"]
PRESSURES: Final[tuple[Pressure, ...]] = ("low", "medium", "high", "critical")
THRESHOLDS: Final = (0.70, 0.85, 0.95)
"""Shares of the window from which pressure is medium, high and critical."""

_SAMPLES: Final = 32
_STABLE_TOKENS: Final = 256
_STABLE_SHARE: Final = 0.02


def pressure_of(tokens: int, window: int, thresholds: tuple[float, float, float] = THRESHOLDS) -> Pressure:
    """Return how much pressure there is when so many tokens of a window are taken; ``low`` where it is unknown."""
    share = tokens / window if window > 0 else 0.0
    return PRESSURES[sum(share >= threshold for threshold in thresholds)]


class MonitorState(Record, frozen=True, kw_only=True):
    """A monitor's figures at one moment.

    Attributes
    ----------
    context_window_tokens, current_context_tokens, peak_context_tokens
        The window, what of it is taken, and the most that ever was.
    pressure_level, trend
        ``low``, ``medium``, ``high`` or ``critical``; ``unknown``, ``stable``, ``rising`` or ``falling``.
    turn_count, total_input_tokens, total_output_tokens
        Over the session.
    compaction_count, pruned_count, summarized_count, last_phase
        How often the history was compacted, how often pruning did, how often it took a summary, and how it ended last.
    saved_tokens, last_saved_tokens, average_saved_tokens
        What compactions have saved.
    samples
        The newest occupations, oldest first, without repetition.
    """

    context_window_tokens: int
    current_context_tokens: int
    peak_context_tokens: int
    pressure_level: Pressure
    trend: Trend
    turn_count: int
    total_input_tokens: int
    total_output_tokens: int
    compaction_count: int
    pruned_count: int
    summarized_count: int
    last_phase: str
    saved_tokens: int
    last_saved_tokens: int
    average_saved_tokens: int
    samples: tuple[int, ...]

    @property
    def usage(self) -> float | None:
        """The share of the window that is taken; None where the window is not known."""
        window = self.context_window_tokens
        return self.current_context_tokens / window if window > 0 else None


class ContextMonitor:
    """Tracks a session's window. May be called from several threads.

    Parameters
    ----------
    context_window_tokens
        0 if unknown: pressure is low then.
    thresholds
        Rising shares of the window, above 0, from which pressure is medium, high and critical.

    Raises
    ------
    ConfigError
        If the window is negative or the thresholds do not rise.
    """

    def __init__(self, context_window_tokens: int, *, thresholds: tuple[float, float, float] = THRESHOLDS) -> None:
        if context_window_tokens < 0:
            msg = f"context_window_tokens: expected 0 or more, got {context_window_tokens}"
            raise ConfigError(msg)
        if not 0 < thresholds[0] < thresholds[1] < thresholds[2]:
            msg = f"thresholds: expected three rising shares above 0, got {thresholds}"
            raise ConfigError(msg)
        self._guard = threading.Lock()
        self._window = context_window_tokens
        self._thresholds = thresholds
        self._current = self._peak = self._turns = self._input = self._output = 0
        self._compactions = self._pruned = self._summarized = self._saved = self._last_saved = 0
        self._last_phase = ""
        self._samples: deque[int] = deque(maxlen=_SAMPLES)

    def record_usage(self, context_tokens: int) -> None:
        """Note how many tokens the last call to the model took, as its answer reports while the turn continues."""
        with self._guard:
            self._occupy(context_tokens)

    def record_turn_complete(self, input_tokens: int, output_tokens: int, context_tokens: int | None = None) -> None:
        """Note the end of a turn.

        Parameters
        ----------
        input_tokens, output_tokens
            What all calls of this turn took together; negative counts as 0.
        context_tokens
            What the last call took of the window; left as it is if None or 0.
        """
        with self._guard:
            self._turns += 1
            self._input += max(0, input_tokens)
            self._output += max(0, output_tokens)
            if context_tokens:
                self._occupy(context_tokens)

    def record_compaction(self, original_tokens: int, compacted_tokens: int, phase: str = "") -> None:
        """Note that the history was compacted.

        Parameters
        ----------
        original_tokens, compacted_tokens
            Its size before and after.
        phase
            ``pruned`` or ``summarized``; other words are kept as they are.
        """
        before, after = max(0, original_tokens), max(0, compacted_tokens)
        name = "".join(char for char in str(phase) if char.isprintable()).strip()[:100].lower()
        with self._guard:
            self._compactions += 1
            self._pruned += name == "pruned"
            self._summarized += name == "summarized"
            self._last_phase = name or "unknown"
            self._last_saved = max(0, before - after)
            self._saved += self._last_saved
            self._peak = max(self._peak, before)
            self._occupy(after)

    @property
    def current_context_tokens(self) -> int:
        """What of the window is taken."""
        return self._current

    @property
    def peak_context_tokens(self) -> int:
        """The most that ever was."""
        return self._peak

    @property
    def compaction_count(self) -> int:
        """How often the history was compacted."""
        return self._compactions

    @property
    def saved_tokens(self) -> int:
        """What compactions have saved, together."""
        return self._saved

    @property
    def pressure_level(self) -> Pressure:
        """``low``, ``medium``, ``high`` or ``critical``."""
        return pressure_of(self._current, self._window, self._thresholds)

    @property
    def state(self) -> MonitorState:
        """All figures at this moment."""
        with self._guard:
            return MonitorState(
                context_window_tokens=self._window,
                current_context_tokens=self._current,
                peak_context_tokens=self._peak,
                pressure_level=self.pressure_level,
                trend=self._trend(),
                turn_count=self._turns,
                total_input_tokens=self._input,
                total_output_tokens=self._output,
                compaction_count=self._compactions,
                pruned_count=self._pruned,
                summarized_count=self._summarized,
                last_phase=self._last_phase,
                saved_tokens=self._saved,
                last_saved_tokens=self._last_saved,
                average_saved_tokens=self._saved // self._compactions if self._compactions else 0,
                samples=tuple(self._samples),
            )

    def _occupy(self, tokens: int) -> None:
        self._current = max(0, tokens)
        self._peak = max(self._peak, self._current)
        if not self._samples or self._samples[-1] != self._current:
            self._samples.append(self._current)

    def _trend(self) -> Trend:
        if len(self._samples) < 2:
            return "unknown"
        change = self._samples[-1] - self._samples[-2]
        if abs(change) <= max(_STABLE_TOKENS, round(_STABLE_SHARE * self._window)):
            return "stable"
        return "rising" if change > 0 else "falling"
