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

from tipstaff.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
