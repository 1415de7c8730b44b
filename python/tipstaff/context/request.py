"""One request of an agent from its parts: tiers, rules and candidates, boosted, assembled, pruned, and recorded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tipstaff.context.conversation.messages import CONTEXT_CLOSE, CONTEXT_OPEN, Block, Message, blocks_of, with_blocks
from tipstaff.context.inspecting.snapshot import ContextSnapshot, take_snapshot
from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder
from tipstaff.context.prompt.assembly import AssembledPrompt, ContextAssemblyPlan, OverflowPolicy
from tipstaff.context.prompt.boosts import boost_priority
from tipstaff.context.prompt.budget import SystemPromptBudget
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.prompt.sections import RULES_PREFIX
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.measure import scaled_counter
from tipstaff.context.shortening.pruning import (
    LAST_RESORT_SHARE,
    PruneResult,
    prune_for_request,
    shortened_results,
)
from tipstaff.context.sources.git_state import GitState
from tipstaff.context.sources.memory_tiers import MemoryTiers
from tipstaff.context.sources.path_rules import PathRules, format_rule
from tipstaff.context.tokens.counting import TextCounter, default_counter, estimate_full_context
from tipstaff.errors import ConfigError, StoreDamagedError, StoreWriteError
from tipstaff.model import Record

if TYPE_CHECKING:
    from tipstaff.context.candidates.injection import CandidatePromptAssembler, CandidateSection
    from tipstaff.context.candidates.store import CandidateStore
    from tipstaff.context.inspecting.monitor import ContextMonitor

BASE_PRIORITY: Final = 95
TASK_FOCUS_PRIORITY: Final = 89
RULES_PRIORITY: Final = 88
TOOL_GUIDANCE_PRIORITY: Final = 82
ENVIRONMENT_PRIORITY: Final = 72
SKILLS_PRIORITY: Final = 58
CANDIDATES_PRIORITY: Final = 54
EXTRA_PRIORITY: Final = 85
GIT_PRIORITY: Final = 40

_LEAD: Final = "Added by the host of this session; the user did not write it."

LEARNED_TIERS: Final = frozenset({"Auto-Memory", "Markdown Memory", "Daily Journal"})
"""Tiers that the agent writes itself: they change between requests, and are cut by what the request is about."""


class PlannedPrompt(Record, frozen=True, kw_only=True):
    """What a request is to hold beside its messages.

    Attributes
    ----------
    prompt
        All sections with their report; those that are the same for every request come first.
    system, context
        The sections that are the same for every request, and the others.
    stable_contents, contents
        The text of each section by its key, before anything was cut: of those of `system`, and of all others.
    focus
        What the request is about.
    shown
        The candidates' section.
    problems
        What could not be read, in one sentence each.
    """

    prompt: AssembledPrompt
    system: str
    context: str
    stable_contents: dict[str, str]
    contents: dict[str, str]
    focus: RequestFocus
    shown: Any
    problems: tuple[str, ...]


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
        self._base = base
        self._config = config or CompactionConfig()
        self._tools = tuple(tools)
        self._session = session_id
        self._tiers = tiers or MemoryTiers(self._root)
        self._rules = rules or PathRules(self._root)
        self._git = GitState(self._root) if isinstance(git, str) else git
        self._store = candidates
        self._chosen: CandidatePromptAssembler | None = None
        if candidates is not None:
            from tipstaff.context.candidates.injection import CandidatePromptAssembler

            self._chosen = CandidatePromptAssembler(candidates)
        self._snapshots = SnapshotFolder.of_project(self._root) if isinstance(snapshots, str) else snapshots
        self._monitor = monitor
        self._budget = budget or SystemPromptBudget.for_context_window(
            self._config.context_window_tokens, self._config.max_output_tokens
        )
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
        planned = self.plan(
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
        spoken = max(0, pruned.pruned_tokens - round(beside * pruned.scale))
        snapshot, used, troubles = self.record(planned, sent, self._tools, message_tokens=spoken)
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

    def plan(
        self,
        query: str,
        focus: RequestFocus,
        *,
        base: str | None = None,
        tool_guidance: str = "",
        skills: str = "",
        environment: str = "",
        extra: Mapping[str, str] | None = None,
        with_git: bool = True,
        on_overflow: OverflowPolicy = "raise",
    ) -> PlannedPrompt:
        """Return what a request is to hold beside its messages; nothing is recorded.

        Parameters
        ----------
        query, focus
            What the user asks for, and what it is about.
        base
            Other instructions of the agent than those given to the assembler.
        tool_guidance, skills, environment, on_overflow
            As :meth:`assemble` takes them.
        extra
            Further sections that change between requests, by key.
        with_git
            Whether git is asked.

        Raises
        ------
        PromptOverflowError
            If the base and the protected tiers alone exceed the budget.
        """
        troubles: list[str] = []
        shown = self._candidates_for(query, focus, troubles)
        parts = _Parts(self._base if base is None else base, tool_guidance, skills, environment, dict(extra or {}))
        git = self._git.section() if self._git is not None and with_git else ""
        plan, stable, contents, problems = self._plan(focus, shown, parts, git)
        prompt = plan.build(self._budget, on_overflow=on_overflow)
        return PlannedPrompt(
            prompt=prompt,
            system=prompt.prompt[: prompt.stable_chars],
            context=prompt.prompt[prompt.stable_chars :],
            stable_contents=stable,
            contents=contents,
            focus=focus,
            shown=shown,
            problems=(*problems, *troubles),
        )

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
            if self._snapshots is not None:
                snapshot = self._snapshots.record(snapshot)
        except StoreWriteError as error:
            troubles.append(f"the request was not recorded: {error}")
        try:
            if self._store is not None and used:
                self._store.mark_used(used)
        except (StoreWriteError, StoreDamagedError) as error:
            troubles.append(f"the candidates were not marked as used: {error}")
        return snapshot, used, tuple(troubles)

    def _candidates_for(self, query: str, focus: RequestFocus, troubles: list[str]) -> CandidateSection | None:
        """Return the candidates' section, None where there is none or the store cannot be read."""
        if self._chosen is None or self._store is None:
            return None
        try:
            shown = self._chosen.assemble(query, paths=focus.active_file_paths)
        except (StoreWriteError, StoreDamagedError) as error:
            troubles.append(f"no candidates are shown: {error}")
            return None
        troubles += [f"{self._store.path}: {incident.detail}" for incident in self._store.incidents]
        return shown

    def _plan(
        self, focus: RequestFocus, shown: CandidateSection | None, parts: _Parts, git: str
    ) -> tuple[ContextAssemblyPlan, dict[str, str], dict[str, str], tuple[str, ...]]:
        plan = ContextAssemblyPlan()
        stable: dict[str, str] = {}
        tiers = self._tiers.load()
        learned = [tier for tier in tiers if tier.tier in LEARNED_TIERS]
        if parts.base.strip():
            plan.add_section("base", parts.base, BASE_PRIORITY, True)
        for tier in tiers:
            if tier.tier in LEARNED_TIERS:
                continue
            # No boost: the request may not move where these are cut.
            plan.add_section(tier.key, tier.content, tier.priority, tier.protected, stable=True)
            stable[tier.key] = tier.content
        for key, text, priority in (
            ("tool-guidance", parts.tool_guidance, TOOL_GUIDANCE_PRIORITY),
            ("skills", parts.skills, SKILLS_PRIORITY),
        ):
            if text.strip():
                plan.add_section(key, _apart(text), priority, stable=True)
        matches = self._rules.match(focus.active_file_paths)
        active = tuple(dict.fromkeys(file for match in matches for file in match.files))
        sections = [(tier.key, tier.content, tier.priority) for tier in learned]
        sections += [
            ("environment", _apart(parts.environment), ENVIRONMENT_PRIORITY),
            ("git", git, GIT_PRIORITY),
            *((f"{RULES_PREFIX}{match.rule.name}", format_rule(match.rule), RULES_PRIORITY) for match in matches),
            ("candidates", _apart(shown.text) if shown is not None else "", CANDIDATES_PRIORITY),
            *((key, _apart(text), EXTRA_PRIORITY) for key, text in parts.extra.items()),
            ("task-focus", _task_focus(focus), TASK_FOCUS_PRIORITY),
        ]
        contents: dict[str, str] = {}
        for key, content, priority in sections:
            if not content:
                continue
            contents[key] = content
            boosted = boost_priority(key, priority, content, focus, matching_files=active)
            plan.add_section(
                key,
                content,
                boosted.priority,
                base_priority=boosted.base_priority,
                boosts=boosted.boosts,
                evidence=_evidence(key, focus, active),
                focus=focus if key.startswith(("memory:", "candidates")) else None,
            )
        problems = [f"{found.path}: {found.message}" for found in self._tiers.problems]
        problems += [f"{found.path}: {found.message}" for found in self._rules.problems]
        if self._git is not None and self._git.problem:
            problems.append(self._git.problem)
        return plan, stable, contents, tuple(problems)


