"""One pass over the candidates that puts each where the gates say, in time linear in their number."""

from __future__ import annotations

from collections.abc import Iterable

from tipstaff.context.candidates.config import CandidateConfig
from tipstaff.context.candidates.entries import AnyEntry, Moved, Removed
from tipstaff.context.candidates.gates import (
    Periods,
    Window,
    decayed,
    look_back,
    promotion_obstacles,
    regression,
)
from tipstaff.context.candidates.records import CandidateState, CandidateTransition, time_of
from tipstaff.context.candidates.rows import Row
from tipstaff.context.candidates.similarity import spaced_words
from tipstaff.kernels import WordSets

ANTI_PATTERN = "ANTI_PATTERN"
_NOTHING = Window(0, 0, 0, severe=False, forbidden=False, failures_in_a_row=0, independent=0)


class Evaluation:
    """Collects what is to change; changes nothing itself.

    Parameters
    ----------
    config, spans
        Thresholds.
    now_us
        The time, in microseconds since 1970.
    """

    def __init__(self, config: CandidateConfig, spans: Periods, now_us: int) -> None:
        self.entries: list[AnyEntry] = []
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
                self._remove(row)
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
        to: CandidateState,
        code: str,
        reason: str,
        *,
        seen: Window = _NOTHING,
        by: str = "auto",
        since: CandidateState | None = None,
    ) -> None:
        """Let a candidate take another state; `since` is the state it has by then, if that is not its present one."""
        cooldown_us = self._now_us + self._spans.cooldown if to is CandidateState.DEMOTED else None
        self.entries.append(
            Moved(id=row.id, state=to, at_us=self._now_us, code=code, reason=reason, by=by, cooldown_us=cooldown_us)
        )
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

    def _remove(self, row: Row) -> None:
        reason = f"no evidence for more than {self._config.retention_days:g} days"
        self.entries.append(Removed(id=row.id, at_us=self._now_us, reason=reason))
        self.transitions.append(
            CandidateTransition(
                candidate_id=row.id,
                from_state=row.state,
                to_state=None,
                at=time_of(self._now_us),
                reason=reason,
                reason_code="RETENTION",
                triggered_by="auto",
            )
        )

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
