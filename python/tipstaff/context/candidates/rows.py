"""The candidates in memory, and the index that finds what is alike."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from tipstaff.context.candidates.config import CandidateConfig
from tipstaff.context.candidates.gates import Periods, decayed
from tipstaff.context.candidates.records import Candidate, CandidateObservation, CandidateState, Evidence, time_of
from tipstaff.context.candidates.refusal import is_against
from tipstaff.context.candidates.similarity import has_words, spaced_words
from tipstaff.kernels import WordSets

NEVER_US = -(1 << 62)
Group = tuple[str, str, str, bool]

_against = lru_cache(maxsize=65_536)(is_against)


class Row(msgspec.Struct, array_like=True, gc=False, eq=False):
    """One candidate; changes in place. Its fields, in this order, are what the database holds as JSON."""

    id: str
    kind: str
    category: str
    tool_tag: str
    content: str
    tags: tuple[str, ...]
    state: CandidateState
    score: float
    evidence_count: int
    success_count: int
    failure_count: int
    first_us: int
    last_us: int
    trial_us: int
    events: list[Evidence]
    sources: list[str]
    cooldown_us: int | None = None

    @property
    def group(self) -> Group:
        """Candidates of different groups are never mixed: what says to do something and what says not to are of two."""
        return self.kind, self.category, self.tool_tag, _against(self.content)

    def support(self, event: Evidence, score: float, cooldown_us: int | None, config: CandidateConfig) -> None:
        """Take in an event."""
        self.score = score
        self.evidence_count += 1
        self.success_count += event.success_delta
        self.failure_count += event.failure_delta
        self.first_us = min(self.first_us, event.at_us)
        self.last_us = max(self.last_us, event.at_us)
        if cooldown_us is not None:
            self.cooldown_us = max(self.cooldown_us or cooldown_us, cooldown_us)
        if not self.events or event.at_us >= self.events[-1].at_us:
            self.events.append(event)
        else:
            insort(self.events, event, key=lambda known: known.at_us)
        del self.events[: -config.max_events]
        if event.source_ref and event.source_ref not in self.sources:
            self.sources.append(event.source_ref)
            del self.sources[: -config.max_sources]

    def move(self, state: CandidateState, at_us: int, cooldown_us: int | None) -> None:
        """Take another state."""
        self.state = state
        self.cooldown_us = cooldown_us
        if state is CandidateState.DEMOTED:
            self.trial_us = at_us + 1

    def record(self, now_us: int, spans: Periods) -> Candidate:
        """Return the candidate as it is at a time."""
        same = ("id", "category", "kind", "state", "content", "tool_tag", "tags", "evidence_count", "success_count",
                "failure_count")  # fmt: skip
        return Candidate(
            **{name: getattr(self, name) for name in same},
            score=decayed(self.score, self.last_us, now_us, spans),
            base_score=self.score,
            first_seen_at=time_of(self.first_us),
            last_seen_at=time_of(self.last_us),
            cooldown_until=None if self.cooldown_us is None else time_of(self.cooldown_us),
            evidence=tuple(self.events),
            source_refs=tuple(self.sources),
        )


class Rows:
    """All candidates by id, in the order in which they appeared, with an index for each group.

    A group is indexed when its likes are first asked for: who only reads candidates does without.
    """

    def __init__(self, config: CandidateConfig) -> None:
        self._config = config
        self._by_id: dict[str, Row] = {}
        self._indexes: dict[Group, tuple[WordSets, list[Row]]] = {}
        self._slots: dict[str, int] = {}  # of a candidate in its group's index
        self._waiting: dict[Group, list[Row]] | None = None  # for their index; None until any is asked for
        self._wordless: dict[tuple[Group, str], Row] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._by_id.values())

    def get(self, candidate_id: str) -> Row | None:
        """Return a candidate, None where there is none of this id."""
        return self._by_id.get(candidate_id)

    def observe(
        self, found: CandidateObservation, at_us: int, cooldown_us: int | None, window_us: int, new_id: str
    ) -> Row:
        """Take in an observation: as evidence for the most similar candidate of its group, or as a new one.

        A content without words, such as ``!!!``, is like itself alone.
        """
        row = Row(
            new_id, found.kind, found.category, found.tool_tag, found.content, found.tags, CandidateState.SHADOW,
            found.score, 0, 0, 0, at_us, at_us, NEVER_US, [], [],
        )  # fmt: skip
        index, members = self._of(row.group)
        text, slot = spaced_words(found.content), -1
        alike: Row | None = None
        if has_words(text):
            slot, similarity = index.find_or_add(text, at_us, at_us - window_us, at_us + window_us)
            alike = members[slot] if similarity else None
        else:
            same = self._wordless.get((row.group, found.content))
            alike = same if same is not None and abs(same.last_us - at_us) <= window_us else None
        score = found.score
        if alike is None:
            self.put(row, slot)
        else:
            row = alike
            weight = min(row.evidence_count, self._config.score_memory)
            score = (row.score * weight + found.score) / (weight + 1)
        event = Evidence(
            at_us, found.success_delta, found.failure_delta, found.source_ref, found.severe_failure,
            found.correction_conflict, found.note,
        )  # fmt: skip
        self.support(row, event, score, cooldown_us)
        return row

    def support(self, row: Row, event: Evidence, score: float, cooldown_us: int | None = None) -> None:
        """Take in an event of a candidate."""
        row.support(event, score, cooldown_us, self._config)
        self._mark(row)

    def put(self, row: Row, slot: int = -1) -> None:
        """Take a candidate as it is: a new one, or what became of a known one.

        Parameters
        ----------
        row
            The candidate.
        slot
            The place that the index has for it already.
        """
        known = self._by_id.get(row.id)
        if known is not None:
            for name in Row.__struct_fields__:
                setattr(known, name, getattr(row, name))
            self._mark(known)
            if known.state is CandidateState.ARCHIVED:
                self.unindex(known)
            return
        self._by_id[row.id] = row
        if self._waiting is not None:
            found = self._indexes.get(row.group)
            if found is None:
                self._waiting.setdefault(row.group, []).append(row)
            elif row.state is not CandidateState.ARCHIVED:
                self._index(row, *found, slot)

    def remove(self, candidate_id: str) -> None:
        """Remove a candidate, if it is known."""
        row = self._by_id.pop(candidate_id, None)
        if row is not None:
            self.unindex(row)

    def unindex(self, row: Row) -> None:
        """Take a candidate out of what new evidence may be for."""
        slot = self._slots.pop(row.id, None)
        if slot is not None:
            self._of(row.group)[0].remove(slot)
        elif self._wordless.get((row.group, row.content)) is row:
            del self._wordless[row.group, row.content]

    def _mark(self, row: Row) -> None:
        if row.id in self._slots:
            self._of(row.group)[0].set_mark(self._slots[row.id], row.last_us)

    def _of(self, group: Group) -> tuple[WordSets, list[Row]]:
        found = self._indexes.get(group)
        if found is None:
            if self._waiting is None:
                self._waiting = {}
                for row in self:
                    self._waiting.setdefault(row.group, []).append(row)
            found = self._indexes[group] = (WordSets(self._config.merge_similarity), [])
            for row in self._waiting.pop(group, ()):
                if row.state is not CandidateState.ARCHIVED and self._by_id.get(row.id) is row:
                    self._index(row, *found)
        return found

    def _index(self, row: Row, index: WordSets, members: list[Row], slot: int = -1) -> None:
        text = spaced_words(row.content)
        if not has_words(text):
            self._wordless[row.group, row.content] = row
            return
        self._slots[row.id] = index.add(text, row.last_us) if slot < 0 else slot
        members.append(row)
