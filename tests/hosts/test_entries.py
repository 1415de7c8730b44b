"""What the doctor says of registrations that are not as `install` writes them: each row is what the real programs did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tipstaff.hosts import host_named
from tipstaff.hosts.entries import altered_entries, refusal, unmatched
from tipstaff.hosts.host import AgentHost, Registered
from tipstaff.hosts.installation import apply_install, plan_install, read_settings
from tipstaff.hosts.json_text import without_comments

PROGRAM = Path("/opt/bin/tipstaff-hook")


def registered(host: AgentHost, event: str, **changes: Any) -> list[tuple[Path, Registered]]:
    group = host.entry(event, PROGRAM)
    handler = group["hooks"][0] if "hooks" in group else group
    for key, value in changes.items():
        where = group if key == "matcher" else handler
        if value is None:
            del where[key]
        else:
            where[key] = value
    return [(Path("settings"), one) for one in host.registered({"hooks": {event: [group]}})]


@pytest.mark.parametrize(
    ("name", "matcher", "takes"),
    [
        *(("claude", matcher, True) for matcher in ("*", "", ".*", "Edit|Bash", "Edit,Bash", "Edit | Bash", "^Ba", ".*sh")),
        *(("claude", matcher, False) for matcher in ("Bas", "bash", "Shell", "[", "Bash(git *)", 5)),
        *(("codex", matcher, True) for matcher in ("*", "Edit|Bash", "^Bas")),
        *(("codex", matcher, False) for matcher in ("Bas", "Edit,Bash", "Edit | Bash", "shell", "[")),
        *(("gemini", matcher, True) for matcher in ("run_shell", "Edit|run_shell_command", "^run")),
        *(("gemini", matcher, False) for matcher in ("Bash", "Edit,run_shell_command", "[", "write_file")),
        *(("copilot", matcher, True) for matcher in ("Edit|bash", "b.*")),
        *(("copilot", matcher, False) for matcher in ("bas", "^bas", "Bash", "Edit,bash")),
        *(("qwen", matcher, True) for matcher in ("run_shell", "Edit|run_shell_command", "Edit | run_shell_command", "Shell", "Bash")),
        *(("qwen", matcher, False) for matcher in ("Edit,run_shell_command", "[", "write_file")),
    ],
)  # fmt: skip
def test_a_matcher_takes_in_what_the_host_says(name: str, matcher: Any, takes: bool) -> None:
    host = host_named(name)
    found = registered(host, host.tool_event, matcher=matcher)
    assert unmatched(host, found, host.tool_event, *host.command_tools) != takes


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        ("claude", {"async": True}, '"async" is true'),
        ("claude", {"if": "Bash(git *)"}, '"if" is "Bash(git *)"'),
        ("claude", {"timeout": 0}, '"timeout" is 0, which is not enough'),
        ("claude", {"timeout": "10"}, '"timeout" is "10", which is not enough'),
        ("claude", {"type": "prompt"}, '"type" is "prompt"'),
        ("claude", {"type": None}, '"type" is missing'),
        ("claude", {"matcher": 5}, '"matcher" is 5, which does not match all'),
        ("claude", {"args": ["--host", "codex"]}, "--host is codex, not claude"),
        ("claude", {"args": ["--event", "PostToolUse"]}, "--event is PostToolUse, not PreToolUse"),
        ("gemini", {"timeout": 10}, '"timeout" is 10, which is not enough'),
        ("cursor", {"failClosed": None}, '"failClosed" is missing'),
        *(("copilot", {"type": kind}, expected) for kind, expected in ((None, ""), ("http", '"type" is "http"'))),
        *(("cursor", {"type": kind}, expected) for kind, expected in (("command", ""), ("prompt", '"type" is "prompt"'))),
        ("cursor", {"matcher": "curl"}, '"matcher" is "curl", which does not match all'),
        *(("claude", changes, "") for changes in ({}, {"async": False}, {"timeout": 1}, {"timeout": 60}, {"matcher": "Bash"},
                                                  {"matcher": None}, {"statusMessage": "x"}, {"args": ["--unattended"]})),
    ],
)  # fmt: skip
def test_what_differs_from_an_installed_entry_is_named(name: str, changes: dict[str, Any], expected: str) -> None:
    host = host_named(name)
    lines = list(altered_entries(host, registered(host, host.tool_event, **changes), PROGRAM))
    end = f"; run `tipstaff install --host {name}` again"
    assert lines == ([f"settings: {host.tool_event}: {expected}{end}"] if expected else [])


@pytest.mark.parametrize(
    ("more", "refusing"),
    [
        ({"$schema": "https://example.invalid/hooks.json"}, {"codex"}),
        ({"hooks": {"PreToolUse": [{"hooks": [{"type": "nonsense"}]}]}}, {"claude", "codex"}),
        ({"hooks": {"PreToolUse": ["x"]}}, {"claude", "codex"}),
        ({"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}, {"claude", "codex"}),
        ({"hooks": {"Nonsense": [{"hooks": [{"type": "command", "command": "true"}]}]}}, set()),
    ],
)
def test_one_wrong_entry_takes_every_hook_away(more: dict[str, Any], refusing: set[str]) -> None:
    hosts = [host_named(name) for name in ("claude", "codex", "gemini", "cursor", "copilot", "qwen")]
    assert {host.name for host in hosts if refusal(host, more)} == refusing


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "cursor", "copilot", "qwen"])
def test_what_install_writes_is_as_it_should_be(name: str, tmp_path: Path) -> None:
    host = host_named(name)
    apply_install(plan_install(host, "project", tmp_path, tmp_path, PROGRAM))
    path = host.settings_file("project", tmp_path, tmp_path)
    found = [(path, one) for one in host.registered(read_settings(path) or {})]
    assert len(found) == len(host.events)
    assert not list(altered_entries(host, found, PROGRAM))
    assert not refusal(host, read_settings(path) or {})


def test_comments_become_blanks() -> None:
    text = '{ // one\n  "a": "// not /* one */ \\" //", /* two\r\n lines */ "b": 1 }'
    blank = without_comments(text)
    assert len(blank) == len(text)
    assert blank.count("\n") == text.count("\n")
    assert '"// not /* one */ \\" //"' in blank
    assert "two" not in blank
    assert "// one" not in blank


def test_settings_with_comments_are_read_where_the_host_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('// mine\n{"hooks": {}}\n')
    assert host_named("gemini").read_file(path) == {"hooks": {}}
    assert host_named("qwen").read_file(path) == {"hooks": {}}
    for name in ("claude", "codex", "copilot"):
        with pytest.raises(ValueError, match="JSON has no comments"):
            host_named(name).read_file(path)
