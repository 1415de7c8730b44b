"""Spans and metrics for OpenTelemetry, where it is switched on; nothing at all where it is not.

Names follow the GenAI semantic conventions where they fit (``gen_ai.tool.name``, ``gen_ai.conversation.id``,
``gen_ai.usage.*``); the rest is under ``tipstaff.``. One run is one trace. No text of a call is in them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

from tipstaff.errors import MissingExtraError
from tipstaff.gates.results import GateResult, aggregate_decision
from tipstaff.model import RetrievalResult
from tipstaff.runs.evaluators.evaluating import EvaluatorResult
from tipstaff.runs.events import RunEvent
from tipstaff.runs.open_run import OpenRun

SCOPE: Final = "tipstaff"
OPERATION: Final = "invoke_agent"


class _Instruments:
    def __init__(self, tracer: Any, meter: Any) -> None:
        self.tracer = tracer
        self.verdicts = meter.create_counter("tipstaff.gate.verdicts", unit="{verdict}", description="Gate verdicts")
        self.retrieval = meter.create_histogram(
            "tipstaff.retrieval.duration", unit="s", description="Time to find the rules for a task"
        )
        self.append = meter.create_histogram(
            "tipstaff.ledger.append.duration", unit="s", description="Time until a run is on the disk"
        )
        self.lag = meter.create_histogram(
            "tipstaff.ledger.lag", unit="s", description="Time from the end of a run to its record"
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


def begun(run: OpenRun) -> Any:
    """Return the span of a run that begins or is resumed, the parent of all others; None where it is off."""
    if _on is None:
        return None
    from opentelemetry import trace

    attributes: dict[str, Any] = {
        "gen_ai.operation.name": OPERATION, "tipstaff.run.id": run.event_id, "tipstaff.intent": run.intent,
        "tipstaff.guidance.hash": run.guidance_hash,
    }  # fmt: skip
    if run.session_id:
        attributes["gen_ai.conversation.id"] = run.session_id
    if run.agent_id:
        attributes["gen_ai.agent.id"] = run.agent_id
    parent, start = None, run.timestamp * 1_000_000
    if run.trace:  # it was suspended: it stays in its trace, whichever process continues it
        trace_id, span_id = (int(part, 16) for part in run.trace.split("-"))
        context = trace.SpanContext(trace_id, span_id, is_remote=True, trace_flags=trace.TraceFlags(1))
        parent, start = trace.set_span_in_context(trace.NonRecordingSpan(context)), time.time_ns()
    span = _on.tracer.start_span("run", context=parent, attributes=attributes, start_time=start)
    of = span.get_span_context()
    run.trace = f"{of.trace_id:032x}-{of.span_id:016x}"
    return span


def judged(tool: str, results: list[GateResult], span: Any = None) -> None:
    """Count a verdict; one that is not ``allow`` gets a span below that of its run."""
    if _on is None:
        return
    decision = aggregate_decision(results)
    attributes = {"tipstaff.decision": decision, "gen_ai.tool.name": tool}
    _on.verdicts.add(1, attributes)
    if decision != "allow":
        rules = [one["rule_id"] for result in results for one in result.metadata.get("findings", ())]
        found = _on.tracer.start_span(f"gate {decision}", context=_below(span), attributes=attributes)
        found.set_attribute("tipstaff.rules", rules)
        found.end()


def retrieved(result: RetrievalResult, span: Any = None) -> None:
    """Record how long a retrieval took."""
    if _on is None:
        return
    attributes = {"tipstaff.intent": result.detected_intent}
    _on.retrieval.record(result.latency_ms / 1e3, attributes)
    end = time.time_ns()
    found = _on.tracer.start_span(
        "retrieve", context=_below(span), attributes=attributes | {"tipstaff.shards": len(result.shards)},
        start_time=end - int(result.latency_ms * 1e6),
    )  # fmt: skip
    found.end(end)


def recorded(event: RunEvent, results: Sequence[EvaluatorResult], seconds: float, span: Any = None) -> None:
    """Record a run that was finished, what its evaluators say, and how long the ledger took; ends its span."""
    if _on is None:
        return
    _on.append.record(seconds)
    _on.lag.record(max(0.0, time.time() - (event.timestamp + event.duration_ms) / 1e3))
    for kind in ("input", "output"):
        if getattr(event.tokens, kind):
            _on.tokens.record(
                getattr(event.tokens, kind),
                {"gen_ai.token.type": kind, "gen_ai.operation.name": OPERATION, "gen_ai.provider.name": "_OTHER"},
            )
    if span is None:
        return
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("tipstaff.violations", len(event.violations))
    span.set_attribute("gen_ai.usage.input_tokens", event.tokens.input)
    span.set_attribute("gen_ai.usage.output_tokens", event.tokens.output)
    for one in results:
        span.add_event(
            "gen_ai.evaluation.result",
            {
                "gen_ai.evaluation.name": one.name, "gen_ai.evaluation.score.value": one.score,
                "gen_ai.evaluation.score.label": "pass" if one.passed else "fail",
            },
        )  # fmt: skip
    if event.outcome_accepted is False:
        span.set_status(Status(StatusCode.ERROR, "rejected"))
    span.end()


def _below(span: Any) -> Any:
    if span is None:
        return None
    from opentelemetry import trace

    return trace.set_span_in_context(span)