class _Parts(NamedTuple):
    """Texts of a request that its caller gives."""

    base: str
    tool_guidance: str
    skills: str
    environment: str
    extra: dict[str, str]


def as_context(body: str) -> str:
    """Return what a host adds to a message of the user's, framed so that nobody takes it for the user's words."""
    text = body.strip().replace(CONTEXT_CLOSE, "</tipstaff_context>")
    return f"{CONTEXT_OPEN}\n{_LEAD}\n\n{text}\n{CONTEXT_CLOSE}" if text else ""


def _with_context(messages: Sequence[Message], context: str) -> tuple[Message, ...]:
    last = messages[-1]
    return (*messages[:-1], with_blocks(last, [*blocks_of(last), {"type": "text", "text": context}]))


def _apart(text: str) -> str:
    return f"\n\n{text.strip()}\n" if text.strip() else ""


def _task_focus(focus: RequestFocus) -> str:
    lines = [
        f"- {label}: {', '.join(values)}"
        for label, values in (
            ("Files", focus.active_file_paths),
            ("Symbols", focus.active_symbols),
            ("Signals", focus.plan_signals),
        )
        if values
    ]
    return "\n\n# Task focus\n\n" + "\n".join(lines) + "\n" if lines else ""


def _evidence(key: str, focus: RequestFocus, active: Iterable[str]) -> tuple[str, ...]:
    if key == "task-focus":
        return tuple(f"plan={signal}" for signal in focus.plan_signals) or ("query",)
    if key.startswith(RULES_PREFIX):
        return tuple(f"files={file}" for file in active)
    return ()
