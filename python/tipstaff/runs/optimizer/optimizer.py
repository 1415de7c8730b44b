"""The cycle: rank violations, propose, try, decide, and hand what won to a person.

A trial is decided by the runs that took part in it after it began, so each win has its own evidence. A change of a
rule in a local file that has won is applied there; when the rule wins a second time it is proposed for the root file.

Source: ADR-G001, "Optimizer"; trials take the place of fixed factors.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

from tipstaff.errors import ConfigError
from tipstaff.guidance.project import compile_repository
from tipstaff.model import PolicyBundle, Record
from tipstaff.runs.events import RunEvent
from tipstaff.runs.ledger.ledger import Ledger
from tipstaff.runs.optimizer.changes import Change
from tipstaff.runs.optimizer.editing import (
    Patch,
    apply_patch,
    decision_record,
    mark_rolled_back,
    next_number,
    patch_of,
    record_name,
)
from tipstaff.runs.optimizer.experiments import Experiment, judge
from tipstaff.runs.optimizer.history import History
from tipstaff.runs.optimizer.proposers import Evidence, PhraseProposer, Proposer
from tipstaff.runs.optimizer.replayed import replayed
from tipstaff.runs.statistics.metrics import ViolationRank, rank_violations
from tipstaff.runs.statistics.sequential import SequentialTest
from tipstaff.store.replacing import replaced_file

DECISIONS_FOLDER = "docs/decisions"
_DAY_MS = 86_400_000
_MOST_PROPOSALS = 5


class OptimizerConfig(Record, frozen=True, kw_only=True):
    """Limits of the optimizer.

    Attributes
    ----------
    top_violations
        Rules that a cycle looks at.
    min_events
        Runs below which nothing is proposed.
    alpha, power, effect
        Probability that a change without effect ever wins; probability with which one that removes `effect` of the
        violations wins within the runs that a trial is given.
    min_runs
        Runs in each arm before a decision.
    max_open
        Trials at the same time.
    max_drift
        Share of the rules that may be changed in thirty days (at least one may).
    cooldown_ms
        After a step about a rule, how long no new trial of it begins.
    promotion_wins
        Wins after which a rule of a local file goes into the root file.
    """

    top_violations: int = 3
    min_events: int = 10
    alpha: float = 0.05
    power: float = 0.8
    effect: float = 0.3
    min_runs: int = 30
    max_open: int = 3
    max_drift: float = 0.1
    cooldown_ms: int = _DAY_MS
    promotion_wins: int = 2


class Trial(Record, frozen=True, kw_only=True):
    """A trial after the latest runs."""

    experiment: Experiment
    decision: str
    runs: dict[str, int]
    violations: dict[str, int]
    evidence: float
    effect: float | None


class Proposal(Record, frozen=True, kw_only=True):
    """A change that won, as a patch and the record of the decision; a person applies it."""

    change: Change
    patch: Patch | None
    text: str
    problem: str = ""


class OptimizeReport(Record, frozen=True, kw_only=True):
    """What a cycle found and did.

    Attributes
    ----------
    ranking
        The rules that cost most.
    trials
        Trials that were open, with their decision.
    started
        Trials that begin now.
    proposals
        Changes that won and wait for a person.
    notes
        Why nothing more was done.
    """

    ranking: tuple[ViolationRank, ...] = ()
    trials: tuple[Trial, ...] = ()
    started: tuple[Experiment, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    notes: tuple[str, ...] = ()


class Optimizer:
    """Evolves the rules of a repository on the evidence of its ledger.

    Parameters
    ----------
    root
        The repository.
    ledger
        Its runs; steps are recorded there.
    config, proposer
        The defaults where None.
    """

    def __init__(
        self, root: Path | str, ledger: Ledger, *, config: OptimizerConfig | None = None,
        proposer: Proposer | None = None,
    ) -> None:  # fmt: skip
        self.root = Path(root)
        self.ledger = ledger
        self.config = config or OptimizerConfig()
        self.proposer = proposer or PhraseProposer()
        self._lock = threading.Lock()

    def cycle(self, bundle: PolicyBundle | None = None, *, now: int | None = None) -> OptimizeReport:
        """Look at the runs, decide trials, begin new ones; nothing but the ledger is written.

        Parameters
        ----------
        bundle
            The rules in force; compiled from the repository where None.
        now
            Milliseconds since 1970; the clock's where None.
        """
        with self._lock:
            at = _now() if now is None else now
            rules = compile_repository(self.root) if bundle is None else bundle
            events = self.ledger.events()
            history = History(self.ledger)
            trials = tuple(self._judged(experiment, events, history, at) for experiment in list(history.open.values()))
            ranking = rank_violations(events)
            started, notes = self._started(rules, events, ranking, history, at)
            return OptimizeReport(
                ranking=ranking[: self.config.top_violations],
                trials=trials,
                started=started,
                proposals=self._proposals(rules, history, at),
                notes=notes,
            )

    def apply(self, change_id: str, *, now: int | None = None) -> tuple[str, ...]:
        """Write a won change into the rule files, and the record of its decision; returns the paths.

        The rules are compiled again; if the rule could not be retrieved from them, everything is put back.

        Raises
        ------
        ConfigError
            There is no such change, it does not apply any more, or it would lose the rule.
        """
        with self._lock:
            at = _now() if now is None else now
            history = History(self.ledger)
            won = {
                proposal.change.id: proposal for proposal in self._proposals(compile_repository(self.root), history, at)
            }
            proposal = won.get(change_id)
            if proposal is None:
                raise ConfigError(f"no change {change_id!r} waits; `tipstaff optimize` lists those that do")
            if proposal.patch is None:
                raise ConfigError(proposal.problem)
            return self._apply(proposal.patch, proposal.text, history, at)

    def demote(self, rule_id: str, *, now: int | None = None) -> tuple[str, ...]:
        """Move a rule from the root file into the local one; returns the paths. Raises as :meth:`apply`."""
        with self._lock:
            at = _now() if now is None else now
            bundle, history = compile_repository(self.root), History(self.ledger)
            rule = bundle.rule(rule_id)
            if rule is None:
                raise ConfigError(f"{rule_id}: there is no such rule")
            change = Change(kind="demote", rule_id=rule.id, before=rule.text, after=rule.text)
            patch = patch_of(self.root, bundle, change)
            number = next_number(self.root / DECISIONS_FOLDER)
            text = decision_record(patch, number=number, decision="Accepted", evidence="Asked for by a person.",
                                   at_ms=at)  # fmt: skip
            return self._apply(patch, text, history, at)

    def rollback(self, change_id: str, *, now: int | None = None) -> tuple[str, ...]:
        """Take an applied change back; returns the paths.

        Raises
        ------
        ConfigError
            There is no such change, or its files were changed since.
        """
        with self._lock:
            history = History(self.ledger)
            patch = history.applied.get(change_id)
            if patch is None:
                raise ConfigError(
                    f"no change {change_id!r} is applied; applied are: {', '.join(history.applied) or 'none'}"
                )
            at = _now() if now is None else now
            paths = apply_patch(self.root, patch, reverse=True)
            history.record("rolled-back", at, patch.change)
            record = mark_rolled_back(self.root / DECISIONS_FOLDER, patch.change, at)
            return paths if record is None else (*paths, str(record.relative_to(self.root)))

    # -- parts of the cycle --------------------------------------------------------------------------------------------

    def _judged(self, experiment: Experiment, events: Sequence[RunEvent], history: History, at: int) -> Trial:
        config = self.config
        test = judge(experiment, events, alpha=config.alpha, min_runs=config.min_runs)
        decision = test.decision
        if decision == "continue" and min(test.runs.values()) >= experiment.runs_needed:
            decision = "reject"
        trial = Trial(
            experiment=experiment, decision=decision, runs=dict(test.runs), violations=dict(test.violations),
            evidence=round(test.evidence, 6), effect=test.effect,
        )  # fmt: skip
        if decision != "continue":
            step = "won" if decision == "promote" else "lost"
            history.record(step, at, experiment.change, experiment_id=experiment.id, summary=_summary(trial))
        return trial

    def _started(
        self,
        rules: PolicyBundle,
        events: Sequence[RunEvent],
        ranking: Sequence[ViolationRank],
        history: History,
        at: int,
    ) -> tuple[tuple[Experiment, ...], tuple[str, ...]]:
        config = self.config
        if len(events) < config.min_events:
            return (), (f"{len(events)} runs; at least {config.min_events} are needed before anything is proposed",)
        started: list[Experiment] = []
        notes: list[str] = []
        recent = sum(one > at - 30 * _DAY_MS for one in history.applied_at) + len(history.waiting)
        most = max(1, int(config.max_drift * rules.manifest.total_rules))
        for rank in ranking[: config.top_violations]:
            busy = {experiment.change.rule_id for experiment in history.open.values()}
            if len(history.open) >= config.max_open:
                notes.append(f"{len(history.open)} trials are open; no more begin")
                break
            if rank.rule_id in busy or any(
                one["change"]["rule_id"] == rank.rule_id for one in history.waiting.values()
            ):
                notes.append(f"{rank.rule_id}: a change of it is on trial, or waits to be applied")
                continue
            if recent + len(history.open) >= most:
                notes.append(f"{recent} changes in 30 days and {len(history.open)} on trial; the limit is {most}")
                break
            if at - history.last.get(rank.rule_id, at - config.cooldown_ms) < config.cooldown_ms:
                notes.append(f"{rank.rule_id}: it was changed or tried less than {config.cooldown_ms / 3.6e6:g} h ago")
                continue
            change = self._proposed(rank, rules, events, history, at)
            if change is None:
                notes.append(f"{rank.rule_id}: no change is left to propose")
                continue
            started.append(self._begin(change, rank, events, history, at))
        return tuple(started), tuple(notes)

    def _proposed(
        self, rank: ViolationRank, rules: PolicyBundle, events: Sequence[RunEvent], history: History, at: int
    ) -> Change | None:
        """Return a change for a trial: the first that replay, which needs no runs, does not show to be worse."""
        rule = rules.rule(rank.rule_id)
        for _ in range(_MOST_PROPOSALS):
            change = self.proposer.propose(_evidence(rank, events), rule, frozenset(history.tried))
            if change is None or change.id in history.tried:
                return None
            found = replayed(rules, change, events)
            if not found.is_worse:
                return change.replace(rationale=f"{change.rationale}; {found}") if found.tasks else change
            history.record("dropped", at, change, summary=str(found))
        return None

    def _begin(
        self, change: Change, rank: ViolationRank, events: Sequence[RunEvent], history: History, at: int
    ) -> Experiment:
        config = self.config
        broken = sum(any(one.rule_id == rank.rule_id for one in event.violations) for event in events)
        rate = min(0.99, max(0.001, broken / len(events)))
        try:
            needed = 2 * SequentialTest.sample_size(
                rate, config.effect, power=config.power, alpha=config.alpha, min_runs=config.min_runs
            )
        except ConfigError:
            needed = 1_000_000
        experiment = Experiment(
            id=f"{change.id}-{history.decisions + len(history.open) + 1}", change=change, started_at=at,
            runs_needed=needed,
        )  # fmt: skip
        history.record("started", at, change, experiment=experiment)
        return experiment

    def _proposals(self, rules: PolicyBundle, history: History, at: int) -> tuple[Proposal, ...]:
        found: list[Proposal] = []
        number = next_number(self.root / DECISIONS_FOLDER)
        for record in history.waiting.values():
            change = Change(**record["change"])
            rule = rules.rule(change.rule_id)
            evidence = record.get("summary", "")
            is_second = history.wins.get(change.rule_id, 0) >= self.config.promotion_wins
            if rule is not None and rule.source == "local" and is_second:
                change = Change(kind="promote", rule_id=rule.id, before=rule.text, after=change.after,
                                rationale=f"won {history.wins[change.rule_id]} times; {change.rationale}")  # fmt: skip
            try:
                patch = patch_of(self.root, rules, change)
            except ConfigError as error:
                found.append(Proposal(change=change, patch=None, text="", problem=str(error)))
                continue
            text = decision_record(patch, number=number, decision="Accepted", evidence=evidence, at_ms=at)
            found.append(Proposal(change=change, patch=patch, text=text))
        return tuple(found)

    def _apply(self, patch: Patch, text: str, history: History, at: int) -> tuple[str, ...]:
        change = patch.change
        paths = apply_patch(self.root, patch)
        problem = self._lost(change)
        if problem:
            apply_patch(self.root, patch, reverse=True)
            raise ConfigError(f"{change.rule_id}: {problem}; everything was put back")
        number = next_number(self.root / DECISIONS_FOLDER)
        path = self.root / DECISIONS_FOLDER / f"{number:04d}-{record_name(change)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(path) as file:
            file.write(text.encode())
        history.record("applied", at, change, patch=patch)
        return (*paths, str(path.relative_to(self.root)))

    def _lost(self, change: Change) -> str:
        """Return why a rule could not be retrieved after a change, empty where it can."""
        if change.kind == "remove":
            return ""
        bundle = compile_repository(self.root)
        rule = bundle.rule(change.rule_id)
        if rule is None:
            return "the compiler does not find the rule after the change"
        if rule.text != change.after:
            return f"the compiler reads the rule as {rule.text!r} after the change"
        loaded = {shard.rule.id for shard in bundle.shards}
        if rule.id not in loaded and rule.text not in bundle.constitution.text:
            return "the rule is neither always loaded nor retrievable after the change"
        return ""


def _evidence(rank: ViolationRank, events: Sequence[RunEvent]) -> Evidence:
    rule_id = rank.rule_id
    broken = [event for event in events if any(one.rule_id == rule_id for one in event.violations)]
    counts: dict[str, int] = {}
    for event in broken:
        for one in event.violations:
            if one.rule_id == rule_id and one.description.strip():
                counts[one.description] = counts.get(one.description, 0) + 1
    return Evidence(
        rule_id=rule_id, frequency=rank.frequency, cost=rank.cost, runs=len(events),
        retrieved=sum(rule_id in event.retrieved_rule_ids for event in events),
        broken=len(broken), broken_without=sum(rule_id not in event.retrieved_rule_ids for event in broken),
        descriptions=tuple(sorted(counts, key=lambda text: (-counts[text], text))),
    )  # fmt: skip


def _summary(trial: Trial) -> str:
    runs, broken = trial.runs, trial.violations
    effect = "" if trial.effect is None else f", {trial.effect:.0%} fewer"
    return (
        f"With the change {broken['treatment']} of {runs['treatment']} runs broke the rule, without it "
        f"{broken['control']} of {runs['control']}{effect}; evidence {trial.evidence:.1f} against no effect."
    )


def _now() -> int:
    return time.time_ns() // 1_000_000
