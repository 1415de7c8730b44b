"""``tipstaff gate --stats``: what the spool says of the rules that spoke most."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tipstaff.cli.commands.gate import command
from tipstaff.cli.gate_stats import rule_counts, setting_for, spool_records, stats_lines
from tipstaff.gates.image.repository_policy import policy_of


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
    assert any("enabled = false" in line and "git.reset-hard" in line for line in lines)
    assert not any("enabled" in line and "delete-recursive" in line for line in lines)
    assert stats_lines([]) == ["The spool has no call that the gates asked about."]
    assert "secrets = false" in setting_for("secrets")


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
    assert lines[-1].startswith(f"Calls were asked about because {fault}: a person runs `tipstaff install`")


def test_a_setting_works_as_it_is_written(tmp_path: Path) -> None:
    setting = setting_for("git.reset-hard")
    place, _, rule = setting.partition(", below ")
    pack, _, rest = rule.partition(": [[rule]] ")
    assert pack == '[pack] id = "own"'
    path = tmp_path / place.removeprefix("in ")
    path.parent.mkdir(parents=True)
    path.write_text('[pack]\nid = "own"\n[[rule]]\n' + rest.replace(", ", "\n") + "\n")
    (asked,) = policy_of(tmp_path, state=tmp_path / "state").left_out
    assert (asked.name, asked.because) == ("git.reset-hard", "...")
    assert setting_for("wiring.write").startswith("none")


def test_no_spool_is_no_error(tmp_path: Path) -> None:
    assert rule_counts(spool_records(tmp_path)) == []


def test_the_command_prints_them(state: Path) -> None:
    result = CliRunner().invoke(command, ["--stats"], standalone_mode=False)
    assert result.exit_code == 0, result.output
    assert "git.reset-hard" in result.output
    document = json.loads(CliRunner().invoke(command, ["--stats", "--json"], standalone_mode=False).output)
    assert [entry["rule"] for entry in document["rules"]] == ["git.reset-hard", "filesystem.delete-recursive"]
