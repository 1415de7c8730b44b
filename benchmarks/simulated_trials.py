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
from tipstaff.runs.statistics.metrics import wilson_interval
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


class Place(NamedTuple):
    """What the chance of a run to break the rule may depend on: anything but its arm.

    Attributes
    ----------
    number, of
        Which run of how many.
    mood
        A number from 0 to 1 that the runs of a session share.
    intent
        The number of its intent.
    before
        Whether the run before it broke the rule.
    """

    number: int
    of: int
    mood: float
    intent: int
    before: bool


class World(NamedTuple):
    """A world in which a change has no effect, unless `treated` says otherwise.

    Attributes
    ----------
    rate
        Probability that a run breaks the rule.
    session_runs
        The most runs of a session; 0 for runs without sessions.
    varied
        Whether sessions have from one to so many runs.
    intents
        How many there are; a session has one.
    treated
        What the change multiplies the rate by.
    abandons
        Share of the runs with the change that are not finished where they break the rule.
    lost
        Share of all runs that are not finished.
    slow
        Share of all runs that are finished two days later.
    clocks
        By how many hours the clocks of the machines differ.
    """

    rate: Callable[[Place], float]
    session_runs: int = 0
    varied: bool = False
    intents: int = 1
    treated: float = 1.0
    abandons: float = 0.0
    lost: float = 0.0
    slow: float = 0.0
    clocks: int = 0


def _by_mood(run: Place) -> float:
    return 0.05 + 0.9 * (run.mood > 0.5)


WORLDS: Final = {
    "one rate": World(lambda _: 0.3),
    "never": World(lambda _: 0.0),
    "always": World(lambda _: 1.0),
    "a rare rule": World(lambda _: 0.02),
    "rate rises": World(lambda run: 0.05 + 0.55 * run.number / run.of),
    "fixed elsewhere": World(lambda run: 0.97 if run.number < 90 else 0.03),
    "periodic": World(lambda run: 0.8 if run.number // 10 % 2 else 0.1),
    "every second": World(lambda run: 0.8 if run.number % 2 else 0.1),
    "by the day of the week": World(lambda run: (run.number % 7) / 7),
    "as the one before": World(lambda run: 0.9 if run.before else 0.1),
    "sessions alike": World(_by_mood, session_runs=10),
    "sessions of any length": World(_by_mood, session_runs=30, varied=True),
    "a session, an intent": World(_by_mood, session_runs=10, intents=5),
    "many intents": World(lambda _: 0.3, intents=8),
    "one intent breaks": World(lambda run: 0.9 if run.intent == 0 else 0.05, intents=4),
    "intents come and go": World(lambda run: 0.9 if run.intent == run.number * 4 // run.of else 0.1, intents=4),
    "broken runs abandoned": World(lambda _: 0.5, abandons=0.5),
    "runs lost": World(lambda _: 0.3, lost=0.2),
    "runs that last": World(lambda _: 0.3, slow=0.3),
    "clocks differ": World(lambda run: 0.05 + 0.55 * run.number / run.of, clocks=48),
    "it helps": World(lambda _: 0.6, treated=0.3),
}


def promoted(world: World, *, experiments: int, runs: int, every: int = 5, seed: int = 1) -> int:
    """Return how many of so many trials in a world are promoted, looked at after every few runs."""
    return sum(_is_promoted(world, f"{seed} {number}", runs, every) for number in range(experiments))


def _is_promoted(world: World, seed: str, runs: int, every: int) -> bool:
    chance = random.Random(seed)
    change = Change(kind="modify", rule_id=RULE, before="a", after="b")
    trial = Experiment(id="t", change=change, started_at=0, runs_needed=1_000_000, seed=str(chance.random()))
    ledger: Any = Memory()
    late: list[tuple[int, RunEvent]] = []
    session = left = 0
    before = False
    for number in range(runs):
        if not left:
            session += 1
            left = chance.randint(1, world.session_runs) if world.varied else world.session_runs or 1
        left -= 1
        own = random.Random(f"{seed} {session}")
        mood, intent = own.random(), own.randrange(world.intents)
        run = OpenRun(
            event_id=str(number), task="", task_id="t", intent=f"intent-{intent}", guidance_hash="",
            timestamp=(number + chance.randint(-world.clocks, world.clocks)) * _HOUR,
            session_id=f"s{session}" if world.session_runs else None,
        )  # fmt: skip
        arms = assign(ledger, [trial], run)
        treated = arms["t"] == "treatment"
        rate = world.rate(Place(number, runs, mood, intent, before))
        before = broken = chance.random() < rate * (world.treated if treated else 1)
        event = RunEvent(
            event_id=run.event_id, task_id="t", guidance_hash="", timestamp=run.timestamp, intent=run.intent,
            assignments=arms, violations=(Violation(rule_id=RULE),) if broken else (),
        )  # fmt: skip
        is_left = chance.random() < world.lost or (treated and broken and chance.random() < world.abandons)
        if not is_left and chance.random() < world.slow:
            late.append((number + 48, event.replace(duration_ms=48 * _HOUR)))
        elif not is_left:
            ledger.runs.append(event)
        ledger.runs += [event for ready, event in late if ready == number]
        if number % every == 0 and (decision := judge(trial, ledger, now=number * _HOUR).decision) != "continue":
            return decision == "promote"
    return False


def main() -> None:
    """Print the share promoted in each world, with its interval."""
    experiments = int(sys.argv[1]) if sys.argv[1:] else 300
    for name, world in WORLDS.items():
        count = promoted(world, experiments=experiments, runs=300)
        low, high = wilson_interval(count, experiments)
        print(f"{name:24} {count / experiments:6.1%} of {experiments} promoted ({low:.1%} to {high:.1%})", flush=True)


if __name__ == "__main__":
    main()
