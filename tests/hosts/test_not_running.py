"""Hooks that a host finds and silently does not run, because nobody has trusted them or the folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tipstaff.hosts import host_named
from tipstaff.hosts.codex import trust_hash, trust_key
from tipstaff.hosts.host import AgentHost, Registered
from tipstaff.hosts.installation import apply_install, plan_install, read_settings
from tipstaff.hosts.json_text import folder_levels, read_json

PROGRAM = Path("/opt/bin/tipstaff-hook")


@pytest.fixture(autouse=True)
def no_own_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CODEX_HOME", "COPILOT_HOME", "COPILOT_ALLOW_ALL", "GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_TRUSTED_FOLDERS_PATH"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


def found(host: AgentHost, root: Path, scope: str = "project") -> list[tuple[Path, Registered]]:
    home = root / "home"
    apply_install(plan_install(host, "user" if scope == "user" else "project", root, home, PROGRAM))
    path = host.settings_file("user" if scope == "user" else "project", root, home)
    settings = read_settings(path)
    assert settings is not None
    return [(path, one) for one in host.registered(settings)]


def why(host: AgentHost, entries: list[tuple[Path, Registered]], root: Path) -> list[str]:
    return list(host.not_running(entries, root, root / "home"))


def config(root: Path, entries: list[tuple[Path, Registered]], *, project: bool = True, more: str = "", enabled: bool = True, changed: str = "") -> None:  # fmt: skip
    lines = [more] if more else []
    if project:
        lines += [f"[projects.{json.dumps(str(root))}]", 'trust_level = "trusted"']
    for path, one in entries:
        kept = "sha256:0" if one.event == changed else trust_hash(one)
        lines += [f"[hooks.state.{json.dumps(trust_key(path, one))}]", f'trusted_hash = "{kept}"']
        lines += [] if enabled else ["enabled = false"]
    (root / "home" / ".codex").mkdir(parents=True, exist_ok=True)
    (root / "home" / ".codex" / "config.toml").write_text("\n".join(lines))


def test_codex(tmp_path: Path) -> None:
    codex = host_named("codex")
    entries = found(codex, tmp_path)
    assert "this project is not trusted" in why(codex, entries, tmp_path)[0]
    assert "it is not trusted there" in why(codex, entries, tmp_path)[1]
    config(tmp_path, [])
    (only,) = why(codex, entries, tmp_path)
    assert only.startswith("Codex does not run the hook for PreToolUse, PostToolUse")
    config(tmp_path, entries)
    assert why(codex, entries, tmp_path) == []
    config(tmp_path, entries, changed="PreToolUse")
    (only,) = why(codex, entries, tmp_path)
    assert only.startswith("Codex does not run the hook for PreToolUse: it has changed since")
    config(tmp_path, entries, enabled=False)
    assert "switched off" in why(codex, entries, tmp_path)[0]
    config(tmp_path, entries, more="[features]\nhooks = false")
    assert "Codex runs no hooks" in why(codex, entries, tmp_path)[0]
    (tmp_path / "home" / ".codex" / "config.toml").write_text("not = [toml")
    assert len(why(codex, entries, tmp_path)) == 2


def test_codex_of_the_user_needs_no_trusted_project(tmp_path: Path) -> None:
    codex = host_named("codex")
    entries = found(codex, tmp_path, "user")
    config(tmp_path, entries, project=False)
    assert why(codex, entries, tmp_path) == []


def test_the_hash_is_that_of_codex() -> None:
    # Codex 0.169 runs this hook untold where its config.toml holds this.
    one = Registered("PreToolUse", (), "", {"type": "command", "command": "/opt/bin/tipstaff-hook --host codex", "timeout": 10}, (1, 0))  # fmt: skip
    assert trust_key(Path("/r/.codex/hooks.json"), one) == "/r/.codex/hooks.json:pre_tool_use:1:0"
    assert trust_hash(one) == "sha256:f287970a9f407e906ac961e0384aa9ffdf214ac5cf68f6eb51d7b43c0b02fdc6"


def test_copilot(tmp_path: Path) -> None:
    copilot = host_named("copilot")
    entries = found(copilot, tmp_path)
    (only,) = why(copilot, entries, tmp_path)
    assert "tipstaff install --host copilot --user" in only
    kept = tmp_path / "home" / ".copilot" / "config.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("// managed\n" + json.dumps({"trustedFolders": ["/elsewhere", str(tmp_path.parent)]}))
    assert why(copilot, entries, tmp_path) == []
    kept.write_text("{}")
    assert why(copilot, found(copilot, tmp_path, "user"), tmp_path) == []
    assert why(copilot, [], tmp_path) == []


@pytest.mark.parametrize("name", ["gemini", "qwen"])
def test_gemini_and_qwen(tmp_path: Path, name: str) -> None:
    host = host_named(name)
    entries = found(host, tmp_path)
    folder = tmp_path / "home" / f".{name}"
    folder.mkdir(parents=True)
    # Gemini CLI asks for trust unless it is configured not to, Qwen Code the other way round.
    assert bool(why(host, entries, tmp_path)) is (name == "gemini")
    (folder / "settings.json").write_text('{"security": {"folderTrust": {"enabled": true}}}')
    assert f"--host {name} --user" in why(host, entries, tmp_path)[0]
    (folder / "trustedFolders.json").write_text(json.dumps({str(tmp_path / "x"): "TRUST_PARENT"}))
    assert why(host, entries, tmp_path) == []
    (folder / "trustedFolders.json").write_text(json.dumps({str(tmp_path): "DO_NOT_TRUST", str(tmp_path.parent): "TRUST_FOLDER"}))  # fmt: skip
    assert why(host, entries, tmp_path)
    (folder / "settings.json").write_text('{"security": {"folderTrust": {"enabled": false}}}')
    assert why(host, entries, tmp_path) == []
    (folder / "settings.json").write_text('{"security": {"folderTrust": {"enabled": true}}}')
    assert why(host, [(folder / "settings.json", one) for _, one in entries], tmp_path) == []


def test_gemini_by_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gemini = host_named("gemini")
    entries = found(gemini, tmp_path)
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
    assert why(gemini, entries, tmp_path) == []
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "false")
    assert why(gemini, entries, tmp_path)


def test_what_hosts_keep_may_be_damaged(tmp_path: Path) -> None:
    for text in ("", "[]", "{", '{"a": '):
        (tmp_path / "x.json").write_text(text)
        assert read_json(tmp_path / "x.json") == {}
    assert folder_levels({str(tmp_path): 3, "": "TRUST_FOLDER"}, tmp_path / "y") in {"", "TRUST_FOLDER"}


def test_where_the_owner_of_a_machine_allows_its_own_hooks_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude, codex = host_named("claude"), host_named("codex")
    machine = tmp_path / "managed-settings.json"
    monkeypatch.setattr("tipstaff.hosts.claude.machine_file", lambda *_: machine)
    requirements = tmp_path / "requirements.toml"
    monkeypatch.setattr("tipstaff.hosts.codex._REQUIREMENTS", requirements)
    entries = found(claude, tmp_path)
    assert why(claude, entries, tmp_path) == []
    more = tmp_path / "managed-settings.d" / "10.json"
    more.parent.mkdir()
    for path in (machine, more):
        path.write_text('{"allowManagedHooksOnly": true}')
        assert why(claude, entries, tmp_path) == [
            f"{path}: allowManagedHooksOnly is true: no hooks of users or projects run"
        ]
        assert why(claude, [(path, one) for _, one in entries], tmp_path) == []
        path.unlink()
    entries = found(codex, tmp_path)
    config(tmp_path, entries)
    requirements.write_text("allow_managed_hooks_only = true\n")
    assert why(codex, entries, tmp_path) == [
        f"{requirements}: allow_managed_hooks_only is true: no hooks of users or projects run"
    ]
