from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tipstaff.cli import exits, main

ORCHARD = Path(__file__).resolve().parents[2] / "examples" / "orchard"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def orchard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(ORCHARD, tmp_path_factory.mktemp("retrieve") / "orchard")


def retrieved(capsys: Capture, folder: Path, task: str, *options: str) -> dict[str, Any]:
    assert main(["retrieve", task, "--dir", str(folder), "--json", *options]) == exits.OK
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def ids(document: dict[str, Any]) -> list[str]:
    return [shard["shard"]["rule"]["id"] for shard in document["shards"]]


def test_json_is_the_result(capsys: Capture, orchard: Path) -> None:
    document = retrieved(capsys, orchard, "write the migration that adds a column to boxes")
    assert len(document["shards"]) == 5
    assert any(rule.startswith("MIG-") for rule in ids(document))
    assert document["policy_text"].startswith("# Constitution")
    assert document["latency_ms"] >= 0


def test_the_number_of_rules_can_be_set(capsys: Capture, orchard: Path) -> None:
    assert len(retrieved(capsys, orchard, "add a button", "--max-shards", "2")["shards"]) == 2
    assert retrieved(capsys, orchard, "add a button", "--max-shards", "0")["shards"] == []


def test_the_intent_can_be_set(capsys: Capture, orchard: Path) -> None:
    assert retrieved(capsys, orchard, "add a button", "--intent", "docs")["detected_intent"] == "docs"


def test_risk_filters(capsys: Capture, orchard: Path) -> None:
    document = retrieved(capsys, orchard, "change an endpoint", "--risk", "high", "--risk", "critical")
    assert document["shards"]
    assert {shard["shard"]["rule"]["risk_class"] for shard in document["shards"]} <= {"high", "critical"}


def test_scope_filters(capsys: Capture, orchard: Path) -> None:
    document = retrieved(capsys, orchard, "write a migration", "--scope", "web/src/basket.ts", "--max-shards", "50")
    found = ids(document)
    assert not any(rule.startswith(("MIG-", "SRV-", "INF-")) for rule in found)
    assert any(rule.startswith("WEB-") for rule in found)


def test_text_names_rules_reasons_and_places(capsys: Capture, orchard: Path) -> None:
    assert main(["retrieve", "write a migration", "--dir", str(orchard)]) == exits.OK
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("intent ")
    assert " MIG-00" in out
    assert ".claude/rules/migrations.md:" in out
    assert out.rstrip().endswith(" ms")
    assert "\x1b" not in out


def test_meaning_is_asked_for_by_name(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "CLAUDE.md").write_text(
        "- Round discounts down\n- Report every authentication vulnerability\n- Keep images small\n", encoding="utf-8"
    )
    for _ in range(2):
        assert main(["retrieve", "Fix the auth issue", "--dir", str(tmp_path), "--embedding", "static", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["shards"]
        assert found[0]["shard"]["rule"]["text"] == "Report every authentication vulnerability"
        assert found[0]["reason"].startswith("meaning 0.")
    assert main(["retrieve", "Fix the auth issue", "--dir", str(tmp_path), "--json"]) == 0
    assert sorted(path.name for path in (tmp_path / ".tipstaff" / "cache").glob("*.store")) == [
        "guidance-static.store",
        "guidance.store",
    ]
