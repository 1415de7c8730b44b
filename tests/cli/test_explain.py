from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tipstaff.cli import exits, main

ORCHARD = Path(__file__).resolve().parents[2] / "examples" / "orchard"
Capture = pytest.CaptureFixture[str]


def explained(capsys: Capture, rule_id: str, folder: Path = ORCHARD) -> dict[str, Any]:
    assert main(["rules", "explain", rule_id, "-C", str(folder), "--json"]) == exits.OK
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_a_constitution_rule_is_always_loaded(capsys: Capture) -> None:
    document = explained(capsys, "SEC-001")
    assert document["loaded"] == "always"
    rule = document["rule"]
    assert (rule["path"], rule["heading"], rule["risk_class"]) == ("CLAUDE.md", "Security", "critical")
    assert rule["verifier"] == "log-scan"
    assert {found["code"] for found in document["diagnostics"]} <= {"TS402"}


def test_another_rule_is_loaded_by_task(capsys: Capture) -> None:
    document = explained(capsys, "ORD-001")
    assert document["loaded"] == "by-task"
    assert document["rule"]["repo_scopes"] == ["api/**"]


def test_letter_case_does_not_count(capsys: Capture) -> None:
    assert explained(capsys, "ord-001")["rule"]["id"] == "ORD-001"


def test_relations_are_named(capsys: Capture) -> None:
    assert explained(capsys, "AGT-002")["contradicts"] == ["GEM-001"]
    assert explained(capsys, "GEM-001")["contradicts"] == ["AGT-002"]
    assert explained(capsys, "REL-003")["repeated_in"] == ["AGENTS.md:3"]


def test_a_rule_that_a_nested_file_replaces_names_it(capsys: Capture) -> None:
    overriding = explained(capsys, "AGT-003")["overridden_by"]
    assert len(overriding) == 1
    assert explained(capsys, overriding[0])["overrides"] == "AGT-003"


def test_a_rule_out_of_force_is_never_loaded(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "CLAUDE.md").write_text("- [REL-001] Never merge to main until:2001-01-15\n", encoding="utf-8")
    assert explained(capsys, "REL-001", tmp_path)["loaded"] == "never"
    assert main(["rules", "explain", "REL-001", "-C", str(tmp_path)]) == exits.OK
    out = capsys.readouterr().out
    assert "never: it is not in force today" in out
    assert "until 2001-01-15" in out


def test_text_says_where_and_when(capsys: Capture) -> None:
    assert main(["rules", "explain", "MIG-001", "-C", str(ORCHARD)]) == exits.OK
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("MIG-001\n  A migration must never drop a column")
    assert ".claude/rules/migrations.md:8, a file of claude" in out
    assert "when a task in api/migrations/** calls for it" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(("wrong", "right"), [("SEC-0001", "SEC-001"), ("sec001", "SEC-001"), ("ORD-01", "ORD-001")])
def test_an_unknown_id_gets_suggestions(capsys: Capture, wrong: str, right: str) -> None:
    assert main(["rules", "explain", wrong, "-C", str(ORCHARD)]) == exits.UNREADABLE
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert wrong in err
    assert right in err


def test_an_id_like_no_other_gets_a_list(capsys: Capture) -> None:
    assert main(["rules", "explain", "zzzzzzzz", "-C", str(ORCHARD)]) == exits.UNREADABLE
    assert "there are " in capsys.readouterr().err


def test_a_folder_without_rules_says_so(tmp_path: Path, capsys: Capture) -> None:
    assert main(["rules", "explain", "SEC-001", "-C", str(tmp_path)]) == exits.UNREADABLE
    assert "has no rules" in capsys.readouterr().err


def test_nothing_is_written(tmp_path: Path, capsys: Capture) -> None:
    folder = shutil.copytree(ORCHARD, tmp_path / "orchard", ignore=shutil.ignore_patterns(".tipstaff"))
    before = sorted(folder.rglob("*"))
    explained(capsys, "SEC-001", folder)
    main(["lint", "-C", str(folder)])
    assert sorted(folder.rglob("*")) == before


def test_of_two_rules_with_one_id_both_say_so(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "CLAUDE.md").write_text("- [A-001] Always sign tags\n- [A-001] Never skip tests\n", encoding="utf-8")
    for rule_id in ("A-001", "A-001~1"):
        (found,) = explained(capsys, rule_id, tmp_path)["diagnostics"]
        assert found["message"] == "A-001 is also the id of the rule in CLAUDE.md:1, which is A-001~1 now."


def test_a_finding_elsewhere_is_reported_with_its_location(capsys: Capture) -> None:
    assert main(["rules", "explain", "REL-003", "-C", str(ORCHARD)]) == exits.OK
    assert "TS501 AGENTS.md:3: Duplicate of REL-003 in CLAUDE.md:35." in capsys.readouterr().out


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(b"- Never caf\xe9\n")
    (tmp_path / "AGENTS.md").write_text("- [A-001] Always sign tags\n", encoding="utf-8")
    assert main(["rules", "explain", "A-001", "-C", str(tmp_path), "--json"]) == exits.OK
    out, err = capsys.readouterr()
    assert json.loads(out)["rule"]["id"] == "A-001"
    assert err.startswith("tipstaff: warning: CLAUDE.md: Byte 0xe9 in line 1 is not UTF-8.")


def test_an_edited_rule_is_known_by_the_id_that_the_store_gives_it(tmp_path: Path, capsys: Capture) -> None:
    rules = tmp_path / "CLAUDE.md"
    rules.write_text("- Always run the unit tests before pushing\n", encoding="utf-8")
    assert main(["compile", "-C", str(tmp_path), "--json"]) == exits.OK
    (before,) = json.loads(capsys.readouterr().out)["manifest"]["rules"]
    rules.write_text("- Always run the unit tests before you push\n", encoding="utf-8")
    for write in (False, True):  # compiled in memory after the store, and from the store
        if write:
            assert main(["compile", "-C", str(tmp_path)]) == exits.OK
            capsys.readouterr()
        document = explained(capsys, before["id"], tmp_path)
        assert document["rule"]["text"] == "Always run the unit tests before you push"
        assert main(["rules", "explain", before["id"], "-C", str(tmp_path)]) == exits.OK
        assert f"  by its words   {document['rule']['former_id']}" in capsys.readouterr().out


def test_what_is_explained_from_a_store_is_what_is_explained_without(tmp_path: Path, capsys: Capture) -> None:
    orchard = shutil.copytree(ORCHARD, tmp_path / "orchard", ignore=shutil.ignore_patterns(".tipstaff"))
    names = ("SEC-001", "AGT-002", "AGT-003", "AGT-003@api", "REL-003", "REL-002", "ORD-004")
    without = [explained(capsys, name, orchard) for name in names]
    assert not (orchard / ".tipstaff").exists()
    assert main(["compile", "-C", str(orchard)]) == exits.OK
    capsys.readouterr()
    assert [explained(capsys, name, orchard) for name in names] == without
