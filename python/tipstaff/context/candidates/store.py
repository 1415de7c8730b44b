"""The candidate store: merges what is observed, moves candidates between states, and keeps them in the database."""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    bindparam,
    insert,
    select,
    update,
)

from tipstaff.context.candidates.gates import Evaluation, look_back, promotion_obstacles, unfit
from tipstaff.context.candidates.records import (
    MOVES,
    NEVER_US,
    Candidate,
    CandidateConfig,
    CandidateObservation,
    CandidateState,
    CandidateTransition,
    Evidence,
    Group,
    Incident,
    Row,
    microseconds,
    periods,
)
from tipstaff.context.candidates.texts import has_words, spaced_words
from tipstaff.errors import ConfigError, StoreDamagedError
from tipstaff.kernels import WordSets
from tipstaff.store.database import Database, Schema, migrate, version_of
from tipstaff.store.inside import refuse_links_out
from tipstaff.store.keys import private_key
from tipstaff.store.state import state_folder
from tipstaff.store.untrusted import read_untrusted


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
        """Take a candidate as it is.

        A new one, for which the index may have a place already, or what became of a known one.
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


FILE_NAME: Final = "ledger.db"
FORMER_NAME: Final = "candidates.jsonl"
Observed = CandidateObservation | Mapping[str, Any]
Clock = Callable[[], datetime | float]

_MIN_KEY_BYTES: Final = 16
_SHOWABLE: Final = frozenset({CandidateState.PROMOTED, CandidateState.IN_USE})
_NUMBER: Final = BigInteger().with_variant(Integer, "sqlite")

CANDIDATES: Final = Table(
    "tipstaff_candidates",
    MetaData(),
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False, unique=True),
    Column("revision", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    Column("code", LargeBinary, nullable=False),
    Index("tipstaff_candidates_revision", "revision"),
)
"""One row a candidate, numbered as they appeared. `revision` rises with each change, `body` is empty once the candidate
was removed, `code` signs the other columns."""

SCHEMA: Final = Schema("candidates", "schema of candidates", (CANDIDATES.create,))

_SINCE: Final = select(CANDIDATES).where(CANDIDATES.c.revision > bindparam("revision"))
_ADD: Final = insert(CANDIDATES)
_CHANGE: Final = update(CANDIDATES).where(CANDIDATES.c.number == bindparam("changed"))
_DECODER: Final = msgspec.json.Decoder(Row)
_ENCODER: Final = msgspec.json.Encoder()


class CandidateStore:
    """Candidates in a database, shared by any number of threads and processes.

    Every call first takes in what other processes have written since. What a call has changed is on disk when it
    returns: at an end by ``kill -9`` nothing of it is lost, and with `sync` nothing at a power cut either. Each row is
    signed (HMAC-SHA256); one that was altered is passed over and reported.

    Parameters
    ----------
    path
        A folder, whose ``ledger.db`` is used (the ledger may be in it as well), a SQLite file, or an SQLAlchemy URL.
        Made with its folders if it is not there. A ``candidates.jsonl`` of an earlier version is set aside.
    config
        Thresholds.
    clock
        Returns the present time (an aware `datetime`, or seconds since 1970); the system's if None.
    key
        At least 16 random bytes to sign with; the key in the state folder if None.
    sync
        Whether each change is flushed to the disk before the call returns. Several changes in one call
        (`upsert_many`, `evaluate_all`) are flushed once.

    Raises
    ------
    ConfigError
        If the key is too short, or the one in the state folder may be read by others.
    StoreDamagedError
        If no row verifies, or the database is damaged. It is left as it is.
    StoreWriteError
        If the folder or the database cannot be written, or a link leads it out of the repository.
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
        if key is not None and len(key) < _MIN_KEY_BYTES:
            raise ConfigError(f"key: expected {_MIN_KEY_BYTES} bytes or more, got {len(key)}")
        self.config = config or CandidateConfig()
        self._incidents: dict[object, Incident] = {}
        url = path if isinstance(path, str) and "://" in path else f"sqlite:///{self._file(Path(path)).absolute()}"
        self._database = Database(url, durable=sync)
        # The state folder's key signs other things too; no signature can pass for another's.
        self._key = hmac.digest(key or private_key(state_folder()), b"tipstaff-candidates-1", "sha256")
        self._spans = periods(self.config)
        self._clock = clock
        self._guard = threading.RLock()
        self._process = os.getpid()
        self._forget()
        with self._database.reading() as connection:
            version = version_of(connection, SCHEMA)
        if version < SCHEMA.version:
            with self._database.writing() as connection:
                migrate(connection, SCHEMA)
        with self._reading():
            pass

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def path(self) -> Path | None:
        """The database's file; None where it is no file."""
        return self._database.path

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """What was found not to be as the store left it."""
        return tuple(self._incidents.values())

    def candidates(self, *states: CandidateState | str) -> tuple[Candidate, ...]:
        """Return the candidates in these states (in any, if none is named), in the order in which they appeared.

        Scores are those of this moment; candidates past their retention are left out.
        """
        wanted = {CandidateState(state) for state in states}
        with self._reading() as now_us:
            oldest = now_us - self._spans.retention
            return tuple(
                row.record(now_us, self._spans)
                for row in self._rows
                if row.last_us >= oldest and (not wanted or row.state in wanted)
            )

    def candidate(self, candidate_id: str) -> Candidate | None:
        """Return one candidate, None where there is none of this id."""
        with self._reading() as now_us:
            row = self._rows.get(candidate_id)
            return None if row is None else row.record(now_us, self._spans)

    def obstacles(self, candidate_id: str) -> tuple[str, ...]:
        """Return why a candidate would not be promoted now, in words; empty where it would be."""
        with self._reading() as now_us:
            row = self._row(candidate_id)
            seen = look_back(row, now_us, self.config, self._spans)
            return tuple(promotion_obstacles(row, seen, now_us, self.config, self._spans))

    def promoted(self) -> tuple[list[Row], Callable[[Row], tuple[Candidate, str]]]:
        """Return what is PROMOTED or IN_USE as rows, and what gives one with why it is not to be shown now, if so."""
        with self._reading() as now_us:
            rows = [row for row in self._rows if row.state in _SHOWABLE]

        def judge(row: Row) -> tuple[Candidate, str]:
            return row.record(now_us, self._spans), unfit(row, now_us, self.config, self._spans)

        return rows, judge

    def verify(self) -> tuple[Incident, ...]:
        """Read every row again and return what is not as the store left it; empty where all is well."""
        with self._guard:
            self._incidents.clear()
            self._forget()
            with self._reading():
                return self.incidents

    # -- changing -----------------------------------------------------------------------------------------------------

    def upsert(self, observation: Observed) -> Candidate:
        """Take in an observation (or its fields): as evidence for the most similar candidate, or as a new one.

        Only candidates of the same kind, category and tool count, whose last evidence is within the merge window of
        the observation, and which are not archived. Of equally similar ones the oldest is taken. Raises
        `ConfigError` if a field is not usable, and `StoreWriteError` if it could not be written; then nothing has
        changed.
        """
        return self.upsert_many((observation,))[0]

    def upsert_many(self, observations: Iterable[Observed]) -> tuple[Candidate, ...]:
        """Take in several observations in order, all or none; returns one candidate for each. Raises as `upsert`."""
        checked = [CandidateObservation.of(given, longest=self.config.max_content_chars) for given in observations]
        with self._changing() as (now_us, changed):
            rows: list[Row] = []
            for found in checked:
                # Nothing was observed in the future; a clock that is ahead would keep its evidence fresh for ever.
                at = now_us if found.occurred_at is None else microseconds(found.occurred_at, "occurred_at")
                until = None if found.cooldown_until is None else microseconds(found.cooldown_until, "cooldown_until")
                row = self._rows.observe(found, min(now_us, at), until, self._spans.merge_window, self._new_id())
                rows.append(row)
                changed[row.id] = None
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

        Raises `ConfigError` if there is no such candidate.
        """
        given = {"content": "-", "source_ref": source_ref, "note": note}
        checked = CandidateObservation.of(given, longest=self.config.max_content_chars)
        with self._changing() as (now_us, changed):
            row = self._row(candidate_id)
            event = Evidence(
                now_us, int(success), int(not success), checked.source_ref, severe_failure, correction_conflict,
                checked.note,
            )  # fmt: skip
            step = self.config.success_step if success else -self.config.failure_step
            self._rows.support(row, event, min(1.0, max(0.0, row.score + step)))
            changed[row.id] = None
            return row.record(now_us, self._spans)

    def mark_used(self, candidate_ids: Iterable[str]) -> tuple[CandidateTransition, ...]:
        """Note that candidates were put into a prompt: those that are PROMOTED become IN_USE."""
        with self._changing() as (now_us, changed):
            evaluation = Evaluation(self.config, self._spans, now_us)
            for row in map(self._rows.get, candidate_ids):
                if row is not None and row.state is CandidateState.PROMOTED:
                    evaluation.move(row, CandidateState.IN_USE, "USED", "was put into a prompt")
            return self._moved(evaluation, now_us, changed)

    def evaluate_all(self) -> tuple[CandidateTransition, ...]:
        """Move every candidate to where the gates put it now, and remove those past their retention.

        Linear in the number of candidates. Returns what changed, in the order of the candidates.
        """
        with self._changing() as (now_us, changed):
            evaluation = Evaluation(self.config, self._spans, now_us)
            evaluation.run(self._rows)
            return self._moved(evaluation, now_us, changed)

    def transition(
        self, candidate_id: str, to: CandidateState | str, reason: str = "", *, force: bool = False
    ) -> CandidateTransition:
        """Move one candidate by hand to a state that may follow its own.

        With `force`, promote although gates forbid it. Raises `ConfigError` if there is no such candidate, the state
        may not follow, or a gate forbids it.
        """
        state = CandidateState(to)
        with self._changing() as (now_us, changed):
            row = self._row(candidate_id)
            if state not in MOVES[row.state]:
                allowed = ", ".join(MOVES[row.state]) or "nothing"
                raise ConfigError(f"candidate {candidate_id} is {row.state}, which {allowed} may follow, not {state}")
            if state is CandidateState.PROMOTED and not force:
                seen = look_back(row, now_us, self.config, self._spans)
                obstacle = next(promotion_obstacles(row, seen, now_us, self.config, self._spans), "")
                if obstacle:
                    raise ConfigError(f"candidate {candidate_id} may not be promoted: {obstacle}")
            evaluation = Evaluation(self.config, self._spans, now_us)
            code = "MANUAL_FORCE" if force else "MANUAL_TRANSITION"
            evaluation.move(row, state, code, reason or "moved by hand", by="manual")
            return self._moved(evaluation, now_us, changed)[0]

    def close(self) -> None:
        """Close the connections. A store that is used again opens them again."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- rows ---------------------------------------------------------------------------------------------------------

    def _file(self, path: Path) -> Path:
        """Return the database's file; a log that an earlier version kept in its place is set aside."""
        is_folder = path.is_dir() or not (path.exists() or path.suffix)
        file = path / FILE_NAME if is_folder else path.with_suffix(".db") if path.suffix == ".jsonl" else path
        refuse_links_out(file)
        for former in {file.parent / FORMER_NAME, path}:
            with contextlib.suppress(OSError):
                if former.is_file() and read_untrusted(former)[:8] == b'{"mac":"':
                    kept = former.with_name(former.name + ".former")
                    former.replace(kept)
                    detail = f"{former}: candidates of an earlier version, set aside in {kept.name} and not used"
                    self._incidents[former] = Incident(kind="former", detail=detail)
        return file

    @contextlib.contextmanager
    def _reading(self) -> Generator[int]:
        """Take in what others wrote, and give the time in microseconds."""
        with self._alone(), self._database.reading() as connection:
            self._take_in(connection)
            yield self._now_us()

    @contextlib.contextmanager
    def _changing(self) -> Generator[tuple[int, dict[str, None]]]:
        """As `_reading`, and write the candidates whose ids are among the keys at the end, or change nothing."""
        changed: dict[str, None] = {}
        with self._alone():
            try:
                with self._database.writing() as connection:
                    self._take_in(connection)
                    yield self._now_us(), changed
                    if changed:
                        self._write(connection, changed)
            except BaseException:
                if changed:
                    self._forget()
                raise

    def _alone(self) -> contextlib.AbstractContextManager[Any]:
        if os.getpid() != self._process:  # another thread of the parent may have held it
            self._process, self._guard = os.getpid(), threading.RLock()
        return self._guard

    def _forget(self) -> None:
        self._rows = Rows(self.config)
        self._numbers: dict[str, int] = {}
        self._revision = self._last_number = 0

    def _take_in(self, connection: Connection) -> None:
        # Not ordered by the database, which would read all rows in that order.
        found = sorted(connection.execute(_SINCE, {"revision": self._revision}).all())
        if found:
            try:
                self._take_rows(found)
            except BaseException:
                self._forget()  # what was read in part is read again
                raise

    def _take_rows(self, found: Sequence[Any]) -> None:
        newest, verified = self._revision, 0
        for number, candidate_id, revision, body, code in found:
            self._last_number = max(self._last_number, number)
            row = self._checked(number, candidate_id, revision, body, code)
            if row is None:
                detail = f"candidate {candidate_id!r} does not verify; it is passed over"
                self._incidents.setdefault((number, body), Incident(kind="tampered", detail=detail))
                self._rows.remove(candidate_id)
                continue
            verified += 1
            newest = max(newest, revision)
            self._numbers[candidate_id] = number
            if body:
                self._rows.put(row)
            else:
                self._rows.remove(candidate_id)
        if not verified and not self._revision:
            raise StoreDamagedError(
                f"{self._database.where}: none of its candidates verifies: they are damaged, or signed with another "
                "key; restore one of them, or move the file away (nothing was changed)"
            )
        self._revision = newest

    def _checked(self, number: int, candidate_id: str, revision: int, body: str, code: bytes) -> Row | None:
        """Return a row that verifies, an empty one for a candidate that was removed; else None."""
        try:
            if not hmac.compare_digest(bytes(code), self._code(number, candidate_id, revision, body)):
                return None
            return _DECODER.decode(body) if body else _REMOVED
        except (msgspec.MsgspecError, TypeError, AttributeError):
            return None

    def _write(self, connection: Connection, changed: dict[str, None]) -> None:
        self._revision += 1
        added: list[dict[str, Any]] = []
        altered: list[dict[str, Any]] = []
        for candidate_id in changed:
            number = self._numbers.get(candidate_id)
            values = added if number is None else altered
            if number is None:
                number = self._last_number = self._last_number + 1
                self._numbers[candidate_id] = number
            row = self._rows.get(candidate_id)
            body = "" if row is None else _ENCODER.encode(row).decode()
            code = self._code(number, candidate_id, self._revision, body)
            columns = {"number": number, "id": candidate_id, "revision": self._revision, "body": body, "code": code}
            values.append(columns if values is added else {"changed": number, **columns})
        if added:
            connection.execute(_ADD, added)
        if altered:
            connection.execute(_CHANGE, altered)

    def _code(self, number: int, candidate_id: str, revision: int, body: str) -> bytes:
        return hmac.digest(self._key, f"{number}\n{candidate_id}\n{revision}\n{body}".encode(), "sha256")

    def _moved(self, evaluation: Evaluation, now_us: int, changed: dict[str, None]) -> tuple[CandidateTransition, ...]:
        for one in evaluation.transitions:
            changed[one.candidate_id] = None
            if one.to_state is None:
                self._rows.remove(one.candidate_id)
                continue
            row = self._row(one.candidate_id)
            until = one.cooldown_until
            row.move(one.to_state, now_us, None if until is None else microseconds(until, "cooldown_until"))
            if row.state is CandidateState.ARCHIVED:
                self._rows.unindex(row)
        return tuple(evaluation.transitions)

    def _row(self, candidate_id: str) -> Row:
        row = self._rows.get(candidate_id)
        if row is None:
            raise ConfigError(f"there is no candidate {candidate_id!r}")
        return row

    def _new_id(self) -> str:
        return f"cand-{secrets.token_hex(8)}"

    def _now_us(self) -> int:
        return time.time_ns() // 1000 if self._clock is None else microseconds(self._clock(), "clock")


_REMOVED: Final = Row("", "", "", "", "", (), CandidateState.ARCHIVED, 0.0, 0, 0, 0, 0, 0, 0, [], [])
