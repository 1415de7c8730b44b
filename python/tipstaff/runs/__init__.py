"""Runs: what agents did comes in, evaluations, statistics and changes of the rules on evidence go out.

Read `events` (the records), `ledger` (where they are kept), `evaluators`, `statistics`, `replaying`, `optimizer` and
`headless`, in this order. Importing this package imports none of them.
"""

from __future__ import annotations

from tipstaff.lazy import loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tipstaff.runs.evaluators.evaluating import evaluate
    from tipstaff.runs.evaluators.results import EvaluatorResult
    from tipstaff.runs.events import DiffSummary, GateVerdict, RunEvent, TestResults, TokenUse, Violation
    from tipstaff.runs.ledger.chain import VerifyReport
    from tipstaff.runs.ledger.ingestion import IngestReport
    from tipstaff.runs.ledger.ledger import Ledger
    from tipstaff.runs.replaying.comparing import ReplayReport, replay
    from tipstaff.runs.statistics.metrics import Metrics, ViolationRank, ledger_metrics, rank_violations
    from tipstaff.runs.statistics.rules import rule_stats
    from tipstaff.runs.statistics.sequential import SequentialTest

_HOMES = {
    "DiffSummary": "tipstaff.runs.events",
    "GateVerdict": "tipstaff.runs.events",
    "RunEvent": "tipstaff.runs.events",
    "TestResults": "tipstaff.runs.events",
    "TokenUse": "tipstaff.runs.events",
    "Violation": "tipstaff.runs.events",
    "VerifyReport": "tipstaff.runs.ledger.chain",
    "IngestReport": "tipstaff.runs.ledger.ingestion",
    "Ledger": "tipstaff.runs.ledger.ledger",
    "evaluate": "tipstaff.runs.evaluators.evaluating",
    "EvaluatorResult": "tipstaff.runs.evaluators.results",
    "Metrics": "tipstaff.runs.statistics.metrics",
    "ViolationRank": "tipstaff.runs.statistics.metrics",
    "ledger_metrics": "tipstaff.runs.statistics.metrics",
    "rank_violations": "tipstaff.runs.statistics.metrics",
    "replay": "tipstaff.runs.replaying.comparing",
    "ReplayReport": "tipstaff.runs.replaying.comparing",
    "rule_stats": "tipstaff.runs.statistics.rules",
    "SequentialTest": "tipstaff.runs.statistics.sequential",
}

__all__ = [
    "DiffSummary",
    "EvaluatorResult",
    "GateVerdict",
    "IngestReport",
    "Ledger",
    "Metrics",
    "ReplayReport",
    "RunEvent",
    "SequentialTest",
    "TestResults",
    "TokenUse",
    "VerifyReport",
    "Violation",
    "ViolationRank",
    "evaluate",
    "ledger_metrics",
    "rank_violations",
    "replay",
    "rule_stats",
]

__getattr__ = loader(__name__, _HOMES)
