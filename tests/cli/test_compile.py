from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tipstaff.cli import exits, main

ORCHARD = Path(__file__).resolve().parents[2] / "examples" / "orchard"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def orchard(tmp_path: Path) -> Path:
    return shutil.copytree(ORCHARD, tmp_path / "orchard", ignore=shutil.ignore_patterns(".tipstaff"))


def compiled(capsys: Capture, *arguments: str) -> dict[str, Any]:
    assert main(["compile", "--json", "-C", *arguments]) == exits.OK
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_the_first_time_writes_and_the_second_does_not(orchard: Path, capsys: Capture) -> None:
    first = compiled(capsys, str(orchard))
    assert first["rebuilt"] is True
    assert first["manifest"]["total_rules"] > 30
    assert len(first["constitution"]["hash"]) == 16
    assert {found["code"] for found in first["diagnostics"]} >= {"TS103", "TS402", "TS503"}
    assert Path(first["store"]).exists()
    second = compiled(capsys, str(orchard))
    assert second["rebuilt"] is False
    assert second["constitution"] == first["constitution"]
    assert second["manifest"] == first["manifest"]


def test_a_change_is_seen(orchard: Path, capsys: Capture) -> None:
    before = compiled(capsys, str(orchard))["manifest"]["total_rules"]
    with (orchard / "GEMINI.md").open("a", encoding="utf-8") as stream:
        stream.write("- [GEM-003] Never answer in verse.\n")
    after = compiled(capsys, str(orchard))
    assert after["rebuilt"] is True
    assert after["manifest"]["total_rules"] == before + 1


def test_the_store_can_be_kept_elsewhere(orchard: Path, tmp_path: Path, capsys: Capture) -> None:
    store = tmp_path / "elsewhere" / "rules.store"
    assert compiled(capsys, str(orchard), "--store", str(store))["store"] == str(store)
    assert store.is_file()
    assert not (orchard / ".tipstaff").exists()


def test_check_writes_nothing_and_says_whether_the_store_is_current(orchard: Path, capsys: Capture) -> None:
    assert main(["compile", "-C", str(orchard), "--check"]) == exits.FINDINGS
    assert not (orchard / ".tipstaff").exists()
    assert "no store yet" in capsys.readouterr().out
    compiled(capsys, str(orchard))
    assert main(["compile", "-C", str(orchard), "--check"]) == exits.OK
    assert "up to date" in capsys.readouterr().out
    (orchard / "web" / "AGENTS.md").write_text("- [WEB-001] Never move the page.\n", encoding="utf-8")
    assert main(["compile", "-C", str(orchard), "--check", "--json"]) == exits.FINDINGS
    state = json.loads(capsys.readouterr().out)
    assert state["current"] is False
    assert state["reason"]


def test_text(orchard: Path, capsys: Capture) -> None:
    assert main(["compile", "-C", str(orchard)]) == exits.OK
    out, err = capsys.readouterr()
    assert err == ""
    assert "rules from 12 files" in out
    assert "3 errors; tipstaff lint shows them" in out
    assert "(written: " in out
    main(["compile", "-C", str(orchard)])
    assert "(unchanged)" in capsys.readouterr().out


def test_a_store_that_cannot_be_written_is_code_4(orchard: Path, tmp_path: Path, capsys: Capture) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    assert main(["compile", "-C", str(orchard), "--store", str(blocked / "store")]) == exits.STORE
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tipstaff: error: ")
    assert err.count("\n") == 1


def test_a_rule_file_that_cannot_be_read_is_an_error_and_the_others_are_compiled(
    tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(b"- Never caf\xe9\n")
    (tmp_path / "AGENTS.md").write_text("- Always lint\n", encoding="utf-8")
    for _ in range(2):  # compiled, and found unchanged
        assert main(["compile", "-C", str(tmp_path)]) == exits.UNREADABLE
        captured = capsys.readouterr()
        assert "1 rule" in captured.out
        assert "tipstaff: error: CLAUDE.md: Byte 0xe9 in line 1 is not UTF-8." in captured.err


def test_the_rules_are_compiled_for_the_hook_where_it_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repository, state = tmp_path / "repository", tmp_path / "state"
    (repository / ".git").mkdir(parents=True)
    (repository / "CLAUDE.md").write_text("- [R-001] Keep images small\n", encoding="utf-8")
    monkeypatch.setenv("TIPSTAFF_STATE", str(state))
    assert main(["compile", "-C", str(repository), "--json"]) == exits.OK
    assert json.loads(capsys.readouterr().out)["hook"] is None
    (state / "policy").mkdir(parents=True)
    assert main(["compile", "-C", str(repository), "--json"]) == exits.OK
    written = Path(json.loads(capsys.readouterr().out)["hook"])
    assert written.parent == state / "guidance"
    assert b"Keep images small" in written.read_bytes()


def test_text_has_no_lines_for_what_was_not_made(orchard: Path, capsys: Capture) -> None:
    main(["compile", "-C", str(orchard)])
    lines = capsys.readouterr().out.splitlines()
    assert all(lines)


def test_what_kept_the_store_from_being_written_is_reported_plainly(orchard: Path, capsys: Capture) -> None:
    (orchard / ".tipstaff").write_text("", encoding="utf-8")
    assert main(["compile", "-C", str(orchard)]) == exits.STORE
    err = capsys.readouterr().err
    assert str(orchard / ".tipstaff") in err
    assert "in memory" not in err
    assert "[Errno" not in err


def test_rules_without_room_in_the_constitution_are_counted(tmp_path: Path, capsys: Capture) -> None:
    rules = "".join(f"- Never open port {9000 + number} to everybody\n" for number in range(80))
    (tmp_path / "CLAUDE.md").write_text(f"## Security\n{rules}", encoding="utf-8")
    main(["compile", "-C", str(tmp_path)])
    assert "80 constitution (42 without room), 0 task-scoped" in capsys.readouterr().out
    main(["lint", "-C", str(tmp_path), "--ignore", "TS401"])
    assert "80 constitution (42 without room), 0 task-scoped" in capsys.readouterr().out
