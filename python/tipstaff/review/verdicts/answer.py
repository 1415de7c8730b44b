"""What a reviewer answers, a person or a model, as JSON.

::

    {
      "verdict": "approved" | "rejected",
      "confidence": 0.9,
      "rejection_type": "fixable" | "misscoped" | "architectural" | "too_big",
      "feedback": "what is to be done",
      "sop_review": [
        {"sop_id": "source.doc.sops.errors", "status": "passed" | "violated" | "not_applicable",
         "evidence": "api/orders.py:12 `raise OrderError(order.id) from error`"}
      ],
      "patterns": [{"name": "...", "pattern": "...", "applies_to": "..."}]
    }

``evidence`` is a text that names files as ``path`` or ``path:line`` and quotes them in backticks, or a list of such
texts and of ``{"path", "line", "quote"}``. Words of the schema are read in the spellings that models use ("APPROVED",
"N/A").
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, cast

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.model import Record

VERDICTS: Final = ("approved", "rejected")
STATUSES: Final = ("passed", "violated", "not_applicable")
REJECTION_TYPES: Final = ("fixable", "misscoped", "architectural", "too_big")
MAX_ANSWER_CHARS: Final = 1_000_000

_OBJECT: Final = re.compile(r"\{\s*\"")
_THOUGHTS: Final = re.compile(r"\s*<(think|thinking)>.*?</\1>", re.DOTALL)
_MAX_OBJECTS: Final = 2_000
_SPELLINGS: Final[dict[str, dict[str, str | None]]] = {
    "verdict": {"approve": "approved", "accept": "approved", "accepted": "approved", "reject": "rejected",
                "request_changes": "rejected", "changes_requested": "rejected"},
    "status": {"pass": "passed", "fail": "violated", "failed": "violated", "violation": "violated",
               "n/a": "not_applicable", "na": "not_applicable"},
    "rejection_type": {"none": None, "null": None, "": None},
}  # fmt: skip
"""Other spellings of words of the schema, in lower case with underscores."""

_PATH_KEYS: Final = ("file", "filename")
_LINE_KEYS: Final = ("lines", "line_number", "start_line")


class Evidence(Record, frozen=True, kw_only=True):
    """A place in a file and the words that are there."""

    path: str
    line: int = 0
    quote: str = ""


class SopReview(Record, frozen=True, kw_only=True):
    """A reviewer's answer for one SOP."""

    sop_id: str
    status: str
    evidence: str | tuple[Evidence | str, ...] = ""


class ReviewAnswer(Record, frozen=True, kw_only=True):
    """What a reviewer answers."""

    verdict: str
    confidence: float
    sop_review: tuple[SopReview, ...] = ()
    rejection_type: str | None = None
    feedback: str = ""
    patterns: tuple[dict[str, Any], ...] = ()


class AnswerError(ConfigError):
    """An answer that does not match the schema; the message says where."""


def parse_answer(text: str) -> ReviewAnswer:
    """Read a reviewer's answer.

    Parameters
    ----------
    text
        JSON, alone or with a model's prose around it; or what an agent program prints as JSON, with the answer as its
        ``result``.

    Raises
    ------
    AnswerError
        If there is no JSON object, or there are two answers that differ, or it does not match the schema.
    """
    data = _object(text[:MAX_ANSWER_CHARS])
    try:
        answer = msgspec.convert(_spelled(data), ReviewAnswer, strict=True)
    except msgspec.ValidationError as error:
        raise AnswerError(f"the answer does not match the schema: {error}") from None
    wrong: list[str] = []
    if answer.verdict not in VERDICTS:
        wrong.append(f"verdict is {answer.verdict!r}; expected {' or '.join(VERDICTS)}")
    if not 0 <= answer.confidence <= 1:
        wrong.append(f"confidence is {answer.confidence!r}; expected a number from 0 to 1")
    wrong += [
        f"status of {one.sop_id} is {one.status!r}; expected one of {', '.join(STATUSES)}"
        for one in answer.sop_review
        if one.status not in STATUSES
    ]
    if wrong:
        raise AnswerError(f"the answer does not match the schema: {'; '.join(wrong)}")
    return answer


