from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.runs.repository import made_repository
from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.runs.events import TokenUse
from tipstaff.runs.headless.executors import Executor, run_command
from tipstaff.runs.headless.reports import as_json, compare, junit, markdown
from tipstaff.runs.headless.runner import SuiteResult, clone, run_suite
from tipstaff.runs.headless.streams import read_stream
from tipstaff.runs.headless.suites import Suite, read_suite, suite_of


def lines(*events: dict[str, Any]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


CLAUDE = lines(
    {"type": "system", "subtype": "init", "session_id": "s-1", "tools": ["Bash"]},
    {"type": "assistant", "session_id": "s-1", "message": {"role": "assistant", "content": [
        {"type": "text", "text": "Looking."}, {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]}},
    {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]}},
    {"type": "assistant", "message": {"content": [
        {"type": "tool_use", "name": "Edit", "input": {"file_path": "src/a.py", "old_string": "x", "new_string": "y"}}]}},
    {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s-1", "num_turns": 2,
     "total_cost_usd": 0.05, "usage": {"input_tokens": 10, "output_tokens": 7, "cache_read_input_tokens": 3}},
)  # fmt: skip
CODEX = lines(
    {"type": "thread.started", "thread_id": "th-1"},
    {"type": "turn.started"},
    {"type": "item.started", "item": {"id": "i1", "type": "command_execution", "command": "bash -lc ls", "status": "in_progress"}},
    {"type": "item.completed", "item": {"id": "i1", "type": "command_execution", "command": "bash -lc ls", "exit_code": 0}},
    {"type": "item.completed", "item": {"type": "file_change", "changes": [{"path": "src/a.py", "kind": "update"}]}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}},
    {"type": "turn.completed", "usage": {"input_tokens": 13, "cached_input_tokens": 3, "output_tokens": 7}},
)  # fmt: skip
GEMINI = lines(
    {"type": "init", "session_id": "g-1", "model": "m"},
    {"type": "message", "role": "user", "content": "do it"},
    {"type": "message", "role": "assistant", "content": "Looking.", "delta": True},
    {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "1", "parameters": {"command": "ls"}},
    {"type": "tool_result", "tool_id": "1", "status": "success", "output": "a.py"},
    {"type": "tool_use", "tool_name": "write_file", "parameters": {"file_path": "src/a.py", "content": "y"}},
    {"type": "message", "role": "assistant", "content": "Do", "delta": True},
    {"type": "message", "role": "assistant", "content": "ne.", "delta": True},
    {"type": "result", "status": "success", "stats": {"input_tokens": 13, "output_tokens": 7, "cached": 3}},
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "output", "shell"),
    [
        ("claude", CLAUDE, "Bash: ls"),
        ("codex", CODEX, "shell: bash -lc ls"),
        ("gemini", GEMINI, "run_shell_command: ls"),
    ],
)
def test_streams_come_to_one_shape(kind: str, output: str, shell: str) -> None:
    found = read_stream(kind, "npm warn: noise\n" + output + "not json\n")
    assert (found.result, found.errors, found.tools[0]) == ("Done.", [], shell)
    assert found.files == ["src/a.py"]
    assert (found.tokens.input, found.tokens.output, found.tokens.cache_read) == (10, 7, 3)
    assert found.session_id


def test_other_forms_of_output() -> None:
    whole = json.dumps([json.loads(line) for line in CLAUDE.splitlines()])
    assert read_stream("claude", whole).tools == read_stream("claude", CLAUDE).tools
    single = json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": {"a": 1}})
    assert read_stream("claude", single).result == '{"a":1}'
    gemini = json.dumps({"response": "Done.", "stats": {"tools": {"byName": {"read_file": {"count": 2}}}}})
    assert (read_stream("gemini", gemini).result, read_stream("gemini", gemini).tools) == ("Done.", ["read_file"] * 2)
    assert read_stream("plain", "anything").result == "anything"


@pytest.mark.parametrize(
    ("kind", "output", "message"),
    [
        ("claude", {"type": "result", "subtype": "success", "is_error": True, "result": "API Error"}, "API Error"),
        ("claude", {"type": "result", "subtype": "error_max_turns", "is_error": False}, "error_max_turns"),
        ("claude", {"type": "assistant", "message": {"content": []}}, "ends before"),
        ("codex", {"type": "turn.failed", "error": {"message": "no quota"}}, "no quota"),
        ("codex", {"type": "error", "message": "stream closed"}, "reported its end: stream closed"),
        ("gemini", {"type": "result", "status": "error", "error": {"message": "bad key"}}, "bad key"),
        ("gemini", {"error": {"message": "bad key"}}, "bad key"),
        ("claude", {}, "ends before"),
    ],
)
def test_failures_in_a_stream(kind: str, output: dict[str, Any], message: str) -> None:
    assert message in read_stream(kind, json.dumps(output)).errors[0]


