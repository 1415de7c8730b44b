"""Settings files: what is in them stays, and taking the hook away brings them back byte for byte."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tipstaff.errors import SourceError
from tipstaff.hosts import HOST_NAMES, host_named, hosts_named
from tipstaff.hosts.host import AgentHost, Scope
from tipstaff.hosts.installation import (
    COPY_SUFFIX,
    Change,
    apply_install,
    apply_uninstall,
    plan_install,
    plan_uninstall,
    read_settings,
)

PROGRAM = Path("/opt/tip staff/bin/tipstaff-hook")
FOREIGN = {
    "claude": '{\n    "zeta": [1,2,   3],\n    "hooks": {\n        "PreToolUse": [\n            {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}\n        ],\n        "Stop": []\n    },\n    "alpha": "\\u00e9"\n}\n',
    "codex": '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"guard"}]}]}}',
    "gemini": '{\r\n\t"theme": "x",\r\n\t"hooks": {\r\n\t\t"BeforeTool": []\r\n\t}\r\n}',
    "cursor": '{\n  "version": 1,\n  "hooks": {\n    "beforeShellExecution": [{"command": "guard"}]\n  }\n}\n',
    "copilot": '{"version": 1, "hooks": {}}\n',
    "qwen": '{\n  "model": {"name": "x"},\n  "hooks": {\n    "PreToolUse": []\n  }\n}\n',
}


def settings_path(host: AgentHost, root: Path, text: str | bytes | None = None) -> Path:
    path = host.settings_file("project", root, root / "home")
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def install(host: AgentHost, root: Path, program: Path = PROGRAM, scope: Scope = "project") -> Change:
    change = plan_install(host, scope, root, root / "home", program)
    apply_install(change)
    return change


def uninstall(host: AgentHost, root: Path) -> Change:
    change = plan_uninstall(host, "project", root, root / "home")
    apply_uninstall(change)
    return change


# opencode has a file of its own: see test_opencode.py.
@pytest.fixture(params=[name for name in HOST_NAMES if name != "opencode"])
def host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AgentHost:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return host_named(str(request.param))


def test_where_nothing_was_everything_is_made_and_taken_away(host: AgentHost, tmp_path: Path) -> None:
    change = install(host, tmp_path)
    assert change.before is None
    assert change.difference().startswith("--- /dev/null\n+++ ")
    settings = read_settings(settings_path(host, tmp_path))
    assert settings is not None
    found = list(host.registered(settings))
    assert tuple(one.event for one in found) == host.events
    assert all(one.words[0] == str(PROGRAM) for one in found)
    assert all(one.words[1:3] == ("--host", host.name) for one in found)
    uninstall(host, tmp_path)
    assert not settings_path(host, tmp_path).exists()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
def test_foreign_entries_stay_and_come_back_byte_for_byte(host: AgentHost, tmp_path: Path, ending: str) -> None:
    text = FOREIGN[host.name].rstrip("\n") + ending
    path = settings_path(host, tmp_path, text)
    former = json.loads(text)
    install(host, tmp_path)
    now = json.loads(path.read_bytes())
    assert [key for key in now if key in former] == list(former)
    for event, entries in former["hooks"].items():
        assert now["hooks"][event][: len(entries)] == entries
    # Each line that was there is there still, but for what was added at its end.
    lines = path.read_bytes().decode().splitlines()
    for line in text.splitlines() if "\n" in text.strip() else []:
        assert any(new.startswith(line.rstrip(",]")) for new in lines), line
    assert Path(str(path) + COPY_SUFFIX).read_bytes() == text.encode()
    uninstall(host, tmp_path)
    assert path.read_bytes() == text.encode()
    assert not Path(str(path) + COPY_SUFFIX).exists()


def test_installing_twice_changes_nothing(host: AgentHost, tmp_path: Path) -> None:
    path = settings_path(host, tmp_path, FOREIGN[host.name])
    install(host, tmp_path)
    data, about = path.read_bytes(), path.stat()
    change = install(host, tmp_path)
    assert not change.changes
    assert change.difference() == ""
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (data, about.st_mtime_ns)


def test_a_moved_program_replaces_the_entries_and_the_copy_stays(host: AgentHost, tmp_path: Path) -> None:
    path = settings_path(host, tmp_path, FOREIGN[host.name])
    install(host, tmp_path, Path("/old/tipstaff-hook"))
    install(host, tmp_path)
    settings = read_settings(path)
    assert settings is not None
    assert {one.words[0] for one in host.registered(settings)} == {str(PROGRAM)}
    assert len(list(host.registered(settings))) == len(host.events)
    uninstall(host, tmp_path)
    assert path.read_bytes() == FOREIGN[host.name].encode()


def test_what_others_changed_since_stays(host: AgentHost, tmp_path: Path) -> None:
    path = settings_path(host, tmp_path, FOREIGN[host.name])
    install(host, tmp_path)
    settings = json.loads(path.read_bytes())
    settings["mine"] = {"later": True}
    settings["hooks"][host.events[0]].append({"command": "later", "hooks": [{"type": "command", "command": "later"}]})
    path.write_text(json.dumps(settings, indent=1))
    uninstall(host, tmp_path)
    rest = json.loads(path.read_bytes())
    assert rest["mine"] == {"later": True}
    assert "later" in json.dumps(rest["hooks"][host.events[0]])
    assert "tipstaff" not in path.read_text()


def test_a_handler_that_somebody_moved_into_a_group_goes_alone(tmp_path: Path) -> None:
    claude = host_named("claude")
    install(claude, tmp_path)
    path = settings_path(claude, tmp_path)
    settings = json.loads(path.read_bytes())
    settings["hooks"]["PreToolUse"][0]["hooks"].insert(0, {"type": "command", "command": "guard"})
    path.write_text(json.dumps(settings))
    uninstall(claude, tmp_path)
    assert json.loads(path.read_bytes()) == {
        "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "guard"}]}]}
    }


@pytest.mark.parametrize("name", ["gemini", "qwen"])
def test_comments_stay_where_the_host_reads_them(name: str, tmp_path: Path) -> None:
    host = host_named(name)
    data = b'// mine\n{\n  "hooks": {\n    // audits\n  },\n  "a": 1 // one\n}\n'
    path = settings_path(host, tmp_path, data)
    install(host, tmp_path)
    written = path.read_bytes()
    assert all(comment in written for comment in (b"// mine\n", b"// audits\n", b'"a": 1 // one\n'))
    install(host, tmp_path)
    assert path.read_bytes() == written
    path.write_bytes(written.replace(b'"a": 1', b'"a": 2'))
    uninstall(host, tmp_path)
    assert host.read_file(path) == {"a": 2}
    path.write_bytes(written)
    uninstall(host, tmp_path)
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{\n  // mine\n  "a": 1\n}', "JSON has no comments"),
        (b'{"a": 1,}', "not valid JSON"),
        (b'{"a": ', "not valid JSON"),
        (b"[1]", "one JSON object"),
        (b'{"hooks": []}', "hooks must be an object, got array"),
        (b'{"hooks": {"PreToolUse": {}, "BeforeTool": {}, "preToolUse": {}}}', "must be an array, got object"),
        (b'{"hooks": {}, "hooks": {}}', "occurs twice"),
        (b'{"hooks": {"Stop": [], "a": 1, "Stop": []}}', "occurs twice"),
        (b"\xff\xfe{}", "is not UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_left_alone(host: AgentHost, tmp_path: Path, data: bytes, message: str) -> None:
    if message.endswith("comments") and host.reads_comments:
        pytest.skip("it has comments")
    path = settings_path(host, tmp_path, data)
    with pytest.raises(SourceError, match=message) as caught:
        install(host, tmp_path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == data
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_instead_of_the_file_is_reported(host: AgentHost, tmp_path: Path) -> None:
    settings_path(host, tmp_path).mkdir(parents=True)
    with pytest.raises(SourceError, match="not a regular file"):
        install(host, tmp_path)


@pytest.mark.parametrize("data", [b"", b"  \n", b"{}", b"{ }\n", b"\xef\xbb\xbf{}\n"])
def test_empty_files_are_filled_and_come_back(host: AgentHost, tmp_path: Path, data: bytes) -> None:
    path = settings_path(host, tmp_path, data)
    install(host, tmp_path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf") == data.startswith(b"\xef\xbb\xbf")
    assert read_settings(path)
    if data.strip():
        uninstall(host, tmp_path)
        assert path.read_bytes() == data


def test_line_ends_and_tabs_are_kept(tmp_path: Path) -> None:
    gemini = host_named("gemini")
    path = settings_path(gemini, tmp_path, FOREIGN["gemini"])
    install(gemini, tmp_path)
    data = path.read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n")
    assert b"\r\n\t\t\t{" in data


def test_links_stay_links_and_modes_stay_modes(host: AgentHost, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o640)
    path = settings_path(host, tmp_path)
    path.parent.mkdir(parents=True)
    path.symlink_to(real)
    install(host, tmp_path)
    assert path.is_symlink()
    assert "tipstaff" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_change_in_between_is_not_written_over(host: AgentHost, tmp_path: Path) -> None:
    path = settings_path(host, tmp_path, "{}")
    change = plan_install(host, "project", tmp_path, tmp_path / "home", PROGRAM)
    path.write_text('{"mine": 1}')
    with pytest.raises(SourceError, match="another process changed it"):
        apply_install(change)
    assert path.read_text() == '{"mine": 1}'


def test_uninstalling_what_is_not_there_does_nothing(host: AgentHost, tmp_path: Path) -> None:
    assert not uninstall(host, tmp_path).changes
    path = settings_path(host, tmp_path, FOREIGN[host.name])
    assert not uninstall(host, tmp_path).changes
    assert path.read_bytes() == FOREIGN[host.name].encode()


def test_a_copy_that_was_tampered_with_is_not_brought_back(tmp_path: Path) -> None:
    claude = host_named("claude")
    path = settings_path(claude, tmp_path, FOREIGN["claude"])
    install(claude, tmp_path)
    Path(str(path) + COPY_SUFFIX).write_text(
        '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "evil"}]}]}}'
    )
    uninstall(claude, tmp_path)
    assert "evil" not in path.read_text()
    assert json.loads(path.read_bytes())["alpha"] == "é"


def test_user_settings_are_where_the_host_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    paths = {one.name: one.settings_file("user", Path("/p"), Path("/h")) for one in hosts_named("all")}
    assert paths == {
        "claude": Path("/h/.claude/settings.json"),
        "codex": Path("/h/.codex/hooks.json"),
        "gemini": Path("/h/.gemini/settings.json"),
        "cursor": Path("/h/.cursor/hooks.json"),
        "copilot": Path("/h/.copilot/hooks/tipstaff.json"),
        "qwen": Path("/h/.qwen/settings.json"),
        "opencode": Path("/h/.config/opencode/plugins/tipstaff.js"),
    }
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/elsewhere")
    assert host_named("claude").settings_file("user", Path("/p"), Path("/h")) == Path("/elsewhere/settings.json")


def test_entries_are_what_each_host_documents() -> None:
    entries = {one.name: one.entry(one.tool_event, PROGRAM) for one in hosts_named("all")}
    # Exec form: no shell reads the path.
    assert entries["claude"]["hooks"][0] == {
        "type": "command", "command": str(PROGRAM), "args": ["--host", "claude"], "timeout": 10,
    }  # fmt: skip
    assert entries["codex"]["hooks"][0]["command"] == f"'{PROGRAM}' --host codex"
    assert entries["gemini"]["hooks"][0]["timeout"] == 10_000  # milliseconds
    assert entries["cursor"]["failClosed"] is True
    assert host_named("cursor").entry("postToolUse", PROGRAM).get("failClosed") is None
    assert entries["copilot"]["bash"] == f"'{PROGRAM}' --host copilot --event preToolUse"
    assert {"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"} < set(
        host_named("cursor").events
    )
    for entry in entries.values():
        assert "python" not in json.dumps(entry)


@pytest.mark.parametrize(
    ("platform", "parts"), [("linux", "/etc/"), ("darwin", "/Library/Application Support/"), ("win32", "C:\\Program")]
)
def test_settings_of_a_machine_are_where_vendors_document_them(
    monkeypatch: pytest.MonkeyPatch, platform: str, parts: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    for name in ("claude", "gemini", "cursor", "qwen"):
        *_, machine = host_named(name).other_files(Path("/p"), Path("/h"))
        assert str(machine).startswith(parts), name
