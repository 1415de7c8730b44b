"""What the ledger remembers of changes: trials that began and ended, patches that were applied and taken back."""

from __future__ import annotations

import secrets
from typing import Any

import msgspec

from tipstaff.runs.ledger.ledger import Ledger
from tipstaff.runs.optimizer.changes import Change
from tipstaff.runs.optimizer.editing import Patch
from tipstaff.runs.optimizer.experiments import Experiment


class History:
    """Trials and changes in the order in which they were recorded.

    Attributes
    ----------
    open
        Trials without a decision, by id.
    wins
        Trials that were won, by rule, since its last applied promotion or rollback.
    last
        Time in milliseconds of the last step about each rule.
    waiting
        Won changes that nobody has applied, by id of the change.
    applied
        Patches that were applied and not taken back, by id of the change.
    decisions
        How many trials were decided.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.open: dict[str, Experiment] = {}
        self.wins: dict[str, int] = {}
        self.last: dict[str, int] = {}
        self.waiting: dict[str, dict[str, Any]] = {}
        self.applied: dict[str, Patch] = {}
        self.applied_at: list[int] = []
        self.tried: set[str] = set()
        self.decisions = 0
        for record in ledger.records("change"):
            self._take(record)

    def record(self, step: str, at: int, change: Change, **more: Any) -> None:
        """Append a step to the ledger."""
        body = {"step": step, "at": at, "change": change, **more}
        self._ledger.append_record(
            "change", f"change-{step}-{secrets.token_hex(8)}", body, at=at, task_id=change.rule_id
        )
        self._take(msgspec.to_builtins(body))

    def _take(self, record: dict[str, Any]) -> None:
        change = msgspec.convert(record["change"], Change)
        step, rule = record["step"], change.rule_id
        if step == "dropped":  # without a trial, so the next proposal need not wait
            self.tried.add(change.id)
            return
        self.last[rule] = record["at"]
        if step == "started":
            experiment = msgspec.convert(record["experiment"], Experiment)
            self.open[experiment.id] = experiment
            self.tried.add(change.id)
        elif step in {"won", "lost"}:
            self.open.pop(record["experiment_id"], None)
            self.decisions += 1
            if step == "won":
                self.wins[rule] = self.wins.get(rule, 0) + 1
                self.waiting[change.id] = record
            else:
                self.wins[rule] = 0
        elif step == "applied":
            # A promotion stands for the change that won.
            self.waiting = {key: one for key, one in self.waiting.items() if one["change"]["rule_id"] != rule}
            self.applied[change.id] = msgspec.convert(record["patch"], Patch)
            self.applied_at.append(record["at"])
            if change.kind == "promote":
                self.wins[rule] = 0
        elif step == "rolled-back":
            self.applied.pop(change.id, None)
            self.wins[rule] = 0
