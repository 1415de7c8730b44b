"""What enters the model's window: budgeted, assembled, pruned and compacted.

::

    query, history --focus--> what the request is about
    memory_tiers, path_rules, other texts --boosts--> sections with priorities
    sections --assembly (budget, truncation)--> the system prompt, and a report of what was cut
    messages, answers --ContextSession--> what to send, from the first call of a session to its last

A loop needs `ContextSession` alone; the other names are its parts.

Public names are loaded when they are first asked for, as in the package itself.
"""

from __future__ import annotations

from tipstaff.lazy import loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tipstaff.context.candidates.config import CandidateConfig
    from tipstaff.context.candidates.injection import CandidatePromptAssembler, CandidatePromptConfig, CandidateSection
    from tipstaff.context.candidates.records import (
        Candidate,
        CandidateObservation,
        CandidateState,
        CandidateTransition,
        Incident,
    )
    from tipstaff.context.candidates.similarity import jaccard
    from tipstaff.context.candidates.store import CandidateStore
    from tipstaff.context.conversation.messages import MessageError, without_extensions
    from tipstaff.context.conversation.openai_chat import from_openai_chat, split_system, to_openai_chat
    from tipstaff.context.conversation.openai_responses import from_openai_responses, to_openai_responses
    from tipstaff.context.inspecting.inspection import context_methods, inspect_document
    from tipstaff.context.inspecting.json_rpc import Dispatcher, Method, RpcError
    from tipstaff.context.inspecting.monitor import ContextMonitor, MonitorState
    from tipstaff.context.inspecting.snapshot import ContextSnapshot, take_snapshot
    from tipstaff.context.inspecting.snapshot_folder import SnapshotFolder
    from tipstaff.context.inspecting.socket_server import SocketServer
    from tipstaff.context.inspecting.treemap import treemap_svg
    from tipstaff.context.prompt.allowances import PromptOverflowError
    from tipstaff.context.prompt.assembly import AssembledPrompt, ContextAssemblyPlan
    from tipstaff.context.prompt.boosts import PriorityBoost, boost_priority
    from tipstaff.context.prompt.budget import SystemPromptBudget
    from tipstaff.context.prompt.focus import RequestFocus
    from tipstaff.context.prompt.sections import SectionReport
    from tipstaff.context.prompt.truncation import truncate
    from tipstaff.context.request import AssembledRequest, RequestAssembler
    from tipstaff.context.session.course import CallReport, SessionCourse
    from tipstaff.context.session.overflow import OversizedPart, WindowOverflowError
    from tipstaff.context.session.session import ContextSession
    from tipstaff.context.shortening.compaction import CompactionResult, compact
    from tipstaff.context.shortening.compaction_config import CompactionConfig
    from tipstaff.context.shortening.facts import Facts, extract_facts
    from tipstaff.context.shortening.model_calls import SummarizerError
    from tipstaff.context.shortening.pruner import PrunedPart, Pruner
    from tipstaff.context.shortening.pruning import PruneResult, prune_for_request
    from tipstaff.context.shortening.summarizers import (
        AnthropicSummarizer,
        CommandSummarizer,
        ExtractiveSummarizer,
        OpenAISummarizer,
        Summarizer,
        SummaryRequest,
    )
    from tipstaff.context.sources.auto_memory import AutoMemory
    from tipstaff.context.sources.git_state import GitState
    from tipstaff.context.sources.memory_tiers import MemoryTier, MemoryTiers, TierSource
    from tipstaff.context.sources.path_rules import PathRule, PathRules
    from tipstaff.context.tokens.counting import (
        estimate_block,
        estimate_message,
        estimate_system_prompt,
        estimate_tokens,
        estimate_tools,
        usage_tokens,
    )
    from tipstaff.context.tokens.estimator import TokenEstimator
    from tipstaff.context.tokens.request_tokens import (
        BudgetCheck,
        ConversationMeter,
        check_budget,
        estimate_full_context,
        forget_conversations,
    )

