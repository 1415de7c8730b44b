"""One object for a session of an agent: messages go in, what to send for each call comes out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeAlias, cast

from tipstaff.context.conversation.messages import MessageError
from tipstaff.context.inspecting.course import CallReport, SessionCourse
from tipstaff.context.inspecting.snapshot import SnapshotFolder
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.prompt.sections import SystemPromptBudget
from tipstaff.context.session.apis import wire_of
from tipstaff.context.session.fitting import Meter, WindowFitter, window_in
from tipstaff.context.session.planning import STATE_KEY, PlannedPrompt, PromptPlanner, delivered
from tipstaff.context.session.reports import RecallStore, RequestRecorder, Sent, report_of
from tipstaff.context.session.saved import read_session, saved_of, write_session
from tipstaff.context.session.state import SessionState
from tipstaff.context.session.wire import Api, field_of, plain
from tipstaff.context.shortening.compaction import compact
from tipstaff.context.shortening.facts import Facts
from tipstaff.context.shortening.preamble import CompactionConfig
from tipstaff.context.sources.git_state import GitState
from tipstaff.context.sources.memory_tiers import MemoryTiers
from tipstaff.context.sources.project_rules import RULES_TOKENS, ProjectRules
from tipstaff.context.tokens.counting import TextCounter
from tipstaff.context.tokens.estimator import TokenEstimator
from tipstaff.errors import ConfigError, SourceNotFoundError, TipstaffError
from tipstaff.gates.redaction import redact_data
from tipstaff.gates.secrets.scanner import redact

if TYPE_CHECKING:
    from tipstaff.context.candidates.store import CandidateStore
    from tipstaff.context.inspecting.snapshot import ContextSnapshot
    from tipstaff.context.shortening.pruning import Reference
    from tipstaff.context.shortening.summarizers import Summarizer
    from tipstaff.context.sources.auto_memory import AutoMemory
    from tipstaff.context.sources.project_rules import GivenRule

RuleFiles: TypeAlias = Literal["compiled", "whole", "none"]
_HISTORY: Final = 8
_UNNAMED: Final = "session"


class ContextSession:
    """A session of an agent, from its first message to its thousandth.

    Parameters
    ----------
    root
        The project's folder: memory, rules and git's state are read there, and Auto-Memory is written there.
    api
        ``anthropic`` (Messages), ``openai-chat`` (Chat Completions) or ``openai-responses`` (Responses).
    model_window, max_output
        The model's window, and what of it is kept for the answer, in tokens.
    base
        The agent's own instructions; never cut. System messages at the start of the caller's messages follow them.
    session_id
        Under which name snapshots and memories are recorded.
    summarizer, pinned
        Who writes the summaries of compactions, the extractive one, without a model, by default; texts that have to be
        in the conversation word for word after every compaction.
    compaction_threshold, prune_target, protected_turns
        When it is shortened, down to what share of the window, and how many of the last turns stay: see
        `CompactionConfig`. It goes far below the threshold so that the provider's cache is rarely broken.
    count, count_request
        Counter of texts, by default the fitted estimator of the API's vocabulary, corrected by what the provider
        reports; what returns the tokens of a call's arguments near the window's end, as the provider counts them.
    rule_files
        ``compiled``: the system prompt holds the constitution, and the last message of the user's the rules for its
        task and files. ``whole``: rule files are in the system prompt as well. ``none``: no rules, and no rule files.
    tiers, git, memory, snapshots
        Where memory and the repository's state are read, what was learned is written, and requests are recorded: by
        default below `root`; None leaves out any but the first.
    candidates
        A store whose promoted candidates are shown and marked as used.
    tool_guidance, skills, environment
        Further sections of the prompt; blank ones are left out.
    reference
        Says where the whole of a shortened result is kept; by default beside the snapshots, masked, for `recall`.

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
    The system prompt and every message sent stay byte-equal from call to call; what changes (task focus, git's state,
    rules, candidates, changed memory) is added to the last message of the user's, once. Only where the window fills is
    anything taken out, in one large step, and `course` says what that cost.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        *,
        api: Api = "anthropic",
        model_window: int = 200_000,
        max_output: int = 16_384,
        base: str = "",
        session_id: str = _UNNAMED,
        summarizer: Summarizer | None = None,
        pinned: Sequence[str] = (),
        compaction_threshold: float = 0.88,
        prune_target: float = 0.45,
        protected_turns: int = 4,
        count: TextCounter | None = None,
        count_request: Callable[[Mapping[str, Any]], int] | None = None,
        rule_files: RuleFiles = "compiled",
        tiers: MemoryTiers | None = None,
        git: GitState | str | None = "project",
        candidates: CandidateStore | None = None,
        snapshots: SnapshotFolder | str | None = "project",
        tool_guidance: str = "",
        skills: str = "",
        environment: str = "",
        memory: AutoMemory | str | None = "project",
        reference: Reference | None = None,
    ) -> None:
        self._options: Final = {
            "root": os.fspath(root),
            "api": api,
            "model_window": model_window,
            "max_output": max_output,
            "base": base,
            "session_id": session_id,
            "pinned": list(pinned),
            "compaction_threshold": compaction_threshold,
            "prune_target": prune_target,
            "protected_turns": protected_turns,
            "rule_files": rule_files,
            "tool_guidance": tool_guidance,
            "skills": skills,
            "environment": environment,
            **{
                name: None
                for name, value in (("git", git), ("snapshots", snapshots), ("memory", memory))
                if value is None
            },
        }
        self._wire = wire_of(api)
        self._api: Final = api
        self._root = Path(root)
        self.config = CompactionConfig(
            model_window, max_output, compaction_threshold=compaction_threshold, prune_target=prune_target,
            protected_turns=protected_turns,
        )  # fmt: skip
        self._session = session_id
        self._base = base
        self._summarizer = summarizer
        self._pinned = tuple(pinned)
        store = SnapshotFolder.of_project(root) if isinstance(snapshots, str) else snapshots
        self._recall = None if store is None else RecallStore(store, session_id)
        self._reference: Reference | None = reference or self._recall
        texts = count or TokenEstimator(self._wire.vocabulary)
        for name, value in (("git", git), ("snapshots", snapshots)):
            if isinstance(value, str) and value != "project":
                raise ConfigError(f"{name}: expected 'project', None or an object, got {value!r}")
        if rule_files not in {"compiled", "whole", "none"}:
            raise ConfigError(f"rule_files: expected 'compiled', 'whole' or 'none', got {rule_files!r}")
        self._recorder = RequestRecorder(
            self._root, session_id, folder=snapshots, api=api, candidates=candidates, count=texts
        )  # fmt: skip
        self._candidates = candidates
        self._memory = _memory_of(self._root, memory)
        budget = SystemPromptBudget.for_context_window(model_window, max_output)
        self._rules = None if rule_files == "none" else ProjectRules(
            self._root, texts, min(RULES_TOKENS, budget.max_total_chars // 20)
        )  # fmt: skip
        self._planner = PromptPlanner(
            budget,
            tiers or MemoryTiers(self._root),
            GitState(self._root) if isinstance(git, str) else git,
            candidates,
            self._rules,
            whole_files=rule_files == "whole",
            tool_guidance=tool_guidance,
            skills=skills,
            environment=environment,
            memory=self._memory,
            session=session_id if session_id != _UNNAMED else "",
        )
        self._meter = Meter(texts)
        self._state = SessionState(self._wire, self._meter)
        self._fitter = WindowFitter(self.config, self._meter, self._state, count_request, self._reference)
        self._calls: list[CallReport] = []
        self._sent: Sent | None = None
        self._planned: tuple[PlannedPrompt, tuple[GivenRule, ...], bool] | None = None
        self._report: ContextSnapshot | None = None
        self.problems: tuple[str, ...] = ()

    # -- what a loop calls ------------------------------------------------------------------------------------------

    def request(
        self,
        messages: Sequence[Any] | Mapping[str, Any] | str,
        tools: Sequence[Any] = (),
        *,
        query: str | None = None,
        sections: Mapping[str, str] | None = None,
        whole: bool | None = None,
        previous_response_id: str | None = None,
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
            Further context by name; delivered when it changes, as the session's own is.
        whole
            Whether `messages` are the whole conversation, or only what is new. By default that is found out; a list of
            one message after the first answer is taken as new, so say True where the first prompt was edited.
        previous_response_id
            Of Responses, where the provider keeps the conversation: only what it has not seen is returned, with the
            id. After a compaction the whole conversation is, without it.

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
            if previous_response_id is not None and self._api != "openai-responses":
                raise ConfigError(f"previous_response_id: {self._api} keeps no conversation; it is of openai-responses")
            self._prepare(given, tools, query, sections or {}, whole)
        except TipstaffError:
            # What cannot be sent was never said: the caller corrects its messages and gives them again.
            self._state.restore(before)
            raise
        groups = self._state.written()
        self._sent = self._state.take_sent(groups, first=not self._calls)
        unseen = groups
        if previous_response_id is not None and not self._sent.broken_by:
            roles = [message["role"] for message in self._state.view.messages]
            unseen = groups[len(roles) - roles[::-1].index("assistant") if "assistant" in roles else 0 :]
        self._report = None
        if self._planned is not None and self._planned[2]:
            self._report, troubles = self._recorder.record(self._snapshot(self._planned))
            self.problems += troubles
        found = self._arguments(unseen)
        return found | {"previous_response_id": previous_response_id} if unseen is not groups else found

    def _arguments(self, groups: Sequence[list[dict[str, Any]]] | None = None) -> dict[str, Any]:
        return self._wire.arguments(
            self._state.system or "",
            self._state.written() if groups is None else groups,
            self._state.tools,
            self.config.max_output_tokens,
        )

    def _prepare(
        self,
        given: Sequence[Any],
        tools: Sequence[Any],
        query: str | None,
        sections: Mapping[str, str],
        whole: bool | None,
    ) -> None:
        self._state.take_tools(tools, len(self._calls))
        turn_begins = self._state.take(given, whole) or not self._calls
        if open_calls := self._state.view.open_calls():
            waiting = ", ".join(open_calls)
            msg = f"the calls {waiting} have no results yet: give them in a message of the user's before the next call"
            raise MessageError(msg)
        if not len(self._state.view):
            raise MessageError("no messages: give at least one message of the user's")
        self._plan_and_deliver(query, sections, turn_begins=turn_begins)
        if self._fitter.is_due(self._arguments):
            before = self._state.estimate()
            self._shorten(query, sections)
            self._fitter.cut_results(before)

    def record(self, response: object, usage: object = None) -> CallReport:
        """Take the answer to the last request, and return what the call took.

        `response` is the SDK's answer (``Message``, ``ChatCompletion``, ``Response``), or its JSON, of a stream its
        final message; `usage` what the provider reported, where the answer does not hold it. Raises `MessageError`
        if this is not an answer: a stream that was not read, another API's answer.
        """
        found = plain(usage if usage is not None else field_of(response, "usage"))
        reported = cast("dict[str, Any] | None", found if isinstance(found, dict) else None)
        answer = self._wire.answer(response)
        sent = self._sent or Sent(0, 0, 0, "", 0)
        report = report_of(sent, reported, answer, self._meter, number=len(self._calls) + 1, api=self._api)
        self._calls.append(report)
        self._sent = None
        if answer is not None:
            self._state.answered(answer)
        self.problems += self._recorder.append(report, self.config)
        return report

    def too_long(self, error: object) -> dict[str, Any]:
        """Take the provider's refusal of the last request as too long: learn the window from it, and shorten.

        Where the SDK's exception, or its words, name the window or what the request took, that is believed; else the
        window is taken to be smaller than the last request. Returns the arguments of the same call, shortened, and
        raises `WindowOverflowError` if what may not be left out does not fit.
        """
        estimate = self._state.estimate()
        window, taken = window_in(str(error), self._meter.likely(estimate), self.config)
        if taken:
            self._meter.take({"input_tokens": taken}, estimate)
        self.use_window(window, min(self.config.max_output_tokens, window // 4))
        return self.request([], whole=False)

    def use_window(self, model_window: int, max_output: int | None = None) -> None:
        """Continue with another model's window, in tokens, and what of it is kept for the answer."""
        output = self.config.max_output_tokens if max_output is None else max_output
        self.config = self.config.replace(context_window_tokens=model_window, max_output_tokens=output)
        self._fitter.config = self.config
        self._state.stuck_at = 0
        self._options.update(model_window=model_window, max_output=output)

    def close(self) -> None:
        """Write what was learned to memory: what a compaction would have done."""
        self._flush()

    def recall(self, recall_id: str) -> str:
        """Return the whole of what was shortened, by the id in its stub: what answers `RECALL_TOOL`.

        Raises `SourceNotFoundError` if nothing is kept under it.
        """
        if self._recall is None:
            raise SourceNotFoundError(2, "this session records nothing, so nothing can be recalled")
        return self._recall.text(recall_id)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the session, for its owner alone, so that `load` continues it with the same bytes.

        Raises `StoreWriteError` if it cannot be written.
        """
        write_session(Path(path), saved_of(self._options, self._state, self._meter, tuple(self._calls)))

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> Self:
        """Return a session that was saved.

        `options` are those of the constructor that are objects (a summarizer, a counter), and others in place of the
        saved ones. Raises `SourceError` if it is no session that this version reads.
        """
        saved = read_session(Path(path))
        found = cls(**{**saved.options, **options})
        found._meter.resume(saved.measured)
        found._state.resume(saved)
        found._calls = list(saved.calls)
        return found

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

    @property
    def report(self) -> ContextSnapshot | None:
        """What the last request contained: its sections, the rules that were given and why; None before the first."""
        if self._report is None and self._planned is not None:
            self._report = self._snapshot(self._planned)
        return self._report

    def _snapshot(self, planned: tuple[PlannedPrompt, tuple[GivenRule, ...], bool]) -> ContextSnapshot:
        state = self._state
        return self._recorder.snapshot(planned[0], state.view, state.tools, self.config, self._calls, planned[1])

    # -- context ----------------------------------------------------------------------------------------------------

    def _plan_and_deliver(
        self, query: str | None, sections: Mapping[str, str], *, turn_begins: bool, with_state: bool = True
    ) -> None:
        state, deliveries = self._state, self._state.deliveries
        # What is taken from them is told to the model again, and recorded, without what made it known as a secret.
        asked = redact(query if query is not None else state.last_words())
        focus = RequestFocus.extract(asked, redact_data(state.log[-_HISTORY:]), project_root=str(self._root))
        rules, withdrawn = self._due_rules(asked, focus, turn_begins=turn_begins)
        base = "\n\n".join(part for part in (self._base, state.callers_system) if part.strip())
        now = state.news(turn_begins=turn_begins)
        extra = {**sections, STATE_KEY: now} if now else sections
        planned = self._planner.plan(
            asked, focus, base=base, rules=rules, withdrawn=withdrawn, extra=extra, with_git=turn_begins
        )
        if planned.system != state.system:
            if state.system is not None:
                state.broken_by = "system"
            state.system = planned.system
        self.problems += tuple(one for one in planned.problems if one not in self.problems)
        text = ""
        if state.view.takes_context():
            due = deliveries.due(planned.prompt.sections, planned.contents, turn_begins=turn_begins)
            text = delivered(section for section in due if with_state or section.key != STATE_KEY)
            deliveries.take_rules(rules, withdrawn)
            if text:
                state.view.add_context(text)
        given = (*(self._rules.system()[0] if self._rules is not None else ()), *deliveries.rules.values())
        self._planned = planned, given, bool(text or turn_begins)

    def _due_rules(
        self, asked: str, focus: RequestFocus, *, turn_begins: bool
    ) -> tuple[tuple[GivenRule, ...], tuple[str, ...]]:
        """Return the rules that the last message is to bring, and ids of those that hold no more."""
        rules, deliveries = self._rules, self._state.deliveries
        if rules is None:
            return (), ()
        deliveries.waiting += rules.refresh(everywhere=turn_begins)
        if not self._state.view.takes_context():
            return (), ()
        withdrawn = rules.withdrawn(deliveries.rules.values())
        standing = {one.id for one in rules.system()[0]} | (deliveries.rules.keys() - set(withdrawn))
        found = {one.id: one for one in deliveries.waiting}
        room = rules.room((*deliveries.rules.values(), *found.values()))
        files = dict.fromkeys((*self._state.touched(), *focus.active_file_paths))
        for given in rules.for_files(files, {*standing, *found}, room):
            found[given.id] = given
        if turn_begins:
            room = rules.room((*deliveries.rules.values(), *found.values()))
            for given in rules.for_task(self._state.task_words(asked), {*standing, *found}, room):
                found[given.id] = given
        return tuple(found.values()), withdrawn

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
        if result.phase == "none":
            return
        self._state.start_again(result, origins)
        # What is so now stands in the summary already.
        self._plan_and_deliver(query, sections, turn_begins=True, with_state=result.phase != "summarized")

    # -- memory -----------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        facts = self._state.facts()
        if self._memory is None:
            return
        from tipstaff.context.sources.auto_memory import flush

        self.problems += flush(facts, self._memory, self._candidates, self._session)


def _memory_of(root: Path, memory: AutoMemory | str | None) -> AutoMemory | None:
    if not isinstance(memory, str):
        return memory
    from tipstaff.context.sources.auto_memory import AutoMemory

    return AutoMemory.of_project(root)
