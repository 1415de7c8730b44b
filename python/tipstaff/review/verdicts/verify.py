"""Whether a reviewer's answer may be believed, and where it leads.

Every expected SOP needs an answer with evidence that really is in the files that it names. A violation of an SOP of
severity ``error`` rejects the change whatever the verdict says; others are noted. Below a confidence of 0.7, or where
an SOP is broken, a person decides. An answer that breaks these rules goes back to the reviewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from tipstaff.model import Diagnostic, Record, Severity
from tipstaff.review.verdicts.answer import REJECTION_TYPES, ReviewAnswer, SopReview
from tipstaff.review.verdicts.evidence import RepositoryTexts, evidence_problems

MIN_CONFIDENCE: Final = 0.7

ROUTES: Final = {
    "fixable": "retry_developer",
    "misscoped": "plan_refinement",
    "architectural": "plan_refinement",
    "too_big": "task_decomposition",
}


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
    files: Sequence[str] = (),
    diff: str = "",
    sops: Mapping[str, str] | None = None,
    broken: Sequence[Diagnostic] = (),
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
    files
        The changed files: evidence in another one shows nothing. Every file counts where there are none.
    diff
        The change, for evidence in the lines that it removes.
    sops
        Texts of the SOPs by id: quoting them shows nothing.
    broken
        What is wrong with SOPs. With an error among them no answer is accepted: whether that SOP applies is not known.
    min_confidence
        Below it a person decides.
    log
        Takes the outcome in.
    """
    texts = RepositoryTexts(root, files, diff)
    problems = [
        f"{one.source}:{one.line}: this SOP cannot be read: {one.message}"
        for one in broken
        if one.severity is Severity.ERROR
    ]
    outcome = _outcome(answer, expected, _problems(answer, expected, texts, sops or {}), min_confidence, problems)
    if log is not None:
        log.record_review(answer, outcome)
    return outcome


def _outcome(
    answer: ReviewAnswer,
    expected: Mapping[str, str],
    problems: Sequence[str],
    min_confidence: float,
    broken: Sequence[str],
) -> ReviewOutcome:
    violated = [one.sop_id for one in answer.sop_review if one.status == "violated"]
    violations = tuple(dict.fromkeys(name for name in violated if expected.get(name) == "error"))
    notes = tuple(dict.fromkeys(name for name in violated if name in expected and expected[name] != "error"))

    def outcome(action: str, reason: str) -> ReviewOutcome:
        return ReviewOutcome(
            accepted=action == "accept",
            action=action,
            reason=reason,
            problems=(*broken, *problems),
            violations=violations,
            notes=notes,
        )

    if broken:
        return outcome("escalate", f"an SOP is broken: {broken[0]}")
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


def _problems(
    answer: ReviewAnswer, expected: Mapping[str, str], texts: RepositoryTexts, sops: Mapping[str, str]
) -> list[str]:
    found: list[str] = []
    given: dict[str, SopReview] = {}
    for one in answer.sop_review:
        if one.sop_id not in expected:
            found.append(f"{one.sop_id} is not one of the SOPs that apply")
        elif one.sop_id in given:
            found.append(f"{one.sop_id} is answered more than once")
        given.setdefault(one.sop_id, one)
    for name in expected:
        review = given.get(name)
        if review is None:
            found.append(f"{name} is not answered")
        else:
            found += [f"{name}: {reason}" for reason in evidence_problems(review, texts, sops.get(name, ""))]
    return found
