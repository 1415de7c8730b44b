"""What one request really contained: recorded when it was sent, shown afterwards without looking at anything again."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self
from urllib.parse import quote, unquote

import msgspec

from tipstaff.context.prompt.assembly import AssembledPrompt
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.prompt.sections import PriorityBoost, SectionCut, SectionReport
from tipstaff.context.sources.project_rules import GivenRule
from tipstaff.context.tokens.counting import TextCounter, default_counter, estimate_tools
from tipstaff.context.tokens.request_tokens import messages_total
from tipstaff.errors import SourceError, SourceNotFoundError
from tipstaff.gates.secrets.scanner import redact
from tipstaff.model import Record
from tipstaff.store.inside import leads_out, refuse_links_out
from tipstaff.store.replacing import replaced_file, write_error

if TYPE_CHECKING:
    from tipstaff.context.candidates.injection import CandidateSection

CANDIDATES: Final = "candidates"
Pressure = Literal["low", "medium", "high", "critical"]
PRESSURES: Final[tuple[Pressure, ...]] = ("low", "medium", "high", "critical")
THRESHOLDS: Final = (0.70, 0.85, 0.95)
"""Shares of the window from which pressure is medium, high and critical."""


def pressure_of(tokens: int, window: int) -> Pressure:
    """Return how much pressure there is when so many tokens of a window are taken; ``low`` where it is unknown."""
    share = tokens / window if window > 0 else 0.0
    return PRESSURES[sum(share >= threshold for threshold in THRESHOLDS)]


class LiveFigures(Record, frozen=True, kw_only=True):
    """What the calls of a session took before a request.

    How often the conversation was shortened, how, and what that took out.
    """

    current_context_tokens: int = 0
    peak_context_tokens: int = 0
    compaction_count: int = 0
    pruned_count: int = 0
    summarized_count: int = 0
    saved_tokens: int = 0
    last_phase: str = ""


class SnapshotSection(Record, frozen=True, kw_only=True):
    """One section of the prompt as it was sent, or why it was not: its report, with its text.

    `ref` is the key, with ``#2``, ``#3`` ... where an earlier section has the same.
    """

    ref: str
    key: str
    source_type: str
    scope_type: str
    inclusion_reason: str
    evidence: tuple[str, ...]
    priority: int
    base_priority: int
    boosts: tuple[PriorityBoost, ...]
    protected: bool
    original_chars: int
    final_chars: int
    original_tokens: int
    estimated_tokens: int
    included: bool
    truncated: bool
    cut: SectionCut | None
    content: str


class ContextSnapshot(Record, frozen=True, kw_only=True):
    """What one request contained.

    Attributes
    ----------
    session_id, request_number, taken_at
        Whose request it was, the how-manieth that was recorded, and when (ISO 8601, UTC).
    sections
        In the order of the prompt.
    total_chars, estimated_tokens
        Of the system prompt.
    max_per_tier_chars, max_total_chars
        Its budget.
    context_window_tokens, max_output_tokens
        The model's window, and what of it is kept for the answer; 0 if unknown.
    tool_tokens, message_tokens, message_count
        What was sent beside the prompt.
    focus, injected_candidate_ids
        What the request was about, and the candidates whose lines were sent uncut.
    live
        What the session's calls took before.
    rules
        The project's rules that the request contains, each with its place and why it was given.
    """

    session_id: str
    taken_at: str
    sections: tuple[SnapshotSection, ...]
    total_chars: int
    estimated_tokens: int
    max_per_tier_chars: int
    max_total_chars: int
    request_number: int = 0
    context_window_tokens: int = 0
    max_output_tokens: int = 0
    tool_tokens: int = 0
    message_tokens: int = 0
    message_count: int = 0
    focus: RequestFocus = RequestFocus()
    injected_candidate_ids: tuple[str, ...] = ()
    live: LiveFigures | None = None
    rules: tuple[GivenRule, ...] = ()

    @property
    def truncated_section_keys(self) -> tuple[str, ...]:
        """Keys of the sections of which anything is missing."""
        return tuple(section.key for section in self.sections if section.truncated or not section.included)

    @property
    def request_tokens(self) -> int:
        """What the whole request takes: prompt, tools and messages."""
        return self.estimated_tokens + self.tool_tokens + self.message_tokens

    @property
    def window_share(self) -> float | None:
        """The prompt's share of the window, 0 to 1; None where the window is not known."""
        return self.estimated_tokens / self.context_window_tokens if self.context_window_tokens > 0 else None

    def find(self, ref: str) -> SnapshotSection | None:
        """Return a section by its `ref`; of several with one key, the plain key finds the first."""
        return next((section for section in self.sections if section.ref == ref), None)


