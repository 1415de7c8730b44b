"""What enters the model's window: budgeted, assembled, pruned and compacted.

::

    query, history --focus--> what the request is about
    memory_tiers, path_rules, other texts --boosts--> sections with priorities
    sections --assembly (budget, truncation)--> the system prompt, and a report of what was cut

Public names are loaded when they are first asked for, as in the package itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tipstaff.context.assembly import AssembledPrompt, ContextAssemblyPlan, PromptOverflowError
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
    from tipstaff.context.focus import RequestFocus
    from tipstaff.context.inspection import context_methods, inspect_document
    from tipstaff.context.json_rpc import Dispatcher, Method, RpcError
    from tipstaff.context.memory_tiers import MemoryTier, MemoryTiers, TierSource
    from tipstaff.context.monitor import ContextMonitor, MonitorState
    from tipstaff.context.path_rules import PathRule, PathRules
    from tipstaff.context.sections import SectionReport
    from tipstaff.context.snapshot import ContextSnapshot, SnapshotFolder, take_snapshot
    from tipstaff.context.socket_server import SocketServer
    from tipstaff.context.treemap import treemap_svg
    from tipstaff.context.truncation import truncate

_HOMES = {
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
    "context_methods": "tipstaff.context.inspection",
    "inspect_document": "tipstaff.context.inspection",
    "Dispatcher": "tipstaff.context.json_rpc",
    "Method": "tipstaff.context.json_rpc",
    "RpcError": "tipstaff.context.json_rpc",
    "ContextMonitor": "tipstaff.context.monitor",
    "MonitorState": "tipstaff.context.monitor",
    "ContextSnapshot": "tipstaff.context.snapshot",
    "SnapshotFolder": "tipstaff.context.snapshot",
    "take_snapshot": "tipstaff.context.snapshot",
    "SocketServer": "tipstaff.context.socket_server",
    "treemap_svg": "tipstaff.context.treemap",
    "AssembledPrompt": "tipstaff.context.assembly",
    "ContextAssemblyPlan": "tipstaff.context.assembly",
    "PromptOverflowError": "tipstaff.context.assembly",
    "SectionReport": "tipstaff.context.sections",
    "PriorityBoost": "tipstaff.context.boosts",
    "boost_priority": "tipstaff.context.boosts",
    "SystemPromptBudget": "tipstaff.context.budget",
    "RequestFocus": "tipstaff.context.focus",
    "MemoryTier": "tipstaff.context.memory_tiers",
    "MemoryTiers": "tipstaff.context.memory_tiers",
    "TierSource": "tipstaff.context.memory_tiers",
    "PathRule": "tipstaff.context.path_rules",
    "PathRules": "tipstaff.context.path_rules",
    "truncate": "tipstaff.context.truncation",
}

__all__ = [
    "AssembledPrompt",
    "Candidate",
    "CandidateConfig",
    "CandidateObservation",
    "CandidatePromptAssembler",
    "CandidatePromptConfig",
    "CandidateSection",
    "CandidateState",
    "CandidateStore",
    "CandidateTransition",
    "ContextAssemblyPlan",
    "ContextMonitor",
    "ContextSnapshot",
    "Dispatcher",
    "Incident",
    "MemoryTier",
    "MemoryTiers",
    "Method",
    "MonitorState",
    "PathRule",
    "PathRules",
    "PriorityBoost",
    "PromptOverflowError",
    "RequestFocus",
    "RpcError",
    "SectionReport",
    "SnapshotFolder",
    "SocketServer",
    "SystemPromptBudget",
    "TierSource",
    "boost_priority",
    "context_methods",
    "inspect_document",
    "jaccard",
    "take_snapshot",
    "treemap_svg",
    "truncate",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        msg = f"module 'tipstaff.context' has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
