"""What enters the model's window: budgeted, assembled, pruned and compacted.

::

    messages, answers --ContextSession--> what to send, from the first call of a session to its last
    rule files --guidance--> the constitution for the system prompt, the rules for a task and its files
    memory_tiers, candidates, git's state --boosts, assembly (budget, truncation)--> the rest of the prompt

A loop needs `ContextSession` alone; the other names are its parts. Public names are loaded when
they are first asked for.
"""

from __future__ import annotations

from tipstaff.lazy import loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tipstaff.context.candidates.similarity import jaccard
    from tipstaff.context.candidates.store import CandidateStore
    from tipstaff.context.conversation.messages import MessageError
    from tipstaff.context.conversation.openai_chat import from_openai_chat, to_openai_chat
    from tipstaff.context.conversation.openai_responses import from_openai_responses, to_openai_responses
    from tipstaff.context.prompt.assembly import ContextAssemblyPlan
    from tipstaff.context.prompt.budget import SystemPromptBudget
    from tipstaff.context.prompt.focus import RequestFocus
    from tipstaff.context.prompt.truncation import truncate
    from tipstaff.context.session.overflow import WindowOverflowError
    from tipstaff.context.session.session import ContextSession
    from tipstaff.context.shortening.compaction import compact
    from tipstaff.context.shortening.compaction_config import CompactionConfig
    from tipstaff.context.shortening.facts import Facts, extract_facts
    from tipstaff.context.shortening.pruning import prune_for_request
    from tipstaff.context.sources.auto_memory import AutoMemory
    from tipstaff.context.sources.memory_tiers import MemoryTiers
    from tipstaff.context.tokens.counting import estimate_message, estimate_tokens, estimate_tools
    from tipstaff.context.tokens.request_tokens import check_budget, estimate_full_context

_HOMES = {
    "AutoMemory": "sources.auto_memory",
    "CandidateStore": "candidates.store",
    "CompactionConfig": "shortening.compaction_config",
    "ContextAssemblyPlan": "prompt.assembly",
    "ContextSession": "session.session",
    "Facts": "shortening.facts",
    "MemoryTiers": "sources.memory_tiers",
    "MessageError": "conversation.messages",
    "RequestFocus": "prompt.focus",
    "SystemPromptBudget": "prompt.budget",
    "WindowOverflowError": "session.overflow",
    "check_budget": "tokens.request_tokens",
    "compact": "shortening.compaction",
    "estimate_full_context": "tokens.request_tokens",
    "estimate_message": "tokens.counting",
    "estimate_tokens": "tokens.counting",
    "estimate_tools": "tokens.counting",
    "extract_facts": "shortening.facts",
    "from_openai_chat": "conversation.openai_chat",
    "from_openai_responses": "conversation.openai_responses",
    "jaccard": "candidates.similarity",
    "prune_for_request": "shortening.pruning",
    "to_openai_chat": "conversation.openai_chat",
    "to_openai_responses": "conversation.openai_responses",
    "truncate": "prompt.truncation",
}

__all__ = [
    "AutoMemory",
    "CandidateStore",
    "CompactionConfig",
    "ContextAssemblyPlan",
    "ContextSession",
    "Facts",
    "MemoryTiers",
    "MessageError",
    "RequestFocus",
    "SystemPromptBudget",
    "WindowOverflowError",
    "check_budget",
    "compact",
    "estimate_full_context",
    "estimate_message",
    "estimate_tokens",
    "estimate_tools",
    "extract_facts",
    "from_openai_chat",
    "from_openai_responses",
    "jaccard",
    "prune_for_request",
    "to_openai_chat",
    "to_openai_responses",
    "truncate",
]

__getattr__ = loader(__name__, {name: f"{__name__}.{home}" for name, home in _HOMES.items()})


def __dir__() -> list[str]:
    return sorted(__all__)
