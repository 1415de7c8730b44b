"""What sessions learned, for later ones: a Markdown file for people and for the tier Auto-Memory.

What the user demanded and prefers, what was decided and found out, which commands failed and why: few entries of a
session, dated, with their source; a later one replaces an earlier one about the same thing. What a secret scanner finds
is never written. Where the evidence is thin (an error seen once says little about the next session) a candidate is
observed instead, if there is a store of them, and has to prove itself.
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
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from tipstaff.context.shortening.facts import Facts, in_force
from tipstaff.errors import ConfigError, StoreDamagedError, StoreWriteError
from tipstaff.gates.secrets.scanner import redact
from tipstaff.store.inside import refuse_links_out
from tipstaff.store.replacing import replaced_file, write_error
from tipstaff.store.untrusted import read_untrusted

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
    "findings": "What was found out",
    "failures": "Commands that failed, and why",
    "files": "Files that were changed",
}
_ENTRY: Final = re.compile(r"^- (.*?)(?: \(session ([^()]*), ([\d-]+)\))?$")
_MOST: Final = {"constraints": 10, "decisions": 6, "findings": 12, "failures": 6, "files": 1}
"""New entries of one session, by kind."""
_MOST_FILES: Final = 8
_PLAIN_REQUEST: Final = re.compile(
    r"\A(?:now |so |ok |and |then |please |just )*(?:can|could|would|will) (?:we|you|i)\b|"
    r"\A(?:here|this|that|it|why|what|how|where)\b|"
    r"\b(?:do(?:n't| not) see|the question is|should we|do we|can we|i think agent)\b",
    re.IGNORECASE,
)
_FIRM: Final = re.compile(r"\b(?:always|never|must|every|each|only|don't|do not|no longer|should)\b", re.IGNORECASE)
_TELLING: Final = re.compile(r"[`\"/_<>#]|[a-z][A-Z]|\b[A-Z][a-z]+ ?[A-Z]\w+|\d")
_NO_CAUSE: Final = re.compile(r"exit(?:ed)? (?:with )?(?:code|status)|no reason given|\Atimed out", re.IGNORECASE)
_ONCE: Final = re.compile(
    r"<<|\s-[ce]\s|\A(?:cd \S+ && )?(?:grep|rg|find|fd|ls|cat|head|tail|sed|awk|ps|lsof|kill|rm|mv|cp|echo|which|wc)\b"
)
"""Commands that look around or carry a script along: nobody runs them again."""
_OF_THE_TALK: Final = re.compile(
    r"\b(?:you|your|you're|you’re)\b|\A\W*(?:i|i'm|i’m|let me|so|then|while|therefore|thus|if so)\b|:\Z|\A\||\?",
    re.IGNORECASE,
)
"""What says something to whoever was there: replies, links between sentences, what introduces a list."""


class MemoryEntry(NamedTuple):
    """An entry of a memory, numbered from 1 on in the order of the file.

    Session and date are empty where a person wrote it.
    """

    number: int
    kind: str
    text: str
    session: str
    date: str


class AutoMemory:
    """The file of what sessions learned; its folder is made when something is first written.

    Entries are written under a lock, to a temporary file that takes the place of the old one. Lines that are not its
    own (a person's notes) stay. Each entry occurs once. `written` are the lines that were added through this object:
    who wrote them need not be shown them.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.written: set[str] = set()

    @classmethod
    def of_project(cls, root: str | os.PathLike[str]) -> Self:
        """Return the memory of a project, where the tier Auto-Memory reads it."""
        return cls(Path(root) / AUTO_MEMORY)

    def remember(self, entries: Mapping[str, Iterable[str]], session: str = "", *, today: dt.date | None = None) -> int:
        """Add what is not there yet, by kind, and return how many entries that was.

        Session and date are written beside them. Raises `ConfigError` if a kind is not known, and `StoreWriteError` if
        the file cannot be read or written.
        """
        unknown = sorted(set(entries) - set(_HEADINGS))
        if unknown:
            raise ConfigError(f"auto-memory: expected kinds among {', '.join(_HEADINGS)}, got {unknown[0]!r}")
        new = {kind: list(dict.fromkeys(filter(None, map(redact, map(_line, entries[kind]))))) for kind in entries}
        if not any(new.values()):
            return 0
        note = f" (session {_line(session).replace('(', '').replace(')', '') or 'unknown'}, {today or dt.date.today()})"
        with self._alone():
            head, found = self._read()
            added, changed = 0, False
            for kind, texts in new.items():
                known = {_text(line): line for line in found[kind]}
                fresh = [text for text in texts if text not in known]
                # What is said again is said last; what it replaces goes.
                kept = in_force([*known, *texts])[-MAX_ENTRIES:]
                lines = [known.get(text, f"- {text}{note}") for text in kept]
                added += len(fresh)
                self.written.update(f"- {text}{note}" for text in fresh)
                changed = changed or lines != found[kind]
                found[kind] = lines
            if changed:
                self._write(head, found)
        return added

    def entries(self) -> tuple[MemoryEntry, ...]:
        """Return what is remembered, in the order of the file.

        Raises `StoreWriteError` if the file cannot be read.
        """
        _, found = self._read()
        listed = [(kind, match) for kind, lines in found.items() for line in lines if (match := _ENTRY.match(line))]
        return tuple(
            MemoryEntry(number, kind, match[1], match[2] or "", match[3] or "")
            for number, (kind, match) in enumerate(listed, 1)
        )

    def change(self, number: int, text: str | None) -> MemoryEntry:
        """Give an entry another text, or drop it where `text` is None; return what it was.

        Raises `ConfigError` if there is no such entry, or the new text is blank. Raises `StoreWriteError` if the file
        cannot be read or written.
        """
        with self._alone():
            head, found = self._read()
            entry = next((one for one in self.entries() if one.number == number), None)
            if entry is None or (text is not None and not _line(text)):
                msg = f"memory: there is no entry {number}" if entry is None else "memory: the new text is blank"
                raise ConfigError(msg)
            lines = found[entry.kind]
            at = next(at for at, line in enumerate(lines) if _text(line) == entry.text)
            lines[at : at + 1] = [] if text is None else [f"- {redact(_line(text))}"]
            self._write(head, found)
        return entry

    def _write(self, head: str, found: Mapping[str, list[str]]) -> None:
        parts = [head.strip()] if head.strip() else []
        parts += [f"## {_HEADINGS[kind]}\n\n" + "\n".join(lines) for kind, lines in found.items() if lines]
        with replaced_file(self.path) as file:
            file.write(("\n\n".join(parts) + "\n").encode("utf-8"))

    def without_written(self, text: str, session: str = "") -> str:
        """Return the text of a memory without what this session wrote, and headings of nothing.

        What was added through this object, and by a session of this name before it ended: the conversation holds it.
        """
        own = f" (session {session}, " if session else "\0"
        kept: list[str] = []
        under_heading = False
        for line in reversed(text.split("\n")):
            if line in self.written or own in line or (line.startswith("## ") and not under_heading):
                continue
            under_heading = not line.startswith("## ") and (under_heading or bool(line.strip()))
            kept.append(line)
        return "\n".join(reversed(kept))

    def _read(self) -> tuple[str, dict[str, list[str]]]:
        """Return what others wrote, and the entries of each kind."""
        found: dict[str, list[str]] = {kind: [] for kind in _HEADINGS}
        kinds = {f"## {heading}": kind for kind, heading in _HEADINGS.items()}
        try:
            data = read_untrusted(self.path)
        except FileNotFoundError:
            return "", found
        except OSError as error:
            raise write_error(self.path, error) from error
        if len(data) > _MAX_BYTES:
            raise StoreWriteError(f"{self.path}: more than {_MAX_BYTES:,} bytes; nothing is added to it")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise StoreWriteError(f"{self.path}: not UTF-8 at byte {error.start}; nothing is added to it") from error
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


def flush(facts: Facts, memory: AutoMemory, candidates: CandidateStore | None, session: str) -> tuple[str, ...]:
    """Write what a session learned to memory; return what could not be written, in one sentence each.

    Errors and failed commands are thin evidence: with a store of candidates, they are observed there.
    """
    entries = worth_remembering(facts)
    problems: list[str] = []
    try:
        memory.remember(entries, session)
    except StoreWriteError as error:
        problems.append(f"what was learned was not written: {error}")
    thin = [*facts.failures, *facts.errors][-20:]
    if candidates is not None and thin:
        try:
            candidates.upsert_many(
                {
                    "content": f"Seen to fail: {redact(_line(text))}",
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


def worth_remembering(facts: Facts) -> dict[str, list[str]]:
    """Return what of a session's facts is worth knowing in later ones, by kind: few of each, the most telling."""
    said = dict.fromkeys(facts.constraints, 2) | dict.fromkeys(facts.preferences, 0)
    users = _best([(text, points + _points(text)) for text, points in said.items()], _MOST["constraints"])
    stated = {name: [one.replace("**", "") for one in getattr(facts, name)] for name in ("decisions", "findings")}
    stated = {name: [one for one in some if not _OF_THE_TALK.search(one)] for name, some in stated.items()}
    files = [f"`{path}`" for path in facts.files[-_MOST_FILES:]]
    failures = [one for one in facts.failures if not _NO_CAUSE.search(one.partition(": ")[2]) and not _ONCE.search(one)]
    return {
        "constraints": [f'The user said: "{text}"' for text in users],
        "decisions": _best([(text, 1 + _points(text)) for text in stated["decisions"]], _MOST["decisions"]),
        "findings": _best([(text, _points(text)) for text in stated["findings"]], _MOST["findings"]),
        "failures": failures[-_MOST["failures"] :],
        "files": [f"Changed: {', '.join(files)}"] if files else [],
    }


def _points(text: str) -> int:
    """Return how much a sentence says to somebody who was not there."""
    words = len(text.split())
    return (
        (2 if _FIRM.search(text) else 0)
        + (2 if _TELLING.search(text) else 0)
        + (1 if 6 <= words <= 40 else -2)
        - (6 if _PLAIN_REQUEST.search(text) else 0)
    )


def _best(scored: list[tuple[str, int]], most: int) -> list[str]:
    """Return the texts with the most points, at least two, in their order; of equals the later ones."""
    order = sorted(range(len(scored)), key=lambda at: (-scored[at][1], -at))
    return [scored[at][0] for at in sorted(at for at in order[:most] if scored[at][1] >= 2)]


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
