"""Whether a peer answers the same: figures of contenders that do different work would be of no use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tipstaff import ShardRetriever


def same_best(answer: dict[str, Any], retriever: ShardRetriever, task: str) -> None:
    """Check that the rule which scored best for the peer was chosen here too, or dropped for a contradiction.

    The two classify intents differently, so ours is asked with the peer's. The peer keeps whichever of two
    contradicting rules scored higher unless the other came first; here the one of higher priority stays.

    Raises
    ------
    RuntimeError
        If it was neither.
    """
    ours = retriever.retrieve(task, intent=answer["intent"])
    chosen = [one.shard.rule.id for one in ours.shards]
    dropped = [one.id for one in ours.dropped]
    if answer["ids"][0] not in (*chosen, *dropped):
        msg = f"for {task!r} the Node package retrieves {answer['ids']}, this one {chosen} and drops {dropped}"
        raise RuntimeError(msg)
