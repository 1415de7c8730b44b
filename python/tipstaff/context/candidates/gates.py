"""Decay, and the gates between states: pure functions of a candidate's history, a time and the thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from tipstaff.context.candidates.config import CandidateConfig
from tipstaff.context.candidates.records import Evidence


class History(Protocol):
    """What the gates look at."""

    kind: str
    category: str
    score: float
    last_us: int
    cooldown_us: int | None
    trial_us: int
    events: list[Evidence]


class Periods(NamedTuple):
    """The periods of a configuration in microseconds, computed once."""

    window: int
    severe: int
    cooldown: int
    grace: int
    half_life: float
    retention: int
    merge: int
    anti_pattern: int


def periods(config: CandidateConfig) -> Periods:
    """Return a configuration's periods in microseconds."""
    names = ("window_days", "severe_lookback_days", "cooldown_days", "grace_days", "half_life_days")
    window, severe, cooldown, grace, half_life = (config.us(name) for name in names)
    rest = (config.us(name) for name in ("retention_days", "merge_window_days", "anti_pattern_days"))
    return Periods(window, severe, cooldown, grace, float(half_life), *rest)


def decayed(score: float, last_us: int, now_us: int, spans: Periods) -> float:
    """Return what is left of a score, so long after the last evidence.

    In closed form, so that it is the same however often and by whomever it was asked for in between::

        score * 2 ** (-max(0, age - grace) / half_life)
    """
    over = now_us - last_us - spans.grace
    return score if over <= 0 else score * 2.0 ** (-over / spans.half_life)


class Window(NamedTuple):
    """What was counted among a candidate's events within the window."""

    attempts: int
    failures: int
    conflicts: int
    severe: bool
    forbidden: bool
    failures_in_a_row: int
    independent: int

    @property
    def failure_rate(self) -> float:
        """Failures over attempts; 0 without attempts."""
        return self.failures / self.attempts if self.attempts else 0.0


def look_back(history: History, now_us: int, config: CandidateConfig, spans: Periods) -> Window:
    """Count what happened within the window, in one pass over the events.

    Events before the present trial (before the last demotion) do not count; a correction counts only where the use did
    not succeed; `independent` counts sources once over the whole trial, and events without a source each.
    """
    begin, severe_begin, trial = now_us - spans.window, now_us - spans.severe, history.trial_us
    attempts = failures = conflicts = in_a_row = unsourced = 0
    severe = forbidden = False
    sources: set[str] = set()
    for event in history.events:
        at = event.at_us
        if at < trial:
            continue
        if event.source_ref:
            sources.add(event.source_ref)
        else:
            unsourced += 1
        if event.severe_failure and at >= severe_begin:
            severe = True
        if at < begin:
            continue
        attempts += event.success_delta + event.failure_delta
        failures += event.failure_delta
        # Of an event that reports both, nobody knows which came last.
        in_a_row = 0 if event.success_delta else in_a_row + event.failure_delta
        if event.correction_conflict and not event.success_delta:
            conflicts += 1
        if event.note and not forbidden:
            note = event.note.lower()
            forbidden = any(word in note for word in config.forbidding_notes)
    return Window(attempts, failures, conflicts, severe, forbidden, in_a_row, len(sources) + unsourced)


def promotion_obstacles(
    history: History, seen: Window, now_us: int, config: CandidateConfig, spans: Periods
) -> Iterator[str]:
    """Yield every reason why a candidate may not be promoted now; nothing where it may be."""
    if history.kind in config.unpromotable_kinds:
        yield f"{history.kind} is never promoted"
    if config.categories and history.category not in config.categories:
        yield f"category {history.category} is not among {', '.join(config.categories)}"
    if history.cooldown_us is not None and history.cooldown_us > now_us:
        yield "its cooldown is not over"
    if seen.independent < config.min_evidence:
        yield f"{seen.independent} of {config.min_evidence} independent pieces of evidence"
    score = decayed(history.score, history.last_us, now_us, spans)
    if score < config.min_score:
        yield f"score {score:.3f} is below {config.min_score:g}"
    if seen.attempts < config.min_attempts:
        yield f"{seen.attempts} of {config.min_attempts} attempts within {config.window_days:g} days"
    if seen.failure_rate > config.max_failure_rate:
        yield f"{seen.failure_rate:.0%} of the attempts failed, more than {config.max_failure_rate:.0%}"
    if seen.failures_in_a_row >= config.max_consecutive_failures:
        yield f"the last {seen.failures_in_a_row} attempts failed"
    if seen.severe:
        yield f"a severe failure within {config.severe_lookback_days:g} days"
    if seen.forbidden:
        yield "a note mentions an anti-pattern"


def regression(seen: Window, config: CandidateConfig) -> str:
    """Return why a promoted candidate is to be demoted for how it did; empty where it is not."""
    if seen.severe:
        return f"a severe failure within {config.severe_lookback_days:g} days"
    if seen.failures_in_a_row >= config.max_consecutive_failures:
        return f"the last {seen.failures_in_a_row} attempts failed"
    if seen.attempts >= config.demotion_min_attempts and seen.failure_rate >= config.demotion_failure_rate:
        return f"{seen.failures} of {seen.attempts} attempts failed"
    if seen.conflicts >= config.conflict_threshold:
        return f"users corrected it {seen.conflicts} times"
    return ""


def unfit(history: History, now_us: int, config: CandidateConfig, spans: Periods) -> str:
    """Return why a promoted candidate is not to be shown at this moment, empty where it is."""
    if now_us - history.last_us > spans.retention:
        return f"no evidence for more than {config.retention_days:g} days"
    score = decayed(history.score, history.last_us, now_us, spans)
    if score < config.keep_score:
        return f"score {score:.3f} is below {config.keep_score:g}"
    return regression(look_back(history, now_us, config, spans), config)
