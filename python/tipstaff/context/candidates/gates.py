"""Decay, the gates between states, and the pass that puts each candidate where they say.

All of it are functions of candidates' histories, a time and the thresholds; nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from tipstaff.context.candidates.records import (
    CandidateConfig,
    CandidateState,
    CandidateTransition,
    Periods,
    Row,
    decayed,
    time_of,
)
from tipstaff.context.candidates.texts import spaced_words
from tipstaff.kernels import WordSets

ANTI_PATTERN: Final = "ANTI_PATTERN"


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


def look_back(row: Row, now_us: int, config: CandidateConfig, spans: Periods) -> Window:
    """Count what happened within the window, in one pass over the events.

    Events before the present trial (before the last demotion) do not count; a correction counts only where the use did
    not succeed; `independent` counts sources once over the whole trial, and events without a source each.
    """
    begin, severe_begin, trial = now_us - spans.window, now_us - spans.severe_lookback, row.trial_us
    attempts = failures = conflicts = in_a_row = unsourced = 0
    severe = forbidden = False
    sources: set[str] = set()
    for event in row.events:
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


def promotion_obstacles(row: Row, seen: Window, now_us: int, config: CandidateConfig, spans: Periods) -> Iterator[str]:
    """Yield every reason why a candidate may not be promoted now; nothing where it may be."""
    if row.kind in config.unpromotable_kinds:
        yield f"{row.kind} is never promoted"
    if config.categories and row.category not in config.categories:
        yield f"category {row.category} is not among {', '.join(config.categories)}"
    if row.cooldown_us is not None and row.cooldown_us > now_us:
        yield "its cooldown is not over"
    if seen.independent < config.min_evidence:
        yield f"{seen.independent} of {config.min_evidence} independent pieces of evidence"
    score = decayed(row.score, row.last_us, now_us, spans)
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


def unfit(row: Row, now_us: int, config: CandidateConfig, spans: Periods) -> str:
    """Return why a promoted candidate is not to be shown at this moment, empty where it is."""
    if now_us - row.last_us > spans.retention:
        return f"no evidence for more than {config.retention_days:g} days"
    score = decayed(row.score, row.last_us, now_us, spans)
    if score < config.keep_score:
        return f"score {score:.3f} is below {config.keep_score:g}"
    return regression(look_back(row, now_us, config, spans), config)


NOTHING: Final = Window(0, 0, 0, severe=False, forbidden=False, failures_in_a_row=0, independent=0)


class Evaluation:
    """Collects what is to change; changes nothing itself."""

    def __init__(self, config: CandidateConfig, spans: Periods, now_us: int) -> None:
        self.transitions: list[CandidateTransition] = []
        self._config = config
        self._spans = spans
        self._now_us = now_us
        self._warnings: dict[str, WordSets] = {}

    def run(self, rows: Iterable[Row]) -> None:
        """Judge every candidate."""
        rows = list(rows)
        oldest = self._now_us - self._spans.retention
        self._read_warnings(row for row in rows if row.kind == ANTI_PATTERN and row.last_us >= oldest)
        for row in rows:
            if row.last_us < oldest:
                reason = f"no evidence for more than {self._config.retention_days:g} days"
                self.move(row, None, "RETENTION", reason)
            elif row.state is CandidateState.SHADOW:
                # Most of them: what has too little evidence in its whole life needs no look at its events.
                if row.evidence_count >= self._config.min_evidence and row.score >= self._config.min_score:
                    self._try(row, row.state)
            elif row.state is CandidateState.DEMOTED:
                if row.cooldown_us is None or row.cooldown_us <= self._now_us:
                    self.move(row, CandidateState.SHADOW, "COOLDOWN_OVER", "its cooldown is over")
                    self._try(row, CandidateState.SHADOW)
            elif row.state is not CandidateState.ARCHIVED:
                self._hold(row)

    def move(
        self,
        row: Row,
        to: CandidateState | None,
        code: str,
        reason: str,
        *,
        seen: Window = NOTHING,
        by: str = "auto",
        since: CandidateState | None = None,
    ) -> None:
        """Let a candidate take another state, or none; `since` is that which it has by then, if not its present one."""
        cooldown_us = self._now_us + self._spans.cooldown if to is CandidateState.DEMOTED else None
        self.transitions.append(
            CandidateTransition(
                candidate_id=row.id,
                from_state=since or row.state,
                to_state=to,
                at=time_of(self._now_us),
                reason=reason,
                reason_code=code,
                triggered_by=by,
                window_attempts=seen.attempts,
                window_failure_rate=seen.failure_rate,
                conflicts=seen.conflicts,
                cooldown_until=None if cooldown_us is None else time_of(cooldown_us),
            )
        )

    def _try(self, row: Row, since: CandidateState) -> None:
        seen = look_back(row, self._now_us, self._config, self._spans)
        if next(promotion_obstacles(row, seen, self._now_us, self._config, self._spans), ""):
            return
        if self._is_warned_of(row):
            return
        self.move(row, CandidateState.PROMOTED, "PROMOTION_GATE_PASS", "passed every gate", seen=seen, since=since)

    def _hold(self, row: Row) -> None:
        seen = look_back(row, self._now_us, self._config, self._spans)
        worse = regression(seen, self._config)
        if worse:
            self.move(row, CandidateState.DEMOTED, "DEMOTION_REGRESSION", worse, seen=seen)
            return
        score = decayed(row.score, row.last_us, self._now_us, self._spans)
        if score >= self._config.keep_score:
            return
        reason = f"score {score:.3f} is below {self._config.keep_score:g}"
        if row.state is CandidateState.IN_USE and row.score >= self._config.keep_score:
            # It did well for as long as anyone spoke of it.
            self.move(row, CandidateState.ARCHIVED, "DECAYED", f"{reason} for lack of evidence", seen=seen)
        else:
            self.move(row, CandidateState.DEMOTED, "SCORE_BELOW_MINIMUM", reason, seen=seen)

    def _read_warnings(self, rows: Iterable[Row]) -> None:
        """Index the anti-patterns that are proven: enough evidence, a score, and seen lately."""
        begin = self._now_us - self._spans.anti_pattern
        for row in rows:
            if row.last_us < begin or row.state in {CandidateState.DEMOTED, CandidateState.ARCHIVED}:
                continue
            if row.evidence_count < self._config.min_evidence:
                continue
            seen = look_back(row, self._now_us, self._config, self._spans)
            score = decayed(row.score, row.last_us, self._now_us, self._spans)
            if seen.independent >= self._config.min_evidence and score >= self._config.min_score:
                index = self._warnings.get(row.tool_tag)
                if index is None:
                    index = self._warnings[row.tool_tag] = WordSets(self._config.anti_pattern_similarity)
                index.add(spaced_words(row.content))

    def _is_warned_of(self, row: Row) -> bool:
        index = self._warnings.get(row.tool_tag)
        return index is not None and index.find(spaced_words(row.content))[0] >= 0
