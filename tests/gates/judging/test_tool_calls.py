"""What tools other than a shell do: reading, moving, typing, fetching, cells of notebooks, servers of databases."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tipstaff import EnforcementGates, GateConfig, aggregate_decision

ASK: Final = "require-confirmation"
PATCH: Final = "*** Begin Patch\n*** Delete File: .claude/settings.json\n*** End Patch"


@pytest.mark.parametrize(
    ("tool", "params", "decision"),
    [
        ("Read", {"file_path": "/home/dev/.ssh/id_rsa"}, ASK),
        ("Read", {"file_path": ".env"}, ASK),
        ("Read", {"file_path": "/home/dev/.aws/credentials"}, ASK),
        ("Read", {"file_path": "/home/dev/.bash_history"}, ASK),
        ("Read", {"file_path": ".env.example"}, "allow"),
        ("Read", {"file_path": ".claude/settings.json"}, "allow"),
        ("Read", {"file_path": "src/app.py"}, "allow"),
        ("mcp__filesystem__read_file", {"path": "/home/dev/.ssh/id_ed25519"}, ASK),
        ("mcp__filesystem__read_file", {"path": "/home/dev/.ssh/id_ed25519.pub"}, "allow"),
        ("mcp__github__get_file_contents", {"path": "README.md"}, "allow"),
        ("Grep", {"pattern": "id_rsa|\\.env", "path": "."}, "allow"),
        (
            "mcp__filesystem__move_file",
            {"source": "/home/dev/proj/.claude/settings.json", "destination": "/tmp/x"},
            "block",
        ),
        ("mcp__filesystem__move_file", {"source": "src/a.py", "destination": "src/b.py"}, "allow"),
        ("mcp__redis__command", {"command": "FLUSHALL"}, ASK),
        ("mcp__redis__command", {"command": "GET user:1"}, "allow"),
        ("mcp__tmux__send_keys", {"keys": "rm -rf ~\n"}, "block"),
        ("mcp__tmux__send_keys", {"keys": "npm test Enter"}, "allow"),
        ("shell", {"command": ["apply_patch", PATCH]}, "block"),
        ("shell", {"command": ["apply_patch", PATCH.replace(".claude/settings.json", "src/old.py")]}, "allow"),
        ("WebFetch", {"url": "file:///etc/passwd"}, ASK),
        ("WebFetch", {"url": "http://169.254.169.254/latest/meta-data/"}, ASK),
        ("WebFetch", {"url": "https://example.com", "prompt": "rm -rf /"}, "allow"),
        ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "import os\n!rm -rf ~"}, "block"),
        ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "%%bash\ngit push --force origin main"}, "block"),
        ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "!ls\n# !rm -rf ~"}, "allow"),
    ],
)
def test_tools_are_judged_by_what_they_do(tool: str, params: dict[str, Any], decision: str) -> None:
    gates = EnforcementGates(GateConfig(secrets=False, read_files=False))
    gates._home = "/home/dev"
    assert aggregate_decision(gates.evaluate_tool_use(tool, params, cwd="/home/dev/proj")) == decision
