"""The candidates in memory: what the log's entries add up to, and the index that finds what is alike."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter
from typing import Final, Self

import msgspec

from tipstaff.context.candidates.config import CandidateConfig
from tipstaff.context.candidates.entries import AnyEntry, Appeared, Kept, Moved, Removed, Supported
from tipstaff.context.candidates.gates import Periods, decayed
from tipstaff.context.candidates.records import Candidate, CandidateState, Evidence, time_of
from tipstaff.context.candidates.refusal import is_against
from tipstaff.context.candidates.similarity import has_words, spaced_words
from tipstaff.kernels import WordSets

NEVER_US: Final = -(1 << 62)
Group = tuple[str, str, str, bool]

_against = lru_cache(maxsize=65_536)(is_against)


def group_of(kind: str, category: str, tool_tag: str, content: str) -> Group:
    """Return the group of a candidate: what says to do something and what says not to are of two groups."""
    return kind, category, tool_tag, _against(content)


class Row(msgspec.Struct, array_like=True, gc=False, eq=False):
    """One candidate; changes in place. Its fields, in this order, are what an image of the log holds."""

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
    slot: int = -1
    """Its number in its group's index; -1 where it is in none (yet)."""

    @classmethod
    def of(cls, entry: Appeared | Kept) -> Self:
        """Return the candidate of an entry."""
        if isinstance(entry, Kept):
            return cls(*_kept_fields(entry))
        event = entry.event
        return cls(
            entry.id,
            entry.kind,
            entry.category,
            entry.tool_tag,
            entry.content,
            entry.tags,
            CandidateState.SHADOW,
            entry.score,
            1,
            event.success_delta,
            event.failure_delta,
            event.at_us,
            event.at_us,
            NEVER_US,
            [event],
            [event.source_ref] if event.source_ref else [],
            entry.cooldown_us,
        )

    @property
    def group(self) -> Group:
        """Candidates of different groups are never mixed."""
        return group_of(self.kind, self.category, self.tool_tag, self.content)

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
        if event.at_us >= self.events[-1].at_us:
            self.events.append(event)
        else:
            insort(self.events, event, key=lambda known: known.at_us)
        del self.events[: -config.max_events]
        if event.source_ref and event.source_ref not in self.sources:
            self.sources.append(event.source_ref)
            del self.sources[: -config.max_sources]

    def move(self, entry: Moved) -> None:
        """Take another state."""
        self.state = entry.state
        self.cooldown_us = entry.cooldown_us
        if entry.state is CandidateState.DEMOTED:
            self.trial_us = entry.at_us + 1

    def kept(self) -> Kept:
        """Return the entry that says all of it."""
        return Kept(**{name: getattr(self, name) for name in _OF_KEPT})

    def record(self, now_us: int, spans: Periods) -> Candidate:
        """Return the candidate as it is at a time."""
        return Candidate(
            id=self.id,
            category=self.category,
            kind=self.kind,
            state=self.state,
            content=self.content,
            tool_tag=self.tool_tag,
            tags=self.tags,
            score=decayed(self.score, self.last_us, now_us, spans),
            base_score=self.score,
            evidence_count=self.evidence_count,
            success_count=self.success_count,
            failure_count=self.failure_count,
            first_seen_at=time_of(self.first_us),
            last_seen_at=time_of(self.last_us),
            cooldown_until=None if self.cooldown_us is None else time_of(self.cooldown_us),
            evidence=tuple(self.events),
            source_refs=tuple(self.sources),
        )


_OF_KEPT: Final = Row.__struct_fields__[:-1]
_kept_fields = attrgetter(*_OF_KEPT)
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final[msgspec.msgpack.Decoder[list[Row]]] = msgspec.msgpack.Decoder(list[Row])


class Rows:
    """All candidates by id, in the order in which they appeared, with an index for each group.

    A group is indexed when its likes are first asked for: who only reads candidates does without.
    """

    def __init__(self, config: CandidateConfig) -> None:
        self._config = config
        self._by_id: dict[str, Row] = {}
        self._indexes: dict[Group, tuple[WordSets, list[Row]]] = {}
        self._waiting: dict[Group, list[Row]] | None = None  # for their index; None until any is asked for
        self._wordless: dict[tuple[Group, str], Row] = {}

    @classmethod
    def restored(cls, config: CandidateConfig, image: bytes) -> Self:
        """Return the rows that `image` once returned.

        Raises
        ------
        msgspec.DecodeError
            If these are invalid.
        """
        rows = cls(config)
        rows._by_id = {row.id: row for row in _DECODER.decode(image)}
        for row in rows:
            row.slot = -1
        return rows

    def image(self) -> bytes:
        """Return all candidates as bytes for `restored`."""
        return _ENCODER.encode(list(self._by_id.values()))

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._by_id.values())

    def __contains__(self, candidate_id: str) -> bool:
        return candidate_id in self._by_id

    def get(self, candidate_id: str) -> Row | None:
        """Return a candidate, None where there is none of this id."""
        return self._by_id.get(candidate_id)

    def alike(self, group: Group, content: str, at_us: int, window_us: int) -> tuple[Row | None, float, int]:
        """Return the most similar candidate of a group whose last evidence is within the window, and how similar.

        A content without words, such as ``!!!``, is like itself alone. Where there is no such candidate, the third
        value is the place that the index keeps for it: the entry that is taken next is to be that candidate's.
        """
        index, members = self._of(group)
        text = spaced_words(content)
        if not has_words(text):
            row = self._wordless.get((group, content))
            if row is not None and abs(row.last_us - at_us) <= window_us:
                return row, 1.0, -1
            return None, 0.0, -1
        slot, similarity = index.find_or_add(text, at_us, at_us - window_us, at_us + window_us)
        return (members[slot], similarity, -1) if similarity else (None, 0.0, slot)

    def take(self, entry: AnyEntry, slot: int = -1) -> None:
        """Take in what an entry of the log says; an entry about a candidate that is not known says nothing."""
        if isinstance(entry, (Appeared, Kept)):
            self.remove(entry.id)
            new = self._by_id[entry.id] = Row.of(entry)
            if self._waiting is not None:
                found = self._indexes.get(new.group)
                if found is None:
                    self._waiting.setdefault(new.group, []).append(new)
                elif new.state is not CandidateState.ARCHIVED:
                    self._index(new, *found, slot)
            return
        row = self._by_id.get(entry.id) if isinstance(entry, (Supported, Moved, Removed)) else None
        if row is None:
            return
        if isinstance(entry, Supported):
            last_us = row.last_us
            row.support(entry.event, entry.score, entry.cooldown_us, self._config)
            if row.slot >= 0 and row.last_us != last_us:
                self._of(row.group)[0].set_mark(row.slot, row.last_us)
        elif isinstance(entry, Moved):
            row.move(entry)
            if row.state is CandidateState.ARCHIVED:
                self._unindex(row)
        else:
            self.remove(row.id)

    def remove(self, candidate_id: str) -> None:
        """Remove a candidate, if it is known."""
        row = self._by_id.pop(candidate_id, None)
        if row is not None:
            self._unindex(row)

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
        row.slot = index.add(text, row.last_us) if slot < 0 else slot
        members.append(row)

    def _unindex(self, row: Row) -> None:
        if row.slot >= 0:
            self._of(row.group)[0].remove(row.slot)
            row.slot = -1
        elif self._wordless.get((row.group, row.content)) is row:
            del self._wordless[row.group, row.content]
