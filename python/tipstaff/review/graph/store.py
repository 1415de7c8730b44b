"""Statements about entities, and queries by the beginnings of entities and predicates."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from tipstaff.model import Record

Value = str | int | float | bool


class Statement(Record, frozen=True, gc=False):
    """One statement.

    Attributes
    ----------
    is_entity
        Whether `object` is the id of an entity and not a value.
    """

    subject: str
    predicate: str
    object: Value
    is_entity: bool = False


class Entity(Record, frozen=True):
    """An entity and its statements: for each predicate its values, in order."""

    id: str
    values: dict[str, tuple[Value, ...]]


class GraphStore:
    """Statements, kept by subject and sorted.

    Parameters
    ----------
    statements
        In any order; repeated ones count once, and those of one subject keep their order.
    """

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        self._by_subject: dict[str, dict[tuple[str, Value, bool], Statement]] = {}
        for one in statements:
            self.add(one)
        self._sorted: list[str] | None = None

    def add(self, statement: Statement) -> None:
        """Add a statement."""
        key = statement.predicate, statement.object, statement.is_entity
        self._by_subject.setdefault(statement.subject, {}).setdefault(key, statement)
        self._sorted = None

    def query(self, *, entity_prefix: str = "", predicate_prefix: str = "") -> list[Statement]:
        """Return the statements whose subject and predicate begin so, by subject."""
        return [
            one
            for subject in self._subjects(entity_prefix)
            for one in self._by_subject[subject].values()
            if one.predicate.startswith(predicate_prefix)
        ]

    def entities(self, prefix: str, *, with_chunks: bool = False) -> list[Entity]:
        """Return the entities whose id begins so; chunks are left out unless they are asked for."""
        found: list[Entity] = []
        for subject in self._subjects(prefix):
            if not with_chunks and ".chunk." in subject:
                continue
            values: dict[str, tuple[Value, ...]] = {}
            for one in self._by_subject[subject].values():
                values[one.predicate] = (*values.get(one.predicate, ()), one.object)
            found.append(Entity(subject, values))
        return found

    def inbound(self, subject: str, predicate: str) -> list[str]:
        """Return the entities that have a statement about this one."""
        return [
            one.subject for one in self.query(predicate_prefix=predicate) if one.is_entity and one.object == subject
        ]

    def _subjects(self, prefix: str) -> list[str]:
        if self._sorted is None:
            self._sorted = sorted(self._by_subject)
        start = bisect_left(self._sorted, prefix)
        found: list[str] = []
        for subject in self._sorted[start:]:
            if not subject.startswith(prefix):
                break
            found.append(subject)
        return found
