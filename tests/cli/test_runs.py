from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.runs.made import run_event, spool_line
from tests.runs.repository import made_repository
from tipstaff.cli import exits
from tipstaff.cli.app import run
from tipstaff.runs import Ledger


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("TIPSTAFF_LEDGER", raising=False)
    root = made_repository(tmp_path / "repository")
    monkeypatch.chdir(root)
    return root


def ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = run(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = run([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def git(root: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-C", str(root), "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
        check=True, capture_output=True,
    )  # fmt: skip


def test_a_run_from_a_shell(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    code, started = as_json(capsys, "run", "start", "fix the failing test", "--session", "session-1")
    assert code == exits.OK
    assert "TST-1" in {one["rule_id"] for one in started["rules"]}
    run_id = started["run_id"]
    (root / "src" / "a.py").write_text("x = 2\n")
    at = 4_000_000_000  # the hook's line is later than the start
    (tmp_path / "state" / "spool.jsonl").write_bytes(
        spool_line(1, session="session-1", at=at, decision="block", rules=["git.push-force-shared"], cwd=str(root))
        + spool_line(2, session="other", at=at, cwd=str(root))
        + spool_line(3, session="session-1", at=at, cwd=str(tmp_path / "elsewhere"))
    )
    code, text = ran(capsys, "run", "finish", run_id, "--outcome", "accepted", "--passed", "5",
                     "--violation", "TST-1:high:no test was run", "--rework", "3")  # fmt: skip
    assert code == exits.FINDINGS
    assert "FAIL  0.00  violation-rate" in text
    code, shown = as_json_show(capsys, run_id)
    event = shown["event"]
    assert (event["files_touched"], event["rework_lines"]) == (["src/a.py"], 3)
    assert event["diff_summary"] == {"lines_added": 1, "lines_removed": 1, "files_changed": 1}
    assert [one["rules"] for one in event["verdicts"]] == [["git.push-force-shared"]]
    assert event["violations"][0]["description"] == "no test was run"
    assert "TST-1" in event["retrieved_rule_ids"]
    assert ran(capsys, "run", "finish", run_id)[0] == exits.UNREADABLE
    assert ran(capsys, "run", "finish", "../x")[0] == exits.USAGE
    status = subprocess.run(["git", "-C", str(root), "status", "--short"], capture_output=True, text=True, check=True)
    assert status.stdout.split() == ["M", "src/a.py"], "the ledger is kept out of git"


def as_json_show(capsys: pytest.CaptureFixture[str], run_id: str) -> tuple[int, Any]:
    code = run(["ledger", "show", run_id])
    return code, json.loads(capsys.readouterr().out)


def filled(root: Path, count: int = 12) -> str:
    url = f"sqlite:///{root}/.tipstaff/ledger.db"
    (root / ".tipstaff").mkdir(exist_ok=True)
    with Ledger(url) as ledger:
        ledger.append_many(run_event(number, retrieved_rule_ids=("TST-1",)) for number in range(1, count + 1))
    return url


def test_the_ledger(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(root)
    code, text = ran(capsys, "ledger", "list", "--limit", "3")
    assert (code, text.splitlines()[-1]) == (exits.OK, "3 runs")
    assert "broke R1" in text
    code, listed = as_json(capsys, "ledger", "list", "--rule", "R1")
    assert [one["event_id"] for one in listed] == ["run-3", "run-6", "run-9", "run-12"]
    code, verified = as_json(capsys, "ledger", "verify")
    assert (code, verified["ok"], verified["checked"]) == (exits.OK, True, 12)
    assert ran(capsys, "ledger", "export", str(tmp_path / "runs.parquet"))[1] == f"12 runs in {tmp_path}/runs.parquet\n"
    other = f"sqlite:///{tmp_path}/other.db"
    assert ran(capsys, "ledger", "import", str(tmp_path / "runs.parquet"), "--ledger", other)[1].startswith(
        "12 new runs"
    )
    spool = tmp_path / "spool.jsonl"
    spool.write_bytes(spool_line(1) + b"torn\n")
    assert as_json(capsys, "ledger", "ingest", "--spool", str(spool))[1] == {"taken": 1, "repeated": 0, "set_aside": 1}
    code, text = ran(capsys, "ledger", "verify", "--anchor", verified["anchor"])
    assert (code, text.startswith("whole: 13 entries")) == (exits.OK, True)
    assert ran(capsys, "ledger", "prune", "--max-entries", "5")[1] == "8 entries removed\n"
    assert ran(capsys, "ledger", "prune")[0] == exits.USAGE
    assert ran(capsys, "ledger", "show", "absent")[0] == exits.UNREADABLE


def test_a_ledger_that_was_tampered_with(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import sqlite3

    filled(root)
    database = sqlite3.connect(root / ".tipstaff" / "ledger.db")
    database.execute("UPDATE tipstaff_entries SET body = replace(body, 'npm', 'rpm') WHERE seq = 4")
    database.commit()
    database.close()
    code, text = ran(capsys, "ledger", "verify")
    assert code == exits.FINDINGS
    assert text.startswith(
        "broken at entry 4: entry 4 does not have the content that was signed; 3 before it are valid"
    )


def test_rules_stats(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(root)
    code, rows = as_json(capsys, "rules", "stats")
    fates = {row["rule_id"]: row["fate"] for row in rows}
    assert (code, fates["TST-1"], fates["DB-1"], fates["R1"]) == (exits.OK, "in-use", "dead", "always-violated")
    plot = tmp_path / "rules.svg"
    code, text = ran(capsys, "rules", "stats", "--limit", "2", "--plot", str(plot))
    assert (code, "always-violated" in text) == (exits.OK, True)
    assert plot.read_text().startswith("<svg")
    assert "R1" in plot.read_text()


def test_replay(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = tmp_path / "calls.parquet"
    pq.write_table(pa.table({"command": ["ls", "git reset --hard"], "task": [None, "fix the failing test"]}), calls)
    changed = made_repository(tmp_path / "changed")
    (changed / "CLAUDE.md").write_text("# R\n\n- [X-1] Fix the cause of a failing test.\n")
    code, report = as_json(capsys, "replay", str(calls), "--after", str(changed))
    assert (code, report["changed"], report["tasks_changed"]) == (exits.FINDINGS, 0, 1)
    page = tmp_path / "report.html"
    code, text = ran(capsys, "replay", str(calls), "--after", ".", "--html", str(page))
    assert (code, text.splitlines()[0].startswith("0 of 2 calls")) == (exits.OK, True)
    assert page.read_text().startswith("<!doctype html>")
    assert ran(capsys, "replay", str(tmp_path / "absent"), "--after", ".")[0] == exits.UNREADABLE


def test_optimize(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(root, 40)
    code, report = as_json(capsys, "optimize")
    assert (code, report["ranking"][0]["rule_id"]) == (exits.OK, "R1")
    assert report["started"][0]["change"]["kind"] == "add"
    code, text = ran(capsys, "optimize")
    assert "R1: broken 13 times" in text
    assert "continue" in text
    assert ran(capsys, "optimize", "--apply", "absent")[0] == exits.USAGE
    assert ran(capsys, "optimize", "--rollback", "absent")[0] == exits.USAGE


def test_headless(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        f'name: demo\nexecutor: [{sys.executable}, -c, "import sys; print(sys.stdin.read())"]\ncases:\n'
        "  - {id: good, prompt: hello, tags: [a], assertions: [{output-contains: hello}]}\n"
        "  - {id: bad, prompt: hello, assertions: [{output-contains: other}]}\n"
    )
    files = [tmp_path / "junit.xml", tmp_path / "report.md"]
    code, text = ran(capsys, "headless", str(suite), "--junit", str(files[0]), "--markdown", str(files[1]), "--record")
    assert (code, text.splitlines()[-1].startswith("1 of 2 cases passed")) == (exits.FINDINGS, True)
    assert "<testsuite " in files[0].read_text()
    assert "1 of 2 cases passed" in files[1].read_text()
    assert as_json(capsys, "ledger", "list")[1][0]["task"] == "hello"
    code, result = as_json(capsys, "headless", str(suite), "--tag", "a")
    assert (code, result["passed"]) == (exits.OK, True)
    code, found = as_json(capsys, "headless", str(suite), "--tag", "a", "--compare", "CLAUDE.md", "CLAUDE.local.md",
                          "--repeats", "2")  # fmt: skip
    assert (code, found["a"]["runs"], found["difference"]) == (exits.OK, 2, 0.0)
    assert ran(capsys, "headless", str(suite), "--tag", "none")[0] == exits.USAGE
