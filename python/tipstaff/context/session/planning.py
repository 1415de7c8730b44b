"""What a request is to hold beside its messages, and when the model sees it.

Rules, tiers, candidates and git's state are boosted and assembled. What is the same for every request is in the system
prompt; what changes between calls is delivered once, in the last message of the user's. Both stay as they were sent,
byte for byte, until a break of the cache (a compaction) throws them away: then all is delivered again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tipstaff.context.conversation.messages import CONTEXT_CLOSE, CONTEXT_OPEN
from tipstaff.context.prompt.assembly import AssembledPrompt, ContextAssemblyPlan
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.prompt.sections import (
    CONSTITUTION_KEY,
    MEMORY_PREFIX,
    TASK_FOCUS_KEY,
    TASK_RULES_KEY,
    SectionReport,
    SystemPromptBudget,
    boost_priority,
)
from tipstaff.context.session.wire import Restorable
from tipstaff.context.sources.git_state import GitState
from tipstaff.context.sources.memory_tiers import MemoryTier, MemoryTiers
from tipstaff.context.sources.project_rules import GivenRule, ProjectRules, rules_text
from tipstaff.errors import StoreDamagedError, StoreWriteError
from tipstaff.model import Record

if TYPE_CHECKING:
    from tipstaff.context.candidates.injection import CandidatePromptAssembler, CandidateSection
    from tipstaff.context.candidates.store import CandidateStore
    from tipstaff.context.sources.auto_memory import AutoMemory


BASE_PRIORITY: Final = 95
CONSTITUTION_PRIORITY: Final = 94
TASK_FOCUS_PRIORITY: Final = 89
RULES_PRIORITY: Final = 89
TOOL_GUIDANCE_PRIORITY: Final = 82
ENVIRONMENT_PRIORITY: Final = 72
SKILLS_PRIORITY: Final = 58
CANDIDATES_PRIORITY: Final = 54
EXTRA_PRIORITY: Final = 85
GIT_PRIORITY: Final = 40

_LEAD: Final = "Added by the host of this session; the user did not write it."

RULE_TIERS: Final = frozenset({"Workspace Memory", "User Memory", "Local Memory"})
"""Tiers of which the files are rule files."""

LEARNED_TIERS: Final = frozenset({"Auto-Memory", "Markdown Memory", "Daily Journal"})
"""Tiers that the agent writes itself: they change between requests, and are cut by what the request is about."""


class PlannedPrompt(Record, frozen=True, kw_only=True):
    """What a request is to hold beside its messages.

    Attributes
    ----------
    prompt, system
        All sections with their report, those first that are the same for every request: `system` is the text of these.
    contents
        The text of each other section by its key, before anything was cut.
    focus, shown
        What the request is about; the candidates' section.
    problems
        What could not be read, in one sentence each.
    """

    prompt: AssembledPrompt
    system: str
    contents: dict[str, str]
    focus: RequestFocus
    shown: Any
    problems: tuple[str, ...]


class PromptPlanner:
    """Plans the prompts of one session, from what is read for each.

    Tiers, git, candidates, and the project's compiled rules. With `whole_files` rule files are sent whole as well. What
    was written through `memory`, or by a session of this name, is left out: the conversation holds it.
    """

    def __init__(
        self,
        budget: SystemPromptBudget,
        tiers: MemoryTiers,
        git: GitState | None,
        candidates: CandidateStore | None,
        rules: ProjectRules | None,
        *,
        whole_files: bool = False,
        tool_guidance: str = "",
        skills: str = "",
        environment: str = "",
        memory: AutoMemory | None = None,
        session: str = "",
    ) -> None:
        self._session = session
        self._budget = budget
        self._tiers = tiers
        self._rules = rules
        self._whole_files = whole_files
        self._git = git
        self._store = candidates
        self._given = (tool_guidance, skills, environment)
        self._memory = memory
        self._chosen: CandidatePromptAssembler | None = None
        if candidates is not None:
            from tipstaff.context.candidates.injection import CandidatePromptAssembler

            self._chosen = CandidatePromptAssembler(candidates)

    def plan(
        self,
        query: str,
        focus: RequestFocus,
        *,
        base: str = "",
        rules: Sequence[GivenRule] = (),
        withdrawn: Sequence[str] = (),
        extra: Mapping[str, str] | None = None,
        with_git: bool = True,
    ) -> PlannedPrompt:
        """Return what a request is to hold beside its messages; nothing is recorded.

        `rules` are those that its last message brings, `withdrawn` ids of those that hold no more, `extra` further
        sections that change between requests. Raises `PromptOverflowError` if `base` (the agent's own instructions,
        never cut) and the protected tiers alone exceed the budget.
        """
        troubles: list[str] = []
        shown = self._candidates_for(query, focus, troubles)
        plan = ContextAssemblyPlan()
        compiled = self._rules
        tiers = self._tiers.load(without=None if compiled is None or self._whole_files else compiled.states)
        if compiled is None:
            tiers = tuple(tier for tier in tiers if tier.tier not in RULE_TIERS)
        learned = [tier for tier in tiers if tier.tier in LEARNED_TIERS]
        tool_guidance, skills, environment = self._given
        if base.strip():
            plan.add_section("base", base, BASE_PRIORITY, True)
        if compiled is not None and (text := compiled.system()[1]):
            plan.add_section(CONSTITUTION_KEY, _apart(text), CONSTITUTION_PRIORITY, True)
        for tier in tiers:
            if tier.tier not in LEARNED_TIERS:
                # No boost: the request may not move where these are cut.
                plan.add_section(tier.key, tier.content, tier.priority, tier.protected, stable=True)
        for key, text, priority in (
            ("tool-guidance", tool_guidance, TOOL_GUIDANCE_PRIORITY),
            ("skills", skills, SKILLS_PRIORITY),
        ):
            if text.strip():
                plan.add_section(key, _apart(text), priority, stable=True)
        active = tuple(one.reason.rpartition(" ")[2] for one in rules if one.reason.startswith("file: "))
        sections = [(tier.key, _learned(tier, self._memory, self._session), tier.priority) for tier in learned]
        sections += [
            ("environment", _apart(environment), ENVIRONMENT_PRIORITY),
            ("git", self._git.section() if self._git is not None and with_git else "", GIT_PRIORITY),
            (TASK_RULES_KEY, rules_text(rules, withdrawn), RULES_PRIORITY),
            ("candidates", _apart(shown.text) if shown is not None else "", CANDIDATES_PRIORITY),
            *((key, _apart(text), EXTRA_PRIORITY) for key, text in (extra or {}).items()),
            (TASK_FOCUS_KEY, _task_focus(focus), TASK_FOCUS_PRIORITY),
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
                evidence=_evidence(key, focus, rules),
                focus=focus if key.startswith(("memory:", "candidates")) else None,
            )
        problems = [f"{found.path}: {found.message}" for found in self._tiers.problems]
        problems += compiled.problems if compiled is not None else ()
        if self._git is not None and self._git.problem:
            problems.append(self._git.problem)
        prompt = plan.build(self._budget)
        return PlannedPrompt(
            prompt=prompt,
            system=prompt.prompt[: prompt.stable_chars],
            contents=contents,
            focus=focus,
            shown=shown,
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


def as_context(body: str) -> str:
    """Return what a host adds to a message of the user's, framed so that nobody takes it for the user's words."""
    text = body.strip().replace(CONTEXT_CLOSE, "</tipstaff_context>")
    return f"{CONTEXT_OPEN}\n{_LEAD}\n\n{text}\n{CONTEXT_CLOSE}" if text else ""


def _learned(tier: MemoryTier, memory: AutoMemory | None, session: str) -> str:
    if memory is None or tier.tier != "Auto-Memory":
        return tier.content
    text = memory.without_written(tier.text, session)
    return tier.content.replace(tier.text, text) if text.strip() else ""


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


def _evidence(key: str, focus: RequestFocus, rules: Sequence[GivenRule]) -> tuple[str, ...]:
    if key == TASK_FOCUS_KEY:
        return tuple(f"plan={signal}" for signal in focus.plan_signals) or ("query",)
    return tuple(f"{one.id}: {one.reason}" for one in rules) if key == TASK_RULES_KEY else ()


STATE_KEY: Final = "state"
_SMALL_CHARS: Final = 2_000


class Deliveries(Restorable):
    """Which sections, and which rules by id, the model has been given in this session.

    `waiting` are rules of edited files that are to be given with the next message that may hold them.
    """

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.rules: dict[str, GivenRule] = {}
        self.waiting: tuple[GivenRule, ...] = ()

    def forget(self) -> None:
        """Everything is to be delivered again: what was delivered is no longer in the conversation."""
        self.known.clear()
        self.rules.clear()

    def take_rules(self, rules: Sequence[GivenRule], withdrawn: Iterable[str]) -> None:
        """Take rules as delivered, and others as withdrawn."""
        for rule_id in withdrawn:
            self.rules.pop(rule_id, None)
        self.rules.update({one.id: one for one in rules})
        self.waiting = ()

    def due(
        self, sections: Iterable[SectionReport], contents: Mapping[str, str], *, turn_begins: bool
    ) -> list[SectionReport]:
        """Return the sections that are to be delivered now, and take them as delivered.

        A section without a text in `contents` is in the system prompt. Between a call and its result (no turn
        begins) only rules are delivered: git's state changes with every edit and is not new to the one who edits.
        """
        found: list[SectionReport] = []
        for section in sections:
            key = section.key
            text = contents.get(key)
            known = self.known.get(key)
            if text is None or not section.included:
                continue
            if key != TASK_RULES_KEY:
                if (not turn_begins and key != STATE_KEY) or known == text:
                    continue
                # The agent writes these memories itself: it need not read them again each time it has. What a request
                # is about is read from messages that the conversation holds.
                if known is not None and (
                    key == TASK_FOCUS_KEY or (key.startswith(MEMORY_PREFIX) and len(text) > _SMALL_CHARS)
                ):
                    continue
                self.known[key] = text
            found.append(section)
        return found


def delivered(sections: Iterable[SectionReport]) -> str:
    """Return the text of a delivery; empty without sections."""
    return as_context("".join(section.content for section in sections))
