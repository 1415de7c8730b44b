"""Labelled histories, where they are there: those on which this store and the program that they come from agree.

Where they differ on purpose, `test_defects` says why.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.context.candidates.clock import Clock
from tests.shared_data import shared_path
from tipstaff.context.candidates.store import CandidateStore
from tipstaff.errors import ConfigError

VECTORS = shared_path("vectors", "context", "candidates.json")
AGREED = {"promote", "score", "caps"}
FIELDS = ("state", "evidence_count", "success_count", "failure_count", "content", "tool_tag", "kind", "category")


@pytest.mark.skipif(VECTORS is None, reason="no labelled cases beside this checkout")
def test_histories(tmp_path: Path) -> None:
    assert VECTORS is not None
    cases = [case for case in json.loads(VECTORS.read_text(encoding="utf-8"))["cases"] if case["family"] in AGREED]
    assert len(cases) > 8
    for case in cases:
        replay(CandidateStore, tmp_path / case["id"], case)


def replay(make: type[CandidateStore], path: Path, case: dict[str, Any]) -> None:
    clock = Clock()
    clock.now = datetime.fromisoformat(case["input"]["start"])
    store = make(path, clock=clock, sync=False)
    names: dict[str, str] = {}
    for operation, expected in zip(case["input"]["ops"], case["expected"]["steps"], strict=True):
        where = f"{case['id']}, {operation}"
        kind = operation.pop("op")
        if kind == "advance":
            clock.advance(seconds=operation["seconds"])
        elif kind == "evaluate_all":
            moves = [(names[move.candidate_id], move.from_state, move.to_state) for move in store.evaluate_all()]
            assert moves == [(move["id"], move["from"], move["to"]) for move in expected["transitions"]], where
        elif kind == "outcome":
            (candidate_id,) = (own for own, name in names.items() if name == operation["id"])
            store.record_outcome(candidate_id, success=operation["success"])
        elif "result" not in expected:
            with pytest.raises(ConfigError):
                store.upsert(operation)
        else:
            found = store.upsert(operation)
            names.setdefault(found.id, f"c{len(names)}")
            result = expected["result"]
            assert names[found.id] == result["id"], where
            assert {name: str(getattr(found, name)) for name in FIELDS} == {
                name: str(result[name]) for name in FIELDS
            }, where
            assert found.base_score == pytest.approx(result["score"], abs=1e-9), where
            assert list(found.source_refs) == result["source_refs"], where
