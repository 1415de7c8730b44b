"""The loop breaker: whether an agent that continues should stop. Asked at the host's Stop event, or after each step."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.model import Record
from tipstaff.runs.scope import Budgets

_RECENT: Final = 10
_SHARED: Final = 0.75
"""Share of their words that calls have in common which count as the same."""

_WORD: Final = re.compile(r"[^\W\d]{2,}")
_COMMENT: Final = re.compile(r"(?:^|\s)#.*$", re.MULTILINE)


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


class LoopBreaker(msgspec.Struct):
    """Watches the steps of one run. One thread at a time; as JSON it can be continued in another process.

    Attributes
    ----------
    limits
        When it stops the run.
    steps, continuations, tokens
        What the run used so far.
    failing
        Calls that failed, one of each kind, and how often in a row.
    costs
        Tokens of the latest steps.
    """

    limits: LoopLimits = LoopLimits()
    steps: int = 0
    continuations: int = 0
    tokens: int = 0
    failing: dict[str, int] = {}
    costs: list[int] = []

    def step(self, call: str, *, failed: bool = False, tokens: int = 0) -> LoopDecision:
        """Take in one step.

        Parameters
        ----------
        call
            The call as text: calls that share most of their words count as the same, so that another comment, number
            or name of a temporary file makes no other call.
        failed
            Whether it failed, or was refused. A success of the same call forgets its failures.
        tokens
            What the model used for it.
        """
        self.steps += 1
        same = self._same(call)
        if failed:
            self.failing[same] = self.failing.get(same, 0) + 1
        else:
            self.failing.pop(same, None)
        self.tokens += tokens
        self.costs = [*self.costs[1 - _RECENT :], tokens]
        return self.decision()

    def decision(self, budgets: Budgets | None = None) -> LoopDecision:
        """Return whether to stop now; `budgets` are what is left to the agent."""
        limits = self.limits
        if self.steps >= limits.max_steps:
            return LoopDecision("stop", f"{self.steps} steps were taken; the limit is {limits.max_steps}")
        worst = max(self.failing.items(), key=lambda item: item[1], default=("", 0))
        if worst[1] >= limits.max_failures:
            return LoopDecision("stop", f"the same call failed {worst[1]} times: {worst[0][:120]}")
        left = None if limits.tokens is None else limits.tokens - self.tokens
        if budgets is not None:
            if budgets.calls == 0:
                return LoopDecision("stop", "the budget of calls is used up")
            if budgets.usd == 0:
                return LoopDecision("stop", "the budget of money is used up")
            if budgets.seconds == 0:
                return LoopDecision("stop", "the budget of time is used up")
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

    def _same(self, call: str) -> str:
        """Return the call that failed before and is the same but for some words, else the call itself."""
        words = _words(call)
        for known in self.failing:
            others = _words(known)
            if known == call or len(words & others) >= _SHARED * len(words | others) > 0:
                return known
        return call

    def _cost_of_a_step(self) -> int:
        return max(self.costs, default=0)


def _words(call: str) -> set[str]:
    return set(_WORD.findall(_COMMENT.sub("", call)))
