"""Whether a reviewer's answer may be believed, and where it leads.

Every expected SOP needs an answer with evidence that really is in the files that it names. A violation of an SOP of
severity ``error`` rejects the change whatever the verdict says; others are noted. Below a confidence of 0.7 a person
decides. An answer that breaks these rules goes back to the reviewer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from tipstaff.errors import ConfigError
from tipstaff.model import Record
from tipstaff.review.sizing.scope import repository_path
from tipstaff.review.verdicts.answer import REJECTION_TYPES, ReviewAnswer, SopReview

MIN_CONFIDENCE: Final = 0.7
MAX_FILE_BYTES: Final = 4_000_000
LINE_SLACK: Final = 3
"""A quote counts where it is within so many lines of the line that is named."""

ROUTES: Final = {
    "fixable": "retry_developer",
    "misscoped": "plan_refinement",
    "architectural": "plan_refinement",
    "too_big": "task_decomposition",
}

_REFERENCE: Final = re.compile(
    r"(?<![\w/.])((?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.\w{1,12}|Makefile|Dockerfile)(?::(\d{1,7}))?"
)
_QUOTE: Final = re.compile(r"`([^`\n]{1,400})`")


class ReviewOutcome(Record, frozen=True, kw_only=True):
    """What a reviewer's answer means.

    Attributes
    ----------
    accepted
        Whether the change is approved.
    action
        ``accept``, ``retry_developer``, ``plan_refinement``, ``task_decomposition``, ``escalate``, or
        ``retry_reviewer`` for an answer that may not be believed.
    problems
        Why the answer cannot be trusted.
    violations
        Violated SOPs of severity ``error``.
    notes
        Violated SOPs of another severity.
    reason
        In one sentence.
    """

    accepted: bool
    action: str
    reason: str
    problems: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class VerdictLog(Protocol):
    """Takes outcomes in, such as a ledger of runs."""

    def record_review(self, answer: ReviewAnswer, outcome: ReviewOutcome) -> None:
        """Keep an answer and what it means."""


def verify_answer(
    answer: ReviewAnswer,
    expected: Mapping[str, str],
    root: Path,
    *,
    min_confidence: float = MIN_CONFIDENCE,
    log: VerdictLog | None = None,
) -> ReviewOutcome:
    """Say what a reviewer's answer means.

    Parameters
    ----------
    answer
        From `tipstaff.review.verdicts.answer.parse_answer`.
    expected
        Id and severity of every SOP that applies.
    root
        The repository, in which evidence is looked up.
    min_confidence
        Below it a person decides.
    log
        Takes the outcome in.
    """
    outcome = _outcome(answer, expected, root, min_confidence)
    if log is not None:
        log.record_review(answer, outcome)
    return outcome


def _outcome(answer: ReviewAnswer, expected: Mapping[str, str], root: Path, min_confidence: float) -> ReviewOutcome:
    problems = _problems(answer, expected, root)
    violated = [one.sop_id for one in answer.sop_review if one.status == "violated"]
    violations = tuple(dict.fromkeys(name for name in violated if expected.get(name) == "error"))
    notes = tuple(dict.fromkeys(name for name in violated if name in expected and expected[name] != "error"))

    def outcome(action: str, reason: str) -> ReviewOutcome:
        return ReviewOutcome(
            accepted=action == "accept",
            action=action,
            reason=reason,
            problems=tuple(problems),
            violations=violations,
            notes=notes,
        )

    if problems:
        return outcome("retry_reviewer", f"the answer cannot be trusted: {problems[0]}")
    if answer.confidence < min_confidence:
        return outcome("escalate", f"the reviewer's confidence is {answer.confidence:g}, below {min_confidence:g}")
    if answer.verdict == "rejected":
        if answer.rejection_type not in REJECTION_TYPES:
            return outcome("escalate", f"rejected, and rejection_type is {answer.rejection_type!r}")
        return outcome(ROUTES[answer.rejection_type], f"rejected: {answer.rejection_type}")
    if violations:
        return outcome("retry_developer", f"approved, although {violations[0]} is violated and that is an error")
    return outcome("accept", "approved" + (f", with notes on {', '.join(notes)}" if notes else ""))


def _problems(answer: ReviewAnswer, expected: Mapping[str, str], root: Path) -> list[str]:
    found: list[str] = []
    given: dict[str, SopReview] = {}
    for one in answer.sop_review:
        if one.sop_id not in expected:
            found.append(f"{one.sop_id} is not one of the SOPs that apply")
        elif one.sop_id in given:
            found.append(f"{one.sop_id} is answered more than once")
        given.setdefault(one.sop_id, one)
    files: dict[str, str | None] = {}
    for name in expected:
        review = given.get(name)
        if review is None:
            found.append(f"{name} is not answered")
        else:
            found += [f"{name}: {reason}" for reason in _evidence_problems(review, root, files)]
    return found


def _evidence_problems(review: SopReview, root: Path, files: dict[str, str | None]) -> list[str]:
    """Return what is wrong with the evidence of one answer."""
    if isinstance(review.evidence, str):
        text = review.evidence.strip()
        if not text:
            return ["its evidence is empty"]
        if review.status == "not_applicable":
            return []
        references = [(match[1], int(match[2] or 0)) for match in _REFERENCE.finditer(_QUOTE.sub(_keep_paths, text))]
        quotes = [quote for quote in _QUOTE.findall(text) if not _is_reference(quote)]
        known = [(path, line) for path, line in references if _text(root, path, files) is not None]
        if not known:
            named = f"{references[0][0]} does not exist" if references else "it names no file"
            return [f"its evidence cannot be checked: {named}"]
        wrong = [
            f"{path} has no line {line}"
            for path, line in known
            if line > (_text(root, path, files) or "").count("\n") + 1
        ]
        wrong += [
            f"`{quote[:80]}` is in none of the files that it names"
            for quote in quotes
            if not any(_holds(_text(root, path, files) or "", quote) for path, _ in known)
        ]
        return wrong
    if not review.evidence:
        return ["its evidence is empty"]
    wrong = []
    for one in review.evidence:
        text_of = _text(root, one.path, files)
        if text_of is None:
            wrong.append(f"{one.path} does not exist")
        elif not one.quote.strip():
            wrong.append(f"the evidence in {one.path} quotes nothing")
        elif not _holds(text_of, one.quote, one.line):
            where = f" near line {one.line}" if one.line else ""
            wrong.append(f"`{one.quote[:80]}` is not in {one.path}{where}")
    return [] if review.status == "not_applicable" and not wrong else wrong


def _is_reference(quote: str) -> bool:
    return _REFERENCE.fullmatch(quote.strip()) is not None


def _keep_paths(match: re.Match[str]) -> str:
    """Blank out quoted words, in which dots are not those of file names, unless they are a path."""
    return match[1] if _is_reference(match[1]) else " "


def _text(root: Path, path: str, files: dict[str, str | None]) -> str | None:
    """Return the text of a file of the repository; None where there is none."""
    if path not in files:
        files[path] = None
        try:
            full = root / repository_path(path)
            if full.is_file() and full.resolve().is_relative_to(root.resolve()):
                with full.open("rb") as file:
                    files[path] = file.read(MAX_FILE_BYTES).decode("utf-8", "replace")
        except (OSError, ConfigError):
            files[path] = None
    return files[path]


def _holds(text: str, quote: str, line: int = 0) -> bool:
    """Return whether words are in a text, white space aside, and near a line where one is named."""
    wanted = "".join(quote.split())
    if not wanted:
        return False
    rows: Sequence[str] = text.splitlines()
    if line:
        height = quote.strip().count("\n") + 1
        rows = rows[max(0, line - 1 - LINE_SLACK) : line - 1 + height + LINE_SLACK]
    return wanted in "".join("".join(row.split()) for row in rows)
