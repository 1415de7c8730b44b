"""A model's window during a run: six regions, how full they are, and what leaves them first.

======================  =====================  ==============================================================
region                  leaves                 what it holds
======================  =====================  ==============================================================
``system_prompt``       never                  who the agent is, its tools, its rules
``compacted_history``   last                   summaries of what was said before
``graph_entities``      fourth                 facts that were looked up
``hydrated_context``    third                  files and other texts that were loaded for the task
``recent_history``      second                 the conversation
``tool_results``        first                  what tools returned
======================  =====================  ==============================================================

The table is in the order in which the regions are sent. Utilization is the sum of all tokens over the limit less the
headroom for the answer; from 60 % on the history is to be compacted. Within a region the oldest entry leaves first, and
only as many leave as needed. A call of a tool and its results leave together, because a model's API refuses one without
the other. Source: ADR-004, runtime context management.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from tipstaff.context.conversation.messages import CALLS, blocks_of
from tipstaff.errors import ConfigError
from tipstaff.model import Record

REGIONS: Final = tuple(
    "system_prompt compacted_history graph_entities hydrated_context recent_history tool_results".split()
)
"""In the order in which they are sent; they leave from the end, the first never."""

DEFAULT_HEADROOM_TOKENS: Final = 6_400
DEFAULT_THRESHOLD: Final = 0.60
DEFAULT_TOOL_RESULT_MAX_AGE: Final = 3
_BYTES_PER_TOKEN: Final = 4


class WindowEntry(Record, frozen=True, kw_only=True):
    """One message or text in the window, numbered from 0 on, with the iteration in which it was added.

    `links` are the ids of the tool calls that it makes or answers.
    """

    index: int
    region: str
    role: str
    tokens: int
    iteration: int
    content: Any = None
    links: frozenset[str] = frozenset()


def bytes_rule(text: str) -> int:
    """Return the tokens of a text: UTF-8 bytes over four, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