def take_snapshot(
    prompt: AssembledPrompt,
    *,
    session_id: str,
    context_window: int = 0,
    max_output: int = 0,
    focus: RequestFocus | None = None,
    candidates: CandidateSection | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    messages: Sequence[Mapping[str, Any]] = (),
    tool_tokens: int | None = None,
    message_tokens: int | None = None,
    live: LiveFigures | None = None,
    rules: Sequence[GivenRule] = (),
    taken_at: datetime | None = None,
    keep_content: bool = True,
    count: TextCounter | None = None,
) -> ContextSnapshot:
    """Return the snapshot of a request that is about to be sent.

    Parameters
    ----------
    prompt, focus, candidates
        What `ContextAssemblyPlan.build` returned, and what it was made with.
    session_id
        Any text.
    context_window, max_output
        Of the model, in tokens; 0 if unknown.
    tools, messages, tool_tokens, message_tokens
        What is sent beside it, of which only number and size are kept; their sizes, where they are known.
    live, rules
        What the session's calls took before; the rules that the request contains.
    taken_at
        Aware; now if None.
    keep_content
        Whether the sections' texts are kept. Without them `context detail` shows figures alone.
    count
        Counter of texts, for all figures alike; by default the fitted estimator.
    """
    counter = count or default_counter()
    seen: dict[str, int] = {}
    sections = tuple(_section(report, seen, counter, keep_content=keep_content) for report in prompt.sections)
    sent = "".join(report.content for report in prompt.sections if report.key == CANDIDATES and report.included)
    injected: tuple[str, ...] = ()
    if candidates is not None:
        pairs = zip(candidates.candidate_ids, candidates.lines, strict=True)
        injected = tuple(candidate_id for candidate_id, line in pairs if line in sent)
    about = focus or RequestFocus()
    return ContextSnapshot(
        session_id=writable(session_id),
        taken_at=(taken_at or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="milliseconds"),
        sections=sections,
        total_chars=prompt.total_chars,
        estimated_tokens=sum(section.estimated_tokens for section in sections),
        max_per_tier_chars=prompt.budget.max_per_tier_chars,
        max_total_chars=prompt.budget.max_total_chars,
        context_window_tokens=context_window,
        max_output_tokens=max_output,
        tool_tokens=estimate_tools(tools, count=counter) if tool_tokens is None else tool_tokens,
        message_tokens=messages_total(messages, count=counter) if message_tokens is None else message_tokens,
        message_count=len(messages),
        focus=RequestFocus(
            writable(redact(about.query_summary)),
            *map(_texts, (about.active_file_paths, about.active_symbols, about.plan_signals)),
        ),
        injected_candidate_ids=injected,
        live=live,
        rules=tuple(rules),
    )


def _section(
    report: SectionReport, seen: dict[str, int], counter: TextCounter, *, keep_content: bool
) -> SnapshotSection:
    count = seen[report.key] = seen.get(report.key, 0) + 1
    tokens = counter(report.content)
    fields: dict[str, Any] = {
        name: getattr(report, name) for name in SnapshotSection.__struct_fields__ if name != "ref"
    }
    fields |= {
        "ref": writable(report.key if count == 1 else f"{report.key}#{count}"),
        "key": writable(report.key),
        "inclusion_reason": writable(report.inclusion_reason),
        "evidence": _texts(report.evidence),
        "boosts": tuple(boost.replace(evidence=writable(str(boost.evidence))) for boost in report.boosts),
        "original_tokens": tokens if report.cut is None else _original_tokens(report, tokens),
        "estimated_tokens": tokens,
        "content": writable(redact(report.content)) if keep_content else "",
    }
    return SnapshotSection(**fields)


def _original_tokens(report: SectionReport, tokens: int) -> int:
    """Return what a cut section would have taken, at the density of what is left of it."""
    if report.final_chars:
        return max(tokens, round(tokens * report.original_chars / report.final_chars))
    return report.original_tokens


