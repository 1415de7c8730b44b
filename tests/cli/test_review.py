"""``tipstaff check``, ``size``, ``sop`` and ``review`` as people and programs call them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.review.repositories import commit, make, run_git
from tests.review.test_running import gone
from tipstaff.cli import main
from tipstaff.cli.live_view import LiveView, columns, within
from tipstaff.cli.output import Painter
from tipstaff.review import Check
from tipstaff.review.running.schedule import Ended

CONFIG = """
[[checks.additional]]
name = "lint"
command = "echo 'a.py:3:7: F401 unused'; exit 1"
triggers = ["*.py"]

[[checks.additional]]
name = "docs"
command = "true"
triggers = ["*.md"]
required = false
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = make(
        tmp_path,
        {
            "a.py": "def f(x: int) -> int:\n    return x\n",
            "README.md": "x\n",
            ".tipstaff/config.toml": CONFIG,
            ".tipstaff/sops/py.md": "---\napplies_to: '*.py'\nseverity: error\n---\n# Python\nYou must.\n",
        },
    )
    commit(made)
    monkeypatch.chdir(made)
    return made


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code, out, _ = run(capsys, *arguments, "--json")
    return code, json.loads(out)


@pytest.mark.usefixtures("folder")
def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "check")
    assert code == 1
    assert "a.py:3:7: unused F401" in out
    assert out.rstrip().endswith("2 checks run, failed: lint; attempt 1 of 3")
    code, data = run_json(capsys, "check", "--attempt", "3")
    assert (code, data["passed"], data["verdict"]["action"]) == (1, False, "escalate")
    assert data["results"][0]["findings"][0]["path"] == "a.py"
    code, out, _ = run(capsys, "check", "docs")
    assert (code, "1 check passed" in out) == (0, True)
    code, out, _ = run(capsys, "check", "--format", "github")
    assert out == "::error file=a.py,line=3,title=lint F401,col=7::unused\n"
    code, out, _ = run(capsys, "check", "--format", "sarif")
    assert json.loads(out)["runs"][0]["results"][0]["ruleId"] == "lint/F401"
    code, out, _ = run(capsys, "check", "--format", "feedback", "--task", "Do it.")
    assert "- a.py:3:7: unused [F401]" in out
    assert out.endswith("Do it.\n")
    code, data = run_json(capsys, "check", "--list")
    assert [check["name"] for check in data] == ["lint", "docs"]
    assert "lint" in run(capsys, "check", "--list")[1]


def test_check_of_what_changed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, data = run_json(capsys, "check", "--changed")
    assert (code, data["passed"], [result["outcome"] for result in data["results"]]) == (0, True, ["skipped"] * 2)
    assert run(capsys, "check", "--changed")[1].endswith("nothing has changed, so nothing was run\n")
    (folder / "README.md").write_text("y\n", encoding="utf-8")
    code, data = run_json(capsys, "check", "--changed")
    assert (code, [result["outcome"] for result in data["results"]]) == (0, ["skipped", "passed"])
    assert "1 check passed, 1 left out" in run(capsys, "check", "--changed")[1]
    code, data = run_json(capsys, "check", "--changed", "--base", "HEAD")
    assert data["changed"] == ["README.md"]
    run_git(folder, "checkout", "-q", "README.md")
    (folder / "data.json").write_text("{}", encoding="utf-8")
    code, data = run_json(capsys, "check", "--changed")
    assert (code, data["passed"], data["verdict"]["action"]) == (3, False, "escalate")
    assert "nothing was checked: 2 checks left out" in run(capsys, "check", "--changed")[1]


def test_a_repository_without_checks_is_not_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(make(tmp_path, {"README.md": "x"}))
    code, data = run_json(capsys, "check")
    assert (code, data["passed"], data["results"]) == (3, False, [])
    assert "nothing was checked: no checks were found" in run(capsys, "check")[1]
    Path(".github/workflows").mkdir(parents=True)
    Path(".github/workflows/ci.yml").write_text("on: push\njobs: {a: {steps: [{run: bundle exec no-such-spec}]}}\n")
    code, _, said = run(capsys, "check", "--list")
    assert code == 3
    assert "no checks were found" in said


def test_the_commands_of_a_repository_are_said_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "  docs: true" in run(capsys, "check")[2]
    assert not run(capsys, "check")[2]
    text = (folder / ".tipstaff/config.toml").read_text(encoding="utf-8")
    (folder / ".tipstaff/config.toml").write_text(text.replace('"true"', '"true; true"'), encoding="utf-8")
    assert "  docs: true; true" in run(capsys, "check")[2]


