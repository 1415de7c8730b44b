"""Figures of runs: intervals of shares and means, metrics, how rules are followed.

Sources: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927); the
stratified bootstrap draws within each stratum, as in B. Efron and R. Tibshirani, "An Introduction to the Bootstrap".
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from statistics import NormalDist
from typing import Any, Final

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.model import Record
from tipstaff.runs.events import RunEvent, Violation

_MOST_INDICES: Final = 1 << 20


def wilson_interval(successes: int, trials: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval of a share.

    Parameters
    ----------
    successes, trials
        Counts; no trial gives the interval (0, 1).
    confidence
        Between 0 and 1.

    Raises
    ------
    ConfigError
        The counts are negative, there are more successes than trials, or `confidence` is not between 0 and 1.
    """
    if not 0 <= successes <= trials:
        raise ConfigError(f"{successes} successes of {trials} trials; expected 0 <= successes <= trials")
    z = _quantile(confidence)
    if trials == 0:
        return 0.0, 1.0
    share = successes / trials
    centre = share + z * z / (2 * trials)
    half = z * ((share * (1 - share) + z * z / (4 * trials)) / trials) ** 0.5
    scale = 1 + z * z / trials
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == trials else (centre + half) / scale
    return max(0.0, low), min(1.0, high)


def bootstrap_difference(
    control: Any, treatment: Any, control_strata: Any, treatment_strata: Any,
    *, confidence: float = 0.95, draws: int = 2000, seed: int = 0,
) -> tuple[float, float]:  # fmt: skip
    """Return the percentile interval of mean(treatment) - mean(control), drawn within strata.

    Parameters
    ----------
    control, treatment
        float64 ``(n,)`` and ``(m,)``: what was measured of each run.
    control_strata, treatment_strata
        int ``(n,)`` and ``(m,)``: the stratum (an intent) of each run, from 0 up.
    confidence, draws, seed
        The same values give the same interval.

    Raises
    ------
    ConfigError
        An arm is empty, or `confidence` is not between 0 and 1.
    """
    import numpy as np

    _quantile(confidence)
    if len(control) == 0 or len(treatment) == 0:
        raise ConfigError("both arms need at least one run")
    arms = ((control, control_strata), (treatment, treatment_strata))
    chance = np.random.default_rng(seed)
    means = [_stratified_means(np.asarray(values, float), np.asarray(strata), draws, chance) for values, strata in arms]
    tail = (1 - confidence) / 2
    low, high = np.quantile(means[1] - means[0], [tail, 1 - tail])
    return float(low), float(high)


