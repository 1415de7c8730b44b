"""One request of an agent from its parts: tiers, rules and candidates, boosted, assembled, pruned, and recorded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tipstaff.context.inspecting.snapshot import ContextSnapshot, take_snapshot
from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder
from tipstaff.context.prompt.assembly import AssembledPrompt, ContextAssemblyPlan, OverflowPolicy
from tipstaff.context.prompt.boosts import boost_priority
from tipstaff.context.prompt.budget import SystemPromptBudget
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.shortening.compaction_config import CompactionConfig
from tipstaff.context.shortening.pruning import PruneResult, prune_for_request
from tipstaff.context.sources.git_state import GitState
from tipstaff.context.sources.memory_tiers import MemoryTiers
from tipstaff.context.sources.path_rules import PathRules, format_rules
from tipstaff.errors import ConfigError, StoreDamagedError, StoreWriteError
from tipstaff.model import Record

if TYPE_CHECKING:
    from tipstaff.context.candidates.injection import CandidatePromptAssembler, CandidateSection
    from tipstaff.context.candidates.store import CandidateStore
    from tipstaff.context.conversation.messages import Message
    from tipstaff.context.inspecting.monitor import ContextMonitor

BASE_PRIORITY: Final = 95
TASK_FOCUS_PRIORITY: Final = 89
RULES_PRIORITY: Final = 88
TOOL_GUIDANCE_PRIORITY: Final = 82
ENVIRONMENT_PRIORITY: Final = 72
SKILLS_PRIORITY: Final = 58
CANDIDATES_PRIORITY: Final = 54
GIT_PRIORITY: Final = 40

LEARNED_TIERS: Final = frozenset({"Auto-Memory", "Markdown Memory", "Daily Journal"})
"""Tiers that the agent writes itself: they change between requests, and are cut by what the request is about."""


class AssembledRequest(Record, frozen=True, kw_only=True):
    """What is to be sent, and how it came to be.

    Attributes
    ----------
    prompt
        The system prompt with its report.
    pruned
        The messages to send, and what they cost.
    focus
        What the request is about.
    candidate_ids
        Candidates whose line is in the prompt: they are in use.
    snapshot
        What was recorded of it.
    problems
        What could not be read, in one sentence each.
    """

    prompt: AssembledPrompt
    pruned: PruneResult
    focus: RequestFocus
    candidate_ids: tuple[str, ...]
    snapshot: ContextSnapshot
    problems: tuple[str, ...] = ()

    @property
    def system_prompt(self) -> str:
        """The text of the system prompt."""
        return self.prompt.prompt

    @property
    def messages(self) -> tuple[Any, ...]:
        """The messages to send."""
        return self.pruned.messages


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
        Of the system prompt; by default what `config`'s window gives.

    Notes
    -----
    The order is that of the prompt's life: what is the same for every request stands first, the base and the tiers
    that people write; then what the agent learned; then what belongs to this request. So the beginning is the same,
    byte for byte, from request to request (``prompt.stable_chars``) until one of its files changes.
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
        self._previous: PruneResult | None = None

    def assemble(
        self,
        query: str,
        messages: Sequence[Message] = (),
        *,
        tool_guidance: str = "",
        skills: str = "",
        environment: str = "",
        usage: Mapping[str, Any] | None = None,
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
        focus = RequestFocus.extract(query, messages[:-1], project_root=str(self._root))
        troubles: list[str] = []
        shown = self._candidates_for(query, focus, troubles)
        plan, problems = self._plan(focus, shown, tool_guidance, skills, environment)
        prompt = plan.build(self._budget, on_overflow=on_overflow)
        pruned = prune_for_request(
            messages, prompt.prompt, self._tools, config=self._config, usage=usage, previous=self._previous
        )
        self._previous = pruned if pruned.applied else None
        snapshot = take_snapshot(
            prompt,
            session_id=self._session,
            context_window=self._config.context_window_tokens,
            max_output=self._config.max_output_tokens,
            focus=focus,
            candidates=shown,
            tools=self._tools,
            messages=pruned.messages,
            live=None if self._monitor is None else self._monitor.state,
        )
        used = snapshot.injected_candidate_ids
        # What is kept of a request is worth less than the request: a full disk does not stop it.
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
        return AssembledRequest(
            prompt=prompt,
            pruned=pruned,
            focus=focus,
            candidate_ids=used,
            snapshot=snapshot,
            problems=(*problems, *troubles),
        )

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
        self, focus: RequestFocus, shown: CandidateSection | None, tool_guidance: str, skills: str, environment: str
    ) -> tuple[ContextAssemblyPlan, tuple[str, ...]]:
        plan = ContextAssemblyPlan()
        tiers = self._tiers.load()
        written = [tier for tier in tiers if tier.tier not in LEARNED_TIERS]
        learned = [tier for tier in tiers if tier.tier in LEARNED_TIERS]
        if self._base.strip():
            plan.add_section("base", self._base, BASE_PRIORITY, True)
        for tier in written:
            # No boost: the request may not move where these are cut.
            plan.add_section(tier.key, tier.content, tier.priority, tier.protected, stable=True)
        if tool_guidance.strip():
            plan.add_section("tool-guidance", _apart(tool_guidance), TOOL_GUIDANCE_PRIORITY, stable=True)
        if skills.strip():
            plan.add_section("skills", _apart(skills), SKILLS_PRIORITY, stable=True)
        matches = self._rules.match(focus.active_file_paths)
        active = tuple(dict.fromkeys(file for match in matches for file in match.files))
        sections = [(tier.key, tier.content, tier.priority) for tier in learned]
        sections += [
            ("environment", _apart(environment), ENVIRONMENT_PRIORITY),
            ("git", self._git.section() if self._git is not None else "", GIT_PRIORITY),
            ("rules", format_rules(matches), RULES_PRIORITY),
            ("candidates", _apart(shown.text) if shown is not None else "", CANDIDATES_PRIORITY),
            ("task-focus", _task_focus(focus), TASK_FOCUS_PRIORITY),
        ]
        for key, content, priority in sections:
            if not content:
                continue
            boosted = boost_priority(key, priority, content, focus, matching_files=active)
            plan.add_section(
                key,
                content,
                boosted.priority,
                base_priority=boosted.base_priority,
                boosts=boosted.boosts,
                evidence=_evidence(key, focus, active),
                focus=focus if key.startswith("memory:") or key == "rules" else None,
            )
        problems = [f"{found.path}: {found.message}" for found in self._tiers.problems]
        problems += [f"{found.path}: {found.message}" for found in self._rules.problems]
        if self._git is not None and self._git.problem:
            problems.append(self._git.problem)
        return plan, tuple(problems)


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
    if key == "rules":
        return tuple(f"files={file}" for file in active)
    return ()
