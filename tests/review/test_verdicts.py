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
    return make(
        tmp_path, {"api/orders.py": SOURCE, "api/orders_test.go": "", "a/twice.py": "", "b/twice.py": ""}, git=False
    )


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
        ("api/orders.py:4-99", "has no line 99"),
        ("api/orders.py#L99", "has no line 99"),
        ("api/orders.py#L4-L99 is fine", "has no line 99"),
        ("`api/orders.py`, lines 90 to 99", "has no line 99"),
        ("api/orders.py (line 99)", "has no line 99"),
        ("api/orders.py:4; api/made_up.py:7", "api/made_up.py does not exist"),
        ("api/orders.py:\n```python\ndef refund(order_id):\n    return None\n```", "in none of the files"),
        ("api/orders.py: `def refund(order_id) ... return 1`", "in none of the files"),
        ("`Orders.refund` in api/orders.py", "in none of the files"),
        ("`raise ValueError ... def refund` in api/orders.py", "in none of the files"),
        ("twice.py:1 `import os`", "does not exist"),
        (["api/orders.py:4 `def refund`", "api/orders.py `def charge`"], "in none of the files"),
        ([{"path": "api/orders.py:1", "quote": "raise ValueError"}], "near line 1"),
        ("api/orders.py " + "`import os` " * 101, "101 quotes"),
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
        "see `api/orders.py:4`: `def refund(order_id):`",
        "In api/orders.py, `def refund( order_id )` raises.",
        "api/orders.py:4-5",
        "api/orders.py:L4, and api/orders.py:5:11",
        "api/orders.py#L4-L5",
        "[orders.py](api/orders.py#L4)",
        "**api/orders.py** (lines 4–5)",
        "`api/orders.py`, line 4: `def refund(order_id):`",
        "b/api/orders.py:4 `+def refund(order_id):`",
        "./api/orders.py:4",
        "api\\orders.py:4",
        "orders.py:4, which only one folder has",
        "{root}/api/orders.py:4",
        "`refund()` in api/orders.py, which is no `order_id.refund`; `setup.py` is not touched; `import os`",
        "api/orders.py: `def refund(...)` and `def refund … raise ValueError`",
        "api/orders.py:\n```python\n    def refund(order_id):\n        raise ValueError(f'refund {order_id}')\n```",
        "api/orders.py `f&#39;refund {order_id}&#39;`",
        "api/orders.py has it, unlike https://example.org/other.py:8 or v1.2.3",
        {"path": "api/orders.py", "line": 5, "quote": "raise ValueError(f'refund {order_id}'"},
        ["api/orders.py:4 `def refund`", {"path": "api/orders.py", "quote": "import os"}],
        [{"file": "api/orders.py", "lines": "4-5", "quote": "def refund(order_id):", "comment": "documented"}],
        [{"path": "api/orders.py:4", "quote": "def refund(order_id)", "line": None}],
        [{"path": "api/orders.py", "quote": "raise  ValueError(f'refund"}],
        [{"path": "./api/orders.py", "line": 4, "quote": "def refund(order_id):\n    raise ValueError"}],
    ],
)
def test_evidence_as_reviewers_write_it(folder: Path, evidence: Any) -> None:
    data = answer()
    if isinstance(evidence, str):
        evidence = evidence.replace("{root}", str(folder))
        evidence += "" if "`" in evidence else " `def refund(order_id):`"
    data["sop_review"][0]["evidence"] = evidence
    assert judged(folder, data).problems == ()


SOP_TEXT = "Errors carry context: `raise ValueError(f'refund {order_id}')` is right.\n"
CHANGE = """diff --git a/api/orders.py b/api/orders.py
--- a/api/orders.py
+++ b/api/orders.py
@@ -4,2 +4,2 @@
 def refund(order_id):
-    raise KeyError(order_id)
+    raise ValueError(f'refund {order_id}')
diff --git a/api/gone.py b/api/gone.py
--- a/api/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
-def charge(card):
-    return card.charge()
"""
RAISE = "raise ValueError(f'refund {order_id}')"

WRONG = [
    "api/orders.py",
    "README.md",
    "api/orders.py `e`",
    "api/orders.py `)` and `(`",
    "api/orders.py `order_id`",
    "api/orders.py `import`",
    'api/orders.py:5 has "return charge(order_id, retries=3)"',
    "api/orders.py:5 has 'return charge(order_id, retries=3)'",
    f"api/orders.py:1 `{RAISE}` and `def refund(order_id):`" + " in line 1" * 2,
    "api/orders.py `pytest.monkeypatch.subprocess.chmod()`",
    "api/orders.py `i ... e`",
    "api/orders.py `def ... d`",
    "other.py `value = load_everything()`",
    f"api/orders.py `{RAISE}`",
    [{"path": "api/orders.py", "quote": "e"}],
    [{"path": "other.py", "quote": "value = load_everything()"}],
    [{"path": "api/gone.py", "quote": "def charge(order):"}],
    [{"path": "api/orders.py", "line": 5, "quote": "ValueError"}],
    ["api/orders.py", "api/orders.py:4"],
]
RIGHT = [
    "api/orders.py:4 `def refund(order_id):`",
    "api/orders.py `raise KeyError(order_id)` was replaced",
    "api/gone.py is deleted: `return card.charge()`",
    "api/gone.py:2 `return card.charge()`",
    'api/orders.py:4 "def refund(order_id):"',
    "api/orders.py:4 'def refund(order_id):'",
    [{"path": "api/gone.py", "line": 2, "quote": "return card.charge()"}],
    [{"path": "api/orders.py", "line": 4, "quote": "def refund(order_id):"}, "other.py `value = load_everything()`"],
    "api/orders.py:\n```python\ndef refund(order_id):\n    raise ValueError(f'refund {order_id}')\n```",
]
NOT_APPLICABLE = [
    ("n/a", False),
    ("not applicable", False),
    ("does not apply to this", False),
    ("no SQL is in README.md", False),
    ("api/orders.py builds no SQL", True),
    ("only .py files changed, no migrations", True),
    ("nothing below api/ talks to a database", True),
]


