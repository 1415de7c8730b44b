"""What was taken out of a conversation, kept on disk so that the model can ask for it by the id in its stub."""

from __future__ import annotations

import contextlib
import hashlib
import re
from pathlib import Path
from typing import Any, Final

from tipstaff.context.conversation.messages import Block, call_input_json, text_of
from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder
from tipstaff.errors import SourceNotFoundError, StoreWriteError
from tipstaff.gates.secrets.scanner import redact
from tipstaff.store.replacing import replaced_file

MAX_KEPT_BYTES: Final = 32 << 20
"""Of a session; the oldest go."""
MAX_TEXT_CHARS: Final = 2_000_000
_ID: Final = re.compile(r"[0-9a-f]{12}")
RECALL_TOOL: Final[dict[str, Any]] = {
    "name": "recall",
    "description": (
        "Returns the whole text of a part of this conversation that was shortened: give the id that stands in its "
        "place, as in [content pruned: ...; whole: recall 0123456789ab]."
    ),
    "input_schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
}
"""The definition of a tool that the caller answers with `ContextSession.recall`."""


class RecallStore:
    """The texts that a session took out, masked, each once.

    Parameters
    ----------
    folder, session_id
        Where the session is recorded.
    """

    def __init__(self, folder: SnapshotFolder, session_id: str) -> None:
        self._folder = folder
        self._session = session_id
        self._kept: set[str] = set()

    def __call__(self, block: Block) -> str | None:
        """Keep a block that is taken out; return where it is, None where it could not be kept."""
        kind = str(block.get("type", ""))
        text = text_of(block.get("content")) if kind.endswith("tool_result") else str(block.get("text") or "")
        text = text or (call_input_json(block) if "input" in block else "")
        if not text.strip():
            return None
        name = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        if name not in self._kept:
            try:
                self._keep(name, redact(text[:MAX_TEXT_CHARS]))
            except (StoreWriteError, OSError):
                return None
            self._kept.add(name)
        return f"recall {name}"

    def text(self, recall_id: str) -> str:
        """Return what was kept under an id.

        Raises
        ------
        SourceNotFoundError
            If nothing is.
        """
        found = _ID.search(recall_id)
        path = self._path() / f"{found.group()}.txt" if found is not None else None
        if path is None or not path.is_file():
            raise SourceNotFoundError(2, f"nothing is kept under {recall_id!r}; it may have been too long ago")
        return path.read_text("utf-8")

    def _path(self) -> Path:
        return self._folder.folder_of(self._session) / "recall"

    def _keep(self, name: str, text: str) -> None:
        self._folder.made(self._session)
        folder = self._path()
        folder.mkdir(mode=0o700, exist_ok=True)
        with replaced_file(folder / f"{name}.txt", durable=False) as file:
            file.write(text.encode("utf-8", "replace"))
        files = sorted(folder.glob("*.txt"), key=lambda one: one.stat().st_mtime_ns)
        size = sum(one.stat().st_size for one in files)
        for old in files[:-1]:
            if size <= MAX_KEPT_BYTES:
                break
            size -= old.stat().st_size
            with contextlib.suppress(OSError):
                old.unlink()
