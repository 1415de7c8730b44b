"""One object for a session of an agent: messages go in, what to send for each call comes out."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast

from tipstaff.context.conversation.messages import MessageError
from tipstaff.context.planning import PlannedPrompt
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.request import RequestAssembler
from tipstaff.context.session.apis.sdk import field_of, plain
from tipstaff.context.session.apis.select import wire_of
from tipstaff.context.session.apis.wire import Api
from tipstaff.context.session.course import CallReport, SessionCourse
from tipstaff.context.session.course_file import CourseWriter
from tipstaff.context.session.deliveries import delivered
from tipstaff.context.session.fitting import WindowFitter
from tipstaff.context.session.meter import Meter
from tipstaff.context.session.reports import Sent, report_of
from tipstaff.context.session.state import SessionState
from tipstaff.context.shortening.compaction import compact
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.facts import Facts
from tipstaff.context.tokens.counting import TextCounter
from tipstaff.context.tokens.estimator import TokenEstimator
from tipstaff.errors import StoreWriteError, TipstaffError

if TYPE_CHECKING:
    from tipstaff.context.candidates.store import CandidateStore
    from tipstaff.context.inspecting.monitor import ContextMonitor
    from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder
    from tipstaff.context.shortening.stubs import Reference
    from tipstaff.context.shortening.summarizers import Summarizer
    from tipstaff.context.shortening.window import ContextWindow
    from tipstaff.context.sources.auto_memory import AutoMemory
    from tipstaff.context.sources.git_state import GitState
    from tipstaff.context.sources.memory_tiers import MemoryTiers
    from tipstaff.context.sources.path_rules import PathRules

_HISTORY: Final = 8


class ContextSession:
    """A session of an agent, from its first message to its thousandth.

    Parameters
    ----------
    root
        The project's folder: memory, path rules and git's state are read there, and Auto-Memory is written there.
    api
        ``anthropic`` (Messages), ``openai-chat`` (Chat Completions) or ``openai-responses`` (Responses).
    model_window, max_output
        The model's window, and what of it is kept for the answer, in tokens.
    base
        The agent's own instructions; never cut. System messages at the start of the caller's messages follow them.
    session_id
        Under which name snapshots and memories are recorded.
    summarizer
        Writes the summaries of compactions; the extractive one, without a model, by default.
    pinned
        Texts that have to be in the conversation word for word after every compaction.
    compaction_threshold, prune_target, protected_turns
        When it is shortened, down to what share of the window, and how many of the last turns stay: see
        `CompactionConfig`. It goes far below the threshold so that the provider's cache is rarely broken.
    count
        Counter of texts; the fitted estimator of the API's vocabulary by default, corrected by what the provider
        reports.
    count_request
        Called with the arguments of a call that is near the window's end, returns its tokens: the provider's own
        ``count_tokens``, for example.
    tiers, rules, git, candidates, snapshots, monitor, tool_guidance, skills, environment
        As `RequestAssembler` takes them.
    memory
        Where what was learned is written when the conversation is shortened; None for nowhere.
    reference
        Says where the whole of a shortened result is kept.

    Attributes
    ----------
    problems
        What went otherwise than asked since the last call, in one sentence each: files that could not be read, a
        summarizer that failed.

    Raises
    ------
    ConfigError
        If an argument is unusable.

    Examples
    --------
    A whole loop::

        session = ContextSession(".", api="anthropic", model_window=200_000, max_output=8_192)
        messages = [{"role": "user", "content": task}]
        while True:
            answer = client.messages.create(model=model, **session.request(messages, tools))
            session.record(answer)
            messages.append({"role": "assistant", "content": answer.content})
            calls = [block for block in answer.content if block.type == "tool_use"]
            if not calls:
                break
            messages.append({"role": "user", "content": [run(call) for call in calls]})

    Notes
    -----
    The messages given may be the whole conversation each time, or only what is new. The system prompt and every message
    sent stay byte-equal from call to call; what changes (task focus, git's state, path rules, candidates, changed
    memory) is added to the last message of the user's, once. Only where the window fills is anything taken out, in one
    large step, and `course` says what that cost.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        *,
        api: Api = "anthropic",
        model_window: int = 200_000,
        max_output: int = 16_384,
        base: str = "",
        session_id: str = "session",
        summarizer: Summarizer | None = None,
        pinned: Sequence[str] = (),
        compaction_threshold: float = 0.88,
        prune_target: float = 0.45,
        protected_turns: int = 4,
        count: TextCounter | None = None,
        count_request: Callable[[Mapping[str, Any]], int] | None = None,
        tiers: MemoryTiers | None = None,
        rules: PathRules | None = None,
        git: GitState | str | None = "project",
        candidates: CandidateStore | None = None,
        snapshots: SnapshotFolder | str | None = "project",
        monitor: ContextMonitor | None = None,
        tool_guidance: str = "",
        skills: str = "",
        environment: str = "",
        memory: AutoMemory | str | None = "project",
        reference: Reference | None = None,
    ) -> None:
        self._wire = wire_of(api)
        self._api: Final = api
        self._root = Path(root)
        self.config: Final = CompactionConfig(
            model_window, max_output, compaction_threshold=compaction_threshold, prune_target=prune_target,
            protected_turns=protected_turns,
        )  # fmt: skip
        self._session = session_id
        self._base = base
        self._summarizer = summarizer
        self._pinned = tuple(pinned)
        self._reference = reference
        texts = count or TokenEstimator(self._wire.vocabulary)
        self._requests = RequestAssembler(
            root,
            base=base,
            config=self.config,
            session_id=session_id,
            tiers=tiers,
            rules=rules,
            git=git,
            candidates=candidates,
            snapshots=snapshots,
            monitor=monitor,
            count=texts,
        )
        folder = self._requests.snapshots
        self._recorder = None if folder is None else CourseWriter(
            folder, session_id, window=model_window, max_output=max_output, api=api
        )  # fmt: skip
        self._candidates = candidates
        self._monitor = monitor
        self._memory = _memory_of(self._root, memory)
        self._planned = functools.partial(
            self._requests.planner.plan,
            memory=self._memory,
            tool_guidance=tool_guidance,
            skills=skills,
            environment=environment,
        )
        self._meter = Meter(texts)
        self._state = SessionState(self._wire, self._meter)
        self._fitter = WindowFitter(self.config, self._meter, self._state, count_request, reference)
        self._calls: list[CallReport] = []
        self._sent: Sent | None = None
        self.problems: tuple[str, ...] = ()

    # -- what a loop calls ------------------------------------------------------------------------------------------

    def request(
        self,
        messages: Sequence[Any] | Mapping[str, Any] | str,
        tools: Sequence[Any] = (),
        *,
        query: str | None = None,
        sections: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Return the arguments of the SDK's next call.

        Parameters
        ----------
        messages
            The whole conversation so far, or only what is new, in the API's own shape: dictionaries or the SDK's
            objects; a text is a message of the user's. They are not changed, and must not be changed afterwards.
        tools
            Definitions of the tools, in the shape of any of the three APIs.
        query
            What the user asks for; by default the last text of the user's.
        sections
            Further context by name, such as retrieved rules; delivered when it changes, as the session's own is.

        Returns
        -------
        dict
            ``system``, ``messages``, ``tools``, ``max_tokens`` for ``anthropic``; ``messages``, ``tools``,
            ``max_completion_tokens`` for ``openai-chat``; ``instructions``, ``input``, ``tools``,
            ``max_output_tokens`` for ``openai-responses``. The model is the caller's to add.

        Raises
        ------
        WindowOverflowError
            If what may not be left out does not fit: it says what to drop.
        MessageError
            If a message is of another shape, nothing was ever said, or a call still waits for its result.
        """
        given: Sequence[Any] = [{"role": "user", "content": messages}] if isinstance(messages, str) else (
            [messages] if isinstance(messages, Mapping) else messages
        )  # fmt: skip
        self.problems = ()
        before = self._state.copied()
        try:
            self._prepare(given, tools, query, sections or {})
        except TipstaffError:
            # What cannot be sent was never said: the caller corrects its messages and gives them again.
            self._state.restore(before)
            raise
        groups = self._state.written()
        self._sent = self._state.take_sent(groups, first=not self._calls)
        return self._arguments(groups)

    def _arguments(self, groups: Sequence[list[dict[str, Any]]] | None = None) -> dict[str, Any]:
        return self._wire.arguments(
            self._state.system or "",
            self._state.written() if groups is None else groups,
            self._state.tools,
            self.config.max_output_tokens,
        )

    def _prepare(
        self, given: Sequence[Any], tools: Sequence[Any], query: str | None, sections: Mapping[str, str]
    ) -> None:
        self._state.take_tools(tools, len(self._calls))
        turn_begins = self._state.take(given) or not self._calls
        if open_calls := self._state.view.open_calls():
            waiting = ", ".join(open_calls)
            msg = f"the calls {waiting} have no results yet: give them in a message of the user's before the next call"
            raise MessageError(msg)
        if not len(self._state.view):
            msg = "no messages: give at least one message of the user's"
            raise MessageError(msg)
        self._plan_and_deliver(query, sections, turn_begins=turn_begins)
        if self._fitter.is_due(self._arguments):
            before = self._state.estimate()
            self._shorten(query, sections)
            self._fitter.cut_results(before)

    def record(self, response: object, usage: object = None) -> CallReport:
        """Take the answer to the last request.

        Parameters
        ----------
        response
            The SDK's answer (``Message``, ``ChatCompletion``, ``Response``), or its JSON. Of a stream, its final
            message.
        usage
            What the provider reported, where the answer does not hold it.

        Returns
        -------
        CallReport
            What the call took.

        Raises
        ------
        MessageError
            If this is not an answer: a stream that was not read, another API's answer.
        """
        found = plain(usage if usage is not None else field_of(response, "usage"))
        reported = cast("dict[str, Any] | None", found if isinstance(found, dict) else None)
        answer = self._wire.answer(response)
        sent = self._sent or Sent(0, 0, 0, "", 0)
        report = report_of(sent, reported, answer, self._meter, number=len(self._calls) + 1, api=self._api)
        self._calls.append(report)
        self._sent = None
        if self._monitor is not None:
            self._monitor.record_turn_complete(
                input_tokens=report.tokens, output_tokens=report.output_tokens, context_tokens=report.tokens
            )
        if answer is not None:
            self._state.answered(answer)
        if self._recorder is not None:
            try:
                self._recorder.append(report)
            except StoreWriteError as error:
                self.problems += (f"the call was not recorded: {error}",)
        return report

    def close(self) -> None:
        """Write what was learned to memory: what a compaction would have done."""
        self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what can be asked of it ------------------------------------------------------------------------------------

    @property
    def messages(self) -> tuple[dict[str, Any], ...]:
        """All that was said, in the Messages API's shape, nothing left out."""
        return tuple(self._state.log)

    @property
    def facts(self) -> Facts:
        """What was done in the session so far."""
        return self._state.facts()

    @property
    def course(self) -> SessionCourse:
        """What each call took."""
        return SessionCourse(tuple(self._calls))

    def window(self) -> ContextWindow:
        """Return what the next request takes of the model's window, by region, and what would leave it first."""
        from tipstaff.context.session.regions import filled_window

        return filled_window(self.config, self._meter, self._state.fixed_tokens(), self._state.view)

    # -- context ----------------------------------------------------------------------------------------------------

    def _plan_and_deliver(self, query: str | None, sections: Mapping[str, str], *, turn_begins: bool) -> None:
        last = self._state.view.messages[-1]
        planned = self._plan(query, sections, with_git=turn_begins)
        if self._state.system is None:
            self._state.system = planned.system
            self._state.deliveries.in_system(planned.stable_contents)
        if last.get("role") != "user":
            return
        contents = {**planned.stable_contents, **planned.contents}
        due = self._state.deliveries.due(planned.prompt.sections, contents, turn_begins=turn_begins)
        text = delivered(due)
        if text:
            self._state.view.add_context(text)
        if text or turn_begins:
            _, _, troubles = self._requests.record(
                planned, self._state.view.messages, self._state.tools, message_tokens=self._state.view.tokens
            )
            self.problems += troubles
        self.problems += tuple(one for one in planned.problems if one not in self.problems)

    def _plan(self, query: str | None, sections: Mapping[str, str], *, with_git: bool) -> PlannedPrompt:
        history = self._state.log[-_HISTORY:]
        asked = query if query is not None else self._state.last_words()
        focus = RequestFocus.extract(asked, history, project_root=str(self._root))
        base = "\n\n".join(part for part in (self._base, self._state.callers_system) if part.strip())
        return self._planned(asked, focus, base=base, with_git=with_git, extra=sections)

    # -- keeping within the window ----------------------------------------------------------------------------------

    def _shorten(self, query: str | None, sections: Mapping[str, str]) -> None:
        self._flush()
        before = self._state.view.without_context()
        origins = list(self._state.view.origins)
        result = compact(
            before,
            self._state.system or "",
            config=self.config,
            summarizer=self._summarizer,
            tools=self._state.tools,
            pinned=self._pinned,
            count=self._meter.counter(),
            reference=self._reference,
            facts=self._state.facts(),
            force=True,
        )
        self.problems += result.warnings
        if self._monitor is not None and result.phase != "none":
            self._monitor.record_compaction(result.original_tokens, result.compacted_tokens, result.phase)
        if result.phase == "none":
            return
        self._state.start_again(result, origins)
        self._plan_and_deliver(query, sections, turn_begins=True)

    # -- memory -----------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        facts = self._state.facts()
        if self._memory is None:
            return
        from tipstaff.context.sources.auto_memory import flush

        kinds = {name: getattr(facts, name) for name in ("constraints", "decisions", "failures", "files", "errors")}
        self.problems += flush(kinds, self._memory, self._candidates, self._session)


def _memory_of(root: Path, memory: AutoMemory | str | None) -> AutoMemory | None:
    if not isinstance(memory, str):
        return memory
    from tipstaff.context.sources.auto_memory import AutoMemory

    return AutoMemory.of_project(root)
