"""Every threshold of the candidates' lifecycle, with its default and its reason."""

from __future__ import annotations

import math
from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.model import Record

DAY_US: Final = 86_400_000_000
_SHARES: Final = (
    "merge_similarity",
    "min_score",
    "keep_score",
    "max_failure_rate",
    "demotion_failure_rate",
    "anti_pattern_similarity",
    "success_step",
    "failure_step",
)
_DAYS: Final = (
    "merge_window_days",
    "window_days",
    "severe_lookback_days",
    "cooldown_days",
    "half_life_days",
    "grace_days",
    "retention_days",
    "anti_pattern_days",
)
_COUNTS: Final = (
    "min_evidence",
    "min_attempts",
    "max_consecutive_failures",
    "demotion_min_attempts",
    "conflict_threshold",
    "score_memory",
    "max_events",
    "max_sources",
    "max_content_chars",
)


class CandidateConfig(Record, frozen=True, kw_only=True):
    """Thresholds of merging, promotion, demotion, decay and retention.

    Attributes
    ----------
    merge_similarity
        Least Jaccard similarity of word sets for an observation to count as evidence for a candidate.
    merge_window_days
        Greatest distance in time, either way, between the observation and the candidate's last evidence.
    min_evidence
        Independent evidence that promotion takes: several observations from one source count once.
    min_score, keep_score
        Decayed score that promotion takes, and that a promoted candidate must keep.
    min_attempts, max_failure_rate
        Of the attempts within `window_days`, for promotion.
    window_days
        How far back attempts, conflicts and notes are looked at.
    severe_lookback_days
        A severe failure within this time forbids promotion and demotes.
    max_consecutive_failures
        So many failures in a row, the newest last, forbid promotion and demote.
    demotion_min_attempts, demotion_failure_rate
        Attempts within the window, and the share of failures among them, that demote.
    conflict_threshold
        Corrections by the user, of uses that did not succeed, that demote.
    cooldown_days
        How long a demoted candidate waits before it is tried again.
    half_life_days, grace_days
        Decay of the score since the last evidence; it begins after the grace.
    retention_days
        A candidate without evidence for longer is removed.
    anti_pattern_days, anti_pattern_similarity
        A proven anti-pattern seen within this time forbids promotion on its tool of what is this similar to it.
    score_memory
        How many earlier observations a new one is weighed against at most, so that old candidates can still change.
    success_step, failure_step
        What one outcome adds to the score or takes from it.
    max_events, max_sources
        How many events and sources a candidate remembers, the newest.
    max_content_chars
        Longest content that is taken, in code points.
    categories
        Categories that may be promoted; empty for all.
    unpromotable_kinds
        Kinds that are never promoted.
    forbidding_notes
        A note within the window that contains one of these words forbids promotion.
    """

    merge_similarity: float = 0.50
    merge_window_days: float = 30.0
    min_evidence: int = 2
    min_score: float = 0.75
    keep_score: float = 0.75
    min_attempts: int = 2
    max_failure_rate: float = 0.2
    window_days: float = 14.0
    severe_lookback_days: float = 7.0
    max_consecutive_failures: int = 3
    demotion_min_attempts: int = 4
    demotion_failure_rate: float = 0.6
    conflict_threshold: int = 2
    cooldown_days: float = 3.0
    half_life_days: float = 30.0
    grace_days: float = 7.0
    retention_days: float = 90.0
    anti_pattern_days: float = 30.0
    anti_pattern_similarity: float = 0.30
    score_memory: int = 20
    success_step: float = 0.02
    failure_step: float = 0.05
    max_events: int = 200
    max_sources: int = 50
    max_content_chars: int = 4_000
    categories: tuple[str, ...] = ()
    unpromotable_kinds: tuple[str, ...] = ("ANTI_PATTERN",)
    forbidding_notes: tuple[str, ...] = ("anti-pattern", "anti_pattern")

    def __post_init__(self) -> None:
        for name in _SHARES:
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                msg = f"{name}: expected 0 to 1, got {value}"
                raise ConfigError(msg)
        for name in _DAYS:
            value = getattr(self, name)
            if not (math.isfinite(value) and 0.0 <= value <= 36_500.0):
                msg = f"{name}: expected 0 to 36500 days, got {value}"
                raise ConfigError(msg)
        for name in _COUNTS:
            value = getattr(self, name)
            if value < 1:
                msg = f"{name}: expected 1 or more, got {value}"
                raise ConfigError(msg)
        for name in ("merge_similarity", "anti_pattern_similarity", "half_life_days"):
            if getattr(self, name) == 0:
                msg = f"{name}: expected more than 0"
                raise ConfigError(msg)

    def us(self, name: str) -> int:
        """Return one of the periods in microseconds."""
        days: float = getattr(self, name)
        return round(days * DAY_US)
