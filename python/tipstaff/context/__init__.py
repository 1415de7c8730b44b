"""What enters the model's window: budgeted, assembled, pruned and compacted.

::

    query, history --focus--> what the request is about
    memory_tiers, path_rules, other texts --boosts--> sections with priorities
    sections --assembly (budget, truncation)--> the system prompt, and a report of what was cut

Public names are loaded when they are first asked for, as in the package itself.
"""

from __future__ import annotations

from tipstaff.lazy import loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tipstaff.context.allowances import PromptOverflowError
    from tipstaff.context.assembly import AssembledPrompt, ContextAssemblyPlan
    from tipstaff.context.boosts import PriorityBoost, boost_priority
    from tipstaff.context.budget import SystemPromptBudget
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
    from tipstaff.context.compaction import CompactionResult, compact
    from tipstaff.context.compaction_config import CompactionConfig
    from tipstaff.context.estimator import TokenEstimator
    from tipstaff.context.facts import Facts, extract_facts
    from tipstaff.context.focus import RequestFocus
    from tipstaff.context.git_state import GitState
    from tipstaff.context.inspection import context_methods, inspect_document
    from tipstaff.context.json_rpc import Dispatcher, Method, RpcError
    from tipstaff.context.memory_tiers import MemoryTier, MemoryTiers, TierSource
    from tipstaff.context.messages import MessageError, without_extensions
    from tipstaff.context.model_calls import SummarizerError
    from tipstaff.context.monitor import ContextMonitor, MonitorState
    from tipstaff.context.openai_chat import from_openai_chat, split_system, to_openai_chat
    from tipstaff.context.openai_responses import from_openai_responses, to_openai_responses
    from tipstaff.context.path_rules import PathRule, PathRules
    from tipstaff.context.pruning import PrunedPart, Pruner, PruneResult, prune_for_request
    from tipstaff.context.request import AssembledRequest, RequestAssembler
    from tipstaff.context.sections import SectionReport
    from tipstaff.context.snapshot import ContextSnapshot, take_snapshot
    from tipstaff.context.snapshot_folder import SnapshotFolder
    from tipstaff.context.socket_server import SocketServer
    from tipstaff.context.summarizers import (
        AnthropicSummarizer,
        CommandSummarizer,
        ExtractiveSummarizer,
        OpenAISummarizer,
        Summarizer,
        SummaryRequest,
    )
    from tipstaff.context.tokens import (
        BudgetCheck,
        ConversationMeter,
        check_budget,
        estimate_block,
        estimate_full_context,
        estimate_message,
        estimate_system_prompt,
        estimate_tokens,
        estimate_tools,
        forget_conversations,
        usage_tokens,
    )
    from tipstaff.context.treemap import treemap_svg
    from tipstaff.context.truncation import truncate

_HOMES = {
    "AssembledPrompt": "tipstaff.context.assembly",
    "ContextAssemblyPlan": "tipstaff.context.assembly",
    "PromptOverflowError": "tipstaff.context.allowances",
    "PriorityBoost": "tipstaff.context.boosts",
    "boost_priority": "tipstaff.context.boosts",
    "SystemPromptBudget": "tipstaff.context.budget",
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
    "CompactionResult": "tipstaff.context.compaction",
    "compact": "tipstaff.context.compaction",
    "TokenEstimator": "tipstaff.context.estimator",
    "Facts": "tipstaff.context.facts",
    "extract_facts": "tipstaff.context.facts",
    "RequestFocus": "tipstaff.context.focus",
    "GitState": "tipstaff.context.git_state",
    "context_methods": "tipstaff.context.inspection",
    "inspect_document": "tipstaff.context.inspection",
    "Dispatcher": "tipstaff.context.json_rpc",
    "Method": "tipstaff.context.json_rpc",
    "RpcError": "tipstaff.context.json_rpc",
    "MemoryTier": "tipstaff.context.memory_tiers",
    "MemoryTiers": "tipstaff.context.memory_tiers",
    "TierSource": "tipstaff.context.memory_tiers",
    "MessageError": "tipstaff.context.messages",
    "without_extensions": "tipstaff.context.messages",
    "SummarizerError": "tipstaff.context.model_calls",
    "ContextMonitor": "tipstaff.context.monitor",
    "MonitorState": "tipstaff.context.monitor",
    "from_openai_chat": "tipstaff.context.openai_chat",
    "split_system": "tipstaff.context.openai_chat",
    "to_openai_chat": "tipstaff.context.openai_chat",
    "from_openai_responses": "tipstaff.context.openai_responses",
    "to_openai_responses": "tipstaff.context.openai_responses",
    "PathRule": "tipstaff.context.path_rules",
    "PathRules": "tipstaff.context.path_rules",
    "CompactionConfig": "tipstaff.context.compaction_config",
    "PruneResult": "tipstaff.context.pruning",
    "PrunedPart": "tipstaff.context.pruning",
    "Pruner": "tipstaff.context.pruning",
    "prune_for_request": "tipstaff.context.pruning",
    "AssembledRequest": "tipstaff.context.request",
    "RequestAssembler": "tipstaff.context.request",
    "SectionReport": "tipstaff.context.sections",
    "ContextSnapshot": "tipstaff.context.snapshot",
    "SnapshotFolder": "tipstaff.context.snapshot_folder",
    "take_snapshot": "tipstaff.context.snapshot",
    "SocketServer": "tipstaff.context.socket_server",
    "AnthropicSummarizer": "tipstaff.context.summarizers",
    "CommandSummarizer": "tipstaff.context.summarizers",
    "ExtractiveSummarizer": "tipstaff.context.summarizers",
    "OpenAISummarizer": "tipstaff.context.summarizers",
    "Summarizer": "tipstaff.context.summarizers",
    "SummaryRequest": "tipstaff.context.summarizers",
    "BudgetCheck": "tipstaff.context.tokens",
    "ConversationMeter": "tipstaff.context.tokens",
    "check_budget": "tipstaff.context.tokens",
    "estimate_block": "tipstaff.context.tokens",
    "estimate_full_context": "tipstaff.context.tokens",
    "estimate_message": "tipstaff.context.tokens",
    "estimate_system_prompt": "tipstaff.context.tokens",
    "estimate_tokens": "tipstaff.context.tokens",
    "estimate_tools": "tipstaff.context.tokens",
    "forget_conversations": "tipstaff.context.tokens",
    "usage_tokens": "tipstaff.context.tokens",
    "treemap_svg": "tipstaff.context.treemap",
    "truncate": "tipstaff.context.truncation",
}

__all__ = [
    "AnthropicSummarizer",
    "AssembledPrompt",
    "AssembledRequest",
    "BudgetCheck",
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
    "SnapshotFolder",
    "SocketServer",
    "Summarizer",
    "SummarizerError",
    "SummaryRequest",
    "SystemPromptBudget",
    "TierSource",
    "TokenEstimator",
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
