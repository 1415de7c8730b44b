"""Checks, sizings, assemblies and reviews in the ledger, where a repository has one; and what earlier reviews decided.

``$TIPSTAFF_LEDGER``, the person's own, comes first; then ``[review] ledger`` in the configuration, which may name an
SQLite file inside the repository and nothing else, as a clone's configuration is its author's; then
``.tipstaff/ledger.db`` if it exists. Nothing is recorded where there is none.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tipstaff.cli.app import exit_code_of
from tipstaff.errors import ConfigError, TipstaffError
from tipstaff.globs import any_matcher
from tipstaff.model import Record
from tipstaff.review.sops.matching import applies_to

if TYPE_CHECKING:
    from tipstaff.review.assembly.reviewer import ReviewContext
    from tipstaff.review.config import ReviewConfig
    from tipstaff.review.running.results import CheckReport
    from tipstaff.review.task_sizing import SizedTask, Task
    from tipstaff.review.verdicts.answer import ReviewAnswer
    from tipstaff.review.verdicts.verify import ReviewOutcome
    from tipstaff.runs import Ledger

LEDGER_FILE: Final = ".tipstaff/ledger.db"
_SQLITE: Final = "sqlite:///"
KEPT_OUTPUT_CHARS: Final = 2_000
MAX_ITEMS: Final = 50


def review_log(root: Path, config: ReviewConfig, *, reads: bool = False) -> ReviewLog | None:
    """Return the log of a repository; None where it has no ledger.

    Parameters
    ----------
    root, config
        The repository.
    reads
        For a command that only looks: a ledger that does not exist yet is not made.

    Raises
    ------
    ConfigError
        If the configuration names a database that is not a file inside the repository.
    """
    own = os.environ.get("TIPSTAFF_LEDGER")
    if own:
        return ReviewLog(own)
    url = config.review.ledger
    name = LEDGER_FILE if url is None else url.removeprefix(_SQLITE)
    path = (root / name).resolve()
    if url is not None and (not url.startswith(_SQLITE) or not name or not path.is_relative_to(root.resolve())):
        where = f"{config.path}:{config.line_of_key('review', 'ledger')}"
        raise ConfigError(
            f"{where}: review.ledger must be an SQLite file inside the repository, such as {_SQLITE}{LEDGER_FILE}, got "
            f"{url!r}; your own database is named by $TIPSTAFF_LEDGER"
        )
    if not path.is_file() and (reads or url is None):
        return None
    return ReviewLog(f"{_SQLITE}{path}")


def exit_code(log: ReviewLog | None, code: int) -> int:
    """Return a command's exit code, and say so if what it found could not be recorded."""
    if log is None or log.problem is None:
        return code
    click.echo(f"tipstaff: warning: not recorded: {log.problem}", err=True)
    return code or exit_code_of(log.problem)


class ReviewLog:
    """Records what the review commands found.

    Parameters
    ----------
    url
        Of the ledger.
    task_id
        The task that it is about, where that is known.
    files
        The changed files, where they are known.

    Attributes
    ----------
    problem
        Why something could not be recorded: what was found is worth reporting nevertheless.
    """

    def __init__(self, url: str, *, task_id: str = "", files: Sequence[str] = ()) -> None:
        self.url = url
        self.problem: TipstaffError | None = None
        self.task_id = task_id
        self.files = tuple(files)

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger, opened when it is first used."""
        from tipstaff.runs import Ledger

        return Ledger(self.url)

    def record_checks(self, report: CheckReport) -> None:
        """Keep the results of checks, long output cut."""
        results = [
            result.replace(output=result.output[-KEPT_OUTPUT_CHARS:] if result.failed else "")
            for result in report.results
        ]
        self._keep("check", {**report.replace(results=tuple(results), feedback="").to_dict(), "passed": report.passed})

    def record_sizing(self, task: Task, sized: SizedTask) -> None:
        """Keep the size of a task."""
        self.task_id = task.id or self.task_id
        self._keep("sizing", {"task": task.to_dict(), "sized": sized.to_dict()})

    def record_assembly(self, context: ReviewContext) -> None:
        """Keep what a reviewer was given: the choice, not the text."""
        self._keep("assembly", context.replace(text="").to_dict())

    def record_review(self, answer: ReviewAnswer, outcome: ReviewOutcome) -> None:
        """Keep a reviewer's answer and what it means."""
        body = {"answer": answer.to_dict(), "outcome": outcome.to_dict(), "files": list(self.files), "at": _now_ms()}
        self._keep("review", body)

    def decisions(self, files: Sequence[str]) -> list[dict[str, Any]]:
        """Return what reviewers of the same files asked for, the latest first."""
        found: list[dict[str, Any]] = []
        for index, body in enumerate(self.ledger.records("review")):
            feedback = str(body["answer"].get("feedback") or "").strip()
            shared = sorted(set(files) & set(body.get("files") or ()))
            # An answer that was not believed decides nothing.
            if feedback and shared and not body["outcome"].get("problems"):
                day = datetime.fromtimestamp(body.get("at", 0) / 1000, UTC).date().isoformat()
                title = f"Review of {', '.join(shared[:3])} on {day}: {body['answer']['verdict']}"
                found.append({"id": f"decision:review-{index}", "text": f"## Decision {title}\n\n{feedback}\n"})
        return found[-MAX_ITEMS:][::-1]

    def conventions(self, files: Sequence[str]) -> list[dict[str, Any]]:
        """Return patterns of approved changes that apply to any of the files."""
        found: dict[str, dict[str, Any]] = {}
        for body in self.ledger.records("review"):
            if not body["outcome"].get("accepted"):
                continue
            for pattern in body["answer"].get("patterns") or ():
                globs = applies_to(pattern.get("applies_to"))
                name = str(pattern.get("name") or pattern.get("pattern") or "")
                if name and (not globs or any(map(any_matcher(globs), files))):
                    text = f"## Convention {name} (learned)\n\n{pattern.get('pattern') or name}\n"
                    found[name] = {"id": f"convention:learned:{name}", "text": text}
        return list(found.values())[-MAX_ITEMS:]

    def _keep(self, kind: str, body: Mapping[str, Any]) -> None:
        name = f"{kind}-{uuid.uuid4().hex}"
        try:
            self.ledger.append_record(kind, name, _plain(body), at=_now_ms(), task_id=self.task_id)
        except TipstaffError as error:
            self.problem = error


def _plain(value: Any) -> Any:
    """Return JSON-ready data of records, mappings and sequences."""
    if isinstance(value, Record):
        return _plain(value.to_dict())
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    return value


def _now_ms() -> int:
    return int(time.time() * 1000)
