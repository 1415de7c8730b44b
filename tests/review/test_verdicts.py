"""Answers of reviewers: the schema, evidence that is there or not, and where each answer leads."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.review.repositories import make
from tipstaff.context.shortening.summarizers import CommandSummarizer
from tipstaff.errors import ConfigError
from tipstaff.review.assembly.reviewer import review_context
from tipstaff.review.verdicts.answer import AnswerError, parse_answer
from tipstaff.review.verdicts.asking import ask_reviewer
from tipstaff.review.verdicts.verify import ReviewOutcome, verify_answer

SOURCE = "import os\n\n\ndef refund(order_id):\n    raise ValueError(f'refund {order_id}')\n"
EXPECTED = {"s.error": "error", "s.note": "warning"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path, {"api/orders.py": SOURCE}, git=False)


def answer(*, verdict: str = "approved", confidence: float = 0.9, **more: Any) -> dict[str, Any]:
    evidence = "api/orders.py:5 `raise ValueError(f'refund {order_id}')`"
    review = [
        {"sop_id": "s.error", "status": "passed", "evidence": evidence},
        {"sop_id": "s.note", "status": "not_applicable", "evidence": "there is no SQL"},
    ]
    return {"verdict": verdict, "confidence": confidence, "sop_review": review, **more}


def judged(folder: Path, data: dict[str, Any]) -> ReviewOutcome:
    return verify_answer(parse_answer(json.dumps(data)), EXPECTED, folder)


def test_an_answer_with_evidence_is_accepted(folder: Path) -> None:
    found = judged(folder, answer())
    assert (found.accepted, found.action, found.problems) == (True, "accept", ())


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ([], "is empty"),
        ("looks fine", "names no file"),
        ("api/missing.py:3 `x`", "does not exist"),
        ("/etc/passwd:1 `root`", "cannot be checked"),
        ("../outside.py", "cannot be checked"),
        ("api/orders.py:99", "has no line 99"),
        ("api/orders.py `raise KeyError`", "in none of the files"),
        ([{"path": "api/orders.py", "line": 5, "quote": ""}], "quotes nothing"),
        ([{"path": "api/orders.py", "line": 1, "quote": "raise ValueError"}], "near line 1"),
        ([{"path": "api/none.py", "quote": "x"}], "does not exist"),
    ],
)
def test_evidence_that_is_not_there_is_not_believed(folder: Path, evidence: Any, words: str) -> None:
    data = answer()
    data["sop_review"][0]["evidence"] = evidence
    found = judged(folder, data)
    assert (found.accepted, found.action) == (False, "retry_reviewer")
    assert words in found.problems[0]


@pytest.mark.parametrize(
    "evidence",
    [
        "api/orders.py",
        "see `api/orders.py:4`",
        "In api/orders.py, `def refund( order_id )` raises.",
        [{"path": "api/orders.py", "quote": "raise  ValueError(f'refund"}],
        [{"path": "./api/orders.py", "line": 4, "quote": "def refund(order_id):\n    raise ValueError"}],
    ],
)
def test_evidence_as_reviewers_write_it(folder: Path, evidence: Any) -> None:
    data = answer()
    data["sop_review"][0]["evidence"] = evidence
    assert judged(folder, data).problems == ()


def test_every_sop_has_to_be_answered_once(folder: Path) -> None:
    data = answer()
    data["sop_review"] = [data["sop_review"][0], data["sop_review"][0], {**data["sop_review"][1], "sop_id": "s.other"}]
    found = judged(folder, data)
    assert set(found.problems) == {
        "s.error is answered more than once",
        "s.other is not one of the SOPs that apply",
        "s.note is not answered",
    }


@pytest.mark.parametrize(
    ("change", "action"),
    [
        ({}, "accept"),
        ({"confidence": 0.69}, "escalate"),
        ({"confidence": 0.7}, "accept"),
        ({"verdict": "rejected", "rejection_type": "fixable"}, "retry_developer"),
        ({"verdict": "rejected", "rejection_type": "misscoped"}, "plan_refinement"),
        ({"verdict": "rejected", "rejection_type": "architectural"}, "plan_refinement"),
        ({"verdict": "rejected", "rejection_type": "too_big"}, "task_decomposition"),
        ({"verdict": "rejected", "rejection_type": "boring"}, "escalate"),
        ({"verdict": "rejected"}, "escalate"),
    ],
)
def test_where_answers_lead(folder: Path, change: dict[str, Any], action: str) -> None:
    assert judged(folder, {**answer(), **change}).action == action


@pytest.mark.parametrize(("name", "action"), [("s.error", "retry_developer"), ("s.note", "accept")])
def test_only_violated_errors_reject_an_approval(folder: Path, name: str, action: str) -> None:
    data = answer()
    for review in data["sop_review"]:
        review["evidence"] = "api/orders.py:5"
        review["status"] = "violated" if review["sop_id"] == name else "passed"
    found = judged(folder, data)
    assert found.action == action
    assert (found.violations, found.notes) == (((name,), ()) if name == "s.error" else ((), (name,)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no", "no JSON object"),
        ("[1]", "no JSON object"),
        ('{"verdict": "approved"}', "confidence"),
        ('{"verdict": "maybe", "confidence": 0.5}', "verdict is 'maybe'"),
        ('{"verdict": "approved", "confidence": 7}', "confidence is 7"),
        ('{"verdict": "approved", "confidence": 1, "sop_review": [{"sop_id": "a", "status": "ok"}]}', "status of a"),
        ('{"verdict": "approved", "confidence": "1"}', "schema"),
        ('{"verdict": "approved", "confidence": NaN}', "confidence"),
    ],
)
def test_answers_of_another_schema(text: str, words: str) -> None:
    with pytest.raises(AnswerError, match=words):
        parse_answer(text)


@pytest.mark.parametrize("frame", ["{}", "Here it is:\n```json\n{}\n```\nDone.", "I think {} is right."])
def test_prose_around_the_answer_is_ignored(frame: str) -> None:
    text = frame.replace("{}", json.dumps(answer()))
    assert parse_answer(text).verdict == "approved"


def test_a_model_can_be_asked(tmp_path: Path) -> None:
    folder = make(tmp_path, {"a.py": SOURCE, ".tipstaff/sops/e.md": "---\napplies_to: '*.py'\n---\n# E\nYou must.\n"})
    context = review_context(folder, files=["a.py"])
    program = (
        "import json, sys; text = sys.stdin.read(); assert 'source.doc.sops.e' in text and '+new line' in text;"
        "print(json.dumps({'verdict': 'approved', 'confidence': 0.8, 'sop_review': "
        "[{'sop_id': 'source.doc.sops.e', 'status': 'passed', 'evidence': 'a.py:1'}]}))"
    )
    model = CommandSummarizer([sys.executable, "-c", program])
    found = ask_reviewer(model, context, "+new line", task="do it")
    assert verify_answer(found, context.severities, folder).accepted
    small = CommandSummarizer([sys.executable, "-c", program], max_input_chars=100)
    with pytest.raises(ConfigError, match="divide the task"):
        ask_reviewer(small, context, "+new line")
    with pytest.raises(ConfigError, match="too large for a review"):
        ask_reviewer(model, review_context(folder, files=["a.py"], reserve=1), "")
