"""The agent programs: how each is started without a person, against which protocol, and what its tools are called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar, Final

from tools.hosts.client import SERVER, Client
from tools.hosts.model import ToolCall


class ClaudeCode(Client):
    name = "claude"
    settings = ".claude/settings.json"
    foreign = '{\n\t"permissions": { "deny": [] },   \n  "hooks": {\n    "PreToolUse": [\n      { "matcher": "Nothing", "hooks": [ { "type": "command", "command": "true" } ] }\n    ]\n  }\n}\r\n\n'
    tools = "Bash,Write,Edit,Read,Task,Agent,mcp__db__query"
    modes: ClassVar[dict[str, list[str]]] = {
        "free": ["--allowedTools", tools],
        "untrusted": ["--allowedTools", tools],
        "all-tools": ["--allowedTools", tools],
    }
    shell_names = ("Bash",)

    def program(self) -> list[str]:
        return [str(self.modules / "@anthropic-ai/claude-code-linux-x64/claude")]

    def environment(self, url: str) -> dict[str, str]:
        return {
            **super().environment(url),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "sk-ant-nobody",
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "ENABLE_TOOL_SEARCH": "false",
            "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
        }

    def command(self, prompt: str, mode: str) -> list[str]:
        servers = json.dumps({"mcpServers": {"db": {"command": SERVER[0], "args": SERVER[1:]}}})
        output = ["--output-format", "stream-json", "--verbose"]
        return [
            *self.program(),
            "-p",
            prompt,
            *output,
            "--model",
            "claude-sonnet-4-5",
            "--mcp-config",
            servers,
            *self.modes[mode],
        ]

    def write(self, path: Path, content: str) -> ToolCall:
        return ToolCall(("Write",), {"file_path": str(path), "content": content})

    def edit(self, path: Path, old: str, new: str) -> ToolCall:
        return ToolCall(("Edit",), {"file_path": str(path), "old_string": old, "new_string": new})

    def read(self, path: Path) -> ToolCall:
        return ToolCall(("Read",), {"file_path": str(path)})

    def helper(self, prompt: str) -> list[ToolCall]:
        return [
            ToolCall(("Agent", "Task"), {"description": "Help", "prompt": prompt, "subagent_type": "general-purpose"})
        ]


class CodexCli(Client):
    name = "codex"
    settings = ".codex/hooks.json"
    foreign = '{\n  "hooks": {"PreToolUse": [ { "matcher": "Nothing", "hooks": [ {"type": "command", "command": "true"} ] } ] }   \n}\n'
    shell_names = ("shell_command", "exec_command", "shell")
    modes: ClassVar[dict[str, list[str]]] = {
        "free": ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"],
        # A model that it does not know is offered servers' tools and sub-agents at once.
        "all-tools": [
            "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust",
            "-m",
            "mock-model",
        ],
        "untrusted": ["--dangerously-bypass-approvals-and-sandbox"],
    }

    def environment(self, url: str) -> dict[str, str]:
        return {**super().environment(url), "NOBODYS_KEY": "sk-nobody"}

    def prepare(self, repository: Path, url: str) -> None:
        path = self.home / ".codex/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        trusted = path.read_text().partition("# trusted\n")[2] if path.exists() else ""
        path.write_text(
            'model = "gpt-5.5"\nmodel_provider = "nobody"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n'
            f'[model_providers.nobody]\nname = "nobody"\nbase_url = "{url}/v1"\nenv_key = "NOBODYS_KEY"\nwire_api = "responses"\n'
            "request_max_retries = 0\nstream_max_retries = 0\n"
            f'[mcp_servers.db]\ncommand = "{SERVER[0]}"\nargs = ["{SERVER[1]}"]\n'
            f'[projects."{repository}"]\ntrust_level = "trusted"\n# trusted\n{trusted}'
        )

    def trust_hooks(self, repository: Path) -> None:
        from tipstaff.hosts import host_named
        from tipstaff.hosts.codex import trust_hash, trust_key

        host, path = host_named("codex"), repository / self.settings
        kept = [
            f'[hooks.state."{trust_key(path, one)}"]\ntrusted_hash = "{trust_hash(one)}"\n'
            for one in host.registered(host.read_file(path) or {})
        ]
        config = self.home / ".codex/config.toml"
        config.write_text(config.read_text() + "".join(kept))

    def command(self, prompt: str, mode: str) -> list[str]:
        return [*self.program(), "exec", "--json", *self.modes[mode], prompt]

    def shell(self, command: str) -> ToolCall:
        return ToolCall(self.shell_names, {"command": command, "cmd": command})

    def write(self, path: Path, content: str) -> ToolCall:
        added = "".join(f"+{line}\n" for line in content.splitlines())
        return ToolCall(("apply_patch",), {}, f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n")

    def edit(self, path: Path, old: str, new: str) -> ToolCall:
        return ToolCall(
            ("apply_patch",), {}, f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"
        )

    def read(self, path: Path) -> ToolCall:
        return self.shell(f"cat {path}")

    def helper(self, prompt: str) -> list[ToolCall]:
        wait = ToolCall(("wait_agent",), {"targets": ["<agent>"], "timeout_ms": 20000})
        return [ToolCall(("spawn_agent",), {"message": prompt}), wait]

    def typed(self, command: str) -> list[ToolCall]:
        start = ToolCall(("exec_command",), {"cmd": "bash --norc", "tty": True, "yield_time_ms": 500})
        return [
            start,
            ToolCall(("write_stdin",), {"session_id": "<session>", "chars": command + "\n", "yield_time_ms": 1500}),
        ]


class GeminiCli(Client):
    name = "gemini"
    settings = ".gemini/settings.json"
    foreign = '{\n\t"ui": { "hideTips": true },   \n  "hooks": { "BeforeTool": [ { "matcher": "Nothing", "hooks": [ { "name": "other", "type": "command", "command": "true" } ] } ] }\n}\n\n'
    shell_names = ("run_shell_command",)
    modes: ClassVar[dict[str, list[str]]] = {name: ["--approval-mode", "yolo"] for name in ("free", "all-tools")} | {
        "untrusted": ["--approval-mode", "yolo", "--skip-trust"]
    }
    trusts: str | None = "true"

    def program(self) -> list[str]:
        return [str(self.node), str(self.modules / "@google/gemini-cli/bundle/gemini.js")]

    def environment(self, url: str) -> dict[str, str]:
        return {
            **super().environment(url),
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_API_KEY": "nobody",
            "GEMINI_TELEMETRY_ENABLED": "false",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def prepare(self, repository: Path, url: str) -> None:
        path = self.home / ".gemini/settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(
            json.dumps(
                {
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": False},
                    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
                    "mcpServers": {"db": {"command": SERVER[0], "args": SERVER[1:], "trust": True}},
                    **({"hooks": kept["hooks"]} if "hooks" in kept else {}),
                }
            )
        )

    def command(self, prompt: str, mode: str) -> list[str]:
        return [*self.program(), "-p", prompt, "-o", "stream-json", "-m", "gemini-2.5-pro", *self.modes[mode]]

    def write(self, path: Path, content: str) -> ToolCall:
        return ToolCall(("write_file",), {"file_path": str(path), "content": content})

    def edit(self, path: Path, old: str, new: str) -> ToolCall:
        given = {"file_path": str(path), "instruction": "Change it", "old_string": old, "new_string": new}
        return ToolCall(("replace", "edit"), given)

    def read(self, path: Path) -> ToolCall:
        return ToolCall(("read_file",), {"file_path": str(path)})

    def helper(self, prompt: str) -> list[ToolCall]:
        return [ToolCall(("invoke_agent",), {"agent_name": "generalist", "prompt": prompt})]


class Copilot(Client):
    name = "copilot"
    settings = ".github/hooks/tipstaff.json"
    shell_names = ("bash",)
    modes: ClassVar[dict[str, list[str]]] = {
        name: ["--allow-all-tools", "--allow-all-paths", "--trust-folder"] for name in ("free", "all-tools")
    } | {"untrusted": ["--allow-all-tools", "--allow-all-paths"]}

    def environment(self, url: str) -> dict[str, str]:
        return {
            **super().environment(url),
            "COPILOT_PROVIDER_BASE_URL": url + "/v1",
            "COPILOT_PROVIDER_API_KEY": "nobody",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_MODEL": "gpt-4.1",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def prepare(self, repository: Path, url: str) -> None:
        path = self.home / ".copilot/mcp-config.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        server = {"type": "local", "command": SERVER[0], "args": SERVER[1:], "tools": ["*"]}
        path.write_text(json.dumps({"mcpServers": {"db": server}}))

    def command(self, prompt: str, mode: str) -> list[str]:
        quiet = ["--no-auto-update", "--output-format", "json", "--disable-client-telemetry"]
        return [*self.program(), "-p", prompt, *quiet, *self.modes[mode]]

    def shell(self, command: str) -> ToolCall:
        return ToolCall(
            self.shell_names, {"command": command, "description": "Run it", "mode": "sync", "initial_wait": 10}
        )

    def write(self, path: Path, content: str) -> ToolCall:
        return ToolCall(("create",), {"path": str(path), "file_text": content})

    def edit(self, path: Path, old: str, new: str) -> ToolCall:
        return ToolCall(("edit",), {"path": str(path), "old_str": old, "new_str": new})

    def read(self, path: Path) -> ToolCall:
        return ToolCall(("view",), {"path": str(path)})

    def helper(self, prompt: str) -> list[ToolCall]:
        given = {"description": "Help", "name": "helper", "prompt": prompt, "agent_type": "general-purpose"}
        return [ToolCall(("task",), given)]


class QwenCode(Client):
    name = "qwen"
    settings = ".qwen/settings.json"
    foreign = '{\n  "$version": 4,\n  "ui": {"hideTips": true},\n  "hooks": { "PreToolUse": [ { "matcher": "Nothing", "hooks": [ { "type": "command", "command": "true" } ] } ] }\n}\n'
    shell_names = ("run_shell_command",)
    modes: ClassVar[dict[str, list[str]]] = {
        name: ["--approval-mode", "yolo"] for name in ("free", "all-tools", "untrusted")
    }

    def program(self) -> list[str]:
        return [str(self.node), str(self.modules / "@qwen-code/qwen-code/cli.js")]

    def environment(self, url: str) -> dict[str, str]:
        return {
            **super().environment(url),
            "OPENAI_BASE_URL": url + "/v1",
            "OPENAI_API_KEY": "nobody",
            "OPENAI_MODEL": "mock-model",
        }

    def prepare(self, repository: Path, url: str) -> None:
        path = self.home / ".qwen/settings.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = json.loads(path.read_text()) if path.exists() else {}
        settings = {
            "security": {"auth": {"selectedType": "openai"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
            "tools": {"toolSearch": {"enabled": False}},  # or servers' tools are offered by a search alone
            "mcpServers": {"db": {"command": SERVER[0], "args": SERVER[1:], "trust": True}},
        }
        path.write_text(json.dumps({**settings, **({"hooks": kept["hooks"]} if "hooks" in kept else {})}))

    def command(self, prompt: str, mode: str) -> list[str]:
        return [*self.program(), "-p", prompt, "-o", "stream-json", "--auth-type", "openai", *self.modes[mode]]

    write, edit, read = GeminiCli.write, GeminiCli.edit, GeminiCli.read

    def helper(self, prompt: str) -> list[ToolCall]:
        given = {"description": "Help", "prompt": prompt, "subagent_type": "general-purpose"}
        return [ToolCall(("task", "agent", "Agent", "Task"), given)]


class OpenCode(Client):
    name = "opencode"
    settings = ".opencode/plugins/tipstaff.js"
    shell_names = ("bash",)
    modes: ClassVar[dict[str, list[str]]] = {name: [] for name in ("free", "all-tools", "untrusted")}

    def program(self) -> list[str]:
        return [str(self.modules / "opencode-linux-x64-baseline/bin/opencode")]

    def environment(self, url: str) -> dict[str, str]:
        return {
            **super().environment(url),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            # It waits for its plugin package; nobody answers here, and that at once.
            "npm_config_registry": "http://127.0.0.1:9",
            "npm_config_fetch_retries": "0",
        }

    def prepare(self, repository: Path, url: str) -> None:
        path = self.home / ".config/opencode/opencode.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        model = {"name": "mock", "tool_call": True, "limit": {"context": 200_000, "output": 8_000}}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "nobody",
            "options": {"baseURL": url + "/v1", "apiKey": "nobody"},
            "models": {"mock-model": model},
        }
        path.write_text(
            json.dumps(
                {
                    "provider": {"nobody": provider},
                    "model": "nobody/mock-model",
                    "small_model": "nobody/mock-model",
                    "permission": {"*": "allow", "external_directory": "allow"},
                    "autoupdate": False,
                    "share": "disabled",
                    "mcp": {"db": {"type": "local", "command": SERVER}},
                }
            )
        )

    def command(self, prompt: str, mode: str) -> list[str]:
        return [*self.program(), "run", "--format", "json", *self.modes[mode], prompt]

    def write(self, path: Path, content: str) -> ToolCall:
        return ToolCall(("write",), {"filePath": str(path), "content": content})

    def edit(self, path: Path, old: str, new: str) -> ToolCall:
        return ToolCall(("edit",), {"filePath": str(path), "oldString": old, "newString": new})

    def read(self, path: Path) -> ToolCall:
        return ToolCall(("read",), {"filePath": str(path)})

    def helper(self, prompt: str) -> list[ToolCall]:
        return [ToolCall(("task",), {"description": "Help", "prompt": prompt, "subagent_type": "general"})]


CLIENTS: Final = {one.name: one for one in (ClaudeCode, CodexCli, GeminiCli, Copilot, QwenCode, OpenCode)}
