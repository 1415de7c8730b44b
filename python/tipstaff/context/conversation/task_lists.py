"""An agent's own list of tasks, by the calls that write it: whole lists, and tools that change one task at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.calls import input_of, plain_name

_PLANNERS: Final = frozenset("todowrite updateplan writetodos todo plan updatetodos managetodolist".split())
_CREATORS: Final = frozenset("taskcreate createtask addtask todoadd".split())
_UPDATERS: Final = frozenset("taskupdate updatetask taskcomplete todoupdate".split())
_LIST_KEYS: Final = ("todos", "plan", "items", "tasks", "todoList")
_STEP_KEYS: Final = ("content", "step", "subject", "task", "title", "text", "description")
_OVER: Final = frozenset({"completed", "done", "cancelled", "canceled", "complete", "finished", "deleted"})
_NUMBER: Final = re.compile(r"#(\w{1,12})")
_MOST_CHARS: Final = 400


class TaskList:
    """The tasks of an agent, with what its calls changed.

    Parameters
    ----------
    tasks
        Open ones that are known.

    Attributes
    ----------
    listed
        Whether a call wrote or changed a list.
    """

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
