"""Trials, simulated: the sequential test in bulk, and the optimizer's own functions in made-up worlds.

``python -m benchmarks.simulated_trials [EXPERIMENTS]`` prints how often a change is promoted in each world.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from tipstaff.errors import LedgerError
from tipstaff.model import Record
from tipstaff.runs.events import RunEvent, Violation
from tipstaff.runs.open_run import OpenRun
from tipstaff.runs.optimizer.changes import Change
from tipstaff.runs.optimizer.trials import Experiment, assign, judge
from tipstaff.runs.statistics.intervals import wilson_interval
from tipstaff.runs.statistics.sequential import SMALLEST_EFFECT, boundaries

_AT_ONCE: Final = 500


class Simulated(Record, frozen=True):
    """What became of many experiments.

    Attributes
    ----------
    promoted, rejected
        Shares of the experiments.
    promoted_interval
        Wilson interval of the share promoted.
    mean_runs
        Mean runs in each arm at the decision, or at the end.
    """

    experiments: int
    promoted: float
    rejected: float
    promoted_interval: tuple[float, float]
    mean_runs: float


def simulate(
    control_rate: float, treatment_rate: float, *, runs: int, alpha: float = 0.05, min_runs: int = 30,
    experiments: int = 10_000, seed: int = 1,
) -> Simulated:  # fmt: skip
    """Run many experiments of one pair after the other, looked at after every pair.

    Parameters
    ----------
    control_rate, treatment_rate
        Probability that a run of the arm breaks the rule.
    runs
        Runs in each arm after which an experiment ends.
    alpha, min_runs
        As of the test.
    experiments, seed
        The same values give the same result.
    """
    promote, reject = boundaries(alpha, SMALLEST_EFFECT, runs + 1)
    chance = np.random.default_rng(seed)
    late = np.arange(runs) >= min_runs - 1
    parts: list[Any] = []
    for start in range(0, experiments, _AT_ONCE):
        shape = (min(_AT_ONCE, experiments - start), runs)
        control, treatment = chance.random(shape) < control_rate, chance.random(shape) < treatment_rate
        discordant, wins = np.cumsum(control != treatment, axis=1), np.cumsum(control & ~treatment, axis=1)
        won, lost = (wins >= promote[discordant]) & late, (wins <= reject[discordant]) & late
        ended = won | lost
        at = np.where(ended.any(axis=1), ended.argmax(axis=1), runs - 1)
        rows = np.arange(shape[0])
        parts.append(np.column_stack([won[rows, at].astype(int) - lost[rows, at], at + 1]))
    out = np.concatenate(parts)
    promoted, rejected = int((out[:, 0] == 1).sum()), int((out[:, 0] == -1).sum())
    return Simulated(
        experiments=experiments,
        promoted=promoted / experiments,
        rejected=rejected / experiments,
        promoted_interval=wilson_interval(promoted, experiments),
        mean_runs=float(out[:, 1].mean()),
    )


# -- worlds: the optimizer's own functions over runs that are made up --------------------------------------------------

RULE: Final = "R-1"
_DAY: Final = 86_400_000
_HOUR: Final = 3_600_000


class Memory:
    """What the functions need of a ledger, in memory."""

    def __init__(self) -> None:
        self.entries: dict[str, dict[str, Any]] = {}
        self.runs: list[RunEvent] = []

    def append_record(self, kind: str, event_id: str, body: dict[str, Any], *, at: int, task_id: str = "") -> int:
        """Keep a record; another one of its id is an error, as it is in the ledger."""
        del kind, at, task_id
        if event_id in self.entries:
            raise LedgerError(event_id)
        self.entries[event_id] = body
        return len(self.entries)

    def records(self, kind: str, *, since: int | None = None) -> Iterator[dict[str, Any]]:
        """Yield the records."""
        del kind, since
        return iter(self.entries.values())

    def iter_events(self, *, since: int | None = None) -> Iterator[RunEvent]:
        """Yield the runs."""
        del since
        return iter(self.runs)


class World(NamedTuple):
    """A world in which a change has no effect, unless `treated` says otherwise.

    Attributes
    ----------
    rate
        Probability that run ``number`` of ``of`` breaks the rule, given a number that its session has from 0 to 1.
    session_runs
        Runs of a session; 0 for runs without sessions.
    intents
        How many there are; a session has one.
    treated
        What the change multiplies the rate by.
    abandons
        Share of the runs with the change that are not finished where they break the rule.
    """

    rate: Callable[[int, int, float], float]
    session_runs: int = 0
    intents: int = 1
    treated: float = 1.0
    abandons: float = 0.0


WORLDS: Final = {
    "one rate": World(lambda *_: 0.3),
    "a rare rule": World(lambda *_: 0.02),
    "rate rises": World(lambda number, of, _: 0.05 + 0.55 * number / of),
    "fixed elsewhere": World(lambda number, *_: 0.97 if number < 90 else 0.03),
    "periodic": World(lambda number, *_: 0.8 if number // 10 % 2 else 0.1),
    "sessions alike": World(lambda _n, _o, session: 0.05 + 0.9 * (session > 0.5), session_runs=10),
    "a session, an intent": World(lambda _n, _o, session: 0.05 + 0.9 * (session > 0.5), session_runs=10, intents=5),
    "many intents": World(lambda *_: 0.3, intents=8),
    "broken runs abandoned": World(lambda *_: 0.5, abandons=0.5),
    "it helps": World(lambda *_: 0.6, treated=0.3),
}


def promoted(world: World, *, experiments: int, runs: int, every: int = 5, seed: int = 1) -> int:
    """Return how many of so many trials in a world are promoted, looked at after every few runs."""
    change = Change(kind="modify", rule_id=RULE, before="a", after="b")
    found = 0
    for number in range(experiments):
        chance = random.Random(f"{seed} {number}")
        trial = Experiment(id="t", change=change, started_at=0, runs_needed=1_000_000, seed=str(chance.random()))
        ledger: Any = Memory()
        for at in range(runs):
            session = at // world.session_runs if world.session_runs else at
            own = random.Random(f"{seed} {number} {session}")
            mood, intent = own.random(), f"intent-{own.randrange(world.intents)}"
            run = OpenRun(
                event_id=str(at), task="", task_id="t", intent=intent, guidance_hash="", timestamp=at * _HOUR,
                session_id=f"s{session}" if world.session_runs else None,
            )  # fmt: skip
            arms = assign(ledger, [trial], run)
            treated = arms["t"] == "treatment"
            broken = chance.random() < world.rate(at, runs, mood) * (world.treated if treated else 1)
            if not (treated and broken and chance.random() < world.abandons):
                ledger.runs.append(
                    RunEvent(
                        event_id=run.event_id, task_id="t", guidance_hash="", timestamp=run.timestamp, intent=intent,
                        assignments=arms, violations=(Violation(rule_id=RULE),) if broken else (),
                    )
                )  # fmt: skip
            if at % every == 0 and (decision := judge(trial, ledger, now=at * _HOUR + 2 * _DAY).decision) != "continue":
                found += decision == "promote"
                break
    return found


def main() -> None:
    """Print the share promoted in each world, with its interval."""
    experiments = int(sys.argv[1]) if sys.argv[1:] else 300
    for name, world in WORLDS.items():
        count = promoted(world, experiments=experiments, runs=300)
        low, high = wilson_interval(count, experiments)
        print(f"{name:24} {count / experiments:6.1%} of {experiments} promoted ({low:.1%} to {high:.1%})", flush=True)


if __name__ == "__main__":
    main()
