"""Labelled cases of the review room, where they are beside the checkout; every one of them binds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.shared_data import shared_path
from tipstaff.model import Record
from tipstaff.review import (
    ContextWindow,
    assemble_review,
    judge_checks,
    match_sops,
    resolve_checks,
    resolve_scope,
    size_task,
)

FOLDER = shared_path("vectors", "review")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="no labelled cases beside this checkout")


def cases(family: str) -> list[Any]:
    if FOLDER is None:
        return []
    found: list[dict[str, Any]] = json.loads((FOLDER / f"{family}.json").read_text(encoding="utf-8"))["cases"]
    return [pytest.param(case["input"], case["expected"], id=case["name"]) for case in found]


def plain(record: Record) -> Any:
    """Return a record as JSON would bring it back."""
    return json.loads(json.dumps(record.to_dict()))


@pytest.mark.parametrize(("given", "expected"), cases("budget"))
def test_budget(given: dict[str, Any], expected: dict[str, Any]) -> None:
    files = {entry["path"]: None if entry.get("missing") else entry for entry in given["files"]}
    found = size_task(
        window=given["window"],
        files=files,
        description=given["description"],
        acceptance_criteria=given["criteria"],
        sweet_spot=given.get("sweet_spot"),
    )
    assert found.file_tokens == expected["file_tokens"]
    assert found.description_tokens == expected["description_tokens"]
    assert list(found.criteria_tokens) == expected["criteria_tokens"]
    assert (found.estimate, found.available, found.limit) == (
        expected["estimate"],
        expected["available"],
        expected["limit_floor"],
    )
    assert found.limit_exact == expected["limit_exact"]
    assert (found.fits, list(found.reasons), list(found.warnings)) == (
        expected["fits"],
        expected["reasons"],
        expected["warnings"],
    )


@pytest.mark.parametrize(("given", "expected"), cases("sizing"))
def test_sizing(given: dict[str, Any], expected: dict[str, Any]) -> None:
    task = given["task"]
    scope = resolve_scope(task.get("files"), given["repo"], given["plan"])
    assert plain(scope) == {name: expected[name] for name in scope.to_dict()}
    files = {path: given["repo"].get(path) for path in scope.resolved}
    found = size_task(
        window=given["window"], files=files, description=task["description"], acceptance_criteria=task["criteria"]
    )
    assert len(found.file_tokens) == expected["file_count"]
    assert (found.estimate, found.available, found.limit_exact) == (
        expected["estimate"],
        expected["available"],
        expected["limit_exact"],
    )
    assert (list(found.reasons), list(found.warnings)) == (expected["reasons"], expected["warnings"])
    assert (not found.fits, found.trigger) == (expected["decompose"], expected["trigger"])


@pytest.mark.parametrize(("given", "expected"), cases("sop_match"))
def test_sop_match(given: dict[str, Any], expected: dict[str, Any]) -> None:
    assert list(match_sops(given["sops"], given["files"], scope=given["scope"])) == expected["basename"]
    anchored = match_sops(given["sops"], given["files"], scope=given["scope"], by_name=False)
    assert list(anchored) == expected["anchored"]


@pytest.mark.parametrize(("given", "expected"), cases("review_assembly"))
def test_assembly(given: dict[str, Any], expected: dict[str, Any]) -> None:
    tiers = {name: given.get(name, []) for name in ("sops", "decisions", "conventions")}
    found = assemble_review(
        window=given["window"],
        task_output_tokens=given["task_output_tokens"],
        summaries=given.get("file_summaries", []),
        reserve=given.get("reserve", 4000),
        **tiers,
    )
    assert found.max_task_output == expected["max_task_output_exact"]
    data = plain(found)
    assert {name: data[name] for name in expected if name != "max_task_output_exact"} == {
        name: value for name, value in expected.items() if name != "max_task_output_exact"
    }


@pytest.mark.parametrize(("given", "expected"), cases("gates"))
def test_checks(given: dict[str, Any], expected: dict[str, Any]) -> None:
    if "error" in expected:
        with pytest.raises(ValueError, match=r"^checks: ") as caught:
            resolve_checks(given["config"])
        assert getattr(caught.value, "code", None) == expected["error"]
        return
    checks = resolve_checks(given["config"])
    shown = [
        {
            name: value
            for name in ("name", "command", "required", "threshold")
            if (value := getattr(check, name)) is not None
        }
        for check in checks
    ]
    assert shown == expected["gates"]
    found = judge_checks(checks, given["results"], attempt=given["attempt"], max_attempts=given["max_attempts"])
    assert plain(found) == {name: expected[name] for name in ("failed_required", "warnings", "action")}


@pytest.mark.parametrize(("given", "expected"), cases("runtime"))
def test_runtime(given: dict[str, Any], expected: dict[str, Any]) -> None:
    window = ContextWindow(given["limit"], given["headroom"], given["threshold"], given["tool_result_max_age"])
    dropped: list[int] = []
    for name, *values in given["ops"]:
        if name == "add":
            window.add(values[0], "x" * values[1], role=values[2] if len(values) > 2 else "")
        elif name == "advance":
            window.advance()
        else:
            gone = window.gc(values[0])
            dropped.append(len(gone))
    assert dropped == expected["gc_evicted"]
    assert window.total == expected["total"]
    assert str(window.utilization) == expected["utilization_exact"]
    assert window.should_compact == expected["should_compact"]
    assert list(window.order()) == expected["order"]
    if "slice_budget" in given:
        assert list(window.evict(given["slice_budget"])) == expected["evicted"]
        assert list(window.order()) == expected["kept"]
        assert (window.total <= given["slice_budget"]) == expected["within_budget"]
