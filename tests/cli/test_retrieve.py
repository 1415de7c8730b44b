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
    return shutil.copytree(
        ORCHARD, tmp_path_factory.mktemp("retrieve") / "orchard", ignore=shutil.ignore_patterns(".tipstaff")
    )


def retrieved(capsys: Capture, folder: Path, task: str, *options: str) -> dict[str, Any]:
    assert main(["retrieve", task, "-C", str(folder), "--json", *options]) == exits.OK
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def ids(document: dict[str, Any]) -> list[str]:
    return [shard["shard"]["rule"]["id"] for shard in document["shards"]]


def test_json_is_the_result(capsys: Capture, orchard: Path) -> None:
    document = retrieved(capsys, orchard, "write the migration that adds a column to boxes")
    cost = sum(len(f"- {one['shard']['compact_text']}") // 4 + 1 for one in document["shards"])
    assert 1 <= len(document["shards"]) <= 40
    assert cost <= 800
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


def test_text_names_rules_reasons_and_locations(capsys: Capture, orchard: Path) -> None:
    assert main(["retrieve", "write a migration", "-C", str(orchard)]) == exits.OK
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("intent ")
    assert " MIG-00" in out
    assert ".claude/rules/migrations.md:" in out
    assert out.rstrip().endswith(" ms")
    assert "\x1b" not in out


def test_meaning_is_the_default_and_hashes_are_asked_for_by_name(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "CLAUDE.md").write_text(
        "- Round discounts down\n- [A-1] Report every authentication vulnerability\n- Keep images small\n",
        encoding="utf-8",
    )
    for _ in range(2):
        found = retrieved(capsys, tmp_path, "Fix the auth issue")["shards"]
        assert found[0]["shard"]["rule"]["text"] == "Report every authentication vulnerability"
        assert found[0]["reason"].startswith("meaning 0.")
    assert len(retrieved(capsys, tmp_path, "Fix the auth issue", "--embedding", "hash")["shards"]) == 3
    assert sorted(path.name for path in (tmp_path / ".tipstaff" / "cache").glob("*.store")) == [
        "guidance-hash.store",
        "guidance.store",
    ]


def test_a_task_without_related_rules_gets_none(capsys: Capture, orchard: Path) -> None:
    document = retrieved(capsys, orchard, "book a flight to Lisbon")
    assert document["shards"] == []
    assert document["policy_text"].startswith("# Constitution")


def test_why_names_words_boosts_and_what_was_beaten(capsys: Capture, orchard: Path) -> None:
    task = "write the migration in db/001.sql"
    document = retrieved(capsys, orchard, task, "--why")
    assert [one["id"] for one in document["why"]] == ids(document)
    assert "why" not in retrieved(capsys, orchard, task)
    assert main(["retrieve", task, "-C", str(orchard), "--why"]) == exits.OK
    out = capsys.readouterr().out
    assert "pulled by migration +" in out
    assert "beat " in out
    shown = [line.split(" = ") for line in out.splitlines() if line.strip().startswith("meaning ") and " = " in line]
    assert shown
    for parts, score in shown:
        assert sum(float(part.split()[-1]) for part in parts.split(" + ")) == pytest.approx(float(score), abs=3e-3)


def test_five_are_five(capsys: Capture, tmp_path: Path) -> None:
    rules = "".join(f"- Test the basket in case {n}\n" for n in range(12))
    (tmp_path / "AGENTS.md").write_text(f"# Rules\n{rules}", encoding="utf-8")
    for most in (4, 5, 6):
        assert len(ids(retrieved(capsys, tmp_path, "test the basket", "--max-shards", str(most)))) == most
    assert len(ids(retrieved(capsys, tmp_path, "test the basket"))) == 12


def test_in_a_folder_its_own_rules_hold_and_those_of_others_do_not(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "AGENTS.md": "- NEVER commit secrets.\n- Write commit messages in the imperative.\n",
        "web/AGENTS.md": "- NEVER commit inline styles.\n- Use hooks for shared state.\n",
        "web/.cursor/rules/a.mdc": "---\nglobs: '**/*.tsx'\n---\n- Name components after their state.\n",
        "api/AGENTS.md": "- NEVER expose a stack trace.\n- Keep shared state out of requests.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / ".git").mkdir()
    task = "add a component with shared state"

    def known(*options: str) -> set[str]:
        assert main(["retrieve", task, "--json", "--max-shards", "9", *options]) == exits.OK
        document = json.loads(capsys.readouterr().out)
        assert document["policy_text"]
        rules = [*document["constitution"]["rules"], *(one["shard"]["rule"] for one in document["shards"])]
        return {rule["text"] for rule in rules}

    own = {"NEVER commit secrets.", "NEVER commit inline styles.", "Use hooks for shared state."}
    own.add("Name components after their state.")
    other = {"Keep shared state out of requests."}
    for place in ("web", "web/src/deep"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        monkeypatch.chdir(tmp_path / place)
        assert own <= known()
        assert other.isdisjoint(known())
        assert known("-C", str(tmp_path)) == known()
        assert other <= known("--scope", ".")
        assert other <= known("--scope", str(tmp_path))
    assert main(["retrieve", "play the piano"]) == exits.OK
    assert " 2 constitution rules always loaded, 0 rules for this task in web/src/deep/:" in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    assert known("--scope", "web/") == known("-C", "web", "--scope", "web/") == {*own}
    assert other <= known()


def test_an_absolute_scope_is_taken_within_the_repository(
    capsys: Capture, orchard: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = "write the commit subject line"
    inside = ids(retrieved(capsys, orchard, task, "--scope", "api/orders.py"))
    assert "AGT-003@api" in inside
    assert ids(retrieved(capsys, orchard, task, "--scope", str(orchard / "api" / "orders.py"))) == inside
    monkeypatch.chdir(orchard)
    assert ids(retrieved(capsys, Path(), task, "--scope", str(orchard.resolve() / "api" / "orders.py"))) == inside
    assert main(["retrieve", task, "-C", str(orchard), "--scope", str(orchard.parent / "x.py")]) == exits.USAGE
    assert "not inside" in capsys.readouterr().err


def test_what_was_left_out_is_named_with_the_rule_that_stayed(capsys: Capture, orchard: Path) -> None:
    assert main(["retrieve", "squash the commits before merging", "-C", str(orchard)]) == exits.OK
    out = capsys.readouterr().out
    assert "left out: AGT-002 for GEM-001: " in out or "left out: GEM-001 for AGT-002: " in out


def test_a_rule_file_that_cannot_be_read_is_named(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(b"- Never caf\xe9\n")
    for _ in range(2):  # compiled, and from the store
        assert main(["retrieve", "open the menu", "-C", str(tmp_path), "--json"]) == exits.OK
        out, err = capsys.readouterr()
        assert json.loads(out)["shards"] == []
        assert err.startswith("tipstaff: warning: CLAUDE.md: Byte 0xe9 in line 1 is not UTF-8.")
