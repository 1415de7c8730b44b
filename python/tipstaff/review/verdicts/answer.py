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

``evidence`` is a text that names files as ``path`` or ``path:line`` and quotes them in backticks, or a list of
``{"path", "line", "quote"}``.
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

_FENCE: Final = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL)


class Evidence(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A place in a file and the words that are there."""

    path: str
    line: int = 0
    quote: str = ""


class SopReview(Record, frozen=True, kw_only=True):
    """A reviewer's answer for one SOP."""

    sop_id: str
    status: str
    evidence: str | tuple[Evidence, ...] = ""


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
        JSON; a model's prose around a fenced block or around the outermost braces is ignored.

    Raises
    ------
    AnswerError
        If there is no JSON object, or it does not match the schema.
    """
    data = _object(text[:MAX_ANSWER_CHARS])
    try:
        answer = msgspec.convert(data, ReviewAnswer, strict=True)
    except msgspec.ValidationError as error:
        msg = f"the answer does not match the schema: {error}"
        raise AnswerError(msg) from None
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
        msg = f"the answer does not match the schema: {'; '.join(wrong)}"
        raise AnswerError(msg)
    return answer


def _object(text: str) -> dict[str, Any]:
    whole = text.strip().removeprefix("\ufeff")
    candidates = [whole, *(match[1] for match in _FENCE.finditer(whole)), whole[whole.find("{") : whole.rfind("}") + 1]]
    for candidate in candidates:
        try:
            data: object = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            return cast("dict[str, Any]", data)
    msg = "the answer holds no JSON object"
    raise AnswerError(msg)