@pytest.mark.parametrize(
    "url", ["postgresql://evil.example/x", "sqlite:////tmp/other.db", "sqlite:///../x.db", "sqlite://"]
)
def test_a_ledger_outside_the_repository_is_not_opened(
    folder: Path, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    (folder / ".tipstaff/config.toml").write_text(f'[review]\nledger = "{url}"\n', encoding="utf-8")
    code, _, err = run(capsys, "review", "size", "a.py")
    assert (code, "config.toml:2: review.ledger must be an SQLite file inside" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "lnt"], "did you mean 'lint'"),
        (["check", "--changed", "--all"], "exclude each other"),
        (["check", "--base", "HEAD"], "needs --changed"),
        (["check", "--changed", "--base", "nosuch"], "nosuch"),
        (["review", "size"], "name the task's files"),
        (["review", "size", "../x"], "inside the repository"),
        (["review", "size", "a.py", "--model", "x"], "unknown model"),
        (["review", "size", "--task", "README.md"], "README.md"),
        (["review", "sops", "--folder", "../x"], "inside the repository"),
        (["review", "assemble", "--diff", "nosuch"], "nosuch"),
        (["review", "verify", "README.md"], "no JSON object"),
        (["review", "verify", "nowhere.json"], "nowhere.json"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_meant(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code in {2, 3}, out) == (True, "")
    assert err.startswith("tipstaff: error: ")
    assert words in err
    assert err.count("\n") == 1


def test_a_check_that_runs_the_checks_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{sys.executable} -m tipstaff.cli check"
    (folder / ".tipstaff/config.toml").write_text(
        f"[[checks.additional]]\nname = 'all'\ncommand = '{command}'\n", encoding="utf-8"
    )
    code, data = run_json(capsys, "check")
    assert code == 1
    assert "runs tipstaff check itself" in data["results"][0]["output"]


@pytest.mark.usefixtures("folder")
def test_size(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    code, out, _ = run(capsys, "review", "size", "a.py", "new.py", "--description", "Do it", "--criterion", "it works")
    assert code == 0
    assert "new.py (new)" in out
    assert out.rstrip().endswith("it fits")
    for number in range(6):
        (folder / f"m{number}.py").write_text("x = 1\n", encoding="utf-8")
    code, data = run_json(capsys, "review", "size", "*.py")
    assert (code, data["sizing"]["reasons"]) == (1, ["file_count"])
    assert sum(len(task["files"]) for task in data["decomposition"]["tasks"]) == 7
    assert data["sops"] == ["source.doc.sops.py"]
    task = {"id": "task.x.1", "description": "d", "files": [], "plan": {"in": ["m*.py"], "out": ["m0.py"]}}
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    code, data = run_json(capsys, "review", "size", "--task", "task.json")
    assert len(data["scope"]["resolved"]) == 5
    code, out, _ = run(capsys, "review", "size", "*.py", "nothing/*.go")
    assert "divided into" in out
    assert "matches no file: nothing/*.go" in out


@pytest.mark.usefixtures("folder")
def test_sop(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert run(capsys, "review", "sops")[0] == 0
    code, data = run_json(capsys, "review", "sops", "a.py")
    assert [sop["id"] for sop in data["sops"]] == ["source.doc.sops.py"]
    assert "0 SOPs" in run(capsys, "review", "sops", "a.go")[1]
    (folder / ".tipstaff/sops/bad.md").write_text("---\nseverity: bad\n---\n", encoding="utf-8")
    code, out, _ = run(capsys, "review", "sops")
    assert code == 1
    assert ".tipstaff/sops/bad.md:2: error SOP104" in out
    assert "1 SOP" in run(capsys, "review", "sops")[1]
    assert "source.doc.applies_to" in run(capsys, "review", "graph", "--predicate", "source.doc.applies_to")[1]
    assert {one["subject"] for one in json.loads(run(capsys, "review", "graph", "--json")[1])} >= {"source.doc.sops.py"}


def test_review(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a.py").write_text("def f(x: int) -> int:\n    return x + 1\n", encoding="utf-8")
    code, out, err = run(capsys, "review", "assemble", "-o", "context.md")
    assert (code, out) == (0, "")
    assert "+ source.doc.sops.py" in err
    assert "You must." in (folder / "context.md").read_text(encoding="utf-8")
    assert "You must." in run(capsys, "review", "assemble", "--file", "a.py")[1]
    code, data = run_json(capsys, "review", "assemble", "--reserve", "1")
    assert (code, data["assembly"]["trigger"]) == (1, "workflow.trigger.task-decomposition")
    answer = {
        "verdict": "approved",
        "confidence": 0.9,
        "sop_review": [{"sop_id": "source.doc.sops.py", "status": "passed", "evidence": "a.py:2 `return x + 1`"}],
    }
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    code, out, _ = run(capsys, "review", "verify", "answer.json", "--file", "a.py")
    assert (code, out) == (0, "accept: approved\n")
    answer["sop_review"] = []
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    code, data = run_json(capsys, "review", "verify", "answer.json", "--file", "a.py")
    assert (code, data["action"], data["problems"]) == (1, "retry_reviewer", ["source.doc.sops.py is not answered"])


def test_a_ledger_keeps_everything_and_tells_later_reviews(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tipstaff.runs import Ledger

    with Ledger(f"sqlite:///{folder}/.tipstaff/ledger.db"):
        pass
    (folder / "a.py").write_text("def f(x: int) -> int:\n    return x + 1\n", encoding="utf-8")
    run(capsys, "check")
    run(capsys, "review", "size", "a.py")
    run(capsys, "review", "assemble", "--file", "a.py")
    answer = {
        "verdict": "approved",
        "confidence": 0.9,
        "feedback": "Keep it pure.",
        "patterns": [{"name": "Pure functions", "pattern": "Functions of a.py are pure.", "applies_to": "*.py"}],
        "sop_review": [{"sop_id": "source.doc.sops.py", "status": "passed", "evidence": "a.py:2 `return x + 1`"}],
    }
    (folder / "answer.json").write_text(json.dumps(answer), encoding="utf-8")
    assert run(capsys, "review", "verify", "answer.json", "--file", "a.py")[0] == 0
    with Ledger(f"sqlite:///{folder}/.tipstaff/ledger.db") as ledger:
        kinds = {kind: len(list(ledger.records(kind))) for kind in ("check", "sizing", "assembly", "review")}
        assert kinds == {"check": 1, "sizing": 1, "assembly": 1, "review": 1}
        assert ledger.verify().ok
    listed = run(capsys, "ledger", "list")[1]
    assert "  review  accept  approved\n0 runs, 1 check, 1 review\n" in listed
    _, data = run_json(capsys, "review", "assemble", "--file", "a.py")
    assert "decision:review-0" in data["assembly"]["included"]
    assert "convention:learned:Pure functions" in data["assembly"]["included"]
    assert "Functions of a.py are pure." in data["text"]


@pytest.mark.parametrize("damage", ["damaged", "unwritable"])
def test_a_ledger_that_cannot_be_written_costs_no_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    if damage == "damaged":
        (folder / ".tipstaff/ledger.db").write_bytes(b"not a database" * 100)
    else:
        (folder / ".tipstaff/config.toml").write_text(
            CONFIG + '\n[review]\nledger = "sqlite:///a.py/ledger.db"\n', encoding="utf-8"
        )
    code, out, err = run(capsys, "check")
    assert code == 1
    assert "a.py:3:7" in out
    assert "tipstaff: warning: not recorded: " in err
    code, out, err = run(capsys, "check", "docs")
    assert code == 4  # what passed was asked to be recorded
    assert "1 check passed" in out
    assert run(capsys, "review", "size", "a.py")[0] == (4 if damage == "damaged" else 0)


def test_a_relative_ledger_is_that_of_the_repository(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (folder / ".tipstaff/config.toml").write_text(
        CONFIG + '[review]\nledger = "sqlite:///.tipstaff/mine.db"\n', encoding="utf-8"
    )
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run(capsys, "review", "size", "-C", str(folder), "a.py")[0] == 0
    assert not (folder / ".tipstaff/mine.db").exists()  # it only looks
    run(capsys, "check", "-C", str(folder))
    assert (folder / ".tipstaff/mine.db").is_file()


def test_the_story_of_the_demonstration() -> None:
    pytest.importorskip("tree_sitter_python")
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "examples/review_demo.py"]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=True, env={**os.environ, "NO_COLOR": "1"}
    )
    assert done.stderr == ""
    for words in (
        "too large: file_count",
        "api/orders.py:19: SyntaxError: '(' was never closed",
        "retry_developer",
        "continue_to_reviewer",
        "+ decision:docs/adr/0001-refunds.md",
        "accept, approved",
        "retry_reviewer",
    ):
        assert words in done.stdout


def test_the_example_workflow_names_commands_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).resolve().parents[2] / "examples/review-workflow.yml").read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["review"]["steps"]
    used = {
        match
        for step in steps
        for match in re.findall(r"tipstaff (\w+)((?: assemble| size| sops)?)", step.get("run", ""))
    }
    assert {name for name, _ in used} == {"check", "review"}
    for name, more in used:
        code, out, _ = run(capsys, name, *more.split(), "--help")
        assert code == 0
        for option in re.findall(rf"tipstaff {name}{more}[^\n|>]*", text):
            assert all(flag in out for flag in re.findall(r" (--[a-z-]+)", option)), option


def test_the_example_workflow_runs(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    text = (Path(__file__).resolve().parents[2] / "examples/review-workflow.yml").read_text(encoding="utf-8")
    steps = [step["run"] for step in yaml.safe_load(text)["jobs"]["review"]["steps"] if "run" in step]
    run_git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    (folder / "a.py").write_text("import os\n", encoding="utf-8")
    (folder / "new name.py").write_text("x = 1\n", encoding="utf-8")
    commit(folder)
    summary = tmp_path_factory.mktemp("ci") / "summary.md"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GITHUB_BASE_REF": "main", "GITHUB_STEP_SUMMARY": str(summary)}
    done = [
        subprocess.run(
            ["bash", "-e", "-c", step], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        for step in steps
        if "pip install" not in step
    ]
    assert [one.returncode for one in done] == [1, 0, 0], [one.stderr for one in done]
    assert "::error file=a.py,line=3,title=lint F401,col=7::unused" in done[0].stdout
    checks = json.loads((folder / "review/checks.json").read_text(encoding="utf-8"))
    assert (checks["passed"], checks["changed"]) == (False, ["a.py", "new name.py"])
    sizes = json.loads((folder / "review/size.json").read_text(encoding="utf-8"))
    assert sorted(sizes["sizing"]["file_tokens"]) == ["a.py", "new name.py"]
    assert "[source.doc.sops.py]" in (folder / "review/context.md").read_text(encoding="utf-8")
    assert "tokens used" in summary.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a" * 12, "a" * 10),
        ("漢字" * 9, "漢字漢字漢"),
        ("a\tb", "a b"),
        ("e\u0301" * 12, "e\u0301" * 10),
        ("\0x", "\\x00x"),
    ],
)
def test_a_line_of_the_live_view_fits_the_terminal(text: str, shown: str) -> None:
    assert within(text, 10) == shown
    assert columns(shown) <= 10


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_check_that_ignores_signals_ends_with_the_program(tmp_path: Path, number: int) -> None:
    ignoring = "trap '' TERM HUP INT; sleep 60 & echo $$ $! > pid; sleep 60"
    folder = make(tmp_path, {".tipstaff/config.toml": f'[[checks.additional]]\nname = "c"\ncommand = "{ignoring}"\n'})
    before = signal.signal(number, signal.SIG_DFL)  # a shell starts what runs in the background with SIGINT ignored
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "tipstaff.cli", "check"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    finally:
        signal.signal(number, before)
    pid = folder / "pid"
    deadline = time.monotonic() + 30
    while not (pid.is_file() and pid.read_text(encoding="ascii").strip()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.send_signal(number)
    child.communicate()
    assert child.returncode == 128 + number
    assert gone([int(word) for word in pid.read_text(encoding="ascii").split()])


def test_the_live_view_leaves_the_screen_clean(capsys: pytest.CaptureFixture[str]) -> None:
    view = LiveView(Painter("never"))
    checks = [Check(name="one", command="x"), Check(name="two", command="y")]
    for check in checks:
        view.started(check)
    view.printed(checks[0], b"first\nlatest \x1b[31mline\n")
    time.sleep(0.11)
    view.tick()
    for check in checks:
        view.ended(check, Ended(exit_code=0, duration_s=1.0, output=""))
    view.printed(checks[0], b"late")
    out = capsys.readouterr().out
    assert "latest" in out
    assert "\x1b[31m" not in out
    assert out.endswith("\x1b[1A\x1b[J")