AGENT = """
import json, os, sys, time
prompt = sys.argv[-1]
calls = []
for order in prompt.split(";"):
    what, _, rest = order.strip().partition(" ")
    if what == "write":
        path, _, text = rest.partition(" ")
        open(path, "w").write(text)
        calls.append({"type": "tool_use", "name": "Write", "input": {"file_path": os.path.abspath(path)}})
    elif what == "run":
        calls.append({"type": "tool_use", "name": "Bash", "input": {"command": rest}})
    elif what == "sleep":
        time.sleep(float(rest))
    elif what == "exit":
        sys.exit(int(rest))
    elif what == "once" and not os.path.exists(rest):
        open(rest, "w").close()
        sys.exit(1)
    elif what == "obey":
        calls.append({"type": "tool_use", "name": "Bash", "input": {"command": open("CLAUDE.md").read().strip()}})
print(json.dumps({"type": "assistant", "message": {"content": calls}}))
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "said: " + prompt,
                  "usage": {"input_tokens": 5, "output_tokens": 2}}))
"""


@pytest.fixture
def agent(tmp_path: Path) -> Executor:
    """A program that takes orders and speaks the format of Claude Code."""
    program = tmp_path / "agent.py"
    program.write_text(AGENT)
    return Executor([sys.executable, str(program), "{prompt}"], stream="claude")


def suite(*cases: dict[str, Any]) -> Suite:
    return suite_of({"name": "demo", "executor": ["true"], "cases": list(cases)})


def run(root: Path, agent: Executor, *cases: dict[str, Any], **options: Any) -> SuiteResult:
    return run_suite(suite(*cases), root, executor=agent, **options)


def test_assertions_hold_and_fail(tmp_path: Path, agent: Executor) -> None:
    root = made_repository(tmp_path / "repository")
    python = sys.executable
    result = run(
        root, agent,
        {"id": "good", "prompt": "write src/a.py y = 2; run npm test", "assertions": [
            {"output-contains": "said:"}, {"output-not-contains": "sorry"}, {"output-matches": "^said"},
            {"files-touched": "src/*.py"}, {"files-not-touched": "db/**"}, "no-forbidden-commands",
            {"tests-pass": [python, "-c", "assert open('src/a.py').read() == 'y = 2'; print('1 passed in 0.1s')"]},
            {"judge": [python, "-c", "import json, sys; assert json.load(sys.stdin)['files'] == ['src/a.py']"]}]},
        {"id": "bad", "prompt": "write db/x 1; run rm -rf /", "assertions": [
            {"output-contains": "nothing"}, {"output-not-contains": "said"}, {"output-matches": "^x"},
            {"files-touched": "src/*"}, {"files-not-touched": "db/**"}, "no-forbidden-commands",
            {"tests-pass": "exit 3"}, {"judge": "no-such-program-here"}]},
        {"id": "exit", "prompt": "exit 4"},
        parallel=3,
    )  # fmt: skip
    good, bad, ended = result.results
    assert (good.failures, good.errors, good.passed) == ((), (), True)
    assert [one.partition(":")[0] for one in bad.failures] == [
        "output-contains", "output-not-contains", "output-matches", "files-touched", "files-not-touched",
        "no-forbidden-commands", "tests-pass", "judge",
    ]  # fmt: skip
    assert "filesystem.delete-recursive" in bad.failures[5]
    assert "ended with 3" in bad.failures[6]
    assert "ended with 127" in bad.failures[7]
    assert ended.errors[0].startswith("ended with 4")
    assert not result.passed
    assert bad.event.violations[0].rule_id == "ASSERT-bad"
    assert good.event.diff_summary.to_dict() == {"lines_added": 1, "lines_removed": 1, "files_changed": 1}
    assert good.event.tokens.total == 7
    assert good.event.test_results.passed == 1
    assert (root / "src" / "a.py").read_text() == "x = 1\n", "agents work in copies"


def test_a_program_that_is_not_there_and_one_that_takes_too_long(tmp_path: Path, agent: Executor) -> None:
    root = made_repository(tmp_path / "repository")
    missing = run(root, Executor(["no-such-program-here", "{prompt}"]), {"id": "a", "prompt": "x"})
    assert "no such program" in missing.results[0].errors[0]
    slow = run(root, agent, {"id": "a", "prompt": "sleep 60", "timeout_s": 0.5})
    assert "timed out after 0.5 s" in slow.results[0].errors[0]
    assert slow.results[0].seconds < 30


