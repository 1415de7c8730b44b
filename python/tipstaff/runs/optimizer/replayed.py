"""What is known about a change without a model: recorded tasks retrieved again, with the change and without."""

from __future__ import annotations

from collections.abc import Iterable

from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.model import PolicyBundle, Record
from tipstaff.runs.optimizer.changes import Change


class ReplayEvidence(Record, frozen=True, kw_only=True):
    """What recorded tasks would be given.

    Attributes
    ----------
    tasks
        Distinct tasks of the latest runs that broke the rule.
    before, after
        Those for which the rule is given without the change and with it; one that is always loaded is given to all.
    displaced
        Those for which another rule would not be given any more.
    """

    tasks: int
    before: int
    after: int
    displaced: int

    @property
    def is_worse(self) -> bool:
        """Whether fewer of the tasks would be given the rule: a trial could only show what is known."""
        return self.after < self.before

    def __str__(self) -> str:
        return (
            f"by replay the rule is given for {self.before} of the {self.tasks} tasks in which it was broken, and for "
            f"{self.after} with the change, which takes another rule from {self.displaced}"
        )


def replayed(
    bundle: PolicyBundle, changed: PolicyBundle, change: Change, tasks: Iterable[str], *, max_shards: int = 5
) -> ReplayEvidence:
    """Retrieve again for the tasks of runs that broke a change's rule.

    Parameters
    ----------
    bundle, changed
        The rules in force, and with the change.
    change
        What would be changed.
    tasks
        Texts of tasks of runs that broke its rule.
    max_shards
        Rules that a task is given.
    """
    known = list(dict.fromkeys(tasks))
    if not known:
        return ReplayEvidence(tasks=0, before=0, after=0, displaced=0)
    old, new = (_given(one, known, max_shards) for one in (bundle, changed))
    own = {change.rule_id}
    return ReplayEvidence(
        tasks=len(known), before=sum(own <= one for one in old), after=sum(own <= one for one in new),
        displaced=sum(bool(one - other - own) for one, other in zip(old, new, strict=True)),
    )  # fmt: skip


def _given(bundle: PolicyBundle, tasks: list[str], max_shards: int) -> list[set[str]]:
    always = {rule.id for rule in bundle.constitution.rules}
    results = ShardRetriever(bundle).retrieve_batch(tasks, max_shards=max_shards)
    return [always | {one.shard.rule.id for one in result.shards} for result in results]
