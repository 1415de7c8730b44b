"""What enters the model's window: budgeted, assembled, pruned and compacted.

::

    messages, answers --ContextSession--> what to send, from the first call of a session to its last
    rule files --guidance--> the constitution for the system prompt, the rules for a task and its files
    memory_tiers, candidates, git's state --boosts, assembly (budget, truncation)--> the rest of the prompt

A loop needs `ContextSession` alone; the other names are its parts. Public names are loaded when
they are first asked for.
"""

from __future__ import annotations

from tipstaff.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