def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    script = f"(sleep 1.5; touch {mark}) & echo started"
    done = run_command(["sh", "-c", script], tmp_path, timeout_s=10)
    assert (done.output, done.status, done.timed_out) == ("started\n", 0, False)
    stuck = run_command(["sh", "-c", f"trap '' TERM; (trap '' TERM; sleep 3; touch {mark}) & sleep 60"], tmp_path,
                        timeout_s=0.2)  # fmt: skip
    assert stuck.timed_out
    time.sleep(2.5)
    assert not mark.exists()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system does not show environments")
@pytest.mark.parametrize("ends", [True, False])
def test_what_left_the_process_group_ends_too(tmp_path: Path, ends: bool) -> None:
    mark = tmp_path / "mark"
    inner = f"import time; time.sleep(2.5); open({str(mark)!r}, 'w')"
    script = (
        f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {inner!r}], start_new_session=True)"
    )
    if not ends:
        script += "; time.sleep(60)"
    done = run_command([sys.executable, "-c", script], tmp_path, timeout_s=60 if ends else 1.0)
    assert done.timed_out is not ends
    time.sleep(3)
    assert not mark.exists()


def test_retries(tmp_path: Path, agent: Executor) -> None:
    root = made_repository(tmp_path / "repository")
    case = {
        "id": "a",
        "prompt": f"once {tmp_path}/flag; write b 1",
        "retries": 2,
        "assertions": [{"files-touched": "b"}],
    }
    result = run(root, agent, case).results[0]
    assert (result.passed, result.attempts) == (True, 2)
    assert run(root, agent, {"id": "a", "prompt": "exit 1", "retries": 1}).results[0].attempts == 2


def test_tool_calls_that_nobody_tells_of_are_not_called_harmless(tmp_path: Path) -> None:
    root = made_repository(tmp_path / "repository")
    case = {"id": "a", "prompt": "hello", "assertions": ["no-forbidden-commands", {"output-contains": "hello"}]}
    (result,) = run_suite(suite(case), root, executor=Executor(["cat"])).results
    assert [one.partition(":")[0] for one in result.failures] == ["no-forbidden-commands"]
    assert result.output == "hello", "the prompt goes to standard input where no word takes it"


