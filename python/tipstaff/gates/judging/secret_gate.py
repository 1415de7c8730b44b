"""The secrets gate: secrets in what an agent is about to run, write or send."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tipstaff.gates.fields import Field, encodable
from tipstaff.gates.secrets.scanner import Scanner, SecretFinding, default_scanner, scan_secrets
from tipstaff.kernels import _gates

_PAIR_CHARS: Final = 512
_MOST_TRIALS: Final = 256  # values of one text of which each is looked at for a trial; the hook has room for 512
_DECISIONS: Final = {"low": "warn", "medium": "require-confirmation"}
_COMMAND_FIELDS: Final = frozenset(
    {"command", "cmd", "commands", "shell_command", "bash", "shell", "command_line", "script", "chars", "argv"}
)
_PATH_FIELDS: Final = frozenset({"file_path", "path", "filename", "file", "target_file", "notebook_path", "filepath"})


def find_secrets(
    texts: Sequence[tuple[str, str]],
    pairs: Sequence[Field] = (),
    *,
    scanner: Scanner | None = None,
    cwd: str | None = None,
) -> list[dict[str, Any]]:
    """Return the secrets of texts, masked, each value once.

    Parameters
    ----------
    texts
        Field and text.
    pairs
        Fields whose name may say that their short value is a secret: ``password`` and what it holds; and the path of
        the file that is written.
    scanner
        One over a repository's rules; that of the package if None.
    cwd
        The folder that the call works in, if known: what is above the repository makes no file one of tests.

    Returns
    -------
    list of dict
        ``rule_id, decision, start, end, redacted, severity, field`` of each. A provider's token is a ``block``, and so
        is what only its name calls a secret where it would be written into a file, unless that is one of tests. In a
        command that is a ``require-confirmation``, a weak sign of one a ``warn``, and neither is in the list where it
        belongs to a trial: a value that everybody knows, a service on this machine, a file of tests.
    """
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    used = default_scanner() if scanner is None else scanner
    path = next((pair.text for pair in pairs if pair.name.lower() in _PATH_FIELDS), "")
    for field, text in texts:
        encoded = _Encoded(text)
        for item in scan_secrets(text, wary=True, scanner=used):
            value = text[item.start : item.end]
            if value in seen:
                continue
            seen.add(value)
            decision = _decision(item, encoded, path, used, cwd, command=_is_command(field))
            if decision is not None:
                found.append(_entry(item, decision, item.start, item.end, item.redacted, field))
    for pair in pairs:
        if pair.name and 0 < len(pair.text) <= _PAIR_CHARS and pair.text not in seen:
            found.extend(_of_pair(pair, seen, path, used, cwd))
    return found


def without_former(tool: str, field: Field) -> Field:
    """Return a field with blanks for what the call takes away: taking a secret away is what is wanted.

    That is the former text of an edit, the first half of a SEARCH/REPLACE block, and the lines that a patch removes.
    """
    kept: list[str] = []
    at = 0
    for start, end in _gates.former_parts(encodable(tool), *field.native()[:2]):
        kept += field.text[at:start], " " * (end - start)
        at = end
    return field._replace(text="".join([*kept, field.text[at:]])) if kept else field


def _is_command(field: str) -> bool:
    return field.rpartition(".")[2].partition("[")[0].lower() in _COMMAND_FIELDS


class _Encoded:
    """A text in UTF-8: encoded once, however many values of it are asked about."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked = 0
        self._whole: bytes | None = None
        self._chars = self._bytes = 0  # of the last place asked for

    @property
    def whole(self) -> bytes:
        if self._whole is None:
            self._whole = self.text.encode("utf-8", "surrogatepass")
        return self._whole

    def place(self, chars: int) -> int:
        """Return where a character is in the bytes; quick where places are asked for in order."""
        if chars < self._chars:
            self._chars = self._bytes = 0
        self._bytes += len(self.text[self._chars : chars].encode("utf-8", "surrogatepass"))
        self._chars = chars
        return self._bytes


def _decision(
    item: SecretFinding, text: _Encoded, path: str, scanner: Scanner, cwd: str | None, *, command: bool
) -> str | None:
    decision = _DECISIONS.get(item.severity)
    if decision is None:
        return "block"
    root = os.fsencode(_root_of(path, cwd))
    if not command:
        return None if scanner.table.trial(b"#", 0, 1, path.encode("utf-8", "surrogatepass"), root) else "block"
    text.asked += 1
    if text.asked > _MOST_TRIALS:
        return decision
    start, end, file = text.place(item.start), text.place(item.end), path.encode("utf-8", "surrogatepass")
    return None if scanner.table.trial(text.whole, start, end, file, root) else decision


def _root_of(path: str, cwd: str | None) -> str:
    """Return the folder of the repository that a file is in, or the one that the call works in."""
    if path.startswith("/") and "\0" not in path:
        for folder in itertools.islice(Path(os.path.normpath(path)).parents, 64):
            if os.path.lexists(folder / ".git"):
                return str(folder)
    return os.fspath(cwd) if cwd else ""


def _entry(item: SecretFinding, decision: str, start: int, end: int, redacted: str, field: str) -> dict[str, Any]:
    return {
        "rule_id": item.rule_id,
        "decision": decision,
        "start": start,
        "end": end,
        "redacted": redacted,
        "severity": item.severity,
        "field": field,
    }


def _of_pair(field: Field, seen: set[str], path: str, scanner: Scanner, cwd: str | None) -> list[dict[str, Any]]:
    head = f"{json.dumps(field.name, ensure_ascii=False)}: "
    body = json.dumps(field.text, ensure_ascii=False)
    plain = len(body) == len(field.text) + 2
    found: list[dict[str, Any]] = []
    for item in scan_secrets(head + body, wary=True, scanner=scanner):
        start, end = item.start - len(head) - 1, item.end - len(head) - 1
        if start < 0 or not plain:
            start, end = 0, len(field.text)
        value = field.text[start:end]
        if any(value in other or other in value for other in seen):
            continue
        seen.add(value)
        decision = _decision(item, _Encoded(head + body), path, scanner, cwd, command=False)
        if decision is not None:
            redacted = item.redacted if plain else "*" * (end - start)
            found.append(_entry(item, decision, start, end, redacted, field.path))
    return found
