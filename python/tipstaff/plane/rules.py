"""The rules of a repository as a plane uses them, and where its ledger is."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import NamedTuple

import msgspec

from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.model import GuidanceRule, PolicyBundle
from tipstaff.runs.optimizer.changes import with_changes
from tipstaff.runs.optimizer.experiments import Experiment


class Rules(NamedTuple):
    """What changes together when the rules do."""

    bundle: PolicyBundle
    retriever: ShardRetriever
    guidance_hash: str
    day: str
    experiments: tuple[Experiment, ...]
    variants: dict[frozenset[str], ShardRetriever]

    def retriever_for(self, assignments: dict[str, str]) -> ShardRetriever:
        """Return what gives a run its rules, as its arms of the trials have them."""
        tried = [one for one in self.experiments if assignments.get(one.id) == "treatment"]
        if not tried:
            return self.retriever
        key = frozenset(one.id for one in tried)
        found = self.variants.get(key)
        if found is None:
            bundle = with_changes(self.bundle, [one.change for one in tried])
            found = self.variants[key] = ShardRetriever(bundle)
        return found


def default_ledger_url(root: Path) -> str:
    """Return the URL of a repository's own ledger."""
    return f"sqlite:///{root.absolute()}/.tipstaff/ledger.db"


def keep_out_of_git(root: Path) -> None:
    """Make the folder of a repository's own ledger, ignored by git, where that is possible."""
    folder = root.absolute() / ".tipstaff"
    ignored = folder / ".gitignore"
    if not ignored.exists():
        with contextlib.suppress(OSError):
            folder.mkdir(exist_ok=True)
            ignored.write_text("ledger.db*\nruns/\n.gitignore\n", encoding="utf-8")


def guidance_hash(bundle: PolicyBundle) -> str:
    """Return a hash of the rules in force: first 16 hexadecimal digits of the SHA-256 of their ids and texts."""
    rules = sorted((rule.id, rule.text) for rule in bundle.rules())
    return hashlib.sha256(msgspec.json.encode(rules)).hexdigest()[:16]


def in_force(rule: GuidanceRule, day: str) -> bool:
    """Return whether a rule holds on a day."""
    return (rule.active_from is None or rule.active_from <= day) and (
        rule.active_until is None or day <= rule.active_until
    )
