"""The candidate store: merges what is observed, moves candidates between states, and keeps all of it on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Self

from tipstaff.context.candidates.config import CandidateConfig
from tipstaff.context.candidates.entries import Supported
from tipstaff.context.candidates.evaluation import Evaluation
from tipstaff.context.candidates.gates import look_back, promotion_obstacles, unfit
from tipstaff.context.candidates.records import (
    MOVES,
    Candidate,
    CandidateObservation,
    CandidateState,
    CandidateTransition,
    Evidence,
    Incident,
    microseconds,
)
from tipstaff.context.candidates.rows import Row
from tipstaff.context.candidates.shared_rows import Clock, SharedRows
from tipstaff.errors import ConfigError
from tipstaff.store.inside import refuse_links_out

FILE_NAME: Final = "candidates.jsonl"
Observed = CandidateObservation | Mapping[str, Any]


_SHOWABLE: Final = frozenset({CandidateState.PROMOTED, CandidateState.IN_USE})


class CandidateStore:
    """Candidates in a signed, append-only log, shared by any number of threads and processes.

    Every call first takes in what other processes have written since, under a lock that all of them take. What a call
    has changed is on disk when it returns: at an end by ``kill -9`` nothing of it is lost, and with `sync` nothing at a
    power cut either (as far as the disk keeps what it says it has flushed).

    Parameters
    ----------
    path
        The log, or a folder that is to hold it as ``candidates.jsonl``. Made with its folders if it is not there.
        Beside it are its key, its head, its lock, and ``.set-aside.jsonl`` with what was damaged.
    config
        Thresholds.
    clock
        Returns the present time (an aware `datetime`, or seconds since 1970); the system's if None.
    key
        32 bytes to sign with, where they are kept elsewhere; otherwise made at first and kept beside the log.
    sync
        Whether each change is flushed to the disk before the call returns. Several changes in one call
        (`upsert_many`, `evaluate_all`) are flushed once.

    Raises
    ------
    StoreDamagedError
        If the key is missing or nothing verifies. The file is left as it is.
    StoreWriteError
        If the folder or the log cannot be written, or a link leads it out of the repository.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        config: CandidateConfig | None = None,
        clock: Clock | None = None,
        key: bytes | None = None,
        sync: bool = True,
    ) -> None:
        if key is not None and len(key) < 16:
            msg = f"key: expected 16 bytes or more, got {len(key)}"
            raise ConfigError(msg)
        file = Path(path)
        if file.is_dir():
            file /= FILE_NAME
        refuse_links_out(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        self.config = config or CandidateConfig()
        self._shared = SharedRows(file, config=self.config, clock=clock, key=key, sync=sync)
        self._spans = self._shared.spans
        with self._shared.turn():
            pass

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The log."""
        return self._shared.log.path

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """What was found not to be as the store left it, when the log was last read from its beginning and since."""
        return tuple(self._shared.log.incidents)

    @property
    def anchor(self) -> str:
        """How far the log goes; kept elsewhere, `has_reached` tells later whether the log was put back."""
        with self._shared.turn():
            return self._shared.log.head.text

    def has_reached(self, anchor: str) -> bool:
        """Return whether the log is the one of an anchor and goes at least as far.

        Raises
        ------
        ConfigError
            If it is no anchor.
        """
        name, _, rest = anchor.partition(":")
        number, _, mac = rest.partition(":")
        if not number.isdecimal() or not mac:
            msg = f"anchor: expected what `CandidateStore.anchor` once returned, got {anchor!r}"
            raise ConfigError(msg)
        with self._shared.turn():
            head = self._shared.log.head
            if head.number == int(number):
                return head.text == anchor
            return head.log == name and head.number > int(number)

    def candidates(self, *states: CandidateState | str) -> tuple[Candidate, ...]:
        """Return the candidates in these states (in any, if none is named), in the order in which they appeared.

        Scores are those of this moment; candidates past their retention are left out.
        """
        wanted = {CandidateState(state) for state in states}
        with self._shared.turn() as now_us:
            oldest = now_us - self._spans.retention
            return tuple(
                row.record(now_us, self._spans)
                for row in self._shared.rows
                if row.last_us >= oldest and (not wanted or row.state in wanted)
            )

    def candidate(self, candidate_id: str) -> Candidate | None:
        """Return one candidate, None where there is none of this id."""
        with self._shared.turn() as now_us:
            row = self._shared.rows.get(candidate_id)
            return None if row is None else row.record(now_us, self._spans)

    def obstacles(self, candidate_id: str) -> tuple[str, ...]:
        """Return why a candidate would not be promoted now, in words; empty where it would be."""
        with self._shared.turn() as now_us:
            row = self._shared.row(candidate_id)
            seen = look_back(row, now_us, self.config, self._spans)
            return tuple(promotion_obstacles(row, seen, now_us, self.config, self._spans))

    def promoted(self) -> tuple[list[Row], Callable[[Row], tuple[Candidate, str]]]:
        """Return what is PROMOTED or IN_USE as rows, and what judges one at this moment, as `injectable` does all."""
        with self._shared.turn() as now_us:
            rows = [row for row in self._shared.rows if row.state in _SHOWABLE]

        def judge(row: Row) -> tuple[Candidate, str]:
            return row.record(now_us, self._spans), unfit(row, now_us, self.config, self._spans)

        return rows, judge

    def verify(self) -> tuple[Incident, ...]:
        """Read the whole log again and return what is not as the store left it; empty where all is well."""
        self._shared.read_anew()
        return self.incidents

    # -- changing -----------------------------------------------------------------------------------------------------

    def upsert(self, observation: Observed) -> Candidate:
        """Take in an observation: as evidence for the most similar candidate, or as a new one.

        Only candidates of the same kind, category and tool count, whose last evidence is within the merge window of
        the observation, and which are not archived. Of equally similar ones the oldest is taken.

        Parameters
        ----------
        observation
            Or a mapping of its fields; at run time any object that has them will do.

        Returns
        -------
        Candidate
            As it now is.

        Raises
        ------
        ConfigError
            If a field is not usable.
        StoreWriteError
            If it could not be written; then nothing has changed.
        """
        return self.upsert_many((observation,))[0]

    def upsert_many(self, observations: Iterable[Observed]) -> tuple[Candidate, ...]:
        """Take in several observations in order, written in one piece and flushed once; returns one candidate for each.

        Raises
        ------
        ConfigError, StoreWriteError
            As `upsert`; then none of them is taken in.
        """
        checked = [CandidateObservation.of(given, longest=self.config.max_content_chars) for given in observations]
        with self._shared.turn() as now_us:
            # The times are read before anything changes: they may turn out not to be usable.
            times = [
                (
                    # Nothing was observed in the future; a clock that is ahead would keep its evidence fresh for ever.
                    now_us
                    if found.occurred_at is None
                    else min(now_us, microseconds(found.occurred_at, "occurred_at")),
                    None if found.cooldown_until is None else microseconds(found.cooldown_until, "cooldown_until"),
                )
                for found in checked
            ]
            with self._shared.change() as entries:
                rows = [self._shared.observe(found, *when, entries) for found, when in zip(checked, times, strict=True)]
            return tuple(row.record(now_us, self._spans) for row in rows)

    def record_outcome(
        self,
        candidate_id: str,
        *,
        success: bool,
        severe_failure: bool = False,
        correction_conflict: bool = False,
        source_ref: str = "",
        note: str = "",
    ) -> Candidate:
        """Record how a use of a candidate ended; its score moves by one step however old it is.

        Raises
        ------
        ConfigError
            If there is no such candidate.
        """
        config = self.config
        checked = CandidateObservation.of(
            {"content": "-", "source_ref": source_ref, "note": note}, longest=config.max_content_chars
        )
        with self._shared.turn() as now_us:
            row = self._shared.row(candidate_id)
            event = Evidence(
                now_us,
                int(success),
                int(not success),
                checked.source_ref,
                severe_failure,
                correction_conflict,
                checked.note,
            )
            score = row.score + (config.success_step if success else -config.failure_step)
            entry = Supported(id=row.id, score=min(1.0, max(0.0, score)), event=event)
            with self._shared.change() as entries:
                self._shared.take(entry, entries)
            return row.record(now_us, self._spans)

    def mark_used(self, candidate_ids: Iterable[str]) -> tuple[CandidateTransition, ...]:
        """Note that candidates were put into a prompt: those that are PROMOTED become IN_USE."""
        with self._shared.turn() as now_us:
            evaluation = Evaluation(self.config, self._spans, now_us)
            for candidate_id in candidate_ids:
                row = self._shared.rows.get(candidate_id)
                if row is not None and row.state is CandidateState.PROMOTED:
                    evaluation.move(row, CandidateState.IN_USE, "USED", "was put into a prompt")
            return self._shared.write(evaluation)

    def evaluate_all(self) -> tuple[CandidateTransition, ...]:
        """Move every candidate to where the gates put it now, and remove those past their retention.

        Linear in the number of candidates. Returns what changed, in the order of the candidates.
        """
        with self._shared.turn() as now_us:
            evaluation = Evaluation(self.config, self._spans, now_us)
            evaluation.run(self._shared.rows)
            found = self._shared.write(evaluation)
            self._shared.compact_if_worth(now_us)
            return found

    def transition(
        self, candidate_id: str, to: CandidateState | str, reason: str = "", *, force: bool = False
    ) -> CandidateTransition:
        """Move one candidate by hand.

        Parameters
        ----------
        candidate_id
            Which.
        to
            A state that may follow its own.
        reason
            Kept in the log.
        force
            Whether to promote although gates forbid it.

        Raises
        ------
        ConfigError
            If there is no such candidate, the state may not follow, or a gate forbids it.
        """
        state = CandidateState(to)
        with self._shared.turn() as now_us:
            row = self._shared.row(candidate_id)
            if state not in MOVES[row.state]:
                allowed = ", ".join(MOVES[row.state]) or "nothing"
                msg = f"candidate {candidate_id} is {row.state}, which {allowed} may follow, not {state}"
                raise ConfigError(msg)
            evaluation = Evaluation(self.config, self._spans, now_us)
            if state is CandidateState.PROMOTED and not force:
                seen = look_back(row, now_us, self.config, self._spans)
                obstacle = next(promotion_obstacles(row, seen, now_us, self.config, self._spans), "")
                if obstacle:
                    msg = f"candidate {candidate_id} may not be promoted: {obstacle}"
                    raise ConfigError(msg)
            code = "MANUAL_FORCE" if force else "MANUAL_TRANSITION"
            evaluation.move(row, state, code, reason or "moved by hand", by="manual")
            return self._shared.write(evaluation)[0]

    def compact(self) -> None:
        """Write the log again with one entry for each candidate; who reads meanwhile finds the old or the new one.

        Raises
        ------
        StoreWriteError
            If it could not be written, or damaged lines could not be set aside before; then nothing has changed.
        """
        with self._shared.turn() as now_us:
            self._shared.compact(now_us)

    def close(self) -> None:
        """Close the files. A store that is used again opens them again."""
        self._shared.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