_HOMES = {
    "AutoMemory": "tipstaff.context.sources.auto_memory",
    "CallReport": "tipstaff.context.session.course",
    "SessionCourse": "tipstaff.context.session.course",
    "ContextSession": "tipstaff.context.session.session",
    "OversizedPart": "tipstaff.context.session.overflow",
    "WindowOverflowError": "tipstaff.context.session.overflow",
    "AssembledPrompt": "tipstaff.context.prompt.assembly",
    "ContextAssemblyPlan": "tipstaff.context.prompt.assembly",
    "PromptOverflowError": "tipstaff.context.prompt.allowances",
    "PriorityBoost": "tipstaff.context.prompt.boosts",
    "boost_priority": "tipstaff.context.prompt.boosts",
    "SystemPromptBudget": "tipstaff.context.prompt.budget",
    "CandidateConfig": "tipstaff.context.candidates.config",
    "CandidatePromptAssembler": "tipstaff.context.candidates.injection",
    "CandidatePromptConfig": "tipstaff.context.candidates.injection",
    "CandidateSection": "tipstaff.context.candidates.injection",
    "Candidate": "tipstaff.context.candidates.records",
    "CandidateObservation": "tipstaff.context.candidates.records",
    "CandidateState": "tipstaff.context.candidates.records",
    "CandidateTransition": "tipstaff.context.candidates.records",
    "Incident": "tipstaff.context.candidates.records",
    "jaccard": "tipstaff.context.candidates.similarity",
    "CandidateStore": "tipstaff.context.candidates.store",
    "CompactionResult": "tipstaff.context.shortening.compaction",
    "compact": "tipstaff.context.shortening.compaction",
    "TokenEstimator": "tipstaff.context.tokens.estimator",
    "Facts": "tipstaff.context.shortening.facts",
    "extract_facts": "tipstaff.context.shortening.facts",
    "RequestFocus": "tipstaff.context.prompt.focus",
    "GitState": "tipstaff.context.sources.git_state",
    "context_methods": "tipstaff.context.inspecting.inspection",
    "inspect_document": "tipstaff.context.inspecting.inspection",
    "Dispatcher": "tipstaff.context.inspecting.json_rpc",
    "Method": "tipstaff.context.inspecting.json_rpc",
    "RpcError": "tipstaff.context.inspecting.json_rpc",
    "MemoryTier": "tipstaff.context.sources.memory_tiers",
    "MemoryTiers": "tipstaff.context.sources.memory_tiers",
    "TierSource": "tipstaff.context.sources.memory_tiers",
    "MessageError": "tipstaff.context.conversation.messages",
    "without_extensions": "tipstaff.context.conversation.messages",
    "SummarizerError": "tipstaff.context.shortening.model_calls",
    "ContextMonitor": "tipstaff.context.inspecting.monitor",
    "MonitorState": "tipstaff.context.inspecting.monitor",
    "from_openai_chat": "tipstaff.context.conversation.openai_chat",
    "split_system": "tipstaff.context.conversation.openai_chat",
    "to_openai_chat": "tipstaff.context.conversation.openai_chat",
    "from_openai_responses": "tipstaff.context.conversation.openai_responses",
    "to_openai_responses": "tipstaff.context.conversation.openai_responses",
    "PathRule": "tipstaff.context.sources.path_rules",
    "PathRules": "tipstaff.context.sources.path_rules",
    "CompactionConfig": "tipstaff.context.shortening.compaction_config",
    "PruneResult": "tipstaff.context.shortening.pruning",
    "PrunedPart": "tipstaff.context.shortening.pruner",
    "Pruner": "tipstaff.context.shortening.pruner",
    "prune_for_request": "tipstaff.context.shortening.pruning",
    "AssembledRequest": "tipstaff.context.request",
    "RequestAssembler": "tipstaff.context.request",
    "SectionReport": "tipstaff.context.prompt.sections",
    "ContextSnapshot": "tipstaff.context.inspecting.snapshot",
    "SnapshotFolder": "tipstaff.context.inspecting.snapshot_folder",
    "take_snapshot": "tipstaff.context.inspecting.snapshot",
    "SocketServer": "tipstaff.context.inspecting.socket_server",
    "AnthropicSummarizer": "tipstaff.context.shortening.summarizers",
    "CommandSummarizer": "tipstaff.context.shortening.summarizers",
    "ExtractiveSummarizer": "tipstaff.context.shortening.summarizers",
    "OpenAISummarizer": "tipstaff.context.shortening.summarizers",
    "Summarizer": "tipstaff.context.shortening.summarizers",
    "SummaryRequest": "tipstaff.context.shortening.summarizers",
    "BudgetCheck": "tipstaff.context.tokens.request_tokens",
    "ConversationMeter": "tipstaff.context.tokens.request_tokens",
    "check_budget": "tipstaff.context.tokens.request_tokens",
    "estimate_block": "tipstaff.context.tokens.counting",
    "estimate_full_context": "tipstaff.context.tokens.request_tokens",
    "estimate_message": "tipstaff.context.tokens.counting",
    "estimate_system_prompt": "tipstaff.context.tokens.counting",
    "estimate_tokens": "tipstaff.context.tokens.counting",
    "estimate_tools": "tipstaff.context.tokens.counting",
    "forget_conversations": "tipstaff.context.tokens.request_tokens",
    "usage_tokens": "tipstaff.context.tokens.counting",
    "treemap_svg": "tipstaff.context.inspecting.treemap",
    "truncate": "tipstaff.context.prompt.truncation",
}

__all__ = [
    "AnthropicSummarizer",
    "AssembledPrompt",
    "AssembledRequest",
    "AutoMemory",
    "BudgetCheck",
    "CallReport",
    "Candidate",
    "CandidateConfig",
    "CandidateObservation",
    "CandidatePromptAssembler",
    "CandidatePromptConfig",
    "CandidateSection",
    "CandidateState",
    "CandidateStore",
    "CandidateTransition",
    "CommandSummarizer",
    "CompactionConfig",
    "CompactionResult",
    "ContextAssemblyPlan",
    "ContextMonitor",
    "ContextSession",
    "ContextSnapshot",
    "ConversationMeter",
    "Dispatcher",
    "ExtractiveSummarizer",
    "Facts",
    "GitState",
    "Incident",
    "MemoryTier",
    "MemoryTiers",
    "MessageError",
    "Method",
    "MonitorState",
    "OpenAISummarizer",
    "OversizedPart",
    "PathRule",
    "PathRules",
    "PriorityBoost",
    "PromptOverflowError",
    "PruneResult",
    "PrunedPart",
    "Pruner",
    "RequestAssembler",
    "RequestFocus",
    "RpcError",
    "SectionReport",
    "SessionCourse",
    "SnapshotFolder",
    "SocketServer",
    "Summarizer",
    "SummarizerError",
    "SummaryRequest",
    "SystemPromptBudget",
    "TierSource",
    "TokenEstimator",
    "WindowOverflowError",
    "boost_priority",
    "check_budget",
    "compact",
    "context_methods",
    "estimate_block",
    "estimate_full_context",
    "estimate_message",
    "estimate_system_prompt",
    "estimate_tokens",
    "estimate_tools",
    "extract_facts",
    "forget_conversations",
    "from_openai_chat",
    "from_openai_responses",
    "inspect_document",
    "jaccard",
    "prune_for_request",
    "split_system",
    "take_snapshot",
    "to_openai_chat",
    "to_openai_responses",
    "treemap_svg",
    "truncate",
    "usage_tokens",
    "without_extensions",
]


__getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
