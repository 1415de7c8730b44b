"""Spans and metrics for OpenTelemetry, where it is switched on; nothing at all where it is not.

Names follow the GenAI semantic conventions where they fit (``gen_ai.tool.name``, ``gen_ai.conversation.id``,
``gen_ai.usage.*``); the rest is under ``tipstaff.``. No text of a call is in them.
"""

from __future__ import annotations

import time
from typing import Any, Final

from tipstaff.errors import MissingExtraError
from tipstaff.gates.results import GateResult, aggregate_decision
from tipstaff.model import RetrievalResult
from tipstaff.runs.events import RunEvent

SCOPE: Final = "tipstaff"


class _Instruments:
    def __init__(self, tracer: Any, meter: Any) -> None:
        self.tracer = tracer
        self.verdicts = meter.create_counter("tipstaff.gate.verdicts", unit="{verdict}", description="Gate verdicts")
        self.retrieval = meter.create_histogram(
            "tipstaff.retrieval.duration", unit="ms", description="Time to find the rules for a task"
        )
        self.append = meter.create_histogram(
            "tipstaff.ledger.append.duration", unit="ms", description="Time until a run is on the disk"
        )
        self.lag = meter.create_histogram(
            "tipstaff.ledger.lag", unit="ms", description="Time from the end of a run to its record"
        )
        self.tokens = meter.create_histogram("gen_ai.client.token.usage", unit="{token}")


_on: _Instruments | None = None


def enable(*, tracer_provider: Any = None, meter_provider: Any = None) -> None:
    """Report to OpenTelemetry from now on.

    Parameters
    ----------
    tracer_provider, meter_provider
        Those that are set globally where None.

    Raises
    ------
    MissingExtraError
        The extra ``otel`` is not installed.
    """
    global _on  # noqa: PLW0603 - one for the process, as the providers are
    try:
        from opentelemetry import metrics, trace
    except ImportError as error:
        raise MissingExtraError("OpenTelemetry is not installed; install tipstaff[otel]") from error
    from tipstaff import __version__

    _on = _Instruments(
        trace.get_tracer(SCOPE, __version__, tracer_provider), metrics.get_meter(SCOPE, __version__, meter_provider)
    )


def disable() -> None:
    """Report nothing from now on."""
    global _on  # noqa: PLW0603 - as above
    _on = None


def judged(tool: str, results: list[GateResult]) -> None:
    """Count a verdict."""
    if _on is None:
        return
    decision = aggregate_decision(results)
    attributes = {"tipstaff.decision": decision, "gen_ai.tool.name": tool}
    _on.verdicts.add(1, attributes)
    if decision != "allow":
        with _on.tracer.start_as_current_span(f"gate {decision}", attributes=attributes) as span:
            rules = [one["rule_id"] for result in results for one in result.metadata.get("findings", ())]
            span.set_attribute("tipstaff.rules", rules)


def retrieved(result: RetrievalResult) -> None:
    """Record how long a retrieval took."""
    if _on is None:
        return
    attributes = {"tipstaff.intent": result.detected_intent}
    _on.retrieval.record(result.latency_ms, attributes)
    end = time.time_ns()
    span = _on.tracer.start_span(
        "retrieve", attributes=attributes | {"tipstaff.shards": len(result.shards)},
        start_time=end - int(result.latency_ms * 1e6),
    )  # fmt: skip
    span.end(end)


def recorded(event: RunEvent, seconds: float) -> None:
    """Record a run that was finished, and how long the ledger took."""
    if _on is None:
        return
    end = time.time_ns()
    _on.append.record(seconds * 1e3)
    _on.lag.record(max(0.0, end / 1e6 - event.timestamp - event.duration_ms))
    for kind in ("input", "output"):
        if getattr(event.tokens, kind):
            _on.tokens.record(getattr(event.tokens, kind), {"gen_ai.token.type": kind})
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "invoke_agent", "tipstaff.run.id": event.event_id,
        "tipstaff.intent": event.intent, "tipstaff.guidance.hash": event.guidance_hash,
        "tipstaff.violations": len(event.violations), "gen_ai.usage.input_tokens": event.tokens.input,
        "gen_ai.usage.output_tokens": event.tokens.output,
    }  # fmt: skip
    if event.session_id:
        attributes["gen_ai.conversation.id"] = event.session_id
    if event.agent_id:
        attributes["gen_ai.agent.id"] = event.agent_id
    span = _on.tracer.start_span("run", attributes=attributes, start_time=event.timestamp * 1_000_000)
    span.end(end)
