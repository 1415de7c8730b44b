"""What the answers of each tenant are made of: its constitution and its cards."""

from __future__ import annotations

from typing import Final, NamedTuple

from tipstaff.guidance.retrieval.shard_index import ShardIndex
from tipstaff.guidance.retrieval.shard_profiles import Cards
from tipstaff.model import Constitution

_MAX_VIEWS: Final = 256
"""Tenants whose rules' cards are remembered at a time."""
SECTION: Final = "## Task-Specific Rules"


class View(NamedTuple):
    """What one tenant's answers are made of.

    Attributes
    ----------
    constitution
        What is always loaded.
    head, opening
        The policy's text without shards, and what is before them.
    cards
        Of the shards.
    """

    constitution: Constitution
    head: str
    opening: str
    cards: Cards


class Views:
    """Gives the views of tenants and remembers them.

    Parameters
    ----------
    index
        All shards.
    """

    def __init__(self, index: ShardIndex) -> None:
        self._index = index
        self._known: dict[str | None, View] = {}

    def of(self, tenant: str | None) -> View:
        """Return a tenant's view."""
        return self._known.get(tenant) or self._made(tenant)

    def _made(self, tenant: str | None) -> View:
        index = self._index
        if not index.knows(tenant):
            # Whoever has nothing of their own is answered as everybody, and takes no room here.
            tenant = None
        view = self._known.get(tenant)
        if view is None:
            constitution = index.constitution_of(tenant)
            head = constitution.text.rstrip("\n")
            view = View(
                constitution,
                head,
                f"{head}\n\n{SECTION}\n\n" if head else f"{SECTION}\n\n",
                Cards(index.shard, constitution, index.overriding_of(tenant), index.n_shards),
            )
            if len(self._known) >= _MAX_VIEWS:
                self._known.clear()
            self._known[tenant] = view
        return view
