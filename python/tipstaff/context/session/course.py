"""The course of a session: what each call took, what of it came from the cache, and what broke the cache."""

from __future__ import annotations

from tipstaff.context.session.apis.breakpoints import modelled_cost
from tipstaff.model import Record


class CallReport(Record, frozen=True, kw_only=True):
    """One call of a session.

    Attributes
    ----------
    number
        From 1 on.
    tokens
        What the request took, as the provider reported it; estimated where it did not.
    measured
        Whether that was reported.
    output_tokens
        What the answer took.
    prefix_tokens
        How much of the request was, byte for byte, the beginning of the previous one.
    cached_tokens
        What the provider says it read from its cache; None where it does not say.
    cost
        What the request cost with a cache, modelled, in tokens at the full price.
    broken_by
        Why the beginning differs from the request before: ``pruned``, ``summarized``, ``history``, ``system``,
        ``tools``; empty where it does not.
    break_cost
        What that cost: the difference to the same request with its beginning in the cache.
    saved_tokens
        What a pruning or compaction took out.
    """

    number: int
    tokens: int
    measured: bool = False
    output_tokens: int = 0
    prefix_tokens: int = 0
    cached_tokens: int | None = None
    cost: float = 0.0
    broken_by: str = ""
    break_cost: float = 0.0
    saved_tokens: int = 0

    @property
    def prefix_share(self) -> float:
        """The unchanged share of the request, 0 to 1."""
        return self.prefix_tokens / self.tokens if self.tokens else 0.0


class SessionCourse(Record, frozen=True):
    """All calls of a session, and what they add up to."""

    calls: tuple[CallReport, ...] = ()

    @property
    def tokens(self) -> int:
        """Input tokens of all calls."""
        return sum(call.tokens for call in self.calls)

    @property
    def cost_share(self) -> float:
        """What the calls cost over what they would have cost without a cache."""
        return sum(call.cost for call in self.calls) / self.tokens if self.tokens else 0.0

    @property
    def prefix_share(self) -> float:
        """Mean unchanged share over all calls but the first."""
        later = self.calls[1:]
        return sum(call.prefix_share for call in later) / len(later) if later else 0.0

    @property
    def compactions(self) -> int:
        """How many calls came after a pruning or a compaction."""
        return sum(call.broken_by in {"pruned", "summarized"} for call in self.calls)


def cost_of(tokens: int, prefix: int, api: str) -> float:
    """Return the modelled cost of a request of which `prefix` tokens are in the cache."""
    return modelled_cost(tokens, min(prefix, tokens), api)
