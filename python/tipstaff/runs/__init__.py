"""Runs: what agents did comes in, evaluations, statistics and changes of the rules on evidence go out.

Read `events` (the records), `ledger` (where they are kept), `evaluators`, `statistics`, `replay`, `optimizer` and
`headless`, in this order. Importing this package imports none of them.
"""

from __future__ import annotations

from tipstaff.lazy import loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tipstaff.runs.events import DiffSummary, GateVerdict, RunEvent, TestResults, TokenUse, Violation
    from tipstaff.runs.ledger.chain import VerifyReport
    from tipstaff.runs.ledger.ledger import IngestReport, Ledger

_HOMES = {
    "DiffSummary": "tipstaff.runs.events",
    "GateVerdict": "tipstaff.runs.events",
    "RunEvent": "tipstaff.runs.events",
    "TestResults": "tipstaff.runs.events",
    "TokenUse": "tipstaff.runs.events",
    "Violation": "tipstaff.runs.events",
    "VerifyReport": "tipstaff.runs.ledger.chain",
    "IngestReport": "tipstaff.runs.ledger.ledger",
    "Ledger": "tipstaff.runs.ledger.ledger",
}

__all__ = [
    "DiffSummary",
    "GateVerdict",
    "IngestReport",
    "Ledger",
    "RunEvent",
    "TestResults",
    "TokenUse",
    "VerifyReport",
    "Violation",
]

__getattr__ = loader(__name__, _HOMES)
