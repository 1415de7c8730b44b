from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from tipstaff.context.candidates.records import CandidateObservation, Evidence, microseconds, time_of
from tipstaff.errors import ConfigError


def of(**fields: Any) -> CandidateObservation:
    return CandidateObservation.of({"content": "x", **fields}, longest=100)


def test_fields_are_tidied() -> None:
    found = of(content="  a\tb ", kind="preference", category=" pattern ", tool_tag=" BASH ", tags=["t"], score=1)
    assert (found.content, found.kind, found.category) == ("a\tb", "PREFERENCE", "PATTERN")
    assert (found.tool_tag, found.tags, found.score) == ("bash", ("t",), 1.0)
    assert of(tool_tag=" ", category="").tool_tag == "general"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"content": " "}, "content: expected a sentence"),
        ({"content": 5}, "content: expected text, got int"),
        ({"content": "x" * 101}, "at most 100 characters, got 101"),
        ({"score": 1.01}, "score: expected 0 to 1, got 1.01"),
        ({"score": -0.01}, "score"),
        ({"score": float("nan")}, "score"),
        ({"score": True}, "score"),
        ({"kind": "GOSSIP"}, "kind: expected one of ERROR_RECOVERY"),
        ({"success_delta": -1}, "success_delta"),
        ({"failure_delta": 1.5}, "failure_delta"),
        ({"tags": "one"}, "tags: expected several"),
        ({"colour": "red"}, "unknown field 'colour'"),
    ],
)
def test_what_is_not_usable_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        of(**fields)
    with pytest.raises(ConfigError, match="no content"):
        CandidateObservation.of({"score": 0.5}, longest=100)


def test_objects_with_the_fields_will_do() -> None:
    found = CandidateObservation.of(SimpleNamespace(content="x", score=0.25, kind="anti-pattern"), longest=9)
    assert (found.content, found.score, found.kind) == ("x", 0.25, "ANTI_PATTERN")
    for other in ("x", 5, None, SimpleNamespace(score=1)):
        with pytest.raises(ConfigError, match="has no content"):
            CandidateObservation.of(other, longest=9)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 1_000_000),
        ("1970-01-01T00:00:01Z", 1_000_000),
        ("1970-01-01T02:00:01.5+02:00", 1_500_000),
        (1.25, 1_250_000),
        (0, 0),
    ],
)
def test_times(value: object, expected: int) -> None:
    assert microseconds(value, "t") == expected


@pytest.mark.parametrize(
    "value", [datetime(2026, 1, 1), "2026-01-01T00:00:00", "soon", None, True, float("inf"), float("nan"), 1e30]
)
def test_invalid_times(value: object) -> None:
    with pytest.raises(ConfigError, match="t:"):
        microseconds(value, "t")


def test_times_are_exact() -> None:
    for us in (0, 1, 1_767_225_600_123_457, -1):
        assert microseconds(time_of(us), "t") == us


def test_evidence_is_json_ready() -> None:
    data = Evidence(1_000_000, 1, 0, "s").to_dict()
    assert json.loads(json.dumps(data))["observed_at"] == "1970-01-01T00:00:01+00:00"
    assert data["success_delta"] == 1
