"""``tipstaff gate stats``: what the spool says of the rules that spoke most."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tipstaff.cli.commands.gate import command
from tipstaff.gates.image.repository_policy import policy_of
from tipstaff.serving.gate_stats import rule_counts, spool_records, stats_lines


def record(rule: str, decision: str, session: str, *, approved: bool = False) -> dict[str, object]:
    found: dict[str, object] = {"v": 1, "decision": decision, "session": session, "rules": [rule]}
    return {**found, "approved": "ABCD"} if approved else found


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path))
    records = [
        record("git.reset-hard", "require-confirmation", "a"),
        record("git.reset-hard", "warn", "a", approved=True),
        record("git.reset-hard", "warn", "b", approved=True),
        record("filesystem.delete-recursive", "block", "a"),
        record("network.reads-secret", "allow", "a"),
    ]
    lines = [json.dumps(one) for one in records]
    (tmp_path / "spool.jsonl").write_text("\n".join([*lines, '{"torn', "[]", ""]))
    return tmp_path


def test_counts_are_by_rule_and_the_most_often_allowed_first(state: Path) -> None:
    first, second = rule_counts(spool_records(state))
    assert (first["rule"], first["approved"], first["require-confirmation"], first["sessions"]) == (
        "git.reset-hard",
        2,
        1,
        2,
    )
    assert (second["rule"], second["block"], second["approved"]) == ("filesystem.delete-recursive", 1, 0)


def test_lines_name_the_setting_of_what_is_allowed_again_and_again(state: Path) -> None:
    lines = stats_lines(rule_counts(spool_records(state)))
    assert lines[-6:-2] == ["[[rule]]", 'id = "git.reset-hard"', "enabled = false", 'because = "..."']
    assert not any("delete-recursive" in line for line in lines[3:])
    assert stats_lines([]) == ["The spool has no call that the gates asked about."]


def test_what_the_doctor_tried_is_left_out(state: Path) -> None:
    with (state / "spool.jsonl").open("a") as file:
        file.write("\n" + json.dumps(record("secrets", "block", "tipstaff-doctor")) + "\n")
    assert [entry["rule"] for entry in rule_counts(spool_records(state))] == [
        "git.reset-hard",
        "filesystem.delete-recursive",
    ]


def test_a_spool_that_a_ledger_took_in_counts_as_well(state: Path) -> None:
    (state / "spool.jsonl").rename(state / "spool-1795472025000000000-0a1b2c3d.jsonl")
    (state / "spool.jsonl").write_text(json.dumps(record("git.reset-hard", "require-confirmation", "c\u2028d")) + "\n")
    first, _ = rule_counts(spool_records(state))
    assert (first["rule"], first["require-confirmation"], first["sessions"]) == ("git.reset-hard", 2, 3)


def test_what_ran_after_it_was_asked_about_was_allowed_in_the_host() -> None:
    def call(
        event: str, decision: str = "allow", tool: str = "Bash", rule: str = "git.reset-hard"
    ) -> dict[str, object]:
        rules = [rule] if decision == "require-confirmation" else []
        return {"host": "claude", "event": event, "decision": decision, "session": "a", "tool": tool, "rules": rules}

    asked, ran = call("PreToolUse", "require-confirmation"), call("PostToolUse")
    assert rule_counts([asked, ran, ran])[0]["approved"] == 1
    assert rule_counts([asked, call("PreToolUse"), ran])[0]["approved"] == 0  # refused; the one that ran is the next
    assert rule_counts([asked, call("PostToolUse", tool="Read")])[0]["approved"] == 0
    assert rule_counts([asked, {**ran, "session": "b"}])[0]["approved"] == 0
    cursor = [{**asked, "event": "beforeShellExecution", "tool": ""}, {**ran, "event": "postToolUse", "tool": "Shell"}]
    assert rule_counts(cursor)[0]["approved"] == 1


def test_what_was_asked_about_for_want_of_a_policy_is_named() -> None:
    fault = "there is no compiled policy"
    record = {"decision": "require-confirmation", "session": "a", "rules": [], "policy": fault}
    lines = stats_lines(rule_counts([record, record]))
    assert lines[-1].startswith(f"Calls were asked about because {fault}: a person runs `tipstaff install --host NAME`")


def test_what_is_printed_can_be_pasted(tmp_path: Path) -> None:
    rules = ["git.reset-hard", "uncertain.program", "secrets", "wiring.stash", "filesystem.delete-recursive"]
    records = [record(rule, "warn", "a", approved=True) for rule in rules * 2]
    blocked = record("filesystem.delete-recursive", "block", "a")
    lines = stats_lines(rule_counts([*records, blocked]))
    for file, head in ((".tipstaff/gates.toml", "because"), (".tipstaff/packs/own.toml", "[pack]")):
        begin = next(at for at, line in enumerate(lines) if line.startswith(head))
        end = next(at for at, line in enumerate(lines) if at > begin and line.startswith(("Allowed", "It is")))
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("\n".join(lines[begin:end]) + "\n")
    asked = policy_of(tmp_path, state=tmp_path / "state").left_out
    assert {(one.name, one.because) for one in asked} == {
        ("git.reset-hard", "..."), ("uncertain.program", "..."), ("secrets", "...")
    }  # fmt: skip
    text = "\n".join(lines)
    assert "delete-recursive was allowed repeatedly, and has blocked calls" in text
    assert "wiring.stash was allowed repeatedly: a repository cannot weaken it." in text


def test_no_spool_is_no_error(tmp_path: Path) -> None:
    assert rule_counts(spool_records(tmp_path)) == []


def test_the_command_prints_them(state: Path) -> None:
    result = CliRunner().invoke(command, ["stats"], standalone_mode=False)
    assert result.exit_code == 0, result.output
    assert "git.reset-hard" in result.output
    document = json.loads(CliRunner().invoke(command, ["stats", "--json"], standalone_mode=False).output)
    assert [entry["rule"] for entry in document["rules"]] == ["git.reset-hard", "filesystem.delete-recursive"]
