"""Runs: what agents did comes in, evaluations, statistics and changes of the rules on evidence go out.

Read `events` (the records), `ledger` (where they are kept), `evaluators`, `statistics`, `replaying`, `optimizer` and
`headless`, in this order. Importing this package imports none of them.
"""

from __future__ import annotations

from tipstaff.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