def test_cases_work_in_clones_of_their_own(tmp_path: Path, agent: Executor) -> None:
    root = made_repository(tmp_path / "repository")

    def git(folder: Path, *arguments: str) -> str:
        words = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    git(root, "branch", "keepme")
    (root / "src" / "a.py").write_text("x = 2\n")
    git(root, "stash")
    (root / "CLAUDE.md").write_text("- [NEW-1] Not committed yet.\n")
    before = [git(root, *words) for words in (["stash", "list"], ["branch", "-a"], ["config", "-l"], ["tag"], ["log"])]
    with clone(root) as folder:
        assert "Not committed yet" in (folder / "CLAUDE.md").read_text()
        assert git(folder, "remote") == ""
        git(folder, "config", "user.name", "other")
        git(folder, "tag", "left")
        git(folder, "checkout", "-qb", "elsewhere")
    script = "import subprocess as s; g = lambda *w: s.run(['git', *w], check=True); open('src/new.py', 'w').write('1'); g('add', '-A'); g('commit', '-qm', 'hidden')"
    commits = Executor([sys.executable, "-c", script])
    hidden = {"id": "a", "prompt": "x", "assertions": [{"files-not-touched": "src/**"}]}
    environment = {f"GIT_{who}_{what}": "t@t" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    assert run(root, commits, hidden, env=environment).results[0].failures == (
        "files-not-touched: touched: src/new.py",
    )
    assert run(root, agent, {"id": "a", "prompt": "write src/new.py 1", "files": {"given.txt": "x"},
                             "assertions": [{"files-not-touched": "given.txt"}, {"files-touched": "src/new.py"}]}).passed  # fmt: skip
    after = [git(root, *words) for words in (["stash", "list"], ["branch", "-a"], ["config", "-l"], ["tag"], ["log"])]
    assert before == after
    assert not (root / "src" / "new.py").exists()


def test_what_was_not_checked_is_no_pass(tmp_path: Path, agent: Executor) -> None:
    root = made_repository(tmp_path / "repository")
    (nothing,) = run(root, agent, {"id": "a", "prompt": "write b 1"}).results
    assert nothing.failures == ("assertions: there are none, so nothing was checked",)
    for command in ("true", "echo 'Ran 0 tests in 0.000s'", "echo 'No tests found'", "echo '3 skipped in 0.1s'"):
        assert not run(root, agent, {"id": "a", "prompt": "x", "assertions": [{"tests-pass": command}]}).passed, command


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x1c", "\ud83d"])
def test_only_a_line_feed_ends_a_line(separator: str) -> None:
    call = {"type": "tool_use", "name": "Bash", "input": {"command": f"rm -rf / # {separator}"}}
    event = json.dumps({"type": "assistant", "message": {"content": [call]}}, ensure_ascii=separator == "\ud83d")
    found = read_stream("claude", f"{event}\r\n{CLAUDE}")
    assert found.tools[0].startswith("Bash: rm -rf / #")
    assert (found.errors, found.unread) == ([], 0)
    assert read_stream("claude", event[:-3] + "\n" + CLAUDE).unread == 1


def test_what_a_person_should_know_is_said() -> None:
    retried = lines({"type": "error", "message": "Reconnecting... 2/5"}) + CODEX
    assert (read_stream("codex", retried).errors, read_stream("codex", retried).notes) == ([], ["Reconnecting... 2/5"])
    denied = json.loads(CLAUDE.splitlines()[-1]) | {"permission_denials": [{"tool_name": "Write", "tool_input": {}}]}
    assert read_stream("claude", lines(denied)).notes == ["Write was refused: nobody was there to allow it"]


def test_output_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tipstaff.runs.headless.executors.MAX_OUTPUT_BYTES", 1 << 20)
    _, transcript = Executor(["yes"]).run("x", tmp_path, timeout_s=60)
    assert "printed more than 1 MiB" in transcript.errors[0]


def test_two_sets_of_rules_are_compared(tmp_path: Path, agent: Executor) -> None:
    root = made_repository(tmp_path / "repository")
    case = {"id": "a", "prompt": "obey", "assertions": ["no-forbidden-commands"]}
    found = compare(
        suite(case, {**case, "id": "b"}), root, {"CLAUDE.md": "rm -rf /"}, {"CLAUDE.md": "npm test"}, repeats=3,
        executor=agent, parallel=2,
    )  # fmt: skip
    assert (found.a.passed, found.a.runs, found.b.passed) == (0, 6, 6)
    assert (found.difference, found.interval) == (1.0, (1.0, 1.0))
    assert found.b.by_case == {"a": (3, 3), "b": (3, 3)}
    assert found.a.interval[1] < 0.5 < found.b.interval[0]
    with pytest.raises(ConfigError, match="repeats is 0"):
        compare(suite(case), root, {}, {}, repeats=0)


def test_reports(tmp_path: Path, agent: Executor) -> None:
    root = made_repository(tmp_path / "repository")
    result = run(
        root, agent, {"id": "good", "prompt": "write a 1", "assertions": [{"files-touched": "a"}]}, {"id": "b|d", "prompt": "\x1b[31m <&>", "assertions": [
            {"output-contains": "]]> \x00 nothing"}]}, {"id": "broken", "prompt": "exit 9"},
    )  # fmt: skip
    tree = ElementTree.fromstring(junit(result))
    assert (tree.get("tests"), tree.get("failures"), tree.get("errors")) == ("3", "1", "1")
    cases = {case.get("name"): [child.tag for child in case] for case in tree.iter("testcase")}
    assert cases == {"good": ["system-out"], "b|d": ["failure", "system-out"], "broken": ["error", "system-out"]}
    data = json.loads(as_json(result))
    assert (data["passed"], [one["passed"] for one in data["results"]]) == (False, [True, False, False])
    text = markdown(result)
    assert "# demo: 1 of 3 cases passed" in text
    assert "| b\\|d | failed |" in text


SUITE = """
name: demo
executor: claude
options: {model: m, allowed_tools: [Read]}
defaults: {timeout_s: 5}
cases:
  - id: one
    prompt: do it
    tags: [fast]
    assertions:
      - no-forbidden-commands
      - tests-pass: exit 0
  - {id: two, prompt: other, timeout_s: 9}
"""


def test_suites_are_read(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    found = read_suite(path)
    assert [(case.id, case.timeout_s) for case in found.cases] == [("one", 5.0), ("two", 9.0)]
    assert found.cases[0].assertions[1].value == ("sh", "-c", "exit 0")
    assert [case.id for case in found.tagged(("fast",)).cases] == ["one"]
    with pytest.raises(SourceNotFoundError):
        read_suite(tmp_path / "absent.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not YAML"),
        ("[]", "expected a mapping"),
        ("name: a\nexecutor: claude\ncases: []", "there are no cases"),
        ("executor: claude\ncases: [{id: a}]", "prompt"),
        ("cases: [{id: a, prompt: b}]", "executor"),
        ("executor: claude\ncases: [{id: a, prompt: b}, {id: a, prompt: c}]", "two cases are called a"),
        ("executor: claude\ncases: [{id: a, prompt: b, assertions: [good-mood]}]", "unknown assertion 'good-mood'"),
        (
            "executor: claude\ncases: [{id: a, prompt: b, assertions: [{output-matches: '['}]}]",
            "not a regular expression",
        ),
        ("executor: claude\ncases: [{id: a, prompt: b, assertions: [tests-pass]}]", "needs a command"),
        ("executor: claude\ncases: [{id: a, prompt: b, mood: good}]", "unknown keys: mood"),
        ("executor: claude\noptions: {mood: good}\ncases: [{id: a, prompt: b}]", "unknown keys: mood"),
        ("executor: claude\ncases: [{id: a, prompt: b, files: {../x: y}}]", "files must lie inside"),
    ],
)
def test_a_suite_that_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_suite(path)


