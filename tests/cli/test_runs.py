from __future__ import annotations

import json
import subprocess
import sys
import time
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
    status = subprocess.run(["git", "-C", str(root), "status", "--short"], capture_output=True, text=True, check=True)
    assert status.stdout.split() == ["M", "src/a.py"], "the ledger is kept out of git"


def test_results_of_tests_are_read_where_there_is_a_report(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.txt"
    found: list[Any] = []
    for text in (None, "3 passed, 1 failed in 0.1s", "all fine"):
        run_id = as_json(capsys, "run", "start", "fix it")[1]["run_id"]
        report.write_text(text or "")
        options = ("--report", str(report)) if text else ()
        code, shown = ran(capsys, "run", "finish", run_id, "--passed", "999", *options)
        found.append((code, "as the caller says" in shown, "999 passed" in shown, "3 passed, 1 failed" in shown))
    assert found == [
        (exits.OK, True, True, False),
        (exits.FINDINGS, False, False, True),
        (exits.UNREADABLE, False, False, False),
    ]


def test_checks_and_reviews_are_listed(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                      monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    url = f"sqlite:///{tmp_path}/reviews.db"
    monkeypatch.setenv("TIPSTAFF_LEDGER", url)
    (root / ".tipstaff").mkdir(exist_ok=True)
    (root / ".tipstaff/config.toml").write_text('[[checks.additional]]\nname = "own"\ncommand = "false"\n')
    as_json(capsys, "run", "start", "fix it", "--ledger", url)
    assert ran(capsys, "check")[0] == exits.FINDINGS
    text = ran(capsys, "ledger", "list", "--ledger", url)[1]
    assert "  check  failed  own\n0 runs, 1 check\n" in text
    (listed,) = as_json(capsys, "ledger", "list", "--ledger", url)[1]
    shown = json.loads(ran(capsys, "ledger", "show", listed["event_id"], "--ledger", url)[1])
    assert (shown["kind"], shown["passed"], shown["results"][0]["name"]) == ("check", False, "own")


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
        "broken at entry 4: entry 4 does not have the content that was signed; the 3 entries before are valid"
    )


READERS = (
    "ledger list", "ledger show x", "ledger verify", "ledger export out.parquet", "ledger prune --max-days 1",
    "rules stats", "rules optimize", "rules optimize --apply x",
)  # fmt: skip


@pytest.mark.parametrize("command", READERS)
def test_what_reads_a_ledger_makes_none(command: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path.name for path in root.rglob("*"))
    for more in ((), ("--ledger", "sqlite:///mistyped.db"), ("--ledger", f"sqlite:///{root}/absent/ledger.db")):
        code, text = ran(capsys, *command.split(), *more)
        assert (code, "there is no ledger" in text) == (exits.UNREADABLE, True), text
    code, text = ran(capsys, *command.split(), "-C", "mistyped")
    assert (code, "mistyped: not a folder" in text) == (exits.UNREADABLE, True)
    code, text = ran(capsys, *command.split(), "--key-file", "mistyped")
    assert code == exits.UNREADABLE
    assert sorted(path.name for path in root.rglob("*")) == before


def test_a_database_that_is_no_ledger_is_not_changed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import sqlite3

    with sqlite3.connect("other.db") as database:
        database.execute("CREATE TABLE bookmarks (name TEXT)")
    database.close()
    Path("notes.db").write_text("these are notes, and no database\n" * 100)
    Path("empty.db").touch()
    for name, words in (("other", "no ledger in this"), ("notes", "not a SQLite database"), ("empty", "no ledger in")):
        before = Path(f"{name}.db").read_bytes()
        code, text = ran(capsys, "ledger", "verify", "--ledger", f"sqlite:///{name}.db")
        assert code in {exits.UNREADABLE, exits.STORE}
        assert words in text
        assert Path(f"{name}.db").read_bytes() == before
    assert "not a file" in ran(capsys, "ledger", "verify", "--ledger", f"sqlite:///{root}")[1]


def test_a_path_that_is_no_spool_is_left_alone(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("notes.md").write_text("# Notes\n\nnot a spool\n")
    Path("spool-copy.jsonl").write_bytes(spool_line(9))
    for given, words in (("absent.jsonl", "no such spool"), ("notes.md", "not a spool"), (".", "not a spool")):
        code, text = ran(capsys, "ledger", "ingest", "--spool", given)
        assert words in text
        assert code in {exits.USAGE, exits.UNREADABLE}
    assert Path("notes.md").read_text().startswith("# Notes")
    assert not (root / ".tipstaff" / "ledger.db").exists()
    Path("spool.jsonl").write_bytes(b'{"v":1,"at":' + spool_line(1))  # torn by a crash, and still a spool
    code, text = ran(capsys, "ledger", "ingest", "--spool", "spool.jsonl")
    assert (code, text) == (exits.OK, "1 line ingested, 0 repeated, 1 set aside\n")
    assert Path("spool-copy.jsonl").exists(), "another file of a similar name is not part of it"
    code, text = ran(capsys, "ledger", "ingest")
    assert (code, "no hook has recorded a call" in text) == (exits.UNREADABLE, True)


def test_reports_that_cannot_be_written_are_refused_first(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled(root)
    marker = tmp_path / "started"
    suite = tmp_path / "suite.yaml"
    suite.write_text(f"name: x\nexecutor: [touch, {marker}]\ncases: [{{id: a, prompt: p}}]\n")
    pq.write_table(pa.table({"command": ["ls"]}), "calls.parquet")
    for command in (
        f"headless {suite} --junit absent/x.xml", f"headless {suite} --markdown .",
        "replay calls.parquet --after . --html absent/x.html", "ledger export absent/x.parquet",
        "check --report absent/x.json", "review assemble --output absent/x.md",
    ):  # fmt: skip
        code, text = ran(capsys, *command.split())
        assert (code, "nothing was done" in text) == (exits.UNREADABLE, True), text
    assert not marker.exists()


def test_runs_of_the_ledger_are_replayed(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = ("Read", "Bash: git push --force origin main", "rm -rf ~", "git push --force origin main")
    (root / ".tipstaff").mkdir()
    with Ledger(f"sqlite:///{root}/.tipstaff/ledger.db") as ledger:
        ledger.append_many(
            run_event(number, tools_used=calls[: number % 5], task="fix the failing test" if number % 2 else "")
            for number in range(10)
        )
    assert ran(capsys, "ledger", "export", "runs.parquet")[0] == exits.OK
    code, report = as_json(capsys, "replay", "runs.parquet", "--after", ".")
    assert (code, report["total"], report["tasks"], report["changed"]) == (exits.OK, 20, 5, 0)
    assert sum(count for name, count in report["transitions"].items() if name.startswith("block")) == 2 * (1 + 2 + 3)
    changed = made_repository(tmp_path / "changed")
    (changed / "CLAUDE.md").write_text("# R\n\n- [X-1] Fix the cause of a failing test.\n")
    assert as_json(capsys, "replay", "runs.parquet", "--after", str(changed))[1]["tasks_changed"] == 5


def test_what_is_imported_is_looked_at_first(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("notes.md").write_text("x")
    Path("notes.parquet").write_text("x")
    pq.write_table(pa.table({"a": [1]}), "other.parquet")
    for name in ("notes.md", "notes.parquet", "other.parquet", "absent.parquet"):
        code, text = ran(capsys, "ledger", "import", name)
        assert code in {exits.USAGE, exits.UNREADABLE}
        assert name in text
    assert not (root / ".tipstaff" / "ledger.db").exists()


def test_ledgers_of_two_machines_are_merged(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each machine signs with a key of its own; runs that both have are kept once, and listed by time."""
    for machine, numbers in (("b", range(150, 320)), ("a", range(1, 200))):
        monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / machine))
        with Ledger(f"sqlite:///{tmp_path}/{machine}.db") as ledger:
            ledger.append_many(map(run_event, numbers))
        where = ("--ledger", f"sqlite:///{tmp_path}/{machine}.db")
        assert ran(capsys, "ledger", "export", f"{machine}.parquet", *where)[0] == exits.OK
        assert ran(capsys, "ledger", "verify", *where)[0] == exits.OK
    code, text = ran(capsys, "ledger", "list", "--ledger", f"sqlite:///{tmp_path}/b.db")
    assert (code, "another key" in text) == (exits.STORE, True)
    merged = ("--ledger", f"sqlite:///{tmp_path}/merged.db")
    assert [ran(capsys, "ledger", "import", f"{one}.parquet", *merged)[1].split()[0] for one in "bab"] == [
        "170", "149", "0",
    ]  # fmt: skip
    code, listed = as_json(capsys, "ledger", "list", "--limit", "3", *merged)
    assert [one["event_id"] for one in listed] == ["run-317", "run-318", "run-319"]
    code, found = as_json(capsys, "ledger", "verify", *merged)
    assert (found["ok"], found["checked"]) == (True, 319)
    rows = as_json(capsys, "rules", "stats", *merged)[1]
    assert {row["rule_id"]: row["violated"] for row in rows}["R1"] == 319 // 3


def test_a_run_below_the_root_and_what_it_committed(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    git(root, "init", "-q")
    Path("before.py").write_text("x = 1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    Path("src/a.py").write_text("changed before the run = 1\n")
    Path("unrelated.txt").write_text("from before\n")
    monkeypatch.chdir(root / "src")
    time.sleep(0.1)
    code, started = as_json(capsys, "run", "start", "fix the failing test")
    assert code == exits.OK
    time.sleep(0.01)
    Path("committed.py").write_text("y = 1\nz = 2\n")
    git(root, "add", "src/committed.py")
    git(root, "commit", "-qm", "two")
    Path("new name.py").write_text("no end of line")
    (root / "before.py").unlink()
    ran(capsys, "run", "finish", started["run_id"])
    event = as_json_show(capsys, started["run_id"])[1]["event"]
    assert event["files_touched"] == ["before.py", "src/committed.py", "src/new name.py"]
    assert event["diff_summary"] == {"lines_added": 3, "lines_removed": 1, "files_changed": 3}
    assert (root / ".tipstaff" / "ledger.db").exists()
    assert not (root / "src" / ".tipstaff").exists()


def test_rules_stats(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    filled(root)
    code, rows = as_json(capsys, "rules", "stats")
    fates = {row["rule_id"]: row["fate"] for row in rows}
    assert (code, fates["TST-1"], fates["DB-1"], fates["R1"]) == (exits.OK, "in-use", "dead", "always-violated")
    code, text = ran(capsys, "rules", "stats", "--limit", "2")
    assert (code, "always-violated" in text) == (exits.OK, True)


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
    code, report = as_json(capsys, "rules", "optimize")
    assert (code, report["ranking"][0]["rule_id"]) == (exits.OK, "R1")
    assert report["proposed"][0]["kind"] == "add"
    change = report["proposed"][0]["id"]
    assert f"`tipstaff rules optimize --start {change}` tries it" in ran(capsys, "rules", "optimize")[1]
    code, started = as_json(capsys, "rules", "optimize", "--start", change)
    assert (code, started["started"]["change"]["id"]) == (exits.OK, change)
    code, text = ran(capsys, "rules", "optimize")
    assert "R1: broken 13 times" in text
    assert "continue" in text
    assert ran(capsys, "rules", "optimize", "--dismiss", change)[1] == f"dismissed: {change}, which was on trial\n"
    assert ran(capsys, "rules", "optimize", "--start", "absent")[0] == exits.USAGE
    assert ran(capsys, "rules", "optimize", "--apply", "absent")[0] == exits.USAGE
    assert ran(capsys, "rules", "optimize", "--rollback", "absent")[0] == exits.USAGE


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