def test_evidence_of_a_change(folder: Path) -> None:
    (folder / "other.py").write_text("value = load_everything()\n", encoding="utf-8")

    def believed(status: str, evidence: Any) -> bool:
        data = answer()
        data["sop_review"] = [{"sop_id": "s.error", "status": status, "evidence": evidence}]
        given = parse_answer(json.dumps(data))
        files = ("api/gone.py", "api/orders.py")
        found = verify_answer(given, {"s.error": "error"}, folder, files=files, diff=CHANGE, sops={"s.error": SOP_TEXT})
        return found.accepted

    assert [one for one in WRONG if believed("passed", one)] == []
    assert [one for one in RIGHT if not believed("passed", one)] == []
    assert [one for one, right in NOT_APPLICABLE if believed("not_applicable", one) is not right] == []


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
        review["evidence"] = "api/orders.py:4 `def refund(order_id):`"
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
        ('{"verdict": "rejected", "verdict": "approved", "confidence": 0.9}', "the key 'verdict' occurs twice"),
        ('{"verdict": "approved", "confidence": 0.9,}', "double quotes in line 1"),
        ('{"verdict": "approved",\n // sure\n "confidence": 0.9, "patterns": [{"name": "x"}]}', "quotes in line 2"),
        ('{"verdict": "rejected", "confidence": 0.9} no: {"verdict": "approved", "confidence": 0.9}', "they differ"),
        ('{"type": "result", "is_error": true, "result": "Credit balance is too low"}', "verdict"),
        ('{"' * 300_000, "no JSON object"),
        ('{"a": ' * 150_000, "no JSON object"),
    ],
)
def test_answers_of_another_schema(text: str, words: str) -> None:
    with pytest.raises(AnswerError, match=words):
        parse_answer(text)


FRAMES = (
    "{}",
    "Here it is:\n```json\n{}\n```\nDone.",
    "I think {} is right.",
    "```JSON\r\n{}\r\n```",
    "~~~\n{}\n~~~",
    "`f() {}` is called once, { x } twice.\n\n{} and {that} is all",
    '<thinking>\nPerhaps {"verdict": "rejected"}?\n</thinking>\n{}',
    "{}\n\nOnce more:\n```json\n{}\n```",
    "[{}]",
)


@pytest.mark.parametrize("frame", FRAMES)
def test_prose_around_the_answer_is_ignored(frame: str) -> None:
    text = frame.replace("{}", json.dumps(answer(feedback="use {}"), indent=2))
    assert parse_answer(text).verdict == "approved"


def test_what_an_agent_program_prints_is_an_answer() -> None:
    inner = f"Here:\n```json\n{json.dumps(answer())}\n```"
    text = json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": inner})
    assert parse_answer(text) == parse_answer(json.dumps(answer()))


@pytest.mark.parametrize(
    ("given", "read"),
    [("PASSED", "passed"), ("pass", "passed"), ("N/A", "not_applicable"), ("Not applicable", "not_applicable"),
     ("not-applicable", "not_applicable"), ("Violation", "violated"), ("failed", "violated")],
)  # fmt: skip
def test_spellings_of_a_status(given: str, read: str) -> None:
    data = answer(verdict="APPROVE", rejection_type=None, feedback=None, patterns=None)
    data["sop_review"][0]["status"] = given
    found = parse_answer(json.dumps(data))
    assert (found.verdict, found.sop_review[0].status, found.feedback) == ("approved", read, "")
    rejected = parse_answer(json.dumps(answer(verdict="Request changes", rejection_type="Too-Big")))
    assert (rejected.verdict, rejected.rejection_type) == ("rejected", "too_big")


def test_a_model_can_be_asked(tmp_path: Path) -> None:
    folder = make(tmp_path, {"a.py": SOURCE, ".tipstaff/sops/e.md": "---\napplies_to: '*.py'\n---\n# E\nYou must.\n"})
    context = review_context(folder, files=["a.py"])
    program = (
        "import json, sys; text = sys.stdin.read(); assert 'source.doc.sops.e' in text and '+new line' in text;"
        "print(json.dumps({'verdict': 'approved', 'confidence': 0.8, 'sop_review': "
        "[{'sop_id': 'source.doc.sops.e', 'status': 'passed', 'evidence': 'a.py:1 `import os`'}]}))"
    )
    model = CommandSummarizer([sys.executable, "-c", program])
    found = ask_reviewer(model, context, "+new line", task="do it")
    assert verify_answer(found, context.severities, folder).accepted
    small = CommandSummarizer([sys.executable, "-c", program], max_input_chars=100)
    with pytest.raises(ConfigError, match="divide the task"):
        ask_reviewer(small, context, "+new line")
    with pytest.raises(ConfigError, match="too large for a review"):
        ask_reviewer(model, review_context(folder, files=["a.py"], reserve=1), "")