def writable(text: str) -> str:
    """Return a text that can be written as UTF-8."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(writable(redact(text)) for text in texts)


def json_ready(snapshot: ContextSnapshot) -> dict[str, Any]:
    """Return a snapshot with its derived figures, as plain data."""
    return {
        **snapshot.to_dict(),
        "truncated_section_keys": list(snapshot.truncated_section_keys),
        "request_tokens": snapshot.request_tokens,
        "window_share": snapshot.window_share,
    }


KEPT_REQUESTS: Final = 16
_MAX_SESSION_CHARS: Final = 60


class SnapshotFolder:
    """The snapshots of several sessions, each with its newest requests, readable for their owner alone.

    Parameters
    ----------
    path
        ``.tipstaff/context`` of a project. Made, for its owner alone, when the first snapshot is recorded.
    kept
        How many requests of a session are kept.
    """

    def __init__(self, path: str | os.PathLike[str], *, kept: int = KEPT_REQUESTS) -> None:
        self.path = Path(path)
        self._kept = max(2, kept)
        self._root: Path | None = None

    @classmethod
    def of_project(cls, root: str | os.PathLike[str]) -> Self:
        """Return the folder of a project."""
        found = cls(Path(root) / ".tipstaff" / "context")
        found._root = Path(root)
        return found

    def record(self, snapshot: ContextSnapshot) -> ContextSnapshot:
        """Write a snapshot and return it with its number; the oldest beyond those that are kept go.

        Raises `StoreWriteError` if it cannot be written, or a link leads it elsewhere.
        """
        folder = self.made(snapshot.session_id)
        with _alone(folder):
            numbers = self.numbers(snapshot.session_id)
            numbered = snapshot.replace(request_number=(numbers[-1] if numbers else 0) + 1)
            # A snapshot is made for each request, and worth less than the request's time.
            with replaced_file(folder / f"{numbered.request_number:08d}.json", durable=False) as file:
                file.write(msgspec.json.encode(numbered))
            old = [folder / f"{number:08d}.json" for number in numbers[: -(self._kept - 1)]]
            # Nobody else writes here now: other temporary files are of writers that died.
            for left in (*old, *folder.glob(".*.json.*.tmp")):
                with contextlib.suppress(OSError):
                    left.unlink()
        return numbered

    def made(self, session_id: str) -> Path:
        """Return a session's folder, made for its owner alone where it was not there.

        Raises `StoreWriteError` if it cannot be made, or a link leads it elsewhere.
        """
        folder = self.folder_of(session_id)
        refuse_links_out(self.path, self._root)
        refuse_links_out(folder, self.path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            ignore = self.path / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n", encoding="ascii")
        except OSError as error:
            raise write_error(folder, error) from error
        return folder

    def sessions(self, pattern: str = "*.json") -> tuple[str, ...]:
        """Return the ids of all sessions with such files (requests by default), the one with the newest last."""
        found: list[tuple[float, str]] = []
        with contextlib.suppress(OSError):
            for entry in self.path.iterdir():
                newest = max((file.stat().st_mtime_ns for file in entry.glob(pattern)), default=None)
                if newest is not None:
                    found.append((newest, unquote(entry.name)))
        return tuple(name for _, name in sorted(found))

    def numbers(self, session_id: str) -> tuple[int, ...]:
        """Return the numbers of a session's requests, in order."""
        names = (file.stem for file in self.folder_of(session_id).glob("*.json"))
        return tuple(sorted(int(name) for name in names if name.isascii() and name.isdigit()))

    def load(self, session_id: str | None = None, number: int | None = None) -> ContextSnapshot:
        """Return a request of a session: by default the newest one of the session that was active last.

        Raises `SourceNotFoundError` if there is none. Raises `SourceError` if its file cannot be read.
        """
        if session_id is None:
            sessions = self.sessions()
            if not sessions:
                raise SourceNotFoundError(2, "no request has been recorded here yet", str(self.path))
            session_id = sessions[-1]
        numbers = self.numbers(session_id)
        if not numbers:
            raise SourceNotFoundError(2, f"no request of session {session_id!r} has been recorded", str(self.path))
        chosen = numbers[-1] if number is None else number
        if chosen not in numbers:
            kept = ", ".join(map(str, numbers))
            raise SourceNotFoundError(2, f"request {chosen} is not kept; kept are {kept}", str(self.path))
        file = self.folder_of(session_id) / f"{chosen:08d}.json"
        if leads_out(file, self.path):
            raise SourceError(f"{file}: a link leads it out of the folder of snapshots; it is not read")
        try:
            return msgspec.json.decode(file.read_bytes(), type=ContextSnapshot)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise SourceError(f"{file}: not a snapshot that this version reads: {error}") from error
        except OSError as error:
            raise SourceError(f"{file}: cannot be read: {error.strerror}") from error

    def folder_of(self, session_id: str) -> Path:
        """Return where a session's files are, or would be."""
        name = quote(writable(session_id), safe="")
        if not name or len(name) > _MAX_SESSION_CHARS or name.strip(".") == "":
            import hashlib

            # No usable name of a folder: a digest of it is one.
            name = "id-" + hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self.path / name


@contextlib.contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Keep other threads and processes from giving the same number."""
    try:
        descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise write_error(folder / ".lock", error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
