"""What the tools of an MCP server said of themselves when they were first seen; a change is asked about."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from tipstaff.gates.redaction import redact_data
from tipstaff.store import waiting
from tipstaff.store.replacing import replaced_file
from tipstaff.store.state import make_private, state_folder
from tipstaff.store.untrusted import read_untrusted

_MEANINGS: Final = (
    ("command", re.compile(r"\b(shell|bash|command line|command to (run|execute)|terminal)\b", re.IGNORECASE)),
    ("file_path", re.compile(r"\b(file|path|folder|directory)\b", re.IGNORECASE)),
)
"""What a parameter is by its description, and the name under which the gates know that."""


class Pins:
    """The pinned tools of one server, in the owner's state folder.

    Parameters
    ----------
    name, command
        The server's name, and how it is started: another command is another server.
    root
        The repository, for the person who is asked.
    """

    def __init__(self, name: str, command: Sequence[str], root: Path) -> None:
        key = hashlib.sha256("\0".join([name, *command]).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._path = state_folder() / "mcp" / f"{key}.json"
        self._name = name
        self._root = str(root)
        self._lock = threading.Lock()
        self._changed: set[str] = set()
        self._meanings: dict[str, dict[str, str]] = {}
        try:
            found = msgspec.json.decode(read_untrusted(self._path), type=dict[str, str])
        except (OSError, msgspec.DecodeError):
            found = dict[str, str]()
        self._pinned = found

    def is_changed(self, name: str) -> bool:
        """Return whether a tool waits for a person because it says something else of itself."""
        return name in self._changed

    def look(self, tool: Mapping[str, Any]) -> bool:
        """Pin a tool that is new; return whether it is as it was, or as a person allowed it to be."""
        name = tool["name"]
        said = {key: tool.get(key) for key in ("description", "inputSchema", "outputSchema", "annotations", "title")}
        digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
        with self._lock:
            self._meanings[name] = _meanings(tool.get("inputSchema"))
            if self._pinned.get(name, digest) != digest and not self._is_allowed(name, digest, said):
                self._changed.add(name)
                return False
            self._changed.discard(name)
            if self._pinned.get(name) != digest:
                self._pinned[name] = digest
                make_private(self._path.parent)
                with replaced_file(self._path) as file:
                    file.write(msgspec.json.encode(self._pinned))
        return True

    def with_meaning(self, name: str, arguments: Any) -> Any:
        """Return the arguments of a call; those that are commands or paths by description under such a name too."""
        known = self._meanings.get(name)
        if not known or not isinstance(arguments, dict):
            return arguments
        more = {
            meaning: value for field, meaning in known.items()
            if isinstance(value := arguments.get(field), str) and meaning not in arguments
        }  # fmt: skip
        return {**arguments, **more}

    def _is_allowed(self, name: str, digest: str, said: Mapping[str, Any]) -> bool:
        tool = f"description of mcp__{self._name}__{name}"
        subject = waiting.subject_of(tool, self._root, digest.encode(), ())
        state = state_folder()
        if waiting.take_answer(state, subject) == "allowed":
            return True
        waiting.leave(state, {
            "code": waiting.code_of(subject), "subject": subject, "asked": int(time.time()),
            "host": f"mcp {self._name}",
            "tool": tool, "cwd": self._root,
            "reason": "What the tool says of itself has changed since it was first seen.",
            "findings": [], "fields": redact_data(dict(said)), "scripts": [], "more_scripts": 0,
        })  # fmt: skip
        return False


def _meanings(schema: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    properties: Any = schema.get("properties") if isinstance(schema, dict) else None
    for field, about in (properties if isinstance(properties, dict) else {}).items():
        text = str(about.get("description") or about.get("title") or "") if isinstance(about, dict) else ""
        meaning = next((name for name, words in _MEANINGS if words.search(text)), "")
        if meaning and meaning not in found.values():
            found[str(field)] = meaning
    return found