def _stratified_means(values: Any, strata: Any, draws: int, chance: Any) -> Any:
    """Return float64 ``(draws,)``: means of samples with replacement, drawn within strata.

    A compiled loop was 3 times as fast, which is not worth Numba's start.
    """
    import numpy as np

    sums = np.zeros(draws)
    for stratum in np.unique(strata):
        group = values[strata == stratum]
        step = max(1, _MOST_INDICES // len(group))
        for start in range(0, draws, step):
            part = sums[start : start + step]
            part += group[chance.integers(0, len(group), (len(part), len(group)))].sum(axis=1)
    return sums / len(values)


def _quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ConfigError(f"confidence is {confidence}; it must be between 0 and 1")
    return NormalDist().inv_cdf((1 + confidence) / 2)


# -- figures of a ledger as a whole, and the violations that cost most -------------------------------------------------


_PER_RUNS: Final = 10


class Metrics(Record, frozen=True):
    """Figures of a set of runs.

    Attributes
    ----------
    violation_rate
        Violations in ten runs.
    self_correction_rate
        Share of the violations that agents put right themselves; 1 where runs have none, 0 where there are no runs.
    rework_lines
        Mean lines written again, over all runs.
    clarifying_questions
        Mean questions that agents asked, over all runs.
    task_count
        Number of runs.
    """

    violation_rate: float
    self_correction_rate: float
    rework_lines: float
    clarifying_questions: float
    task_count: int


class ViolationRank(Record, frozen=True):
    """One rule's violations.

    Attributes
    ----------
    rule_id
        The rule.
    frequency
        How often it was broken.
    cost
        Mean lines of rework that a violation of it is charged with.
    score
        ``frequency * cost``: all its lines of rework.
    """

    rule_id: str
    frequency: int
    cost: float
    score: float


def ledger_metrics(events: Iterable[RunEvent]) -> Metrics:
    """Return the figures of runs."""
    runs = violations = corrected = rework = questions = 0
    for event in events:
        runs += 1
        violations += len(event.violations)
        corrected += sum(found.auto_corrected for found in event.violations)
        rework += event.rework_lines
        questions += event.clarifying_questions
    if runs == 0:
        return Metrics(0.0, 0.0, 0.0, 0.0, 0)
    return Metrics(
        violation_rate=violations / runs * _PER_RUNS,
        self_correction_rate=corrected / violations if violations else 1.0,
        rework_lines=rework / runs,
        clarifying_questions=questions / runs,
        task_count=runs,
    )


# -- how each rule fares: how often it was relevant, retrieved, followed, broken and put right, with -------------------


ALWAYS_FROM: Final = 3
"""Runs from which "always violated" says more than chance."""

MOST_TASKS: Final = 500
"""Of each rule so many tasks are kept, those of the latest runs that broke it."""

_MOST_DESCRIPTIONS: Final = 1_000
_ROWS: Final = 10_000


class RunRow(msgspec.Struct, frozen=True, gc=False):
    """What figures about rules need of a run; attributes as of `RunEvent`."""

    retrieved_rule_ids: tuple[str, ...] = ()
    relevant_rule_ids: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    rework_lines: int = 0
    task: str = ""


class RuleUses:
    """What runs say of each rule.

    Attributes
    ----------
    runs
        How many there were.
    relevant, retrieved, broken, broken_without, corrected
        Runs by rule: that name it as relevant, were given it or broke it; were given it; broke it; broke it without
        having been given it; put each of their violations of it right.
    violations, rework
        Violations of each rule, and the lines of rework that they are charged with: a run's are shared evenly among its
        violations.
    descriptions, tasks
        Of the violations, how often each; of the latest runs that broke the rule.
    """

    def __init__(self, runs: Iterable[RunEvent | RunRow] = ()) -> None:
        self.runs = 0
        self.relevant, self.retrieved, self.broken = Counter[str](), Counter[str](), Counter[str]()
        self.broken_without, self.corrected, self.violations = Counter[str](), Counter[str](), Counter[str]()
        self.rework: dict[str, float] = {}
        self.descriptions: dict[str, Counter[str]] = {}
        self.tasks: dict[str, deque[str]] = {}
        for run in runs:
            self.add(run)

    def add(self, run: RunEvent | RunRow) -> None:
        """Take in a run."""
        self.runs += 1
        given, named = run.retrieved_rule_ids, run.relevant_rule_ids
        self.retrieved.update(given)
        if not run.violations and not named:
            self.relevant.update(given)
            return
        got, broke = set(given), {one.rule_id for one in run.violations}
        self.relevant.update(got | broke | set(named))
        self.broken.update(broke)
        self.broken_without.update(broke - got)
        self.corrected.update(broke - {one.rule_id for one in run.violations if not one.auto_corrected})
        for rule in broke:
            tasks = self.tasks.setdefault(rule, deque(maxlen=MOST_TASKS))
            if run.task and run.task not in tasks:
                tasks.append(run.task)
        for one in run.violations:
            self.violations[one.rule_id] += 1
            self.rework[one.rule_id] = self.rework.get(one.rule_id, 0.0) + run.rework_lines / len(run.violations)
            texts = self.descriptions.setdefault(one.rule_id, Counter())
            if one.description.strip() and (one.description in texts or len(texts) < _MOST_DESCRIPTIONS):
                texts[one.description] += 1

    def ranking(self) -> tuple[ViolationRank, ...]:
        """Return the rules that were broken, the most expensive first; see `rank_violations`."""
        ranks = [
            ViolationRank(rule, count, self.rework[rule] / count, self.rework[rule])
            for rule, count in self.violations.items()
        ]
        return tuple(sorted(ranks, key=lambda rank: -(rank.score + rank.frequency)))


def rank_violations(events: Iterable[RunEvent]) -> tuple[ViolationRank, ...]:
    """Return the rules that were broken, the most expensive first.

    A run's rework is shared evenly among its violations, so the scores of all rules add up to the rework of the runs
    that broke any. The order is by score, each violation counted as one line more, so that a rule that is broken often
    without rework is not below one that was broken once; ties are in order of first appearance.
    """
    return RuleUses(events).ranking()


def rule_stats(events: Iterable[RunEvent | RunRow] | Any, *, rule_ids: Iterable[str] = ()) -> Any:
    """Return one row for each rule.

    Parameters
    ----------
    events
        Runs, or the Arrow table of an export.
    rule_ids
        Rules that are in force; those that occur in no run get a row as well.

    Returns
    -------
    pyarrow.Table
        ``rule_id``; ``relevant``, ``retrieved``, ``followed``, ``violated``, ``auto_corrected`` (numbers of runs;
        `relevant` counts runs that name it as relevant, were given it or broke it, `followed` those that were given it
        and did not break it, `auto_corrected` those whose every violation of it was put right by the agent);
        ``violations`` (their number); ``violation_rate`` (of the relevant runs) with ``violation_low`` and
        ``violation_high``; ``followed_rate`` (of the runs that were given it) with ``followed_low``,
        ``followed_high``; ``fate``: ``dead`` (in no run), ``never-retrieved``, ``always-violated`` (three relevant
        runs or more), ``in-use``. Sorted by violations, then by id. Intervals are those of 95 %.
    """
    import pyarrow as pa

    uses = RuleUses(_rows(events) if hasattr(events, "to_batches") else events)
    rows: list[dict[str, Any]] = []
    for rule in sorted({*rule_ids, *uses.relevant}):
        relevant, retrieved, violated = uses.relevant[rule], uses.retrieved[rule], uses.broken[rule]
        followed = retrieved - violated + uses.broken_without[rule]
        low, high = wilson_interval(violated, relevant)
        followed_low, followed_high = wilson_interval(followed, retrieved)
        rows.append(
            {
                "rule_id": rule, "relevant": relevant, "retrieved": retrieved, "followed": followed,
                "violated": violated, "auto_corrected": uses.corrected[rule], "violations": uses.violations[rule],
                "violation_rate": violated / relevant if relevant else None,
                "violation_low": low, "violation_high": high,
                "followed_rate": followed / retrieved if retrieved else None,
                "followed_low": followed_low, "followed_high": followed_high,
                "fate": _fate(relevant, retrieved, violated),
            }
        )  # fmt: skip
    rows.sort(key=lambda row: (-row["violations"], row["rule_id"]))
    whole, share = pa.int64(), pa.float64()
    kinds = {"rule_id": pa.string(), "fate": pa.string()} | dict.fromkeys(
        ("relevant", "retrieved", "followed", "violated", "auto_corrected", "violations"), whole
    )
    names = (
        "rule_id", "relevant", "retrieved", "followed", "violated", "auto_corrected", "violations", "violation_rate",
        "violation_low", "violation_high", "followed_rate", "followed_low", "followed_high", "fate",
    )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=pa.schema([(name, kinds.get(name, share)) for name in names]))


def _fate(relevant: int, retrieved: int, violated: int) -> str:
    if relevant == 0:
        return "dead"
    if violated == relevant and relevant >= ALWAYS_FROM:
        return "always-violated"
    return "in-use" if retrieved else "never-retrieved"


def _rows(table: Any) -> Iterator[RunRow]:
    """Yield the runs of an export's table."""
    names = ["retrieved_rule_ids", "relevant_rule_ids", "violated_rule_ids", "auto_corrected"]
    for batch in table.select(names).to_batches(max_chunksize=_ROWS):
        columns = ([one or () for one in column.to_pylist()] for column in batch.columns)
        for given, named, broken, corrected in zip(*columns, strict=True):
            found = zip(broken, corrected, strict=True)
            violations = tuple(Violation(rule_id=rule, auto_corrected=is_right) for rule, is_right in found)
            yield RunRow(tuple(given), tuple(named), violations)
