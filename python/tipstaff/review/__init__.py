"""Review: mechanical checks first, tasks that fit a model's window, and a reviewer who sees every applicable standard.

::

    configuration, repository --checks--> checks --running--> results, findings --checks.judging--> what happens next
    task, files --sizing--> whether it fits, and groups that do
    SOP files, changed files --sops--> those that apply --assembly--> the reviewer's context
    a reviewer's answer --verdicts--> accepted, rejected and why, or escalated
    SOPs and conventions --sops.graph--> statements, queries by predicate

Public names are loaded when they are first asked for, as in the package itself.
"""

from __future__ import annotations

from tipstaff.lazy import loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tipstaff.context.shortening.window import ContextWindow
    from tipstaff.review.assembly.selection import ReviewAssembly, assemble_review
    from tipstaff.review.checks.configured import configured_checks
    from tipstaff.review.checks.detection import repository_checks
    from tipstaff.review.checks.judging import CheckVerdict, judge_checks
    from tipstaff.review.checks.model import Check, CheckConfigError
    from tipstaff.review.checks.resolving import resolve_checks
    from tipstaff.review.running.results import CheckReport, CheckResult, Outcome
    from tipstaff.review.running.run import CheckOptions, run_checks
    from tipstaff.review.sizing.budget import SizingConfig, TaskSizing, size_task
    from tipstaff.review.sizing.scope import ScopeResolution, resolve_scope
    from tipstaff.review.sops.matching import match_sops

_HOMES = {
    "ContextWindow": "tipstaff.context.shortening.window",
    "ReviewAssembly": "tipstaff.review.assembly.selection",
    "assemble_review": "tipstaff.review.assembly.selection",
    "CheckVerdict": "tipstaff.review.checks.judging",
    "judge_checks": "tipstaff.review.checks.judging",
    "Check": "tipstaff.review.checks.model",
    "CheckConfigError": "tipstaff.review.checks.model",
    "resolve_checks": "tipstaff.review.checks.resolving",
    "configured_checks": "tipstaff.review.checks.configured",
    "repository_checks": "tipstaff.review.checks.detection",
    "CheckReport": "tipstaff.review.running.results",
    "CheckResult": "tipstaff.review.running.results",
    "Outcome": "tipstaff.review.running.results",
    "CheckOptions": "tipstaff.review.running.run",
    "run_checks": "tipstaff.review.running.run",
    "SizingConfig": "tipstaff.review.sizing.budget",
    "TaskSizing": "tipstaff.review.sizing.budget",
    "size_task": "tipstaff.review.sizing.budget",
    "ScopeResolution": "tipstaff.review.sizing.scope",
    "resolve_scope": "tipstaff.review.sizing.scope",
    "match_sops": "tipstaff.review.sops.matching",
}

__all__ = [
    "Check",
    "CheckConfigError",
    "CheckOptions",
    "CheckReport",
    "CheckResult",
    "CheckVerdict",
    "ContextWindow",
    "Outcome",
    "ReviewAssembly",
    "ScopeResolution",
    "SizingConfig",
    "TaskSizing",
    "assemble_review",
    "configured_checks",
    "judge_checks",
    "match_sops",
    "repository_checks",
    "resolve_checks",
    "resolve_scope",
    "run_checks",
    "size_task",
]

__getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
