"""The cycle: rank violations, propose, and, where a person wants it, try, decide and apply.

A trial begins when a person accepts its text, and is decided by the runs that took part in it after it began, so each
win has its own evidence. A change of a rule in a local file that has won is applied there; when the rule wins a second
time it is proposed for the root file.

Source: ADR-G001, "Optimizer"; trials take the place of fixed factors.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from tipstaff.errors import ConfigError
from tipstaff.guidance.project import compile_repository
from tipstaff.model import PolicyBundle, Record
from tipstaff.runs.ledger.ledger import Ledger
from tipstaff.runs.optimizer.changes import (
    Change,
    Patch,
    applies,
    apply_patch,
    decision_record,
    lost,
    mark_rolled_back,
    next_number,
    patch_of,
    record_name,
    with_changes,
)
from tipstaff.runs.optimizer.proposers import Evidence, PhraseProposer, Proposer, refused, replayed
from tipstaff.runs.optimizer.trials import Experiment, History, Trial, judge
from tipstaff.runs.statistics.metrics import RuleUses, RunRow, ViolationRank
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
    proposed
        Changes that wait for a person to start their trial.
    proposals
        Changes that won and wait for a person.
    notes
        Why nothing more was done.
    """

    ranking: tuple[ViolationRank, ...] = ()
    trials: tuple[Trial, ...] = ()
    proposed: tuple[Change, ...] = ()
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
        """Look at the runs, decide trials, propose changes; nothing but the ledger is written, and no trial begins.

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
            uses = RuleUses(self.ledger.iter_as(RunRow))
            history = History(self.ledger)
            trials = tuple(self._judged(one, rules, history, at) for one in list(history.open.values()))
            ranking = uses.ranking()
            notes = self._propose(rules, uses, ranking, history, at)
            return OptimizeReport(
                ranking=ranking[: self.config.top_violations],
                trials=trials,
                proposed=tuple(history.proposed.values()),
                proposals=self._proposals(rules, history, at),
                notes=notes,
            )

    def start(self, change_id: str, *, now: int | None = None) -> Experiment:
        """Begin the trial of a proposed change, whose text a person has read; some agents are given it from now on.

        Raises
        ------
        ConfigError
            There is no such change, it does not apply any more, or enough is on trial already.
        """
        with self._lock:
            at = _now() if now is None else now
            config, history, rules = self.config, History(self.ledger), compile_repository(self.root)
            change = history.proposed.get(change_id)
            if change is None:
                raise ConfigError(
                    f"no change {change_id!r} is proposed; `tipstaff rules optimize` lists those that are"
                )
            if len(history.open) >= config.max_open:
                raise ConfigError(f"{len(history.open)} trials are open; wait for one of them, or dismiss it")
            recent = sum(one > at - 30 * _DAY_MS for one in history.applied_at) + len(history.open)
            most = max(1, int(config.max_drift * rules.manifest.total_rules))
            if recent >= most:
                raise ConfigError(f"{recent} changes were applied in 30 days or are on trial; the limit is {most}")
            with_changes(self.root, rules, [change])
            experiment = Experiment(
                id=f"{change.id}-{secrets.token_hex(3)}", change=change, started_at=at, seed=secrets.token_hex(8),
                runs_needed=self._runs_needed(change.rule_id),
            )  # fmt: skip
            history.record("started", at, change, experiment=experiment)
            return experiment

    def dismiss(self, change_id: str, *, now: int | None = None) -> str:
        """Drop a change that is proposed, on trial or won; returns which of these it was. It is not proposed again.

        Raises
        ------
        ConfigError
            There is no such change.
        """
        with self._lock:
            history = History(self.ledger)
            trial = next((one for one in history.open.values() if one.change.id == change_id), None)
            if trial is not None:
                change, state = trial.change, "on trial"
            elif change_id in history.proposed:
                change, state = history.proposed[change_id], "proposed"
            elif change_id in history.waiting:
                change, state = Change(**history.waiting[change_id]["change"]), "won"
            else:
                raise ConfigError(f"no change {change_id!r} is proposed, on trial or won")
            history.record("dismissed", _now() if now is None else now, change)
            return state

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
                raise ConfigError(f"no change {change_id!r} waits; `tipstaff rules optimize` lists those that do")
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

    def _judged(self, experiment: Experiment, rules: PolicyBundle, history: History, at: int) -> Trial:
        config = self.config
        trial = judge(experiment, self.ledger, now=at, alpha=config.alpha, min_runs=config.min_runs)
        if not applies(self.root, rules, experiment.change):
            trial = trial.replace(decision="stopped", note="The rule was edited meanwhile; no arm has it as it was.")
        if trial.decision != "continue":
            step = {"promote": "won", "reject": "lost", "stopped": "stopped"}[trial.decision]
            history.record(step, at, experiment.change, experiment_id=experiment.id, summary=str(trial))
        return trial

    def _propose(
        self,
        rules: PolicyBundle,
        uses: RuleUses,
        ranking: Sequence[ViolationRank],
        history: History,
        at: int,
    ) -> tuple[str, ...]:
        """Record new proposals; returns why there are no more."""
        config = self.config
        if uses.runs < config.min_events:
            return (f"{uses.runs} runs; at least {config.min_events} are needed before anything is proposed",)
        notes: list[str] = []
        busy = {one.rule_id for one in history.proposed.values()}
        busy |= {one.change.rule_id for one in history.open.values()}
        busy |= {one["change"]["rule_id"] for one in history.waiting.values()}
        for rank in ranking[: config.top_violations]:
            rule = rules.rule(rank.rule_id)
            if rank.rule_id in busy:
                continue
            if rule is not None and (rule.is_constitution or rule.risk_class == "critical"):
                notes.append(f"{rank.rule_id}: it is always loaded or critical; only a person rewords it")
                continue
            if at - history.last.get(rank.rule_id, at - config.cooldown_ms) < config.cooldown_ms:
                notes.append(f"{rank.rule_id}: it was changed or tried less than {config.cooldown_ms / 3.6e6:g} h ago")
                continue
            change = self._proposed(rank, rules, uses, history, at)
            if change is None:
                notes.append(f"{rank.rule_id}: no change is left to propose")
            else:
                history.record("proposed", at, change)
        return tuple(notes)

    def _proposed(
        self, rank: ViolationRank, rules: PolicyBundle, uses: RuleUses, history: History, at: int
    ) -> Change | None:
        """Return a change worth a trial: harmless words that can be applied, and no worse as far as replay shows it."""
        rule = rules.rule(rank.rule_id)
        for _ in range(_MOST_PROPOSALS):
            change = self.proposer.propose(_evidence(rank, uses), rule, frozenset(history.tried))
            if change is None or change.id in history.tried:
                return None
            why = refused(change.before, change.after)
            if why:
                history.record("dropped", at, change, summary=f"its words are refused: {why}")
                continue
            try:
                found = replayed(
                    rules, with_changes(self.root, rules, [change]), change, uses.tasks.get(change.rule_id, ())
                )
            except ConfigError as error:  # better known now than after a trial
                history.record("dropped", at, change, summary=f"it cannot be applied: {error}")
                continue
            if not found.is_worse:
                return change.replace(rationale=f"{change.rationale}; {found}") if found.tasks else change
            history.record("dropped", at, change, summary=str(found))
        return None

    def _runs_needed(self, rule_id: str) -> int:
        config, uses = self.config, RuleUses(self.ledger.iter_as(RunRow))
        rate = min(0.99, max(0.001, uses.broken[rule_id] / max(1, uses.runs)))
        try:
            return 2 * SequentialTest.sample_size(
                rate, config.effect, power=config.power, alpha=config.alpha, min_runs=config.min_runs
            )
        except ConfigError:
            return 1_000_000

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
        problem = lost(compile_repository(self.root), change)
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


def _evidence(rank: ViolationRank, uses: RuleUses) -> Evidence:
    rule_id = rank.rule_id
    counts = uses.descriptions[rule_id]
    return Evidence(
        rule_id=rule_id, frequency=rank.frequency, cost=rank.cost, runs=uses.runs, retrieved=uses.retrieved[rule_id],
        broken=uses.broken[rule_id], broken_without=uses.broken_without[rule_id],
        descriptions=tuple(sorted(counts, key=lambda text: (-counts[text], text))),
    )  # fmt: skip


def _now() -> int:
    return time.time_ns() // 1_000_000
