"""Batches over Arrow Flight, for orchestrators in any language: record batches in, record batches out.

The descriptor of an exchange names what is asked: ``verdicts`` (columns ``command``, or ``tool`` and ``params`` as
JSON; ``cwd``), ``secrets`` (``text``), ``rules`` (``task``). The answer has a row for each row, in its order.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable, Iterable
from typing import Any, Final

import pyarrow as pa
from pyarrow import flight

from tipstaff.errors import ConfigError
from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.gates.results import DECISIONS, verdict_of
from tipstaff.gates.secrets.scanner import scan_secrets
from tipstaff.guidance.retrieval.retriever import ShardRetriever

VERDICTS: Final = pa.schema(
    [("decision", pa.dictionary(pa.int8(), pa.string())), ("rules", pa.list_(pa.string())), ("message", pa.string())]
)
SECRETS: Final = pa.schema(
    [("found", pa.list_(pa.struct([("rule", pa.string()), ("start", pa.int64()), ("end", pa.int64())])))]
)
RULES: Final = pa.schema([("rules", pa.list_(pa.string())), ("text", pa.string())])
MOST_ROWS: Final = 100_000
"""Of one batch: a larger one is refused, so that no client fills the server's memory."""

Answer = Callable[[Any], Any]


class _Token(flight.ServerMiddlewareFactory):  # type: ignore[misc]
    def __init__(self, token: str) -> None:
        self._token = f"Bearer {token}".encode()

    def start_call(self, info: Any, headers: dict[str, list[str]]) -> None:
        del info
        given = headers.get("authorization", [""])[0].encode()
        if not hmac.compare_digest(given, self._token):
            raise flight.FlightUnauthenticatedError("send the header authorization: Bearer TOKEN")


class BatchServer(flight.FlightServerBase):  # type: ignore[misc]
    """Answers batches; Flight itself holds a client back that sends faster than it reads.

    Parameters
    ----------
    location
        ``grpc://127.0.0.1:PORT``, or ``grpc+tls://HOST:PORT`` with a certificate; port 0 for any free one.
    gates
        By which verdicts are given.
    retriever
        Of rules; None where there are none.
    token
        What clients send; one of its own if empty, to be read from `token`.
    certificate, key
        PEM texts. An address beyond this machine needs them.

    Raises
    ------
    ConfigError
        It would be reachable from elsewhere without TLS.
    """

    def __init__(
        self,
        location: str,
        *,
        gates: EnforcementGates,
        retriever: ShardRetriever | None = None,
        token: str = "",
        certificate: bytes = b"",
        key: bytes = b"",
    ) -> None:
        host = location.partition("://")[2].rpartition(":")[0]
        if not certificate and host not in {"127.0.0.1", "localhost", "[::1]"}:
            raise ConfigError(f"{location}: beyond this machine it needs a certificate and grpc+tls://")
        self.token = token or secrets.token_urlsafe(32)
        self._answers: dict[str, tuple[Any, Answer]] = {
            "verdicts": (VERDICTS, verdicts_of(gates)),
            "secrets": (SECRETS, _secrets_of),
        }
        if retriever is not None:
            self._answers["rules"] = (RULES, rules_of(retriever))
        tls = [(certificate, key)] if certificate else None
        super().__init__(location, tls_certificates=tls, middleware={"token": _Token(self.token)})

    def do_exchange(self, context: Any, descriptor: Any, reader: Any, writer: Any) -> None:
        """Answer each batch of an exchange with one of as many rows."""
        name = (descriptor.command or b"").decode(errors="replace")
        if name not in self._answers:
            raise flight.FlightServerError(f"{name!r} is none of {', '.join(self._answers)}")
        schema, answer = self._answers[name]
        writer.begin(schema)
        for chunk in reader:
            if context.is_cancelled():
                return
            if chunk.data is None:
                continue
            if chunk.data.num_rows > MOST_ROWS:
                raise flight.FlightServerError(f"a batch has {chunk.data.num_rows} rows; send at most {MOST_ROWS}")
            try:
                writer.write_batch(pa.RecordBatch.from_arrays(answer(chunk.data), schema=schema))
            except (KeyError, ValueError, TypeError) as error:
                raise flight.FlightServerError(str(error)) from error


def exchange(
    location: str, name: str, batches: Iterable[Any], *, token: str, certificate: bytes = b""
) -> Iterable[Any]:
    """Send batches and yield the answers, as a client of any language would.

    Parameters
    ----------
    location, token, certificate
        Of the server; its certificate where it is not of a known authority.
    name
        ``verdicts``, ``secrets`` or ``rules``.
    batches
        ``pyarrow.RecordBatch`` of one schema.
    """
    with flight.FlightClient(location, tls_root_certs=certificate or None) as client:
        options = flight.FlightCallOptions(headers=[(b"authorization", f"Bearer {token}".encode())])
        writer, reader = client.do_exchange(flight.FlightDescriptor.for_command(name), options)
        with writer:
            begun = False
            for batch in batches:
                if not begun:
                    writer.begin(batch.schema)
                    begun = True
                writer.write_batch(batch)
                yield reader.read_chunk().data
            writer.done_writing()


def verdicts_of(gates: EnforcementGates) -> Answer:
    """Return what answers a batch of calls with its verdicts."""

    def answer(batch: Any) -> list[Any]:
        decisions: list[int] = []
        rules: list[list[str]] = []
        messages: list[str] = []
        for found in gates.evaluate_batch(list(_events(batch))):
            verdict = verdict_of(found) if found else None
            decisions.append(DECISIONS.index(verdict.decision) if verdict else 0)
            rules.append([one.rule_id for one in verdict.findings] if verdict else [])
            messages.append(verdict.message if verdict else "")
        coded = pa.DictionaryArray.from_arrays(pa.array(decisions, pa.int8()), pa.array(DECISIONS, pa.string()))
        return [coded, pa.array(rules, VERDICTS.field("rules").type), pa.array(messages, pa.string())]

    return answer


def rules_of(retriever: ShardRetriever) -> Answer:
    """Return what answers a batch of tasks with their rules."""

    def answer(batch: Any) -> list[Any]:
        found = retriever.retrieve_batch([task or "" for task in _column(batch, "task")])
        ids = [[one.shard.rule.id for one in result.shards] for result in found]
        return [
            pa.array(ids, RULES.field("rules").type),
            pa.array([result.policy_text for result in found], pa.string()),
        ]

    return answer


def _secrets_of(batch: Any) -> list[Any]:
    found = [
        [{"rule": one.rule_id, "start": one.start, "end": one.end} for one in scan_secrets(text or "")]
        for text in _column(batch, "text")
    ]
    return [pa.array(found, SECRETS.field("found").type)]


def _column(batch: Any, name: str) -> list[Any]:
    if name not in batch.schema.names:
        raise ValueError(f"a column {name} is missing; there are {', '.join(batch.schema.names)}")
    return list(batch.column(name).to_pylist())


def _events(batch: Any) -> Iterable[Any]:
    names = batch.schema.names
    folders = _column(batch, "cwd") if "cwd" in names else [None] * batch.num_rows
    if "command" in names:
        for command, cwd in zip(_column(batch, "command"), folders, strict=True):
            yield {"command": command or "", "cwd": cwd}
        return
    for tool, params, cwd in zip(_column(batch, "tool"), _column(batch, "params"), folders, strict=True):
        yield {"tool": tool or "", "params": json.loads(params or "{}"), "cwd": cwd}
