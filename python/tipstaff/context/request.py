"""One request of an agent from its parts: tiers, rules and candidates, boosted, assembled, pruned, and recorded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tipstaff.context.conversation.messages import Block, Message, blocks_of, with_blocks
from tipstaff.context.inspecting.snapshot import ContextSnapshot, take_snapshot
from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder
from tipstaff.context.planning import PlannedPrompt, PromptPlanner, as_context
from tipstaff.context.prompt.assembly import AssembledPrompt, OverflowPolicy
from tipstaff.context.prompt.budget import SystemPromptBudget
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.measure import scaled_counter
from tipstaff.context.shortening.pruning import PruneResult, prune_for_request
from tipstaff.context.shortening.results import LAST_RESORT_SHARE, shortened_results
from tipstaff.context.sources.git_state import GitState
from tipstaff.context.sources.memory_tiers import MemoryTiers
from tipstaff.context.sources.path_rules import PathRules
from tipstaff.context.tokens.counting import TextCounter, default_counter
from tipstaff.context.tokens.request_tokens import estimate_full_context
from tipstaff.errors import ConfigError, StoreDamagedError, StoreWriteError
from tipstaff.model import Record

if TYPE_CHECKING:
    from tipstaff.context.candidates.store import CandidateStore
    from tipstaff.context.inspecting.monitor import ContextMonitor


class AssembledRequest(Record, frozen=True, kw_only=True):
    """What is to be sent, and how it came to be.

    Attributes
    ----------
    prompt
        All sections with their report.
    system_prompt
        Those that are the same for every request: what is to be sent as the system prompt.
    context
        The others, which are in the last message of the user's; empty where there are none.
    pruned
        The messages as they were pruned, and what the request costs.
    messages
        The messages to send: the pruned ones, the last with the context.
    focus
        What the request is about.
    candidate_ids
        Candidates whose line is in the request: they are in use.
    snapshot
        What was recorded of it.
    problems
        What could not be read, in one sentence each.
    """

    prompt: AssembledPrompt
    system_prompt: str
    context: str
    pruned: PruneResult
    messages: tuple[Any, ...]
    focus: RequestFocus
    candidate_ids: tuple[str, ...]
    snapshot: ContextSnapshot
    problems: tuple[str, ...] = ()


class RequestAssembler:
    """Makes the requests of one session; what does not change between them is read once.

    Parameters
    ----------
    project
        The project's folder.
    base
        The agent's own instructions; never cut.
    config
        The window, what is kept for the answer, and when messages are pruned.
    tools
        Definitions of the tools that are sent with each request.
    session_id
        Under which name snapshots are recorded.
    tiers, rules, git
        Where memory, path rules and the repository's state are read; by default below `project`. None for `git` leaves
        it out.
    candidates
        A store whose promoted candidates are shown and marked as used.
    snapshots
        Where requests are recorded: by default below `project`; None records nothing.
    monitor
        Its state is recorded with each request.
    budget
        Of the system prompt and the context; by default what `config`'s window gives.
    count
        Counter of texts; by default the fitted estimator.

    Attributes
    ----------
    planner
        Plans the prompts.
    snapshots
        Where requests are recorded.

    Notes
    -----
    What is the same for every request is the system prompt: the base, the tiers that people write, tool guidance and
    skills. It stays the same, byte for byte, until one of its files changes. What the agent learned and what belongs to
    this request (git's state, path rules, candidates, task focus) is added to the last message of the user's, so that a
    provider's cache of all that is before it holds.
    """

    def __init__(
        self,
        project: str | os.PathLike[str],
        *,
        base: str = "",
        config: CompactionConfig | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        session_id: str = "session",
        tiers: MemoryTiers | None = None,
        rules: PathRules | None = None,
        git: GitState | str | None = "project",
        candidates: CandidateStore | None = None,
        snapshots: SnapshotFolder | str | None = "project",
        monitor: ContextMonitor | None = None,
        budget: SystemPromptBudget | None = None,
        count: TextCounter | None = None,
    ) -> None:
        for name, value in (("git", git), ("snapshots", snapshots)):
            if isinstance(value, str) and value != "project":
                msg = f"{name}: expected 'project', None or an object, got {value!r}"
                raise ConfigError(msg)
        self._root = Path(project)
        self._config = config or CompactionConfig()
        self._tools = tuple(tools)
        self._session = session_id
        self._store = candidates
        self.planner = PromptPlanner(
            base,
            budget
            or SystemPromptBudget.for_context_window(
                self._config.context_window_tokens, self._config.max_output_tokens
            ),
            tiers or MemoryTiers(self._root),
            rules or PathRules(self._root),
            GitState(self._root) if isinstance(git, str) else git,
            candidates,
        )
        self.snapshots = SnapshotFolder.of_project(self._root) if isinstance(snapshots, str) else snapshots
        self._monitor = monitor
        self._count = count or default_counter()
        self._previous: PruneResult | None = None
        self._cut: dict[str, Block] = {}

    def assemble(
        self,
        query: str,
        messages: Sequence[Message] = (),
        *,
        tool_guidance: str = "",
        skills: str = "",
        environment: str = "",
        usage: object = None,
        on_overflow: OverflowPolicy = "raise",
    ) -> AssembledRequest:
        """Return the next request.

        Parameters
        ----------
        query
            What the user asks for: it decides what is relevant.
        messages
            The whole conversation, the query's message last; it is not changed.
        tool_guidance, skills, environment
            Further sections; blank ones are left out.
        usage
            What the provider reported with its last answer.
        on_overflow
            As :meth:`ContextAssemblyPlan.build` takes it.

        Raises
        ------
        PromptOverflowError
            If the base and the protected tiers alone exceed the budget.
        MessageError
            If a message is not of the Messages API's shape.
        """
        focus = RequestFocus.extract(query, messages, project_root=str(self._root))
        planned = self.planner.plan(
            query, focus, tool_guidance=tool_guidance, skills=skills, environment=environment, on_overflow=on_overflow
        )
        context = as_context(planned.context) if messages and messages[-1].get("role") == "user" else ""
        # What cannot go into a message of the user's goes where it always can.
        system = planned.system if context or not planned.context else planned.system + planned.context
        pruned = prune_for_request(
            messages,
            [{"type": "text", "text": text} for text in (system, context) if text],
            self._tools,
            config=self._config,
            count=self._count,
            usage=usage,
            previous=self._previous,
        )
        self._previous = pruned if pruned.applied else None
        pruned = self._within_window(pruned)
        sent = _with_context(pruned.messages, context) if context else pruned.messages
        beside = estimate_full_context(
            [{"type": "text", "text": text} for text in (system, context) if text], self._tools, (), count=self._count
        )
        in_messages = max(0, pruned.pruned_tokens - round(beside * pruned.scale))
        snapshot, used, troubles = self.record(planned, sent, self._tools, message_tokens=in_messages)
        return AssembledRequest(
            prompt=planned.prompt,
            system_prompt=system,
            context=context,
            pruned=pruned,
            messages=sent,
            focus=focus,
            candidate_ids=used,
            snapshot=snapshot,
            problems=(*planned.problems, *troubles),
        )

    def _within_window(self, pruned: PruneResult) -> PruneResult:
        """Return the messages with results cut where they would not fit into the window at all."""
        excess = pruned.pruned_tokens - int(self._config.effective_window_tokens * LAST_RESORT_SHARE)
        if excess <= 0 and not self._cut:
            return pruned
        count = self._count if pruned.scale == 1.0 else scaled_counter(self._count, pruned.scale)
        messages, saved = shortened_results(pruned.messages, excess, self._cut, count=count)
        tokens = pruned.pruned_tokens - saved
        return pruned.replace(messages=messages, pruned_tokens=tokens) if saved else pruned

    def record(
        self,
        planned: PlannedPrompt,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        *,
        message_tokens: int | None = None,
    ) -> tuple[ContextSnapshot, tuple[str, ...], tuple[str, ...]]:
        """Record a request that is about to be sent, and mark the candidates in it as used.

        Returns
        -------
        snapshot, candidate_ids, problems
            What is kept of a request is worth less than the request: a full disk does not stop it.
        """
        snapshot = take_snapshot(
            planned.prompt,
            session_id=self._session,
            context_window=self._config.context_window_tokens,
            max_output=self._config.max_output_tokens,
            focus=planned.focus,
            candidates=planned.shown,
            tools=tools,
            messages=messages,
            message_tokens=message_tokens,
            live=None if self._monitor is None else self._monitor.state,
            count=self._count,
        )
        used = snapshot.injected_candidate_ids
        troubles: list[str] = []
        try:
            if self.snapshots is not None:
                snapshot = self.snapshots.record(snapshot)
        except StoreWriteError as error:
            troubles.append(f"the request was not recorded: {error}")
        try:
            if self._store is not None and used:
                self._store.mark_used(used)
        except (StoreWriteError, StoreDamagedError) as error:
            troubles.append(f"the candidates were not marked as used: {error}")
        return snapshot, used, tuple(troubles)


def _with_context(messages: Sequence[Message], context: str) -> tuple[Message, ...]:
    last = messages[-1]
    return (*messages[:-1], with_blocks(last, [*blocks_of(last), {"type": "text", "text": context}]))
