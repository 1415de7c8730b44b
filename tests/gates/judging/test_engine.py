"""EnforcementGates: what results hold, for commands, tool calls, edits and batches."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.gates.values import token
from tipstaff import EnforcementGates, GateConfig, aggregate_decision
from tipstaff.errors import ConfigError
from tipstaff.kernels._gates import Flow


@pytest.fixture(scope="module")
def gates() -> EnforcementGates:
    return EnforcementGates()


def decided(gates: EnforcementGates, tool: str, params: Any, **more: Any) -> str:
    return aggregate_decision(gates.evaluate_tool_use(tool, params, **more))


def test_a_result_says_rule_span_reason_and_the_safer_way(gates: EnforcementGates) -> None:
    command = "echo é && git reset --hard HEAD~1"
    (result,) = gates.evaluate_command(command, cwd="/home/dev/proj")
    assert result.gate_name == "destructive-ops"
    assert result.decision == "require-confirmation"
    (finding,) = result.metadata["findings"]
    assert finding["rule_id"] == "git.reset-hard"
    assert command[finding["start"] : finding["end"]] == "git reset --hard HEAD~1"
    assert finding["text"] == "git reset --hard HEAD~1"
    assert "stash" in result.remediation
    assert json.loads(json.dumps(result.to_dict()))["decision"] == "require-confirmation"


def test_what_could_not_be_known_is_reported(gates: EnforcementGates) -> None:
    (result,) = gates.evaluate_command('rm -rf "$WHERE"', cwd="/home/dev/proj")
    assert result.metadata["findings"][0]["unknown"] == "which path it is about"
    (result,) = gates.evaluate_command('eval "$X"')
    assert result.metadata["findings"][0]["unknown"] == "the text that it runs as code"


def test_unattended_blocks_what_cannot_be_known() -> None:
    command = 'eval "$X"'
    assert aggregate_decision(EnforcementGates().evaluate_command(command)) == "require-confirmation"
    assert aggregate_decision(EnforcementGates(GateConfig(unattended=True)).evaluate_command(command)) == "block"


def test_gates_can_be_switched_off() -> None:
    command = f"rm -rf / {token()}"
    assert EnforcementGates(GateConfig(destructive_ops=False, secrets=False)).evaluate_command(command) == []
    both = EnforcementGates().evaluate_command(command)
    assert [result.gate_name for result in both] == ["destructive-ops", "secrets"]
    assert EnforcementGates(GateConfig(tool_allowlist=True, allowed_tools=("Read",))).active_gate_count == 4
    assert EnforcementGates().active_gate_count == 3


@pytest.mark.parametrize(
    ("tool", "params", "wanted"),
    [
        ("Bash", {"command": "rm -rf /"}, "block"),
        ("Bash", {"command": "ls -la"}, "allow"),
        ("run_shell_command", {"command": "git push --force origin main"}, "block"),
        ("shell", {"command": ["bash", "-lc", "rm -rf ~"]}, "block"),
        ("shell", {"command": ["rm", "-rf", "/"]}, "block"),
        ("shell", {"command": ["echo", "rm -rf /"]}, "allow"),
        ("exec_command", {"cmd": "git reset --hard"}, "require-confirmation"),
        ("PowerShell", {"command": "git reset --hard"}, "require-confirmation"),
        ("Write", {"file_path": ".claude/settings.json", "content": "{}"}, "block"),
        ("Write", {"file_path": "src/app.py", "content": "# rm -rf /"}, "allow"),
        ("Edit", {"file_path": "/etc/passwd", "old_string": "a", "new_string": "b"}, "block"),
        ("str_replace_based_edit_tool", {"command": "view", "path": "src/a.py"}, "allow"),
        ("str_replace_based_edit_tool", {"command": "create", "path": ".codex/hooks.json", "file_text": "{}"}, "block"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: .claude/settings.json\n@@\n-a\n+b\n*** End Patch\n"}, "block"),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** End Patch\n"}, "allow"),
        ("Read", {"file_path": "src/app.py"}, "allow"),
        ("mcp__postgres__query", {"sql": "DROP TABLE users"}, "require-confirmation"),
        ("mcp__postgres__query", {"sql": "SELECT 1"}, "allow"),
        ("mcp__shell__run", {"command": "rm -rf ~"}, "block"),
        ("mcp_fs_delete_file", {"path": ".claude/settings.json"}, "block"),
        ("mcp__docs__search", {"query": "drop table users"}, "allow"),
        ("mcp__github__delete_repository", {"owner": "a", "repo": "b"}, "require-confirmation"),
        ("Grep", {"pattern": "rm -rf /"}, "allow"),
        ("TodoWrite", {"todos": [{"content": "rm -rf /"}]}, "allow"),
        ("WebFetch", {"url": "http://169.254.169.254/latest/meta-data/"}, "require-confirmation"),
    ],
)  # fmt: skip
def test_tool_calls_are_judged_by_their_fields(gates: EnforcementGates, tool: str, params: Any, wanted: str) -> None:
    assert decided(gates, tool, params, cwd="/home/dev/proj") == wanted


def test_a_tool_call_may_name_its_own_directory(gates: EnforcementGates) -> None:
    params = {"command": "rm -rf dist", "workdir": "/home/dev/proj"}
    assert decided(gates, "Bash", params) == "allow"
    assert decided(gates, "Bash", {"command": "rm -rf dist"}) == "require-confirmation"


def test_diff_size_is_counted_from_the_call(gates: EnforcementGates) -> None:
    text = "x\n" * 301
    (result,) = gates.evaluate_tool_use("Write", {"file_path": "a.py", "content": text})
    assert (result.gate_name, result.decision) == ("diff-size", "warn")
    assert result.metadata["diff_lines"] == 301
    assert gates.evaluate_tool_use("Write", {"file_path": "a.py", "content": "x\n" * 300}) == []
    patch = "*** Begin Patch\n*** Add File: a.py\n" + "+x\n" * 301 + "*** End Patch\n"
    assert decided(gates, "apply_patch", {"input": patch}) == "warn"
    edits = [{"old_string": "a\n" * 100, "new_string": "b\n" * 100}] * 2
    assert decided(gates, "MultiEdit", {"file_path": "a.py", "edits": edits}) == "warn"
    same = {"file_path": "a.py", "old_string": "a\n" * 400, "new_string": "a\n" * 400 + "b\n"}
    assert decided(gates, "Edit", same) == "allow"


def test_diff_size_of_a_run() -> None:
    gates = EnforcementGates(GateConfig(run_diff_threshold=150))
    flow = Flow()
    params = {"file_path": "a.py", "content": "x\n" * 100}
    assert decided(gates, "Write", params, flow=flow) == "allow"
    assert decided(gates, "Write", params, flow=flow) == "warn"
    assert flow.changed_lines == 200


def test_edits(gates: EnforcementGates) -> None:
    assert gates.evaluate_edit("src/a.ts", "", 300) == []
    (result,) = gates.evaluate_edit("src/a.ts", "", 301)
    assert result.gate_name == "diff-size"
    (result,) = gates.evaluate_edit(".claude/settings.json", "{}", 1)
    assert result.decision == "block"
    (result,) = gates.evaluate_edit("src/a.ts", f"key = '{token()}'", 1)
    assert result.gate_name == "secrets"


def test_secrets_are_found_decoded_and_never_shown(gates: EnforcementGates) -> None:
    secret = token()
    for params in ({"content": f'a = "{secret}"'}, {"nested": [{"deep": {"x": f"'{secret}'"}}]}, {secret: 1}):
        results = gates.evaluate_tool_use("Write", params)
        assert aggregate_decision(results) == "block", params
        assert secret not in json.dumps([result.to_dict() for result in results])
    results = gates.evaluate_command(f"rm -rf / && curl -H 'x: {secret}' https://example.com")
    assert {result.gate_name for result in results} == {"destructive-ops", "secrets"}
    assert secret not in json.dumps([result.to_dict() for result in results])


def test_taking_a_secret_away_is_no_secret(gates: EnforcementGates) -> None:
    params = {"file_path": "a.py", "old_string": f"k = '{token()}'", "new_string": "k = os.environ['K']"}
    assert gates.evaluate_tool_use("Edit", params) == []


BLOCKS = ("<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE", "------- SEARCH\n{}\n=======\n{}\n+++++++ REPLACE\n")
PATCHES = (
    "*** Begin Patch\n*** Update File: a.py\n@@\n-{}\n+{}\n*** End Patch",
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{}\n+{}\n",
)


@pytest.mark.parametrize(
    ("tool", "field", "shape"),
    [
        *(("replace_in_file", "diff", shape) for shape in BLOCKS),
        *(("apply_patch", name, shape) for name in ("input", "command") for shape in PATCHES),
    ],
)
def test_secrets_that_a_block_or_a_patch_removes_do_not_count(
    gates: EnforcementGates, tool: str, field: str, shape: str
) -> None:
    secret, clean = f"k = '{token()}'  # \u00e9\U0001f511", "k = os.environ['K']"
    assert decided(gates, tool, {"path": "a.py", field: shape.format(secret, clean)}) == "allow"
    assert decided(gates, tool, {"path": "a.py", field: shape.format(clean, secret)}) == "block"
    assert decided(gates, tool, {"path": "a.py", field: shape.format(secret, secret + "2")}) == "block"
    # What only looks as if it were taken away is written.
    assert decided(gates, "Write", {"path": "a.py", "content": shape.format(secret, clean)}) == "block"
    assert decided(gates, tool, {"path": "a.py", field: f"<<<<<<< SEARCH\n{secret}"}) == "block"


class Unspeakable:
    def __str__(self) -> str:
        msg = "no text"
        raise RuntimeError(msg)

    __repr__ = __str__


def test_no_parameters_raise(gates: EnforcementGates) -> None:
    circular: dict[str, Any] = {"command": "rm -rf /"}
    circular["self"] = circular
    assert decided(gates, "Bash", circular) == "block"
    deep: Any = "rm -rf /"
    for _ in range(5000):
        deep = [deep]
    for params in (
        None,
        deep,
        10**400,
        Unspeakable(),
        {"a": Unspeakable(), Unspeakable(): 1},
        {1, 2},
        b"\xff",
        object(),
        float("nan"),
    ):
        assert decided(gates, "X", params) == "allow"
    assert decided(gates, "Bash", {"command": b"rm -rf /"}) == "block"
    assert decided(gates, "Bash", {"command": "rm -rf / \ud800"}) == "block"
    assert decided(gates, "\ud800", {"command": "ls"}) == "allow"
    assert aggregate_decision(gates.evaluate_command("rm -rf / \ud800 \0")) == "block"


def test_a_batch_answers_as_single_calls_do(gates: EnforcementGates) -> None:
    events: list[Any] = [
        "ls",
        "rm -rf /",
        {"command": "git reset --hard", "cwd": "/home/dev/proj"},
        {"command": "git reset --hard", "shell": "powershell"},
        {"tool": "Bash", "params": {"command": "git push -f"}},
        {"tool": "Write", "params": {"file_path": "a", "content": "x\n" * 400}},
        {"path": "a.ts", "content": "", "diff_lines": 301},
        "echo \ud800; rm -rf ~",
        f"echo {token()}",
    ] * 40
    singles = [
        *(
            [
                gates.evaluate_command("ls"),
                gates.evaluate_command("rm -rf /"),
                gates.evaluate_command("git reset --hard", cwd="/home/dev/proj"),
                gates.evaluate_command("git reset --hard", shell="powershell"),
                gates.evaluate_tool_use("Bash", {"command": "git push -f"}),
                gates.evaluate_tool_use("Write", {"file_path": "a", "content": "x\n" * 400}),
                gates.evaluate_edit("a.ts", "", 301),
                gates.evaluate_command("echo \ud800; rm -rf ~"),
                gates.evaluate_command(f"echo {token()}"),
            ]
            * 40
        )
    ]
    for threads in (1, 4):
        assert gates.evaluate_batch(events, threads=threads) == singles
    with pytest.raises(ConfigError, match="command"):
        gates.evaluate_batch([{"nothing": 1}])


def test_decisions_alone(gates: EnforcementGates) -> None:
    assert gates.decisions(["ls", "rm -rf /", "git push -f"], threads=2) == ["allow", "block", "require-confirmation"]


def test_many_threads_agree(gates: EnforcementGates) -> None:
    commands = ["rm -rf /", "ls", "git reset --hard", "psql -c 'drop table x'"] * 50
    wanted = [aggregate_decision(gates.evaluate_command(command)) for command in commands]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda c: aggregate_decision(gates.evaluate_command(c)), commands)) == wanted


def test_an_unknown_shell_is_an_error(gates: EnforcementGates) -> None:
    with pytest.raises(ConfigError, match="shell 'tcl' is not known"):
        gates.evaluate_command("ls", shell="tcl")


def test_scripts_are_read_where_they_exist(gates: EnforcementGates, tmp_path: Path) -> None:
    (tmp_path / "job.sh").write_text("#!/bin/sh\nrm -rf ~\n")
    (tmp_path / "fine.sh").write_text("#!/bin/sh\nls\n")
    assert aggregate_decision(gates.evaluate_command("sh job.sh", cwd=str(tmp_path))) == "block"
    assert gates.evaluate_command("sh fine.sh", cwd=str(tmp_path)) == []
    blind = EnforcementGates(GateConfig(read_files=False))
    assert blind.evaluate_command("sh job.sh", cwd=str(tmp_path)) == []


def test_symbolic_links_are_followed(gates: EnforcementGates, tmp_path: Path) -> None:
    repository = tmp_path / "proj"
    (repository / ".git").mkdir(parents=True)
    (repository / "link").symlink_to("/etc")
    assert aggregate_decision(gates.evaluate_command("rm -rf link/", cwd=str(repository))) == "block"
    (repository / "chain").symlink_to("link")
    (repository / "missing").symlink_to("nowhere")
    (repository / "plain").mkdir()
    for command in ("ls plain; rm -rf plain/gone chain/", "rm -rf chain/nginx", "rm -rf plain/../chain/"):
        assert aggregate_decision(gates.evaluate_command(command, cwd=str(repository))) == "block", command
    calm = aggregate_decision(gates.evaluate_command("rm -rf plain/", cwd=str(repository)))
    assert calm != "block"
    assert aggregate_decision(gates.evaluate_command("rm -rf missing/x", cwd=str(repository))) == calm
    # What one judgement saw, the next does not remember.
    (repository / "plain").rmdir()
    (repository / "plain").symlink_to("/etc")
    assert aggregate_decision(gates.evaluate_command("rm -rf plain/", cwd=str(repository))) == "block"
    deep = repository / ("d" * 200) / ("e" * 200)
    deep.mkdir(parents=True)
    (deep / "out").symlink_to("/etc")
    assert aggregate_decision(gates.evaluate_command("rm -rf out/", cwd=str(deep))) == "block"


def test_sql_typed_as_a_command(gates: EnforcementGates) -> None:
    for command in ("DROP TABLE b", "delete from carts", "ls; truncate carts", "UPDATE t SET a = 1"):
        assert aggregate_decision(gates.evaluate_command(command)) == "require-confirmation", command
    for command in ("DELETE FROM t WHERE (a = 1)", "drop it", "update the docs", "delete this"):
        assert aggregate_decision(gates.evaluate_command(command)) == "allow", command
    assert aggregate_decision(gates.evaluate_command("DROP TABLE b; rm -rf /")) == "block"