def test_executors_of_the_known_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt with quotes is one word, whatever it holds."""
    for program, output in (("claude", CLAUDE), ("codex", CODEX), ("gemini", GEMINI)):
        (tmp_path / program).write_text(
            f'#!{sys.executable}\nimport sys\nassert "don\'t; $(x)" in sys.argv, sys.argv\nprint({output!r})\n'
        )
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for program in ("claude", "codex", "gemini"):
        _, transcript = Executor(program).run("don't; $(x)", tmp_path, timeout_s=30)
        assert (transcript.result, transcript.errors) == ("Done.", [])
    for wrong in ({"program": "other"}, {"program": "claude", "permission": "x"}, {"program": ["cat"], "model": "m"},
                  {"program": "codex", "allowed_tools": ["Bash"]}):  # fmt: skip
        with pytest.raises(ConfigError):
            Executor(**wrong)  # type: ignore[arg-type]
    asked = Executor("claude", model="m", allowed_tools=["Bash(npm test:*)", "Read"], args=["--x"]).words
    assert asked[1:7] == ("--permission-mode", "acceptEdits", "--model", "m", "--allowedTools", "Bash(npm test:*),Read")
    assert asked[-1] == "--x"
    assert Executor("codex").words[1:4] == ("exec", "--sandbox", "workspace-write")


def test_events_of_opencode_and_qwen() -> None:
    events: list[dict[str, Any]] = [
        {"type": "text", "sessionID": "s", "part": {"text": "First"}},
        {"type": "tool_use", "part": {"tool": "bash", "state": {"input": {"command": "git log"}}}},
        {"type": "tool_use", "part": {"tool": "write", "state": {"input": {"filePath": "/r/b.py"}}}},
        {"type": "tool_use", "part": {"tool": "webfetch", "state": {"error": "rejected permission"}}},
        {
            "type": "step_finish",
            "part": {"reason": "tool-calls", "tokens": {"input": 5, "cache": {"read": 2}}, "cost": 1},
        },
        {"type": "text", "part": {"text": "DONE"}},
        {"type": "step_finish", "part": {"reason": "stop", "tokens": {"input": 5, "output": 3}}},
    ]
    found = read_stream("opencode", "\n".join(map(json.dumps, events)))
    assert (found.result, found.session_id, found.finished, found.errors) == ("DONE", "s", True, [])
    assert found.tools == ["bash: git log", "write", "webfetch"]
    assert (found.files, found.notes) == (["/r/b.py"], ["webfetch was refused: rejected permission"])
    assert found.tokens.to_dict() == TokenUse(input=10, output=3, cache_read=2, cost_usd=1.0).to_dict()
    cut = read_stream("opencode", "\n".join(map(json.dumps, events[:5])))
    assert "before the program reported its end" in cut.errors[0]
    failed = read_stream("opencode", json.dumps({"type": "error", "error": {"data": {"message": "refused"}}}))
    assert failed.errors == ["refused"]
    usage = {"input_tokens": 107, "output_tokens": 10, "cache_read_input_tokens": 7}
    for said, errors in (("DONE", []), ("[API Error: 400 refused]", ["[API Error: 400 refused]"])):
        end = read_stream("qwen", json.dumps({"type": "result", "subtype": "success", "result": said, "usage": usage}))
        assert (end.result, end.tokens.input, end.errors) == (said, 100, errors)


def test_a_program_works_where_pwd_says(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "import os; print(os.environ['PWD'])"]
    assert run_command(words, tmp_path, timeout_s=20, env={"PWD": "/"}).output.strip() == str(tmp_path)
