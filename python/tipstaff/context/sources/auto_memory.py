"""What sessions learned, for later ones: a Markdown file for people and for the tier Auto-Memory.

What the user demanded, what was decided, which files were changed, which commands failed and why. What supports
itself is written there; where the evidence is thin (an error seen once says little about the next session) a candidate
is observed instead, if there is a store of them, and has to prove itself.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import fcntl
import os
import re
import unicodedata
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from tipstaff.errors import ConfigError, StoreDamagedError, StoreWriteError
from tipstaff.store.inside import refuse_links_out
from tipstaff.store.replacing import replaced_file, write_error

if TYPE_CHECKING:
    from tipstaff.context.candidates.store import CandidateStore

AUTO_MEMORY: Final = ".tipstaff/auto-memory.md"
MAX_ENTRIES: Final = 60
"""Of each kind; the oldest go."""

MAX_ENTRY_CHARS: Final = 300
_MAX_BYTES: Final = 1 << 20
_HEADINGS: Final = {
    "constraints": "What the user demanded",
    "decisions": "What was decided",
    "failures": "Commands that failed, and why",
    "files": "Files that were changed",
}
_ENTRY: Final = re.compile(r"^- (.*?)(?: \(session [^()]*\))?$")
_STRONG: Final = re.compile(
    r"\b(?:never|always|must(?:n't)?|do not|don't|only|shall|forbidden|not allowed|prefer|nie|niemals|immer|muss|darf|"
    r"nunca|siempre|jamais|toujours|sempre)\b|никогда|всегда|нельзя|должн|不要|不得|禁止|必须|必須|务必|しない|ないで|必ず|"
    r"하지\s?마|반드시|항상|절대|हमेशा|कभी|ต้อง|ห้าม|لا\s|يجب",
    re.IGNORECASE,
)


class AutoMemory:
    """The file of what sessions learned.

    Parameters
    ----------
    path
        The file; its folder is made when something is first written.

    Attributes
    ----------
    written
        The lines that were added through this object: who wrote them need not be shown them.

    Notes
    -----
    Entries are written under a lock, to a temporary file that takes the place of the old one. Lines that are not its
    own (a person's notes) stay. Each entry occurs once.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.written: set[str] = set()

    @classmethod
    def of_project(cls, root: str | os.PathLike[str]) -> Self:
        """Return the memory of a project, where the tier Auto-Memory reads it."""
        return cls(Path(root) / AUTO_MEMORY)

    def remember(self, entries: Mapping[str, Iterable[str]], session: str = "", *, today: dt.date | None = None) -> int:
        """Add what is not there yet, and return how many entries that was.

        Parameters
        ----------
        entries
            By kind: ``constraints``, ``decisions``, ``failures``, ``files``.
        session
            Its name, which is written beside them with the date.
        today
            The date; the local one by default.

        Raises
        ------
        ConfigError
            If a kind is not known.
        StoreWriteError
            If the file cannot be read or written.
        """
        unknown = sorted(set(entries) - set(_HEADINGS))
        if unknown:
            msg = f"auto-memory: expected kinds among {', '.join(_HEADINGS)}, got {unknown[0]!r}"
            raise ConfigError(msg)
        new = {kind: list(dict.fromkeys(filter(None, map(_line, entries[kind])))) for kind in entries}
        if not any(new.values()):
            return 0
        note = f" (session {_line(session).replace('(', '').replace(')', '') or 'unknown'}, {today or dt.date.today()})"
        with self._alone():
            head, found = self._read()
            added = 0
            for kind, texts in new.items():
                known = {_text(line) for line in found[kind]}
                fresh = [f"- {text}{note}" for text in texts if text not in known]
                added += len(fresh)
                self.written.update(fresh)
                found[kind] = (found[kind] + fresh)[-MAX_ENTRIES:]
            if added:
                parts = [head.strip()] if head.strip() else []
                parts += [f"## {_HEADINGS[kind]}\n\n" + "\n".join(lines) for kind, lines in found.items() if lines]
                with replaced_file(self.path) as file:
                    file.write(("\n\n".join(parts) + "\n").encode("utf-8"))
        return added

    def without_written(self, text: str) -> str:
        """Return the text of a memory without lines that were added through this object, and headings of nothing."""
        kept: list[str] = []
        under_heading = False
        for line in reversed(text.split("\n")):
            if line in self.written or (line.startswith("## ") and not under_heading):
                continue
            under_heading = not line.startswith("## ") and (under_heading or bool(line.strip()))
            kept.append(line)
        return "\n".join(reversed(kept))

    def _read(self) -> tuple[str, dict[str, list[str]]]:
        """Return what others wrote, and the entries of each kind."""
        found: dict[str, list[str]] = {kind: [] for kind in _HEADINGS}
        kinds = {f"## {heading}": kind for kind, heading in _HEADINGS.items()}
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return "", found
        except OSError as error:
            raise write_error(self.path, error) from error
        if len(data) > _MAX_BYTES:
            msg = f"{self.path}: more than {_MAX_BYTES:,} bytes; nothing is added to it"
            raise StoreWriteError(msg)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            msg = f"{self.path}: not UTF-8 at byte {error.start}; nothing is added to it"
            raise StoreWriteError(msg) from error
        others: list[str] = []
        kind = ""
        for line in text.split("\n"):
            if line.startswith("#"):
                kind = kinds.get(line.strip(), "")
            if kind and line.startswith("- "):
                found[kind].append(line)
            elif not (kind and (not line.strip() or line.strip() in kinds)):
                others.append(line)
        return "\n".join(others), found

    @contextlib.contextmanager
    def _alone(self) -> Generator[None]:
        lock = self.path.with_name(f".{self.path.name}.lock")
        try:
            refuse_links_out(self.path)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except StoreWriteError:
            raise
        except OSError as error:
            raise write_error(lock, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def flush(
    facts: Mapping[str, tuple[str, ...]], memory: AutoMemory, candidates: CandidateStore | None, session: str
) -> tuple[str, ...]:
    """Write what a session learned to memory; return what could not be written, in one sentence each.

    Parameters
    ----------
    facts
        By kind; ``errors`` are those that no failed command explains.
    memory, candidates
        Where it goes. Errors and failed commands are thin evidence: with a store of candidates, they are observed
        there.
    session
        Its name.
    """
    entries = {
        "constraints": [f'The user said: "{text}"' for text in facts.get("constraints", ()) if _STRONG.search(text)],
        "decisions": list(facts.get("decisions", ())),
        "failures": list(facts.get("failures", ())),
        "files": [f"`{path}`" for path in facts.get("files", ())],
    }
    problems: list[str] = []
    try:
        memory.remember({kind: texts[-MAX_ENTRIES:] for kind, texts in entries.items()}, session)
    except StoreWriteError as error:
        problems.append(f"what was learned was not written: {error}")
    thin = [*facts.get("failures", ()), *facts.get("errors", ())][-20:]
    if candidates is not None and thin:
        try:
            candidates.upsert_many(
                {
                    "content": f"Seen to fail: {_line(text)}",
                    "score": 0.4,
                    "kind": "ERROR_RECOVERY",
                    "category": "ERROR_RECOVERY",
                    "failure_delta": 1,
                    "source_ref": session,
                }
                for text in thin
            )
        except (ConfigError, StoreWriteError, StoreDamagedError) as error:
            problems.append(f"candidates were not observed: {error}")
    return tuple(problems)


def _line(text: str) -> str:
    """Return a text on one line, without characters that are invisible or change the direction of writing."""
    kept = [
        " " if char.isspace() else char
        for char in text
        if char.isspace() or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn"}
    ]
    line = " ".join("".join(kept).split()).lstrip("#- ")
    return line if len(line) <= MAX_ENTRY_CHARS else line[: MAX_ENTRY_CHARS - 1].rstrip() + "\u2026"


def _text(line: str) -> str:
    match = _ENTRY.match(line)
    return match.group(1) if match is not None else line
