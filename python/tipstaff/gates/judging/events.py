"""Events of a batch as the native engine takes them: commands, tool calls and edits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tipstaff.errors import ConfigError
from tipstaff.gates.fields import Field, as_text, encodable, fields_of


class Prepared:
    """An event of a batch, read."""

    __slots__ = ("cwd", "dialect", "edit", "fields", "given", "is_edit", "params", "text", "tool", "tool_name")

    def __init__(self) -> None:
        self.is_edit = False
        self.edit: tuple[str, str, float] = ("", "", 0)
        self.tool: str | bytes = ""
        self.tool_name: str | None = None
        self.params: Any = None
        self.fields: list[Field] = []
        self.given: Any = ""
        self.text = ""
        self.dialect = 0
        self.cwd: str | None = None


def prepared(event: str | Mapping[str, Any]) -> Prepared:
    """Read an event.

    Raises
    ------
    ConfigError
        If it is neither a command nor a mapping with ``command``, ``tool`` or ``path``.
    """
    item = Prepared()
    if isinstance(event, str):
        item.text = event
    elif isinstance(cast("object", event), Mapping) and "command" in event:
        item.text = as_text(event["command"])
        item.cwd, item.dialect = event.get("cwd"), dialect_of(event.get("shell") or "bash")
    elif isinstance(cast("object", event), Mapping) and "tool" in event:
        item.tool_name = as_text(event["tool"])
        item.tool = encodable(item.tool_name) or " "
        item.params = event.get("params")
        item.fields = fields_of(item.params)
        item.given = [field.native() for field in item.fields]
        item.cwd, item.dialect = directory_of(item.params) or event.get("cwd"), dialect_of(event.get("shell") or "bash")
        return item
    elif isinstance(cast("object", event), Mapping) and "path" in event:
        item.is_edit = True
        item.edit = (event["path"], event.get("content", ""), event.get("diff_lines", 0))
        return item
    else:
        raise ConfigError("an event is a command, or a mapping with `command`, `tool` or `path`")
    given = encodable(item.text)
    item.given = given if isinstance(given, str) else [("command", given, -1)]
    return item


def dialect_of(shell: str) -> int:
    """Return the number of a shell or language.

    Raises
    ------
    ConfigError
        If it is not known.
    """
    from tipstaff.gates.packs.samples import SHELLS, dialect_number

    number = dialect_number(shell)
    if number is None:
        raise ConfigError(f"shell {shell!r} is not known; known are {', '.join(sorted(SHELLS))}")
    return number


def directory_of(params: Any) -> str | None:
    """Return the directory that a tool call itself names."""
    if isinstance(params, Mapping):
        table: Mapping[Any, Any] = params
        for name in ("cwd", "workdir", "working_directory", "dir_path"):
            value = table.get(name)
            if isinstance(value, str) and value.startswith("/"):
                return value
    return None
