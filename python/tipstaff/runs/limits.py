"""The loop breaker: whether an agent that continues should stop. Asked at the host's Stop event, or after each step."""

from __future__ import annotations

from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.model import Record
from tipstaff.runs.scope import Budgets

_RECENT: Final = 10


class LoopLimits(Record, frozen=True, kw_only=True):
    """When to stop.

    Attributes
    ----------
    max_steps
        Tool calls of a run.
    max_failures
        Failures of the same call, one after the other.
    max_continuations
        How often in a run the Stop event may be answered with "go on".
    tokens
        Of a run; None is no limit. A run also stops where what is left does not pay for one more step, as the latest
        steps cost.
    """

    max_steps: int = 200
    max_failures: int = 3
    max_continuations: int = 3
    tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_steps", "max_failures", "max_continuations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be 1 or more")


class LoopDecision(Record, frozen=True):
    """``continue`` or ``stop``, and why."""

    action: str
    reason: str


class LoopBreaker:
    """Watches the steps of one run. One thread at a time."""

    def __init__(self, limits: LoopLimits | None = None) -> None:
        self.limits = limits or LoopLimits()
        self.steps = 0
        self.continuations = 0
        self._failing: dict[str, int] = {}
        self._costs: list[int] = []
        self._tokens = 0

    def step(self, call: str, *, failed: bool = False, tokens: int = 0) -> LoopDecision:
        """Take in one step.

        Parameters
        ----------
        call
            Identifies the call: the same text is the same call.
        failed
            Whether it failed, or was refused. A success of the same call forgets its failures.
        tokens
            What the model used for it.
        """
        self.steps += 1
        if failed:
            self._failing[call] = self._failing.get(call, 0) + 1
        else:
            self._failing.pop(call, None)
        self._tokens += tokens
        self._costs = [*self._costs[1 - _RECENT :], tokens]
        return self.decision()

    def decision(self, budgets: Budgets | None = None) -> LoopDecision:
        """Return whether to stop now; `budgets` are what is left to the agent."""
        limits = self.limits
        if self.steps >= limits.max_steps:
            return LoopDecision("stop", f"{self.steps} steps were taken; the limit is {limits.max_steps}")
        worst = max(self._failing.items(), key=lambda item: item[1], default=("", 0))
        if worst[1] >= limits.max_failures:
            return LoopDecision("stop", f"the same call failed {worst[1]} times: {worst[0][:120]}")
        left = None if limits.tokens is None else limits.tokens - self._tokens
        if budgets is not None:
            if budgets.calls == 0:
                return LoopDecision("stop", "the budget of calls is used up")
            if budgets.usd == 0:
                return LoopDecision("stop", "the budget of money is used up")
            left = budgets.tokens if left is None or budgets.tokens is None else min(left, budgets.tokens)
        if left is not None and left <= self._cost_of_a_step():
            return LoopDecision("stop", f"{max(0, left)} tokens are left, and a step takes {self._cost_of_a_step()}")
        return LoopDecision("continue", "")

    def on_stop(self, *, wants_more: bool, reason: str = "", budgets: Budgets | None = None) -> LoopDecision:
        """Answer the host's Stop event.

        Parameters
        ----------
        wants_more
            Whether something asks the agent to continue (tests fail, a task is open); `reason` says what.
        budgets
            What is left to the agent.
        """
        found = self.decision(budgets)
        if not wants_more or found.action == "stop":
            return LoopDecision("stop", found.reason or "nothing is left to do")
        if self.continuations >= self.limits.max_continuations:
            return LoopDecision("stop", f"it was sent back {self.continuations} times already: {reason}")
        self.continuations += 1
        return LoopDecision("continue", reason)

    def _cost_of_a_step(self) -> int:
        return max(self._costs, default=0)
