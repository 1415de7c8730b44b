"""What an agent's tool calls do, by their names and inputs: changed files, commands, lists of tasks."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.messages import call_input_json
from tipstaff.kernels import focus_scan

MIN_COMMAND_CHARS: Final = 10
"""Commands of no more characters than this say little: they are left out."""

# Names are compared without case, dashes and underscores, and without the server's name that MCP puts before them.
_WRITERS: Final = frozenset(
    "write writefile edit editfile multiedit notebookedit createfile replace replaceinfile strreplaceeditor "
    "strreplacebasededittool applydiff writetofile insertcontent searchandreplace deletefile movefile".split()
)
_PATCHERS: Final = frozenset({"applypatch", "patch"})
_SHELLS: Final = frozenset(
    "bash shell sh zsh powershell terminal runcommand executecommand execcommand exec runshellcommand localshell "
    "runterminalcmd runinterminal shellcommand".split()
)
_PATH_KEYS: Final = ("file_path", "path", "notebook_path", "filename", "target_file", "filePath", "file")
_COMMAND_KEYS: Final = ("command", "cmd", "script")
_READING: Final = frozenset({"view", "read", "open"})
_PATCHED: Final = re.compile(
    r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\+\+\+ (?:b/)?(?!/dev/null)([^\t\n]+)", re.MULTILINE
)
_SEPARATORS: Final = re.compile(r"&&|\|\||[;|&\n]")
_TRIVIAL: Final = frozenset({"cd", "ls", "pwd"})


def input_of(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the input of a call; empty where it is not a JSON object."""
    value: object = block.get("input")
    if not isinstance(value, Mapping):
        try:
            value = json.loads(call_input_json(block) or "{}")
        except ValueError:
            return {}
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def plain_name(name: str) -> str:
    """Return a tool's name without a server's name, case, dashes and underscores."""
    return name.rpartition("__")[2].lower().replace("_", "").replace("-", "")


def runs_commands(block: Mapping[str, Any]) -> bool:
    """Whether a call is one of a shell."""
    name = plain_name(str(block.get("name") or ""))
    return name in _SHELLS or "bash" in name or "shell" in name or "terminal" in name


def command_of(block: Mapping[str, Any]) -> str:
    """Return what a shell's call runs; empty for short commands and those that only change or list directories."""
    values = input_of(block)
    for key in _COMMAND_KEYS:
        value: object = values.get(key)
        if isinstance(value, list | tuple):
            value = shlex.join(str(part) for part in cast("Sequence[object]", value))
        if isinstance(value, str):
            text = value.strip()
            return "" if len(text) <= MIN_COMMAND_CHARS or _is_trivial(text) else text
    return ""


def _is_trivial(command: str) -> bool:
    """Whether a command does nothing but change or list directories: ``lsof`` is no ``ls``, ``cd x && make`` runs."""
    words = [part.split(None, 1)[0] for part in _SEPARATORS.split(command) if part.strip()]
    return all(word in _TRIVIAL for word in words)


def changed_files(block: Mapping[str, Any]) -> list[str]:
    """Return the files that a call changes, if it succeeds."""
    name, values = plain_name(str(block.get("name") or "")), input_of(block)
    if name in _PATCHERS:
        text = "\n".join(str(value) for value in values.values() if isinstance(value, str))
        return [(first or second).strip() for first, second in _PATCHED.findall(text)]
    if name not in _WRITERS or values.get("command") in _READING:
        return []
    path = path_of(values)
    return [path] if path else []


def path_of(values: Mapping[str, Any]) -> str:
    """Return the file that a call's input names; empty where it names none."""
    return next((value for key in _PATH_KEYS if isinstance(value := values.get(key), str) and value), "")


def files_of(block: Mapping[str, Any]) -> list[str]:
    """Return the files that a call changes, reads or names in its command."""
    if runs_commands(block):
        return list(focus_scan(command_of(block), ())[2])
    found = changed_files(block)
    if not found and (path := path_of(input_of(block))):
        found = [path]
    return [path.replace("\\", "/").removeprefix("./") for path in found]
