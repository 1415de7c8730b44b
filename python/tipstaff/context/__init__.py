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
    from tipstaff.context.assembly import AssembledPrompt, ContextAssemblyPlan, PromptOverflowError, SectionReport
    from tipstaff.context.boosts import PriorityBoost, boost_priority
    from tipstaff.context.budget import SystemPromptBudget
    from tipstaff.context.focus import RequestFocus
    from tipstaff.context.memory_tiers import MemoryTier, MemoryTiers, TierSource
    from tipstaff.context.path_rules import PathRule, PathRules
    from tipstaff.context.truncation import truncate

_HOMES = {
    "AssembledPrompt": "tipstaff.context.assembly",
    "ContextAssemblyPlan": "tipstaff.context.assembly",
    "PromptOverflowError": "tipstaff.context.assembly",
    "SectionReport": "tipstaff.context.assembly",
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
    "ContextAssemblyPlan",
    "MemoryTier",
    "MemoryTiers",
    "PathRule",
    "PathRules",
    "PriorityBoost",
    "PromptOverflowError",
    "RequestFocus",
    "SectionReport",
    "SystemPromptBudget",
    "TierSource",
    "boost_priority",
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
