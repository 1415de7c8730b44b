"""What a conversation did, taken from its calls and results before they are summarised: no model, nothing invented.

Files that were changed, commands that were run, errors that came back; each once, in the order in which it came last.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.messages import CALLS, Message, blocks_of, call_input_json, text_of
from tipstaff.context.prompt.graphemes import floor_boundary
from tipstaff.model import Record

MAX_COMMAND_CHARS: Final = 100
MAX_ERROR_CHARS: Final = 200
MIN_COMMAND_CHARS: Final = 10
"""Commands of no more characters than this say little: they are left out."""

_OPEN: Final = "<facts>"
_CLOSE: Final = "</facts>"
_LABELS: Final = {"files": "changed file", "commands": "ran", "errors": "error"}

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
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\+\+\+ (?:b/)?(?!/dev/null)([^\t\n]+)", re.MULTILINE)
_SEPARATORS = re.compile(r"&&|\|\||[;|&\n]")
_TRIVIAL: Final = frozenset({"cd", "ls", "pwd"})
_SPACE = re.compile(r"\s+")


class Facts(Record, frozen=True):
    """What was done.

    Attributes
    ----------
    files
        Paths that were written, edited or patched, as the calls named them.
    commands
        Shell commands on one line, at most 100 characters, ``...`` where one was cut. Neither short ones nor those that
        only change or list a directory.
    errors
        What failing tools said, on one line, at most 200 characters.
    """

    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def items(self) -> tuple[str, ...]:
        """Return each fact as a sentence."""
        return (
            *(f"Modified file: {one}" for one in self.files),
            *(f"Executed: {one}" for one in self.commands),
            *(f"Error encountered: {one}" for one in self.errors),
        )

    def merged(self, later: Facts) -> Facts:
        """Return these facts and later ones, each once."""
        return Facts(
            _each_last((*self.files, *later.files)),
            _each_last((*self.commands, *later.commands)),
            _each_last((*self.errors, *later.errors)),
        )

    def latest(self, n: int) -> Facts:
        """Return the last `n` of each kind."""
        return Facts(*(values[-n:] if n > 0 else () for values in (self.files, self.commands, self.errors)))

    def render(self) -> str:
        """Return the facts as a block of text that `read_facts` reads back; empty without any."""
        if not (self.files or self.commands or self.errors):
            return ""
        lines = [
            f"- {label}: {_quoted(value)}"
            for name, label in _LABELS.items()
            for value in cast("tuple[str, ...]", getattr(self, name))
        ]
        return "\n".join((_OPEN, *lines, _CLOSE))


def read_facts(text: str) -> Facts:
    """Return the facts that `Facts.render` wrote into a text; lines that are none are passed over."""
    _, found, rest = text.partition(f"{_OPEN}\n")
    body, closed, _ = rest.partition(f"\n{_CLOSE}")
    kinds: dict[str, list[str]] = {name: [] for name in _LABELS}
    if found and closed:
        for line in body.split("\n"):
            for name, label in _LABELS.items():
                prefix = f"- {label}: "
                if line.startswith(prefix):
                    try:
                        value: object = json.loads(line[len(prefix) :])
                    except ValueError:
                        continue
                    if isinstance(value, str):
                        kinds[name].append(value)
    return Facts(tuple(kinds["files"]), tuple(kinds["commands"]), tuple(kinds["errors"]))


def extract_facts(messages: Sequence[Message]) -> Facts:
    """Return what a conversation did. A file whose change failed was not changed; its error is told."""
    failed: set[str] = set()
    errors: list[str] = []
    for message in messages:
        for block in blocks_of(message):
            if str(block.get("type", "")).endswith("tool_result") and block.get("is_error") is True:
                failed.add(str(block.get("tool_use_id")))
                said = text_of(block.get("content")).strip()
                if said and said != "null":
                    errors.append(_cut(said, MAX_ERROR_CHARS))
    files: list[str] = []
    commands: list[str] = []
    for message in messages:
        for block in blocks_of(message):
            if block.get("type") not in CALLS:
                continue
            values = _input(block)
            name = _plain_name(str(block.get("name") or ""))
            if name in _SHELLS:
                commands += _command(values)
            elif str(block.get("id")) not in failed:
                files += _changed(name, values)
    return Facts(_each_last(files), _each_last(commands), _each_last(errors))


def _input(block: Mapping[str, Any]) -> Mapping[str, Any]:
    value: object = block.get("input")
    if not isinstance(value, Mapping):
        try:
            value = json.loads(call_input_json(block) or "{}")
        except ValueError:
            return {}
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _plain_name(name: str) -> str:
    return name.rpartition("__")[2].lower().replace("_", "").replace("-", "")


def _command(values: Mapping[str, Any]) -> list[str]:
    for key in _COMMAND_KEYS:
        value: object = values.get(key)
        if isinstance(value, list | tuple):
            value = shlex.join(str(part) for part in cast("Sequence[object]", value))
        if isinstance(value, str):
            text = value.strip()
            return [] if len(text) <= MIN_COMMAND_CHARS or _is_trivial(text) else [_cut(text, MAX_COMMAND_CHARS)]
    return []


def _is_trivial(command: str) -> bool:
    """Whether a command does nothing but change or list directories: ``lsof`` is no ``ls``, ``cd x && make`` runs."""
    words = [part.split(None, 1)[0] for part in _SEPARATORS.split(command) if part.strip()]
    return all(word in _TRIVIAL for word in words)


def _changed(name: str, values: Mapping[str, Any]) -> list[str]:
    if name in _PATCHERS:
        text = "\n".join(str(value) for value in values.values() if isinstance(value, str))
        return [(first or second).strip() for first, second in _PATCHED.findall(text)]
    if name not in _WRITERS or values.get("command") in _READING:
        return []
    for key in _PATH_KEYS:
        value: object = values.get(key)
        if isinstance(value, str) and value:
            return [value]
    return []


def _cut(text: str, most: int) -> str:
    line = _SPACE.sub(" ", text).strip()
    return line if len(line) <= most else line[: floor_boundary(line, most)] + "..."


def _quoted(text: str) -> str:
    # An angle bracket in a quoted text must not end the block.
    return json.dumps(text, ensure_ascii=False).replace("<", "\\u003c")


def _each_last(values: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for value in values:
        found.pop(value, None)
        found[value] = None
    return tuple(found)
