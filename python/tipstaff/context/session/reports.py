"""What calls took, and what of a session is on disk: its requests, its calls, and the texts that were taken out."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from tipstaff.context.conversation.messages import Block, Message, call_input_json, text_of
from tipstaff.context.inspecting.course import CallReport, CourseWriter, cost_of
from tipstaff.context.inspecting.snapshot import ContextSnapshot, LiveFigures, SnapshotFolder, take_snapshot
from tipstaff.context.session.fitting import Meter
from tipstaff.context.session.view import View
from tipstaff.errors import SourceNotFoundError, StoreDamagedError, StoreWriteError
from tipstaff.gates.secrets.scanner import redact
from tipstaff.store.replacing import replaced_file
from tipstaff.store.untrusted import read_untrusted_text

if TYPE_CHECKING:
    from tipstaff.context.candidates.store import CandidateStore
    from tipstaff.context.session.planning import PlannedPrompt
    from tipstaff.context.shortening.preamble import CompactionConfig
    from tipstaff.context.sources.project_rules import GivenRule
    from tipstaff.context.tokens.counting import TextCounter


class Sent:
    """What is kept of a request until its answer comes."""

    __slots__ = ("broken_by", "estimate", "prefix", "saved", "whole_prefix")

    def __init__(self, estimate: int, prefix: int, whole_prefix: int, broken_by: str, saved: int) -> None:
        self.estimate = estimate
        self.prefix = prefix
        self.whole_prefix = whole_prefix
        self.broken_by = broken_by
        self.saved = saved


def report_of(
    sent: Sent, usage: Mapping[str, Any] | None, answer: Message | None, meter: Meter, *, number: int, api: str
) -> CallReport:
    """Return the report of a call, whose `usage` the meter takes."""
    measured = meter.take(usage, sent.estimate)
    tokens = measured if measured is not None else meter.likely(sent.estimate)
    prefix = int(tokens * (sent.prefix / sent.estimate)) if sent.estimate else 0
    whole = int(tokens * (sent.whole_prefix / sent.estimate)) if sent.estimate else 0
    cost = cost_of(tokens, prefix, api)
    return CallReport(
        number=number,
        tokens=tokens,
        measured=measured is not None,
        output_tokens=_output_tokens(usage, answer, meter),
        prefix_tokens=prefix,
        cached_tokens=_cached_tokens(usage),
        cost=cost,
        broken_by=sent.broken_by,
        break_cost=cost - cost_of(tokens, whole, api) if sent.broken_by else 0.0,
        saved_tokens=sent.saved,
    )


def _output_tokens(usage: Mapping[str, Any] | None, answer: Message | None, meter: Meter) -> int:
    for key in ("output_tokens", "completion_tokens"):
        value: object = (usage or {}).get(key)
        if isinstance(value, int) and value > 0:
            return value
    return int(meter.message(answer) * meter.ratio) if answer is not None else 0


def _cached_tokens(usage: Mapping[str, Any] | None) -> int | None:
    if not usage:
        return None
    if isinstance(read := usage.get("cache_read_input_tokens"), int):
        return read
    for key in ("prompt_tokens_details", "input_tokens_details"):
        details: object = usage.get(key)
        if isinstance(details, Mapping):
            cached: object = cast("Mapping[str, Any]", details).get("cached_tokens")
            if isinstance(cached, int):
                return cached
    return None


class RequestRecorder:
    """Records the requests and calls of a session; what cannot be written is worth less than the request."""

    def __init__(
        self,
        root: Path,
        session_id: str,
        *,
        folder: SnapshotFolder | str | None,
        api: str,
        candidates: CandidateStore | None,
        count: TextCounter,
    ) -> None:
        self._session = session_id
        self._api = api
        self._folder = SnapshotFolder.of_project(root) if isinstance(folder, str) else folder
        self._course: CourseWriter | None = None
        self._store = candidates
        self._count = count

    def snapshot(
        self,
        planned: PlannedPrompt,
        view: View,
        tools: Sequence[Mapping[str, Any]],
        config: CompactionConfig,
        calls: Sequence[CallReport],
        rules: Sequence[GivenRule],
    ) -> ContextSnapshot:
        """Return what a request contains."""
        return take_snapshot(
            planned.prompt,
            session_id=self._session,
            context_window=config.context_window_tokens,
            max_output=config.max_output_tokens,
            focus=planned.focus,
            candidates=planned.shown,
            tools=tools,
            messages=view.messages,
            message_tokens=view.tokens,
            live=_figures(calls) if calls else None,
            rules=rules,
            count=self._count,
        )

    def record(self, snapshot: ContextSnapshot) -> tuple[ContextSnapshot, tuple[str, ...]]:
        """Write what a request contains, and mark the candidates in it as used; return it, and what did not work."""
        troubles: list[str] = []
        try:
            if self._folder is not None:
                snapshot = self._folder.record(snapshot)
        except StoreWriteError as error:
            troubles.append(f"the request was not recorded: {error}")
        try:
            if self._store is not None and snapshot.injected_candidate_ids:
                self._store.mark_used(snapshot.injected_candidate_ids)
        except (StoreWriteError, StoreDamagedError) as error:
            troubles.append(f"the candidates were not marked as used: {error}")
        return snapshot, tuple(troubles)

    def append(self, report: CallReport, config: CompactionConfig) -> tuple[str, ...]:
        """Record a call; return what could not be recorded of it."""
        if self._folder is None:
            return ()
        if self._course is None:
            self._course = CourseWriter(
                self._folder, self._session, window=config.context_window_tokens,
                max_output=config.max_output_tokens, api=self._api,
            )  # fmt: skip
        try:
            self._course.append(report)
        except StoreWriteError as error:
            return (f"the call was not recorded: {error}",)
        return ()


def _figures(calls: Sequence[CallReport]) -> LiveFigures:
    shortened = [call for call in calls if call.broken_by in {"pruned", "summarized"}]
    return LiveFigures(
        current_context_tokens=calls[-1].tokens,
        peak_context_tokens=max(call.tokens for call in calls),
        compaction_count=len(shortened),
        pruned_count=sum(call.broken_by == "pruned" for call in shortened),
        summarized_count=sum(call.broken_by == "summarized" for call in shortened),
        saved_tokens=sum(call.saved_tokens for call in shortened),
        last_phase=shortened[-1].broken_by if shortened else "",
    )


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
    """The texts that a session took out of its conversation, masked, each once; the model asks by the ids in stubs."""

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

        Raises `SourceNotFoundError` if nothing is.
        """
        found = _ID.search(recall_id)
        path = self._path() / f"{found.group()}.txt" if found is not None else None
        if path is None or not path.is_file():
            raise SourceNotFoundError(2, f"nothing is kept under {recall_id!r}; it may have been too long ago")
        return read_untrusted_text(path)

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
