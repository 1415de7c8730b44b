"""What an agent's tool calls do, by their names and inputs: changed files, commands, its own list of tasks."""

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


_PLANNERS: Final = frozenset("todowrite updateplan writetodos todo plan updatetodos managetodolist".split())
_CREATORS: Final = frozenset("taskcreate createtask addtask todoadd".split())
_UPDATERS: Final = frozenset("taskupdate updatetask taskcomplete todoupdate".split())
_LIST_KEYS: Final = ("todos", "plan", "items", "tasks", "todoList")
_STEP_KEYS: Final = ("content", "step", "subject", "task", "title", "text", "description")
_OVER: Final = frozenset({"completed", "done", "cancelled", "canceled", "complete", "finished", "deleted"})
_NUMBER: Final = re.compile(r"#(\w{1,12})")
_MOST_CHARS: Final = 400


class TaskList:
    """The tasks of an agent, with what its calls changed; `listed` is whether a call wrote or changed a list."""

    def __init__(self, tasks: Sequence[str] = ()) -> None:
        self.listed = False
        self._tasks: dict[str, str] = {}
        self._created: dict[str, str] = {}
        for position, text in enumerate(tasks):
            number = re.match(r"#(\w{1,12}) ", text)
            self._tasks[number.group(1) if number else f"-{position}"] = text

    def open(self) -> tuple[str, ...]:
        """Return what is open."""
        return tuple(self._tasks.values())

    def call(self, block: Mapping[str, Any]) -> bool:
        """Take a call; return whether it is one of a list's."""
        name, values = plain_name(str(block.get("name") or "")), input_of(block)
        if name in _PLANNERS:
            listed = next((values[key] for key in _LIST_KEYS if isinstance(values.get(key), list | tuple)), None)
            if listed is None:
                return False
            self._tasks = {
                f"-{n}": text for n, one in enumerate(cast("Sequence[object]", listed)) if (text := _open(one))
            }
        elif name in _CREATORS:
            if text := _open(values):
                self._created[str(block.get("id"))] = text
                self._tasks[str(block.get("id"))] = text
        elif name in _UPDATERS:
            key = str(values.get("taskId") or values.get("task_id") or values.get("id") or "").lstrip("#")
            over = str(values.get("status", "completed" if name == "taskcomplete" else "")).lower() in _OVER
            if over:
                self._tasks.pop(key, None)
            elif (text := _open(values)) and key in self._tasks:
                self._tasks[key] = f"#{key} {text}"
        else:
            return False
        self.listed = True
        return True

    def result(self, call: str, output: str) -> None:
        """Take a result: it gives a created task its number."""
        text = self._created.pop(call, None)
        number = _NUMBER.search(output) if text is not None else None
        if text is not None and number is not None and call in self._tasks:
            del self._tasks[call]
            self._tasks[number.group(1)] = f"#{number.group(1)} {text}"


def _open(one: object) -> str:
    """Return the text of a step that is not over; empty for others."""
    if isinstance(one, str):
        return one[:_MOST_CHARS]
    if not isinstance(one, Mapping):
        return ""
    step = cast("Mapping[str, Any]", one)
    text = next((str(step[name]) for name in _STEP_KEYS if isinstance(step.get(name), str)), "")
    return "" if str(step.get("status", "")).lower() in _OVER else " ".join(text.split())[:_MOST_CHARS]
