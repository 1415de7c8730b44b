"""One object for a session of an agent: what was said goes in, what to send for each call comes out."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast

from tipstaff.context.conversation.messages import EXTENSION, Message, MessageError, blocks_of, starts_turn, text_of
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.request import PlannedPrompt, RequestAssembler
from tipstaff.context.session.apis.sdk import field_of, plain
from tipstaff.context.session.apis.select import wire_of
from tipstaff.context.session.apis.wire import Api, delivery_of
from tipstaff.context.session.course import CallReport, SessionCourse, cost_of
from tipstaff.context.session.deliveries import Deliveries, delivered
from tipstaff.context.session.intake import Intake
from tipstaff.context.session.meter import Meter
from tipstaff.context.session.overflow import OversizedPart, WindowOverflowError
from tipstaff.context.session.view import View
from tipstaff.context.shortening.compaction import CompactionResult, compact
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.facts import Facts, extract_facts
from tipstaff.context.shortening.stubs import shortened_result
from tipstaff.context.tokens.counting import TextCounter
from tipstaff.context.tokens.estimator import TokenEstimator
from tipstaff.errors import TipstaffError

if TYPE_CHECKING:
    from tipstaff.context.candidates.store import CandidateStore
    from tipstaff.context.inspecting.monitor import ContextMonitor
    from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder
    from tipstaff.context.shortening.pruning import Reference
    from tipstaff.context.shortening.summarizers import Summarizer
    from tipstaff.context.shortening.window import ContextWindow
    from tipstaff.context.sources.auto_memory import AutoMemory
    from tipstaff.context.sources.git_state import GitState
    from tipstaff.context.sources.memory_tiers import MemoryTiers
    from tipstaff.context.sources.path_rules import PathRules

_HISTORY: Final = 8
_LARGEST_PARTS: Final = 4
_RETRY_SHARE: Final = 0.03


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
        `CompactionConfig`. It goes far below the threshold so that the provider's cache is broken seldom.
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
            model_window,
            max_output,
            compaction_threshold=compaction_threshold,
            prune_target=prune_target,
            protected_turns=protected_turns,
        )
        self._session = session_id
        self._base = base
        self._summarizer = summarizer
        self._pinned = tuple(pinned)
        self._count_request = count_request
        self._reference = reference
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
            count=count or TokenEstimator(self._wire.vocabulary),
        )
        self._sections = {"tool_guidance": tool_guidance, "skills": skills, "environment": environment}
        self._candidates = candidates
        self._monitor = monitor
        self._memory = _memory_of(self._root, memory)
        self._meter = Meter(count or TokenEstimator(self._wire.vocabulary))
        self._intake = Intake(self._wire)
        self._view = View(self._meter.message)
        self._log: list[dict[str, Any]] = []
        self._deliveries = Deliveries()
        self._groups: list[list[dict[str, Any]]] = []
        self._system: str | None = None
        self._callers_system = ""
        self._tools: list[dict[str, Any]] = []
        self._tools_key = ""
        self._given_tools: tuple[object, ...] = ()
        self._facts = Facts()
        self._facts_to = 0
        self._calls: list[CallReport] = []
        self._sent: _Sent | None = None
        self._broken_by = ""
        self._saved = 0
        self._stuck_at = 0
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
        before = self._copied()
        try:
            self._prepare(given, tools, query, sections or {})
        except TipstaffError:
            # What cannot be sent was never said: the caller mends its messages and gives them again.
            self._restore(before)
            raise
        return self._arguments()

    def _prepare(
        self, given: Sequence[Any], tools: Sequence[Any], query: str | None, sections: Mapping[str, str]
    ) -> None:
        self._take_tools(tools)
        turn_begins = self._take(given)
        if self._view.open_calls():
            waiting = ", ".join(self._view.open_calls())
            msg = f"the calls {waiting} have no results yet: give them in a message of the user's before the next call"
            raise MessageError(msg)
        if not len(self._view):
            msg = "no messages: give at least one message of the user's"
            raise MessageError(msg)
        self._plan_and_deliver(query, sections, turn_begins=turn_begins)
        self._fit(query, sections)

    def _copied(self) -> tuple[Any, ...]:
        return (
            self._view.copied(),
            self._intake.copied(),
            self._deliveries.copied(),
            list(self._log),
            (self._system, self._callers_system, self._broken_by, self._saved, self._stuck_at),
            (self._facts, self._facts_to),
        )

    def _restore(self, copied: tuple[Any, ...]) -> None:
        view, intake, deliveries, self._log, state, facts = copied
        self._view.restore(view)
        self._intake.restore(intake)
        self._deliveries.restore(deliveries)
        self._system, self._callers_system, self._broken_by, self._saved, self._stuck_at = state
        self._facts, self._facts_to = facts

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
        """
        sent = self._sent or _Sent(0, 0, 0, "", 0)
        found = plain(usage if usage is not None else field_of(response, "usage"))
        reported = cast("dict[str, Any] | None", found if isinstance(found, dict) else None)
        measured = self._meter.take(reported, sent.estimate)
        tokens = measured if measured is not None else self._meter.likely(sent.estimate)
        share = sent.prefix / sent.estimate if sent.estimate else 0.0
        prefix = int(tokens * share)
        cost = cost_of(tokens, prefix, self._api)
        whole = int(tokens * (sent.whole_prefix / sent.estimate)) if sent.estimate else 0
        answer = self._wire.answer(response)
        report = CallReport(
            number=len(self._calls) + 1,
            tokens=tokens,
            measured=measured is not None,
            output_tokens=_output_tokens(reported, answer, self._meter),
            prefix_tokens=prefix,
            cached_tokens=_cached_tokens(reported),
            cost=cost,
            broken_by=sent.broken_by,
            break_cost=cost - cost_of(tokens, whole, self._api) if sent.broken_by else 0.0,
            saved_tokens=sent.saved,
        )
        self._calls.append(report)
        self._sent = None
        if self._monitor is not None:
            self._monitor.record_turn_complete(
                input_tokens=tokens, output_tokens=report.output_tokens, context_tokens=tokens
            )
        if answer is not None:
            self._intake.recorded(answer)
            self._log.append(answer)
            self._view.append(answer, len(self._log) - 1)
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
        return tuple(self._log)

    @property
    def facts(self) -> Facts:
        """What was done in the session so far."""
        self._collect_facts()
        return self._facts

    @property
    def course(self) -> SessionCourse:
        """What each call took."""
        return SessionCourse(tuple(self._calls))

    def window(self) -> ContextWindow:
        """Return what the next request takes of the model's window, by region, and what would leave it first."""
        from tipstaff.context.session.regions import filled_window

        fixed = self._meter.fixed(self._system or "", self._tools, self._tools_key)
        return filled_window(self.config, self._meter, fixed, self._view)

    # -- taking in --------------------------------------------------------------------------------------------------

    def _take_tools(self, tools: Sequence[Any]) -> None:
        keys = tuple(tools)
        if len(keys) == len(self._given_tools) and all(a is b for a, b in zip(keys, self._given_tools, strict=True)):
            return
        self._given_tools = keys
        found = self._wire.tools(keys)
        if found != self._tools:
            if self._sent_before():
                self._broken_by = "tools"
            self._tools, self._tools_key = found, f"tools {len(self._calls)}"

    def _take(self, given: Sequence[Any]) -> bool:
        """Take the caller's messages; return whether the user has spoken in them."""
        news = self._intake.take(given)
        if news.system is not None and news.system != self._callers_system:
            self._callers_system = news.system
            if self._system is not None:
                self._system = None
                self._broken_by = "system"
        if news.keep < len(self._log):
            self._rewind(news.keep)
        start = len(self._log)
        self._log += news.messages
        for offset, message in enumerate(news.messages):
            self._view.append(message, start + offset)
        return any(starts_turn(message) for message in news.messages) or not self._calls

    def _rewind(self, keep: int) -> None:
        """Go back to the first `keep` messages of the session."""
        lost = len(self._log) - keep
        only_answer = lost == 1 and self._view.origins and self._view.origins[-1] == keep
        del self._log[keep:]
        self._facts_to = min(self._facts_to, keep)
        if only_answer and not self._groups_beyond(len(self._view) - 1):
            # The caller's own version of an answer that has not been sent yet.
            for part in (self._view.messages, self._view.costs, self._view.origins):
                part.pop()
            return
        self._broken_by = "history"
        self._deliveries.forget()
        self._view.reset((), ())
        self._facts, self._facts_to = Facts(), 0
        for index, message in enumerate(self._log):
            self._view.append(message, index)

    def _groups_beyond(self, index: int) -> bool:
        return len(self._groups) > index

    def _sent_before(self) -> bool:
        return bool(self._groups)

    # -- context ----------------------------------------------------------------------------------------------------

    def _plan_and_deliver(self, query: str | None, sections: Mapping[str, str], *, turn_begins: bool) -> None:
        last = self._view.messages[-1]
        planned = self._plan(query, sections, with_git=turn_begins)
        if self._system is None:
            self._system = planned.system
            self._deliveries.in_system(planned.stable_contents)
        if last.get("role") != "user":
            return
        due = self._deliveries.due(planned.prompt.sections, planned.contents, turn_begins=turn_begins)
        text = delivered(due)
        if text:
            self._view.add_context(text)
            _, _, troubles = self._requests.record(
                planned, self._view.messages, self._tools, message_tokens=self._view.tokens
            )
            self.problems += troubles
        self.problems += tuple(one for one in planned.problems if one not in self.problems)

    def _plan(self, query: str | None, sections: Mapping[str, str], *, with_git: bool) -> PlannedPrompt:
        history = self._log[-_HISTORY:]
        asked = query if query is not None else _last_words(self._log)
        focus = RequestFocus.extract(asked, history, project_root=str(self._root))
        return self._requests.plan(
            asked,
            focus,
            base="\n\n".join(part for part in (self._base, self._callers_system) if part.strip()),
            with_git=with_git,
            extra=sections,
            tool_guidance=self._sections["tool_guidance"],
            skills=self._sections["skills"],
            environment=self._sections["environment"],
        )

    # -- keeping within the window ----------------------------------------------------------------------------------

    def _estimate(self) -> int:
        return self._meter.fixed(self._system or "", self._tools, self._tools_key) + self._view.tokens

    def _available(self) -> int:
        return self.config.effective_window_tokens

    def _fit(self, query: str | None, sections: Mapping[str, str]) -> None:
        """Shorten the conversation where the request would come near the window's end."""
        available = self._available()
        needed = self._meter.tokens(self._estimate())
        if needed <= self.config.trigger_tokens:
            return
        if needed <= available and needed <= self._stuck_at + int(available * _RETRY_SHARE):
            return
        if self._count_request is not None:
            measured = self._count_request(self._arguments(note=False))
            self._meter.take({"input_tokens": measured}, self._estimate())
            needed = self._meter.tokens(self._estimate())
            if needed <= self.config.trigger_tokens:
                return
        before = self._estimate()
        self._shorten(query, sections)
        for share in (1.0, 0.5, 0.25):
            if self._meter.tokens(self._estimate()) <= available:
                break
            self._shorten_results(int(available * share))
        needed = self._meter.tokens(self._estimate())
        self._stuck_at = needed if needed > self.config.trigger_tokens else 0
        self._saved += max(0, before - self._estimate())
        if (
            needed > available
            and self._meter.likely(self._estimate()) * (1.0 if self._meter.measured else 1.1) > available
        ):
            raise self._overflow(available)

    def _shorten(self, query: str | None, sections: Mapping[str, str]) -> None:
        self._flush()
        before = self._view.without_context()
        origins = list(self._view.origins)
        result = compact(
            before,
            self._system or "",
            config=self.config,
            summarizer=self._summarizer,
            tools=self._tools,
            pinned=self._pinned,
            count=self._meter.counter(),
            reference=self._reference,
            facts=self._facts,
            force=True,
        )
        self.problems += result.warnings
        if self._monitor is not None and result.phase != "none":
            self._monitor.record_compaction(result.original_tokens, result.compacted_tokens, result.phase)
        if result.phase == "none":
            return
        self._start_again(result, origins)
        self._plan_and_deliver(query, sections, turn_begins=True)

    def _start_again(self, result: CompactionResult, origins: list[int]) -> None:
        """Go on with the result of a compaction; the system prompt is read anew, as the cache is lost anyway."""
        self._broken_by = result.phase
        kept = len(result.messages) if result.phase != "summarized" else result.kept
        front = len(result.messages) - kept
        first = origins[len(origins) - kept] if kept else len(self._log)
        self._view.reset(result.messages, [first] * front + origins[len(origins) - kept :])
        self._deliveries.forget()
        self._system = None

    def _shorten_results(self, target: int) -> None:
        """Shorten the largest results until the request takes so many tokens, as hosts do with endless output."""
        wanted = self._meter.estimate_of(target)
        excess = self._estimate() - wanted
        sizes = [
            (self._meter.message({"role": "user", "content": [block]}), index, place)
            for index, message in enumerate(self._view.messages)
            for place, block in enumerate(blocks_of(message))
            if block.get("type") == "tool_result"
        ]
        for size, index, place in sorted(sizes, key=lambda one: (-one[0], one[1], one[2])):
            if excess <= 0 or size < 400:
                return
            message = self._view.messages[index]
            blocks = list(blocks_of(message))
            blocks[place] = shortened_result(blocks[place], max(0.02, 1 - excess / size), self._reference)
            before = self._view.costs[index]
            self._view.replace(index, {"role": message["role"], "content": blocks})
            excess -= before - self._view.costs[index]

    def _overflow(self, available: int) -> WindowOverflowError:
        tokens = self._meter.likely
        system = self._meter.fixed(self._system or "", [], "")
        tools = self._meter.fixed(self._system or "", self._tools, self._tools_key) - system
        ratio = self._meter.ratio
        parts = [OversizedPart("system prompt", int(system * ratio)), OversizedPart("tools", int(tools * ratio))]
        for index, (message, cost) in enumerate(zip(self._view.messages, self._view.costs, strict=True)):
            said = " ".join(text_of(message.get("content")).split())[:60]
            where = f"message {self._view.origins[index] + 1} ({message.get('role')}: {said!r})"
            parts.append(OversizedPart(where, int(cost * ratio)))
        parts.sort(key=lambda part: -part.tokens)
        needed = max(tokens(self._estimate()), available + 1)
        return WindowOverflowError(needed, available, tuple(parts[:_LARGEST_PARTS]))

    # -- sending ----------------------------------------------------------------------------------------------------

    def _arguments(self, *, note: bool = True) -> dict[str, Any]:
        view = self._view
        same = min(view.changed_from, len(self._groups), len(view))
        groups = self._groups[:same] + [self._wire.write(message) for message in view.messages[same:]]
        if note:
            fixed = self._meter.fixed(self._system or "", self._tools, self._tools_key)
            before, first = len(self._groups), not self._calls
            broken = self._broken_by
            sent_before = before and not first
            equal = 0
            if sent_before and broken not in {"system", "tools"}:
                equal = next(
                    (at for at, (a, b) in enumerate(zip(self._groups, groups, strict=False)) if a != b),
                    min(before, len(groups)),
                )
            prefix = (fixed + sum(view.costs[:equal])) if sent_before and broken not in {"system", "tools"} else 0
            whole = fixed + sum(view.costs[:-1])
            self._sent = _Sent(self._estimate(), prefix, whole, broken if sent_before else "", self._saved)
            self._groups = groups
            view.changed_from = len(view)
            self._broken_by, self._saved = "", 0
        return self._wire.arguments(self._system or "", groups, self._tools, self.config.max_output_tokens)

    # -- memory -----------------------------------------------------------------------------------------------------

    def _collect_facts(self) -> None:
        """Read what was done since this was asked last; a call whose result is still out waits for it."""
        end = len(self._log)
        if end and self._log[-1].get("role") == "assistant":
            end -= 1
        if end > self._facts_to:
            self._facts = self._facts.merged(extract_facts(self._log[self._facts_to : end]))
            self._facts_to = end

    def _flush(self) -> None:
        self._collect_facts()
        if self._memory is None:
            return
        from tipstaff.context.sources.auto_memory import flush

        kinds = {
            name: getattr(self._facts, name) for name in ("constraints", "decisions", "failures", "files", "errors")
        }
        self.problems += flush(kinds, self._memory, self._candidates, self._session)


class _Sent:
    """What is kept of a request until its answer comes."""

    __slots__ = ("broken_by", "estimate", "prefix", "saved", "whole_prefix")

    def __init__(self, estimate: int, prefix: int, whole_prefix: int, broken_by: str, saved: int) -> None:
        self.estimate = estimate
        self.prefix = prefix
        self.whole_prefix = whole_prefix
        self.broken_by = broken_by
        self.saved = saved


def _memory_of(root: Path, memory: AutoMemory | str | None) -> AutoMemory | None:
    if not isinstance(memory, str):
        return memory
    from tipstaff.context.sources.auto_memory import AutoMemory

    return AutoMemory.of_project(root)


def _last_words(messages: Sequence[Message]) -> str:
    for message in reversed(messages):
        if starts_turn(message):
            said = [block for block in blocks_of(message) if not delivery_of(block)]
            if text := text_of([{k: v for k, v in block.items() if k != EXTENSION} for block in said]).strip():
                return text
    return ""


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