class ContextWindow:
    """The regions of a model's window during one run.

    Parameters
    ----------
    limit
        Size of the model's window in tokens.
    headroom
        Tokens kept for the answer; where it is not below `limit` it is ignored.
    threshold
        Utilization from which on `should_compact` is true, above 0 and at most 1.
    tool_result_max_age
        Iterations after which the result of a tool expires; one of exactly this age stays.
    count
        Counter of tokens of texts.

    Raises
    ------
    ConfigError
        If a number is out of range.
    """

    def __init__(
        self,
        limit: int,
        headroom: int = DEFAULT_HEADROOM_TOKENS,
        threshold: float | str | Fraction = DEFAULT_THRESHOLD,
        tool_result_max_age: int = DEFAULT_TOOL_RESULT_MAX_AGE,
        *,
        count: Callable[[str], int] = bytes_rule,
    ) -> None:
        for name, value, least in (
            ("limit", limit, 1),
            ("headroom", headroom, 0),
            ("tool_result_max_age", tool_result_max_age, 1),
        ):
            if isinstance(value, bool) or value < least:
                raise ConfigError(f"{name}: expected at least {least}, got {value!r}")
        try:
            # A float such as 0.6 stands for the decimal that was written.
            share = Fraction(str(threshold))
        except ValueError:
            share = Fraction(0)
        if not 0 < share <= 1:
            raise ConfigError(f"threshold: expected a number above 0 and at most 1, got {threshold!r}")
        self.limit: Final = limit
        self.headroom: Final = headroom
        self.threshold: Final = share
        self.tool_result_max_age: Final = tool_result_max_age
        self.iteration = 1
        self._count = count
        self._next = 0
        self._total = 0
        self._entries: dict[int, WindowEntry] = {}
        self._linked: dict[str, set[int]] = {}

    def add(
        self, region: str, content: str | Mapping[str, Any] | None = None, *, role: str = "", tokens: int | None = None
    ) -> int:
        """Add a text, or a message of the Messages API's shape, to one of the `REGIONS` and return its index.

        The role ``tool`` makes it expire; of a message it is its own role, or ``tool`` where it holds nothing but
        results. `tokens` are what it costs, where that is known. Raises `ConfigError` if the region is not known, or
        `tokens` is negative.
        """
        if region not in REGIONS:
            raise ConfigError(f"region: expected one of {', '.join(REGIONS)}, got {region!r}")
        if tokens is not None and tokens < 0:
            raise ConfigError(f"tokens: expected at least 0, got {tokens!r}")
        links: frozenset[str] = frozenset()
        if isinstance(content, Mapping):
            links, only_results = _links(content)
            role = role or ("tool" if only_results else str(content.get("role") or ""))
        entry = WindowEntry(
            index=self._next,
            region=region,
            role=role,
            tokens=self._tokens(content) if tokens is None else tokens,
            iteration=self.iteration,
            content=content,
            links=links,
        )
        self._next += 1
        self._total += entry.tokens
        self._entries[entry.index] = entry
        for link in links:
            self._linked.setdefault(link, set()).add(entry.index)
        return entry.index

    def advance(self) -> int:
        """Begin the next iteration and return its number."""
        self.iteration += 1
        return self.iteration

    @property
    def total(self) -> int:
        """Tokens of all entries."""
        return self._total

    @property
    def utilization(self) -> Fraction:
        """Tokens over the limit less the headroom, exact."""
        room = self.limit - self.headroom
        return Fraction(self._total, room if room > 0 else self.limit)

    @property
    def should_compact(self) -> bool:
        """Whether the threshold is reached."""
        return self.utilization >= self.threshold

    def entries(self) -> tuple[WindowEntry, ...]:
        """Return the entries in the order in which they are sent."""
        return tuple(sorted(self._entries.values(), key=lambda entry: REGIONS.index(entry.region)))

    def order(self) -> tuple[int, ...]:
        """Return the indexes of the entries in the order in which they are sent."""
        return tuple(entry.index for entry in self.entries())

    def region_tokens(self) -> dict[str, int]:
        """Return the tokens of each region."""
        found: dict[str, int] = dict.fromkeys(REGIONS, 0)
        for entry in self._entries.values():
            found[entry.region] += entry.tokens
        return found

    def gc(self, iteration: int | None = None) -> tuple[int, ...]:
        """Drop results of tools that are too old at an iteration, with the calls that they answer; return indexes."""
        if iteration is not None:
            self.iteration = iteration
        old = [
            entry
            for entry in self.entries()
            if entry.role == "tool" and self.iteration - entry.iteration > self.tool_result_max_age
        ]
        return tuple(index for entry in old for index in self._drop(entry))

    def evict(self, budget: int) -> tuple[int, ...]:
        """Drop entries until the total is at most `budget`, and return their indexes in the order of dropping.

        The system prompt stays; where it alone is above the budget, all others are dropped and `total` is still above.
        """
        dropped: list[int] = []
        for entry in sorted(self._entries.values(), key=lambda entry: -REGIONS.index(entry.region)):
            if self._total <= budget or entry.region == REGIONS[0]:
                break
            dropped += self._drop(entry)
        return tuple(dropped)

    def _tokens(self, content: str | Mapping[str, Any] | None) -> int:
        if isinstance(content, Mapping):
            from tipstaff.context.tokens.counting import estimate_message

            return estimate_message(dict(content), count=self._count)
        return self._count(content) if content else 0

    def _drop(self, entry: WindowEntry) -> list[int]:
        """Drop an entry and all that calls and results tie to it, its own first, except from the system prompt."""
        found, waiting = {entry.index: entry}, [entry]
        while waiting:
            for link in waiting.pop().links:
                new = [index for index in sorted(self._linked.get(link, ())) if index not in found]
                waiting += [self._entries[index] for index in new]
                found.update((index, self._entries[index]) for index in new)
        dropped = [i for i, one in found.items() if i in self._entries and one.region != "system_prompt"]
        for index in dropped:
            gone = self._entries.pop(index)
            self._total -= gone.tokens
            for link in gone.links:
                self._linked[link].discard(index)
        return dropped


def _links(message: Mapping[str, Any]) -> tuple[frozenset[str], bool]:
    """Return the ids of a message's calls and results, and whether it holds nothing but results."""
    blocks = blocks_of(message)
    results = {str(b.get("tool_use_id")) for b in blocks if str(b.get("type")).endswith("tool_result")}
    calls = {str(block.get("id")) for block in blocks if block.get("type") in CALLS}
    return frozenset(calls | results), bool(blocks) and all(str(b.get("type")).endswith("tool_result") for b in blocks)
