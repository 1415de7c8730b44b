from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.context.requests import FOCUS, request
from tipstaff.context.inspecting.inspection import context_methods, inspect_document
from tipstaff.context.inspecting.json_rpc import Dispatcher
from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder

MEMBERS = {
    "sessionId",
    "totalChars",
    "estimatedTokens",
    "contextWindowTokens",
    "systemPromptSharePct",
    "requestFocus",
    "budget",
    "truncatedSectionKeys",
    "sections",
}
SECTION_MEMBERS = {
    "key",
    "sourceType",
    "scopeType",
    "inclusionReason",
    "priority",
    "protected",
    "originalChars",
    "finalChars",
    "included",
    "truncated",
    "evidence",
}


def test_every_member_is_there() -> None:
    snapshot = request()
    document = json.loads(json.dumps(inspect_document(snapshot)))
    assert set(document) >= MEMBERS | {"activeFilePaths", "injectedCandidateIds", "live", "pressureLevel"}
    assert document["requestFocus"] == {
        "querySummary": FOCUS.query_summary,
        "activeFilePaths": list(FOCUS.active_file_paths),
        "activeSymbols": ["StreamingLoop"],
        "planSignals": ["code change requested"],
    }
    assert document["budget"] == {"maxPerTierChars": 2_000, "maxTotalChars": 50_000, "budgetTokensEstimate": 12_500}
    assert document["systemPromptSharePct"] == pytest.approx(100 * snapshot.estimated_tokens / 128_000, abs=1e-4)
    assert document["live"]["currentContextTokens"] == 112_000
    assert len(document["sections"]) == 8
    for section in document["sections"]:
        assert set(section) >= SECTION_MEMBERS
        assert "content" not in section
    assert "detail" not in document
    soul = document["sections"][0]
    assert (soul["key"], soul["sourceType"], soul["protected"]) == ("memory:Soul", "memory", True)


def test_d49_what_is_shown_was_sent_and_each_of_two_equal_keys_can_be_seen() -> None:
    snapshot = request()
    assert inspect_document(snapshot, "rules")["detail"]["content"] == "First rules."
    assert inspect_document(snapshot, "rules#2")["detail"]["content"].startswith("Second")
    assert "detail" not in inspect_document(snapshot, "rules#3")
    document = inspect_document(snapshot)
    assert document["requestFocus"]["querySummary"] == "fix the streaming bug"
    # One rule for tokens in all figures.
    assert document["budget"]["budgetTokensEstimate"] == document["budget"]["maxTotalChars"] / 4


def test_d50_losses_and_boosts_are_explained() -> None:
    (section,) = (
        found for found in inspect_document(request())["sections"] if found["key"] == "memory:Workspace Memory"
    )
    assert section["boosts"] == [{"reason": "symbol", "points": 16, "applied": 10, "evidence": "StreamingLoop"}]
    assert section["basePriority"] + 10 == section["priority"]
    cut = section["cut"]
    assert cut["reason"] == "section-cap"
    assert cut["allowedChars"] == 2_000
    assert cut["removedChars"] == cut["end"] - cut["start"]


def asked(folder: SnapshotFolder, **params: Any) -> dict[str, Any]:
    answer = Dispatcher(context_methods(folder)).answer(
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "context.inspect", "params": params}).encode()
    )
    assert answer is not None
    document: dict[str, Any] = json.loads(answer)
    return document


def test_the_method_answers_from_the_newest_request(tmp_path: Path) -> None:
    folder = SnapshotFolder(tmp_path)
    folder.record(request())
    folder.record(request("a b/c", extra="more"))
    folder.record(request())
    result = asked(folder, sessionId="s1", queryHint="another query", detailKey="rules")["result"]
    assert (result["requestNumber"], result["detail"]["content"]) == (2, "First rules.")
    assert result["requestFocus"]["querySummary"] == "fix the streaming bug"
    assert asked(folder, sessionId="a b/c")["result"]["requestNumber"] == 1
    listed = Dispatcher(context_methods(folder)).answer(b'{"jsonrpc":"2.0","id":2,"method":"context.sessions"}')
    assert listed is not None
    assert json.loads(listed)["result"] == {"sessions": ["a b/c", "s1"]}


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"sessionId": "nobody"}, -32001),
        ({}, -32602),
        ({"sessionId": ""}, -32602),
        ({"sessionId": 5}, -32602),
        ({"sessionId": "s1", "detailKey": 5}, -32602),
        ({"sessionId": "s1", "other": 1}, -32602),
        ({"sessionId": "bad"}, -32002),
    ],
)
def test_errors_have_codes(tmp_path: Path, params: dict[str, Any], code: int) -> None:
    folder = SnapshotFolder(tmp_path)
    folder.record(request())
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "00000001.json").write_text("{}")
    assert asked(folder, **params)["error"]["code"] == code