def _object(text: str) -> dict[str, Any]:
    whole = _without_thoughts(text.strip().removeprefix("\ufeff"))
    found, problem = _objects(whole)
    answers = [one for one in found if "verdict" in one]
    if not answers and not problem:
        answers = found[-1:]
    if not answers:
        raise AnswerError(f"the answer holds no JSON object{problem}")
    if any(one != answers[0] for one in answers):
        # The first may be a draft, or an answer that is in the reviewed text: nobody can tell.
        raise AnswerError(f"the answer holds {len(answers)} JSON objects with a verdict, and they differ; give one")
    inner = answers[0].get("result")
    if "verdict" not in answers[0] and isinstance(inner, str) and "{" in inner:
        return _object(inner)
    return answers[0]


def _without_thoughts(text: str) -> str:
    """Return a text without what some models think aloud before it."""
    match = _THOUGHTS.match(text)
    return text[match.end() :] if match is not None else text


def _objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """Return the outermost JSON objects in a text, and why the first that cannot be read cannot."""
    found: list[dict[str, Any]] = []
    problem = ""
    decoder = json.JSONDecoder(object_pairs_hook=_unique)
    at = 0
    for _ in range(_MAX_OBJECTS):
        match = _OBJECT.search(text, at)
        if match is None:
            break
        try:
            data, at = decoder.raw_decode(text, match.start())
        except json.JSONDecodeError as error:
            problem = problem or f" that can be read: {error.msg} in line {error.lineno}"
            at = match.end() - 1
        except _RepeatedKeyError as error:
            problem = problem or f" that can be read: the key {error.args[0]!r} occurs twice"
            at = match.end() - 1
        except RecursionError:
            at = match.end() - 1
        else:
            found.append(cast("dict[str, Any]", data))
    return found, problem


class _RepeatedKeyError(Exception):
    """An object of JSON has a key twice: readers differ on which value counts."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RepeatedKeyError(key)
        found[key] = value
    return found


def _spelled(data: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with the words and shapes of the schema; what has no other meaning is left to be refused."""
    answer = {key: value for key, value in data.items() if value is not None}
    for key in ("verdict", "rejection_type"):
        if isinstance(answer.get(key), str):
            answer[key] = _word(key, answer[key])
    reviews: list[Any] | None = answer.get("sop_review")
    if isinstance(reviews, list):
        answer["sop_review"] = [_spelled_review(one) for one in reviews]
    return answer


def _spelled_review(review: Any) -> Any:
    if not isinstance(review, dict):
        return review
    one = {key: value for key, value in cast("dict[str, Any]", review).items() if value is not None}
    if isinstance(one.get("status"), str):
        one["status"] = _word("status", one["status"])
    evidence: Any = one.get("evidence")
    if isinstance(evidence, dict):
        evidence = [cast("dict[str, Any]", evidence)]
    if isinstance(evidence, list):
        items: list[Any] = evidence
        one["evidence"] = [_spelled_evidence(item) for item in items]
    return one


def _spelled_evidence(evidence: Any) -> Any:
    if not isinstance(evidence, dict):
        return evidence
    one = {key: value for key, value in cast("dict[str, Any]", evidence).items() if value is not None}
    for key, others in (("path", _PATH_KEYS), ("line", _LINE_KEYS)):
        for other in others:
            if other in one:
                one.setdefault(key, one[other])
    first = re.match(r"L?(\d{1,9})", one["line"].strip()) if isinstance(one.get("line"), str) else None
    if first is not None:
        one["line"] = int(first[1])
    return one


def _word(key: str, text: str) -> str | None:
    word = re.sub(r"[\s-]+", "_", text.strip().lower())
    return _SPELLINGS[key].get(word, word)
