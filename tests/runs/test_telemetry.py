from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.runs.repository import made_plane
from tipstaff.runs import telemetry

sdk_trace = pytest.importorskip("opentelemetry.sdk.trace")


@pytest.fixture
def switched_off_again() -> Iterator[None]:
    yield
    telemetry.disable()


def work(folder: Path) -> None:
    with made_plane(folder) as plane:
        run = plane.start_run("fix the failing test", session_id="s-1", agent_id="a-1")
        plane.retrieve_for_task("fix the failing test")
        plane.evaluate_command("ls")
        run = plane.resume_run(plane.suspend_run(run))
        plane.evaluate_command("git reset --hard")
        plane.finalize_run(run, outcome="accepted", tokens={"input": 5, "output": 7})


@pytest.mark.usefixtures("switched_off_again")
def test_spans_and_metrics(tmp_path: Path) -> None:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers = sdk_trace.TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    meters = MeterProvider([reader])
    telemetry.enable(tracer_provider=tracers, meter_provider=meters)
    work(tmp_path / "repository")
    finished = exporter.get_finished_spans()
    first = next(span for span in finished if span.name == "run" and span.parent is None)
    for span in finished:
        assert span.context.trace_id == first.context.trace_id, "one run is one trace"
        assert span is first or span.parent is not None
    spans = {span.name: dict(span.attributes or {}) for span in finished}
    assert set(spans) == {"retrieve", "gate require-confirmation", "run"}
    assert spans["run"]["gen_ai.conversation.id"] == "s-1"
    assert spans["run"]["gen_ai.usage.output_tokens"] == 7
    assert spans["gate require-confirmation"]["tipstaff.rules"] == ("git.reset-hard",)
    last = next(span for span in finished if span.name == "run" and span.parent is not None)
    assert {one.name for one in last.events} == {"gen_ai.evaluation.result"}
    assert "git reset --hard" not in str(spans), "no text of a call leaves"
    data: Any = reader.get_metrics_data()
    metrics = {one.name: one for one in data.resource_metrics[0].scope_metrics[0].metrics}
    verdicts = {
        point.attributes["tipstaff.decision"]: point.value
        for point in metrics["tipstaff.gate.verdicts"].data.data_points
    }
    assert verdicts == {"allow": 1, "require-confirmation": 1}
    assert {"tipstaff.retrieval.duration", "tipstaff.ledger.lag", "tipstaff.ledger.append.duration"} <= set(metrics)
    tracers.shutdown()
    meters.shutdown()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.server.received.append((self.path, self.rfile.read(size)))  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.usefixtures("switched_off_again")
def test_an_otlp_receiver_gets_them(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        server.received = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        tracers = sdk_trace.TracerProvider()
        exporter = OTLPSpanExporter(f"http://127.0.0.1:{server.server_port}/v1/traces")
        tracers.add_span_processor(BatchSpanProcessor(exporter))
        telemetry.enable(tracer_provider=tracers)
        work(tmp_path / "repository")
        tracers.shutdown()
        server.shutdown()
        thread.join()
        names: set[str] = set()
        for path, body in server.received:  # type: ignore[attr-defined]
            assert path == "/v1/traces"
            request = ExportTraceServiceRequest.FromString(body)
            names |= {span.name for one in request.resource_spans for two in one.scope_spans for span in two.spans}
    assert names == {"retrieve", "gate require-confirmation", "run"}


def test_nothing_is_imported_where_it_is_off(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys, tipstaff.plane, tipstaff.runs.telemetry as t; t.judged('Bash', []); "
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
