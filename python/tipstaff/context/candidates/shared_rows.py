"""The candidates of a log that threads and processes share: taken in, changed and written under its locks."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Generator
from datetime import datetime
from pathlib import Path
from typing import Final

from tipstaff.context.candidates.config import CandidateConfig
from tipstaff.context.candidates.entries import AnyEntry, Appeared, Entry, Supported
from tipstaff.context.candidates.evaluation import Evaluation
from tipstaff.context.candidates.gates import periods
from tipstaff.context.candidates.log import CandidateLog
from tipstaff.context.candidates.records import CandidateObservation, CandidateTransition, Evidence, microseconds
from tipstaff.context.candidates.rows import Row, Rows, group_of
from tipstaff.errors import ConfigError

_GARBAGE_FACTOR: Final = 8
_GARBAGE_FLOOR: Final = 20_000

Clock = Callable[[], datetime | float]


class SharedRows:
    """The rows that a log adds up to, and the only way to change them.

    Parameters
    ----------
    path, key, sync
        Of the log.
    config
        Thresholds.
    clock
        Returns the present time; the system's if None.

    Notes
    -----
    `rows` and `log` are to be touched only within `turn`.
    """

    def __init__(
        self, path: Path, *, config: CandidateConfig, clock: Clock | None, key: bytes | None, sync: bool
    ) -> None:
        self.config = config
        self.spans = periods(config)
        self.log = CandidateLog(path, key=key, sync=sync, tag=f"{config.max_events} {config.max_sources}")
        self.rows = Rows(config)
        self._clock = clock
        self._guard = threading.RLock()
        self._process = os.getpid()

    @contextlib.contextmanager
    def turn(self) -> Generator[int]:
        """Hold both locks, take in what others wrote, and yield the time in microseconds."""
        if os.getpid() != self._process:
            # A child shares its parent's descriptors, and with them its locks.
            self._process = os.getpid()
            self._guard = threading.RLock()
            self.log.close()
        with self._guard, self.log.locked():
            try:
                self._take_in()
            except BaseException:
                self.log.forget()  # what was read in part is read again
                raise
            yield self._now_us()

    def read_anew(self) -> None:
        """Read the whole log again, line by line."""
        with self._guard:
            self.log.forget(image=True)
            with self.turn():
                pass

    def close(self) -> None:
        """Close the files; the next turn opens them again."""
        with self._guard:
            self.log.close()

    @contextlib.contextmanager
    def change(self) -> Generator[list[Entry]]:
        """Yield a list for entries that are already taken in, and write them; where that fails, memory is void."""
        entries: list[Entry] = []
        try:
            yield entries
            if entries:
                self.log.append(entries)
        except BaseException:
            self.log.forget()
            raise

    def take(self, entry: AnyEntry, entries: list[Entry], slot: int = -1) -> None:
        """Take in an entry, and put it among those that are to be written."""
        self.rows.take(entry, slot)
        entries.append(entry)

    def observe(self, found: CandidateObservation, at_us: int, cooldown_us: int | None, entries: list[Entry]) -> Row:
        """Take in an observation: as evidence for what is like it, or as a new candidate."""
        event = Evidence(
            at_us,
            found.success_delta,
            found.failure_delta,
            found.source_ref,
            found.severe_failure,
            found.correction_conflict,
            found.note,
        )
        group = group_of(found.kind, found.category, found.tool_tag, found.content)
        row, _, slot = self.rows.alike(group, found.content, at_us, self.spans.merge)
        entry: Appeared | Supported
        if row is None:
            entry = Appeared(
                id=self._new_id(),
                kind=found.kind,
                category=found.category,
                tool_tag=found.tool_tag,
                content=found.content,
                score=found.score,
                event=event,
                tags=found.tags,
                cooldown_us=cooldown_us,
            )
        else:
            weight = min(row.evidence_count, self.config.score_memory)
            score = (row.score * weight + found.score) / (weight + 1)
            words = "" if found.content == row.content else found.content
            entry = Supported(id=row.id, score=score, event=event, words=words, cooldown_us=cooldown_us)
        self.take(entry, entries, slot)
        return self.row(entry.id)

    def write(self, evaluation: Evaluation) -> tuple[CandidateTransition, ...]:
        """Take in and write what an evaluation decided."""
        with self.change() as entries:
            for entry in evaluation.entries:
                self.take(entry, entries)
        return tuple(evaluation.transitions)

    def compact(self, now_us: int) -> None:
        """Write the log again with one entry for each candidate."""
        self.log.replace((row.kept() for row in self.rows), now_us)

    def compact_if_worth(self, now_us: int) -> None:
        """Compact the log once most of it says nothing any more."""
        if self.log.entries_in_file > _GARBAGE_FACTOR * len(self.rows) + _GARBAGE_FLOOR:
            self.compact(now_us)

    def row(self, candidate_id: str) -> Row:
        """Return a candidate.

        Raises
        ------
        ConfigError
            If there is none of this id.
        """
        row = self.rows.get(candidate_id)
        if row is None:
            msg = f"there is no candidate {candidate_id!r}"
            raise ConfigError(msg)
        return row

    def _take_in(self) -> None:
        update = self.log.update()
        if update.from_start:
            self.rows = Rows.restored(self.config, update.rows) if update.rows else Rows(self.config)
        for entry in update.entries:
            self.rows.take(entry)
        if update.from_start and self.log.wants_image:
            self.log.write_image(self.rows.image())

    def _new_id(self) -> str:
        while True:
            candidate_id = f"cand-{secrets.token_hex(8)}"
            if candidate_id not in self.rows:
                return candidate_id

    def _now_us(self) -> int:
        return time.time_ns() // 1000 if self._clock is None else microseconds(self._clock(), "clock")
